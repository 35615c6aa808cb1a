/* base_internal.h - what base offers to the layers inside libheed.
 *
 * Names begin with hd__ (internal; base/sibling.h says what of it is exported). Every layer may
 * include this header. */
#ifndef HEED_BASE_INTERNAL_H
#define HEED_BASE_INTERNAL_H

#include <stdatomic.h>

#include "base/error/args.h"
#include "base/system/system.h"
#include "base/text/text.h"

#define HD__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* A rare way out of a short function: kept out of line, it costs the common way no registers. */
#define HD__RARE __attribute__((noinline, cold))

/* ---------------------------------------------------------------- invariants */

/* x can only be false by a fault of heed's own, never by what a user does. With -Dassert=true the
 * program then tells the place and aborts. Otherwise x is compiled, and not computed; a function
 * that only assertions call is left out by #ifdef HD__ASSERT. */
#ifdef HD__ASSERT
#define hd__assert(x) ((x) ? (void)0 : hd__assert_failed(__FILE__, __LINE__, __func__, #x))
_Noreturn HD__RARE void hd__assert_failed(const char *file, int line, const char *function,
                                          const char *x);
#else
#define hd__assert(x) ((void)sizeof(!(x)))
#endif

/* ---------------------------------------------------------------- counts of holders */

/* While the process has one thread, adding needs no bus lock. Only that thread can end this state,
 * by making another thread, so no addition is half done when it ends. */
