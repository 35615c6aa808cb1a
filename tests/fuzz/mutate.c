/* mutate.c - mutators for safetensors and .npy files.
 *
 * heed itself takes a good safetensors file apart: tensors with names, types, sizes and bytes, and
 * texts. The mutator changes some of these and writes a new file with a matching header length,
 * offsets and data. One time in four it then breaks something on purpose. In a file that heed
 * refuses, it changes the text of the header and adapts the length. */
#include "mutate.h"

#include <inttypes.h>
#include <stdarg.h>

#include "fuzz.h"

enum { MOST_TENSORS = 64, MOST_TEXTS = 64, LONGEST = 4096, MOST_BYTES = 1 << 16 };

typedef struct tensor {
    char *name;
    const char *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    const uint8_t *bytes; /* of n; repeated where the new tensor has more */
    size_t n;
    int poke; /* -1, or the kind of value that one of its elements gets */
} tensor;

typedef struct text {
    char *key, *value;
} text;

typedef struct contents {
    tensor tensors[MOST_TENSORS];
    text texts[MOST_TEXTS];
    int n_tensors, n_texts;
} contents;

typedef struct out {
    uint8_t *p;
    size_t n, room;
    bool full;
} out;

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

static void seed_draws(unsigned seed)
{
    random_state = (seed + 1) * 0x9E3779B97F4A7C15u;
}

/* ---------------------------------------------------------------- writing */

static void add(out *o, const void *bytes, size_t n)
{
    if (n > o->room - o->n) {
        o->full = true;
    } else {
        memcpy(o->p + o->n, bytes, n);
        o->n += n;
    }
}

static void add_format(out *o, const char *format, ...)
{
    char s[128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s, sizeof s, format, args);
    va_end(args);
    add(o, s, (size_t)n);
}

static void add_quoted(out *o, const char *s)
{
    add(o, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            add(o, "\\", 1);
            add(o, s, 1);
        } else if ((unsigned char)*s < ' ') {
            add_format(o, "\\u%04x", *s);
        } else {
            add(o, s, 1);
        }
    }
    add(o, "\"", 1);
}

/* ---------------------------------------------------------------- what is changed */

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    {"F32", 4},  {"F64", 8}, {"I64", 8}, {"BOOL", 1}, {"F16", 2},
    {"BF16", 2}, {"U8", 1},  {"I8", 1},  {"U16", 2},  {"I16", 2},
    {"U32", 4},  {"I32", 4}, {"U64", 8}, {"C64", 8},  {"F8_E4M3", 1},
};

static size_t bytes_of(const tensor *t)
{
    size_t n = 1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        n = strcmp(types[i].name, t->type) == 0 ? types[i].bytes : n;
    }
    for (int i = 0; i < t->ndim; i++) {
        n = t->sizes[i] < 0 || t->sizes[i] > MOST_BYTES ? MOST_BYTES + 1 : n * (size_t)t->sizes[i];
        n = n > MOST_BYTES ? MOST_BYTES + 1 : n;
    }
    return n;
}

/* s with a change, in a block of its own; s is freed. */
static char *changed(char *s, const char *other)
{
    static const char *const pieces[] = {
        "int 0",
        "int -1",
        "int 9223372036854775807",
        "int 9223372036854775808",
        "int 624",
        "int 1",
        "double 7ff8000000000000",
        "double 7ff0000000000000",
        "double 3ff0000000000000",
        "double 8000000000000000",
        "double 0000000000000000",
        "double 3fb999999999999a",
        "string ",
        "string AdamW",
        "string bpe",
        "string chars",
        "string bytes",
        ".",
        "weight",
        "state",
        "param_groups.0.lr",
        "state.0.step",
        "\xC3\xA9",
        "\xED\xA0\x80",
    };
    char *to = calloc(1, LONGEST + 1), *digit = s + strcspn(s, "0123456789");
    fuzz_check(to, "memory ran out");
    size_t n = strlen(s);
    n = n > LONGEST ? LONGEST : n;
    memcpy(to, s, n);
    switch (draw(5)) {
    case 0: snprintf(to, LONGEST, "%s", pieces[draw(sizeof pieces / sizeof *pieces)]); break;
    case 1: snprintf(to, LONGEST, "%s", other); break;
    case 2:
        if (*digit && (size_t)(digit - s) < n) {
            to[digit - s] = (char)('0' + draw(10));
            break;
        }
        /* fall through */
    default: n = LLVMFuzzerMutate((uint8_t *)to, n, LONGEST); to[n] = '\0';
    }
    free(s);
    return to;
}

