#!/usr/bin/env python3
"""Checks that transformers loads the model that heed saved with hd_save_pretrained.

usage: python tools/oracle/hf_saved.py make --build build [--rounds N] [--seed S] DIRECTORY
       python tools/oracle/hf_saved.py load DIRECTORY

`make` makes the new DIRECTORY: heed loads the models of tests/golden/models and N small random ones (200) from folders
with random forms of their keys, changes most of them as a user may, and saves them again. heed must refuse a change
that config.json cannot express. A saved folder must give heed the same logits again. `load` loads each saved folder
with the transformers of this Python (run it with 4.57.3 and with 5.23.0): no key may be missing, unexpected or
mismatched, the logits must be within 1e-5 of the largest, and the special tokens, use_cache and the defaults of
generation those of the folder before. Both print a line; the status is 1 if anything differs.
"""
import argparse
import collections
import ctypes
import glob
import json
import math
import os
import random
import sys

import numpy
import torch
from hf_models import Heed, hold, FAILED

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from families import FAMILIES, KEYS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "..", "tests", "golden", "models")
NO_PADDING = -2**63


OWN = [f.name for f in FAMILIES.values() if f.config == f.name]     # those with a configuration of their own


def family_of(config):
    return FAMILIES[type(config).__name__[len("hd_"):-len("_config")]]


class Maker(Heed):
    def drawn(self, module):
        """The module with normal weights: norms and biases too, so that none can be lost unseen."""
        all_of = self.checked(self.lib.hd_module_parameters(self.checked(module)))
        for i in range(self.lib.hd_list_len(all_of)):
            w = self.lib.hd_list_get(all_of, i)
            self.checked(self.lib.hd_init_normal_(w, 0.5 if self.lib.hd_ndim(w) == 1 else 0.0, 0.3))
        return module

    def new(self, config):
        return self.drawn(getattr(self.lib, f"hd_{family_of(config).name}_new")(ctypes.byref(config)))

    def has(self, model, name):
        module = self.lib.hd_module_get(model, name.encode())
        self.lib.hd_error_clear()
        return module

    def shapes(self, model):
        """The shapes of the weights, by the names of their modules."""
        d, shapes = self.checked(self.lib.hd_module_named_parameters(model)), {}
        for i in range(self.lib.hd_dict_len(d)):
            name = self.lib.hd_dict_name(d, i)
            w = self.lib.hd_dict_get(d, name)
            if name.endswith(b".weight"):
                shapes[name.decode()[:-len(".weight")]] = [self.lib.hd_size(w, k) for k in range(self.lib.hd_ndim(w))]
        self.lib.hd_dict_free(d)
        return shapes

    def put(self, model, name, child):
        self.checked(self.lib.hd_module_set(model, name.encode(), child))

    def take(self, model, name):
        return self.checked(self.lib.hd_module_take(model, name.encode()))

    def save(self, model, path):
        saved = self.lib.hd_save_pretrained(model, path.encode(), None)
        message = "" if saved else self.lib.hd_error_message().decode()
        self.lib.hd_error_clear()
        return message


# ---------------------------------------------------------------- random configurations


def copied(config):
    return type(config).from_buffer_copy(config)


def random_gpt2(heed, r):
    c = heed.lib.hd_gpt2_config_defaults()
    c.n_head = r.choice((1, 2, 4))
    c.n_embd = c.n_head * r.choice((4, 6, 8))
    c.vocab_size, c.n_positions, c.n_layer = r.randint(20, 90), r.randint(16, 40), r.randint(2, 3)
    c.n_inner = r.choice((0, 0, r.randint(5, 40)))
    c.layer_norm_epsilon = r.choice((1e-5, 1e-6, 1e-12, 0.03))
    c.embd_pdrop, c.attn_pdrop, c.resid_pdrop = (r.choice((0.0, 0.1, 0.25)) for _ in range(3))
    c.tie_word_embeddings = r.random() < 0.7
    c.activation_function = r.choice((b"gelu_new", b"gelu", b"relu", b"gelu_pytorch_tanh"))
    return c


