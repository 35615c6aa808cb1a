/* base.h - what every layer of heed uses: errors, memory, random generators, threads.
 *
 * heed.h states the contract of the whole API (ownership, errors, threads, determinism).
 * Any thread may call the functions here; errors and hd_generator_use are per thread. A second
 * hd_generator_free is HD_STATE while heed knows of the first (heed.h), and undefined later; a
 * second hd_free is always undefined. */
#ifndef HEED_BASE_H
#define HEED_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define HD_API __attribute__((visibility("default")))
#else
#define HD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- version */

/* The version of these headers, as three numbers. */
#define HD_VERSION_MAJOR 0
#define HD_VERSION_MINOR 3
#define HD_VERSION_PATCH 0

HD_API const char *hd_version(void); /* "0.3.0": the version of the library at run time */

/* ---------------------------------------------------------------- errors */

/* The values are permanent: they may be stored and sent. */
typedef enum hd_code {
    HD_OK = 0,       /* no error stands */
    HD_NULL_ARG = 1, /* an argument is NULL or HD_NONE where an object is required */
    HD_SHAPE = 2,    /* shapes or ranks do not fit */
    HD_DTYPE = 3,    /* the function does not take this dtype */
    HD_INDEX = 4,    /* a dim or an index is out of range */
    HD_VALUE = 5,    /* a number is outside its range, such as p = 1.5 */
    HD_MEMORY = 6,   /* memory ran out, or a size overflows */
    HD_GRAD = 7,     /* the backward graph forbids the call */
    HD_STATE = 8,    /* the object is not in a state that allows the call */
    HD_IO = 9,       /* the operating system refused */
    HD_FORMAT = 10,  /* a file or text is malformed */
    HD_USER = 11     /* a user's op, hook or module raised it */
} hd_code;

HD_API hd_code hd_error_code(void);         /* the calling thread's standing error, or HD_OK */
HD_API const char *hd_error_message(void);  /* its text; "" when no error stands; never NULL */
HD_API void hd_error_clear(void);           /* forgets it; the next failure is then kept again */
HD_API const char *hd_code_name(hd_code c); /* "SHAPE"; "?" for a value that is no code */

/* Names a function that is built on heed, in its first line, so that the function speaks as those
 * of heed do:
 *     static hd_tensor *my_loss(hd_tensor *x, hd_tensor *y)
 *     {
 *         HD_CALL("my_loss");
 *         if (hd_ndim(x) != 2) {
 *             return hd_fail(HD_SHAPE, "x has %d dimensions: expected 2", hd_ndim(x));
 *         }
 *         return hd_sum(hd_matmul(x, y));
 *     }
 * Until the enclosing block ends, messages begin with the name: "my_loss: x has 1 dimensions:
 * expected 2". Where a function of heed's fails, they have both names: "my_loss: hd_matmul: (2, 3)
 * and (4, 2): inner sizes 3 and 4 differ". A tensor that is made, or an object that is freed, until
 * then remembers my_loss. If functions with a name call each other, the first of them speaks. In
 * the forward of a module, messages begin with the module's class, as in "GPT: my_loss: ...", and
 * leave out the functions around that forward. heed keeps a copy of each name as long as the
 * process lasts, so a name should be a literal. A longjmp out of the block leaves the name in force
 * on that thread. */
#define HD_CALL(name)                                                                              \
    hd_call HD__JOIN(hd_call_at_, __LINE__) __attribute__((cleanup(hd_call_cleanup), unused)) =    \
        hd_call_begin(name)
#define HD__JOIN2(a, b) a##b
#define HD__JOIN(a, b) HD__JOIN2(a, b)

/* What HD_CALL keeps until its block ends: the call around it. */
typedef struct hd_call {
    const char *name;    /* heed's copy of its name; NULL: there is none */
    const void *forward; /* tells in which forward it began */
} hd_call;

HD_API hd_call hd_call_begin(const char *name); /* what HD_CALL calls; returns the call before */
HD_API void hd_call_end(hd_call before);        /* takes what hd_call_begin gave; {0}: no call */

/* What the end of HD_CALL's block calls. */
static inline void hd_call_cleanup(hd_call *before)
{
    hd_call_end(*before);
}

/* Sets the calling thread's error, with a message that begins with the name of HD_CALL; in the
 * forward of a module, with its class before that. The arguments are printf's. While an error
 * stands, a later one is counted but not kept. Returns NULL, so that a function may end in
 * `return hd_fail(...)`. */
