/* profile.c - HEED_PROFILE: the time of a program, by op and by module.
 *
 * The time of an op begins when its call makes its first tensor, or is about to change one, and
 * ends when its result is ready. A node's backward, an optimizer's step and the forward of a user's
 * op are spans: each is measured as a whole, and nothing inside it is measured again. So no time
 * counts twice. The rest of a thread's time, from its first tensor on, is "other": the program's
 * own code, and heed's work between ops.
 *
 * Profiling never fails a call. The tables are allocated once with calloc, so that hd_bytes_live
 * does not change. If a table is full, or could not be allocated, further names count in the row
 * `rest`. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/start.h"
#include "base/system/system.h"
#include "diagnose/diagnose_internal.h"
#include "tensor/repr_text.h"

enum { BY_MODULE, BY_OP, TABLES };
enum { PLACES = 8192, TRIES = 64 };

typedef hd__diagnose_profiled row;

/* The counts of all threads, protected by hd__start_diagnose_lock. */
static struct {
    row *rows; /* PLACES for each table; unused rows have no name; NULL if not allocated */
    row rest[TABLES];
    int64_t whole; /* the nanoseconds of all threads */
} profile;

static bool profiling(void)
{
    return hd__debug_any() & HD__PROFILES;
}

/* ---------------------------------------------------------------- counting */

static row *row_of(int table, const char *name)
{
    uint64_t h = hd__text_hash(name, strlen(name));
    profile.rows = profile.rows ? profile.rows : calloc((size_t)TABLES * PLACES, sizeof(row));
    for (uint64_t i = h; profile.rows && i < h + TRIES; i++) {
        row *r = &profile.rows[table * PLACES + i % PLACES];
        r->name = r->name ? r->name : name;
        if (strcmp(r->name, name) == 0) {
            return r;
        }
    }
    profile.rest[table].name = "names that did not fit";
    return &profile.rest[table];
}

static void add_up(row *r, const row *more)
{
    r->calls += more->calls;
    r->time += more->time;
    r->backward += more->backward;
    r->bytes += more->bytes;
    r->flop += more->flop;
}

/* Adds to profile.whole the time since the calling thread, whose data is `mine`, called see() last.
 * The thread's first call adds nothing. */
static void see(hd__trace_hearing *mine)
{
    int64_t now = hd__sys_nanoseconds();
    profile.whole += mine->seen ? now - mine->seen : 0;
    mine->seen = now;
}

void hd__profile_begin(void)
{
    hd__trace_hearing *mine = profiling() ? hd__trace_heard() : NULL;
    uint64_t failures = hd_error_count();
    if (mine && !mine->spans && (mine->call != hd__call || mine->failures != failures)) {
        mine->call = hd__call;
        mine->failures = failures;
        mine->flop = 0;
        mine->began = hd__sys_nanoseconds();
        mine->seen = mine->seen ? mine->seen : mine->began;
    }
}

void hd__hear_call_begins(void)
{
    hd__trace_hearing *mine = profiling() ? hd__trace_heard() : NULL;
    if (mine && !mine->spans++) {
        mine->flop = 0;
        mine->began = hd__sys_nanoseconds();
    }
}

void hd__hear_computed(int64_t flop)
{
    hd__trace_heard()->flop += flop;
}

void hd__profile_end(bool span, const hd__diagnose_profiled *e)
{
    int64_t now = hd__sys_nanoseconds();
    hd__trace_hearing *mine = hd__trace_heard();
    if (!profiling() || (mine->spans -= span)) {
        return;
    }
    row r = *e;
    const int64_t began = span || (*r.name && mine->call == hd__call) ? mine->began : now;
    r.time = now - began;
    r.backward = r.calls ? 0 : r.time;
    r.flop = began < now ? mine->flop : 0;
    mine->call = NULL;
    HD__LOCKED(hd__start_diagnose_lock);
    if (*r.name) {
        add_up(row_of(BY_OP, r.name), &r);
        r.calls = 0; /* only a forward counts as a call of the module */
    }
    add_up(row_of(BY_MODULE, r.module ? r.module : "outside of modules"), &r);
    see(mine);
}

/* ---------------------------------------------------------------- the tables */

