/* template_operator.c - the operators of templates, with Python's meaning. */
#include <math.h>

#include "hf/template.h"

/* ---------------------------------------------------------------- + - * / // % ~ */

static hd__value operator_joined(hd__run *r, hd__value a, hd__value b)
{
    char *s = hd__take(r, (size_t)a.n + (size_t)b.n);
    if (!s) {
        return HD__TEXT("", 0);
    }
    memcpy(s, a.s, (size_t)a.n);
    memcpy(s + a.n, b.s, (size_t)b.n);
    return HD__TEXT(s, a.n + b.n);
}

static hd__value operator_lists(hd__run *r, hd__value a, hd__value b)
{
    hd__value list = hd__list_of(r, a.n + b.n), *items = (hd__value *)list.items;
    for (; items && list.n < a.n + b.n; list.n++) {
        items[list.n] = list.n < a.n ? a.items[list.n] : b.items[list.n - a.n];
    }
    list.kind = a.kind;
    return list;
}

static hd__value operator_repeated(hd__run *r, hd__value a, int64_t n)
{
    size_t bytes;
    n = n < 0 ? 0 : n;
    bytes = __builtin_mul_overflow((size_t)a.n, (size_t)n, &bytes) ? SIZE_MAX : bytes;
    char *s = hd__take(r, bytes);
    for (int64_t i = 0; s && a.n > 0 && i < n; i++) {
        memcpy(s + i * a.n, a.s, (size_t)a.n);
    }
    return s ? HD__TEXT(s, bytes) : HD__TEXT("", 0);
}

static hd__value operator_floats(hd__run *r, char sign, double a, double b)
{
    hd__value v = {HD__DOUBLE, 0, {0}};
    if (sign == '/' && b == 0) {
        return hd__template_fail(r, HD_VALUE, "a division by zero");
    }
    v.number = sign == '+' ? a + b : sign == '-' ? a - b : sign == '*' ? a * b : a / b;
    return v;
}

/* // and %, whose rest has the sign of b */
static hd__value operator_divided(hd__run *r, bool rest, int64_t a, int64_t b)
{
    if (b == 0) {
        return hd__template_fail(r, HD_VALUE, "a division by zero");
    }
    if (b == -1) {
        return rest          ? HD__WHOLE(0)
               : a == INT64_MIN ? hd__template_fail(r, HD_VALUE, "a number of more than 64 bits")
                                : HD__WHOLE(-a);
    }
    int64_t down = a % b != 0 && (a < 0) != (b < 0);
    return HD__WHOLE(rest ? a % b + down * b : a / b - down);
}

static hd__value operator_wholes(hd__run *r, char sign, int64_t a, int64_t b)
{
    int64_t v;
    bool beyond = sign == '+'   ? __builtin_add_overflow(a, b, &v)
                  : sign == '-' ? __builtin_sub_overflow(a, b, &v)
                                : __builtin_mul_overflow(a, b, &v);
    return beyond ? hd__template_fail(r, HD_VALUE, "a number of more than 64 bits") : HD__WHOLE(v);
}

static hd__value operator_sum(hd__run *r, hd__value sign, hd__value a, hd__value b)
{
    char c = *sign.s;
    bool floats = a.kind == HD__DOUBLE || b.kind == HD__DOUBLE;
    if (hd__is_number(a) && hd__is_number(b) && !(floats && (c == '%' || sign.n == 2))) {
        return floats || (c == '/' && sign.n == 1)
                   ? operator_floats(r, c, hd__number_of(a), hd__number_of(b))
               : c == '/' || c == '%' ? operator_divided(r, c == '%', a.n, b.n)
                                      : operator_wholes(r, c, a.n, b.n);
    }
    if (c == '+' && a.kind == b.kind && a.kind == HD__STRING) {
        return operator_joined(r, a, b);
    }
    if (c == '+' && a.kind == b.kind && hd__is_list(a)) {
        return operator_lists(r, a, b);
    }
    if (c == '*' && a.kind == HD__STRING && b.kind == HD__INT) {
        return operator_repeated(r, a, b.n);
    }
    return hd__template_fail(r, HD_VALUE, "%.*s of %s and %s", HD__CLIP(sign.s, sign.n),
                             hd__kind_names[a.kind], hd__kind_names[b.kind]);
}

