"""Makes tests/golden/lora: an adapter as peft saves it, and peft's results with it.

usage: python tools/golden/golden_lora.py tests/golden/lora

Needs PyTorch, transformers 5.23.0 and peft 0.21.2. tests/golden/lora/README.md describes the files. The same versions
give the same bytes.
"""
import json
import os
import sys
import warnings

import peft
import torch
from safetensors.torch import save_file
from torch import nn
from transformers.pytorch_utils import Conv1D

RANK, ALPHA, STEPS = 2, 6, 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_fc, self.proj = Conv1D(4, 4), Conv1D(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        x = x + self.c_attn(x)
        return x + self.proj(torch.relu(self.c_fc(x)))


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.head = Block(), nn.Linear(4, 3, bias=False)

    def forward(self, x):
        return self.head(self.block(x))


def adapted(weights, seed, dropout=0.0):
    """The model with adapters that are drawn after this seed."""
    model = Tiny()
    model.load_state_dict(weights)
    torch.manual_seed(seed)
    return peft.get_peft_model(model, peft.LoraConfig(r=RANK, lora_alpha=ALPHA, lora_dropout=dropout,
                                                      target_modules="all-linear"))


def adapters(model):
    """{heed's name: parameter}"""
    return {name.removeprefix("base_model.model.").replace(".default.", "."): p
            for name, p in model.named_parameters() if "lora_" in name}


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()


def main(folder):
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    model = Tiny()
    for name, p in model.named_parameters():
        nn.init.normal_(p, std=0.5)
    weights = model.state_dict()
    out = {f"weight.{name}": t.clone() for name, t in weights.items()}
    x, y = out["x"], out["y"] = torch.randn(2, 5, 4), torch.randn(2, 5, 3)

    model = adapted(weights, seed=7)
    out |= {f"drawn.{name}": p.detach().clone() for name, p in adapters(model).items()}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.05, weight_decay=0.1)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    out["losses"] = torch.tensor(losses, dtype=torch.float64)

    model = adapted(weights, seed=7)
    for p in adapters(model).values():
        nn.init.normal_(p.data, std=0.5)
    model.save_pretrained(folder)
    os.remove(os.path.join(folder, "README.md"))
    out["unmerged"] = model(x).detach()
    loss_of(model, x, y).backward()
    out |= {f"grad.{name}": p.grad for name, p in adapters(model).items()}
    model = model.merge_and_unload()
    out["merged"] = model(x).detach()
    out |= {f"sum.{name}": t for name, t in model.state_dict().items()}

    model = adapted(weights, seed=7, dropout=0.5)
    with torch.no_grad():
        for p in adapters(model).values():
            p.fill_(0.25)
    torch.manual_seed(11)
    out["dropped"] = model.train()(x).detach()

    metadata = {"made_by": f"torch {torch.__version__.split('+')[0]}, peft {peft.__version__}"}
    save_file({name: t.contiguous() for name, t in out.items()}, folder + ".safetensors", metadata)
    config = os.path.join(folder, "adapter_config.json")
    with open(config, encoding="utf-8") as f:
        values = json.load(f)
    values["target_modules"].sort()  # peft writes a set
    with open(config, "w", encoding="utf-8") as f:
        json.dump(values, f, indent=2, sort_keys=True)
        f.write("\n")


main(sys.argv[1])
