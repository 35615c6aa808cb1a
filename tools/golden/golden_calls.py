"""Makes ops.txt, grads.txt and signs.txt: calls of all functions with PyTorch's values, and with gradients if the case
gives the gradient `gy` of the result; and the edge cases of arange in arange.txt.
"""
import re

from golden_format import plain
from golden_functions import answer

RESULTS = r"out\d*|error|gy|grad\d"
CONSTANT = {"maximum_01": (1,), "minimum_01": (1,)}   # in grads.txt: inputs that do not require grad


def answer_again(w, fields):
    ins = [x for field, x in fields.items() if re.fullmatch(r"in\d", field)]
    s = [plain(x) for field, x in fields.items() if re.fullmatch(r"s\d", field)]
    args = {field: plain(x) for field, x in fields.items()
            if not re.fullmatch(RESULTS + r"|op|in\d|s\d", field)}
    answer(w, fields["op"], ins, s, args, fields.get("gy"), CONSTANT.get(w.prefix, ()))


def write(w):
    for fields in w.again(RESULTS):
        answer_again(w, fields)
