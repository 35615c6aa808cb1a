"""The table of optimizers: a row for each. The tests, the fuzzer, the oracle, the golden script and the page of
PyTorch's names read it.

    optimizer("Lion", "lion", used="", lr=LR, beta1=option("0 or more, below 1", 0.9, 0.5), steps=[{"lr": 0.1}])

optimizer(name, kind, ...)
    name: PyTorch's class, or that of OWN in tools/golden/golden_steps.py where PyTorch has none. kind: hd_KIND_new,
    hd_KIND_defaults and hd_KIND_options are the C. Then follow the fields of the options, and
    used: the settings in C with which every state is in use, as "o.momentum = 0.9"
    of_pytorch: true if PyTorch has it
    steps: the options of golden cases in tests/golden/steps.txt, by PyTorch's names (betas is beta1 and beta2)
option(limits, values...)
    limits: the range as a message has it (LIMITS); "" for a bool. values: the oracle takes one of them at random
"""
import collections

LIMITS = {"0 or more": (-1, "nan"), "0 or more, below 1": (1, -0.5, "nan"), "a number": ("nan",), "": ()}

Option = collections.namedtuple("Option", "limits values")
Optimizer = collections.namedtuple("Optimizer", "name kind used steps of_pytorch options")
ROWS = []


def option(limits, *values):
    assert limits in LIMITS, limits
    return Option(limits, values)


def optimizer(name, kind, used="", steps=(), of_pytorch=True, **options):
    ROWS.append(Optimizer(name, kind, used, steps, of_pytorch, options))


LR = option("0 or more", 0.1, 0.01, 1e-3, 0.5)
WEIGHT_DECAY = option("0 or more", 0.0, 0.0, 0.01, 0.1)
EPS = option("0 or more", 1e-8, 1e-3)
BELOW_ONE = "0 or more, below 1"
FLAG = option("", False, False, False, True)
ADAM = {"lr": LR, "beta1": option(BELOW_ONE, 0.9, 0.5, 0.0), "beta2": option(BELOW_ONE, 0.999, 0.9, 0.5), "eps": EPS,
        "weight_decay": WEIGHT_DECAY, "amsgrad": FLAG, "maximize": FLAG}

# The fuzzer counts them: a new one is the last.
optimizer("SGD", "sgd", used="o.momentum = 0.9", lr=LR, momentum=option("0 or more", 0.0, 0.9, 0.5),
          dampening=option("a number", 0.0, 0.0, 0.3), weight_decay=WEIGHT_DECAY, nesterov=FLAG, maximize=FLAG)
optimizer("AdamW", "adamw", used="o.amsgrad = true", **ADAM)
optimizer("Adam", "adam", **ADAM)
optimizer("RMSprop", "rmsprop", used="o.momentum = 0.5, o.centered = true", lr=LR, alpha=option("0 or more", 0.99, 0.5),
          eps=EPS, weight_decay=WEIGHT_DECAY, momentum=option("0 or more", 0.0, 0.9), centered=FLAG, maximize=FLAG)
optimizer("Adagrad", "adagrad", lr=LR, lr_decay=option("0 or more", 0.0, 0.1), weight_decay=WEIGHT_DECAY,
          initial_accumulator_value=option("0 or more", 0.0, 0.5), eps=option("0 or more", 1e-10, 1e-3),
          maximize=FLAG)
optimizer("Lion", "lion", of_pytorch=False, lr=LR, beta1=ADAM["beta1"], beta2=option(BELOW_ONE, 0.99, 0.9, 0.5),
          weight_decay=WEIGHT_DECAY, maximize=FLAG,
          steps=[{}, {"lr": 0.1}, {"lr": 0.01, "betas": [0.5, 0.9], "weight_decay": 0.1},
                 {"lr": 0.1, "betas": [0.0, 0.5], "weight_decay": 0.01, "maximize": True}])
