"""The table of heed's functions of tensors: a row for each, in the words that table.py explains. The tests, the
fuzzer, the survey, the oracle and the golden scripts read it, so that a new function needs one entry. Related
functions are together, in any order; only the numbers of fuzz() count on.
"""
from functions.table import (CLOSE, EACH, EXACT, INF, NAN, SUMS, ULPS, double, fuzz, grad, loop, refuses, row,
                             section, survey)


section("arith", golden=EXACT)  # arithmetic and choices

row("hd_add", "{0} + {1}", "binary", grad("mn mn | mn n | m1 bmn | () mn", -2, 2),
    survey("xy fdib ctsko B"), fuzz(0))
row("hd_add_scalar", "{0} + {1}", "x number", grad("mn", -2, 2, "hd_add_scalar(x, 1.5)"),
    survey("x fdi cts B", "hd_add_scalar(x, 2)"), fuzz(7))
row("hd_sub", "{0} - {1}", "binary", grad("mn mn | mn n | m1 bmn | () mn", -2, 2),
    survey("xy fdi ctsko B"), fuzz(1))
row("hd_sub_scalar", "{0} - {1}", "x number", grad("mn", -2, 2, "hd_sub_scalar(x, 2)"),
    survey("x fdi cs B", "hd_sub_scalar(x, 2)"), fuzz(8))
row("hd_mul", "{0} * {1}", "binary", grad("mn mn | mn n | m1 bmn | () mn", -2, 2),
    grad("bmn", -2, 2, "hd_mul(x, x)", note="by itself"),
    grad("m4", -2, 2, "hd_mul(hd_arange(1, 5, 1), x)", note="by integers"), survey("xy fdib ctsko B"),
    survey("xm fi ctsko B", name="mul_by_mask"), fuzz(2))
row("hd_mul_scalar", "{0} * {1}", "x number", grad("mn | bmn | ()", -2, 2, "hd_mul_scalar(x, -2.5)"),
    survey("x fdi cts B", "hd_mul_scalar(x, 2)"), fuzz(9))
row("hd_div", "{0} / {1}", "binary", grad("mn mn | mn n | m1 bmn | () mn", 0.5, 2),
    survey("xp fdi ctsko B"), fuzz(3))
row("hd_div_scalar", "{0} / {1}", "x number", grad("mn", -2, 2, "hd_div_scalar(x, 4.5)"),
    survey("x fdi cts B", "hd_div_scalar(x, 3)"), fuzz(10))
row("hd_pow", "{0} ** {1}", "binary", grad("mn mn | mn n | m1 bmn | () mn", 0.5, 2),
    survey("pq fdi ctsko B"), fuzz(4), golden=CLOSE, **EACH)
row("hd_pow_scalar", "{0} ** {1}", "x number", grad("mn", 0.5, 2, "hd_pow_scalar(x, -2)", note="-2"),
    grad("mn", -2, -0.5, "hd_pow_scalar(x, -1)", note="-1"),
    grad("mn", 0.5, 2, "hd_pow_scalar(x, -0.5)", note="-0.5"),
    grad("mn", -2, 2, "hd_pow_scalar(x, 0)", note="0"),
    grad("mn", 0.5, 2, "hd_pow_scalar(x, 0.5)", note="0.5"),
    grad("mn", -2, 2, "hd_pow_scalar(x, 1)", note="1"),
    grad("mn", -2, 2, "hd_pow_scalar(x, 2)", note="2"),
    grad("mn", -2, 2, "hd_pow_scalar(x, 3)", note="3"),
    grad("mn", 0.5, 2, "hd_pow_scalar(x, 2.3)", note="2.3"),
    survey("x fdi cts B", "hd_pow_scalar(x, 2)", name="pow_scalar_2"),
    survey("x fdi cts B", "hd_pow_scalar(x, 3)", name="pow_scalar_3"),
    survey("p fd cts B", "hd_pow_scalar(x, 0.5)", name="pow_scalar_half"),
    survey("p fd cts B", "hd_pow_scalar(x, 2.5)", name="pow_scalar_2_5"), fuzz(11), golden=CLOSE,
    **EACH)
row("hd_rsub_scalar", "{1} - {0}", "x number", grad("mn", -2, 2, "hd_rsub_scalar(x, 1)"),
    survey("x fdi cs B", "hd_rsub_scalar(x, 2)"), fuzz(12))
row("hd_rdiv_scalar", "{1} / {0}", "x number", grad("mn", 0.5, 2, "hd_rdiv_scalar(x, 3)"),
    survey("p fdi cts B", "hd_rdiv_scalar(x, 2)"), fuzz(13))
row("hd_maximum", "torch.maximum({0}, {1})", "binary",
    grad("mn mn | mn n | m1 bmn | () mn", -1, 1, flags="DISTINCT"), survey("xy fdib ctsko B"), fuzz(5))
row("hd_minimum", "torch.minimum({0}, {1})", "binary",
    grad("mn mn | mn n | m1 bmn | () mn", -1, 1, flags="DISTINCT"), survey("xy fdib ctsko B"), fuzz(6))
row("hd_square", "torch.square({0})", "x", grad("mn", -2, 2), survey("x fdi cts B"), fuzz(14))
row("hd_neg", "-{0}", "x", grad("mn", -2, 2), survey("x fdi cts B"), fuzz(15))
row("hd_where", "torch.where({0}, {1}, {2})", "choice",
    grad("mn mn", 0.5, 2, "hd_where(hd_gt_scalar(hd_detach(x), 1.25), x, y)"),
    grad("m n1", 0.5, 2, "hd_where(hd_gt_scalar(hd_detach(y), 1.25), x, y)", note="broadcast"),
    survey("xym fdi ctsko B", "hd_where(z, x, y)"), fuzz(35, "hd_where(x, y, z)"))


section("compare", constant=True, golden=EXACT)  # comparisons

row("hd_eq", "{0} == {1}", "binary", survey("xy fdib ctsko F"), fuzz(37))
row("hd_eq_scalar", "{0} == {1}", "x number", survey("x fdi cts F", "hd_eq_scalar(x, 1)"), fuzz(43))
row("hd_ne", "{0} != {1}", "binary", survey("xy fdib c F"), fuzz(38))
row("hd_ne_scalar", "{0} != {1}", "x number", survey("x fdi c F", "hd_ne_scalar(x, 1)"), fuzz(44))
row("hd_lt", "{0} < {1}", "binary", survey("xy fdi ctsko F"), fuzz(39))
row("hd_lt_scalar", "{0} < {1}", "x number", survey("x fdi c F", "hd_lt_scalar(x, 1)"), fuzz(45))
row("hd_le", "{0} <= {1}", "binary", survey("xy fdi c F"), fuzz(40))
row("hd_le_scalar", "{0} <= {1}", "x number", survey("x fdi c F", "hd_le_scalar(x, 1)"), fuzz(46))
row("hd_gt", "{0} > {1}", "binary", survey("xy fdi c F"), fuzz(41))
row("hd_gt_scalar", "{0} > {1}", "x number", survey("x fdi cts F", "hd_gt_scalar(x, 1)"), fuzz(47))
row("hd_ge", "{0} >= {1}", "binary", survey("xy fdi c F"), fuzz(42))
row("hd_ge_scalar", "{0} >= {1}", "x number", survey("x fdi c F", "hd_ge_scalar(x, 1)"), fuzz(48))
row("hd_logical_and", "torch.logical_and({0}, {1})", "binary", survey("xy bf ctsko F"), fuzz(49))
row("hd_logical_or", "torch.logical_or({0}, {1})", "binary", survey("xy bf c F"), fuzz(50))
row("hd_logical_xor", "torch.logical_xor({0}, {1})", "binary", survey("xy bf c F"), fuzz(51))
row("hd_logical_not", "torch.logical_not({0})", "x", survey("x bf cts F"), fuzz(52))
row("hd_equal", "torch.equal({0}, {1})", "binary",
    survey("xe fdib c F", "hd_scalar_tensor(HD_FLOAT32, (int)hd_equal(x, y))"))
row("hd_allclose", "torch.allclose({0}, {1}, {2}, {3}, {4})", "binary 1e-5|0.1 1e-8|0.5 flag",
    survey("xe fd c F", "hd_scalar_tensor(HD_FLOAT32, (int)hd_allclose(x, y, 1e-5, 1e-8, false))"))
row("hd_isnan", "torch.isnan({0})", "x", survey("x fdib cts F"), fuzz(184), cases=[()])
row("hd_isinf", "torch.isinf({0})", "x", survey("x fdib cts F"), fuzz(185), cases=[()])
row("hd_isfinite", "torch.isfinite({0})", "x", survey("x fdib cts F"), fuzz(186), cases=[()])


section("unary", golden=CLOSE)  # functions of one tensor, element by element

row("hd_exp", "torch.exp({0})", "float", grad("mn | bmn | ()", -2, 2), survey("x fd cts B"), fuzz(16),
    loop("exp(x)", 2), double("expl(x)", 1, 750), **EACH)
row("hd_log", "torch.log({0})", "float", grad("mn", 0.5, 3), survey("p fd cts B"), fuzz(17),
    loop("log(x)", 2), double("logl(x)", 1, 1e9), **EACH)
row("hd_sqrt", "torch.sqrt({0})", "float", grad("mn", 0.5, 3), survey("p fd cts B"), fuzz(18),
    golden=EXACT, **EACH)
row("hd_rsqrt", "torch.rsqrt({0})", "float", grad("mn", 0.5, 3), survey("p fd cts B"), fuzz(19), **EACH)
row("hd_tanh", "torch.tanh({0})", "float", grad("mn", -2, 2), survey("x fd cts B"), fuzz(20),
    loop("tanh(x)", 2), double("tanhl(x)", 2, 4), **EACH)
row("hd_erf", "torch.erf({0})", "float", grad("mn", -2, 2), survey("x fd cts B"), fuzz(21),
    loop("erf(x)", 2), double("erfl(x)", 2, 6), **EACH, golden=None)
row("hd_sigmoid", "torch.sigmoid({0})", "float", grad("mn | bhmn", -4, 4), survey("x fd cts B"),
    fuzz(22), double("1 / (1 + expl(-x))", 2, 700), **EACH)
row("hd_sin", "torch.sin({0})", "float", grad("mn", -4, 4), survey("x fd cts B"), fuzz(23),
    loop("sin(x)", 2), double("sinl(x)", 2, 20000), **EACH)