static inline void hd__refs_up(atomic_int *refs)
{
    if (HD__ALONE) {
        int now = atomic_load_explicit(refs, memory_order_relaxed);
        atomic_store_explicit(refs, now + 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
    }
}

/* Was this the last holder? Then nothing is written, since no other thread has the object and could
 * pass it on. */
static inline bool hd__refs_down(atomic_int *refs)
{
    int now = atomic_load_explicit(refs, memory_order_acquire);
    hd__assert(now > 0);
    if (now == 1) {
        return true;
    }
    if (HD__ALONE) {
        atomic_store_explicit(refs, now - 1, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

/* ---------------------------------------------------------------- who speaks */

/* The public function that the program called on this thread, by which messages begin and which
 * made and freed what it makes and frees; NULL while none runs. The text lasts. */
extern HD__TLS const char *hd__call;

static inline const char *hd__call_swap(const char *now)
{
    const char *before = hd__call;
    hd__call = now;
    return before;
}

static inline const char *hd__call_begin(const char *name)
{
    return hd__call_swap(hd__call ? hd__call : name);
}

static inline void hd__call_end(const char *const *before)
{
    hd__call = *before;
}

/* A public function that can fail, or frees, begins with its name, which is in force until it
 * returns. Inside of another public function nothing changes: the one that the program called
 * speaks.
 *   HD__CALL("hd_add"); */
#define HD__CALL(name)                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_begin(name)
/* Until the end of the block the program's own code runs, or a built-in forward: what it calls
 * speaks for itself. */
#define HD__CALLS_BACK                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_swap(NULL)

#define hd__fail hd_fail

/* Who called, to be remembered: the function that HD_CALL names, or else hd__call. */
const char *hd__call_kept(void);
/* Writes "hd_mm: ", the names of who speaks (call.c), and returns its length, at most 306. */
int hd__call_write(char *text, size_t size);
/* The forward that runs on this thread: the class of its module, and what tells it from others;
 * NULL, both, outside of any forward. nn sets hd__forward_now. */
typedef struct hd__forward {
    const char *class;
    const void *id;
} hd__forward;
extern hd__forward (*_Atomic hd__forward_now)(void);

/* ---------------------------------------------------------------- errors */

/* Sets HD_MEMORY, which names the call and the bytes. Needs no memory. Returns NULL. */
void *hd__no_memory(size_t bytes);
/* Where it is not NULL, it writes into text, which is empty, what the message of a NULL ends with
 * while no error stands: what may have been NULL before. It sets no error. nn sets it. */
enum { HD__NOTE = 300 };
extern void (*_Atomic hd__null_note)(char text[HD__NOTE]);

/* The number of failures on this thread since its last hd_error_clear: sets it to n and returns
 * what it was. A caller that wants to know its own failures alone begins with before = swap(0), and
 * ends with own = swap(0); swap(before + own). */
uint64_t hd__uncleared_swap(uint64_t n);

/* ---------------------------------------------------------------- warnings */

extern atomic_bool hd__warning_on; /* hd__warns reads it */

/* Is there a handler? Ask before computing what a warning says, if that is costly. The caller of
 * hd_warn holds no lock, and its objects are complete, because the handler may call heed. */
static inline bool hd__warns(void)
{
    return HD__UNLIKELY(atomic_load_explicit(&hd__warning_on, memory_order_relaxed));
}

/* Was this cause not told of yet? It counts as told then. Few causes share one of 64 bits. */
bool hd__first(atomic_uint_least64_t *told, uintptr_t cause);

/* ---------------------------------------------------------------- saved state */

/* Are the object, which the caller calls `arg`, the dictionary d and prefix all given? */
#define hd__state_given(arg, object, d, prefix)                                                    \
    (hd__object(arg, object) && hd__object("d", d) && hd__given("prefix", prefix))

/* The largest count of steps or epochs that is taken from saved state: a double has it exactly, and
 * no later step overflows it. */
#define HD__MOST_SAVED ((int64_t)1 << 53)

/* ---------------------------------------------------------------- start and end */

/* Reads the environment and chooses the CPU level, once. A failure or a warning calls it, because
 * the environment says whether they are printed. */
void hd__start(void);
/* The same. Returns false with an error if HEED_CPU or HEED_THREADS is wrong. */
bool hd__init(void);

/* Has f called on every armed thread when it ends, and on the thread that calls hd_shutdown before
 * the caches are freed. There is one f, which the tensor layer sets to close root scopes. */
void hd__on_thread_end(void (*f)(void));
void hd__thread_arm(void);

/* ---------------------------------------------------------------- CPU level */

/* The best level whose kernels are compiled. The build defines these words where they are. */
#ifdef HDK_HAVE_AVX512
enum { HD__LEVEL_BUILT = HD__AVX512 };
#elif defined(HDK_HAVE_AVX2)
enum { HD__LEVEL_BUILT = HD__AVX2 };
#else
enum { HD__LEVEL_BUILT = HD__BASELINE };
#endif

extern int hd__level; /* valid after hd__init */

/* The bytes of a core's second cache, by which kernels choose blocks. No bit depends on it. */
extern int64_t hd__second_cache;

/* ---------------------------------------------------------------- memory */

/* As hd_alloc, but sets no error: the caller does, with hd__no_memory. */
void *hd__alloc(size_t size);
/* As hd_alloc, zeroed. */
void *hd__alloc_zeroed(size_t size);

/* ---------------------------------------------------------------- quarantine (quarantine.c) */

enum { HD__RETIRED_MOST = 4096 - 64 }; /* the largest block that goes into quarantine */

/* Frees a block as hd_free does, but keeps it out of use for a while if it is small enough. */
void hd__retire(void *p);

/* The same for an object, of which hd__object then tells that `freed_by`, hd__call_kept or another
 * text that lasts, freed it. With NULL it is hd__retire. */
void hd__retire_object(void *p, const char *freed_by);

/* The objects that a program may give in place of each other. The kind of each stands in the header
 * before it. Only a tensor has no header of its own, but a mark: the byte HD__MARK_AT, where other
 * objects have the upper half of an address or of a small number. */
#define HD__OBJECTS(ROW)                                                                           \
    ROW(A_TENSOR, hd_tensor, "a tensor")                                                           \
    ROW(A_LIST, hd_list, "a list of tensors")                                                      \
    ROW(MODULE, hd_module, "a module")                                                             \
    ROW(OPTIM, hd_optim, "an optimizer")                                                           \
    ROW(SCHEDULE, hd_schedule, "a schedule")                                                       \
    ROW(KV_CACHE, hd_kv_cache, "a cache")                                                          \
    ROW(DICT, hd_dict, "a dictionary")                                                             \
    ROW(GENERATOR, hd_generator, "a generator")                                                    \
    ROW(DATASET, hd_dataset, "a dataset")                                                          \
    ROW(LOADER, hd_loader, "a loader")                                                             \
    ROW(TOKENS, hd_tokens, "an hd_tokens")                                                         \
    ROW(TOKENIZER, hd_tokenizer, "a tokenizer")                                                    \
    ROW(SAFETENSORS, hd_safetensors, "an open safetensors file")

#define HD__KIND_NAME(kind, type, text) HD__##kind,
typedef enum hd__kind_of_object {
    HD__NO_OBJECT = 0xa500,
    HD__OBJECTS(HD__KIND_NAME)
} hd__kind_of_object;

/* The kind that the type of a pointer says. */
#define HD__KIND_OF_TYPE(kind, type, text)                                                         \
    , struct type * : HD__##kind, const struct type * : HD__##kind
#define HD__KIND(p) _Generic((p), char * : HD__NO_OBJECT HD__OBJECTS(HD__KIND_OF_TYPE))

enum { HD__MARK_AT = 6, HD__TENSOR = 0x80 };

/* The kind of what lies at p; HD__NO_OBJECT: something else, or a tensor that was freed. */
hd__kind_of_object hd__kind_at(const void *p);
/* Fails with HD_VALUE: "hd_print: x is a module: expected a tensor". */
void *hd__wrong_object(hd__kind_of_object expected, const char *arg, const void *p);

/* A zeroed block of that kind. NULL: HD_MEMORY. */
void *hd__object_new(hd__kind_of_object kind, size_t size);
/* The place of an object in a larger block: after a header, which is written. */
enum { HD__HEADER = 16 };
void *hd__object_in(hd__kind_of_object kind, void *block);

/* Is p, a pointer to an object, given, of the kind that its type says, and not freed? Otherwise
 * fails with HD_NULL_ARG as hd__given does; with HD_STATE: "hd_optim_step: o was freed by
 * hd_optim_free"; or with HD_VALUE: "hd_forward: m is a tensor: expected a module". */
#define hd__object(arg, p) hd__object_is(HD__KIND(p), arg, p)
bool hd__object_is(hd__kind_of_object kind, const char *arg, const void *p);

/* May a _free function free p, an object? Not if it is NULL or `none`, which is HD_NONE: no error.
 * If it was freed before, fails with HD_STATE: "hd_optim_free: o was freed already, by
 * hd_optim_free"; an object of another kind fails as in hd__object. */
#define hd__may_free(arg, p, none) hd__free_ok(HD__KIND(p), arg, p, none)
bool hd__free_ok(hd__kind_of_object kind, const char *arg, const void *p, const void *none);

/* For an object with other holders than the user, whose _free gives up the user's hold alone and
 * sets *freed. Did the user not call it yet? Otherwise fails as hd__object does. */
bool hd__not_given_up(const char *arg, const atomic_bool *freed, const char *freed_by);
/* The same in that _free: *freed, which becomes true, must have been false. */
bool hd__given_up(const char *arg, atomic_bool *freed);

/* From now on, f gives the file and line with which messages end in debug mode: where the program
 * opened the innermost scope of this thread; NULL: not known. */
void hd__on_message(const char *(*f)(int *line));

/* The last bytes of a text, of which so many are kept, and no UTF-8 character in part. */
const char *hd__tail(const char *text, size_t most);

/* What frees the tensors of a scope, in the place of hd__call: hd__scope_end, or in debug mode
 * another text of hd__text_for_ever. */
extern const char hd__scope_end[]; /* "when its scope closed" */
/* A copy of the text that stays as long as the process, because what is freed may be found at any
 * time. Equal texts share one. "?" if memory runs out. */
const char *hd__text_for_ever(const char *text);

/* What is counted while it is alive. count.c says how. */
enum { HD__BYTES, HD__TENSORS, HD__COUNTS, HD__FLUSH = 1 << 16 };

typedef struct hd__tally {                      /* only its own thread writes it */
    atomic_int_least64_t now[HD__COUNTS], high; /* high: the highest value of the bytes */
    struct hd__tally *next;
} hd__tally;

extern HD__TLS hd__tally hd__mine;

void hd__count_bytes_moved(void);
int64_t hd__counted(int what); /* over all threads */

static inline void hd__count(int what, int64_t delta)
{
    int64_t now = atomic_load_explicit(&hd__mine.now[what], memory_order_relaxed) + delta;
    atomic_store_explicit(&hd__mine.now[what], now, memory_order_relaxed);
    if (what == HD__BYTES &&
        HD__UNLIKELY(now > atomic_load_explicit(&hd__mine.high, memory_order_relaxed) ||
                     now < -HD__FLUSH)) {
        hd__count_bytes_moved();
    }
}

/* ---------------------------------------------------------------- thread pool */

/* The number of threads that a call may use, at least 1. */
int hd__parallel_width(void);

/* Calls f(0, arg) to f(pieces - 1, arg), each once, on the pool and the calling thread, and returns
 * when all are done. The pieces begin in order. With one thread, inside a piece, or while another
 * call has the pool, all of them run on the calling thread. A piece must not wait for another one,
 * fail, record, or allocate tensors. If pieces need scratch, allocate it for all of them before the
 * call and index it by the piece. */
void hd__parallel(int pieces, void (*f)(int piece, void *arg), void *arg);

/* Calls f(begin, end, arg) over disjoint ranges that cover [0, n), through hd__parallel, with at
 * most one range for each thread. The length of each range but the last is a multiple of `grain`.
 * If n <= grain, there is one call, f(0, n, arg). What f computes must not depend on how the range
 * is cut. */
void hd__parallel_for(int64_t n, int64_t grain, void (*f)(int64_t begin, int64_t end, void *arg),
                      void *arg);

/* ---------------------------------------------------------------- random streams (rng.c) */

/* All draws of one call, and other changes, happen between lock and unlock. Only the default
 * generator has a lock that other threads wait for. */
void hd__gen_lock(hd_generator *g);
void hd__gen_hold(const hd_generator *g); /* in its place, where g is only read */
void hd__gen_unlock(const hd_generator *g);
static inline void hd__gen_locked_end(hd_generator *const *g)
{
    hd__gen_unlock(*g);
}
/* Locks a generator until the end of the block. */
#define HD__GEN_LOCKED(g)                                                                          \
    hd_generator *const hd__gen_locked __attribute__((cleanup(hd__gen_locked_end), unused)) = (g); \
    hd__gen_lock(g)
void hd__gen_seed(hd_generator *g, int64_t value); /* g is locked, or no other thread has it */

/* n contiguous elements each. rng_fill.c says how they are computed and rounded. */
void hd__uniform_f32(hd_generator *g, float *x, int64_t n, double a, double b);
void hd__uniform_f64(hd_generator *g, double *x, int64_t n, double a, double b);

/* n >= 16 contiguous elements, drawn in blocks of 16. */
void hd__normal_f32(hd_generator *g, float *x, int64_t n, double mean, double std);
void hd__normal_f64(hd_generator *g, double *x, int64_t n, double mean, double std);
/* One standard normal number in float64, by Box and Muller, with the generator's spare. It fills
 * tensors of fewer than 16 elements and strided ones. */
double hd__normal_sample(hd_generator *g);

/* n numbers in [lo, hi), and the numbers from 0 to n - 1 in any order. These two lock g. */
void hd__randint(hd_generator *g, int64_t *r, int64_t n, int64_t lo, int64_t hi);
void hd__randperm(hd_generator *g, int64_t *r, int64_t n);
double hd__exponential_sample(hd_generator *g, double lambda);

/* n Bernoulli(p) draws as bytes 0 or 1, from the stream that the generator is set to. MCG31 takes
 * one output of the generator as its seed; the native stream takes two outputs an element. */
void hd__bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p);

/* For callers that draw the elements of an MCG31 stream themselves (mcg31.h). The seed takes one
 * output and is x_0; element i is 1 if x_i is below the limit of p. */
uint32_t hd__mcg31_seed(hd_generator *g);
uint32_t hd__mcg31_limit(double p);

#endif