static int longest_first(const void *a, const void *b)
{
    int64_t x = ((const row *)a)->time, y = ((const row *)b)->time;
    return (x < y) - (x > y);
}

/* Writes v with at most three digits, one of the prefixes, and the unit; writes 0 as spaces. Each
 * prefix stands for 1000 times the one before it. */
static void write_amount(hd__text *t, double v, const char *prefix, const char *unit)
{
    char amount[40] = "";
    for (; v >= 999.5 && prefix[1]; prefix++) {
        v /= 1000;
    }
    if (v > 0) {
        snprintf(amount, sizeof amount, "%.3g %.*s%s", v, *prefix != ' ', prefix, unit);
    }
    hd__text_format(t, "%9s", amount);
}

static void write_row(hd__text *t, const row *r, double whole)
{
    double time = (double)r->time;
    hd__text_format(t, "%6.0" PRId64, r->calls);
    write_amount(t, time, "num ", "s");
    hd__text_format(t, "%6.1f%%", whole > 0 ? 100 * time / whole : 0);
    write_amount(t, (double)(r->time - r->backward), "num ", "s");
    write_amount(t, (double)r->backward, "num ", "s");
    write_amount(t, (double)r->bytes, " kMGT", "B");
    write_amount(t, (double)r->flop, " kMGTP", "");
    write_amount(t, r->flop ? (double)r->flop / time * 1e9 : 0, " kMGT", "");
    hd__text_format(t, "  %s\n", r->name);
}

/* Copies the used rows of a table to `rows`. Returns their number. */
static int64_t collect_rows(row *rows, int table)
{
    int64_t n = 0;
    for (int i = profile.rows ? 0 : PLACES; i <= PLACES; i++) {
        const row *r = i < PLACES ? &profile.rows[table * PLACES + i] : &profile.rest[table];
        if (r->calls + r->time > 0) {
            rows[n++] = *r;
        }
    }
    return n;
}

static void write_table(hd__text *t, const char *of, row *rows, int64_t n, int64_t whole)
{
    row other = {.name = "other: outside of ops", .time = whole};
    hd__text_format(t, "%6s%9s%7s%9s%9s%9s%9s%9s  %s\n", "calls", "time", "share", "forward",
                    "backward", "bytes", "FLOP", "FLOP/s", of);
    qsort(rows, (size_t)n, sizeof *rows, longest_first);
    for (int64_t i = 0; i < n; i++) {
        write_row(t, &rows[i], (double)whole);
        other.time -= rows[i].time;
    }
    write_row(t, &other, (double)whole);
}

HD__RARE bool hd_profile(FILE *f)
{
    HD__CALL("hd_profile");
    if (!hd__arg_given("f", f) || !hd__init()) {
        return false;
    }
    if (!profiling()) {
        return hd_fail(HD_STATE, "profiling is off. Set HEED_PROFILE=1 in the environment before "
                                 "the program starts");
    }
    hd__text t = {0};
    row *rows = hd__arg_alloc_items(TABLES * (PLACES + 1), sizeof *rows);
    if (!rows) {
        return false;
    }
    row *ops = rows + PLACES + 1;
    void *locale = hd__sys_locale_enter();
    /* The lock ends before the report is written, because writing may call a handler. */
    pthread_mutex_lock(&hd__start_diagnose_lock);
    see(hd__trace_heard());
    int64_t n_modules = collect_rows(rows, BY_MODULE), n_ops = collect_rows(ops, BY_OP),
            whole = profile.whole;
    pthread_mutex_unlock(&hd__start_diagnose_lock);
    write_table(&t, "module, without those inside it", rows, n_modules, whole);
    hd__text_puts(&t, "\n");
    write_table(&t, "op", ops, n_ops, whole);
    hd__sys_locale_leave(locale);
    hd_free(rows);
    return hd__tensor_text_print(&t, f, true);
}

static void profile_at_exit(void)
{
    if (!hd_profile(stderr)) {
        fputs("heed: the profile could not be printed, because memory ran out\n", stderr);
    }
}

void hd__profile_prepare(void)
{
    if (profiling()) {
        atexit(profile_at_exit);
    }
}
