/* start.c - the start of heed (version, CPU level, environment) and its end.
 *
 * The start runs once. If a variable of the environment is wrong, every call of hd__init fails with
 * the same message. At the end of a thread, the destructor of a pthread key runs. At the end of the
 * process, atexit calls hd_shutdown. */
#include "base/error/error.h"
#include "base/error/lasting.h"
#include "base/events.h"
#include "base/memory/blocks.h"
#include "base/memory/count.h"
#include "base/memory/heap.h"
#include "base/random/generator.h"
#include "base/sibling.h"
#include "base/start.h"
#include "base/threads/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texts of each level: its name, the messages if the CPU or the build lacks the level, and the
 * values that HEED_CPU may have if this level is the best one. */
static const struct {
    const char *name, *cpu_lacks, *build_lacks, *expected;
} level_texts[HD__LEVELS] = {
    {"plain", "", "", "plain"},
    {"baseline", "", "", "plain or baseline"},
    {"avx2", "this CPU has no AVX2 with FMA", "heed was built without AVX2",
     "plain, baseline or avx2"},
    {"avx512", "this CPU has no AVX-512", "heed was built without AVX-512",
     "plain, baseline, avx2 or avx512"},
};

/* The level that runs without HEED_CPU. A build for stepping in a debugger uses plain. */
#ifdef HDK_STEPPING
static const char *const usual_level = "plain";
#else
static const char *const usual_level = NULL; /* the best level */
#endif

int hd__level;
int64_t hd__start_second_cache = 1 << 20;
pthread_mutex_t hd__start_views_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t hd__start_diagnose_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t hd__start_print_lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic(const hd__event_table *) hd__events;

static struct {
    pthread_once_t once;
    atomic_bool good;
    char wrong[160]; /* the error message; "" if nothing is wrong */
} start = {.once = PTHREAD_ONCE_INIT};

static struct {
    pthread_once_t once;
    pthread_key_t key;
    bool made;
    _Atomic(void (*)(void)) f;
} thread_end = {.once = PTHREAD_ONCE_INIT};

static HD__TLS bool armed;

/* ---------------------------------------------------------------- start */

int hd__level_choose(int cpu, int built, const char *text, char *wrong, size_t size)
{
    int best = cpu < built ? cpu : built, level = 0;
    if (!text || !*text) {
        return best;
    }
    while (level < HD__LEVELS && strcmp(text, level_texts[level].name) != 0) {
        level++;
    }
    if (level > best) {
        const char *obstacle = level == HD__LEVELS ? "no such level"
                               : level > built     ? level_texts[level].build_lacks
                                                   : level_texts[level].cpu_lacks;
        snprintf(wrong, size, "heed: HEED_CPU=%.40s: %s; expected %s", text, obstacle,
                 level_texts[best].expected);
    }
    return level;
}

/* A fork takes every lock of heed: the default generator's first, and then these in order.
 * Otherwise the child could inherit a lock whose holder is a thread that the child does not have. A
 * thread that holds one of the last three locks never waits for another lock. */
static pthread_mutex_t *const locks[] = {
    &hd__start_views_lock,    &hd__start_diagnose_lock, &hd__pool_lock,
    &hd__count_lock,          &hd__heap_lock,           &hd__lasting_lock,
    &hd__error_handlers_lock, &hd__start_print_lock,
};

enum { LOCKS = sizeof locks / sizeof locks[0] };

static void fork_prepare(void)
{
    hd__gen_hold(hd_default_generator());
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(locks[i]);
    }
}

static void fork_done(void)
{
    for (int i = LOCKS - 1; i >= 0; i--) {
        pthread_mutex_unlock(locks[i]);
    }
    hd__gen_unlock(hd_default_generator());
}

static void fork_child(void)
{
    hd__pool_fork_child();
    fork_done();
}

static void run_start(void)
{
    hd__debug_start(HD__DEBUG_PRINTS);
    const char *asked = getenv("HEED_CPU");
    hd__level =
        hd__level_choose(hd__sys_cpu_level(), HD__LEVEL_BUILT,
                         asked && *asked ? asked : usual_level, start.wrong, sizeof start.wrong);
    long cache = hd__sys_second_cache();
    hd__start_second_cache = cache > 0 ? cache : hd__start_second_cache;
    if (!start.wrong[0]) {
        hd__pool_start(start.wrong, sizeof start.wrong);
    }
    pthread_atfork(fork_prepare, fork_done, fork_child);
    atexit(hd_shutdown);
    if (!start.wrong[0]) {
        hd__diagnose_start(start.wrong, sizeof start.wrong);
    }
    atomic_store_explicit(&start.good, !start.wrong[0], memory_order_release);
}

void hd__start(void)
{
    int before = errno;
    pthread_once(&start.once, run_start);
    errno = before;
}

static bool first_init(void)
{
    hd__start();
    return !start.wrong[0] || hd_error_set(HD_VALUE, "%s", start.wrong);
}

bool hd__init(void)
{
    return !HD__UNLIKELY(!atomic_load_explicit(&start.good, memory_order_acquire)) || first_init();
}

const char *hd_version(void)
{
    return HD__VERSION;
}

bool hd__sibling_ok(const char *version)
{
    return strcmp(version, HD__VERSION) == 0 ||
           hd_fail(HD_STATE,
                   "its library was built with heed %s, but libheed is heed " HD__VERSION
                   ". Install both from the same version",
                   version);
}

const char *hd_cpu_level(void)
{
    return hd__init() ? level_texts[hd__level].name : NULL;
}

/* ---------------------------------------------------------------- end */

static void call_thread_end(void)
{
    void (*f)(void) = atomic_load(&thread_end.f);
    if (f) {
        f();
    }
}

/* `armed` stays true until the end of this function. Otherwise the freeing of memory would arm the
 * thread again, and this function would run a second time. */
static void end_thread(void *unused)
{
    (void)unused;
    call_thread_end();
    hd__mem_cache_leave();
    hd__count_thread_end();
    armed = false;
}

static void make_key(void)
{
    thread_end.made = pthread_key_create(&thread_end.key, end_thread) == 0;
}

static HD__EARLY void make_key_once(void)
{
    pthread_once(&thread_end.once, make_key);
}

void hd__start_on_thread_end(void (*f)(void))
{
    atomic_store(&thread_end.f, f);
}

void hd__start_thread_arm(void)
{
    if (armed) {
        return;
    }
    make_key_once();
    armed = thread_end.made && pthread_setspecific(thread_end.key, &thread_end) == 0;
}

void hd_shutdown(void)
{
    HD__CALL("hd_shutdown");
    call_thread_end();
    if (hd__events) {
        hd__events->shutdown();
    }
    hd__pool_stop();
    hd_empty_cache();
}
