/* agree.c - meetings, in which ranks exchange their states, and the functions built on them. */
#include "mpi/mpi_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- meetings */

enum { TEXT = 256 };

/* The state that a rank sends to a meeting. It is sent as bytes, so all machines must store structs
 * in the same way. */
typedef struct word {
    char call[28];     /* the public function that the rank is in */
    int32_t code;      /* HD_OK, or the code of its error */
    uint64_t argument; /* a hash of its argument */
    char text[TEXT];   /* its error message; if it has no error, its argument */
} word;

/* words[r] is the state that rank r sent to the last meeting. hd_mpi_init allocates the array, so
 * that the ranks can meet even when memory has run out. */
static word *words;

bool hd__mpi_meetings_begin(void)
{
    words = hd__arg_alloc_items(hd__mpi.size, sizeof *words);
    int mine = words != NULL, all = 0;
    bool ok = hd__mpi_ok(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, hd__mpi.control));
    hd__mpi.apart |= !all;
    return ok && (all || hd_fail(HD_MEMORY, "a rank is out of memory"));
}

void hd__mpi_meetings_end(void)
{
    hd_free(words);
    words = NULL;
}

static bool exchange_words(const char *argument, hd_code code)
{
    argument = argument ? argument : "";
    word mine = {.code = (int32_t)code, .argument = hd__text_hash(argument, strlen(argument))};
    bool failed = code != HD_OK || hd_error_code() != HD_OK;
    snprintf(mine.call, sizeof mine.call, "%s", hd__call_now());
    snprintf(mine.text, sizeof mine.text, "%s", failed ? hd_error_message() : argument);
    if (!hd__mpi_ok(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, words, sizeof mine, MPI_BYTE,
                                  hd__mpi.control))) {
        return false;
    }
    for (int r = 0; r < hd__mpi.size; r++) {
        hd__mpi.apart |= strcmp(words[r].call, words[0].call) != 0;
    }
    return true;
}

/* Returns the first rank that has failed. If none has, returns the first rank whose call or
 * argument differs from those of rank 0. Returns -1 if none differs. */
static int find_trouble(void)
{
    int differs = -1, failed = -1;
    for (int r = hd__mpi.size - 1; r >= 0; r--) {
        bool same =
            strcmp(words[r].call, words[0].call) == 0 && words[r].argument == words[0].argument;
        differs = same ? differs : r;
        failed = words[r].code != HD_OK ? r : failed;
    }
    return failed >= 0 ? failed : differs;
}

/* Sets this rank's error after a meeting that failed because of rank r (find_trouble). */
static void tell(int r)
{
    const char *text = words[r].text, *colon = text[0] != '\0' ? ": " : "";
    bool elsewhere = strcmp(words[r].call, hd__call_now()) != 0;
    const word *other = &words[elsewhere ? r : 0];
    if (words[r].code != HD_OK && !elsewhere) {
        hd_fail((hd_code)words[r].code, "rank %d%s%s", r, colon, text);
    } else if (strcmp(other->call, hd__call_now()) != 0) {
        hd_fail(HD_STATE, "rank %d is in %s: %s", elsewhere ? r : 0, other->call,
                other->text[0] != '\0' ? other->text
                                       : "all ranks must make the same collective calls");
    } else {
        hd_fail(HD_VALUE, "%s on rank 0, and %s on rank %d: expected the same", words[0].text, text,
                r);
    }
}

bool hd__mpi_meet_in_backward(const char *argument, bool ok)
{
    if (!hd__mpi_others()) {
        return ok;
    }
    if (hd__mpi.apart) {
        return hd_fail(HD_STATE, "in an earlier call the ranks were in different functions, or MPI "
                                 "failed. No collective call is possible any more");
    }
    hd_code code = hd_error_code();
    if (!exchange_words(argument, ok ? HD_OK : code != HD_OK ? code : HD_USER)) {
        return false;
    }
    int r = find_trouble();
    if (r >= 0) {
        tell(r);
    }
    return r < 0;
}

bool hd__mpi_meet(const char *argument, bool ok)
{
    bool may = !hd__mpi_others() || hd__mpi.apart || !hd__mpi_in_round();
    return may && hd__mpi_meet_in_backward(argument, ok);
}

void hd__mpi_meet_to_end(void)
{
    if (hd__mpi_others() && !hd__mpi.apart) {
        hd__mpi.apart |= !exchange_words(NULL, HD_OK);
    }
}

/* ---------------------------------------------------------------- how programs agree */

