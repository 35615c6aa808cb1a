/* table.c - checks the table of fields, and reads the bounds, choices and value of a field. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "config/config_internal.h"

static const double most_exact = 9007199254740991.0; /* 2^53 - 1; larger integers may round */

/* ---------------------------------------------------------------- bounds */

/* For a bool, the bounds are 0 and 1, and the min and max of its field are ignored. */
double hd__config_min(const hd_config_field *f)
{
    double least = f->room == sizeof(int) ? INT_MIN : -most_exact;
    return f->type == HD_CONFIG_BOOL ? 0
                                     : fmax(f->min, f->type == HD_CONFIG_INT ? least : -INFINITY);
}

double hd__config_max(const hd_config_field *f)
{
    double most = f->room == sizeof(int) ? INT_MAX : most_exact;
    return f->type == HD_CONFIG_BOOL ? 1 : fmin(f->max, f->type == HD_CONFIG_INT ? most : INFINITY);
}

/* ---------------------------------------------------------------- choices, paths */

const char *hd__config_choice_at(const hd_config_field *f, int64_t i, size_t *n)
{
    const char *at = f->choices;
    for (; at && i > 0; i--) {
        at = strchr(at, '|');
        at = at ? at + 1 : NULL;
    }
    *n = at ? strcspn(at, "|") : 0;
    return at;
}

int hd__config_choice(const hd_config_field *f, const char *text)
{
    size_t n;
    const char *at;
    for (int i = 0; (at = hd__config_choice_at(f, i, &n)); i++) {
        if (strlen(text) == n && memcmp(text, at, n) == 0) {
            return i;
        }
    }
    return -1;
}

size_t hd__config_prefix(const char *path, int i)
{
    size_t n = strcspn(path, ".");
    for (; i > 0 && path[n]; i--) {
        n += 1 + strcspn(path + n + 1, ".");
    }
    return i > 0 ? 0 : n;
}

/* ---------------------------------------------------------------- values */

double hd__config_get(const hd_config_field *f, const void *config)
{
    union {
        int small;
        int64_t large;
        double d;
        bool b;
    } v;
    memcpy(&v, (const char *)config + f->offset, f->room);
    return f->type == HD_CONFIG_DOUBLE ? v.d
           : f->type == HD_CONFIG_BOOL ? v.b
           : f->room == sizeof v.small ? v.small
                                       : (double)v.large;
}

void hd__config_put(const hd_config_field *f, void *config, double v)
{
    char *at = (char *)config + f->offset;
    if (f->type == HD_CONFIG_DOUBLE) {
        memcpy(at, &v, sizeof v);
    } else if (f->type == HD_CONFIG_BOOL) {
        memcpy(at, &(bool){v != 0}, sizeof(bool));
    } else if (f->room == sizeof(int)) {
        memcpy(at, &(int){(int)v}, sizeof(int));
    } else {
        memcpy(at, &(int64_t){(int64_t)v}, sizeof(int64_t));
    }
}

static const char *expected_number(const hd_config_field *f, char out[HD__EXPECTED])
{
    const char *what = f->type == HD_CONFIG_INT ? "an integer" : "a number";
    const char *min = HD__SHORT(hd__config_min(f)), *max = HD__SHORT(hd__config_max(f));
    bool low = !isinf(hd__config_min(f)), high = !isinf(hd__config_max(f));
    const char *from = !low ? "" : high ? " from " : ", at least ";
    const char *to = !high ? "" : low ? " to " : ", at most ";
    snprintf(out, HD__EXPECTED, "%s%s%s%s%s", what, from, low ? min : "", to, high ? max : "");
    return out;
}

static const char *expected_choice(const hd_config_field *f, char out[HD__EXPECTED])
{
    size_t n, len = 0, next;
    const char *at;
    for (int64_t i = 0; (at = hd__config_choice_at(f, i, &n)) && len + n + 8 < HD__EXPECTED; i++) {
        const char *last = hd__config_choice_at(f, i + 1, &next) ? ", " : " or ";
        len += (size_t)snprintf(out + len, HD__EXPECTED - len, "%s\"%.*s\"", i ? last : "", (int)n,
                                at);
    }
    return out;
}

const char *hd__config_expected(const hd_config_field *f, char out[HD__EXPECTED])
{
    switch (f->type) {
    case HD_CONFIG_BOOL: snprintf(out, HD__EXPECTED, "true or false"); break;
    case HD_CONFIG_STRING:
        snprintf(out, HD__EXPECTED, "a string of at most %zu bytes", f->room - 1);
        break;
    case HD_CONFIG_ENUM: return expected_choice(f, out);
    default: return expected_number(f, out);
    }
    return out;
}

