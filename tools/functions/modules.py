"""The table of modules: a row for each class. The tests, the oracle, the golden script and the page of PyTorch's
names read it.

    module("hd_linear_new", "nn.Linear({0}, {1}, {2})", [(1, 2, 5, 17), (1, 4, 9), (True, False)],
           models={"nn.Linear(2, 3)": "2, 3, true"}, inputs=lambda i, o, bias: [[i]],
           refuses=[("-1, 3, true", "VALUE", "in_features -1: expected 0 or more")])

module(name, python, arguments, ...)
    name: the constructor. python: the same in PyTorch, of its arguments {0}, {1} and so on. arguments: for each of
    them the values of which the oracle takes one at random; without them tools/oracle/modules.py makes the class.
    Then follow
    models: {a call in PyTorch: the arguments in C}; tests/golden/modules.txt has the text, draws and result of each
    inputs: a function of the arguments, which gives the sizes of each input without the leading ones
    call: the function that runs it with several inputs, hd_..._call; of a single one it is hd_forward
    refuses: (arguments in C, HD_ code, the message without the function) of constructors that fail
"""
import collections

Module = collections.namedtuple("Module", "name python arguments models inputs call refuses")
ROWS = []


def module(name, python, arguments=None, models=None, inputs=None, call="hd_forward", refuses=()):
    ROWS.append(Module(name, python, arguments, models or {}, inputs, call, refuses))


def called():
    """The rows of classes with several inputs"""
    return [row for row in ROWS if row.call != "hd_forward"]


def values(c_arguments):
    """The Python values of arguments in C."""
    words = {"true": True, "false": False}
    return [words[a] if a in words else float(a) if "." in a or "e" in a else int(a)
            for a in c_arguments.split(", ")]


SIZES = (1, 2, 3, 5, 8, 17)
FLAG = (True, False)

module("hd_linear_new", "nn.Linear({0}, {1}, {2})", [SIZES, SIZES, FLAG], inputs=lambda i, o, bias: [[i]],
       models={"nn.Linear(2, 3)": "2, 3, true", "nn.Linear(2, 3, bias=False)": "2, 3, false"},
       refuses=[("-1, 3, true", "VALUE", "in_features -1: expected 0 or more"),
                ("3, -2, true", "VALUE", "out_features -2: expected 0 or more")])
module("hd_bilinear_new", "nn.Bilinear({0}, {1}, {2}, {3})", [SIZES, SIZES, SIZES, FLAG],
       inputs=lambda in1, in2, out, bias: [[in1], [in2]], call="hd_bilinear_call",
       models={"nn.Bilinear(3, 4, 2)": "3, 4, 2, true", "nn.Bilinear(3, 4, 2, bias=False)": "3, 4, 2, false"},
       refuses=[("0, 4, 2, true", "VALUE", "in1_features 0: expected 1 or more"),
                ("3, -1, 2, true", "VALUE", "in2_features -1: expected 0 or more"),
                ("3, 4, -1, true", "VALUE", "out_features -1: expected 0 or more")])
module("hd_dropout_new", "nn.Dropout({0}, {1})", [(0.0, 0.1, 0.5, 0.9, 1.0), (False,)],
       inputs=lambda p, inplace: [[5]],
       models={"nn.Dropout(0.1)": "0.1, false", "nn.Dropout(0.5)": "0.5, false", "nn.Dropout(0.0)": "0.0, false"},
       refuses=[("1.5, false", "VALUE", "p 1.5: expected a number from 0 to 1"),
                ("-0.1, false", "VALUE", "p -0.1: expected a number from 0 to 1"),
                ("NAN, false", "VALUE", "p nan: expected a number from 0 to 1")])
module("hd_embedding_new", "nn.Embedding({0}, {1}, {2})",
       models={"nn.Embedding(9, 4)": "9, 4, HD_NO_PADDING", "nn.Embedding(9, 4, padding_idx=8)": "9, 4, 8",
               "nn.Embedding(9, 4, padding_idx=-1)": "9, 4, -1"},
       refuses=[("3, 2, 3", "INDEX", "padding_idx 3: expected -3 to 2, or HD_NO_PADDING"),
                ("3, 2, -4", "INDEX", "padding_idx -4: expected -3 to 2, or HD_NO_PADDING"),
                ("-1, 2, HD_NO_PADDING", "VALUE", "num_embeddings -1: expected 0 or more"),
                ("1, -2, HD_NO_PADDING", "VALUE", "embedding_dim -2: expected 0 or more")])
module("hd_layer_norm_new", "nn.LayerNorm({0})", [SIZES], inputs=lambda n: [[n]],
       models={"nn.LayerNorm(4)": "4"}, refuses=[("-1", "VALUE", "normalized_shape -1: expected 0 or more")])
module("hd_rms_norm_new", "nn.RMSNorm({0}, eps={1})", [SIZES, (1e-5, 1e-6)], inputs=lambda n, eps: [[n]],
       models={"nn.RMSNorm(4, eps=1e-5)": "4, 1e-5"}, refuses=[("-1, 1e-5", "VALUE", "dim -1: expected 0 or more")])
module("hd_relu_new", "nn.ReLU({0})", [(False,)], inputs=lambda inplace: [[5]],
       models={"nn.ReLU()": "false"})
module("hd_silu_new", "nn.SiLU({0})", [(False,)], inputs=lambda inplace: [[5]],
       models={"nn.SiLU()": "false", "nn.SiLU(inplace=True)": "true"})
module("hd_gelu_new", "nn.GELU({0})",
       models={"nn.GELU()": '"none"', "nn.GELU(approximate='tanh')": '"tanh"'},
       refuses=[('"erf"', "VALUE", 'approximate \\"erf\\": expected \\"none\\" or \\"tanh\\"')])
