/* main.c - heed-bench: measures the time of heed's work and prints it as JSON lines.
 *
 * Each row has a process of its own, which is forked before any call of heed. So earlier rows do
 * not affect the memory of a row. */
#include "bench.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: heed-bench [OPTIONS] [GLOB ...]\n"
    "Measures the rows whose names match a GLOB; without one, all rows except growth/*.\n"
    "Defaults are in brackets.\n"
    "  --list          prints the rows and measures nothing\n"
    "  --model FOLDER  measures rows hf/*, too: tools/models/smollm2 makes the folder\n"
    "  --threads N     runs each row on N threads (2)\n"
    "  --rounds N      takes the median of N turns, or of N / 2 if a run takes over 1 s (20)\n"
    "  --worker        measures a turn of one row for each line on stdin, for compare.py\n"
    "  --calls N       runs one row N times and does nothing else, for callgrind and perf\n"
    "  --first         computes a first result and stops\n";

typedef struct options {
    bool list, worker, first;
    int threads, rounds, calls;
    int globs;
    char **glob;
} options;

/* ---------------------------------------------------------------- command line */

static bool number(const char *text, int *n)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text || value < 1 || value > 1000000000) {
        return false;
    }
    *n = (int)value;
    return true;
}

/* Reads the option at argv[0]. Returns its number of words; 0: it is unknown or has a bad value. */
static int take(char **argv, options *o)
{
    const struct {
        const char *name;
        bool *flag;
        int *number;
        const char **text;
    } known[] = {
        {"--list", &o->list, NULL, NULL},      {"--worker", &o->worker, NULL, NULL},
        {"--first", &o->first, NULL, NULL},    {"--threads", NULL, &o->threads, NULL},
        {"--rounds", NULL, &o->rounds, NULL},  {"--calls", NULL, &o->calls, NULL},
        {"--model", NULL, NULL, &bench_model},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(argv[0], known[i].name) != 0) {
            continue;
        }
        if (known[i].flag) {
            *known[i].flag = true;
        } else if (known[i].text && argv[1]) {
            *known[i].text = argv[1];
        } else if (!argv[1] || !known[i].number || !number(argv[1], known[i].number)) {
            return 0;
        }
        return known[i].flag ? 1 : 2;
    }
    return 0;
}

static bool parse(char **argv, options *o)
{
    *o = (options){.threads = 2, .rounds = 20};
    argv++;
    while (*argv && strncmp(*argv, "--", 2) == 0) {
        int words = take(argv, o);
        if (words == 0) {
            return false;
        }
        argv += words;
    }
    o->glob = argv;
    while (*argv++) {
        o->globs++;
    }
    return true;
}

/* Rows hf/ need a model. */
static bool selected(const options *o, const bench_row *row)
{
    if (!bench_model && strncmp(row->name, "hf/", 3) == 0) {
        return false;
    }
    for (int i = 0; i < o->globs; i++) {
        if (fnmatch(o->glob[i], row->name, 0) == 0) {
            return true;
        }
    }
    return o->globs == 0 && strncmp(row->name, "growth/", 7) != 0;
}

/* The row that the globs select; NULL if they select none or several. */
static const bench_row *only(const options *o)
{
    const bench_row *found = NULL;
    for (size_t i = 0; i < bench_row_count; i++) {
        if (selected(o, &bench_rows[i])) {
            if (found) {
                return NULL;
            }
            found = &bench_rows[i];
        }
    }
    return found;
}

/* ---------------------------------------------------------------- running */

static int end(bool ok)
{
    if (!ok) {
        fprintf(stderr, "heed-bench: %s\n", hd_error_message());
    }
    return ok ? 0 : 1;
}

static int first_result(void)
{
    HD_SCOPE;
    hd_tensor *x = hd_rand(HD_FLOAT32, 6, 3), *w = hd_rand(HD_FLOAT32, 3, 2);
    printf("%f\n", hd_item(hd_sum(hd_matmul(x, w))));
    return end(hd_error_code() == HD_OK);
}

static int bare_calls(const bench_row *row, const options *o)
{
    bench_work w = {0};
    if (!hd_set_num_threads(o->threads) || !hd_manual_seed(123)) {
        return end(false);
    }
    {
        HD_SCOPE;
        if (!row->kind->set_up(&w, row->args)) {
            return end(false);
        }
    }
    for (int i = 0; i < o->calls; i++) {
        HD_SCOPE;
        row->kind->run(&w);
    }
    return end(hd_error_code() == HD_OK);
}

static int one_row(const options *o)
{
    const bench_row *row = only(o);
    if (!row) {
        fprintf(stderr, "heed-bench: expected the name of exactly one row; see --list\n");
        return 2;
    }
    return o->worker ? end(bench_serve(row, o->threads)) : bare_calls(row, o);
}

static bool in_child(const bench_row *row, const options *o)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        exit(end(bench_report(row, o->threads, o->rounds)));
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    options o;
    bool ok = true;
    (void)argc;
    if (!parse(argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.first) {
        return first_result();
    }
    if (o.worker || o.calls > 0) {
        return one_row(&o);
    }
    int found = 0;
    for (size_t i = 0; i < bench_row_count; i++) {
        if (!selected(&o, &bench_rows[i])) {
            continue;
        }
        found++;
        if (o.list) {
            bench_print_row(&bench_rows[i]);
        } else {
            ok = in_child(&bench_rows[i], &o) && ok;
        }
    }
    if (found == 0) {
        fprintf(stderr, "heed-bench: no row is called %s; heed-bench --list prints their names\n",
                o.glob[0]);
    }
    return ok && found > 0 ? 0 : 1;
}
