#!/usr/bin/env python3
"""Compares the models that heed-hf and transformers (5.23.0) make from random config.json files.

usage: python tools/oracle/hf_configs.py --build build [--cases N] [--seed N] [--case N]

Each of N cases (600) is a folder of a tiny model of one of the families: keys in random order, some left out, some twice
under two names, some of a wrong type, rotary positions in all their forms, model_type and architectures that disagree. Where
transformers can make the model of the file, the weights are random ones of that model, otherwise of the file without its
changes. Both must give the same logits, within 1e-5 of the largest, or both must refuse. Where only one refuses, its
message must have a row in REASONS. Prints the counts, and each difference; the status is 1 if there is one. --case runs
one case alone and prints its config.json and both messages.
"""
import argparse
import collections
import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile

import torch
from safetensors.torch import save_file
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

from hf_models import Heed

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from families import FAMILIES, KEYS, SMALL  # noqa: E402

WRONG = [None, True, False, 0, 1, 2, 1.5, 2.0, -1, "x", "8", "true", "null", [], [1], ["x"], [[1]], [None],
         {}, {"a": 1}]
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8}
MOST = 4_000_000  # elements of a model that is made

# What one side refuses and the other one takes: its message, and the reason
REASONS = {
    "heed": (
        (r"expected 1 to 2147483647", "a size of 0, or of positions below 1, which gives no model"),
        (r"expected (finite )?numbers above 0|original_max_position_embeddings", "numbers from which "
         "transformers makes waves that are infinite, nan or turned around"),
        (r"rope_type: found|\.type: found", "a type of rotary positions that heed has not"),
        (r"hidden_act: found|activation_function: found", "an activation that heed has not"),
        (r"use_sliding_window: found true|layer_types.*: found sliding", "attention with a window, which heed has not"),
        (r"(scale_attn_weights|scale_attn_by_inverse_layer_idx|add_cross_attention): found", "attention of GPT-2 that "
         "heed has not"),
        (r"model_type .* and architectures", "a class that is not the one of model_type, which transformers passes over"),
        (r"tokens: expected at most \d+, the context of the model", "a text longer than max_position_embeddings"),
        (r"head_dim \d+: expected an even number", "an odd head_dim, up to 4"),
        (r"rope_(theta|parameters|scaling).*: found .*: expected (a number|an object)", "a value of a wrong type that "
         "transformers does not come to read, or takes for a number"),
        (r"found (true|false): expected (a whole number|a number)", "true or false in place of a number"),
        (r"num_attention_heads \d+ does not divide hidden_size \d+", "a width of Qwen 2 or SmolLM3 that its "
         "heads do not divide"),
    ),
    "transformers": (
        (r"should have a `model_type` key|Unrecognized model", "no model_type: architectures says enough"),
        (r"hidden size .* is not a multiple", "a width of Llama that its heads do not divide, beside a head_dim"),
        (r"in range|initializer_range", "an initializer_range above 1, which is for new weights"),
        (r"has no attribute|is_floating_point|list index out of range", "a dtype that PyTorch has not: heed looks at "
         "the file"),
        (r"'NoneType' and 'float'|no_rope_layer_interval' expected int, got NoneType", "head_dim null in Qwen 2 or SmolLM3, "
         "no_rope_layer_interval null: as if it were left out"),
        (r"for \*: 'int' and 'NoneType'", "partial_rotary_factor null: as if it were left out"),
        (r"KeyError: 'rope_(type|theta)'", "rotary positions of a type of layers, where one for all is missing: a warning"),
        (r"^gpt2 .*(rope_|object is not iterable)", "rotary positions of a GPT-2, whose class has none"),
        (r"^llama .*layer_types|^gpt2 .*'summary_", "a wrong value of a key that has no effect on the model"),
    ),
}