row("hd_cos", "torch.cos({0})", "float", grad("mn", -4, 4), survey("x fd cts B"), fuzz(24),
    loop("cos(x)", 2), double("cosl(x)", 2, 20000), **EACH)
row("hd_log1p", "torch.log1p({0})", "float", grad("mn", -0.75, 4), survey("p fd cs B"), fuzz(25),
    loop("log1p(x)", 2), double("log1pl(x)", 1, 4), **EACH)
row("hd_relu", "torch.relu({0})", "x", grad("mn", -2, 2), survey("x fdi cts B"), fuzz(26), golden=EXACT)
row("hd_abs", "torch.abs({0})", "x", grad("mn", -2, 2), survey("x fdi cts B"), fuzz(30), golden=EXACT)
row("hd_gelu", "F.gelu({0})", "float", grad("mn", -3, 3), survey("x fd cts B"), fuzz(27),
    tolerance=ULPS, gradient_zeros=False)
row("hd_gelu_tanh", "F.gelu({0}, approximate='tanh')", "float", grad("mn", -3, 3), survey("x fd cts B"),
    fuzz(28), tolerance=ULPS, gradient_zeros=False)
row("hd_silu", "F.silu({0})", "float", grad("mn", -4, 4), survey("x fd cts B"), fuzz(29),
    # 0 where e^-x is more than a float32 can hold, as in PyTorch; infinities give NaN and infinity
    loop("x / (1 + (isinf((float)exp(-x)) ? INFINITY : exp(-x)))", 3), **EACH)
row("hd_logsigmoid", "F.logsigmoid({0})", "float", grad("mn | ()", -4, 4), survey("x fd cts B"), fuzz(187),
    cases=[()], node="LogSigmoidBackward0", **EACH)
row("hd_elu", "F.elu({0}, {1})", "float 1.0|0.5|2.0|0.0", grad("mn", -3, 3, "hd_elu(x, 0.75)"),
    survey("x fd cts B", "hd_elu(x, 1)"), fuzz(179, "hd_elu(x, d)"),
    loop("x < 0 ? 0.75 * expm1(x) : x", 3, params=(0.75,)),
    cases=[(1,), (0.5,), (2.5,), (0,), (1e40,)], node="EluBackward0", **EACH)
row("hd_leaky_relu", "F.leaky_relu({0}, {1})", "float 0.01|0.5|-1.0|0.0",
    grad("mn", -3, 3, "hd_leaky_relu(x, 0.25)"), survey("x fd cts B", "hd_leaky_relu(x, 0.01)"),
    fuzz(180, "hd_leaky_relu(x, d)"), loop("x > 0 ? x : 0.25 * x", 1, params=(0.25,)), golden=EXACT,
    cases=[(0.01,), (0.5,), (-1,), (0,), (INF,), (NAN,), (1e40,)], node="LeakyReluBackward0")
row("hd_softplus", "F.softplus({0}, {1}, {2})", "float 1.0|2.0|0.5 20.0|1.0",
    grad("mn", -3, 3, "hd_softplus(x, 2, 1)", note="beta 2, threshold 1"),
    survey("x fd cts B", "hd_softplus(x, 1, 20)"), fuzz(31, "hd_softplus(x, d, 20)"),
    loop("2 * x > 1 ? x : log1p(exp(2 * x)) / 2", 2, params=(2, 1)), tolerance=ULPS)
row("hd_hardtanh", "F.hardtanh({0}, {1}, {2})", "x -1.0|-0.5|0.0|0.75|-1e40 1.0|0.5|0.0",
    grad("mn", -2, 2, "hd_hardtanh(x, -0.5, 1)"), survey("x fdi cts B", "hd_hardtanh(x, -1, 1)"),
    fuzz(215, "hd_hardtanh(x, -d, d)"),
    refuses("hd_hardtanh(b, 0, 1)", "DTYPE", "hd_hardtanh: bool: expected numbers"),
    refuses("hd_hardtanh(x, 1, 0.5)", "VALUE", "hd_hardtanh: min 1, max 0.5: expected min <= max"), golden=EXACT,
    cases=[(-1, 1), (-0.75, 0.5), (0, 0), (-INF, INF), (NAN, 1), (0, NAN), (-1, 1e40), (1, 0)],
    node="HardtanhBackward0")
row("hd_clamp", "{0}.clamp({1}, {2})", "x number number", grad("mn", -2, 2, "hd_clamp(x, -0.5, 1)"),
    grad("mn", -2, 2, "hd_clamp(x, 1, 0)", note="lo > hi"), survey("x fdi cs B", "hd_clamp(x, -1, 1)"),
    fuzz(32, "(hd_clamp)(x, s, hd_scalar_int(j))"), golden=EXACT)
row("hd_clamp_min", "{0}.clamp(min={1})", "x number", grad("mn", -2, 2, "hd_clamp_min(x, -0.25)"),
    survey("x fdi c B", "hd_clamp_min(x, -1)"), fuzz(33), golden=EXACT)
row("hd_clamp_max", "{0}.clamp(max={1})", "x number", grad("mn", -2, 2, "hd_clamp_max(x, 0.5)"),
    survey("x fdi c B", "hd_clamp_max(x, 1)"), fuzz(34), golden=EXACT)


section("inplace", golden=EXACT)  # changes in place

row("hd_masked_fill", "{0}.masked_fill({1}, {2})", "x mask number",
    grad("mn", 0.5, 2, "hd_masked_fill(x, mask_of(x), -2)"),
    grad("b34 | 4 | ()", 0.5, 2, "hd_masked_fill(x, hd_tril(hd_ones(HD_BOOL, 3, 4), 0), -2)",
         note="x broadcasts"), survey("xm fdi ctsko B", "hd_masked_fill(x, y, -1)"),
    fuzz(36, "(hd_masked_fill)(x, y, s)"))
row("hd_add_", "{0}.add_({1})", "inplace_binary", grad("mn mn | mn n | bmn m1", -2, 2),
    survey("xy fdi ctsko I"), fuzz(132))
row("hd_add_scalar_", "{0}.add_({1})", "into number", grad("mn", -2, 2, "hd_add_scalar_(x, 1.5)"),
    survey("x fdi cs I", "hd_add_scalar_(x, 2)"), fuzz(136))
row("hd_sub_", "{0}.sub_({1})", "inplace_binary", grad("mn mn | mn n | mn ()", -2, 2),
    survey("xy fdi c I"), fuzz(133))
row("hd_sub_scalar_", "{0}.sub_({1})", "into number", grad("mn", -2, 2, "hd_sub_scalar_(x, 2)"),
    survey("x fdi c I", "hd_sub_scalar_(x, 2)"), fuzz(137))
row("hd_mul_", "{0}.mul_({1})", "inplace_binary", grad("mn mn | mn n | bmn m1", -2, 2),
    grad("3n n", -2, 2, "hd_mul_(hd_select(x, 0, 1), y) ? x : NULL", note="through a view"),
    survey("xu fdi ctsko I"), fuzz(134))
row("hd_mul_scalar_", "{0}.mul_({1})", "into number", grad("mn", -2, 2, "hd_mul_scalar_(x, -2.5)"),
    survey("x fdi cs I", "hd_mul_scalar_(x, -1)"), fuzz(138))
row("hd_div_", "{0}.div_({1})", "inplace_binary", grad("mn mn | mn n | bmn m1", 0.5, 2),
    survey("xu fd c I"), fuzz(135))
row("hd_div_scalar_", "{0}.div_({1})", "into number", grad("mn", -2, 2, "hd_div_scalar_(x, 4.5)"),
    survey("x fd c I", "hd_div_scalar_(x, -1)"), fuzz(139))
row("hd_fill_", "{0}.fill_({1})", "into number", grad("mn", -2, 2, "hd_fill_(x, 3)"),
    survey("x fdib cts I", "hd_fill_(x, 1)"), fuzz(140))
row("hd_zero_", "{0}.zero_()", "into", grad("mn", -2, 2), survey("x fdib cts I"), fuzz(141))
row("hd_copy_", "{0}.copy_({1})", "inplace_binary", grad("mn mn | mn n | bmn m1", -2, 2),
    grad("4n n2", -2, 2, "hd_copy_(hd_transpose(hd_slice(x, 0, 1, 3), 0, 1), y) ? hd_mul(x, x) : NULL",
         note="through a view"), survey("xy fdib ctsko I"),
    survey("xw f c I", "hd_copy_(hd_select(x, 0, 1), y)", name="copy_to_part"), fuzz(142))
row("hd_masked_fill_", "{0}.masked_fill_({1}, {2})", "into mask number",
    grad("mn", 0.5, 2, "hd_masked_fill_(x, mask_of(x), 7)"),
    grad("bh34", 0.5, 2, "hd_masked_fill_(x, hd_triu(hd_ones(HD_BOOL, 3, 4), 1), 7)", note="heads"),
    survey("xm fdi ctsko I", "hd_masked_fill_(x, y, -1)"), fuzz(143, "(hd_masked_fill_)(x, y, s)"))


section("view", golden=EXACT)  # views

row("hd_view_n", "{0}.view({1})", "same_or_new_shape",
    grad("bmn | m | ()", -2, 2, "hd_view(hd_contiguous(x), hd_numel(x))"),
    grad("3mn mn", -2, 2, "hd_view(hd_mul(hd_slice(hd_contiguous(x), 0, 1, 3), y), 2, -1, 1)",
         note="of a slice", flags="NO_ZERO"), survey("x f c V", "hd_view(x, -1)"),
    fuzz(53, "hd_view_n(x, n, sizes)"))
row("hd_reshape_n", "{0}.reshape({1})", "new_shape",
    grad("bmn", -2, 2, "hd_reshape(x, hd_size(x, 1), hd_size(x, 2), hd_size(x, 0))"),
    grad("bmn | mn", -2, 2, "hd_reshape(hd_transpose(x, 0, 1), hd_numel(x))", note="copies"),
    grad("bmn", -2, 2,
         "hd_reshape(hd_transpose(x, 0, 2), hd_size(x, 2), 1, hd_size(x, 1), hd_size(x, 0))",
         note="views"), survey("x f cts B", "hd_reshape(x, -1)"), fuzz(54, "hd_reshape_n(x, n, sizes)"))
row("hd_transpose", "{0}.transpose({1}, {2})", "x dim dim",
    grad("bmn", -2, 2, "hd_mul(hd_transpose(x, 0, 2), hd_transpose(x, -1, 0))"),
    survey("x f c V", "hd_transpose(x, 0, 1)"), fuzz(55, "hd_transpose(x, i, j)"))
