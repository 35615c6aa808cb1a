/* agree.c - meetings of all ranks, and the small things on which they agree. */
#include "mpi/mpi_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- meetings */

const char hd__in_backward[] = "hd_backward";

/* What a rank brings to a meeting: the same bytes on all machines of a cluster of one kind. */
typedef struct word {
    char call[28];     /* its hd__mpi_call */
    int32_t code;      /* HD_OK, or that of its error */
    uint64_t argument; /* a number made from the argument's text */
} word;

enum { TEXT = 256 };

static word word_of(int32_t code, const char *argument)
{
    word w = {.code = code, .argument = hd__hash(argument, argument ? strlen(argument) : 0)};
    snprintf(w.call, sizeof w.call, "%s", hd__mpi_call);
    return w;
}

/* The first rank whose word gives reason to fail; -1: there is none. It is one that has failed, or
 * else one that differs from rank 0, or else from this one. */
static int find_trouble(const word *words)
{
    int differs = -1;
    for (int r = hd__mpi.size - 1; r >= 0; r--) {
        bool same =
            strcmp(words[r].call, words[0].call) == 0 && words[r].argument == words[0].argument;
        differs = same ? differs : r;
    }
    for (int r = hd__mpi.size - 1; r >= 0; r--) {
        differs = words[r].code != HD_OK ? r : differs;
    }
    return differs;
}

/* Sets the error of a meeting that went wrong because of rank r. texts: TEXT bytes of each rank. */
static void tell(const word *words, const char *texts, int r)
{
    const char *text = texts + (size_t)r * TEXT;
    const char *colon = text[0] != '\0' ? ": " : "";
    bool elsewhere = strcmp(words[r].call, hd__mpi_call) != 0;
    int other = elsewhere ? r : 0;
    if (words[r].code != HD_OK && !elsewhere) {
        hd__mpi_fail((hd_code)words[r].code, "rank %d%s%s", r, colon, text);
    } else if (strcmp(words[other].call, hd__mpi_call) != 0) {
        text = texts + (size_t)other * TEXT;
        hd__mpi_fail(HD_STATE, "rank %d is in %s: %s", other, words[other].call,
                     text[0] != '\0' ? text : "expected the same collective calls on all ranks");
    } else {
        hd__mpi_fail(HD_VALUE, "%s on rank 0, and %s on rank %d: expected the same", texts, text,
                     r);
    }
}

/* All ranks know that the meeting went wrong. They tell each other why. */
static bool exchange_reasons(const word *words, const char *argument, char *texts)
{
    char mine[TEXT] = "";
    bool failed = words[hd__mpi.rank].code != HD_OK || hd_error_code() != HD_OK;
    snprintf(mine, sizeof mine, "%s", failed ? hd_error_message() : argument ? argument : "");
    for (int r = 0; r < hd__mpi.size; r++) {
        hd__mpi.apart |= strcmp(words[r].call, words[0].call) != 0;
    }
    return hd__mpi_ok(MPI_Allgather(mine, TEXT, MPI_CHAR, texts, TEXT, MPI_CHAR, hd__mpi.control));
}

/* The memory of a meeting: a word and a text of each rank. It is there before memory runs out. */
static word *words;
static char *texts;

bool hd__meetings_begin(void)
{
    size_t n = (size_t)hd__mpi.size;
    words = hd_alloc(n * (sizeof *words + TEXT));
    texts = words ? (char *)(words + n) : NULL;
    return words;
}

void hd__meetings_end(void)
{
    hd_free(words);
    words = NULL;
}

static bool exchange_words(const word *mine)
{
    return hd__mpi_ok(MPI_Allgather(mine, sizeof *mine, MPI_BYTE, words, sizeof *mine, MPI_BYTE,
                                    hd__mpi.control));
}

bool hd__meet(const char *argument, bool ok)
{
    if (!hd__others()) {
        return ok;
    }
    if (hd__mpi.apart) {
        return hd__mpi_fail(HD_STATE,
                            "the ranks have parted in an earlier call: no collective call is "
                            "possible any more");
    }
    if (hd__mpi_call != hd__in_backward && hd__in_round()) {
        return false;
    }
    hd_code code = hd_error_code();
    word mine = word_of(ok ? HD_OK : code != HD_OK ? (int32_t)code : HD_USER, argument);
    if (!exchange_words(&mine)) {
        return false;
    }
    int r = find_trouble(words);
    if (r >= 0 && exchange_reasons(words, argument, texts)) {
        tell(words, texts, r);
    }
    return r < 0;
}

void hd__meet_to_end(void)
{
    word mine = word_of(HD_OK, NULL);
    if (hd__others() && !hd__mpi.apart && exchange_words(&mine) && find_trouble(words) >= 0) {
        hd__mpi.apart |= !exchange_reasons(words, NULL, texts);
    }
}

/* ---------------------------------------------------------------- what programs agree on */

bool hd_mpi_all_ok(const char *what, bool ok)
{
    hd__mpi_call = "hd_mpi_all_ok";
    if (!hd__given_to(hd__mpi_call, "what", what)) {
        ok = false;
    } else if (!ok && hd_error_code() == HD_OK) {
        hd__mpi_fail(HD_USER, "%s has failed", what);
    }
    return hd__meet(what, ok);
}

enum { MOST = 72 };

/* The number of the first line that differs. *a and *b become its two forms, without the beginning
 * of a long line; NULL where it is missing, because the other text has one newline more. */
