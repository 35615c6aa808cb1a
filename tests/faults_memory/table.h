/* table.h - makes the table TABLE from the rows in the header ROWS. Each file with rows defines
 * ROWS and TABLE and includes it once.
 *
 * ROW(function, what, call)            the call of a function; its result is the returned value
 * ROW_AS(flags, function, what, call)  the same with flags of faults.h
 * NEVER_ROW(function, call)            the call asks for no memory
 * SKIP_ROW(function, reason)           the function cannot be called here
 * DO(flags, function, what, statements)  with keep(o, thing) for each result
 *
 * tools/checks/check_memory_table reads the rows, and generates rows for functions that take only
 * tensors and numbers. */
#define ROW_JOIN_2(a, b) a##b
#define ROW_JOIN(a, b) ROW_JOIN_2(a, b)
#define ROW_RUN ROW_JOIN(run_, __LINE__)

#define DO(flags, function, what, ...)                                                             \
    static void ROW_RUN(world *w, outcome *o)                                                      \
    {                                                                                              \
        (void)w;                                                                                   \
        __VA_ARGS__                                                                                \
    }
#define ROW_AS(flags, function, what, ...) DO(flags, function, what, keep(o, THING((__VA_ARGS__)));)
#define ROW(function, what, ...) ROW_AS(CALL, function, what, __VA_ARGS__)
#define NEVER_ROW(function, ...) ROW_AS(NEVER, function, "", __VA_ARGS__)
#define SKIP_ROW(function, reason)
#include ROWS
#undef DO
#undef ROW_AS
#undef NEVER_ROW

#define DO(flags, function, what, ...) {#function, what, flags, ROW_RUN},
#define ROW_AS(flags, function, what, ...) DO(flags, function, what, )
#define NEVER_ROW(function, ...) DO(NEVER, function, "", )
static const row rows[] = {
#include ROWS
};

#ifndef BEGIN
#define BEGIN NULL
#endif
const table TABLE = {NAME, rows, (int)(sizeof rows / sizeof rows[0]), PARTS, BEGIN};