row("hd_t", "{0}.T", "x_2d", grad("mn | m | ()", -2, 2), survey("x f c V"), fuzz(56), golden=None)
row("hd_permute_n", "{0}.permute({1})", "permutation", grad("bmn", -2, 2, "hd_permute(x, 2, 0, 1)"),
    grad("bmnk", -2, 2, "hd_permute(x, -2, 0, 3, -3)", note="negative dims"),
    survey("x f c V", "hd_permute(x, 1, 0)"), fuzz(57, "hd_permute_n(x, n, sizes)"))
row("hd_expand_n", "{0}.expand({1})", "expansion",
    grad("m1 | m4 | 14 | 4", -2, 2, "hd_ndim(x) == 2 ? hd_expand(x, -1, 4) : hd_expand(x, 3, -1)"),
    grad("mn | 1n | 3 | ()", -2, 2, "hd_ndim(x) == 2 ? hd_expand(x, 3, -1, -1) : hd_expand(x, 2, 4, 3)",
         note="leading dims"), survey("w f c V", "hd_expand(x, 32, -1)"),
    fuzz(58, "hd_expand_n(x, n, sizes)"))
row("hd_flatten", "{0}.flatten({1}, {2})", "x dim dim",
    grad("bmnk | bmn", -2, 2, "hd_flatten(x, 1, 2)"),
    grad("bmn | m | ()", -2, 2, "hd_flatten(x, 0, -1)", note="all"),
    grad("bmn", -2, 2, "hd_flatten(x, 1, 1)", note="nothing to do"),
    survey("x f ct B", "hd_flatten(x, 0, 1)"), fuzz(59, "hd_flatten(x, i, j)"))
row("hd_squeeze", "{0}.squeeze({1})", "x dim", grad("m1n", -2, 2, "hd_squeeze(x, 1)"),
    grad("1mn | ()", -2, 2, "hd_squeeze(x, -1)", note="not of size 1"),
    survey("x f c V", "hd_squeeze(x, 0)"), fuzz(60))
row("hd_squeeze_all", "{0}.squeeze()", "x", grad("1m1n1 | mn | 111 | ()", -2, 2), survey("x f c V"),
    fuzz(61))
row("hd_unsqueeze", "{0}.unsqueeze({1})", "x new_dim", grad("mn | m", -2, 2, "hd_unsqueeze(x, 1)"),
    grad("mn | m | ()", -2, 2, "hd_unsqueeze(x, -1)", note="behind the last"),
    survey("x f c V", "hd_unsqueeze(x, 0)"), fuzz(62))
row("hd_detach", "{0}.detach()", "x", survey("x f c F"), fuzz(64), constant=True, golden=None)


section("part", golden=EXACT)  # views of a part

row("hd_select", "{0}.select({1}, {2})", "x dim place", grad("m4n", -2, 2, "hd_select(x, 1, 2)"),
    grad("m4n | 4n", -2, 2, "hd_select(hd_transpose(x, 0, 1), -1, -1)", note="of a turned one",
         flags="NO_ZERO"), survey("x f c V", "hd_select(x, 0, 1)", name="select_dim_0"),
    survey("x f c V", "hd_select(x, 1, 1)", name="select_dim_1"), fuzz(63, "hd_select(x, i, j)"))
row("hd_slice", "torch.ops.aten.slice({0}, {1}, {2}, {3})", "slice_of",
    grad("m4n", -2, 2, "hd_slice(x, 1, 1, 3)"),
    grad("mn | n", -2, 2, "hd_slice(x, -1, -2, HD_END)", note="from the end"),
    grad("mn | n", -2, 2, "hd_slice(x, 0, 2, 1)", note="empty"),
    survey("x f c V", "hd_slice(x, 0, 1, 17)", name="slice_dim_0", python="x[1:17]"),
    survey("x f c V", "hd_slice(x, 1, 1, 17)", name="slice_dim_1", python="x[:, 1:17]"),
    fuzz(65, "hd_slice(x, i, j, k)"))
row("hd_slice_step", "torch.ops.aten.slice({0}, {1}, {2}, {3}, {4})", "slice_of step",
    grad("mn | n", -2, 2, "hd_slice_step(x, 0, 0, HD_END, 2)"),
    grad("4n | 4", -2, 2, "hd_mul(hd_slice(x, 0, 0, 3), hd_slice_step(x, 0, 1, 7, 1))",
         note="overlapping"), survey("x f c V", "hd_slice_step(x, 1, 0, HD_END, 2)", python="x[:, ::2]"),
    fuzz(66, "hd_slice_step(x, i, j, HD_END, k)"))
row("hd_narrow", "{0}.narrow({1}, {2}, {3})", "narrowing",
    grad("m4n | m4", -2, 2, "hd_narrow(x, 1, -2, 2)"), survey("x f c V", "hd_narrow(x, 0, 1, 16)"),
    fuzz(67, "hd_narrow(x, i, j, k)"))
row("hd_roll", "torch.roll({0}, {1}, {2})", "x -9..9 dim", grad("mn", -2, 2, "hd_roll(x, 1, 0)"),
    grad("bmn | m", -2, 2, "hd_roll(x, -2, -1)", note="back"),
    survey("x fdib ct B", "hd_roll(x, 5, 0)", name="roll_dim_0"),
    survey("x fd cts B", "hd_roll(x, 5, 1)", name="roll_dim_1"),
    fuzz(181, "hd_roll(x, j, i)"), node="RollBackward0",
    cases=[{"shift": 1, "dim": 0}, {"shift": -5, "dim": -1}, {"shift": 0, "dim": 1}, {"shift": 7, "dim": 2},
           {"shapes": [(3, 0)], "shift": 1, "dim": 1}, {"shapes": [()], "shift": 1, "dim": 0},
           {"shift": 1, "dim": 3}])
row("hd_flip_n", "torch.flip({0}, {1})", "x dims", grad("mn", -2, 2, "hd_flip(x, 0)"),
    grad("bmn | 1mn", -2, 2, "hd_flip(x, -1, 0)", note="two dims"),
    grad("mn | ()", -2, 2, "hd_flip_n(x, 0, NULL)", note="no dims"),
    survey("x fdib ct B", "hd_flip(x, 0)", name="flip_dim_0"),
    survey("x fd cts B", "hd_flip(x, 1)", name="flip_dim_1"), fuzz(216, "hd_flip_n(x, n, sizes)"),
    refuses("hd_flip(x, 0, -2)", "INDEX", "hd_flip: dim 0 of (2, 3) appears twice: expected distinct dims"),
    cases=[{"dims": [0]}, {"dims": [-1, 0]}, {"dims": []}, {"shapes": [(3, 0)], "dims": [0, 1]},
           {"shapes": [()], "dims": [0]}, {"dims": [1, 1]}, {"dims": [3]}], node="FlipBackward0")
row("hd_repeat_n", "{0}.repeat({1})", "repeats", grad("mn", -2, 2, "hd_repeat(x, 2, 3)"),
    grad("mn | n | ()", -2, 2, "hd_repeat(x, 2, 1, 3)", note="leading dims"),
    grad("mn", -2, 2, "hd_repeat(x, 0, 2)", note="not at all"),
    survey("x fdib ct B", "hd_repeat(x, 2, 1)", name="repeat_dim_0"),
    survey("x fd c B", "hd_repeat(x, 1, 2)", name="repeat_dim_1"), fuzz(188, "hd_repeat_n(x, n, sizes)"),
    node="RepeatBackward0",
    cases=[{"sizes": [2, 1, 3]}, {"sizes": [1, 2, 1, 1]}, {"sizes": [1, 1, 1]}, {"sizes": [0, 1, 2]}, {"sizes": [2, 1]},
           {"shapes": [()], "sizes": [3]}, {"shapes": [(2, 0)], "sizes": [2, 2]}, {"sizes": [1, -1, 1]}])
row("hd_repeat_interleave", "{0}.repeat_interleave({1}, {2})", "x 0..3 dim",
    grad("mn | n", -2, 2, "hd_repeat_interleave(x, 3, 0)"),
    grad("bmn", -2, 2, "hd_repeat_interleave(x, 2, -2)", note="middle"),
    survey("x fdib ct B", "hd_repeat_interleave(x, 2, 0)", name="repeat_interleave_dim_0"),
    survey("x fd c B", "hd_repeat_interleave(x, 2, 1)", name="repeat_interleave_dim_1"),
    fuzz(189, "hd_repeat_interleave(x, k, i)"), node="ViewBackward0",
    cases=[{"repeats": 2, "dim": 0}, {"repeats": 3, "dim": -1}, {"repeats": 1, "dim": 1},
           {"repeats": 0, "dim": 1}, {"repeats": -1, "dim": 1}, {"repeats": 1, "dim": 3}])
row("hd_split", "{0}.split({1}, {2})", "x parts dim",
    grad("5n | 5 | 4n", -2, 2, "weighed(hd_split(x, 2, 0))"),
    grad("m7", -2, 2, "weighed(hd_split(x, 3, -1))", note="the last dim"),
    survey("x f c B", "hd_cat_list(hd_split(x, 16, 1), 1)"), fuzz(68, "one_of(hd_split(x, k, i), j)"))
row("hd_split_sizes_n", "{0}.split({1}, {2})", "in_sizes",
    grad("m4n", -2, 2, "weighed(hd_split_sizes_n(x, 3, (int64_t[]){1, 0, 3}, 1))"),
    survey("x f c V", "hd_list_get(hd_split_sizes_n(x, 2, (int64_t[]){16, hd_size(x, 0) - 16}, 0), 0)"),
    fuzz(69, "one_of(hd_split_sizes_n(x, n, sizes, i), j)"))
row("hd_chunk", "{0}.chunk({1}, {2})", "x parts dim",
    grad("mn | 7n | 6", -2, 2, "weighed(hd_chunk(x, 3, 0))"),
    grad("4n", -2, 2, "weighed(hd_chunk(x, 9, 0))", note="more than there are"),
    survey("x f c B", "hd_cat_list(hd_chunk(x, 3, 1), 1)"), fuzz(70, "one_of(hd_chunk(x, k, i), j)"))
row("hd_unbind", "{0}.unbind({1})", "x dim", grad("m4n | m4", -2, 2, "weighed(hd_unbind(x, 1))"),
    survey("x f c V", "hd_list_get(hd_unbind(x, 0), 1)"), fuzz(71, "one_of(hd_unbind(x, i), j)"))
