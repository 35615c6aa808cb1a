"""Makes tests/golden/models/sampling.safetensors: the probabilities from which transformers draws a token.

usage: python tools/golden/golden_sampling.py tests/golden/models/sampling.safetensors

Needs PyTorch and transformers 5.23.0. tests/golden/models/README.md describes the file.
"""
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers import (RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper,
                          TopPLogitsWarper)

VOCAB, TOKENS = 200, 40
# temperature, top_k (0: none), top_p, repetition_penalty
CASES = [(1, 0, 1, 1), (0.7, 0, 1, 1), (2.5, 0, 1, 1), (1, 1, 1, 1), (1, 10, 1, 1), (1, 500, 1, 1), (1, 0, 0.9, 1),
         (1, 0, 0.5, 1), (1, 0, 0, 1), (1, 0, 0.999, 1), (1, 0, 1, 1.3), (1, 0, 1, 0.8), (0.6, 20, 0.9, 1.1),
         (1.5, 50, 0.7, 1.5), (0.2, 5, 0.95, 2)]


def probabilities(ids, logits, temperature, top_k, top_p, penalty):
    steps = [RepetitionPenaltyLogitsProcessor(penalty=float(penalty)), TemperatureLogitsWarper(float(temperature))]
    if top_k:
        steps.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        steps.append(TopPLogitsWarper(float(top_p)))
    for step in steps:
        logits = step(ids, logits)
    return logits.softmax(-1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(2, VOCAB, generator=g)
    ids = torch.randint(VOCAB, (2, TOKENS), generator=g)
    tensors = {"logits": logits, "ids": ids, "cases": torch.tensor(CASES, dtype=torch.float64)}
    for i, case in enumerate(CASES):
        tensors[f"p.{i}"] = probabilities(ids, logits.clone(), *case)
    save_file(tensors, sys.argv[1], metadata={
        "made with": f"torch {torch.__version__.split('+')[0]}, transformers {transformers.__version__}"})


if __name__ == "__main__":
    main()
