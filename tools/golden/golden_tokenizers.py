"""Makes tests/golden/tokenizers: five small tokenizer.json files, and the ids and texts that they give.

usage: python tools/golden/golden_tokenizers.py tests/golden/tokenizers

Trains a byte pair encoding of each form that heed knows, with the package tokenizers (0.23.3), and
writes the ids and texts that this package gives for the texts below, and hashes of them for random
strings, which tests/tokenizers/strings.c makes again. metaspace is llama2 with the pre-tokenizer Metaspace
in place of its normalizer; it has no file, because the test makes it from that of llama2.
"""
import json
import os
import sys

import tokenizers
from golden_strings import SplitMix, corpus, fnv, string
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, \
    trainers

STRINGS, CHUNK, DECODED = 3000, 100, 500
MODERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
NO_TOKEN = [0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, *range(0xF1, 0xF5)]  # bytes that smollm has not

TEXTS = [
    "", " ", "Hello, world!", "it's WE'LL I'D they'Ve you're I'M can't don\u2019t \u017F'\u017F ab'\u017F",
    " 12ab 3 4567 1,234.5 x2 \u00BD\u0664\u0665 \u2167", "a  b   c \n d\n\ne \r\n\r\n f\t\tg  ", "\n", "  \n  x",
    "!?;\n\n(x)\r\ny", "for(i=0;i<10;i++) {\n    return x[i];\n}\n", "\tx \u00A0y\u3000z \u2028w",
    "e\u0301 \u00E9 a\u0323\u0302 \uAC00\u11A8 \u1112\u1161\u11AB \u212B \u0958 q\u0307\u0323 \u1E9B\u0323",
    "\uD55C\uAD6D\uC5B4 \u4E2D\u6587 \u0440\u0443\u0441\u0441\u043A\u0438\u0439 \u05E9\u05C1\u05DC\u05D5\u05DD",
    "\U0001F600\U0001F1E9\U0001F1EA \U0001D54F \U000F0000", "a<|endoftext|>b", "<|im_start|>user\nhi<|im_end|>\n",
    "<|endoftext|><|endoftext|> <|endof", "<s>a</s> b<unk>", " <s> x </s>y", "\u2581\u2581a \u2581 b", "a\u2581",
    "x [L] y", "x [R] y [R]", "xWORD WORD WORDx _WORD WORD\u0301 \u24B6WORD WORD!", "na\u00EFve e\u0301t\u00E9",
    "<tool> [LR] <tool>", " [LR] [L]  [R] ", "the 'S 'sir ''s 'LL", "\u0000\u0001\u007F", "\U00011DE0\U00016FF4",
    "<0x41> <0x0A>", "don't  stop\u200B \u200D",
]


def byte_level(regex=True):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)


def split(digits):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(MODERN.replace("DIGITS", digits)), "isolated"),
                                    byte_level(False)])


def added(content, special=False, **flags):
    return AddedToken(content, special=special, **{"normalized": False, **flags})


def chat():
    return [added(f"<|{name}|>", special=True) for name in ("endoftext", "im_start", "im_end")]


def flags():
    return [added("[L]", lstrip=True), added("[R]", rstrip=True), added("WORD"),
            added("[LR]", lstrip=True, rstrip=True, special=True), added("<tool>")]


def of_bytes(size, words, **model):
    t = Tokenizer(models.BPE(**model))
    t.pre_tokenizer, t.decoder = words, decoders.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def template(t, before, after=()):
    tokens = [*before, *after]
    return processors.TemplateProcessing(single=" ".join([*before, "$A", *after]),
                                         special_tokens=[(s, t.token_to_id(s)) for s in tokens])


def gpt2():
    t = of_bytes(960, byte_level())
    t.add_special_tokens([added("<|endoftext|>", special=True, normalized=True)])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def smollm():
    t = of_bytes(860, pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]))
    t.add_special_tokens(chat())
    return t


def llama3():
    t = of_bytes(860, split("{1,3}"))
    t.add_special_tokens([added("<|begin_of_text|>", special=True), *chat()])
    t.add_tokens(flags())
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False),
                                            template(t, ["<|begin_of_text|>"])])
    return t


def qwen2():
    t = of_bytes(860, split(""))
    t.normalizer = normalizers.NFC()
    t.add_special_tokens(chat())
    t.add_tokens([*flags(), added("nai\u0308ve", normalized=True), added("\u00E9t\u00E9", normalized=True)])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=True)  # to train, as in SentencePiece
    special = ["<unk>", "<s>", "</s>"]
    t.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=1060, show_progress=False, limit_alphabet=200,
        special_tokens=[*special, *(f"<0x{b:02X}>" for b in range(256))]))
    t.pre_tokenizer = None
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    t.post_processor = template(t, ["<s>"])
    return t


