"""functions.txt: the cases that rows of the table of functions name, with gradients. A tuple is the numbers of
an elementwise function, which is called with special values; a dict has the arguments by name, and may have the
`shapes` of the inputs."""
from golden_functions import INF, NAN, ROWS, Cases, call, ramp, tensor
from golden_grads import GradCases

# PyTorch's vectors have 32 of these in one turn, and what is left over may be computed in another way.
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 0.5, 1.0, -1.5, 20.0, -20.0, 100.0, -100.0, 1e-40, -1e-30, -1e-5, -0.25]
SPECIAL += [-x for x in SPECIAL]


def case(c, op, *ins, **args):
    """With gradients, if PyTorch takes the arguments."""
    try:
        call(op, *ins, **args)
        differentiable = any(x.is_floating_point() for x in ins)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        differentiable = False
    (GradCases if differentiable else Cases).add(c, op, *ins, **args)


def elementwise(c, op, numbers):
    for dtype in ("f32", "f64"):
        case(c, op, tensor(SPECIAL, dtype), s=numbers)
    for x in (tensor([-2, 0, 3], "i64"), tensor([1, 0], "bool"), tensor(-2.0), ramp((2, 0, 3)),
              ramp((2, 3), start=-2).t()):
        if numbers == ROWS[op].cases[0]:
            case(c, op, x, s=numbers)


def write(w):
    c = GradCases(w)
    for op, row in ROWS.items():
        for args in row.cases:
            if isinstance(args, dict):
                named = dict(args)
                ins = [ramp(s, start=-2) for s in named.pop("shapes", [(2, 3, 4)])]
                case(c, op, *ins, **named)
                case(c, op, *[x.double() for x in ins], **named)
            else:
                elementwise(c, op, args)