row("hd_getitem_n", "{0}[{1}]", "x index", grad("m4n | m4", -2, 2, "hd_getitem(x, HD_ALL, 1)"),
    grad("mn", -2, 2, "hd_getitem(x, HD_ALL, HD_ALL)", note="whole"),
    grad("43n | 43", -2, 2, "hd_getitem(x, -1, 0)", note="two indices"),
    survey("x f c V", "hd_getitem(x, 1)", python="x[1]"), fuzz(72, "hd_getitem_n(x, n, sizes)"))


section("copy")  # copies, joining, assignment to a part

row("hd_contiguous", "{0}.contiguous()", "x",
    grad("bmn | m | ()", -2, 2, "hd_mul(hd_contiguous(x), x)"),
    grad("bmn | mn", -2, 2, "hd_contiguous(hd_transpose(x, 0, 1))", note="turned"),
    survey("x fdib tsc B"), fuzz(73))
row("hd_clone", "{0}.clone()", "x", grad("bmn | m | ()", -2, 2, "hd_mul(hd_clone(x), x)"),
    survey("x fdib cts B"), fuzz(74))
row("hd_to", "{0}.to({1})", "calm dtype",
    grad("mn", -2, 2, "hd_to(x, hd_dtype_of(x))", note="the same"),
    survey("x dib c B", "hd_to(x, HD_FLOAT32)", name="to_float32"),
    survey("x fib cts B", "hd_to(x, HD_FLOAT64)", name="to_float64"),
    survey("x fdb cts F", "hd_to(x, HD_INT64)", name="to_int64"),
    survey("x fdi cts F", "hd_to(x, HD_BOOL)", name="to_bool"), fuzz(75, "hd_to(x, (hd_dtype)(k % 5))"),
    golden=EXACT)
row("hd_tril", "torch.tril({0}, {1})", "diagonal", grad("mn | bmn | bhmn", -2, 2, "hd_tril(x, 0)"),
    grad("bmn | nm", -2, 2, "hd_tril(x, 1)", note="above"), survey("x fdb cts B", "hd_tril(x, 0)"),
    fuzz(76, "hd_tril(x, i)"), golden=EXACT)
row("hd_triu", "torch.triu({0}, {1})", "diagonal", grad("mn | bmn | nm", -2, 2, "hd_triu(x, 0)"),
    grad("bmn", -2, 2, "hd_triu(hd_transpose(x, -1, -2), -1)", note="below, turned"),
    survey("x fdb cts B", "hd_triu(x, 1)"), fuzz(77, "hd_triu(x, i)"), golden=EXACT)
row("hd_cat_n", "torch.cat({0}, {1})", "together",
    grad("mn kn | m k | bmn bmn", -2, 2, "hd_cat(0, x, y)"),
    grad("bmn bmk | m k", -2, 2, "hd_cat(-1, x, y)", note="the last dim"),
    grad("mn kn", -2, 2, "hd_cat(0, x, y, x)", note="one of them twice"),
    grad("mn k", -2, 2, "hd_cat(1, hd_slice(hd_flatten(y, 0, -1), 0, 0, 0), x)", note="an empty vector"),
    survey("xy fdi cts B", "hd_cat(0, x, y)", name="cat_dim_0"),
    survey("xy fdi cts B", "hd_cat(1, x, y)", name="cat_dim_1"),
    fuzz(78, "hd_cat_n(3, (hd_tensor *[]){x, y, z}, i)"), golden=EXACT)
row("hd_cat_list", "torch.cat({0}, {1})", "together")
row("hd_stack_n", "torch.stack({0}, {1})", "stacked",
    grad("mn mn | m m | () ()", -2, 2, "hd_stack(0, x, y)"),
    grad("mn mn | m m | () ()", -2, 2, "hd_stack(-1, x, y, x)", note="the last dim"),
    survey("xy fd cts B", "hd_stack(0, x, y)", name="stack_dim_0"),
    survey("xy fd c B", "hd_stack(2, x, y)", name="stack_dim_2"),
    fuzz(79, "hd_stack_n(2, (hd_tensor *[]){x, y}, i)"), golden=EXACT)
row("hd_stack_list", "torch.stack({0}, {1})", "stacked")
row("hd_setitem_n", "set_item({0}, {1}, {2})", "set_item",
    grad("4n n | 4mn n | 4n 1 | 4 ()", -2, 2, "hd_setitem(x, y, 1)"),
    grad("m4 m | m4n n | m4 11m", -2, 2, "hd_setitem(x, y, HD_ALL, 1)", note="a column"),
    grad("4n n", -2, 2, "hd_setitem(x, hd_mul(y, hd_clone(hd_select(x, 0, 0))), 1)", note="of itself"),
    survey("xw f c I", "hd_setitem(x, y, 1)", python="set_item(x, y, 1)"),
    fuzz(148, "hd_setitem_n(x, y, n, sizes)", name="setitem_"), golden=EXACT, inplace=True)
row("hd_setitem_scalar_n", "set_item({0}, {1}, {2})", "into_dims number index",
    grad("43 | 43n", -2, 2, "hd_setitem_scalar(x, 3.5, 1, 0)"),
    survey("x f c I", "hd_setitem_scalar(x, 1, 1)", python="set_item(x, 1, 1)"),
    fuzz(149, "(hd_setitem_scalar_n)(x, s, n, sizes)", name="setitem_scalar_"), inplace=True)


section("index", golden=EXACT)  # picking elements

row("hd_index_select", "{0}.index_select({1}, {2})", "index_select",
    grad("mn | n | bmn", -1, 1, "hd_index_select(x, 0, ends(x, 0))", note="dim 0"),
    grad("mn | n | bmn", -1, 1, "hd_index_select(x, -1, ends(x, -1))", note="last dim"),
    survey("xr fdi cs B", "hd_index_select(x, 0, y)", name="index_select_dim_0"),
    survey("xc fdi cs B", "hd_index_select(x, 1, y)", name="index_select_dim_1"),
    fuzz(80, "hd_index_select(x, i, y)"))
row("hd_gather", "{0}.gather({1}, {2})", "gather",
    grad("mn", -1, 1, "gather_along(x, 0)", note="dim 0"),
    grad("mn", -1, 1, "gather_along(x, 1)", note="dim 1"),
    grad("() | 4", -1, 1, "hd_gather(x, 0, hd_scalar_tensor(HD_INT64, 0))", note="0-d"),
    survey("xR fdi cts B", "hd_gather(x, 0, y)", name="gather_dim_0"),
    survey("xC fdi cts B", "hd_gather(x, 1, y)", name="gather_dim_1"), fuzz(81, "hd_gather(x, i, y)"))
row("hd_embedding", "F.embedding({0}, {1}, padding_idx=None if {2} == -2**63 else {2})", "embedding",
    grad("nd", -1, 1, "hd_embedding(hd_unsqueeze(ends(x, 0), 0), x, HD_NO_PADDING)"),
    grad("nd", -1, 1, "hd_slice(hd_embedding(ends(x, 0), x, 0), 0, 1, 2)", note="padding_idx",
         flags="NO_ONE | NO_ZERO"), survey("xr fd c B", "hd_embedding(y, x, HD_NO_PADDING)"),
    fuzz(82, "hd_embedding(x, y, on ? HD_NO_PADDING : j)"))
row("hd_topk", "{0}.topk({1}, {2}, {3})", "topk",
    grad("mn | n | bmn", -1, 1, "topk_along(x, 0, true)", note="dim 0", flags="DISTINCT"),
    grad("mn | n | bmn", -1, 1, "topk_along(x, -1, false)", note="smallest", flags="DISTINCT"),
    grad("()", -1, 1, "hd_topk(x, 1, 0, true, NULL)", note="0-d", flags="DISTINCT"),
    survey("x fd cs B", "hd_topk(x, 1, 1, true, &other)", name="topk_1"),
    survey("x fdi cs B", "hd_topk(x, 10, 1, true, &other)", name="topk_10"),
    survey("x f c B", "hd_topk(x, 10, 0, true, &other)", name="topk_10_dim_0"),
    fuzz(83, "hd_topk(x, k, i, on, NULL)"),
    fuzz(84, "other_of(hd_topk(x, k, i, on, other()))", name="topk_indices"))
row("hd_sort", "torch.sort({0}, dim={1}, descending={2}, stable=True)", "x dim flag",
    grad("mn | n | bmn", -1, 1, "hd_sort(x, 0, false, NULL)", note="dim 0", flags="DISTINCT"),
    grad("mn | n | bmn", -1, 1, "hd_sort(x, -1, true, NULL)", note="descending", flags="DISTINCT"),
    grad("()", -1, 1, "hd_sort(x, 0, true, NULL)", note="0-d"),
    survey("x fdi cs B", "hd_sort(x, 1, true, &other)", name="sort_dim_1"),
    survey("x f c B", "hd_sort(x, 0, false, &other)", name="sort_dim_0"),
    fuzz(190, "hd_sort(x, i, on, NULL)"),
    fuzz(191, "other_of(hd_sort(x, i, on, other()))", name="sort_indices"), golden=None)
row("hd_argsort", "torch.argsort({0}, dim={1}, descending={2}, stable=True)", "x dim flag",
    survey("x fdib c F", "hd_argsort(x, 1, false)"), fuzz(192), constant=True, golden=None)
row("hd_index_add", "{0}.index_add({1}, {2}, {3})", "index_add",
    grad("mn | n", -1, 1, "added_to(x, 0)", note="dim 0"),
    grad("bmn", -1, 1, "added_to(x, -1)", note="last dim"),
    survey("xry fd c B", "hd_index_add(x, 0, y, z)", name="index_add_dim_0"),
    survey("xcy fd c B", "hd_index_add(x, 1, y, z)", name="index_add_dim_1"),
    fuzz(193, "hd_index_add(x, i, y, z)"), golden=None)
row("hd_scatter", "{0}.scatter({1}, {2}, {3})", "scatter",
    grad("mn mn", -1, 1, "scattered(x, 0, y)", note="dim 0"),
    grad("mn mn", -1, 1, "scattered(x, 1, y)", note="dim 1"),
    grad("() | 4", -1, 1, "hd_scatter(x, 0, hd_zeros(HD_INT64, 1), hd_view(hd_sum(x), 1))", note="0-d",
         flags="NO_ZERO"),
    survey("xRy fdi c B", "hd_scatter(x, 0, y, z)", name="scatter_dim_0"),
    survey("xCy fdi c B", "hd_scatter(x, 1, y, z)", name="scatter_dim_1"),
    fuzz(194, "hd_scatter(x, i, y, z)"), golden=None)
