"""Makes tests/golden/models: folders of small random models, as transformers saves them, and its results with them.

usage: python tools/golden/golden_models.py tests/golden/models [FOLDER...]

tools/families.py lists the folders. The script makes the FOLDERs, or all without one. Needs PyTorch and transformers
5.23.0. tests/golden/models/README.md describes the files. It loads each folder again in float32 and computes the
expected results with the loaded model, in evaluation mode, without dropout. The same versions give the same bytes.
"""
import json
import os
import shutil
import sys

import torch
import transformers
from safetensors.torch import save_file
from torch.nn import functional as F
from transformers import AutoConfig, AutoModelForCausalLM

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from families import FAMILIES  # noqa: E402

VOCAB, TOKENS, PROMPT, NEW, STEPS = 64, 12, 8, 50, 5
LEARNING_RATE, WEIGHT_DECAY = 1e-2, 0.1
LEAST_MARGIN = 1e-2  # of the largest logit over the next, so that rounding cannot change a greedy token
LEAST_VARIETY = 12   # different tokens among the greedy ones

COMMON = {"bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.3}


# ---------------------------------------------------------------- a folder


def files_of_weights(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))


def save(model, folder, files):
    """Saves the model in `files` files of weights, of nearly equal sizes."""
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    for most in range(size // files, 2 * size, 64):
        shutil.rmtree(folder, ignore_errors=True)
        model.save_pretrained(folder, max_shard_size=most)
        if len(files_of_weights(folder)) == files:
            return
    sys.exit(f"{folder}: cannot be saved in {files} files")


def make_older(folder):
    """Writes config.json with the keys that it had before transformers 5."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    config["torch_dtype"] = config.pop("dtype")
    rope = config.pop("rope_parameters", None)
    if rope:
        config["rope_theta"] = rope.pop("rope_theta")
        config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f, indent=2, sort_keys=True)
        f.write("\n")


# ---------------------------------------------------------------- expected results


def loss_of(model, ids, targets):
    return F.cross_entropy(model(ids).logits.flatten(0, 1), targets.flatten())


def greedy(model, prompt):
    """The new tokens, and how far the largest logit was above the next one at least."""
    out = model.generate(prompt[None], max_new_tokens=NEW, do_sample=False, eos_token_id=None, pad_token_id=0,
                         attention_mask=torch.ones_like(prompt[None]))[0]
    with torch.no_grad():
        two = model(out[None]).logits[0, len(prompt) - 1:-1].topk(2)
    if two.indices[:, 0].tolist() != out[len(prompt):].tolist():
        return out[len(prompt):], 0.0
    return out[len(prompt):], (two.values[:, 0] - two.values[:, 1]).min().item()


def losses_of_training(model, ids, targets):
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, ids, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64)


def ids_and_targets(seed):
    return torch.randint(VOCAB, (2, 2, TOKENS), generator=torch.Generator().manual_seed(seed))


def expected_of(folder, seed, tokens):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids, targets = ids_and_targets(seed)
    loss_of(model, ids, targets).backward()
    with torch.no_grad():
        logits = model(ids).logits
    return {
        "ids": ids, "targets": targets, "logits": logits, "greedy": tokens, "prompt": ids[0, :PROMPT].clone(),
        **{f"grad.{name}": p.grad.clone() for name, p in model.named_parameters()},
        "losses": losses_of_training(model, ids, targets),
    }


# ---------------------------------------------------------------- the whole


def make(family, name, folder):
    options = family.folders[name]
    config = AutoConfig.for_model(family.name, **{**family.small, **COMMON, **options.keys})
    for seed in range(1, 1000):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config).to(getattr(torch, options.dtype))
        if options.drawn:
            for n, p in model.named_parameters():
                if n.endswith(".bias"):
                    torch.nn.init.normal_(p, std=0.3)
        save(model, folder, options.files)
        if options.older:
            make_older(folder)
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        tokens, margin = greedy(loaded, ids_and_targets(seed)[0, 0, :PROMPT])
        if margin >= LEAST_MARGIN and len(set(tokens.tolist())) >= LEAST_VARIETY:
            break
    else:
        sys.exit(f"{name}: no seed gives greedy tokens that rounding cannot change")
    expected = expected_of(folder, seed, tokens)
    save_file(expected, f"{folder}.safetensors", metadata={
        "made with": f"torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}, seed {seed}"})
    size = sum(os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder))
    print(f"{name}: seed {seed}, {size} bytes, {os.path.getsize(folder + '.safetensors')} bytes of what is expected, "
          f"margin {margin:.3f}, {len(set(tokens.tolist()))} different tokens, losses "
          f"{', '.join(f'{v:.4f}' for v in expected['losses'])}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    os.makedirs(sys.argv[1], exist_ok=True)
    for family in FAMILIES.values():
        for name in family.folders:
            if name in sys.argv[2:] or len(sys.argv) == 2:
                make(family, name, os.path.join(sys.argv[1], name))


if __name__ == "__main__":
    main()