def random_decoder(heed, r, name):
    c = getattr(heed.lib, f"hd_{name}_config_defaults")()
    kv = r.choice((1, 2))
    c.num_key_value_heads, c.num_attention_heads = kv, kv * r.choice((1, 2, 3))
    c.head_dim = r.choice((4, 6, 8))
    c.hidden_size = c.num_attention_heads * r.choice((4, 6, 8))
    c.vocab_size, c.intermediate_size, c.num_hidden_layers = r.randint(20, 90), r.randint(5, 40), r.randint(2, 3)
    c.max_position_embeddings = r.choice((40, 4096))
    c.rms_norm_eps = r.choice((1e-5, 1e-6, 0.03))
    c.rope.theta = r.choice((10000.0, 500000.0, 1234.5))
    if r.random() < 0.5:
        c.rope.factor, c.rope.low_freq_factor, c.rope.high_freq_factor = r.choice((2.0, 8.0)), 1.0, 4.0
        c.rope.original_max_position_embeddings = r.choice((16, 1024))
    c.pad_token_id = NO_PADDING
    c.tie_word_embeddings = r.random() < 0.5
    if hasattr(c, "qkv_bias"):
        c.qkv_bias = r.random() < 0.4
    for key in ("attention_bias", "mlp_bias"):
        if hasattr(c, key):
            setattr(c, key, not getattr(c, "qkv_bias", False) and r.random() < 0.3)
    for key, values in family_of(c).keys.items():   # those of this class alone
        values = [v for v in values if isinstance(v, (int, float)) and v]
        if key not in KEYS and hasattr(c, key) and values:
            setattr(c, key, r.choice(values))
    return c