bool hd_mpi_all_ok(const char *what, bool ok)
{
    HD__CALL("hd_mpi_all_ok");
    if (!hd__arg_given("what", what)) {
        ok = false;
    } else if (!ok && hd_error_code() == HD_OK) {
        hd_fail(HD_USER, "%s has failed", what);
    }
    return hd__mpi_meet(what, ok);
}

enum { MOST = 72 };

/* Returns the number of the first line in which the texts *a and *b differ. Moves *a and *b to the
 * beginning of this line or, if the difference is far from it, to a place closer to the difference.
 * If a text has no such line, sets its pointer to NULL. */
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

/* Writes the line that begins at `line` to `to` in quotes, cut after MOST bytes, and returns `to`.
 * Returns "missing" if line is NULL, and "the end of the text" if the text ends there. */
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
    return hd_fail(HD_VALUE, "%s differs: line %" PRId64 " is %s on rank 0 and %s on rank %d", what,
                   line, show_line(there, first), show_line(here, text), hd__mpi.rank);
}

char *hd__mpi_broadcast_text(const char *text, int root, bool ok)
{
    int64_t n = text ? (int64_t)strlen(text) + 1 : 0;
    ok = hd__mpi_meet(NULL, ok && text) && hd__mpi_broadcast_bytes(&n, sizeof n, root);
    char *copy = ok ? hd_alloc((size_t)n) : NULL;
    ok = hd__mpi_meet(NULL, copy);
    if (ok) {
        memcpy(copy, text, hd__mpi.rank == root ? (size_t)n : 0);
        ok = hd__mpi_broadcast_bytes(copy, n, root);
    }
    if (!ok) {
        hd_free(copy);
    }
    return ok ? copy : NULL;
}

bool hd__mpi_same_text(const char *what, const char *text, bool ok)
{
    char *first = hd__mpi_broadcast_text(text, 0, ok);
    ok = first && same_as_first(what, first, text);
    hd_free(first);
    return hd__mpi_meet(NULL, ok);
}

bool hd_mpi_all_same(const char *what, const char *text)
{
    HD__CALL("hd_mpi_all_same");
    bool ok = hd__arg_given("what", what) && hd__arg_given("text", text);
    return hd__mpi_same_text(what, text, ok);
}

/* ---------------------------------------------------------------- numbers and texts */

/* If sum is true, returns the sum of the n numbers each[0], each[step] and so on, added in this
 * order. Otherwise returns the largest of them. NaN counts as the largest, so that a NaN of one
 * rank reaches all. */
static double combined(const double *each, int n, int step, bool sum)
{
    double v = sum ? 0 : each[0];
    for (int64_t r = 0; r < n; r++) {
        double x = each[r * step];
        v = sum ? v + x : x > v || x != x ? x : v;
    }
    return v;
}

static bool combine(int n, double *values, bool sum)
{
    char argument[32];
    bool ok = hd__arg_given("values", values) &&
              (n >= 0 || hd_fail(HD_VALUE, "n %d: expected 0 or more", n));
    snprintf(argument, sizeof argument, "%d values", n);
    double *all = ok ? hd__arg_alloc_items((int64_t)hd__mpi.size * n + 1, sizeof *all) : NULL;
    ok = hd__mpi_meet(argument, all);
    if (ok && hd__mpi_others()) {
        ok = hd__mpi_ok(MPI_Allgather(values, n, MPI_DOUBLE, all, n, MPI_DOUBLE, hd__mpi.control));
        for (int i = 0; ok && i < n; i++) {
            values[i] = combined(all + i, hd__mpi.size, n, sum);
        }
    }
    hd_free(all);
    return ok;
}

bool hd_mpi_sum(int n, double *values)
{
    HD__CALL("hd_mpi_sum");
    return combine(n, values, true);
}

bool hd_mpi_max(int n, double *values)
{
    HD__CALL("hd_mpi_max");
    return combine(n, values, false);
}

char *hd_mpi_gather_text(const char *text)
{
    HD__CALL("hd_mpi_gather_text");
    hd__text t = {0};
    bool ok = hd__arg_given("text", text);
    for (int r = 0; r < hd__mpi.size; r++) {
        char *each = hd__mpi_broadcast_text(text, r, ok);
        ok = each;
        hd__text_puts(&t, ok ? each : "");
        hd__text_puts(&t, "\n");
        hd_free(each);
    }
    char *all = hd__text_take(&t);
    if (hd__mpi_meet(NULL, ok && all)) {
        return all;
    }
    hd_free(all);
    return NULL;
}
