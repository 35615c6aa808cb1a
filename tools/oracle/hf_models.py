#!/usr/bin/env python3
"""Compares heed-hf with transformers (5.23.0) on model folders.

usage: python tools/oracle/hf_models.py --build build [--tokens N] [--batches N] [--text FILE] FOLDER...

For each folder: the logits of a prompt must be within 1e-5 of the largest, N greedy tokens (200, or as far as the
context reaches) equal, and the perplexity of a text within 1e-4 of itself. In N random batches with padding on any
side and between (20), the logits of each row must be within 1e-5 of transformers' and of those of its text alone; its
greedy tokens must be equal, and so must the gradients of every fifth batch within 1e-5, if the model is small. Then
heed writes the folder back, and transformers must load it without a missing, unexpected or mismatched key, every
tensor with the same bits. A folder with a tokenizer.json answers a question in ChatML, and reads FILE (by default this
program's text) in windows of 256 tokens; without a tokenizer, tokens are random. Prints two lines for each folder; the
status is 1 if anything differs.
"""
import argparse
import ctypes
import math
import os
import random
import sys
import tempfile

import numpy
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import AutoModelForCausalLM
from transformers.utils import logging

import binding

PROMPT = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
          "<|im_start|>user\nWhat is the capital of France, and what is it known for?<|im_end|>\n"
          "<|im_start|>assistant\n")
WINDOW, WINDOWS, INT64, BOOL = 256, 8, 2, 3
SMALL = 1_000_000  # parameters: a large model multiplies rounding
PADDED, NEW = 24, 12  # the tokens of a padded batch at most, and those that are written after it
FAILED = []


class Heed:
    def __init__(self, build):
        self.lib = binding.of_build(build)
        self.lib.hd_set_grad_mode(False)

    def checked(self, result):
        return result or sys.exit(self.lib.hd_error_message().decode())

    def tensor(self, ids):
        flat = [v for row in ids for v in row]
        return self.checked(self.lib.hd_from_data_n(INT64, (ctypes.c_int64 * len(flat))(*flat), 2,
                                                    (ctypes.c_int64 * 2)(len(ids), len(ids[0]))))

    def values(self, x, dtype):
        x = self.checked(self.lib.hd_contiguous(self.checked(x)))
        shape = [self.lib.hd_size(x, d) for d in range(self.lib.hd_ndim(x))]
        n = self.lib.hd_numel(x)
        bytes_of = ctypes.string_at(self.lib.hd_data(x), n * numpy.dtype(dtype).itemsize)
        return torch.from_numpy(numpy.frombuffer(bytes_of, dtype).reshape(shape).copy())

    def within_scope(self, f):
        scope = self.lib.hd_scope_open()
        result = f()
        self.lib.hd_scope_close(scope)
        return result

    def logits(self, model, ids):
        return self.within_scope(lambda: self.values(self.lib.hd_forward(model, self.tensor(ids)), "float32"))

    def greedy(self, model, ids, n):
        o = self.lib.hd_generate_defaults()
        o.max_new_tokens = n
        return self.within_scope(lambda: self.values(
            self.lib.hd_generate(model, self.tensor(ids), ctypes.byref(o)), "int64"))[0, len(ids[0]):].tolist()

    def masked_logits(self, model, ids, mask):
        return self.within_scope(lambda: self.values(
            self.lib.hd_forward_with_mask(model, self.tensor(ids), self.tensor(mask)), "float32"))

    def written(self, model, ids, mask, n):
        o = self.lib.hd_generate_defaults()
        o.max_new_tokens = n

        def run():
            o.attention_mask = self.lib.hd_to(self.tensor(mask), BOOL)
            return self.values(self.lib.hd_generate(model, self.tensor(ids), ctypes.byref(o)), "int64")
        return self.within_scope(run)

    def masked_grads(self, model, ids, mask, targets, names):
        """The gradients of the cross entropy, by the names of the parameters."""
        def run():
            logits = self.lib.hd_forward_with_mask(model, self.tensor(ids), self.tensor(mask))
            self.checked(self.lib.hd_backward(self.lib.hd_cross_entropy(
                self.lib.hd_flatten(logits, 0, 1), self.lib.hd_flatten(self.tensor(targets), 0, 1))))
            weights, grads = self.lib.hd_module_named_parameters(model), {}
            for name in names:
                weight = self.checked(self.lib.hd_dict_get(weights, name.encode()))
                grads[name] = self.values(self.lib.hd_grad(weight), "float32")
                self.lib.hd_set_grad(weight, self.lib.none)
            self.lib.hd_dict_free(weights)
            return grads
        before = self.lib.hd_set_grad_mode(True)
        grads = self.within_scope(run)
        self.lib.hd_set_grad_mode(before)
        return grads