static int64_t new_size(int64_t old)
{
    static const int64_t some[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 624, -1, INT64_MAX, 1LL << 32};
    const uint64_t n = sizeof some / sizeof *some, way = draw(8);
    return way < 2    ? old + (old < INT64_MAX)
           : way < 4  ? old - (old > INT64_MIN)
           : way == 4 ? some[draw(n)]
                      : some[draw(n - 3)];
}

static void change_shape(tensor *t)
{
    const int at = t->ndim > 0 ? (int)draw((uint64_t)t->ndim) : 0;
    const uint64_t way = draw(4);
    if (way == 0 && t->ndim < HD_MAX_DIMS) {
        t->sizes[t->ndim++] = draw(2) ? 1 : new_size(2);
    } else if (way == 1 && t->ndim > 0) {
        t->ndim--;
    } else if (way == 2 && t->ndim > 1) {
        int64_t first = t->sizes[0];
        t->sizes[0] = t->sizes[at];
        t->sizes[at] = first;
    } else if (t->ndim > 0) {
        t->sizes[at] = new_size(t->sizes[at]);
    }
}

static void change_tensors(contents *c)
{
    const int i = (int)draw((uint64_t)c->n_tensors), j = (int)draw((uint64_t)c->n_tensors);
    tensor *t = &c->tensors[i], swap = *t;
    switch (draw(8)) {
    case 0: t->name = changed(t->name, c->tensors[j].name); break;
    case 1: t->type = types[draw(sizeof types / sizeof *types)].name; break;
    case 2: change_shape(t); break;
    case 3:
        free(t->name);
        *t = c->tensors[--c->n_tensors];
        break;
    case 4:
        if (c->n_tensors < MOST_TENSORS) {
            swap.name = changed(strdup(t->name), c->tensors[j].name);
            c->tensors[c->n_tensors++] = swap;
        }
        break;
    case 5:
        *t = c->tensors[j];
        c->tensors[j] = swap;
        break;
    default: t->poke = (int)draw(12);
    }
}

static void change_texts(contents *c)
{
    const int i = (int)draw((uint64_t)c->n_texts), j = (int)draw((uint64_t)c->n_texts);
    text *t = &c->texts[i];
    switch (draw(8)) {
    case 0: t->key = changed(t->key, c->texts[j].key); break;
    case 1:
        free(t->key), free(t->value);
        *t = c->texts[--c->n_texts];
        break;
    case 2:
        if (c->n_texts < MOST_TEXTS) {
            text twin = {changed(strdup(t->key), c->texts[j].key), strdup(t->value)};
            c->texts[c->n_texts++] = twin;
        }
        break;
    default: t->value = changed(t->value, c->texts[j].value);
    }
}

/* ---------------------------------------------------------------- taking apart */

/* False if heed refuses the file, or if it holds too much. */
static bool take_apart(contents *c, const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(3, data, size);
    hd_safetensors *f = hd_safetensors_open(path, NULL);
    hd_error_clear();
    if (!f) {
        return false;
    }
    const hd_dict *texts = hd_safetensors_metadata(f);
    size_t at = size;
    int64_t n = hd_safetensors_len(f), m = hd_dict_len(texts);
    bool ok = n <= MOST_TENSORS && m <= MOST_TEXTS;
    for (int64_t i = 0; ok && i < n; i++) {
        at -= (size_t)hd_safetensors_bytes(f, i);
    }
    for (int64_t i = 0; ok && i < n; i++) {
        tensor *t = &c->tensors[c->n_tensors++];
        *t = (tensor){
            strdup(hd_safetensors_name(f, i)),  "", hd_safetensors_ndim(f, i), {0}, data + at,
            (size_t)hd_safetensors_bytes(f, i), -1};
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            if (strcmp(types[k].name, hd_safetensors_type(f, i)) == 0) {
                t->type = types[k].name;
            }
        }
        for (int d = 0; d < t->ndim; d++) {
            t->sizes[d] = hd_safetensors_sizes(f, i)[d];
        }
        at += t->n;
    }
    for (int64_t i = 0; ok && i < m; i++) {
        const char *key = hd_dict_name(texts, i);
        c->texts[c->n_texts++] = (text){strdup(key), strdup(hd_dict_get_string(texts, key))};
    }
    hd_safetensors_close(f);
    return ok;
}

