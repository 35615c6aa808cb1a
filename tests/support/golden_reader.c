/* golden_reader.c - reads the golden files.
 *
 * The whole file is read into memory, each line is split at its spaces in place, and names and
 * texts are copied. Numbers are parsed here, because strtod takes its decimal point from the
 * locale. */
#include "golden_reader.h"

#include "little_endian.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s)
{
    char *c = malloc(strlen(s) + 1);
    return c ? strcpy(c, s) : NULL;
}

/* grows an array of count elements by one; returns the new element, zeroed */
static void *push(void *array_slot, int *count, size_t size)
{
    void *old;
    memcpy(&old, array_slot, sizeof old);
    char *p = old;
    if ((*count & (*count - 1)) == 0) {
        p = realloc(old, (*count ? 2 * (size_t)*count : 1) * size);
        if (!p) {
            return NULL;
        }
        memcpy(array_slot, &p, sizeof p);
    }
    return memset(p + (size_t)(*count)++ * size, 0, size);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0x1.8p+1", "nan" or "inf", with or without a minus; exact, with at most 53 significant bits */
static int parse_float(const char *s, double *out)
{
    double sign = *s == '-' ? (s++, -1.0) : 1.0;
    if (!strcmp(s, "nan") || !strcmp(s, "inf")) {
        *out = *s == 'n' ? (double)NAN : sign * (double)INFINITY;
        return 1;
    }
    if (s[0] != '0' || s[1] != 'x' || hex_digit(s[2]) < 0) {
        return 0;
    }
    int64_t m = 0;
    int shift = 0, point = 0;
    for (s += 2; *s == '.' || hex_digit(*s) >= 0; s++) {
        if (*s == '.') {
            point = 1;
            continue;
        }
        m = m * 16 + hex_digit(*s);
        shift -= 4 * point;
    }
    if (*s != 'p') {
        return 0;
    }
    char *end;
    long e = strtol(s + 1, &end, 10);
    *out = sign * ldexp((double)m, (int)e + shift);
    return end != s + 1 && *end == '\0';
}

static int parse_value(golden_record *r, int64_t k, const char *s)
{
    if (r->type == GOLDEN_F32 || r->type == GOLDEN_F64) {
        return parse_float(s, &r->d[k]);
    }
    char *end;
    r->i[k] = strtoll(s, &end, 10);
    r->d[k] = (double)r->i[k];
    return end != s && *end == '\0';
}

/* "(2,6,3)", "()" */
static int parse_sizes(golden_record *r, const char *s)
{
    r->numel = 1;
    if (!strcmp(s, "()")) {
        return 1;
    }
    if (*s != '(') {
        return 0;
    }
    while (*s == '(' || *s == ',') {
        char *end;
        int64_t n = strtoll(s + 1, &end, 10);
        if (end == s + 1 || n < 0 || r->ndim == GOLDEN_MAX_DIMS) {
            return 0;
        }
        r->sizes[r->ndim++] = n;
        r->numel *= n;
        s = end;
    }
    return s[0] == ')' && s[1] == '\0';
}

/* cuts the next word off the line; NULL at its end */
static char *word(char **line)
{
    char *w = *line;
    if (!w || !*w) {
        return NULL;
    }
    char *space = strchr(w, ' ');
    *line = space ? space + 1 : NULL;
    if (space) {
        *space = '\0';
    }
    return w;
}

static int parse_text(golden_record *r, const char *s)
{
    char *t = r->text = copy(s ? s : "");
    if (!t) {
        return 0;
    }
    for (s = t; *s; s++) {
        char c = *s;
        if (c == '\\') {
            c = *++s == 'n' ? '\n' : *s;
            if (c != '\n' && c != '\\') {
                return 0;
            }
        }
        *t++ = c;
    }
    *t = '\0';
    return 1;
}

static int parse_numbers(golden_record *r, char *line)
{
    char *w = word(&line);
    if (!w || !parse_sizes(r, w)) {
        return 0;
    }
    size_t n = r->numel > 0 ? (size_t)r->numel : 1;
    r->d = calloc(n, sizeof *r->d);
    if (r->type == GOLDEN_I64 || r->type == GOLDEN_BOOL) {
        r->i = calloc(n, sizeof *r->i);
    }
    if (!r->d) {
        return 0;
    }
    for (int64_t k = 0; k < r->numel; k++) {
        w = word(&line);
        if (!w || !parse_value(r, k, w)) {
            return 0;
        }
    }
    return !line;
}

static int parse_type(golden_record *r, const char *name)
{
    static const char *const names[] = {"f32", "f64", "i64", "bool", "text"};
    for (int k = 0; name && k < 5; k++) {
        if (!strcmp(name, names[k])) {
            r->type = (golden_type)k;
            return 1;
        }
    }
    return 0;
}

static int parse_line(golden_file *f, char *line)
{
    char *name = word(&line), *type = word(&line);
    char *slash = name ? strchr(name, '/') : NULL;
    if (!slash) {
        return 0;
    }
    *slash = '\0';
    golden_case *c = f->count ? &f->cases[f->count - 1] : NULL;
    if (!c || strcmp(c->name, name)) {
        c = push(&f->cases, &f->count, sizeof *c);
        if (!c || !(c->name = copy(name))) {
            return 0;
        }
    }
    golden_record *r = push(&c->records, &c->count, sizeof *r);
    if (!r || !(r->field = copy(slash + 1)) || !parse_type(r, type)) {
        return 0;
    }
    return r->type == GOLDEN_TEXT ? parse_text(r, line) : parse_numbers(r, line);
}

static char *slurp(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    if (in && !fseek(in, 0, SEEK_END)) {
        long n = ftell(in);
        rewind(in);
        text = n >= 0 ? calloc((size_t)n + 1, 1) : NULL;
        if (text && fread(text, 1, (size_t)n, in) != (size_t)n) {
            free(text);
            text = NULL;
        }
    }
    if (in) {
        fclose(in);
    }
    return text;
}

static int parse_file(golden_file *f, char *text, const char *path)
{
    int number = 0;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        if (number++ < 2 && *line == '#') {
            snprintf(f->header[number - 1], sizeof f->header[0], "%s", line);
        } else if (!parse_line(f, line)) {
            fprintf(stderr, "%s:%d: malformed record\n", path, number);
            return 0;
        }
    }
    return 1;
}