def hold(name, what, ok):
    if not ok:
        FAILED.append(name)
        print(f"{name}: {what}")


def inputs(folder, vocab, context, text):
    """The ids of the prompt, and of the windows of a text."""
    path = os.path.join(folder, "tokenizer.json")
    if os.path.exists(path):
        t = Tokenizer.from_file(path)
        ids, window = t.encode(text).ids, min(WINDOW, context)
        return t.encode(PROMPT).ids, [ids[i:i + window] for i in range(0, len(ids) - window, window)][:WINDOWS]
    r = random.Random(1)
    rows = [[r.randrange(vocab) for _ in range(min(WINDOW, context))] for _ in range(WINDOWS)]
    return rows[0][:12], rows


def perplexity(logits, rows):
    return math.exp(F.cross_entropy(logits[:, :-1].flatten(0, 1).double(),
                                    torch.tensor(rows)[:, 1:].flatten()).item())


def written_back(heed, model, folder, there):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "model")
        o = heed.lib.hd_save_pretrained_defaults()
        if os.path.exists(os.path.join(folder, "tokenizer.json")):
            o.source = folder.encode()
        heed.checked(heed.lib.hd_save_pretrained(model, path.encode(), ctypes.byref(o)))
        again, info = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, output_loading_info=True)
        wrong = [k for k in ("missing_keys", "unexpected_keys", "mismatched_keys") if info[k]]
        wanted, found = there.state_dict(), again.state_dict()
        wrong += [n for n in wanted if n not in found or not torch.equal(wanted[n], found[n])]
        wrong += [n for n in found if n not in wanted]
        values = {k: getattr(there.config, k) for k in ("vocab_size", "tie_word_embeddings", "num_hidden_layers")}
        wrong += [k for k, v in values.items() if getattr(again.config, k) != v]
        return len(wanted), wrong


# ---------------------------------------------------------------- batches with padding


def random_mask(r, b, t):
    """Rows with padding on the left, on the right, or anywhere, and at least one token each."""
    def row():
        n, kind = r.randrange(t), r.randrange(4)
        bits = ([0] * n + [1] * (t - n), [1] * (t - n) + [0] * n, [r.randrange(2) for _ in range(t)], [1] * t)[kind]
        bits[r.randrange(t)] = 1
        return bits
    return torch.tensor([row() for _ in range(b)])


def apart_from(found, wanted):
    return ((found - wanted).abs().max() / wanted.abs().max()).item()


def compare_grads(heed, model, there, ids, mask, targets):
    there.zero_grad()
    logits = there(ids, attention_mask=mask, position_ids=mask.cumsum(1) - mask).logits
    F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
    wanted = {n: p.grad for n, p in there.named_parameters()}
    found = heed.masked_grads(model, ids.tolist(), mask.tolist(), targets.tolist(), wanted)
    return max(apart_from(found[n], wanted[n]) for n in wanted)