static void contents_free(contents *c)
{
    for (int i = 0; i < c->n_tensors; i++) {
        free(c->tensors[i].name);
    }
    for (int i = 0; i < c->n_texts; i++) {
        free(c->texts[i].key), free(c->texts[i].value);
    }
}

/* ---------------------------------------------------------------- putting together */

/* One element, at a random place, becomes a value that is a limit of its kind. */
static void poke(uint8_t *bytes, size_t n, int kind)
{
    static const uint64_t values[] = {
        0,
        ~0ull,
        0x8000000000000000,
        0x7fffffffffffffff,
        0x7ff8000000000000,
        0x7ff0000000000000,
        0x7fc000007fc00000,
        0x7f8000007f800000,
        624,
        1,
        0x8000000080000000,
        0x100000000,
    };
    const size_t at = n > 8 ? draw(n / 8) * 8 : 0;
    memcpy(bytes + at, &values[kind], n - at < 8 ? n - at : 8);
}

static void add_data(out *o, const tensor *t)
{
    const size_t begin = o->n, n = bytes_of(t);
    for (size_t left = n; left > 0 && !o->full;) {
        const size_t part = t->n == 0 || left < t->n ? (t->n ? left : 1) : t->n;
        add(o, t->n ? (const void *)t->bytes : "", part);
        left -= part;
    }
    if (t->poke >= 0 && n > 0 && !o->full) {
        poke(o->p + begin, n, t->poke);
    }
}

static void add_header(out *o, const contents *c)
{
    size_t at = 0;
    add(o, "{", 1);
    if (c->n_texts > 0) {
        add_format(o, "\"__metadata__\":");
        for (int i = 0; i < c->n_texts; i++) {
            add(o, i ? "," : "{", 1);
            add_quoted(o, c->texts[i].key);
            add(o, ":", 1);
            add_quoted(o, c->texts[i].value);
        }
        add(o, "}", 1);
    }
    for (int i = 0; i < c->n_tensors; i++) {
        const tensor *t = &c->tensors[i];
        add(o, ",", i > 0 || c->n_texts > 0);
        add_quoted(o, t->name);
        add_format(o, ":{\"dtype\":\"%s\",\"shape\":[", t->type);
        for (int d = 0; d < t->ndim; d++) {
            add_format(o, d ? ",%" PRId64 : "%" PRId64, t->sizes[d]);
        }
        add_format(o, "],\"data_offsets\":[%zu,%zu]}", at, at + bytes_of(t));
        at += bytes_of(t);
    }
    add(o, "}", 1);
}

static void put_length(uint8_t *p, size_t n)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)((uint64_t)n >> 8 * i);
    }
}

static size_t header_length(const uint8_t *data, size_t size)
{
    uint64_t n = 0;
    for (int i = 0; i < 8 && size >= 8; i++) {
        n |= (uint64_t)data[i] << 8 * i;
    }
    return size < 8 ? 0 : n < size - 8 ? (size_t)n : size - 8;
}

/* Changes n bytes at `at` by libFuzzer's own mutator. What follows them moves. */
static size_t mutate_inside(uint8_t *data, size_t size, size_t max, size_t at, size_t *n)
{
    const size_t rest = size - at - *n, room = max - at - rest;
    uint8_t *after = malloc(rest + 1);
    fuzz_check(after, "memory ran out");
    memcpy(after, data + at + *n, rest);
    *n = room ? LLVMFuzzerMutate(data + at, *n, room) : 0;
    memcpy(data + at + *n, after, rest);
    free(after);
    return at + *n + rest;
}

static size_t mutate_header(uint8_t *data, size_t size, size_t max)
{
    if (size < 8) {
        return LLVMFuzzerMutate(data, size, max);
    }
    size_t n = header_length(data, size);
    size = mutate_inside(data, size, max, 8, &n);
    put_length(data, n);
    return size;
}