static int64_t differing_line(const char **a, const char **b)
{
    const char *x = *a, *y = *b;
    int64_t line = 1, i = 0, start = 0;
    for (; x[i] != '\0' && x[i] == y[i]; i++) {
        line += x[i] == '\n';
        start = x[i] == '\n' ? i + 1 : start;
    }
    if ((x[i] == '\0' && y[i] == '\n') || (x[i] == '\n' && y[i] == '\0')) {
        *a = x[i] == '\n' ? x + i + 1 : NULL;
        *b = y[i] == '\n' ? y + i + 1 : NULL;
        return line + 1;
    }
    start = i - start > MOST / 2 ? i - MOST / 2 : start;
    *a = x + start;
    *b = y + start;
    return line;
}

/* Writes the line in quotes, cut after MOST bytes, or says what is there instead. */
static const char *show_line(char to[MOST + 3], const char *line)
{
    if (!line || line[0] == '\0') {
        return line ? "the end of the text" : "missing";
    }
    size_t n = strcspn(line, "\n");
    snprintf(to, MOST + 3, "'%.*s'", n > MOST ? MOST : (int)n, line);
    return to;
}

static bool same_as_first(const char *what, const char *first, const char *text)
{
    char there[MOST + 3], here[MOST + 3];
    if (strcmp(first, text) == 0) {
        return true;
    }
    int64_t line = differing_line(&first, &text);
    return hd_error_set(HD_VALUE, "%s differs: line %" PRId64 " is %s on rank 0 and %s on rank %d",
                        what, line, show_line(there, first), show_line(here, text), hd__mpi.rank);
}

bool hd__same_text(const char *what, const char *text, bool ok)
{
    int64_t n = text ? (int64_t)strlen(text) + 1 : 0;
    if (!hd__others() || !hd__meet(NULL, ok && text)) {
        return ok && !hd__others();
    }
    ok = hd__broadcast_bytes(&n, sizeof n, 0);
    char *first = ok ? hd_alloc((size_t)n) : NULL;
    if (!hd__meet(NULL, first)) {
        hd_free(first);
        return false;
    }
    if (hd__mpi.rank == 0) {
        memcpy(first, text, (size_t)n);
    }
    ok = hd__broadcast_bytes(first, n, 0) && same_as_first(what, first, text);
    hd_free(first);
    return hd__meet(NULL, ok);
}

bool hd_mpi_all_same(const char *what, const char *text)
{
    hd__mpi_call = "hd_mpi_all_same";
    bool ok = hd__given_to(hd__mpi_call, "what", what) && hd__given_to(hd__mpi_call, "text", text);
    return hd__same_text(what, text, ok);
}

/* ---------------------------------------------------------------- numbers and texts */

/* all: n values of each rank. */
static void sum_ranks(int n, const double *all, double *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = 0;
        for (int r = 0; r < hd__mpi.size; r++) {
            values[i] += all[(int64_t)r * n + i];
        }
    }
}

/* A NaN is the largest: it tells of a rank that has one. */
static void take_largest(int n, const double *all, double *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = all[i];
        for (int r = 1; r < hd__mpi.size; r++) {
            double v = all[(int64_t)r * n + i];
            values[i] = v > values[i] || v != v ? v : values[i];
        }
    }
}

static bool combine(const char *call, int n, double *values,
                    void (*f)(int n, const double *all, double *values))
{
    char argument[32];
    hd__mpi_call = call;
    bool ok = hd__given_to(call, "values", values) &&
              (n >= 0 || hd__mpi_fail(HD_VALUE, "n %d: expected 0 or more", n));
    snprintf(argument, sizeof argument, "%d values", n);
    double *all = ok ? hd__alloc_items((int64_t)hd__mpi.size * n + 1, sizeof *all) : NULL;
    ok = hd__meet(argument, all);
    if (ok && hd__others()) {
        ok = hd__mpi_ok(MPI_Allgather(values, n, MPI_DOUBLE, all, n, MPI_DOUBLE, hd__mpi.control));
        if (ok) {
            f(n, all, values);
        }
    }
    hd_free(all);
    return ok;
}

bool hd_mpi_sum(int n, double *values)
{
    return combine("hd_mpi_sum", n, values, sum_ranks);
}

bool hd_mpi_max(int n, double *values)
{
    return combine("hd_mpi_max", n, values, take_largest);
}

char *hd_mpi_gather_text(const char *text)
{
    hd__mpi_call = "hd_mpi_gather_text";
    hd__text t = {0};
    bool ok = hd__given_to(hd__mpi_call, "text", text);
    for (int r = 0; r < hd__mpi.size; r++) {
        int64_t n = text ? (int64_t)strlen(text) : 0;
        ok = hd__meet(NULL, ok) && hd__broadcast_bytes(&n, sizeof n, r);
        char *each = ok ? hd_alloc((size_t)n + 1) : NULL;
        if (!ok || !hd__meet(NULL, each)) {
            hd_free(each);
            hd_free(t.s);
            return NULL;
        }
        memcpy(each, text, r == hd__mpi.rank ? (size_t)n : 0);
        ok = hd__broadcast_bytes(each, n, r);
        hd__text_add(&t, each, (size_t)n);
        hd__text_puts(&t, "\n");
        hd_free(each);
    }
    char *all = hd__text_take(&t);
    if (hd__meet(NULL, all)) {
        return all;
    }
    hd_free(all);
    return NULL;
}