def padded_batches(heed, model, there, folder, windows, count):
    """The texts are parts of the windows, because a real model multiplies the rounding of random tokens."""
    r, small = random.Random(2), sum(p.numel() for p in there.parameters()) < SMALL
    worst, alone, grads, equal, rows = 0.0, 0.0, 0.0, 0, 0
    for i in range(count):
        b, t = r.randrange(1, 5), r.randrange(2, PADDED + 1)
        mask = random_mask(r, b, t)
        at = [r.randrange(len(windows[0]) - t) for _ in range(b)]
        ids = torch.tensor([r.choice(windows)[k:k + t] for k in at])
        real = mask.bool()
        with torch.no_grad():
            wanted = there(ids, attention_mask=mask, position_ids=mask.cumsum(1) - mask).logits
        found = heed.masked_logits(model, ids.tolist(), mask.tolist())
        hold(folder, f"padded batch {i}: a logit is not finite", found.isfinite().all())
        worst = max(worst, apart_from(found[real], wanted[real]))
        for k in range(b):
            text = ids[k][real[k]].tolist()
            alone = max(alone, apart_from(found[k][real[k]], heed.logits(model, [text])[0]))
        if small and i % 5 == 0:
            targets = torch.where(real, ids.roll(-1, 1), -100)
            grads = max(grads, compare_grads(heed, model, there, ids, mask, targets))
        mask[:, -1] = 1
        tokens = there.generate(ids, attention_mask=mask, max_new_tokens=NEW, do_sample=False, eos_token_id=None,
                                pad_token_id=0)
        equal += (heed.written(model, ids.tolist(), mask.tolist(), NEW) == tokens).all(1).sum().item()
        rows += b
    for what, apart in (("logits", worst), ("logits and those of texts alone", alone), ("gradients", grads)):
        hold(folder, f"{what} of padded batches are {apart:.2g} of the largest apart", apart <= 1e-5)
    hold(folder, f"padded batches: {equal} of {rows} texts are equal", equal == rows)
    print(f"{folder}: {count} padded batches: logits {worst:.1e} of the largest apart, {alone:.1e} from texts alone, "
          f"gradients {grads:.1e}, {equal} of {rows} texts equal", flush=True)


def compare(heed, folder, count, batches, text):
    there = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model = heed.checked(heed.lib.hd_from_pretrained(folder.encode(), None))
    context = there.config.max_position_embeddings
    prompt, rows = inputs(folder, there.config.vocab_size, context, text)
    count = min(count, context - len(prompt))
    with torch.no_grad():
        wanted = there(torch.tensor([prompt])).logits
        tokens = there.generate(torch.tensor([prompt]), max_new_tokens=count, do_sample=False, eos_token_id=None,
                                pad_token_id=0, attention_mask=torch.ones(1, len(prompt), dtype=torch.int64))
        expected = perplexity(torch.cat([there(torch.tensor([row])).logits for row in rows]), rows)
    found = heed.logits(model, [prompt])
    apart = apart_from(found, wanted)
    hold(folder, f"logits are {apart:.2g} of the largest apart", apart <= 1e-5)
    mine, theirs = heed.greedy(model, [prompt], count), tokens[0, len(prompt):].tolist()
    same = next((i for i in range(count) if mine[i] != theirs[i]), count)
    hold(folder, f"greedy token {same}: {mine[same:same + 1]}, expected {theirs[same:same + 1]}", same == count)
    got = perplexity(torch.cat([heed.logits(model, [row]) for row in rows]), rows)
    hold(folder, f"perplexity {got}, expected {expected}", abs(got - expected) <= 1e-4 * expected)
    padded_batches(heed, model, there, folder, rows, batches)
    tensors, wrong = written_back(heed, model, folder, there)
    hold(folder, f"written back: {wrong}", not wrong)
    heed.lib.hd_module_free(model)
    print(f"{folder}: logits {apart:.1e} of the largest apart, {same} of {count} greedy tokens equal, perplexity "
          f"{got:.6f} and {expected:.6f}, written back: {tensors - len(wrong)} of {tensors} tensors equal", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][len("usage: "):])
    parser.add_argument("--build", required=True)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--text", default=os.path.abspath(__file__))
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    heed = Heed(args.build)
    with open(args.text, encoding="utf-8") as f:
        text = f.read()
    for folder in args.folders:
        compare(heed, folder, args.tokens, args.batches, text)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
