/* golden_case.c - reads the case files of tests/golden/io: each line is a key, a space and the
 * key's text. */
#include <stdio.h>

#include "suites.h"

/* Appends the bytes that the hex digits give, `count` times. */
static void add_hex(char **bytes, size_t *n, const char *hex, size_t digits, size_t count)
{
    size_t length = digits / 2;
    char *grown = realloc(*bytes, *n + length * count + 1);
    ck_assert_ptr_nonnull(grown);
    *bytes = grown;
    for (size_t i = 0; i < length; i++) {
        char byte[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        grown[*n + i] = (char)strtoul(byte, NULL, 16);
    }
    for (size_t k = 1; k < count; k++) {
        memcpy(grown + *n + k * length, grown + *n, length);
    }
    *n += length * count;
    grown[*n] = '\0';
}

/* The bytes of a line: parts with a space between, each hex digits or hex digits*COUNT; "-" is no
 * byte. */
static char *parse_parts(char *text, size_t *n)
{
    char *bytes = NULL;
    *n = 0;
    add_hex(&bytes, n, "", 0, 0);
    for (char *part = strtok(text, " "); part; part = strtok(NULL, " ")) {
        size_t digits = strspn(part, "0123456789abcdef");
        size_t count = part[digits] == '*' ? strtoul(part + digits + 1, NULL, 10) : 1;
        add_hex(&bytes, n, part, digits, count);
    }
    return bytes;
}

/* "2,3" becomes "torch.Size([2, 3])"; "-" is a tensor without dims. */
static void parse_shape(const char *text, char *shape)
{
    shape += sprintf(shape, "torch.Size([");
    for (const char *c = text; *c && *c != '-'; c++) {
        *shape++ = *c;
        if (*c == ',') {
            *shape++ = ' ';
        }
    }
    strcpy(shape, "])");
}

static void parse_tensor(golden_case *c, char *text)
{
    ck_assert_int_lt(c->tensors, 8);
    golden_tensor *t = &c->tensor[c->tensors++];
    size_t n = strlen(text) + 1, length;
    char *name = malloc(n), *shape = malloc(n), *bytes = malloc(n);
    ck_assert_int_eq(sscanf(text, "%s %15s %s %s", name, t->dtype, shape, bytes), 4);
    parse_shape(shape, t->shape);
    t->name = parse_parts(name, &length);
    t->bytes = (unsigned char *)parse_parts(bytes, &t->n);
    free(name);
    free(shape);
    free(bytes);
}

static void finish(golden_case *c, void (*f)(const golden_case *c))
{
    f(c);
    free(c->bytes);
    for (int i = 0; i < c->tensors; i++) {
        free(c->tensor[i].name);
        free(c->tensor[i].bytes);
    }
    memset(c, 0, sizeof *c);
}

static void parse_line(golden_case *c, char *key, char *text)
{
    if (strcmp(key, "case") == 0) {
        snprintf(c->name, sizeof c->name, "%s", text);
    } else if (strcmp(key, "python") == 0) {
        c->python_loads = strcmp(text, "loads") == 0;
    } else if (strcmp(key, "tensor") == 0) {
        parse_tensor(c, text);
    } else {
        ck_assert_str_eq(key, "file");
        c->bytes = parse_parts(text, &c->n);
    }
}

int for_each_case(const char *file, void (*f)(const golden_case *c))
{
    char path[1000], *line = NULL;
    size_t room = 0;
    int n = 0;
    golden_case c = {.bytes = NULL};
    snprintf(path, sizeof path, "%s/io/%s", GOLDEN_DIR, file);
    FILE *in = fopen(path, "r");
    ck_assert_msg(in, "cannot open %s", path);
    while (getline(&line, &room, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        if (line[0] == '#') {
            continue;
        }
        ck_assert_ptr_nonnull(space);
        *space = '\0';
        if (strcmp(line, "case") == 0 && n++ > 0) {
            finish(&c, f);
        }
        parse_line(&c, line, space + 1);
    }
    ck_assert_int_gt(n, 0);
    finish(&c, f);
    free(line);
    fclose(in);
    return n;
}
