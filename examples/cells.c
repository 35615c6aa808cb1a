/* cells.c - the command line of the notebooks: run all cells, run one cell, or list them. */
#include "cells.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

typedef struct {
    const cell *cells;
    int n;
    const cell *only; /* --cell: the only cell that prints; NULL: all cells print */
    bool list;
} notebook;

static bool silent;

static const char usage_text[] =
    "usage: %s [--list | --cell N] [--stream mcg31|native]\n"
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

static bool choose_stream(const char *name)
{
    if (strcmp(name, "native") == 0) {
        return hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE);
    }
    return strcmp(name, "mcg31") == 0;
}

/* Reads the arguments into nb. For an unknown argument it prints a message and returns false. */
static bool read_arguments(notebook *nb, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool takes_value = strcmp(name, "--cell") == 0 || strcmp(name, "--stream") == 0;
        if (strcmp(name, "--list") == 0) {
            nb->list = true;
        } else if (!takes_value) {
            fprintf(stderr, "%s: unknown option '%s' (see --help)\n", argv[0], name);
            return false;
        } else if (!value) {
            fprintf(stderr, "%s: %s without a value (see --help)\n", argv[0], name);
            return false;
        } else if (strcmp(name, "--cell") == 0 && (nb->only = find_cell(nb, value)) == NULL) {
            fprintf(stderr, "%s: there is no cell '%s' (see --list)\n", argv[0], value);
            return false;
        } else if (strcmp(name, "--stream") == 0 && !choose_stream(value)) {
            fprintf(stderr, "%s: --stream %s: expected mcg31 or native (see --help)\n", argv[0],
                    value);
            return false;
        }
        i += takes_value;
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

int run_notebook(int argc, char **argv, const cell *cells, int n, void (*finish)(void))
{
    notebook nb = {.cells = cells, .n = n};
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
    if (finish) {
        finish();
    }
    return ok && stdout_written(argv[0]) ? 0 : 1;
}
