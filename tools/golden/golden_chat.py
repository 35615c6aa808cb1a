"""Makes tests/golden/chat: the folder of a small model that has learnt a few answers by heart.

usage: python tools/golden/golden_chat.py tests/golden/chat

Needs PyTorch, transformers 5.23.0 and tokenizers 0.23.3. tests/checks/check_chat talks with the model. Its vocabulary
has a token for a byte, and the tokens of ChatML; with other names in tokenizer.json the same ids are those of Llama
3's form, in which the model has learnt another answer. The script ends with an error if a greedy answer of
transformers is not the learnt one, or is not far enough above all others.
"""
import json
import os
import shutil
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin|>"]
SYSTEM = "You count."
TEMPLATE = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
            "{{ '<|im_start|>system\n" + SYSTEM + "<|im_end|>\n' }}{% endif %}"
            "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
LLAMA3 = {"<|begin_of_text|>": "<|begin|>", "<|start_header_id|>": "<|im_start|>", "<|end_header_id|>": "<|endoftext|>",
          "<|eot_id|>": "<|im_end|>"}  # where the tokens of Llama 3 are those of ChatML
ENDLESS, TRAINED, POSITIONS = "1 ", 160, 32768
LEAST_MARGIN = 0.5

# Conversations: the system line, then questions and answers in turn.
TALKS = [
    [SYSTEM, "Hello!", "Gr\u00FC\u00DF dich \U0001F600", "And now?", "Two."],
    [SYSTEM, "And now?", "One."],
    ["Be short.", "Hello!", "Hi."],
    [None, "Hello!", "Who?"],
]
COUNTING = [SYSTEM, "Count."]


def chatml(role, text):
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def llama3(role, text):
    text = f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"
    for name, stands in LLAMA3.items():
        text = text.replace(name, stands)
    return text


def pieces(talk, form, begin=""):
    """The text of a talk as pairs: what is given, and what is to be learnt."""
    given = begin + (form("system", talk[0]) if talk[0] is not None else "")
    for question, answer in zip(talk[1::2], talk[2::2]):
        head, end = form("assistant", "\0").split("\0")
        yield given + form("user", question) + head, answer + end.rstrip("\n")
        given = end[len(end.rstrip("\n")):]


def all_talks():
    for talk in TALKS:
        yield list(pieces(talk, chatml))
    yield list(pieces([None, "Hello!", "Howdy."], llama3, "<|begin|>"))
    head = chatml("system", SYSTEM) + chatml("user", COUNTING[1]) + "<|im_start|>assistant\n"
    yield [(head, ENDLESS * (TRAINED // len(ENDLESS)))]


def tokenizer():
    text = "".join(chr(c) for c in range(32, 127)) + "\n" + "".join(a for talk in TALKS for a in talk[1:] if a)
    alphabet = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)[0][0]
    vocab = {s: i for i, s in enumerate(SPECIAL + sorted(set(alphabet)))}
    t = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.add_special_tokens(SPECIAL)
    return t


def examples(t):
    """For each talk its ids, and which of them are to be learnt."""
    for talk in all_talks():
        ids, learnt = [], []
        for given, answer in talk:
            for text, learn in (given, False), (answer, True):
                new = t.encode(text).ids
                ids += new
                learnt += [learn] * len(new)
        yield torch.tensor(ids), torch.tensor(learnt)


def train(model, t):
    ids, learnt = (torch.nn.utils.rnn.pad_sequence(x, batch_first=True) for x in zip(*examples(t)))
    targets = ids[:, 1:].masked_fill(~learnt[:, 1:], -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    for step in range(1500):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 * (1 - step / 1500)
        loss = F.cross_entropy(model(ids).logits[:, :-1].flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def margin(model, t):
    """How far the logits of what was learnt are above all others at least."""
    least = float("inf")
    for ids, learnt in examples(t):
        with torch.no_grad():
            logits = model(ids[None]).logits[0, :-1][learnt[1:]]
        right = ids[1:][learnt[1:], None]
        others = logits.scatter(1, right, float("-inf")).max(1).values
        least = min(least, (logits.gather(1, right)[:, 0] - others).min().item())
    return least


def save(model, t, folder):
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    t.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump({"chat_template": TEMPLATE, "eos_token": "<|im_end|>"}, f, indent=2)
        f.write("\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    t = tokenizer()
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=t.get_vocab_size(), hidden_size=24, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=POSITIONS, bos_token_id=1, eos_token_id=2,
        tie_word_embeddings=True, initializer_range=0.1))
    loss = train(model, t)
    model = model.to(torch.float16)
    save(model, t, sys.argv[1])
    found = margin(LlamaForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval(), t)
    print(f"{model.num_parameters()} numbers, loss {loss:.2g}, margin {found:.2f}")
    if found < LEAST_MARGIN:
        sys.exit("too little was learnt")


if __name__ == "__main__":
    main()