row("hd_bincount", "torch.bincount({0}, minlength={1})", "counted",
    survey("xT f c F", "hd_bincount(y, 0)"), fuzz(195, "hd_bincount(x, k)"), constant=True, golden=None)
row("hd_nonzero", "torch.nonzero({0})", "x", survey("x fdib ct F"), fuzz(196), constant=True, golden=None)
row("hd_one_hot", "F.one_hot({0}, {1})", "one_hot", survey("xT f c F", "hd_one_hot(y, hd_size(x, 1))"),
    fuzz(85, "hd_one_hot(x, k)"),
    constant=True)


section("reduce", golden=CLOSE)  # reductions

row("hd_sum", "{0}.sum()", "x", grad("bnd", -2, 2), grad("()", -2, 2, note="0-d"),
    survey("x fdib cts B"), fuzz(91), tolerance=SUMS, scale="sum_scale")
row("hd_mean", "{0}.mean()", "float", grad("bn", -2, 2), survey("x fd cts B"), fuzz(94),
    tolerance=SUMS)
row("hd_sum_dim", "{0}.sum({1}, {2})", "x dim flag",
    grad("bnd", -2, 2, "hd_sum_dim(x, 0, false)", note="first"),
    grad("bn", -2, 2, "hd_sum_dim(x, -1, true)", note="last, keepdim"),
    grad("()", -2, 2, "hd_sum_dim(x, -1, true)", note="0-d"),
    survey("x fdib cts B", "hd_sum_dim(x, 0, false)", name="sum_dim_0"),
    survey("x fdib cts B", "hd_sum_dim(x, 1, false)", name="sum_dim_1"), fuzz(92),
    tolerance=SUMS, scale="sum_scale")
row("hd_mean_dim", "{0}.mean({1}, {2})", "float dim flag",
    grad("bnd", -2, 2, "hd_mean_dim(x, 0, true)", note="first, keepdim"),
    grad("bn", -2, 2, "hd_mean_dim(x, -1, false)", note="last"),
    survey("x fd cts B", "hd_mean_dim(x, 0, false)", name="mean_dim_0"),
    survey("x fd cts B", "hd_mean_dim(x, 1, false)", name="mean_dim_1"), fuzz(95),
    tolerance=SUMS)
row("hd_sum_dims_n", "{0}.sum({2}, {1})", "float flag dims",
    grad("bnd", -2, 2, "hd_sum_dims(x, false, 0, -1)", note="outer"),
    grad("bnd", -2, 2, "hd_sum_dims_n(x, true, 0, NULL)", note="all, keepdim"),
    survey("x fd c B", "hd_sum_dims(x, false, 0, 1)"), fuzz(93, "hd_sum_dims_n(x, on, n, sizes)"),
    tolerance=SUMS, scale="sum_scale")
row("hd_mean_dims_n", "{0}.mean({2}, {1})", "float flag dims",
    grad("bnd", -2, 2, "hd_mean_dims(x, true, 0, -1)", note="outer, keepdim"),
    grad("bnd", -2, 2, "hd_mean_dims(x, false, 1, 2)", note="inner"),
    survey("x fd c B", "hd_mean_dims(x, false, 0, 1)"), fuzz(96, "hd_mean_dims_n(x, on, n, sizes)"),
    tolerance=SUMS)
row("hd_var", "{0}.var(correction={1})", "float 0|1", grad("bn", -2, 2, "hd_var(x, 1)", flags="NO_ONE"),
    grad("bn", -2, 2, "hd_var(x, 0)", note="biased"), survey("x fd cts B", "hd_var(x, 1)"),
    fuzz(97, "hd_var(x, on)"), tolerance=1e-05, gradient_zeros=False)
row("hd_var_dim", "{0}.var({1}, correction={2}, keepdim={3})", "float dim 0|1 flag",
    grad("bnd", -2, 2, "hd_var_dim(x, 0, 0, false)", note="first, biased"),
    grad("bn", -2, 2, "hd_var_dim(x, -1, 1, true)", note="last", flags="NO_ONE"),
    survey("x fd cts B", "hd_var_dim(x, 0, 1, false)", name="var_dim_0"),
    survey("x fd cts B", "hd_var_dim(x, 1, 1, false)", name="var_dim_1"),
    fuzz(98, "hd_var_dim(x, i, (int)k, on)"), tolerance=1e-05, gradient_zeros=False)
row("hd_var_dims_n", "{0}.var({3}, correction={1}, keepdim={2})", "float 0|1 flag dims",
    grad("bnd", -2, 2, "hd_var_dims(x, 0, false, 0, -1)", note="outer, biased"),
    grad("bnd", -2, 2, "hd_var_dims(x, 1, true, 1, 2)", note="inner", flags="NO_ONE"),
    survey("x fd c B", "hd_var_dims(x, 1, false, 0, 1)"),
    fuzz(99, "hd_var_dims_n(x, (int)k, on, n, sizes)"), tolerance=1e-05,
    gradient_zeros=False)
row("hd_std", "{0}.std(correction={1})", "float 0|1", grad("bn", -2, 2, "hd_std(x, 1)", flags="NO_ONE"),
    grad("bn", -2, 2, "hd_std(x, 0)", note="biased", flags="NO_ONE"), survey("x fd cts B", "hd_std(x, 1)"),
    fuzz(197, "hd_std(x, on)"), tolerance=1e-05, gradient_zeros=False, node="StdBackward0",
    cases=[{"correction": 1}, {"correction": 0}, {"shapes": [()], "correction": 0},
           {"shapes": [(0,)], "correction": 1}])
row("hd_std_dim", "{0}.std({1}, correction={2}, keepdim={3})", "float dim 0|1 flag",
    grad("bnd", -2, 2, "hd_std_dim(x, 0, 0, false)", note="first, biased", flags="NO_ONE"),
    grad("bn", -2, 2, "hd_std_dim(x, -1, 1, true)", note="last", flags="NO_ONE"),
    survey("x fd cts B", "hd_std_dim(x, 0, 1, false)", name="std_dim_0"),
    survey("x fd cts B", "hd_std_dim(x, 1, 1, false)", name="std_dim_1"),
    fuzz(198, "hd_std_dim(x, i, (int)k, on)"), tolerance=1e-05, gradient_zeros=False, node="StdBackward0",
    cases=[{"dim": 0, "correction": 1, "keepdim": 0}, {"dim": -1, "correction": 0, "keepdim": 1},
           {"shapes": [(2, 1)], "dim": 1, "correction": 1, "keepdim": 0}])
row("hd_std_dims_n", "{0}.std({3}, correction={1}, keepdim={2})", "float 0|1 flag dims",
    grad("bnd", -2, 2, "hd_std_dims(x, 0, false, 0, -1)", note="outer, biased", flags="NO_ONE"),
    grad("bnd", -2, 2, "hd_std_dims(x, 1, true, 1, 2)", note="inner", flags="NO_ONE"),
    survey("x fd c B", "hd_std_dims(x, 1, false, 0, 1)"),
    fuzz(199, "hd_std_dims_n(x, (int)k, on, n, sizes)"), tolerance=1e-05,
    gradient_zeros=False, node="StdBackward0",
    cases=[{"correction": 1, "keepdim": 0, "dims": [0, 2]}, {"correction": 0, "keepdim": 1, "dims": [1]}])
row("hd_prod", "{0}.prod()", "x", grad("bn | ()", 0.5, 2), grad("7", -2, 2, note="odd"),
    survey("p fdib cts B"), fuzz(200), tolerance=1e-05, scale="no_scale", gradient=1e-4, gradient_zeros=False, node="ProdBackward0",
    cases=[{"shapes": [(2, 3)]}, {"shapes": [(5,)]}, {"shapes": [()]}, {"shapes": [(0, 2)]}])
row("hd_prod_dim", "{0}.prod({1}, {2})", "x dim flag",
    grad("bnd", 0.5, 2, "hd_prod_dim(x, 0, false)", note="first"),
    grad("b7", -2, 2, "hd_prod_dim(x, -1, true)", note="last, keepdim"),
    grad("()", -2, 2, "hd_prod_dim(x, -1, true)", note="0-d"),
    survey("p fdib ct B", "hd_prod_dim(x, 0, false)", name="prod_dim_0"),
    survey("p fd c B", "hd_prod_dim(x, 1, false)", name="prod_dim_1"), fuzz(201), tolerance=1e-05, scale="no_scale", gradient=1e-4,
    gradient_zeros=False, node="ProdBackward1",
    cases=[{"dim": 0, "keepdim": 0}, {"dim": 1, "keepdim": 1}, {"shapes": [(2, 0, 3)], "dim": 1, "keepdim": 0},
           {"shapes": [()], "dim": 0, "keepdim": 1}, {"dim": 3, "keepdim": 0}])
row("hd_max", "{0}.max()", "x", grad("bn", -2, 2, flags="NO_ZERO | DISTINCT"), survey("x fdib cts B"),
    fuzz(102))
row("hd_max_dim", "{0}.max({1}, {2})", "x dim flag",
    grad("bn", -2, 2, "hd_max_dim(x, 0, true, NULL)", note="first, keepdim", flags="NO_ZERO | DISTINCT"),
    grad("bnd", -2, 2, "hd_max_dim(x, 1, false, NULL)", note="middle", flags="NO_ZERO | DISTINCT"),
    grad("bn", -2, 2, "hd_max_dim(x, -1, false, NULL)", note="last", flags="NO_ZERO | DISTINCT"),
    grad("()", -2, 2, "hd_max_dim(x, -1, false, NULL)", note="0-d", flags="NO_ZERO | DISTINCT"),
    survey("x fdi cts B", "hd_max_dim(x, 0, false, &other)", name="max_dim_0"),
    survey("x fdi cts B", "hd_max_dim(x, 1, false, &other)", name="max_dim_1"),
    fuzz(104, "hd_max_dim(x, i, on, NULL)"),
    fuzz(106, "other_of(hd_max_dim(x, i, on, other()))", name="max_dim_indices"), golden=EXACT)
row("hd_argmax", "{0}.argmax()", "numbers", survey("x fdi cts F"), fuzz(107), golden=EXACT,
    constant=True)
row("hd_argmax_dim", "{0}.argmax({1}, {2})", "x dim flag",
    survey("x fdi cts F", "hd_argmax_dim(x, 0, false)", name="argmax_dim_0"),
    survey("x fdi cts F", "hd_argmax_dim(x, 1, false)", name="argmax_dim_1"), fuzz(109), golden=EXACT,
    constant=True)
