#!/usr/bin/env python3
"""Compares heed's adapters with those of peft (0.21.2), both ways through files.

usage: python tools/oracle/lora.py --build build [--rounds N] [--seed N]

Each of N rounds (200) makes one model of Linear modules on both sides, of random sizes. heed and peft draw adapters of
random options from one seed; A must be equal. Then each side gets random adapters, saves them, and the other one loads
the folder: outputs, gradients of A and B and merged outputs must be within 1e-5 of the largest.

Then N / 2 rounds take a small model of a Llama or one of its kin, whose adapter peft saves with copies of weights
beside it: lm_head may be a target, and the embeddings may be resized. heed's logits must be those of peft. If heed's
model has embeddings of another size, or a module was saved with modules_to_save, heed must refuse the adapter and name
the tensor or the key.

Prints the numbers of comparisons and the largest differences; the status is 1 if one is above 1e-5.
"""
import argparse
import ctypes
import os
import random
import sys
import tempfile
import warnings

import peft
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, logging

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from families import FAMILIES  # noqa: E402

import binding

MOST = 1e-5
INT64 = 2  # of hd_dtype


class Heed:
    def __init__(self, build):
        self.lib = binding.of_build(build)

    def __getattr__(self, name):
        """heed.forward is hd_forward"""
        return getattr(self.lib, "hd_" + name)

    def must(self, result):
        if not result:
            sys.exit(self.error_message().decode())
        return result

    def tensor(self, t):
        x = self.must(self.empty_n(0, t.dim(), binding.int64s(t.shape)))
        self.fill(x, t)
        return x

    def ids(self, t):
        x = self.must(self.empty_n(INT64, t.dim(), binding.int64s(t.shape)))
        self.must(self.copy_from(x, t.data_ptr(), t.numel() * 8))
        return x

    def fill(self, x, t):
        t = t.detach().contiguous()
        before = self.set_grad_mode(False)
        self.must(self.copy_from(x, t.data_ptr(), t.numel() * 4))
        self.set_grad_mode(before)

    def numbers(self, x, like):
        n = self.numel(self.must(x))
        return torch.frombuffer((ctypes.c_float * n).from_address(self.data(x)), dtype=torch.float32).clone().view(
            like.shape)

    def model(self, sizes, bias):
        parts = []
        for a, b in zip(sizes, sizes[1:]):
            parts += [self.linear_new(a, b, bias), self.relu_new(False)]
        return self.must(self.sequential_n(len(parts), binding.pointers(parts)))

    def parameter(self, m, name):
        return self.must(self.module_get_parameter(m, name.encode()))


def torch_model(sizes, bias):
    parts = []
    for a, b in zip(sizes, sizes[1:]):
        parts += [nn.Linear(a, b, bias), nn.ReLU()]
    return nn.Sequential(*parts)


def adapters(model):
    return {n.removeprefix("base_model.model.").replace(".default.", "."): q
            for n, q in model.named_parameters() if "lora_" in n}


class Largest:
    def __init__(self):
        self.of = {}

    def __call__(self, what, a, b):
        off = ((a - b).abs().max() / b.abs().max().clamp(min=1e-6)).item()
        self.of[what] = max(off, self.of.get(what, 0.0))


def one_round(heed, rng, folder, largest):
    sizes = [rng.randint(1, 70) for _ in range(rng.randint(2, 4))]
    bias, r = rng.random() < 0.5, rng.randint(1, 9)
    alpha, names = rng.choice([1, 3, 8, 16, 0.5]), ["0"] if rng.random() < 0.3 else None
    model = torch_model(sizes, bias)
    base = {n: t.clone() for n, t in model.state_dict().items()}

    def ours():
        m = heed.model(sizes, bias)
        for name, t in base.items():
            heed.fill(heed.parameter(m, name), t)
        return m

    def theirs():
        model = torch_model(sizes, bias)
        model.load_state_dict(base)
        return model

    config = peft.LoraConfig(r=r, lora_alpha=alpha, target_modules=names or "all-linear")
    entries = (ctypes.c_char_p * 1)((names or ["all-linear"])[0].encode())
    options = heed.lib.options("hd_lora_options", {"r": r, "lora_alpha": alpha,
                                                   "target_modules": ctypes.addressof(entries)})
    seed = rng.randrange(1 << 31)
    a, b = ours(), theirs()
    torch.manual_seed(seed)
    b = peft.get_peft_model(b, config)
    heed.manual_seed(seed)
    heed.must(heed.lora_apply(a, ctypes.byref(options)))
    for name, q in adapters(b).items():
        largest("draws", heed.numbers(heed.parameter(a, name), q), q.detach())
        q.data.normal_(std=0.3)
        heed.fill(heed.parameter(a, name), q)
    heed.must(heed.lora_save(a, os.path.join(folder, "heed").encode()))
    b.save_pretrained(os.path.join(folder, "peft"))
    heed.module_free(a)
    a = ours()
    heed.must(heed.lora_load(a, os.path.join(folder, "peft").encode()))
    b = peft.PeftModel.from_pretrained(theirs(), os.path.join(folder, "heed"), is_trainable=True)
    x = torch.randn(5, sizes[0])
    y = b(x)
    out = heed.forward(a, heed.tensor(x))
    largest("outputs", heed.numbers(out, y), y.detach())
    if y.detach().abs().max() > 0:
        y.sum().backward()
        heed.must(heed.backward(heed.sum(out)))
        for name, q in adapters(b).items():
            largest("gradients", heed.numbers(heed.grad(heed.parameter(a, name)), q), q.grad)
    heed.must(heed.lora_merge(a))
    merged = b.merge_and_unload()
    largest("merged outputs", heed.numbers(heed.forward(a, heed.tensor(x)), y), merged(x).detach())
    for name, t in merged.state_dict().items():
        largest("merged weights", heed.numbers(heed.parameter(a, name), t), t)
    heed.module_free(a)


