#!/usr/bin/env python3
"""Compares heed-hf with transformers (5.23.0) on model folders.

usage: python tools/oracle/hf_models.py --libraries build/src [--tokens N] [--text FILE] FOLDER...

For each folder: the logits of a prompt must be within 1e-5 of the largest, N greedy tokens (200, or what the
context holds) equal, and the perplexity of a text within 1e-4 of itself. Then heed writes the folder back, and
transformers must load it without a missing, unexpected or mismatched key, every tensor with the same bits. A
folder with a tokenizer.json answers a question in ChatML, and FILE (this program's text) is read in windows of 256
tokens; without one, tokens are random. Prints a line for each folder; the status is 1 if anything differs.
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

PROMPT = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
          "<|im_start|>user\nWhat is the capital of France, and what is it known for?<|im_end|>\n"
          "<|im_start|>assistant\n")
WINDOW, WINDOWS, INT64 = 256, 8, 2
FAILED = []


class GenerateOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("max_new_tokens", ctypes.c_int64), ("do_sample", ctypes.c_bool),
                ("temperature", ctypes.c_double), ("top_k", ctypes.c_int64), ("top_p", ctypes.c_double),
                ("repetition_penalty", ctypes.c_double), ("eos_token_id", ctypes.c_int64 * 16),
                ("num_eos", ctypes.c_int64), ("pad_token_id", ctypes.c_int64), ("tokenizer", ctypes.c_void_p),
                ("on_token", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class SaveOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("dtype", ctypes.c_int), ("source", ctypes.c_char_p)]


class Heed:
    def __init__(self, folder):
        self.lib = ctypes.CDLL(os.path.join(folder, "libheed.so"), mode=ctypes.RTLD_GLOBAL)
        self.hf = ctypes.CDLL(os.path.join(folder, "libheed-hf.so"))
        p, i64 = ctypes.c_void_p, ctypes.c_int64
        for lib, name, result, *args in (
                (self.hf, "hd_from_pretrained", p, ctypes.c_char_p, p), (self.hf, "hd_generate", p, p, p, p),
                (self.hf, "hd_generate_defaults", GenerateOptions),
                (self.hf, "hd_save_pretrained_defaults", SaveOptions),
                (self.hf, "hd_save_pretrained", ctypes.c_bool, p, ctypes.c_char_p, p),
                (self.lib, "hd_module_free", None, p), (self.lib, "hd_forward", p, p, p),
                (self.lib, "hd_from_data_n", p, ctypes.c_int, p, ctypes.c_int, ctypes.POINTER(i64)),
                (self.lib, "hd_data", p, p), (self.lib, "hd_numel", i64, p), (self.lib, "hd_ndim", ctypes.c_int, p),
                (self.lib, "hd_size", i64, p, ctypes.c_int), (self.lib, "hd_contiguous", p, p),
                (self.lib, "hd_set_grad_mode", ctypes.c_bool, ctypes.c_bool),
                (self.lib, "hd_error_message", ctypes.c_char_p), (self.lib, "hd_error_clear", None),
                (self.lib, "hd_scope_open", p), (self.lib, "hd_scope_close", None, p)):
            f = getattr(lib, name)
            f.restype, f.argtypes = result, args
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
        o = self.hf.hd_generate_defaults()
        o.max_new_tokens = n
        return self.within_scope(lambda: self.values(
            self.hf.hd_generate(model, self.tensor(ids), ctypes.byref(o)), "int64"))[0, len(ids[0]):].tolist()


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
        o = heed.hf.hd_save_pretrained_defaults()
        if os.path.exists(os.path.join(folder, "tokenizer.json")):
            o.source = folder.encode()
        heed.checked(heed.hf.hd_save_pretrained(model, path.encode(), ctypes.byref(o)))
        again, info = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, output_loading_info=True)
        wrong = [k for k in ("missing_keys", "unexpected_keys", "mismatched_keys") if info[k]]
        wanted, found = there.state_dict(), again.state_dict()
        wrong += [n for n in wanted if n not in found or not torch.equal(wanted[n], found[n])]
        wrong += [n for n in found if n not in wanted]
        values = {k: getattr(there.config, k) for k in ("vocab_size", "tie_word_embeddings", "num_hidden_layers")}
        wrong += [k for k, v in values.items() if getattr(again.config, k) != v]
        return len(wanted), wrong


def compare(heed, folder, count, text):
    there = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model = heed.checked(heed.hf.hd_from_pretrained(folder.encode(), None))
    context = there.config.max_position_embeddings
    prompt, rows = inputs(folder, there.config.vocab_size, context, text)
    count = min(count, context - len(prompt))
    with torch.no_grad():
        wanted = there(torch.tensor([prompt])).logits
        tokens = there.generate(torch.tensor([prompt]), max_new_tokens=count, do_sample=False, eos_token_id=None,
                                pad_token_id=0, attention_mask=torch.ones(1, len(prompt), dtype=torch.int64))
        expected = perplexity(torch.cat([there(torch.tensor([row])).logits for row in rows]), rows)
    found = heed.logits(model, [prompt])
    apart = ((found - wanted).abs().max() / wanted.abs().max()).item()
    hold(folder, f"logits are {apart:.2g} of the largest apart", apart <= 1e-5)
    mine, theirs = heed.greedy(model, [prompt], count), tokens[0, len(prompt):].tolist()
    same = next((i for i in range(count) if mine[i] != theirs[i]), count)
    hold(folder, f"greedy token {same}: {mine[same:same + 1]}, expected {theirs[same:same + 1]}", same == count)
    got = perplexity(torch.cat([heed.logits(model, [row]) for row in rows]), rows)
    hold(folder, f"perplexity {got}, expected {expected}", abs(got - expected) <= 1e-4 * expected)
    tensors, wrong = written_back(heed, model, folder, there)
    hold(folder, f"written back: {wrong}", not wrong)
    heed.lib.hd_module_free(model)
    print(f"{folder}: logits {apart:.1e} of the largest apart, {same} of {count} greedy tokens equal, perplexity "
          f"{got:.6f} and {expected:.6f}, written back: {tensors - len(wrong)} of {tensors} tensors equal", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][len("usage: "):])
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--text", default=os.path.abspath(__file__))
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    heed = Heed(args.libraries)
    with open(args.text, encoding="utf-8") as f:
        text = f.read()
    for folder in args.folders:
        compare(heed, folder, args.tokens, text)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