def random_keys(r, folder, vocab, family):
    """Writes the folder's keys in another form, with random special tokens. Returns the form."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as f:
        keys = json.load(f)
    form = r.choice(("both", "new", "old"))
    for key in {"both": (), "new": ("rope_theta", "rope_scaling"), "old": ("rope_parameters",)}[form]:
        keys.pop(key, None)
    token = lambda: r.randrange(vocab)  # noqa: E731
    for key, values in (("bos_token_id", (None, token())), ("pad_token_id", (None, token())),
                        ("eos_token_id", (None, token(), [token(), token()])), ("use_cache", (True, False))):
        keys[key] = r.choice(values)
        if r.random() < 0.3 and key not in family.small:
            del keys[key]
    order = list(keys.items())
    r.shuffle(order)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(dict(order), f)
    if r.random() < 0.5:
        generation = {"eos_token_id": r.choice((token(), [token(), token(), token()])), "bos_token_id": token()}
        if r.random() < 0.5:
            generation.update(do_sample=True, temperature=0.7, top_k=5, pad_token_id=token())
        with open(os.path.join(folder, "generation_config.json"), "w", encoding="utf-8") as f:
            json.dump(generation, f)
    return form


# ---------------------------------------------------------------- changes


class Changes:
    """What a user may do to a model. Each function says whether config.json can say the result."""

    def __init__(self, heed, r, model, config):
        self.heed, self.r, self.model, self.c = heed, r, model, config
        self.gpt2 = hasattr(config, "n_embd")
        self.layers = "transformer.h" if self.gpt2 else "model.layers"
        self.n = config.n_layer if self.gpt2 else config.num_hidden_layers
        self.width = config.n_embd if self.gpt2 else config.hidden_size
        self.embedding = "transformer.wte" if self.gpt2 else "model.embed_tokens"
        shapes = heed.shapes(model)
        self.norms = {name: shape[0] for name, shape in shapes.items() if len(shape) == 1}
        # of the first layer, as "mlp.up_proj"
        self.matrices = [name[len(self.layers) + 3:] for name, shape in shapes.items() if len(shape) == 2 and
                         name.startswith(f"{self.layers}.0.")]
        self.acts = [name for i in range(self.n) for act in ("act", "act_fn", "activation_fn")
                     if heed.has(model, name := f"{self.layers}.{i}.mlp.{act}")]

    def put_norm(self, name, eps):
        width = self.norms[name]
        self.heed.put(self.model, name, self.heed.drawn(
            self.heed.lib.hd_layer_norm_new_n(1, (ctypes.c_int64 * 1)(width), eps, True, True) if self.gpt2 else
            self.heed.lib.hd_rms_norm_new(width, eps)))

    def linear(self, n_in, n_out, bias):
        return self.heed.drawn(self.heed.lib.hd_linear_new(n_in, n_out, bias))

    def resized(self, name, bias):
        w = self.heed.checked(self.heed.lib.hd_module_get_parameter(self.model, f"{name}.weight".encode()))
        return self.linear(self.heed.lib.hd_size(w, 1), self.heed.lib.hd_size(w, 0), bias)

    def other(self, **fields):
        c = copied(self.c)
        for key, value in fields.items():
            setattr(c, key, value)
        return self.heed.new(c)

    def move(self, other, names):
        for name in names:
            self.heed.put(self.model, name, self.heed.take(other, name))
        self.heed.lib.hd_module_free(other)

    def all_norms(self):
        for name in self.norms:
            self.put_norm(name, 0.2)
        return True

    def one_norm(self):
        self.put_norm(self.r.choice([*self.norms]), 0.2)
        return False

    def activations(self):
        if not self.acts:
            return True
        if not self.gpt2:
            self.heed.put(self.model, self.acts[0], self.heed.lib.hd_silu_new(True))
            return True
        kind = self.r.choice((b"none", b"tanh", None))
        for name in self.acts:
            self.heed.put(self.model, name, self.heed.lib.hd_gelu_new(kind) if kind else
                          self.heed.lib.hd_relu_new(False))
        return True

    def one_activation(self):
        if not self.acts:
            return True
        if not self.gpt2:
            self.heed.put(self.model, self.r.choice(self.acts), self.heed.lib.hd_gelu_new(b"none"))
            return False
        kind = {b"gelu": b"tanh", b"relu": b"none"}.get(self.c.activation_function, b"none")
        self.heed.put(self.model, self.r.choice(self.acts), self.heed.lib.hd_gelu_new(kind))
        return False

    def layer_appended(self):
        other = self.other()
        layer = self.heed.take(other, f"{self.layers}.1")
        self.heed.checked(self.heed.lib.hd_module_list_append(
            self.heed.lib.hd_module_get(self.model, self.layers.encode()), layer))
        self.heed.lib.hd_module_free(other)
        return True

    def layer_taken(self):
        self.heed.lib.hd_module_free(self.heed.take(self.model, f"{self.layers}.{self.r.randrange(self.n)}"))
        return False

    def wider(self):
        self.move(self.other(**{"n_inner" if self.gpt2 else "intermediate_size": 44}),
                  [f"{self.layers}.{i}.mlp" for i in range(self.n)])
        return True

    def one_wider(self):
        self.move(self.other(**{"n_inner" if self.gpt2 else "intermediate_size": 44}),
                  [f"{self.layers}.{self.r.randrange(self.n)}.mlp"])
        return False

    def words(self):
        n = self.r.choice((95, 130))
        self.heed.put(self.model, self.embedding,
                      self.heed.drawn(self.heed.lib.hd_embedding_new(n, self.width, NO_PADDING)))
        self.heed.put(self.model, "lm_head", self.linear(self.width, n, False))
        if self.r.random() < 0.5:
            self.tied()
        return True

    def words_alone(self):
        self.heed.put(self.model, self.embedding, self.heed.lib.hd_embedding_new(95, self.width, NO_PADDING))
        return False

    def positions(self):
        if self.gpt2:
            self.heed.put(self.model, "transformer.wpe",
                          self.heed.drawn(self.heed.lib.hd_embedding_new(48, self.width, NO_PADDING)))
        return True

    def tied(self):
        w = self.heed.lib.hd_module_get_parameter(self.model, f"{self.embedding}.weight".encode())
        self.heed.checked(self.heed.lib.hd_module_set_parameter(self.model, b"lm_head.weight", w))
        return True

    def untied(self):
        self.heed.put(self.model, "lm_head", self.linear(self.width, self.c.vocab_size, False))
        return True

    def head(self):
        self.heed.put(self.model, "lm_head", self.linear(self.width, 2, self.r.random() < 0.5))
        return False

    def head_bias(self):
        self.heed.put(self.model, "lm_head", self.linear(self.width, self.c.vocab_size, True))
        return False

    def biases(self):
        kinds = [k for k in ("attention", "mlp") if hasattr(self.c, f"{k}_bias")]
        if not kinds or getattr(self.c, "qkv_bias", False):
            return True
        kind, bias = self.r.choice(kinds), self.r.random() < 0.5
        for i in range(self.n):
            for part in self.matrices:
                if part.startswith({"attention": "self_attn.", "mlp": "mlp."}[kind]):
                    name = f"{self.layers}.{i}.{part}"
                    self.heed.put(self.model, name, self.resized(name, bias))
        return True

    def one_bias(self):
        name = f"{self.layers}.0.{'mlp.c_fc' if self.gpt2 else self.matrices[0]}"
        has = getattr(self.c, "qkv_bias", False) or getattr(self.c, "attention_bias", False)
        self.heed.put(self.model, name, self.resized(name, self.gpt2 or not has))
        return False

    def dropouts(self):
        for i in range(self.n if self.gpt2 else 0):
            for name in ("attn.attn_dropout", "attn.resid_dropout", "mlp.dropout"):
                self.heed.put(self.model, f"{self.layers}.{i}.{name}", self.heed.lib.hd_dropout_new(0.4, False))
        return True

    def one_dropout(self):
        if self.gpt2:
            self.heed.put(self.model, f"{self.layers}.0.mlp.dropout", self.heed.lib.hd_dropout_new(0.45, False))
        return not self.gpt2

    def heads(self):
        if self.gpt2:
            self.move(self.other(n_head=2 if self.c.n_head != 2 else 1), [f"{self.layers}.0.attn"])
            return False
        heads, kv = self.c.num_attention_heads, self.c.num_key_value_heads
        if heads % 2 or kv % 2:
            return True
        self.move(self.other(num_attention_heads=heads // 2, num_key_value_heads=kv // 2,
                             head_dim=2 * self.c.head_dim), [f"{self.layers}.1.self_attn"])
        return False

    def tied_layers(self):
        for part in self.r.sample(self.matrices, 2):
            w = self.heed.lib.hd_module_get_parameter(self.model, f"{self.layers}.0.{part}.weight".encode())
            self.heed.checked(self.heed.lib.hd_module_set_parameter(
                self.model, f"{self.layers}.1.{part}.weight".encode(), w))
        return True

    def frozen(self):
        return self.heed.checked(self.heed.lib.hd_module_freeze(self.model, [*self.norms][0].encode()))

    def adapters(self):
        self.heed.checked(self.heed.lib.hd_lora_apply(self.model, None))
        return False


ALL = [name for name, f in vars(Changes).items() if callable(f) and
       name not in ("__init__", "put_norm", "linear", "resized", "other", "move")]


# ---------------------------------------------------------------- made


def made(heed, directory, model, case, counts):
    """Saves the model, which must be refused unless case["sayable"]; then it must load again."""
    saved = os.path.join(directory, "saved")
    heed.checked(heed.lib.hd_module_eval(model))
    message = heed.save(model, saved)
    name = f"{directory} ({', '.join(case['changes'])})"
    if message:
        hold(name, message, not case["sayable"] and not os.path.exists(saved))
        counts["refused"] += 1
        return
    hold(name, "it was not refused", case["sayable"])
    counts["saved"] += 1
    ids = [[i % case["vocab"] for i in range(n, n + 12)] for n in (0, 5)]
    logits = heed.logits(model, ids)
    again = heed.checked(heed.lib.hd_from_pretrained(saved.encode(), None))
    apart = (heed.logits(again, ids) - logits).abs().max() / logits.abs().max()
    hold(name, f"heed's logits are {apart:.2g} of the largest apart", apart <= 1e-6)
    heed.lib.hd_module_free(again)
    o = heed.lib.hd_generate_defaults()
    heed.checked(heed.lib.hd_generate_options_load(saved.encode(), ctypes.byref(o)))
    case["ends"] = list(o.eos_token_id)[:o.num_eos]
    numpy.savez(os.path.join(directory, "expected.npz"), ids=numpy.array(ids), logits=logits.numpy())
    with open(os.path.join(directory, "case.json"), "w", encoding="utf-8") as f:
        json.dump(case, f)


def make_random(heed, r, directory, counts):
    name = r.choice(OWN)
    config = random_gpt2(heed, r) if name == "gpt2" else random_decoder(heed, r, name)
    vocab, source = config.vocab_size, os.path.join(directory, "source")
    case = {"source": None, "vocab": vocab, "changes": [], "sayable": True}
    model = heed.new(config)
    if r.random() < 0.9:
        heed.checked(not heed.save(model, source))
        heed.lib.hd_module_free(model)
        case["changes"].append("in the form " + random_keys(r, source, vocab, family_of(config)))
        case["source"] = source
        model = heed.checked(heed.lib.hd_from_pretrained(source.encode(), None))
    changes = Changes(heed, r, model, config)
    for name in r.sample(ALL, 1 if r.random() < 0.8 else 0):
        case["changes"].append(name)
        case["sayable"] = getattr(changes, name)()
    heed.within_scope(lambda: made(heed, directory, model, case, counts))
    heed.lib.hd_module_free(model)


def make(args):
    heed, counts = Maker(args.build), collections.Counter()
    heed.lib.hd_manual_seed(args.seed)
    os.mkdir(args.directory)
    for source in sorted(glob.glob(os.path.join(GOLDEN, "*/"))):
        directory = os.path.join(args.directory, os.path.basename(source[:-1]))
        os.mkdir(directory)
        model = heed.checked(heed.lib.hd_from_pretrained(source.encode(), None))
        made(heed, directory, model, {"source": os.path.abspath(source), "vocab": 64, "changes": [], "sayable": True},
             counts)
        heed.lib.hd_module_free(model)
    for i in range(args.rounds):
        directory = os.path.join(args.directory, str(i))
        os.mkdir(directory)
        heed.within_scope(lambda: make_random(heed, random.Random(args.seed * 100000 + i), directory, counts))
    print(f"{counts['saved']} models saved, {counts['refused']} refused, {len(FAILED)} wrong")


# ---------------------------------------------------------------- loaded


def several(ids):
    return ids if isinstance(ids, list) else [] if ids is None else [ids]


def said(model):
    """What a program that uses the model goes by, beside the logits."""
    config, generation = model.config, model.generation_config
    keys = {k: getattr(config, k, None) for k in ("bos_token_id", "pad_token_id", "use_cache")}
    keys["eos_token_id"] = several(config.eos_token_id)
    keys.update({f"generation.{k}": getattr(generation, k, None) for k in (
        "bos_token_id", "pad_token_id", "do_sample", "temperature", "top_k")})
    keys["generation.eos_token_id"] = several(generation.eos_token_id)
    return keys


NOTHING_SAID = {"bos_token_id": None, "pad_token_id": None, "use_cache": True, "eos_token_id": [],
                "generation.bos_token_id": None, "generation.pad_token_id": None, "generation.eos_token_id": []}


def without_defaults(keys, source):
    """Without generation_config.json, tokens that config.json leaves out are the class's in transformers 4 and none in
    5, which keeps them in its own config: heed writes those of the class, which all three read alike."""
    with open(os.path.join(source, "config.json"), encoding="utf-8") as f:
        there = json.load(f)
    if not os.path.exists(os.path.join(source, "generation_config.json")):
        for key in ("bos_token_id", "eos_token_id"):
            if key not in there:
                del keys[f"generation.{key}"]


def load_case(directory):
    from transformers import AutoModelForCausalLM
    with open(os.path.join(directory, "case.json"), encoding="utf-8") as f:
        case = json.load(f)
    name = f"{directory} ({', '.join(case['changes'])})"
    expected = numpy.load(os.path.join(directory, "expected.npz"))
    model, info = AutoModelForCausalLM.from_pretrained(os.path.join(directory, "saved"), dtype=torch.float32,
                                                       output_loading_info=True)
    for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        hold(name, f"{key}: {info[key]}", not info[key])
    with torch.no_grad():
        logits = model.eval()(torch.from_numpy(expected["ids"])).logits
    wanted = torch.from_numpy(expected["logits"])
    apart = ((logits - wanted).abs().max() / wanted.abs().max()).item() if logits.shape == wanted.shape else math.inf
    hold(name, f"logits are {apart:.2g} of the largest apart", apart <= 1e-5)
    keys = said(model)
    hold(name, f"heed's end tokens are {case['ends']}: {keys}", keys["generation.eos_token_id"] == case["ends"])
    before = NOTHING_SAID
    if case["source"]:
        before = said(AutoModelForCausalLM.from_pretrained(case["source"], dtype=torch.float32))
        without_defaults(before, case["source"])
    hold(name, f"{keys}, before {before}", all(keys[k] == v for k, v in before.items()))
    return apart


def load(args):
    import transformers
    from transformers.utils import logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    cases = sorted(os.path.dirname(p) for p in glob.glob(os.path.join(args.directory, "*", "case.json")))
    apart = max(load_case(directory) for directory in cases)
    print(f"transformers {transformers.__version__}: {len(cases)} folders, logits within {apart:.1e} of the largest, "
          f"{len(FAILED)} wrong")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("what", choices=("make", "load"))
    parser.add_argument("--build")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("directory")
    args = parser.parse_args()
    (make if args.what == "make" else load)(args)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
