/* test_tables.c - every row of every table, with each of its blocks refused. */
#include <stdio.h>
#include <string.h>

#include "faults_memory/suites.h"

#define TABLE_LIST(X)                                                                              \
    X(base) X(tensor) X(made) X(ops) X(nn) X(optim) X(data) X(io) X(whole) X(scenarios)
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

START_TEST(every_block_refused_in_turn)
{
    const table *t = tables[_i];
    int wrong = 0;
    for (int i = 0; i < t->n; i++) {
        if (!row_chosen(&t->rows[i])) {
            continue;
        }
        int faults = row_faults(&t->rows[i], t->parts, ALLOCATOR, injections, NULL);
        if (is_known(&t->rows[i]) != (faults > 0)) {
            wrong++;
            fprintf(stderr, "%s, %s: %d faults%s\n", t->rows[i].function, t->rows[i].what, faults,
                    faults ? "" : ": take it out of tests/faults_memory/known.h");
        }
    }
    ck_assert_msg(wrong == 0, "%s: %d rows of the above", t->name, wrong);
}
END_TEST

Suite *suite_tables(void)
{
    Suite *s = suite_create("tables");
    suite_add_loop(s, every_block_refused_in_turn, TABLES);
    return s;
}