def base_of(family, r):
    heads, of = r.choice([1, 2, 4]), CONFIG_MAPPING[family.name]
    c = {"architectures": [family.architecture], "model_type": family.name, "vocab_size": 24}
    if "n_embd" in family.small:
        return c | {"n_embd": 16, "n_layer": r.choice([1, 2]), "n_head": heads, "n_positions": 32}
    c |= {key: value for key, value in family.small.items() if key not in SMALL}
    c |= {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": r.choice([1, 2]), "num_attention_heads": heads,
          "max_position_embeddings": 32}
    if of.num_key_value_heads or r.random() < 0.4:
        c["num_key_value_heads"] = r.choice([h for h in (1, 2, 4) if heads % h == 0])
    if of.num_key_value_heads and r.random() < 0.15:  # of as many as the class has by default
        c.update(hidden_size=64, num_attention_heads=32)
        c.pop("num_key_value_heads")
    if getattr(of, "head_dim", None):
        c["head_dim"] = r.choice([4, 8])
    return c


def rope_block(r):
    block = {}
    kind = r.random()
    if kind < 0.5:
        block = dict(LLAMA3, factor=r.choice([2.0, 4.0, 8, 0.5]), original_max_position_embeddings=r.choice([4, 8, 64]))
        if r.random() < 0.4:
            block.pop(r.choice([*block, "original_max_position_embeddings", "original_max_position_embeddings"]))
        if r.random() < 0.15:
            block[r.choice(list(LLAMA3))] = r.choice(WRONG)
    elif kind < 0.9:
        block = {"rope_type": r.choice(["default"] * 6 + ["linear", "yarn", "x", None, 1])}
    if r.random() < 0.6:
        block["rope_theta"] = r.choice([10.0, 100.0, 10000, 5e5] * 3 + WRONG)
    if block and r.random() < 0.2:
        block["type"] = block.pop("rope_type", "default")
    if r.random() < 0.1:
        block["type"] = r.choice(["default", "llama3", "linear"])
    if r.random() < 0.1:
        block["partial_rotary_factor"] = r.choice([1, 1.0, 0.5, None])
    if r.random() < 0.1:
        block[r.choice(["a_key", "full_attention"])] = {"rope_theta": 5.0}
    return block


def rotary(c, r):
    if r.random() < 0.5:
        c["rope_theta"] = r.choice([10.0, 100.0, 10000, 5e5] * 3 + WRONG)
    if r.random() < 0.5:
        c["rope_scaling"] = r.choice([None, {}, rope_block(r), rope_block(r), rope_block(r), r.choice(WRONG)])
    if r.random() < 0.5:
        c["rope_parameters"] = r.choice([None, {}, rope_block(r), rope_block(r), rope_block(r), r.choice(WRONG)])
    if r.random() < 0.1:
        c["original_max_position_embeddings"] = r.choice([2, 4, 16, None, "x"])
    if r.random() < 0.05:
        c["partial_rotary_factor"] = r.choice([1, 0.5, None])


COMMON = {"use_cache": [True, False], "bos_token_id": [None, 1], "eos_token_id": [None, 2, [], [1, 2], [1, [2]]],
          "torch_dtype": ["float32", None], "dtype": ["float32"], "transformers_version": ["4.57.3"],
          "per_layer_config": [None, {}], "id2label": [None, {"0": "a"}], "a_key": [1, "x", {"b": 1}, None],
          "temperature": [0.5], "quantization_config": [None]}


def config_of(family, r):
    """A file's object, and the one without its changes."""
    plain = base_of(family, r)
    c = dict(plain)
    others = ({} if "n_embd" in family.small else KEYS) | family.keys | COMMON
    for key in r.sample(list(others), r.randrange(6)):
        c[key] = r.choice(others[key])
    if "n_embd" not in family.small or r.random() < 0.1:
        rotary(c, r)
    if r.random() < 0.35:
        c[r.choice(list(plain) + list(others))] = r.choice(WRONG)
    if r.random() < 0.15:
        c.pop(r.choice([k for k in plain if k not in ("hidden_size", "n_embd", "vocab_size")]))
    if r.random() < 0.1:
        c["architectures"] = r.choice([None, [], ["LlamaForCausalLM"], ["GPT2LMHeadModel"], ["MistralForCausalLM"]])
    if r.random() < 0.05:
        c["model_type"] = r.choice([*FAMILIES, "mistral"])
    keys = list(c)
    r.shuffle(keys)
    return {k: c[k] for k in keys}, plain


