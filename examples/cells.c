/* cells.c - the command line of the notebooks: run all cells, run one cell, or list them. */
#include "cells.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

typedef struct {
    const cell *cells;
    int n;
    notebook_numbers *numbers;
    const cell *only; /* --cell: the only cell that prints; NULL: all cells print */
    bool list;
} notebook;

static bool silent;

static const char usage_text[] =
    "usage: %s [--list | --cell N] [--stream mcg31|native] [--seed N] [--d-out N]\n"
    "       [--dropout P] [--embeddings LIST]\n"
    "       %s --help | --version\n"
    "\n"
    "Runs the cells of the notebook and prints the output of each under its heading, byte for "
    "byte\n"
    "as PyTorch prints it.\n"
    "\n"
    "  --list         prints the number and a line of each cell\n"
    "  --cell N       runs the cells up to N and prints only what cell N prints\n"
    "  --stream NAME  chooses the random numbers of dropout. mcg31, which is the default, draws "
    "as\n"
    "                 the notebook's PyTorch 2.5.1 on x86-64 does, and native as PyTorch 2.7 and\n"
    "                 later do.\n"
    "  --help         prints this text\n"
    "  --version      prints the version of heed\n"
    "\n"
    "These change numbers of the notebook, and so what its cells print:\n"
    "\n"
    "  --seed N            the seed in the place of 123, from 0 to 4294967295\n"
    "  --d-out N           the numbers of a query, a key and a value, from 1 to 16\n"
    "  --dropout P         the rate of the cell that drops weights, from 0 to 1\n"
    "  --embeddings LIST   the six tokens: 18 numbers from 0.01 to 1, with commas between\n"
    "                      them\n"
    "\n"
    "The exit status is 0 if the cells ran, 1 if one failed, and 2 if the arguments are wrong.\n";

/* Returns the name of the file at the end of a program's path. */
static const char *base_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    return slash ? slash + 1 : program;
}

void print(const char *format, ...)
{
    if (silent) {
        return;
    }
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

void show(const hd_tensor *x)
{
    print("%s", hd_repr(x));
}

static const cell *find_cell(const notebook *nb, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    for (int i = 0; i < nb->n && *text != '\0' && *end == '\0'; i++) {
        if (nb->cells[i].number == number) {
            return &nb->cells[i];
        }
    }
    return NULL;
}

/* The readers of the options' values: each sets its part of nb, or returns false. */

static bool read_cell(notebook *nb, const char *text)
{
    nb->only = find_cell(nb, text);
    return nb->only != NULL;
}

static bool read_stream(notebook *nb, const char *text)
{
    (void)nb;
    if (strcmp(text, "native") == 0) {
        return hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE);
    }
    return strcmp(text, "mcg31") == 0;
}

static bool read_whole(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    *value = strtoll(text, &end, 10);
    return end > text && *end == '\0' && *value >= least && *value <= most;
}

static bool read_seed(notebook *nb, const char *text)
{
    return read_whole(text, 0, UINT32_MAX, &nb->numbers->seed);
}

static bool read_d_out(notebook *nb, const char *text)
{
    return read_whole(text, 1, 16, &nb->numbers->d_out);
}

static bool read_dropout(notebook *nb, const char *text)
{
    char *end;
    double p = nb->numbers->dropout = strtod(text, &end);
    return end > text && *end == '\0' && p >= 0 && p <= 1;
}

static bool read_embeddings(notebook *nb, const char *text)
{
    float *x = nb->numbers->embeddings[0];
    for (int i = 0; i < 18; i++) {
        char *end;
        x[i] = strtof(text, &end);
        if (end == text || *end != (i < 17 ? ',' : '\0') || !(x[i] >= 0.01f && x[i] <= 1)) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static const struct {
    const char *name;
    bool (*read)(notebook *nb, const char *text);
    const char *expected; /* ends the message about a wrong value */
} options[] = {
    {"--cell", read_cell, "a cell of --list"},
    {"--stream", read_stream, "mcg31 or native"},
    {"--seed", read_seed, "a whole number from 0 to 4294967295"},
    {"--d-out", read_d_out, "a whole number from 1 to 16"},
    {"--dropout", read_dropout, "a number from 0 to 1"},
    {"--embeddings", read_embeddings, "18 numbers from 0.01 to 1 with commas between them"},
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Reads the arguments into nb. For a wrong argument it prints a message and returns false. */
static bool read_arguments(notebook *nb, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            nb->list = true;
            continue;
        }
        int k = 0;
        while (k < OPTIONS && strcmp(argv[i], options[k].name) != 0) {
            k++;
        }
        if (k == OPTIONS) {
            fprintf(stderr, "%s: unknown option '%s' (see --help)\n", argv[0], argv[i]);
            return false;
        }
        i++;
        if (i == argc) {
            fprintf(stderr, "%s: %s without a value (see --help)\n", argv[0], options[k].name);
            return false;
        }
        if (!options[k].read(nb, argv[i])) {
            fprintf(stderr, "%s: %s %s: expected %s (see --help)\n", argv[0], options[k].name,
                    argv[i], options[k].expected);
            return false;
        }
    }
    return true;
}

static void list_cells(const notebook *nb)
{
    for (int i = 0; i < nb->n; i++) {
        print("%2d  %s", nb->cells[i].number, nb->cells[i].title);
    }
}

static bool run_cells(const notebook *nb)
{
    for (int i = 0; i < nb->n; i++) {
        const cell *c = &nb->cells[i];
        silent = nb->only && c != nb->only;
        if (!nb->only) {
            print("In [%s]:", c->heading);
        }
        c->run();
        if (hd_error_code() != HD_OK) {
            fprintf(stderr, "cell %d: %s\n", c->number, hd_error_message());
            return false;
        }
        if (c == nb->only) {
            return true;
        }
        if (i + 1 < nb->n) {
            print("%s", "");
        }
    }
    return true;
}

int run_notebook(int argc, char **argv, const cell *cells, int n, notebook_numbers *numbers,
                 void (*finish)(void))
{
    notebook nb = {.cells = cells, .n = n, .numbers = numbers};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf(usage_text, base_name(argv[0]), base_name(argv[0]));
        return stdout_written(argv[0]) ? 0 : 1;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("%s %s\n", base_name(argv[0]), hd_version());
        return stdout_written(argv[0]) ? 0 : 1;
    }
    if (!read_arguments(&nb, argc, argv)) {
        return 2;
    }
    bool ok = true;
    if (nb.list) {
        list_cells(&nb);
    } else {
        ok = run_cells(&nb);
    }
    finish();
    return ok && stdout_written(argv[0]) ? 0 : 1;
}