HD_API void *hd_fail(hd_code code, const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The same, with the message as it is given. */
HD_API void *hd_error_set(hd_code code, const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The number of failed calls on this thread since it began. Every failure adds one, also while an
 * error stands, and hd_error_clear does not change it. */
HD_API uint64_t hd_error_count(void);

/* What hd_on_error takes: the failure's code and message, and the user's pointer. */
typedef void (*hd_error_handler)(hd_code code, const char *message, void *user);

/* Every failure calls the handler, on the thread that failed and with the failure's own message,
 * also while an older error stands. A failure inside the handler does not call it again. It returns
 * or ends the process: longjmp and C++ exceptions must not leave it. NULL: none (the default); with
 * HEED_DEBUG=1 in the environment, hd_error_print takes its place. */
HD_API void hd_on_error(hd_error_handler handler, void *user);

/* A ready handler for examples and debuggers. It writes out what stdout still holds, prints the
 * message to stderr and aborts, so that a debugger shows the call that failed.
 *   hd_on_error(hd_error_abort, NULL);
 * With it no call returns a failure: the branches of `if (!x)` are never reached. A program that
 * handles errors itself sets no such handler. */
HD_API void hd_error_abort(hd_code code, const char *message, void *user);

/* A ready handler that prints the message to stderr, after what stdout still holds, and lets the
 * program go on. It leaves out the calls that failed only because they got the NULL of an earlier
 * failure, while that error stands. */
HD_API void hd_error_print(hd_code code, const char *message, void *user);

/* ---------------------------------------------------------------- warnings */

/* A call that is probably a mistake, and that heed does nevertheless, gives a warning. PyTorch
 * warns of these, too:
 *   hd_mse_loss             x and target differ in size
 *   hd_l1_loss              the same
 *   hd_smooth_l1_loss       the same
 *   hd_var                  too few elements for the correction
 *   hd_std                  the same
 *   hd_grad                 of a tensor that is not a leaf, without hd_retain_grad
 *   hd_schedule_step        before the first hd_optim_step
 *   hd_clip_grad_norm_      of an empty list
 *   hd_multihead_attention  two masks of different dtypes
 *   hd_init_kaiming_...     of a tensor without elements
 *   hd_init_trunc_normal_   a mean far outside [a, b]
 *   hd_randint              of float32 or float64: a range with integers that the dtype lacks
 * heed warns of more things, once for each optimizer or number of classes:
 *   hd_optim_step           gradients that the last step used already, and that hd_backward has
 *                           added to since: hd_optim_zero_grad was forgotten; not of gradients that
 *                           the program changes itself, or that a step with lr 0 used, and not
 *                           where the program changes the parameters between two steps
 *   hd_optim_step           of the program's only optimizer, while no step has found a gradient: in
 *                           ten steps hd_backward gave gradients to its parameters, and they were
 *                           freed before the step
 *   hd_optim_step           likewise, and in ten steps none of its parameters required grad: most
 *                           likely it was made before hd_lora_apply or hd_module_freeze
 *   hd_cross_entropy        of what hd_softmax over the classes gave, or of a view of that
 *   hd_backward             the innermost scope owns what a loop made between its first and its
 *                           last backward, three or more, 32 or more outside of the root scope,
 *                           without the largest round: more than half of the live bytes, from 1 GiB
 *                           on, or of the scope's tensors, from 100,000 on, and at each doubling:
 *                           most likely a loop has no HD_SCOPE (hd_scope_report). Nothing is said
 *                           of what hd_retain holds, nor of a loop without a backward
 *   hd_backward             the loss is NaN or infinite; once for each function that gives a loss
 * A call on a checkpoint leaves a directory that it cannot remove. A tokenizer.json gives new added
 * tokens ids that the package tokenizers does not give them. A
 * warning is not a failure, and the thread's error stays as it is. */
typedef void (*hd_warning_handler)(const char *message, void *user);

/* Every warning of the process calls the handler, on the thread that made the call. NULL: nobody is
 * told (the default); with HEED_DEBUG=1 in the environment, hd_warning_print takes its place. The
 * message names the function and the values and says what to do; it lasts until the handler
 * returns. The handler may call heed, also hd_on_warning, or hd_error_set to make the warning an
 * error; a warning of such a call is dropped. It has to return: longjmp and C++ exceptions must not
 * leave it. */
HD_API void hd_on_warning(hd_warning_handler handler, void *user);

/* Gives a warning, which users' ops and modules may do. The arguments are printf's. The message
 * begins as that of hd_fail, and says what to do. Nothing happens if nobody is told. */
HD_API void hd_warn(const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* A ready handler that prints "warning: " and the message to stderr, after what stdout still holds.
 * The same message twice in a row is printed once; hd_on_warning begins again.
 *   hd_on_warning(hd_warning_print, NULL); */
HD_API void hd_warning_print(const char *message, void *user);

/* ---------------------------------------------------------------- debug mode */

/* Turns debug mode on or off for all threads, and returns whether it was on. HEED_DEBUG=1 in the
 * environment turns it on at the start. In debug mode heed looks for the place of a mistake, and
 * tells it through hd_on_warning; the results stay the same, and calls take longer:
 *   The first NaN or infinity: an op whose result has NaN though no input has, or an infinity
 *   though all inputs are finite, gives a warning. It names the function, the first such element
 *   and the module whose forward runs, as "GPT.blocks.0.attention". So does the backward of an op;
 *   there the warning also names the call that recorded it. What came from a NaN or an infinity,
 *   also from one that was saved for backward, gives no further warning, and a value that the
 *   caller gives (hd_masked_fill, hd_full) may be infinite without one.
 *   An error inside the forward of a module: the message ends with the module, "; in GPT.blocks.0".
 *   Every message: it ends with the file and line of the innermost HD_SCOPE of the program (not of
 *   heed's own), if there is one: "; in the scope opened at first.c:12".
 *   A saved tensor that was changed in place: the error of hd_backward names the call that saved it
 *   and the call that changed it, with their modules.
 *   A module that nothing holds: it has run inside of another module's forward, in training and
 *   with a parameter that requires grad, it has no parent, and nobody has freed it when hd_shutdown
 *   runs. "Net runs a Linear that has no parent" is told once for each such pair of types.
 *   Live tensors: hd_tensor_report and hd_shutdown tell which functions made them, in the forward
 *   of which modules. What the graph saved of a tensor counts as a tensor of the same maker.
 * The function is always the one that the program called, such as hd_optim_step; in the forward of
 * a module, also a ready one, it is the one that the forward called.
 * Only what is made while debug mode is on is known in this detail, so turn it on at the start.
 * HEED_DEBUG=1 also prints errors and warnings to stderr where the program has set no handler, and
 * keeps freed blocks out of use for longer (hd_empty_cache). If HEED_CPU or
 * HEED_THREADS is wrong, that is the error, and nothing is turned on or off. */
HD_API bool hd_set_debug(bool on);

/* Two more variables of the environment let a program be watched without a change to it. They are
 * read at the start, and print to stderr; results stay the same.
 *   HEED_TRACE=1         each op when its result is ready, with the shapes of its inputs and of its
 *                        result, and the module whose forward runs; each module's forward, when it
 *                        begins and when it ends; and each step of an optimizer. The last word is
 *                        the node of the result, or the node's name without "Backward" where
 *                        nothing is recorded. What runs inside of a forward stands further right.
 *   HEED_TRACE=backward  each node when hd_backward or hd_grad_of comes to it, with the shapes of
 *                        its gradient and of those that its inputs get, and the call that recorded
 *                        it. The ops of a user's backward, or of a hook, stand below their node.
 *   HEED_TRACE=all       both
 *   HEED_PROFILE=1       where the time went, when the program ends (hd_profile in tensor.h)
 * Each line is written at once. Those of a second thread begin with "thread 2: ", and so on. 0 and
 * an empty text ask for nothing. With any other value every call fails, and says so; likewise with
 * a value of HEED_DEBUG or HEED_CACHE that is neither 0 nor 1. That of HEED_DEBUG is printed. */

/* ---------------------------------------------------------------- memory */

/* All memory of heed comes from hd_alloc. Both functions are thread safe; hd_free takes NULL. */
HD_API void *hd_alloc(size_t size); /* aligned to 16 bytes, from 1 KiB on to 64; NULL: HD_MEMORY */
HD_API void hd_free(void *p);       /* p: from hd_alloc, or from a function that says so */

/* What gives memory in place of the system. alloc and free get `user`, and may be called by several
 * threads at the same time. */
typedef struct hd_allocator {
    size_t size;                                                /* sizeof(hd_allocator) */
    void *(*alloc)(size_t bytes, size_t alignment, void *user); /* NULL: memory ran out */
    void (*free)(void *p, size_t bytes, void *user);            /* bytes: as alloc was asked */
    void *user;                                                 /* is handed to both */
} hd_allocator;

/* Makes hd_alloc take every block from this allocator, one by one and without a cache. NULL: the
 * system's allocator again. It is an error (HD_STATE) while any block is live. */
HD_API bool hd_set_allocator(const hd_allocator *a);

/* Freed memory is kept for the next hd_alloc of any thread, so that a loop asks the system for
 * nothing after its first rounds. The most that is kept:
 *   of each size class up to 1 KiB, as much as was live of it at one time;
 *   for each thread, 6 MB;
 *   of larger blocks, as much as was live at the peak; whenever heed asks the system for more
 *   memory, it keeps at most an eighth of the live bytes and 16 MiB.
 * Blocks above 64 KiB are rounded up to 4 KiB, and lie in huge pages where the system has them.
 * A thread keeps the last 64 blocks of tensors and objects that it freed, up to 4 KiB each, out of
 * use for a while, so that the use of a freed one is an error (heed.h). With $HEED_DEBUG=1 it keeps
 * 65,536 of them, up to 32 MiB; the error names the file and line of the scope; and the data of a
 * freed tensor become NaN (-1, true; a freed text is empty). A kept block counts as freed.
 * With $HEED_CACHE=0, and with hd_set_allocator, nothing is kept. */
HD_API void hd_empty_cache(void); /* returns it to the system, except the 6 MB of other threads */

HD_API int64_t hd_bytes_live(void);    /* bytes that callers hold now; size 0 counts as 1 */
HD_API int64_t hd_bytes_peak(void);    /* the most bytes that were live since the last reset */
HD_API void hd_bytes_peak_reset(void); /* the peak becomes what is live now */
HD_API int64_t hd_system_allocs(void); /* the number of blocks asked of the system so far */

/* ---------------------------------------------------------------- random numbers */

/* A Mersenne twister (MT19937) whose streams are PyTorch's, bit for bit. A seed is a 64-bit two's
 * complement number, of which the low 32 bits are used. The process has one default generator,
 * which a lock protects. Two threads must not draw from any other generator at the same time. */
typedef struct hd_generator hd_generator;

/* The stream that Bernoulli draws and dropout use. docs/architecture.md describes both streams. */
typedef enum hd_bernoulli_stream {
    HD_BERNOULLI_MCG31 = 0, /* PyTorch up to 2.6 on x86-64, as the notebooks print (the default) */
    HD_BERNOULLI_NATIVE = 1 /* PyTorch 2.7 and later */
} hd_bernoulli_stream;

/* a generator with that seed; free with hd_generator_free */
HD_API hd_generator *hd_generator_new(int64_t seed);
HD_API void hd_generator_free(hd_generator *g); /* frees g; takes NULL; the default one: HD_VALUE */
/* begins again; keeps the Bernoulli stream */
HD_API bool hd_generator_seed(hd_generator *g, int64_t seed);
HD_API uint32_t hd_generator_random(hd_generator *g);   /* the next 32-bit output */
HD_API uint64_t hd_generator_random64(hd_generator *g); /* two outputs: high half, low half */

/* The stream that g draws Bernoulli numbers from. */
HD_API bool hd_generator_set_bernoulli(hd_generator *g, hd_bernoulli_stream s);
HD_API hd_bernoulli_stream hd_generator_bernoulli(const hd_generator *g);

/* the process's generator; its first seed is 67280421310721 */
HD_API hd_generator *hd_default_generator(void);
HD_API hd_generator *hd_generator_current(void); /* the generator that this thread draws from */
HD_API bool hd_manual_seed(int64_t seed);        /* seeds what this thread draws from */

/* From now on the calling thread draws from g. NULL: from the default generator again.
 * g must outlive its use. */
HD_API void hd_generator_use(hd_generator *g);

/* ---------------------------------------------------------------- threads and CPU */

/* The work of one call is split over the pool of the process. Results never depend on the size of
 * the pool. If there are no more threads than CPUs, a thread without work looks for more for 50
 * microseconds before it sleeps. The default size is $HEED_THREADS, or else the number of CPUs
 * that affinity and cgroup allow (one at the level plain). n < 1 or n > 1024 is an error. */
HD_API bool hd_set_num_threads(int n);
HD_API int hd_num_threads(void);

/* The level of the kernels in use: "plain", "baseline", "avx2" or "avx512". It is chosen at
 * start-up: the highest that heed was built with and that the CPU has. On other CPUs than x86-64
 * heed has the first two only. $HEED_CPU lowers the level. The level plain is written to be read
 * and stepped through: it is slow, and has one thread unless $HEED_THREADS or hd_set_num_threads
 * says otherwise. A debug build takes it unless $HEED_CPU names another. NULL: HEED_CPU names a
 * level that does not exist, or that the CPU or this build of heed lacks; then every function that
 * creates a tensor fails with that error. */
HD_API const char *hd_cpu_level(void);

/* Closes the calling thread's root scope, ends the pool's threads and returns every cache to the
 * system. heed calls it at exit if the program did not. Tensors must not be used afterwards. */
HD_API void hd_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