/* ---------------------------------------------------------------- comparisons */

bool hd__contains(hd__run *r, hd__value all, hd__value part)
{
    if (all.kind == HD__STRING && part.kind == HD__STRING) {
        return hd__find(r, all, all.s, part);
    }
    if (all.kind == HD__DICT) {
        return hd__table_find(r, all.table, part);
    }
    if (!hd__is_list(all) && all.kind != HD__UNDEFINED) {
        hd__template_fail(r, HD_VALUE, "in: %s in %s", hd__kind_names[part.kind],
                          hd__kind_names[all.kind]);
    }
    for (int64_t i = 0; hd__is_list(all) && i < all.n; i++) {
        if (hd__equal(r, all.items[i], part, 0)) {
            return true;
        }
    }
    return false;
}

/* < <= > >= */
static hd__value operator_ordered(hd__run *r, hd__value sign, hd__value a, hd__value b)
{
    bool texts = a.kind == HD__STRING && b.kind == HD__STRING;
    if (!texts && !(hd__is_number(a) && hd__is_number(b))) {
        return hd__template_fail(r, HD_VALUE, "%.*s of %s and %s", HD__CLIP(sign.s, sign.n),
                                 hd__kind_names[a.kind], hd__kind_names[b.kind]);
    }
    bool floats = a.kind == HD__DOUBLE || b.kind == HD__DOUBLE;
    double x = hd__number_of(a), y = hd__number_of(b);
    int order = texts ? memcmp(a.s, b.s, (size_t)(a.n < b.n ? a.n : b.n)) : 0;
    bool less = order ? order < 0 : floats ? x < y : a.n < b.n;
    bool more = order ? order > 0 : floats ? x > y : a.n > b.n;
    bool same = !order && (floats ? x == y : a.n == b.n);
    return HD__TRUTH((*sign.s == '<' ? less : more) || (sign.n == 2 && same));
}

/* ---------------------------------------------------------------- nodes */

hd__value hd__eval_unary(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first);
    if (hd__is_text(n->value, "not")) {
        return HD__TRUTH(!hd__truth(v));
    }
    if (!hd__is_number(v)) {
        return hd__template_fail(r, HD_VALUE, "%.*s of %s", HD__CLIP(n->value.s, n->value.n),
                                 hd__kind_names[v.kind]);
    }
    bool minus = *n->value.s == '-';
    if (v.kind == HD__DOUBLE) {
        v.number = minus ? -v.number : v.number;
        return v;
    }
    return operator_wholes(r, minus ? '-' : '+', 0, v.n);
}

hd__value hd__eval_binary(hd__run *r, const hd__node *n)
{
    hd__value sign = n->value, a = hd__eval(r, n->first);
    bool or = hd__is_text(sign, "or");
    if (or || hd__is_text(sign, "and")) {
        return hd__truth(a) == or ? a : hd__eval(r, n->second);
    }
    hd__value b = hd__eval(r, n->second);
    if (r->failed) {
        return b;
    }
    if (hd__is_text(sign, "==") || hd__is_text(sign, "!=")) {
        return HD__TRUTH(hd__equal(r, a, b, 0) == (*sign.s == '='));
    }
    if (hd__is_text(sign, "in") || hd__is_text(sign, "not in")) {
        return HD__TRUTH(hd__contains(r, b, a) == (sign.n == 2));
    }
    if (*sign.s == '~') {
        a = hd__text_of(r, a);
        b = hd__text_of(r, b);
        return r->failed ? b : operator_joined(r, a, b);
    }
    return *sign.s == '<' || *sign.s == '>' ? operator_ordered(r, sign, a, b)
                                            : operator_sum(r, sign, a, b);
}
