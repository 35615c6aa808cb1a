"""Makes init.txt: the results of torch.nn.init, bit for bit, except for orthogonal_."""
import math
import re

import torch
from torch.nn import init

from golden_format import DTYPES, plain
from golden_rng import apply_view, next_draw

RESULTS = r"out.*|next"
PLACE = "|seed|op|dtype|sizes|view"


def write(w):
    for fields in w.again(RESULTS, r"\d"):
        op = fields["op"]
        args = {field: plain(x) for field, x in fields.items() if not re.fullmatch(RESULTS + PLACE, field)}
        torch.manual_seed(plain(fields["seed"]))
        base = torch.zeros(plain(fields["sizes"]), dtype=DTYPES[fields["dtype"]])
        getattr(init, op)(apply_view(base, fields.get("view", "")), **args)
        (w.tensor if op == "orthogonal_" else w.stream)("out", base)
        next_draw(w)
    for fields in w.again("gain", "gain_"):
        param = plain(fields["param"]) if "param" in fields else math.nan
        gain = init.calculate_gain(fields["nonlinearity"], None if math.isnan(param) else param)
        w.floats("gain", float(gain))