def changed(name, d):
    """What the package cannot make: merges as texts, bytes without a token, tokens that no merge makes."""
    vocab, model = d["model"]["vocab"], d["model"]
    if name in ("gpt2", "llama2"):
        model["merges"] = [" ".join(m) for m in model["merges"]]
    if name == "smollm":
        spelled = {a["content"] for a in d["added_tokens"]}
        gone = {chr(256 + b) if b < 33 else chr(b) for b in NO_TOKEN}
        kept = [s for s in sorted(vocab, key=vocab.get) if s not in gone and s not in spelled]
        model["merges"] = [m for m in model["merges"] if not gone & set("".join(m))]
        model["vocab"] = {s: i for i, s in enumerate(kept)}
        for i, a in enumerate(d["added_tokens"]):
            a["id"] = len(kept) + i
    if name == "llama3":
        model["ignore_merges"] = True
        for token in ("\u0120unreachable", "whole"):
            first = min(a["id"] for a in d["added_tokens"])
            for a in d["added_tokens"]:
                a["id"] += 1
            vocab[token] = first
        for special in d["post_processor"]["processors"][1]["special_tokens"].values():
            special["ids"] = [a["id"] for a in d["added_tokens"] if a["content"] == special["id"]]
    if name == "llama2":  # the bytes' tokens are ordinary ones, and three more have flags
        d["added_tokens"] = d["added_tokens"][:3]
        last = len(vocab)
        more = [("[L]", {"lstrip": True}), ("[R]", {"rstrip": True}), ("WORD", {}),
                ("<tool>", {"normalized": True}), (" <s> ", {"normalized": True})]
        for i, (content, flag) in enumerate(more):
            d["added_tokens"].append({"id": last + i, "content": content, "single_word": False, "lstrip": False,
                                      "rstrip": False, "normalized": False, "special": False, **flag})
    return d


def metaspace(d):
    d = json.loads(json.dumps(d))
    d["normalizer"] = None
    d["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}
    return d


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def lacks(name, text):
    return name == "smollm" and any(b in NO_TOKEN for b in text.encode())


def records(name, t):
    yield f"{name}/size i64 () {t.get_vocab_size()}"

    def ints(field, values):
        return f"{name}/{field} i64 ({len(values)})" + "".join(f" {v}" for v in values)

    k = 0
    for text in TEXTS:
        if "\0" in text or lacks(name, text):
            continue
        ids = t.encode(text, add_special_tokens=True).ids
        t.encode_special_tokens = True
        ordinary = t.encode(text, add_special_tokens=False).ids
        t.encode_special_tokens = False
        yield f"{name}/text{k} text {escaped(text)}"
        yield ints(f"ids{k}", ids)
        yield ints(f"ordinary{k}", ordinary)
        yield f"{name}/decoded{k} text {escaped(t.decode(ids, skip_special_tokens=False))}"
        yield f"{name}/skipped{k} text {escaped(t.decode(ids, skip_special_tokens=True))}"
        k += 1
    yield f"{name}/texts i64 () {k}"
    strings = [string(i) for i in range(STRINGS)]
    ids = [[] if lacks(name, s) else t.encode(s, add_special_tokens=False).ids for s in strings]
    yield ints("strings", [fnv(sum(ids[i:i + CHUNK], [])) for i in range(0, STRINGS, CHUNK)])
    decoded = []
    for i in range(DECODED):
        r = SplitMix(3 * 10**6 + i)
        ids = [r.below(300 if r.below(2) else t.get_vocab_size()) for _ in range(r.below(13))]
        decoded.append(fnv([*t.decode(ids, skip_special_tokens=False).encode()]))
    yield ints("random", decoded)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    lines = [f"# tokenizers {tokenizers.__version__}",
             "# python tools/golden/golden_tokenizers.py tests/golden/tokenizers"]
    for make in (gpt2, smollm, llama3, qwen2, llama2):
        name = make.__name__
        d = changed(name, json.loads(make().to_str()))
        text = json.dumps(d, ensure_ascii=False, separators=(",", ":"))
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
            f.write(text)
        print(name, len(text.encode()), "bytes", file=sys.stderr)
        lines += records(name, Tokenizer.from_str(text))
    lines += records("metaspace", Tokenizer.from_str(json.dumps(metaspace(d))))
    with open(os.path.join(folder, "cases.txt"), "w", encoding="utf-8", newline="\n") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