row("hd_min", "{0}.min()", "x", grad("bn", -2, 2, flags="NO_ZERO | DISTINCT"), survey("x fdi c B"),
    fuzz(103))
row("hd_min_dim", "{0}.min({1}, {2})", "x dim flag",
    grad("bn", -2, 2, "hd_min_dim(x, 0, false, NULL)", note="first", flags="NO_ZERO | DISTINCT"),
    grad("bnd", -2, 2, "hd_min_dim(x, 1, true, NULL)", note="middle, keepdim",
         flags="NO_ZERO | DISTINCT"),
    grad("bn", -2, 2, "hd_min_dim(x, -1, true, NULL)", note="last, keepdim", flags="NO_ZERO | DISTINCT"),
    survey("x fdi c B", "hd_min_dim(x, 0, false, &other)", name="min_dim_0"),
    survey("x fdi c B", "hd_min_dim(x, 1, false, &other)", name="min_dim_1"),
    fuzz(105, "hd_min_dim(x, i, on, NULL)"), golden=EXACT)
row("hd_argmin", "{0}.argmin()", "numbers", survey("x fdi c F"), fuzz(108), golden=EXACT,
    constant=True)
row("hd_argmin_dim", "{0}.argmin({1}, {2})", "x dim flag",
    survey("x fdi c F", "hd_argmin_dim(x, 0, false)", name="argmin_dim_0"),
    survey("x fdi c F", "hd_argmin_dim(x, 1, false)", name="argmin_dim_1"), fuzz(110), golden=EXACT,
    constant=True)
row("hd_any", "{0}.any()", "x", survey("m b cts F"), fuzz(111), golden=EXACT,
    constant=True)
row("hd_any_dim", "{0}.any({1}, {2})", "x dim flag",
    survey("m b cts F", "hd_any_dim(x, 0, false)", name="any_dim_0"),
    survey("m b cts F", "hd_any_dim(x, 1, false)", name="any_dim_1"), fuzz(113), golden=EXACT,
    constant=True)
row("hd_all", "{0}.all()", "x", survey("u bfi cts F"), fuzz(112), golden=EXACT,
    constant=True)
row("hd_all_dim", "{0}.all({1}, {2})", "x dim flag",
    survey("u bf c F", "hd_all_dim(x, 0, false)", name="all_dim_0"),
    survey("u bf c F", "hd_all_dim(x, 1, false)", name="all_dim_1"), fuzz(114), golden=EXACT,
    constant=True)


section("softmax", golden=CLOSE, tolerance=SUMS)  # softmax and its kin

row("hd_logsumexp_dim", "{0}.logsumexp({1}, {2})", "float dim flag",
    grad("bn", -3, 3, "hd_logsumexp_dim(x, -1, false)", note="last"),
    grad("bnd", -3, 3, "hd_logsumexp_dim(x, 0, true)", note="first, keepdim"),
    survey("x fd cts B", "hd_logsumexp_dim(x, 0, false)", name="logsumexp_dim_0"),
    survey("x fd cts B", "hd_logsumexp_dim(x, 1, false)", name="logsumexp_dim_1"), fuzz(100))
row("hd_logsumexp_dims_n", "{0}.logsumexp({2}, {1})", "float flag dims",
    grad("bnd", -3, 3, "hd_logsumexp_dims(x, false, 0, -1)", note="outer"),
    grad("bnd", -3, 3, "hd_logsumexp_dims(x, true, 1, 2)", note="inner, keepdim"),
    survey("x fd c B", "hd_logsumexp_dims(x, false, 0, 1)"),
    fuzz(101, "hd_logsumexp_dims_n(x, on, n, sizes)"))
row("hd_softmax", "torch.softmax({0}, {1})", "float dim",
    grad("bnd", -3, 3, "hd_softmax(x, -1)", note="last"),
    grad("bn", -3, 3, "hd_softmax(x, 0)", note="first"),
    grad("bnd", -3, 3, "hd_softmax(x, 1)", note="middle"),
    grad("()", -3, 3, "hd_softmax(x, -1)", note="0-d"),
    survey("x fd cts B", "hd_softmax(x, 0)", name="softmax_dim_0"),
    survey("x fd cts B", "hd_softmax(x, 1)", name="softmax_dim_1"), fuzz(115))
row("hd_log_softmax", "torch.log_softmax({0}, {1})", "float dim",
    grad("bnd", -3, 3, "hd_log_softmax(x, -1)", note="last"),
    grad("bn", -3, 3, "hd_log_softmax(x, 0)", note="first"),
    grad("bnd", -3, 3, "hd_log_softmax(x, -2)", note="middle"),
    survey("x fd cts B", "hd_log_softmax(x, 0)", name="log_softmax_dim_0"),
    survey("x fd cts B", "hd_log_softmax(x, 1)", name="log_softmax_dim_1"),
    fuzz(116), gradient_zeros=False)
row("hd_cumsum", "{0}.cumsum({1})", "x dim", grad("bn", -2, 2, "hd_cumsum(x, -1)", note="last"),
    grad("bn", -2, 2, "hd_cumsum(x, 0)", note="first"),
    grad("bnd", -2, 2, "hd_cumsum(x, 1)", note="middle"),
    survey("x fdi cts B", "hd_cumsum(x, 0)", name="cumsum_dim_0"),
    survey("x fdi cts B", "hd_cumsum(x, 1)", name="cumsum_dim_1"),
    fuzz(117), golden=EXACT, scale="sum_scale")


section("matmul", golden=CLOSE, tolerance=SUMS)  # products

row("hd_dot", "torch.dot({0}, {1})", "dot", grad("k k", -1, 1),
    survey("xy fdi c B", "hd_dot(hd_view(x, -1), hd_view(y, -1))"), fuzz(118), scale="product_scale")
row("hd_outer", "torch.outer({0}, {1})", "vectors", grad("m n", -2, 2), survey("ww fdib c B"), fuzz(202),
    golden=EXACT, node="MulBackward0",
    cases=[{"shapes": [(2,), (3,)]}, {"shapes": [(0,), (3,)]}, {"shapes": [(2, 1), (3,)]}, {"shapes": [(2,), ()]}])
row("hd_matmul", "{0} @ {1}", "matmul", grad("n n", -1, 1, note="1-d 1-d"),
    grad("mk k", -1, 1, note="2-d 1-d"), grad("k kn", -1, 1, note="1-d 2-d"),
    grad("mk kn | 1k kn | mk k1 | m1 1n", -1, 1, note="2-d 2-d"),
    grad("bmk k | bcmk k", -1, 1, note="batch 1-d"), grad("k bkn | k bckn", -1, 1, note="1-d batch"),
    grad("bmk bkn | 1mk bkn | bmk 1kn | bcmk ckn", -1, 1, note="batch"),
    grad("bmk kn | bcmk kn", -1, 1, note="batch 2-d"),
    grad("mk bkn | mk bckn | 1mk bckn", -1, 1, note="2-d batch"),
    grad("b1mk 1ckn | b1mk bckn | bcmk b1kn", -1, 1, note="two batches"),
    fuzz(119), scale="product_scale", weight=3, gradient_zeros=False)
row("hd_linear", "F.linear({0}, {1}, {2})", "linear", grad("k nk n", -1, 1, note="1-d"),
    grad("mk nk n | 1k nk n", -1, 1, note="2-d"), grad("bmk nk n | b1k nk n", -1, 1, note="3-d"),
    grad("bcmk nk n", -1, 1, note="4-d"),
    grad("bmk nk | mk nk | k nk", -1, 1, "hd_linear(x, y, HD_NONE)", note="no bias"),
    grad("bmk k () | mk k () | k k ()", -1, 1, note="weight of 1 dim"),
    fuzz(120, "hd_linear(x, y, z)"), scale="product_scale", weight=2,
    gradient_zeros=False, optional=("bias",))
row("hd_bilinear", "F.bilinear({0}, {1}, {2}, {3})", "bilinear", grad("bm bn kmn k | m n kmn k", -1, 1),
    grad("bcm bcn kmn", -1, 1, "hd_bilinear(x, y, z, HD_NONE)", note="no bias"),
    survey("xy f c B", "hd_bilinear(hd_slice(x, 1, 0, 8), hd_slice(y, 1, 0, 32), "
                       "hd_reshape(hd_slice(hd_slice(x, 0, 0, 32), 1, 0, 32), 4, 8, 32), HD_NONE)"),
    fuzz(217, "hd_bilinear(x, y, z, HD_NONE)"),
    refuses("hd_bilinear(x, x, hd_ones(HD_FLOAT32, 4, 3, 2), HD_NONE)", "SHAPE",
            "hd_bilinear: x1 (2, 3), x2 (2, 3), weight (4, 3, 2): expected (..., in1), (..., in2) and (out, in1, in2)"),
    refuses("hd_bilinear(x, x, hd_ones(HD_FLOAT32, 4, 3, 3), x)", "SHAPE",
            "hd_bilinear: weight (4, 3, 3) and bias (2, 3): expected bias (4,)"),
    scale="product_scale", weight=2, gradient_zeros=False, optional=("bias",), golden=CLOSE,
    memory="hd_bilinear(w->x, w->y, hd_ones(HD_FLOAT32, 3, 3, 3), w->v)",
    cases=[{"shapes": [(2, 3), (2, 4), (2, 3, 4), (2,)]}, {"shapes": [(2, 2, 3), (2, 2, 1), (4, 3, 1)]},
           {"shapes": [(3,), (2,), (1, 3, 2), (1,)]}, {"shapes": [(0, 3), (0, 2), (2, 3, 2), (2,)]},
           {"shapes": [(2, 3), (1, 4), (2, 3, 4)]}, {"shapes": [(2, 3), (2, 4), (2, 3, 4), (3,)]}],
    node="AddBackward0")


section("random", random=True)  # draws

row("hd_bernoulli", "torch.bernoulli({0})", "probability", grad("mn | ()", 0.2, 0.8, flags="NO_F32"),
    survey("P fd c F"), fuzz(129, "hd_bernoulli(x)"))
row("hd_dropout", "F.dropout({0}, {1}, {2})", "dropout",
    grad("mn | bmn | ()", -1, 1, "hd_dropout(x, 0.25, true)"),
    grad("mn", -1, 1, "hd_dropout(x, 1, true)", note="p = 1"),
    grad("mn", -1, 1, "hd_mul_scalar(hd_dropout(x, 0.25, false), 2)", note="evaluation"),
    survey("x fd cts B", "hd_dropout(x, 0.1, true)"), fuzz(130, "hd_dropout(x, d, on)"))
