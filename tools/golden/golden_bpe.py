"""Makes tests/golden/bpe_vocab.json, bpe_merges.txt and bpe.txt.

usage: python tools/golden/golden_bpe.py OUTDIR

Trains a small byte-level BPE with the package tokenizers (0.23), in GPT-2's files; gives the same
merges to tiktoken (0.14) with GPT-2's pattern; and writes, as hashes, the ids that tiktoken makes
of random Unicode strings and the texts that it makes of random ids. The package tokenizers encodes
every string too, and must agree. tests/tokenizers/strings.c makes the same strings.
"""
import json
import os
import sys

import tiktoken
import tokenizers
from golden_strings import END, SplitMix, corpus, fnv, long_string, string
from tiktoken_ext.openai_public import r50k_pat_str

STRINGS, LONG, DECODED, CHUNK = 12000, 12, 2000, 100


def train(folder):
    """vocab.json with GPT-2's escapes and <|endoftext|> last; merges.txt; the merges"""
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(corpus(), vocab_size=1200, min_frequency=2, special_tokens=[],
                            show_progress=False)
    bpe.save_model(folder, "bpe")
    path = os.path.join(folder, "bpe-vocab.json")
    with open(path, encoding="utf-8") as f:
        vocab = json.load(f)
    os.remove(path)
    vocab = dict(sorted(vocab.items(), key=lambda item: item[1]))
    vocab[END] = len(vocab)
    with open(os.path.join(folder, "bpe_vocab.json"), "w", encoding="ascii") as f:
        json.dump(vocab, f)
    os.replace(os.path.join(folder, "bpe-merges.txt"), os.path.join(folder, "bpe_merges.txt"))
    return bpe, vocab


def tiktoken_of(vocab):
    """The tokens as bytes, ranked as in the vocabulary: bytes first, then the merges in order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    byte_of = {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}
    ranks = {bytes(byte_of[c] for c in token): i for token, i in vocab.items() if token != END}
    return tiktoken.Encoding("test", pat_str=r50k_pat_str, mergeable_ranks=ranks,
                             special_tokens={END: vocab[END]})


def main(folder):
    bpe, vocab = train(folder)
    encoding = tiktoken_of(vocab)
    lines = [f"# tiktoken {tiktoken.__version__}, tokenizers {tokenizers.__version__}",
             "# python tools/golden/golden_bpe.py tests/golden"]

    def ints(field, values):
        lines.append(f"bpe/{field} i64 ({len(values)}) " + " ".join(map(str, values)))

    strings = [string(i) for i in range(STRINGS)] + [long_string(i) for i in range(LONG)]
    ordinary = [encoding.encode_ordinary(s) for s in strings]
    differ = [s for s, ids in zip(strings, ordinary) if bpe.encode(s).ids != ids]
    print(len(strings), "strings,", len(differ), "encoded otherwise by tokenizers", file=sys.stderr)
    assert not differ, differ[:3]
    assert all(encoding.decode(ids) == s for s, ids in zip(strings, ordinary))
    ints("size", [len(vocab)])
    ints("allowed", [fnv(encoding.encode(s, allowed_special="all")) for s in strings])
    ints("ordinary", [fnv(sum(ordinary[i:i + CHUNK], [])) for i in range(0, len(strings), CHUNK)])

    decoded = []
    for i in range(DECODED):
        r = SplitMix(3 * 10**6 + i)
        ids = [r.below(256 if r.below(2) else len(vocab)) for _ in range(r.below(13))]
        decoded.append(fnv([*encoding.decode(ids, errors="replace").encode()]))
    ints("decoded", decoded)
    with open(os.path.join(folder, "bpe.txt"), "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
