"""The rows of the table: function, PyTorch's line, how its arguments are made, tolerance."""
import table as t
from table import SUMS, ULPS


def fill(row):
    arithmetic(row)
    elementwise(row)
    conditions(row)
    views(row)
    copies(row)
    in_place(row)
    reductions(row)
    products(row)
    layers(row)
    draws(row)
    creation(row)


def arithmetic(row):
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
        row("hd_" + name, "{0} %s {1}" % sign, t.binary)
        row("hd_%s_scalar" % name, "{0} %s {1}" % sign, t.with_scalar)
    row("hd_pow", "{0} ** {1}", t.binary, ULPS, t.no_scale)
    row("hd_pow_scalar", "{0} ** {1}", t.with_scalar, ULPS, t.no_scale)
    row("hd_rsub_scalar", "{1} - {0}", t.with_scalar)
    row("hd_rdiv_scalar", "{1} / {0}", t.with_scalar)
    row("hd_maximum", "torch.maximum({0}, {1})", t.binary)
    row("hd_minimum", "torch.minimum({0}, {1})", t.binary)
    row("hd_square", "torch.square({0})", t.one())
    row("hd_neg", "-{0}", t.one())
    row("hd_clamp", "{0}.clamp({1}, {2})", lambda g: [g.tensor(), g.number(), g.number()])
    row("hd_clamp_min", "{0}.clamp(min={1})", t.with_scalar)
    row("hd_clamp_max", "{0}.clamp(max={1})", t.with_scalar)


def elementwise(row):
    for name in ("exp", "log", "rsqrt", "tanh", "erf", "sigmoid", "sin", "cos", "log1p"):
        row("hd_" + name, "torch.%s({0})" % name, t.unary, ULPS, t.no_scale)
    row("hd_sqrt", "torch.sqrt({0})", t.unary, ULPS, t.no_scale)  # MKL's is not always rounded rightly
    row("hd_relu", "torch.relu({0})", t.one())
    row("hd_abs", "torch.abs({0})", t.one())
    row("hd_gelu", "F.gelu({0})", t.unary, ULPS, gradient_zeros=False)
    row("hd_gelu_tanh", "F.gelu({0}, approximate='tanh')", t.unary, ULPS, gradient_zeros=False)
    row("hd_silu", "F.silu({0})", t.unary, ULPS, t.no_scale)
    row("hd_softplus", "F.softplus({0}, {1}, {2})",
        lambda g: [g.tensor(t.any_float(g)), g.pick((1.0, 2.0, 0.5)), g.pick((20.0, 1.0))], ULPS)


def conditions(row):
    for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
        row("hd_" + name, "{0} %s {1}" % sign, t.binary)
        row("hd_%s_scalar" % name, "{0} %s {1}" % sign, t.with_scalar)
    for name in ("and", "or", "xor"):
        row("hd_logical_" + name, "torch.logical_%s({0}, {1})" % name, t.binary)
    row("hd_logical_not", "torch.logical_not({0})", t.one())
    row("hd_where", "torch.where({0}, {1}, {2})", t.choice)
    row("hd_masked_fill", "{0}.masked_fill({1}, {2})", t.mask_of)
    row("hd_equal", "torch.equal({0}, {1})", t.binary)
    row("hd_allclose", "torch.allclose({0}, {1}, {2}, {3}, {4})",
        lambda g: t.binary(g) + [g.pick((1e-5, 0.1)), g.pick((1e-8, 0.5)), g.flag()])


def views(row):
    row("hd_view_n", "{0}.view({1})", t.same_or_new_shape)
    row("hd_reshape_n", "{0}.reshape({1})", t.new_shape)
    row("hd_transpose", "{0}.transpose({1}, {2})", t.two_dims)
    row("hd_t", "{0}.T", lambda g: [g.tensor(high=2)])
    row("hd_permute_n", "{0}.permute({1})", t.permutation)
    row("hd_expand_n", "{0}.expand({1})", t.expansion)
    row("hd_flatten", "{0}.flatten({1}, {2})", t.flattening)
    row("hd_squeeze", "{0}.squeeze({1})", t.one_dim)
    row("hd_squeeze_all", "{0}.squeeze()", t.one())
    row("hd_unsqueeze", "{0}.unsqueeze({1})", t.new_dim)
    row("hd_select", "{0}.select({1}, {2})", t.selection)
    row("hd_detach", "{0}.detach()", t.one())
    row("hd_slice", "torch.ops.aten.slice({0}, {1}, {2}, {3})", t.slice_of)
    row("hd_slice_step", "torch.ops.aten.slice({0}, {1}, {2}, {3}, {4})", t.slice_step)
    row("hd_narrow", "{0}.narrow({1}, {2}, {3})", t.narrowing)
    row("hd_split", "{0}.split({1}, {2})", t.in_parts)
    row("hd_split_sizes_n", "{0}.split({1}, {2})", t.in_sizes)
    row("hd_chunk", "{0}.chunk({1}, {2})", t.in_parts)
    row("hd_unbind", "{0}.unbind({1})", t.one_dim)
    row("hd_getitem_n", "{0}[{1}]", t.item)