def language_model(rng, folder):
    """A model of random weights, saved as it was before and after its embeddings got another size, or not."""
    family = rng.choice([f for f in FAMILIES.values() if "hidden_size" in f.small])
    sizes = family.small | {"vocab_size": rng.randint(20, 40), "tie_word_embeddings": rng.random() < 0.5}
    config = AutoConfig.for_model(family.name, **sizes)
    model = AutoModelForCausalLM.from_config(config).eval()
    model.save_pretrained(os.path.join(folder, "before"))
    resized = rng.random() < 0.4
    if resized:
        model.resize_token_embeddings(config.vocab_size + rng.choice([-3, 5]))
    model.save_pretrained(os.path.join(folder, "after"))
    return model, resized


def refused(heed, model, folder, words):
    """heed refuses the adapter, and says these words; a line, if it does not."""
    m = heed.must(heed.from_pretrained(os.path.join(folder, model).encode(), None))
    ok = heed.lora_load(m, os.path.join(folder, "adapter").encode())
    message = "it is taken" if ok else heed.error_message().decode()
    heed.error_clear()
    heed.module_free(m)
    return [] if not ok and words in message else [f"expected an error with {words}: {message}"]


def language_round(heed, rng, folder, largest):
    model, resized = language_model(rng, folder)
    saved = rng.choice([None, None, None, "lm_head", "embed_tokens"])
    linear = {name.split(".")[-1] for name, m in model.named_modules() if isinstance(m, nn.Linear)} - {"lm_head"}
    targets = rng.sample(sorted(linear), rng.randint(1, 4))
    targets += ["lm_head"] if rng.random() < 0.5 and saved != "lm_head" else []
    config = peft.LoraConfig(r=rng.randint(1, 4), lora_alpha=4, target_modules=targets,
                             modules_to_save=[saved] if saved else None)
    b = peft.get_peft_model(model, config).eval()
    for q in adapters(b).values():
        q.data.normal_(std=0.3)
    b.save_pretrained(os.path.join(folder, "adapter"), save_embedding_layers=True if resized else "auto")
    if saved:
        return refused(heed, "after", folder, "modules_to_save.0: found " + saved)
    ids = torch.randint(model.config.vocab_size, (2, 7))
    m = heed.must(heed.from_pretrained(os.path.join(folder, "after").encode(), None))
    heed.must(heed.lora_load(m, os.path.join(folder, "adapter").encode()))
    y = b(ids).logits.detach()
    largest("logits", heed.numbers(heed.forward(m, heed.ids(ids)), y), y)
    heed.module_free(m)
    return refused(heed, "before", folder, ".weight is (") if resized else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    heed, rng, largest = Heed(args.build), random.Random(args.seed), Largest()
    torch.manual_seed(args.seed)
    for _ in range(args.rounds):
        scope = heed.scope_open()
        with tempfile.TemporaryDirectory() as folder:
            one_round(heed, rng, folder, largest)
        heed.scope_close(scope)
    wrong = []
    for _ in range(args.rounds // 2):
        scope = heed.scope_open()
        with tempfile.TemporaryDirectory() as folder:
            wrong += language_round(heed, rng, folder, largest)
        heed.scope_close(scope)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    for what, off in largest.of.items():
        print(f"{what}: {off:.1e} of the largest")
    return bool(wrong) or any(off > (0 if what == "draws" else MOST) for what, off in largest.of.items())


sys.exit(main())