row("hd_multinomial", "torch.multinomial({0}, {1}, {2})", "multinomial",
    survey("P f c F", "hd_multinomial(x, 10, false)"),
    survey("P f c F", "hd_multinomial(x, 10, true)", name="multinomial_replaced"),
    fuzz(131, "hd_multinomial(x, k, on)"), constant=True)
row("hd_uniform_", "{0}.uniform_({1}, {2})", "bounds",
    grad("mn", -1, 1, "hd_uniform_(x, -1, 1)", flags="NO_F32"),
    survey("x fd cs I", "hd_uniform_(x, -1, 1)"), fuzz(144, "hd_uniform_(x, i, j)"))
row("hd_normal_", "{0}.normal_({1}, {2})", "normal_",
    grad("mn", -1, 1, "hd_normal_(x, 0, 1)", flags="NO_F32"),
    survey("x fd cs I", "hd_normal_(x, 0, 1)"), fuzz(145, "hd_normal_(x, i, d)"))
row("hd_bernoulli_", "{0}.bernoulli_({1})", "into 0.0|0.3|0.5|1.0",
    grad("mn", -1, 1, "hd_bernoulli_(x, 0.5)"), survey("x fd cs I", "hd_bernoulli_(x, 0.5)"),
    fuzz(146, "hd_bernoulli_(x, d)"))
row("hd_exponential_", "{0}.exponential_({1})", "into_floats 1.0|0.5|3.0",
    grad("mn", -1, 1, "hd_exponential_(x, 2)", flags="NO_F32"),
    survey("x fd cs I", "hd_exponential_(x, 1)"), fuzz(147, "hd_exponential_(x, d)"), tolerance=ULPS)
row("hd_rand_n", "torch.rand({1}, dtype={0})", "float_dtype sizes",
    survey("x fd c F", "hd_rand(hd_dtype_of(x), hd_size(x, 0), hd_size(x, 1))"))
row("hd_randn_n", "torch.randn({1}, dtype={0})", "float_dtype sizes",
    survey("x fd c F", "hd_randn(hd_dtype_of(x), hd_size(x, 0), hd_size(x, 1))"))
row("hd_randint_n",
    "torch.randint({1}, {2}, {3}, dtype={0})",
    "number_dtype -9..8 10|1048576|1073741824|8589934592 sizes",
    survey("x if c F", "hd_randint(hd_dtype_of(x), 0, 1000, hd_size(x, 0), hd_size(x, 1))"))
row("hd_randperm", "torch.randperm({0})", "0|1|2|9|100|-1",
    survey("x f c F", "hd_randperm(hd_numel(x))"))
row("hd_rand_like", "torch.rand_like({0}, dtype={1})", "x float_dtype",
    survey("x fd ct F", "hd_rand_like(x, hd_dtype_of(x))"),
    fuzz(87, "hd_rand_like(x, (hd_dtype)(k % 4))"))
row("hd_randn_like", "torch.randn_like({0}, dtype={1})", "x float_dtype",
    survey("x fd ct F", "hd_randn_like(x, hd_dtype_of(x))"))


section("loss")  # normalisation and losses

row("hd_layer_norm_n", "F.layer_norm({0}, {1}, {2}, {3}, {4})", "layer_norm",
    grad("bnd d d", -2, 2, "norm(x, 1, y, z)"),
    grad("bnd nd nd", -2, 2, "norm(x, 2, y, z)", note="two dims"),
    grad("nd", -2, 2, "norm(x, 1, HD_NONE, HD_NONE)", note="plain"),
    grad("nd d", -2, 2, "norm(x, 1, y, HD_NONE)", note="weight"),
    grad("nd d", -2, 2, "norm(x, 1, HD_NONE, y)", note="bias"),
    survey("xww fd cts B", "hd_layer_norm_n(x, 1, (int64_t[]){hd_size(x, 1)}, y, z, 1e-5)"),
    fuzz(121, "hd_layer_norm_n(x, n, sizes, y, z, 1e-5)"), golden=CLOSE, tolerance=1e-05, weight=2,
    gradient=0.002, gradient_zeros=False)
row("hd_rms_norm", "F.rms_norm({0}, {0}.shape[-1:], {1}, {2})", "rms_norm",
    # eps is large so that rows of few elements are as smooth as long ones
    grad("bnd d", -2, 2, "hd_rms_norm(x, y, 0.25)"),
    grad("nd | d", -2, 2, "hd_rms_norm(x, HD_NONE, 0.25)", note="plain"),
    survey("xw fd cts B", "hd_rms_norm(x, y, 1e-5)"), fuzz(182, "hd_rms_norm(x, y, 1e-5)"), golden=CLOSE,
    node="MulBackward0", tolerance=ULPS, gradient=0.002, gradient_zeros=False,
    cases=[{"shapes": [(2, 3), (3,)], "eps": 1e-5}, {"shapes": [(2, 3)], "eps": 0.25},
           {"shapes": [(2, 2, 17), (17,)], "eps": 1e-6}, {"shapes": [(4,)], "eps": 0.0},
           {"shapes": [(0, 3), (3,)], "eps": 1e-5}, {"shapes": [(2, 3), (2,)], "eps": 1e-5},
           {"shapes": [()], "eps": 1e-5}])
row("hd_mse_loss", "F.mse_loss({0}, {1})", "losses", grad("bn bn | bn n | n bn", -2, 2),
    survey("xy fd ctsko B"), fuzz(125), golden=CLOSE, tolerance=SUMS)
row("hd_mse_loss_with", "F.mse_loss({0}, {1}, reduction=('mean', 'sum', 'none')[{2}])", "losses 0|1|2",
    grad("bn bn | bn ()", -2, 2, "hd_mse_loss_with(x, y, HD_SUM)", note="sum"),
    grad("bn bn | b1 1n", -2, 2, "hd_mse_loss_with(x, y, HD_REDUCE_NONE)", note="none"),
    survey("xy fd c B", "hd_mse_loss_with(x, y, HD_REDUCE_NONE)", name="mse_loss_none"),
    fuzz(126, "hd_mse_loss_with(x, y, (hd_reduction)(k % 4))"), tolerance=SUMS, scale="sum_scale")
row("hd_l1_loss", "F.l1_loss({0}, {1})", "losses", grad("bn bn | bn n | n bn", -2, 2, flags="DISTINCT"),
    survey("xy fd cts B"), fuzz(203), golden=CLOSE, tolerance=SUMS, node="MeanBackward0", gradient_zeros=False,
    cases=[{"shapes": [(2, 3), (2, 3)]}, {"shapes": [(2, 3), (3,)]}, {"shapes": [(2, 3), (2,)]},
           {"shapes": [(0, 3), (0, 3)]}])
row("hd_l1_loss_with", "F.l1_loss({0}, {1}, reduction=('mean', 'sum', 'none')[{2}])", "losses 0|1|2",
    grad("bn bn | bn ()", -2, 2, "hd_l1_loss_with(x, y, HD_SUM)", note="sum", flags="DISTINCT"),
    grad("bn bn | b1 1n", -2, 2, "hd_l1_loss_with(x, y, HD_REDUCE_NONE)", note="none", flags="DISTINCT"),
    survey("xy fd c B", "hd_l1_loss_with(x, y, HD_REDUCE_NONE)", name="l1_loss_none"),
    fuzz(204, "hd_l1_loss_with(x, y, (hd_reduction)(k % 4))"), tolerance=SUMS, scale="sum_scale",
    gradient_zeros=False)
row("hd_smooth_l1_loss", "F.smooth_l1_loss({0}, {1})", "losses", grad("bn bn | bn n | n bn", -2, 2),
    survey("xy fd cts B"), fuzz(205), golden=CLOSE, tolerance=SUMS, node="SmoothL1LossBackward0",
    gradient_zeros=False, cases=[{"shapes": [(2, 3), (3,)]}, {"shapes": [(4, 3), (4, 3)]}])
row("hd_smooth_l1_loss_with", "F.smooth_l1_loss({0}, {1}, beta={2}, reduction=('mean', 'sum', 'none')[{3}])",
    "losses 1.0|0.5|2.0|0.0|-1.0 0|1|2",
    grad("bn bn | bn ()", -2, 2, "hd_smooth_l1_loss_with(x, y, 0.5, HD_SUM)", note="sum"),
    grad("bn bn | b1 1n", -2, 2, "hd_smooth_l1_loss_with(x, y, 2, HD_REDUCE_NONE)", note="none"),
    survey("xy fd c B", "hd_smooth_l1_loss_with(x, y, 1, HD_REDUCE_NONE)", name="smooth_l1_loss_none"),
    fuzz(206, "hd_smooth_l1_loss_with(x, y, d, (hd_reduction)(k % 4))"), tolerance=SUMS, scale="sum_scale",
    gradient_zeros=False)
row("hd_kl_div", "F.kl_div({0}, {1})", "divergence", grad("bn bn | bn n | n bn", 0.25, 2),
    survey("xp fd cts B"), fuzz(207), golden=CLOSE, tolerance=SUMS, node="MeanBackward0", gradient_zeros=False,
    cases=[{"shapes": [(2, 2), (2, 2)]}, {"shapes": [(2, 3), (2,)]}])
row("hd_kl_div_with", "F.kl_div({0}, {1}, log_target={2}, reduction=('mean', 'sum', 'none')[{3}])", "divergence flag 0|1|2",
    grad("bn bn | bn ()", 0.25, 2, "hd_kl_div_with(x, y, false, HD_SUM)", note="sum"),
    grad("bn bn | b1 1n", -2, 2, "hd_kl_div_with(x, y, true, HD_REDUCE_NONE)", note="log_target, none"),
    survey("xy fd c B", "hd_kl_div_with(x, y, true, HD_SUM)", name="kl_div_log"),
    fuzz(208, "hd_kl_div_with(x, y, on, (hd_reduction)(k % 4))"), tolerance=SUMS, scale="sum_scale",
    gradient_zeros=False)
row("hd_binary_cross_entropy", "F.binary_cross_entropy({0}, {1})", "probabilities", grad("bn bn | ()  ()", 0.2, 0.8),
    survey("PP fd cts B", "hd_binary_cross_entropy(x, y)"), fuzz(209), tolerance=SUMS, gradient_zeros=False)