def copies(row):
    row("hd_contiguous", "{0}.contiguous()", t.one())
    row("hd_clone", "{0}.clone()", t.one())
    row("hd_to", "{0}.to({1})", t.conversion)
    row("hd_tril", "torch.tril({0}, {1})", t.diagonal)
    row("hd_triu", "torch.triu({0}, {1})", t.diagonal)
    row("hd_cat_n", "torch.cat({0}, {1})", t.together)
    row("hd_cat_list", "torch.cat({0}, {1})", t.together)
    row("hd_stack_n", "torch.stack({0}, {1})", t.stacked)
    row("hd_stack_list", "torch.stack({0}, {1})", t.stacked)


def in_place(row):
    for name in ("add", "sub", "mul", "div"):
        row("hd_%s_" % name, "{0}.%s_({1})" % name, t.inplace_binary, inplace=True)
        row("hd_%s_scalar_" % name, "{0}.%s_({1})" % name, t.inplace_scalar, inplace=True)
    row("hd_fill_", "{0}.fill_({1})", t.inplace_scalar, inplace=True)
    row("hd_zero_", "{0}.zero_()", lambda g: [g.target(g.tensor())], inplace=True)
    row("hd_copy_", "{0}.copy_({1})", t.inplace_binary, inplace=True)
    row("hd_setitem_n", "set_item({0}, {1}, {2})", t.set_item, inplace=True)
    row("hd_setitem_scalar_n", "set_item({0}, {1}, {2})", t.set_item_scalar, inplace=True)
    row("hd_masked_fill_", "{0}.masked_fill_({1}, {2})", t.mask_inplace, inplace=True)


def reductions(row):
    row("hd_sum", "{0}.sum()", t.one(), SUMS, t.sum_scale)
    row("hd_mean", "{0}.mean()", t.unary, SUMS)
    row("hd_sum_dim", "{0}.sum({1}, {2})", t.extreme_dim, SUMS, t.sum_scale)
    row("hd_mean_dim", "{0}.mean({1}, {2})", t.reduce_dim, SUMS)
    row("hd_sum_dims_n", "{0}.sum({2}, {1})", t.reduce_dims, SUMS, t.sum_scale)
    row("hd_mean_dims_n", "{0}.mean({2}, {1})", t.reduce_dims, SUMS)
    row("hd_var", "{0}.var(correction={1})", lambda g: [g.tensor(t.any_float(g)), g.pick((0, 1))], 1e-5,
        gradient_zeros=False)
    row("hd_var_dim", "{0}.var({1}, correction={2}, keepdim={3})",
        lambda g: t.with_dim(g) + [g.pick((0, 1)), g.flag()], 1e-5, gradient_zeros=False)
    row("hd_var_dims_n", "{0}.var({3}, correction={1}, keepdim={2})", t.var_dims, 1e-5,
        gradient_zeros=False)
    row("hd_logsumexp_dim", "{0}.logsumexp({1}, {2})", t.reduce_dim, SUMS)
    row("hd_logsumexp_dims_n", "{0}.logsumexp({2}, {1})", t.reduce_dims, SUMS)
    for name in ("max", "min"):
        row("hd_" + name, "{0}.%s()" % name, t.one())
        row("hd_%s_dim" % name, "{0}.%s({1}, {2})" % name, t.extreme_dim)
        row("hd_arg" + name, "{0}.arg%s()" % name, t.one(t.NUMBERS))
        row("hd_arg%s_dim" % name, "{0}.arg%s({1}, {2})" % name, t.extreme_dim)
    for name in ("any", "all"):
        row("hd_" + name, "{0}.%s()" % name, t.one())
        row("hd_%s_dim" % name, "{0}.%s({1}, {2})" % name, t.extreme_dim)
    row("hd_softmax", "torch.softmax({0}, {1})", t.with_dim, SUMS)
    row("hd_log_softmax", "torch.log_softmax({0}, {1})", t.with_dim, SUMS,
        gradient_zeros=False)  # of exp(y), where it underflows
    row("hd_cumsum", "{0}.cumsum({1})", t.one_dim, SUMS, t.sum_scale)


def products(row):
    row("hd_dot", "torch.dot({0}, {1})", t.dot, SUMS, t.product_scale)
    row("hd_matmul", "{0} @ {1}", t.matmul, SUMS, t.product_scale, weight=3,
        gradient_zeros=False)  # PyTorch has -0 or 0 by the way that it takes
    row("hd_linear", "F.linear({0}, {1}, {2})", t.linear, SUMS, t.product_scale, weight=2,
        gradient_zeros=False)
    row("hd_index_select", "{0}.index_select({1}, {2})", t.index_select)
    row("hd_gather", "{0}.gather({1}, {2})", t.gather)
    row("hd_embedding", "F.embedding({0}, {1}, padding_idx=None if {2} == -1 else {2})", t.embedding)
    row("hd_topk", "{0}.topk({1}, {2}, {3})", t.topk)
    row("hd_one_hot", "F.one_hot({0}, {1})", t.one_hot)