/* ---------------------------------------------------------------- checks of the table */

static bool room_ok(const hd_config_field *f)
{
    switch (f->type) {
    case HD_CONFIG_INT: return f->room == sizeof(int) || f->room == sizeof(int64_t);
    case HD_CONFIG_DOUBLE: return f->room == sizeof(double);
    case HD_CONFIG_BOOL: return f->room == sizeof(bool);
    case HD_CONFIG_STRING: return f->room > 0;
    case HD_CONFIG_ENUM: return f->room == sizeof(int);
    default: return false;
    }
}

static bool default_ok(const hd_config_field *f)
{
    if (f->type == HD_CONFIG_STRING) {
        return f->text && strlen(f->text) < f->room;
    }
    if (f->type == HD_CONFIG_ENUM) {
        return f->text && f->choices && hd__config_choice(f, f->text) >= 0;
    }
    bool whole = f->type == HD_CONFIG_DOUBLE || f->number == floor(f->number);
    return whole && f->number >= hd__config_min(f) && f->number <= hd__config_max(f);
}

/* True if the first n bytes of the paths a and b are the same, and a name ends after them in
 * both. */
static bool shares(const char *a, const char *b, size_t n)
{
    return strncmp(a, b, n) == 0 && (!a[n] || a[n] == '.') && (!b[n] || b[n] == '.');
}

/* Returns words for a message that say what is wrong with the path of field i, or NULL if the path
 * is right. The path must not be that of an earlier field or object, and must not lead through an
 * earlier field. The fields of one object must stand together. */
static const char *path_fault(const hd_config_table *t, int64_t i)
{
    const char *path = t->fields[i].path;
    if (!path || !*path || *path == '.' || strstr(path, "..") || path[strlen(path) - 1] == '.') {
        return "expected names with dots between them";
    }
    size_t n;
    for (int depth = 0; (n = hd__config_prefix(path, depth)); depth++) {
        for (int64_t k = 0; k < i; k++) {
            const char *before = t->fields[k].path;
            if (shares(path, before, n) && (!path[n] || !before[n])) {
                return "an earlier field has the same path, or one of the two paths begins with "
                       "the other";
            }
            if (shares(path, before, n) && !shares(path, t->fields[i - 1].path, n)) {
                return "it is apart from the other fields of its object. Put them together";
            }
        }
    }
    return NULL;
}

static const char *field_fault(const hd_config_table *t, int64_t i)
{
    const hd_config_field *f = &t->fields[i];
    const char *fault = path_fault(t, i);
    if (fault) {
        return fault;
    }
    if (!room_ok(f) || f->offset > t->config_size || f->room > t->config_size - f->offset) {
        return "the size of the struct's field does not fit the type, or it is outside the struct";
    }
    return default_ok(f) ? NULL : "its default is not allowed";
}

bool hd__config_table_ok(const hd_config_table *t)
{
    if (!HD__SIBLING_OK()) {
        return false;
    }
    if (!t || (!t->fields && t->n > 0)) {
        return hd_fail(HD_NULL_ARG, "%s is NULL", t ? "t->fields" : "t");
    }
    if (!HD__SIZE_OK(t, "HD_CONFIG_TABLE")) {
        return false;
    }
    if (t->n < 1) {
        return hd_fail(HD_VALUE, "t->n %lld: expected 1 or more fields", (long long)t->n);
    }
    for (int64_t i = 0; i < t->n; i++) {
        const char *fault = field_fault(t, i);
        if (fault) {
            const char *path = t->fields[i].path;
            return hd_fail(HD_VALUE, "the table's field %lld, '%s': %s", (long long)i,
                           HD__CONFIG_SHOWN(path ? path : ""), fault);
        }
    }
    return true;
}

bool hd_config_defaults(const hd_config_table *t, void *config)
{
    HD__CALL("hd_config_defaults");
    if (!hd__config_table_ok(t) || !hd__arg_given("config", config)) {
        return false;
    }
    for (int64_t i = 0; i < t->n; i++) {
        const hd_config_field *f = &t->fields[i];
        if (f->type == HD_CONFIG_STRING) {
            memcpy((char *)config + f->offset, f->text, strlen(f->text) + 1);
        } else {
            bool choice = f->type == HD_CONFIG_ENUM;
            hd__config_put(f, config, choice ? hd__config_choice(f, f->text) : f->number);
        }
    }
    return true;
}