golden_file *golden_read(const char *path)
{
    char *text = slurp(path);
    golden_file *f = calloc(1, sizeof *f);
    if (!text) {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    if (!text || !f || !parse_file(f, text, path)) {
        golden_free(f);
        f = NULL;
    }
    free(text);
    return f;
}

void golden_free(golden_file *f)
{
    for (int k = 0; f && k < f->count; k++) {
        golden_case *c = &f->cases[k];
        for (int j = 0; j < c->count; j++) {
            golden_record *r = &c->records[j];
            free(r->field);
            free(r->d);
            free(r->i);
            free(r->text);
        }
        free(c->name);
        free(c->records);
    }
    if (f) {
        free(f->cases);
    }
    free(f);
}

const golden_case *golden_find(const golden_file *f, const char *name)
{
    for (int k = 0; f && k < f->count; k++) {
        if (!strcmp(f->cases[k].name, name)) {
            return &f->cases[k];
        }
    }
    return NULL;
}

const golden_record *golden_get(const golden_case *c, const char *field, ...)
{
    char name[256];
    va_list args;
    va_start(args, field);
    vsnprintf(name, sizeof name, field, args);
    va_end(args);
    for (int k = 0; c && k < c->count; k++) {
        if (!strcmp(c->records[k].field, name)) {
            return &c->records[k];
        }
    }
    return NULL;
}

int64_t golden_int(const golden_case *c, const char *field, int64_t otherwise)
{
    const golden_record *r = golden_get(c, "%s", field);
    return r && r->i && r->numel == 1 ? r->i[0] : otherwise;
}

double golden_double(const golden_case *c, const char *field, double otherwise)
{
    const golden_record *r = golden_get(c, "%s", field);
    return r && r->d && r->numel == 1 ? r->d[0] : otherwise;
}

const char *golden_text(const golden_case *c, const char *field, const char *otherwise)
{
    const golden_record *r = golden_get(c, "%s", field);
    return r && r->text ? r->text : otherwise;
}

int64_t golden_fnv(const void *data, uint64_t bytes, int width)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u, turn = BIG_ENDIAN_MACHINE ? (uint64_t)width - 1 : 0;
    for (uint64_t k = 0; k < bytes; k++) { /* width is a power of two */
        h = (h ^ p[k ^ turn]) * 0x100000001b3u;
    }
    int64_t signed_h;
    memcpy(&signed_h, &h, sizeof h);
    return signed_h;
}