def layers(row):
    row("hd_layer_norm_n", "F.layer_norm({0}, {1}, {2}, {3}, {4})", t.layer_norm, 1e-5, weight=2,
        gradient=2e-3, gradient_zeros=False)
    row("hd_scaled_dot_product_attention",
        "F.scaled_dot_product_attention({0}, {1}, {2}, {3}, {4}, {5})", t.attention, 1e-5, weight=2,
        gradient_zeros=False)
    row("hd_scaled_dot_product_attention_with",
        "(F.scaled_dot_product_attention({0}, {1}, {2}, {3}.get('attn_mask'),"
        " is_causal={3}['is_causal'], scale={3}.get('scale')), None)",
        t.attention_with, 1e-5, indices=False, gradient_zeros=False)
    row("hd_mse_loss", "F.mse_loss({0}, {1})", t.losses, SUMS)
    row("hd_mse_loss_with", "F.mse_loss({0}, {1}, reduction=('mean', 'sum', 'none')[{2}])",
        t.mse_with, SUMS, t.sum_scale)
    row("hd_cross_entropy", "F.cross_entropy({0}, {1})", t.entropy, 1e-5)
    row("hd_cross_entropy_with",
        "F.cross_entropy({0}, {1}, ignore_index={2[ignore_index]},"
        " reduction=('mean', 'sum', 'none')[{2[reduction]}])", t.entropy_with, 1e-5)


def draws(row):
    row("hd_bernoulli", "torch.bernoulli({0})", t.probability, random=True)
    row("hd_dropout", "F.dropout({0}, {1}, {2})", t.dropout, random=True)
    row("hd_multinomial", "torch.multinomial({0}, {1}, {2})", t.multinomial, random=True)
    row("hd_uniform_", "{0}.uniform_({1}, {2})", t.bounds, random=True, inplace=True)
    row("hd_normal_", "{0}.normal_({1}, {2})", t.normal_, random=True, inplace=True)
    row("hd_bernoulli_", "{0}.bernoulli_({1})",
        lambda g: [g.target(g.tensor()), g.pick((0.0, 0.3, 0.5, 1.0))], random=True, inplace=True)
    row("hd_exponential_", "{0}.exponential_({1})",
        lambda g: [g.target(g.tensor(t.FLOATS)), g.pick((1.0, 0.5, 3.0))], ULPS, random=True, inplace=True)
    row("hd_rand_n", "torch.rand({1}, dtype={0})", lambda g: [g.dtype(t.FLOATS), t.sizes(g)], random=True)
    row("hd_randn_n", "torch.randn({1}, dtype={0})", lambda g: [g.dtype(t.FLOATS), t.sizes(g)], random=True)
    row("hd_randint_n", "torch.randint({1}, {2}, {3}, dtype={0})",
        t.as_dtype(lambda g: [g.r.randrange(-9, 9), g.pick((10, 1 << 20, 1 << 30, 1 << 33)), t.sizes(g)]),
        random=True)
    row("hd_randperm", "torch.randperm({0})", lambda g: [g.pick((0, 1, 2, 9, 100, -1))], random=True)
    row("hd_rand_like", "torch.rand_like({0}, dtype={1})", t.like_float, random=True)
    row("hd_randn_like", "torch.randn_like({0}, dtype={1})", t.like_float, random=True)


def creation(row):
    row("hd_zeros_n", "torch.zeros({1}, dtype={0})", lambda g: [g.dtype(), t.sizes(g)])
    row("hd_ones_n", "torch.ones({1}, dtype={0})", lambda g: [g.dtype(), t.sizes(g)])
    row("hd_full_n", "torch.full({2}, {1}, dtype={0})", lambda g: [g.dtype(), g.number(), t.sizes(g)])
    row("hd_scalar_tensor", "torch.tensor({1}, dtype={0})", lambda g: [g.dtype(), g.number()])
    row("hd_arange", "torch.arange({0}, {1}, {2})", t.ranges)
    row("hd_arange_as", "torch.arange({1}, {2}, {3}, dtype={0})", t.as_dtype(t.ranges))
    row("hd_linspace", "torch.linspace({1}, {2}, {3}, dtype={0})",
        t.as_dtype(lambda g: [g.pick((0.0, -1.5, 3.0)), g.pick((1.0, 7.3, -2.0)), g.r.randrange(-1, 70)]))
    row("hd_eye", "torch.eye({1}, {2}, dtype={0})",
        lambda g: [g.dtype(), g.r.randrange(-1, 6), g.r.randrange(0, 6)])
    # PyTorch's zeros_like keeps the order of dims; heed's is row-major, as the header says.
    for name in ("zeros", "ones"):
        row("hd_%s_like" % name, "torch.%s_like({0}, dtype={1}, memory_format=torch.contiguous_format)"
            % name, t.like)
    row("hd_full_like", "torch.full_like({0}, {2}, dtype={1}, memory_format=torch.contiguous_format)",
        lambda g: t.like(g) + [g.number()])