row("hd_binary_cross_entropy_with", "F.binary_cross_entropy({0}, {1}, reduction=('mean', 'sum', 'none')[{2}])", "probabilities 0|1|2",
    grad("bn bn", 0.2, 0.8, "hd_binary_cross_entropy_with(x, y, HD_SUM)", note="sum"),
    grad("bn bn", 0.2, 0.8, "hd_binary_cross_entropy_with(x, y, HD_REDUCE_NONE)", note="none"),
    survey("PP fd c B", "hd_binary_cross_entropy_with(x, y, HD_REDUCE_NONE)", name="binary_cross_entropy_none"),
    fuzz(210, "hd_binary_cross_entropy_with(x, y, (hd_reduction)(k % 4))"), tolerance=SUMS, scale="sum_scale",
    gradient_zeros=False)
row("hd_binary_cross_entropy_with_logits", "F.binary_cross_entropy_with_logits({0}, {1})", "same_losses",
    grad("bn bn | () ()", -2, 2), survey("xy fd cts B"), fuzz(211), golden=CLOSE, tolerance=SUMS,
    gradient_zeros=False, node="BinaryCrossEntropyWithLogitsBackward0",
    cases=[{"shapes": [(2, 3), (2, 3)]}, {"shapes": [(2, 3), (3,)]}, {"shapes": [(0,), (0,)]}])
row("hd_binary_cross_entropy_with_logits_with",
    "F.binary_cross_entropy_with_logits({0}, {1}, reduction=('mean', 'sum', 'none')[{2}])", "same_losses 0|1|2",
    grad("bn bn", -2, 2, "hd_binary_cross_entropy_with_logits_with(x, y, HD_SUM)", note="sum"),
    grad("bn bn", -2, 2, "hd_binary_cross_entropy_with_logits_with(x, y, HD_REDUCE_NONE)", note="none"),
    survey("xy fd c B", "hd_binary_cross_entropy_with_logits_with(x, y, HD_REDUCE_NONE)",
           name="binary_cross_entropy_with_logits_none"),
    fuzz(212, "hd_binary_cross_entropy_with_logits_with(x, y, (hd_reduction)(k % 4))"), tolerance=SUMS,
    scale="sum_scale", gradient_zeros=False)
row("hd_cross_entropy", "F.cross_entropy({0}, {1})", "entropy",
    grad("b5", -3, 3, "hd_cross_entropy(x, targets(x))"),
    grad("5", -3, 3, "hd_cross_entropy(x, targets(x))", note="one row"), survey("xT fd cts B"),
    fuzz(127), golden=CLOSE, tolerance=1e-05)
row("hd_cross_entropy_with",
    "F.cross_entropy({0}, {1}, ignore_index={2[ignore_index]},"
    " reduction=('mean', 'sum', 'none')[{2[reduction]}])",
    "entropy_with", grad("b5n", -3, 3, "entropy(x, HD_MEAN)", note="mean, 1 more dim"),
    grad("b5nd", -3, 3, "entropy(x, HD_SUM)", note="sum, 2 more dims"),
    grad("n9", -3, 3, "entropy(x, HD_REDUCE_NONE)", note="none"),
    grad("b5n", -3, 3, "entropy(x, HD_REDUCE_NONE)", note="none, 1 more dim"),
    fuzz(128, "cross_entropy(a)"), tolerance=1e-05)
row("hd_nll_loss", "F.nll_loss({0}, {1})", "entropy", grad("b5", -3, 3, "hd_nll_loss(x, targets(x))"),
    grad("5", -3, 3, "hd_nll_loss(x, targets(x))", note="one row"), survey("xT fd cts B"), fuzz(213),
    tolerance=1e-05)
row("hd_nll_loss_with",
    "F.nll_loss({0}, {1}, ignore_index={2[ignore_index]}, reduction=('mean', 'sum', 'none')[{2[reduction]}])",
    "entropy_with", grad("b5n", -3, 3, "likelihood(x, HD_MEAN)", note="mean, 1 more dim"),
    grad("b5nd", -3, 3, "likelihood(x, HD_SUM)", note="sum, 2 more dims"),
    grad("n9", -3, 3, "likelihood(x, HD_REDUCE_NONE)", note="none"),
    grad("b5n", -3, 3, "likelihood(x, HD_REDUCE_NONE)", note="none, 1 more dim"),
    fuzz(214, "likelihood(a)"), tolerance=1e-05)


section("attention")  # attention

row("hd_scaled_dot_product_attention",
    "F.scaled_dot_product_attention({0}, {1}, {2}, {3}, {4}, {5})", "attention",
    grad("bhmd bhnd bhnc | md nd nc | hmd bhnd b1nc | bhmd 1hnd nc", -2, 2,
         "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 0, false)"),
    grad("md nd bhnc | 1md nd hnc", -2, 2, "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 0, true)",
         note="more heads of v"),
    grad("bhmd bhnd bhnc | md nd nc | hmd bhnd b1nc | bhmd 1hnd nc", -2, 2,
         "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 0, true)", note="causal"),
    grad("bhmd bhnd bhnc", -2, 2, "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 0.25, true)",
         note="dropout"),
    grad("bhmd bhnd bhnc", -2, 2, "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 1, true)",
         note="dropout 1"),
    grad("bhmd bhnd bhnc", -2, 2, "hd_scaled_dot_product_attention(x, y, z, some(x, y), 0, false)",
         note="mask"),
    grad("bhmd bhnd bhnc", -2, 2,
         "hd_scaled_dot_product_attention(x, y, z, hd_to(some(x, y), hd_dtype_of(x)), 0.25, false)",
         note="mask added"),
    fuzz(122, "hd_scaled_dot_product_attention(x, y, z, HD_NONE, 0, on)", name="attention"),
    fuzz(123, "attention(a)", name="attention_masked"), tolerance=1e-05, weight=2, gradient_zeros=False)
row("hd_scaled_dot_product_attention_with",
    "(F.scaled_dot_product_attention({0}, {1}, {2}, {3}.get('attn_mask'),"
    " is_causal={3}['is_causal'], scale={3}.get('scale'), enable_gqa={3}.get('enable_gqa', False)), None)",
    "attention_with",
    grad("bhmd bhnd bhnc mn | bhmd bhnd bhnc b1mn | bhmd nd 1hnc 1n", -2, 2,
         "attention_with(x, y, z, w)", note="mask learned"),
    grad("b6md b2nd b2nc | 4md b1nd 1nc", -2, 2, "grouped_queries(x, y, z)", note="grouped queries"),
    fuzz(124, "other_of(attention_with(a, other()))", name="attention_weights"), tolerance=1e-05,
    indices=False, gradient_zeros=False)


row("hd_rotary",
    "({0} * {1} + torch.cat((-{0}[..., {0}.shape[-1] // 2:], {0}[..., :{0}.shape[-1] // 2]), -1) * {2})",
    "rotary", grad("bn8 n8 n8 | n2 n2 n2 | bmn4 n4 n4 | bmn4 b1n4 1n4", -2, 2),
    survey("xyy fd cts B"), fuzz(183), golden=EXACT, node="AddBackward0", gradient_zeros=False,
    cases=[{"shapes": [(2, 3, 4), (3, 4), (3, 4)]}, {"shapes": [(3, 22), (3, 22), (3, 22)]},
           {"shapes": [(2, 2, 1, 6), (1, 6), (1, 6)]}, {"shapes": [(2, 0, 4), (0, 4), (0, 4)]},
           {"shapes": [(2, 3, 4), (3, 4), (3, 2)]},
           {"shapes": [(2, 3, 2, 4), (2, 1, 2, 4), (2, 1, 2, 4)]}])


section("creation", constant=True)  # new tensors, and functions that fill them

row("hd_zeros_n", "torch.zeros({1}, dtype={0})", "dtype sizes",
    survey("x fdib c F", "hd_zeros(hd_dtype_of(x), hd_size(x, 0), hd_size(x, 1))"))
row("hd_ones_n", "torch.ones({1}, dtype={0})", "dtype sizes",
    survey("x fdib c F", "hd_ones(hd_dtype_of(x), hd_size(x, 0), hd_size(x, 1))"))
row("hd_full_n", "torch.full({2}, {1}, dtype={0})", "dtype number sizes",
    survey("x fdib c F", "hd_full(hd_dtype_of(x), 1, hd_size(x, 0), hd_size(x, 1))"))
row("hd_scalar_tensor", "torch.tensor({1}, dtype={0})", "dtype number")
row("hd_arange", "torch.arange({0}, {1}, {2})", "ranges",
    fuzz(88, "(hd_arange)(hd_scalar_int(i), hd_scalar_int(j), s)"))
row("hd_arange_as", "torch.arange({1}, {2}, {3}, dtype={0})", "number_dtype ranges",
    survey("x fdi c F", "hd_arange_as(hd_dtype_of(x), 0, hd_numel(x), 1)", name="arange"))
row("hd_linspace",
    "torch.linspace({1}, {2}, {3}, dtype={0})", "number_dtype 0.0|-1.5|3.0 1.0|7.3|-2.0 -1..69",
    survey("x fd c F", "hd_linspace(hd_dtype_of(x), 0, 1, hd_numel(x))"),
    fuzz(89, "hd_linspace(HD_FLOAT32, i, d, k)"))
row("hd_eye", "torch.eye({1}, {2}, dtype={0})", "dtype -1..5 0..5",
    survey("x fd c F", "hd_eye(hd_dtype_of(x), hd_size(x, 0), hd_size(x, 1))"),
    fuzz(90, "hd_eye((hd_dtype)(i & 3), j, k)"))
row("hd_zeros_like",
    "torch.zeros_like({0}, dtype={1}, memory_format=torch.contiguous_format)", "x dtype",
    survey("x f ct F", "hd_zeros_like(x, HD_FLOAT32)", python="torch.zeros_like(x)"))
row("hd_ones_like", "torch.ones_like({0}, dtype={1}, memory_format=torch.contiguous_format)", "x dtype")
row("hd_full_like",
    "torch.full_like({0}, {2}, dtype={1}, memory_format=torch.contiguous_format)", "x dtype number",
    survey("x f ct F", "hd_full_like(x, HD_FLOAT32, 2)", python="torch.full_like(x, 2)"),
    fuzz(86, "(hd_full_like)(x, (hd_dtype)(k % 4), s)"))
row("hd_init_trunc_normal_", None, None,
    fuzz(150, "hd_init_trunc_normal_(x, 0, 1, -2, 2)", name="trunc_normal_"))
row("hd_init_orthogonal_", None, None, fuzz(151, "hd_init_orthogonal_(x, d)", name="orthogonal_"))
row("hd_init_kaiming_uniform_", None, None,
    fuzz(152, 'hd_init_kaiming_uniform_(x, d, HD_FAN_IN, "leaky_relu")', name="kaiming_"))