/* The new size; 0 if it cannot be done. */
static size_t mutate_contents(uint8_t *data, size_t size, size_t max)
{
    contents c = {.n_tensors = 0};
    out o = {malloc(max + 1), 8, max, max < 8};
    fuzz_check(o.p, "memory ran out");
    if (take_apart(&c, data, size)) {
        for (uint64_t changes = 1 + draw(3); changes > 0; changes--) {
            const bool of_text = c.n_texts > 0 && (c.n_tensors == 0 || draw(2));
            if (of_text) {
                change_texts(&c);
            } else if (c.n_tensors > 0) {
                change_tensors(&c);
            }
        }
        add_header(&o, &c);
        put_length(o.p, o.n - 8);
        for (int i = 0; i < c.n_tensors; i++) {
            add_data(&o, &c.tensors[i]);
        }
    } else {
        o.full = true;
    }
    const size_t n = o.full ? 0 : o.n;
    memcpy(data, o.p, n);
    contents_free(&c);
    free(o.p);
    return n;
}

size_t mutate_safetensors(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    seed_draws(seed);
    const uint64_t way = draw(8);
    if (way == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    size_t n = way > 2 ? mutate_contents(data, size, max) : 0;
    if (n == 0) {
        return mutate_header(data, size, max);
    }
    return draw(4) ? n : draw(2) ? mutate_header(data, n, max) : n - draw(n < 9 ? n : 9);
}

/* ---------------------------------------------------------------- .npy */

/* A header of random fields, and data that fit it: what follows the old header, repeated. */
static size_t new_array(uint8_t *data, size_t size, size_t max, size_t begin)
{
    static const char *const descr[] = {"f4", "f8", "i8", "b1", "f2", "u1", "i1", "u2",
                                        "i2", "u4", "i4", "u8", "c8", "O",  "S3"};
    const char *type = descr[draw(sizeof descr / sizeof *descr)];
    const char order = "<>|="[draw(4)];
    const int ndim = (int)draw(5), version = (int)draw(4);
    const size_t head = version > 1 ? 12 : 10;
    size_t bytes = (size_t)atoi(type + 1);
    char shape[128] = "";
    out o = {malloc(max + 1), head, max, max < head};
    fuzz_check(o.p, "memory ran out");
    for (int i = 0; i < ndim; i++) {
        const size_t n = (size_t)draw(i < 2 ? 5 : 3) + (draw(8) > 0);
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%zu,%s", n,
                 i + 1 < ndim ? " " : "");
        bytes *= n;
    }
    add_format(&o, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s), }", order, type,
               draw(2) ? "True" : "False", shape);
    for (size_t pad = (64 - (o.n + 1) % 64) % 64; pad > 0; pad--) {
        add(&o, " ", 1);
    }
    add(&o, "\n", 1);
    const size_t n = o.n - head;
    for (size_t i = 0; i < bytes && !o.full; i++) {
        add(&o, size > begin ? &data[begin + i % (size - begin)] : (const uint8_t *)"", 1);
    }
    const size_t made = o.full ? 0 : o.n;
    if (made) {
        memcpy(o.p, "\x93NUMPY", 6);
        o.p[6] = (uint8_t)version, o.p[7] = 0;
        for (size_t i = 8; i < head; i++) {
            o.p[i] = (uint8_t)(n >> 8 * (i - 8));
        }
        memcpy(data, o.p, made);
    }
    free(o.p);
    return made;
}

size_t mutate_npy(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    seed_draws(seed);
    const size_t head = size > 6 && data[6] > 1 ? 12 : 10, way = draw(4);
    if (size < head || way == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    size_t n = data[8] | (size_t)data[9] << 8;
    n = n < size - head ? n : size - head;
    if (way == 1) {
        const size_t made = new_array(data, size, max, head + n);
        return made ? made : size;
    }
    if (way == 2) { /* the data */
        size_t rest = size - head - n;
        return mutate_inside(data, size, max, head + n, &rest);
    }
    size = mutate_inside(data, size, max, head, &n);
    data[8] = (uint8_t)n, data[9] = (uint8_t)(n >> 8);
    return size;
}
