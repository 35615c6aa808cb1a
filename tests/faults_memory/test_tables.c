/* test_tables.c - runs every row of every table with each of its allocations refused. */
#include <stdio.h>
#include <string.h>

#include "faults_memory/suites.h"

#ifdef HEED_WITH_VIZ
#define VIZ_TABLE(X) X(viz)
#else
#define VIZ_TABLE(X)
#endif
#ifdef HEED_WITH_HF
#define HF_TABLE(X) X(hf)
#else
#define HF_TABLE(X)
#endif
#ifdef HEED_WITH_CONFIG
#define CONFIG_TABLE(X) X(config)
#else
#define CONFIG_TABLE(X)
#endif
#define TABLE_LIST(X)                                                                              \
    X(base)                                                                                        \
    X(tensor)                                                                                      \
    X(made)                                                                                        \
    X(ops)                                                                                         \
    X(nn)                                                                                          \
    X(optim)                                                                                       \
    X(data)                                                                                        \
    X(io)                                                                                          \
    X(whole)                                                                                       \
    X(checkpoint)                                                                                  \
    X(scenarios)                                                                                   \
    VIZ_TABLE(X)                                                                                   \
    HF_TABLE(X)                                                                                    \
    CONFIG_TABLE(X)
#define DECLARE_TABLE(name) extern const table table_##name;
#define TABLE_ADDRESS(name) &table_##name,
TABLE_LIST(DECLARE_TABLE)
static const table *const tables[] = {TABLE_LIST(TABLE_ADDRESS)};

enum { TABLES = sizeof tables / sizeof *tables };

/* Rows that do not hold yet. One that holds has to be taken out. */
static const struct {
    const char *function, *what;
} known[] = {
#define KNOWN(function, what) {#function, what},
#include "faults_memory/known.h"
    {NULL, NULL},
};

static bool is_known(const row *r)
{
    for (size_t i = 0; i + 1 < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].function, r->function) == 0 && strcmp(known[i].what, r->what) == 0) {
            return true;
        }
    }
    return false;
}

static bool row_chosen(const row *r)
{
    const char *only = getenv("FAULTS_ROW");
    return !only || strstr(r->function, only);
}

static void run_table(const table *t, source from)
{
    int wrong = 0;
    for (int i = 0; i < t->n; i++) {
        const row *r = &t->rows[i];
        bool opens = strncmp(r->function, "hd_scope_", 9) == 0; /* the row itself opens a scope */
        if (!row_chosen(r) || (from == DEEP && opens)) {
            continue;
        }
        ++*rows_chosen;
        int faults = row_faults(r, t, from, from == DEEP ? scope_injections : injections, NULL);
        if (from == ALLOCATOR ? is_known(r) != (faults > 0) : faults > 0 && !is_known(r)) {
            wrong++;
            fprintf(stderr, "%s, %s: %d faults%s\n", r->function, r->what, faults,
                    faults ? "" : ": take it out of tests/faults_memory/known.h");
        }
    }
    ck_assert_msg(wrong == 0, "%s: %d rows of the above", t->name, wrong);
}

START_TEST(every_block_refused_in_turn)
{
    warnings_expected();
    run_table(tables[_i], ALLOCATOR);
}
END_TEST

/* Below many scopes, a call that opens a scope asks for a block for it. */
START_TEST(every_scope_refused_in_turn)
{
    warnings_expected();
    run_table(tables[_i], DEEP);
}
END_TEST

/* The caches are on, as in a program. A call may do without a block that the system refuses. */
START_TEST(malloc_fails_in_turn)
{
    warnings_expected();
    const table *t = tables[_i];
    bool beside =
        strcmp(t->name, "io") == 0 || strcmp(t->name, "viz") == 0 || strcmp(t->name, "config") == 0;
    if (!beside && !getenv("FAULTS_ALL")) {
        return; /* the tables whose calls use malloc of other libraries are enough */
    }
    run_table(tables[_i], SYSTEM);
}
END_TEST

Suite *suite_tables(void)
{
    Suite *s = suite_create("tables");
    suite_add_loop(s, every_block_refused_in_turn, TABLES);
    suite_add_loop(s, every_scope_refused_in_turn, TABLES);
    if (system_fails()) {
        suite_add_loop(s, malloc_fails_in_turn, TABLES);
    }
    return s;
}
