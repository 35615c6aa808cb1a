/* inject.c - runs a row with each of its allocations refused: first that one and all later ones,
 * then only that one. It checks that the failed call changed nothing. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults_memory/faults.h"
#include "support/scarce.h"

static scarce memory; /* the allocator while blocks of heed's are refused */

/* One row with one block refused. */
typedef struct injection {
    const row *row;
    const table *of;
    source from;
    bool backward; /* the row ran; the backward of its result is what is injected */
    int64_t block; /* -1: none is refused */
    bool once;
    const char *stage; /* for the line about a crash */
} injection;

/* What the row does when nothing is refused. */
typedef struct expected {
    picture before, result, after;
    int64_t blocks;                    /* that it asks for */
    int64_t more_blocks, more_tensors; /* that are left after it */
} expected;

static injection now; /* what runs, for the message if the program crashes */
static int faults;
static void (*tell)(const char *fault);

/* ---------------------------------------------------------------- telling */

static void fault(const char *format, ...)
{
    char text[700], said[400];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s%s%s%s%s, block %lld%s%s: %s", now.row->function,
             *now.row->what ? ", " : "", now.row->what, now.backward ? ", backward" : "",
             now.from == SYSTEM ? ", malloc"
             : now.from == DEEP ? ", in many scopes"
                                : "",
             (long long)now.block, now.block >= 0 && !now.once ? " and on" : "", now.stage, said);
    faults++;
    if (tell) {
        tell(text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

const char *injection_running(char text[200])
{
    snprintf(text, 200, "%s, %s%s, block %lld%s%s", now.row ? now.row->function : "",
             now.row ? now.row->what : "", now.backward ? ", backward" : "", (long long)now.block,
             now.once ? "" : " and on", now.stage ? now.stage : "");
    return text;
}

/* ---------------------------------------------------------------- refusing */

static size_t scope_bytes; /* of a scope's block, as open_around saw it */

static void refuse(int64_t left, bool once)
{
    if (now.from == SYSTEM) {
        system_refuse(left, once);
    } else {
        memory.left = left;
        memory.once = once;
        memory.only = now.from == DEEP && !getenv("FAULTS_ALL") ? scope_bytes : 0;
        memory.asked = memory.refused = 0;
    }
}

static void refuse_none(void)
{
    memory.left = -1;
    if (now.from == SYSTEM) {
        system_refuse(-1, false);
    }
}

static int64_t refused(void)
{
    return now.from == SYSTEM ? system_refused() : memory.refused;
}

static int64_t asked(void)
{
    return now.from == SYSTEM ? system_asked() : memory.asked;
}

/* Blocks that are kept for reuse would hide what the system is asked for. */
static int64_t live_blocks(void)
{
    if (now.from != SYSTEM) {
        return memory.blocks;
    }
    hd_empty_cache();
    return system_blocks();
}

/* ---------------------------------------------------------------- outcomes */

void keep(outcome *o, thing t)
{
    if (o->n == OUTCOME_THINGS) {
        ck_abort_msg("%s: an outcome has no room", now.row->function);
    }
    o->things[o->n++] = t;
}

static bool is_nothing(const thing *t)
{
    return t->kind->nothing ? t->kind->nothing(t) : !t->p;
}

static void outcome_see(const outcome *o, picture *p)
{
    p->n = 0;
    for (int i = 0; i < o->n; i++) {
        o->things[i].kind->see(p, o->things[i].name, &o->things[i]);
    }
}

static void outcome_free(outcome *o)
{
    for (int i = o->n - 1; i >= 0; i--) {
        if (o->things[i].kind->free && o->things[i].p) {
            o->things[i].kind->free(&o->things[i]);
        }
    }
    o->n = 0;
}

/* ---------------------------------------------------------------- one call */

static hd_tensor *first_tensor(const outcome *o)
{
    static thing tensor;
    tensor = thing_of_tensor(NULL);
    hd_tensor *y = o->n > 0 && o->things[0].kind == tensor.kind
                       ? (hd_tensor *)(uintptr_t)o->things[0].p
                       : NULL;
    return y && y != HD_NONE && hd_requires_grad(y) ? y : NULL;
}

static bool has_backward(const row *r, const outcome *o)
{
    return !(r->flags & (CONSUMES | SEQUENCE | ALONE)) && first_tensor(o);
}

/* The forward of a module that holds nothing takes back what its calls have drawn if one of them
 * fails. */
static void run_in_forward(world *w, outcome *o)
{
    if (!hd_forward_begin(w->around)) {
        return;
    }
    now.row->run(w, o);
    hd_tensor *y = first_tensor(o);
    hd_forward_end(w->around, y ? y : w->plain);
}

static void run_row(world *w, outcome *o)
{
    now.row->flags &DRAWS ? run_in_forward(w, o) : now.row->run(w, o);
}

/* With backward, `prepared` is what the row gave, and the call is the backward of it. */
static void call(world *w, outcome *prepared, outcome *o)
{
    if (!now.backward) {
        run_row(w, o);
        return;
    }
    hd_tensor *y = first_tensor(prepared);
    keep(o,
         thing_of_bool(hd_backward_with(y, (hd_tensor *)(uintptr_t)prepared->things[1].p, true)));
}

static void prepare(world *w, outcome *prepared)
{
    if (now.backward) {
        run_row(w, prepared);
        hd_tensor *y = first_tensor(prepared);
        prepared->n = 1;
        keep(prepared, thing_of_tensor(hd_full_like(y, hd_dtype_of(y), 0.5)));
    }
}

/* The calls of STEPS that had succeeded before the failure wrote the same again. */
static bool is_written_twice(const char *label, uint64_t hash)
{
    (void)hash;
    size_t n = strlen(label);
    return n >= 13 && strcmp(label + n - 13, ": its version") == 0;
}

/* Runs the call with memory, and compares it with what it always gives. */
static void run_freely(world *w, outcome *prepared, const expected *e)
{
    outcome o = {0};
    static picture p;
    uint64_t failures = hd_error_count();
    hd_scope *scope = hd_scope_open();
    call(w, prepared, &o);
    if (hd_error_count() != failures) {
        fault("fails with memory: %s", hd_error_message());
        hd_error_clear();
    } else {
        const char *other;
        outcome_see(&o, &p);
        if ((other = picture_difference(&e->result, &p, false, NULL))) {
            fault("gives something else: %s", other);
        }
        p.n = 0;
        world_see(w, &p);
        other = picture_difference(&e->after, &p, false,
                                   now.row->flags & STEPS ? is_written_twice : NULL);
        if (other) {
            fault("does something else: %s", other);
        }
    }
    outcome_free(&o);
    hd_scope_close(scope);
}

/* ---------------------------------------------------------------- what a failure leaves */

/* The failures of one call. Inside a call that is made of others, those after the first failure are
 * given NULL, or end the constructor of a module. */
static struct {
    int64_t memory, later, early, others;
    char other[200]; /* the last of the others */
} failed_calls;

/* What a call of the system fails with that has no memory of its own. */
static bool is_systems(hd_code code, const char *message)
{
    return now.from == SYSTEM && code == HD_IO && strstr(message, strerror(ENOMEM));
}

static void count_failure(hd_code code, const char *message, void *user)
{
    (void)user;
    if (code == HD_MEMORY || is_systems(code, message)) {
        failed_calls.memory++;
    } else if ((code == HD_NULL_ARG && strstr(message, " is NULL")) ||
               strstr(message, ": a registration in ")) {
        failed_calls.early += failed_calls.memory == 0;
        failed_calls.later++;
    } else {
        failed_calls.others++;
        snprintf(failed_calls.other, sizeof failed_calls.other, "%s: %s", hd_code_name(code),
                 message);
    }
}

static void check_counts(uint64_t failures)
{
    if (failed_calls.memory > refused()) {
        fault("counts %lld failures for %lld blocks: '%s'", (long long)failed_calls.memory,
              (long long)refused(), hd_error_message());
    }
    if (failed_calls.early > 0) {
        fault("is given NULL before a block is refused");
    }
    if (failed_calls.others > 0 && !(now.row->flags & SEQUENCE)) {
        fault("fails with %s", failed_calls.other);
    }
    if ((int64_t)failures != failed_calls.memory + failed_calls.later + failed_calls.others) {
        fault("counts %lld failures", (long long)failures);
    }
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* Does the message begin with a function of heed's, or with the class whose forward runs and then
 * such a function? */
static bool names_function(const char *message)
{
    bool class = isupper((unsigned char)*message);
    size_t n = class ? strspn(message, LETTERS) : 0;
    const char *call = class && strncmp(message + n, ": ", 2) == 0 ? message + n + 2 : message;
    return strncmp(call, "hd_", 3) == 0 && call[strspn(call, LETTERS)] == ':';
}

static void check_error(const outcome *o, uint64_t failures)
{
    const char *message = hd_error_message();
    if (hd_error_code() != HD_MEMORY && !is_systems(hd_error_code(), message)) {
        fault("is no MEMORY: %s, '%s'", hd_code_name(hd_error_code()), message);
    } else if (!names_function(message)) {
        fault("names no function: '%s'", message);
    }
    check_counts(failures);
    for (int i = 0; i < o->n; i++) {
        if (!is_nothing(&o->things[i])) {
            fault("gives %s although it fails: '%s'", o->things[i].name, message);
        }
    }
}

static bool same_scope(hd_scope *probe)
{
    hd_scope *again = hd_scope_open();
    hd_scope_close(again);
    return probe == again;
}

static hd_scope *probe_scope(void)
{
    hd_scope *probe = hd_scope_open(); /* the same place for the same depth */
    hd_scope_close(probe);
    return probe;
}

static const picture *done; /* what the row does when nothing is refused */

/* Of STEPS: the whole call would leave it like this. */
static bool is_done(const char *label, uint64_t hash)
{
    return picture_has(done, label, hash);
}

/* Of REMOVES: some files are removed, and others are not. */
static bool is_folder(const char *label, uint64_t hash)
{
    (void)hash;
    return strncmp(label, "the folder: ", 12) == 0;
}

/* After a failure, the first calls of STEPS are done, which may leave blocks: up to `most`. */
static void check_more(const char *what, int64_t more, int64_t most)
{
    bool fewer = now.row->flags & CONSUMES;
    most = now.row->flags & STEPS && most > 0 ? most : 0;
    if (more > most || (more < 0 && !fewer)) {
        fault("leaves %+d %s", (int)more, what);
    }
}

static void check_left(const expected *e, int64_t blocks, int64_t tensors, const picture *before,
                       const picture *after)
{
    const int flags = now.row->flags;
    excuse excused = flags & STEPS                           ? is_done
                     : flags & REMOVES && now.from == SYSTEM ? is_folder
                                                             : NULL;
    done = &e->after;
    check_more("blocks", live_blocks() - blocks, e->more_blocks);
    check_more("tensors", hd_tensor_count() - tensors, e->more_tensors);
    const char *other = picture_difference(before, after, true, excused);
    if (other) {
        fault("changes %s", other);
    }
}

/* The call with the block refused. Returns false if it did not ask for so many. */
static bool run_refused(world *w, outcome *prepared, const expected *e)
{
    static picture before, after;
    outcome o = {0};
    before.n = after.n = 0;
    world_see(w, &before);
    const char *other = picture_difference(&e->before, &before, false, NULL);
    if (other) {
        fault("the world begins with another %s", other);
    }
    int64_t blocks = live_blocks(), tensors = hd_tensor_count();
    uint64_t failures = hd_error_count();
    hd_scope *scope = hd_scope_open(), *probe = probe_scope();
    memset(&failed_calls, 0, sizeof failed_calls);
    hd_on_error(count_failure, NULL);
    refuse(now.block, now.once);
    call(w, prepared, &o);
    hd_on_error(NULL, NULL);
    bool was_refused = refused() > 0;
    refuse_none();
    failures = hd_error_count() - failures;
    if (failures > 0) {
        check_error(&o, failures);
    } else if (was_refused && now.from != SYSTEM && !(now.row->flags & RECOVERS)) {
        fault("succeeds");
    }
    hd_error_clear();
    if (now.from != DEEP && !same_scope(probe)) {
        fault("leaves a scope open");
    }
    if (was_refused && failures == 0) {
        static picture p;
        outcome_see(&o, &p);
        if ((other = picture_difference(&e->result, &p, false, NULL))) {
            fault("succeeds with something else: %s", other);
        }
    }
    outcome_free(&o);
    hd_scope_close(scope);
    if (failures > 0) {
        world_see(w, &after);
        check_left(e, blocks, tensors, &before, &after);
    }
    return was_refused && failures > 0;
}

/* ---------------------------------------------------------------- one row */

/* Opens the scope around a row. With DEEP it opens more scopes than a thread has room for, so that
 * each scope that the row opens asks for a block. */
static hd_scope *open_around(void)
{
    hd_scope *s = hd_scope_open();
    for (int i = 0; i < 8 && now.from == DEEP; i++) {
        hd_scope_open();
        scope_bytes = memory.last;
    }
    return s;
}

/* One world: the call with a refused block, then the call with memory. */
static void inject(const expected *e)
{
    world w;
    outcome prepared = {0};
    now.stage = "";
    world_begin(&w, now.of);
    hd_scope *scope = open_around();
    prepare(&w, &prepared);
    bool failed = run_refused(&w, &prepared, e);
    now.stage = ", again";
    if (failed && !(now.row->flags & CONSUMES)) {
        run_freely(&w, &prepared, e);
    }
    now.stage = "";
    outcome_free(&prepared);
    hd_scope_close(scope);
    world_end(&w);
}

/* Runs the row without a failure. Returns whether its result has a backward. */
static bool expect(expected *e)
{
    world w;
    outcome prepared = {0}, o = {0};
    e->before.n = e->after.n = 0;
    now.stage = "";
    now.block = -1;
    world_begin(&w, now.of);
    hd_scope *outer = open_around();
    prepare(&w, &prepared);
    world_see(&w, &e->before);
    int64_t blocks = live_blocks(), tensors = hd_tensor_count();
    uint64_t failures = hd_error_count();
    hd_scope *scope = hd_scope_open();
    refuse(INT64_MAX, false);
    call(&w, &prepared, &o);
    e->blocks = asked();
    refuse_none();
    if (hd_error_count() != failures) {
        fault("fails without a failure: %s", hd_error_message());
        e->blocks = 0;
    }
    hd_error_clear();
    outcome_see(&o, &e->result);
    world_see(&w, &e->after);
    bool more = !now.backward && has_backward(now.row, &o);
    outcome_free(&o);
    hd_scope_close(scope);
    e->more_blocks = live_blocks() - blocks;
    e->more_tensors = hd_tensor_count() - tensors;
    outcome_free(&prepared);
    hd_scope_close(outer);
    world_end(&w);
    return more;
}

/* Refuses each block with all later ones, and then alone; with FAULTS_ONCE in the environment only
 * alone. Returns whether the result has a backward. */
static bool every_block(int64_t *injections)
{
    static expected e;
    const bool only_alone = getenv("FAULTS_ONCE");
    bool more = expect(&e);
    bool never = now.row->flags & NEVER && !now.backward;
    if (now.from == ALLOCATOR && never != (e.blocks == 0)) {
        fault(never ? "asks for memory: it is no NEVER" : "asks for no memory: it is a NEVER");
    }
    for (int64_t k = 0; k < 2 * e.blocks; k++) {
        now.block = k / 2;
        now.once = k % 2;
        if (only_alone && !now.once) {
            continue;
        }
        inject(&e);
        ++*injections;
    }
    return more;
}

int row_faults(const row *r, const table *of, source from, int64_t *injections,
               void (*told)(const char *fault))
{
    faults = 0;
    tell = told;
    now = (injection){.row = r, .of = of, .from = from, .stage = ""};
    hd_shutdown();
    if (from != SYSTEM) {
        memory = (scarce){.left = -1};
        scarce_use(&memory);
    }
    now.backward = every_block(injections);
    if (now.backward) {
        every_block(injections);
    }
    hd_shutdown();
    if (from != SYSTEM && hd_bytes_live() == 0) {
        scarce_end();
    } else if (from != SYSTEM) {
        now.block = -1;
        fault("leaves %lld bytes at its end", (long long)hd_bytes_live());
    }
    return faults;
}