def weights_of(path, seed):
    """Random weights of the model of a file; None: transformers makes none. "": a large one."""
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(path))
    except Exception:
        return None
    if sum(p.numel() for p in model.parameters()) > MOST:
        return ""
    g = torch.Generator().manual_seed(seed)
    tied = model.config.tie_word_embeddings
    return {name: torch.randn(p.shape, generator=g) * (0.3 if p.dim() > 1 else 0.1) + (p.dim() == 1 and "norm" in name)
            for name, p in model.state_dict().items() if not (tied and name == "lm_head.weight")}


def transformers_gives(folder, ids):
    """Logits, or a message."""
    try:
        model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
        wrong = {k: v for k, v in info.items() if v and k in ("missing_keys", "mismatched_keys", "unexpected_keys")}
        if wrong:
            return f"wrong weights: {wrong}"
        with torch.no_grad():
            return model.eval()(torch.tensor(ids), return_dict=True).logits
    except Exception as e:
        return f"{type(e).__name__}: {' '.join(str(e).split())}"


def heed_gives(heed, folder, ids):
    """Logits, or a message."""
    model = heed.lib.hd_from_pretrained(folder.encode(), None)
    try:
        return heed.logits(model, ids) if model else heed.lib.hd_error_message().decode()
    except SystemExit as e:  # Heed.checked's
        return str(e)
    finally:
        heed.lib.hd_error_clear()
        heed.lib.hd_module_free(model)


def reason_for(side, message):
    return next((reason for pattern, reason in REASONS[side] if re.search(pattern, message)), None)


def verdict(config, here, there):
    """What came out, and the reason where one side alone refuses."""
    if isinstance(here, str) and isinstance(there, str):
        return "both refuse", None
    if isinstance(here, str):
        return "heed refuses", reason_for("heed", here)
    if isinstance(there, str):
        return "transformers refuses", reason_for("transformers", f"{config.get('model_type')} {there}")
    apart = (here - there).abs().max() / there.abs().max()
    return "equal", None if apart <= 1e-5 else f"{apart:.2g} of the largest apart"


def one_case(heed, seed, number, shown):
    r = random.Random(f"{seed} {number}")
    config, plain = config_of(list(FAMILIES.values())[number % len(FAMILIES)], r)
    ids = [[r.randrange(24) for _ in range(12)]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        weights = []
        for c in (plain, config):
            with open(path, "w", encoding="utf-8") as f:
                json.dump(c, f)
            weights.append(weights_of(folder, number))
        save_file(weights[1] or weights[0], os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        with contextlib.redirect_stderr(io.StringIO()):
            there = "other weights" if weights[1] == "" else transformers_gives(folder, ids)
        here = heed_gives(heed, folder, ids)
    what, reason = verdict(config, here, there)
    different = reason if what == "equal" else what.endswith("refuses") and not reason
    if shown or different:
        print(f"case {number}: {what}, {reason or 'no reason'}: {json.dumps(config)}")
        for side, result in (("heed", here), ("transformers", there)):
            print(f"  {side}: {result if isinstance(result, str) else result.flatten()[:4].tolist()}")
    return what, reason, different


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][len("usage: "):])
    parser.add_argument("--build", required=True)
    parser.add_argument("--cases", type=int, default=600)
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--case", type=int)
    args = parser.parse_args()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    heed = Heed(args.build)
    counts, reasons, different = collections.Counter(), collections.Counter(), 0
    for number in range(args.cases) if args.case is None else (args.case,):
        what, reason, wrong = one_case(heed, args.seed, number, args.case is not None)
        counts[what] += 1
        different += bool(wrong)
        if what.endswith("refuses"):
            reasons[f"{what}: {reason}"] += 1
    print(f"seed {args.seed}: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()) + f", {different} differ")
    for reason, n in reasons.most_common():
        print(f"  {n} {reason}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
