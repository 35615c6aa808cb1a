/* template_operator.c - the operators of templates, with Python's meaning. */
#include "hf/template.h"

static hd__template_value operator_fail(hd__template_run *r, hd__template_value sign,
                                        hd__template_value a, hd__template_value b)
{
    return hd__template_fail_at(r, HD_FORMAT, "heed cannot compute %.*s of %s and %s",
                                HD__CLIP(sign.s, sign.n), hd__template_kind_names[a.kind],
                                hd__template_kind_names[b.kind]);
}

static hd__template_value operator_bool(bool is)
{
    return HD__OF(HD__BOOL_VALUE, is);
}

/* ---------------------------------------------------------------- + - * % ~ */

static hd__template_value operator_joined(hd__template_run *r, hd__template_value a,
                                          hd__template_value b)
{
    char *s = r->failed ? NULL : hd__template_take(r, (size_t)a.n + (size_t)b.n);
    if (!s) {
        return HD__TEXT("", 0);
    }
    memcpy(s, a.s, (size_t)a.n);
    memcpy(s + a.n, b.s, (size_t)b.n);
    return HD__TEXT(s, a.n + b.n);
}

/* Returns a list, or a tuple if a is one, of a's items and then b's. */
static hd__template_value operator_lists(hd__template_run *r, hd__template_value a,
                                         hd__template_value b)
{
    hd__template_table t = {0};
    for (int64_t i = 0; i < a.n + b.n && !r->failed; i++) {
        hd__template_push(r, &t, i < a.n ? a.items[i] : b.items[i - a.n]);
    }
    return hd__template_list_of(a.kind, t);
}

/* Returns a + b, a - b, a * b or a % b, as c says. The result of % has the sign of b. Fails if b is
 * 0 in a % b, or if the result has more than 64 bits. */
static hd__template_value operator_wholes(hd__template_run *r, char c, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool beyond = c == '+'   ? __builtin_add_overflow(a, b, &v)
                  : c == '-' ? __builtin_sub_overflow(a, b, &v)
                  : c == '*' ? __builtin_mul_overflow(a, b, &v)
                             : b == 0;
    if (beyond) {
        return hd__template_fail_at(r, HD_VALUE,
                                    "a division by zero, or a number of more than 64 bits");
    }
    if (c == '%') {
        v = b == -1 ? 0 : a % b;
        v += v != 0 && (v < 0) != (b < 0) ? b : 0;
    }
    return HD__OF(HD__TEMPLATE_INT, v);
}

static hd__template_value operator_sum(hd__template_run *r, hd__template_value sign,
                                       hd__template_value a, hd__template_value b)
{
    if (hd__template_is_number(a) && hd__template_is_number(b)) {
        return operator_wholes(r, *sign.s, a.n, b.n);
    }
    bool plus = *sign.s == '+' && a.kind == b.kind;
    return plus && a.kind == HD__STRING      ? operator_joined(r, a, b)
           : plus && hd__template_is_list(a) ? operator_lists(r, a, b)
                                             : operator_fail(r, sign, a, b);
}

/* ---------------------------------------------------------------- comparisons */

static bool operator_in(hd__template_run *r, hd__template_value all, hd__template_value part)
{
    if (all.kind == HD__STRING && part.kind == HD__STRING) {
        return hd__template_value_find(r, all, all.s, part);
    }
    if (all.kind == HD__DICT_VALUE) {
        return hd__template_table_find(r, all.table, part);
    }
    if (!hd__template_is_list(all) && all.kind != HD__UNDEFINED) {
        operator_fail(r, HD__LITERAL("in"), part, all);
        return false;
    }
    int64_t i = 0;
    while (i < all.n && !hd__template_equal(r, all.items[i], part)) {
        i++;
    }
    return i < all.n;
}

/* Returns a < b, a <= b, a > b or a >= b, as `sign` says. Fails unless a and b are two strings or
 * two numbers. */
static hd__template_value operator_ordered(hd__template_run *r, hd__template_value sign,
                                           hd__template_value a, hd__template_value b)
{
    bool texts = a.kind == HD__STRING && b.kind == HD__STRING;
    if (!texts && !(hd__template_is_number(a) && hd__template_is_number(b))) {
        return operator_fail(r, sign, a, b);
    }
    int order = texts ? memcmp(a.s, b.s, (size_t)(a.n < b.n ? a.n : b.n)) : 0;
    order = order ? order : (a.n > b.n) - (a.n < b.n);
    bool is = *sign.s == '<' ? order < 0 : order > 0;
    return operator_bool(is || (sign.n == 2 && order == 0));
}

hd__template_value hd__template_operate(hd__template_run *r, hd__template_value sign,
                                        hd__template_value a, hd__template_value b)
{
    switch (*sign.s) {
    case '=': return operator_bool(hd__template_equal(r, a, b));
    case '!': return operator_bool(!hd__template_equal(r, a, b));
    case 'i': return operator_bool(operator_in(r, b, a));
    case 'n': return operator_bool(!operator_in(r, b, a));
    case '~':
        return operator_joined(r, hd__template_value_text(r, a), hd__template_value_text(r, b));
    case '<':
    case '>': return operator_ordered(r, sign, a, b);
    default: return operator_sum(r, sign, a, b);
    }
}
