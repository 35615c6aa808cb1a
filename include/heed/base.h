/* base.h - errors, memory, random generators and threads, which every layer of heed uses.
 *
 * heed.h states the contract of the whole API (ownership, errors, threads, determinism). Any thread
 * may call the functions here; errors and hd_generator_use are per thread. */
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

/* The compiler checks the arguments of a function like printf. MinGW's own printf formats are those
 * of Microsoft. */
#if defined(__MINGW32__) && !defined(__clang__)
#define HD__PRINTF(format_at, first) __attribute__((format(gnu_printf, format_at, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define HD__PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#else
#define HD__PRINTF(format_at, first)
#endif

/* HD__AT_END(variable, end, value, macro, instead) defines a variable with this value. When the
 * block ends, the function `end` gets its address. A compiler without the attribute cleanup refuses
 * the line, and its error names the functions to call instead of the macro. TinyCC has the
 * attribute, but glibc's headers define __attribute__ away for it. */
#if defined(__TINYC__)
#undef __attribute__
#endif
#if defined(__GNUC__) || defined(__clang__) || defined(__TINYC__)
#define HD__AT_END(variable, end, value, ...) variable __attribute__((cleanup(end), unused)) = value
#elif defined(__cplusplus)
#define HD__AT_END(variable, end, value, macro, instead)                                           \
    static_assert(false, macro HD__NO_CLEANUP instead ".")
#else
#define HD__AT_END(variable, end, value, macro, instead)                                           \
    _Static_assert(0, macro HD__NO_CLEANUP instead ".")
#endif
#define HD__NO_CLEANUP                                                                             \
    " needs GCC, Clang or TinyCC: this compiler lacks the attribute cleanup. Instead, call "
#define HD__JOIN2(a, b) a##b
#define HD__JOIN(a, b) HD__JOIN2(a, b)

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
    HD_OK = 0,       /* no error is set */
    HD_NULL_ARG = 1, /* an argument is NULL or HD_NONE, and an object is required */
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
HD_API const char *hd_error_message(void);  /* its text; "" when no error is set; never NULL */
HD_API void hd_error_clear(void);           /* forgets it; the next failure is then kept again */
HD_API const char *hd_code_name(hd_code c); /* "SHAPE"; "?" for a value that is no code */

/* Gives a function of your own the name that its messages begin with. It stands in the function's
 * first line:
 *     static hd_tensor *my_loss(hd_tensor *x, hd_tensor *y)
 *     {
 *         HD_CALL("my_loss");
 *         if (hd_ndim(x) != 2) {
 *             return hd_fail(HD_SHAPE, "x has %d dimensions: expected 2", hd_ndim(x));
 *         }
 *         return hd_sum(hd_matmul(x, y));
 *     }
 * The name is used until the enclosing block ends. Messages begin with it: "my_loss: x has 1
 * dimensions: expected 2". If a function of heed fails, the message has both names: "my_loss:
 * hd_matmul: (2, 3) and (4, 2): inner sizes 3 and 4 differ". heed notes my_loss as the maker of
 * each tensor that is made, and as the function that freed each object that is freed, until then.
 *
 * If functions with a name call each other, messages begin with the name of the outermost one. In
 * the forward of a module, messages begin with the module's class, as in "GPT: my_loss: ...", and
 * leave out the functions around that forward.
 *
 * heed keeps a copy of each name as long as the process lasts, so a name should be a literal. After
 * a longjmp out of the block, the thread keeps using the name.
 *
 * HD_CALL needs GCC, Clang or TinyCC. With another compiler, call hd_call_begin and hd_call_end. */
#define HD_CALL(name)                                                                              \
    HD__AT_END(hd_call HD__JOIN(hd_call_at_, __LINE__), hd_call_cleanup, hd_call_begin(name),      \
               "HD_CALL", "hd_call_begin and hd_call_end")

/* The name that was used before HD_CALL, kept until its block ends. */
typedef struct hd_call {
    const char *name;    /* heed's copy of its name; NULL: there is none */
    const void *forward; /* identifies the forward that it began in */
} hd_call;

HD_API hd_call hd_call_begin(const char *name); /* begins a call; returns the call before */
HD_API void hd_call_end(hd_call before);        /* back to the call before; {0}: to no call */

/* Ends the call. The end of HD_CALL's block calls it. */
static inline void hd_call_cleanup(hd_call *before)
{
    hd_call_end(*before);
}

/* Sets the calling thread's error. The message begins with the name of HD_CALL, and in the forward
 * of a module with the module's class before that. The arguments are those of printf. While an
 * error is set, a later error is counted but not kept. Returns NULL, so that a function may end in
 * `return hd_fail(...)`. */
HD_API void *hd_fail(hd_code code, const char *format, ...) HD__PRINTF(2, 3);

/* Sets the error as hd_fail does, but puts nothing before the message. */
HD_API void *hd_error_set(hd_code code, const char *format, ...) HD__PRINTF(2, 3);

/* The number of calls that have failed on this thread. A failure counts even while an error is set,
 * and hd_error_clear does not change the number. */
HD_API uint64_t hd_error_count(void);

/* The type of an error handler. It gets the failure's code and message, and the user's pointer. */
typedef void (*hd_error_handler)(hd_code code, const char *message, void *user);

/* Sets the handler that every failure of the process calls. It runs on the thread of the failed
 * call and gets the message of that call, even while an older error is set. A failure inside the
 * handler does not call it again. The handler returns or ends the process: longjmp and C++
 * exceptions must not leave it. NULL: no handler (the default); with HEED_DEBUG=1 in the
 * environment, hd_error_print takes its place. */
HD_API void hd_on_error(hd_error_handler handler, void *user);

/* A ready handler for examples and debuggers. It flushes stdout, prints the message to stderr and
 * aborts, so that a debugger shows the call that failed.
 *   hd_on_error(hd_error_abort, NULL);
 * With this handler no call returns a failure, so the branches of `if (!x)` never run. A program
 * that handles errors itself sets another handler, or none. */
HD_API void hd_error_abort(hd_code code, const char *message, void *user);

/* A ready handler that flushes stdout, prints the message to stderr, and lets the program go on.
 * While an error is set, it does not print the failures that follow from it: calls that were given
 * the NULL of a failed call. */
HD_API void hd_error_print(hd_code code, const char *message, void *user);

/* ---------------------------------------------------------------- warnings */

/* A call that is probably a mistake, and that heed does nevertheless, gives a warning. PyTorch
 * warns of these mistakes, too:
 *   hd_mse_loss             x and target have different shapes
 *   hd_l1_loss              x and target have different shapes
 *   hd_smooth_l1_loss       x and target have different shapes
 *   hd_var                  a result is NaN: it has no more elements than the correction
 *   hd_std                  a result is NaN: it has no more elements than the correction
 *   hd_grad                 x is not a leaf, and hd_retain_grad was not called for it
 *   hd_schedule_step        hd_optim_step has not run since the schedule was made
 *   hd_clip_grad_norm_      the list of parameters is empty
 *   hd_multihead_attention  key_padding_mask and attn_mask have different dtypes
 *   hd_init_kaiming_...     x has no elements
 *   hd_init_trunc_normal_   the mean is more than 2 std outside of [a, b]
 *   hd_randint              float32 or float64 lacks some integers of the range
 *
 * heed also warns of the mistakes below. hd_optim_step gives each of its warnings at most once for
 * each optimizer.
 *
 * hd_optim_step, stale gradients: a loop without hd_optim_zero_grad, so that the second step uses
 * the gradients of the first again:
 *     hd_backward(loss);
 *     hd_optim_step(opt);
 * No warning if the program changes a gradient or the parameter itself between two steps (clipping
 * is no such change), or if the last step had lr 0.
 *
 * hd_optim_step, lost gradients: hd_optim_zero_grad between hd_backward and hd_optim_step, so that
 * no step finds a gradient:
 *     hd_backward(loss);
 *     hd_optim_zero_grad(opt);
 *     hd_optim_step(opt);
 * The tenth such step in a row warns. No warning after a step that found a gradient, and none while
 * there is a second optimizer.
 *
 * hd_optim_step, frozen parameters: none of the optimizer's parameters requires grad, because it
 * was made before hd_lora_apply or hd_module_freeze. The tenth such step in a row warns, with the
 * same two exceptions.
 *
 * hd_cross_entropy, softmax twice: hd_cross_entropy does a softmax itself, so x must be the logits:
 *     hd_tensor *wrong = hd_cross_entropy(hd_softmax(x, 1), y);
 * At most one warning for each number of classes. No warning if hd_softmax was not recorded, or ran
 * over another dim.
 *
 * hd_backward, a loop without HD_SCOPE, so that the scope around it keeps the tensors of every
 * round:
 *     for (int i = 0; i < steps; i++) {
 *         hd_backward(hd_mse_loss(hd_forward(model, x), y));
 *     }
 * The warning comes if these tensors have more than half of all live bytes, from 1 GiB on, or are
 * more than half of the scope's tensors, from 100,000 on. It comes again each time that one of
 * these numbers has doubled. The loop must have run 3 backwards if the scope is the root scope, and
 * 32 in any other scope. The largest round does not count, because the program may want to keep it,
 * and neither do tensors that hd_retain holds. No warning for a loop without a backward.
 * hd_scope_report lists the tensors.
 *
 * hd_backward, a loss of NaN or infinity: at most one warning for each function that makes a loss.
 *
 * Files: a call that saves, replaces or removes a folder (such as a checkpoint) leaves a directory
 * that it cannot remove. A tokenizer.json gives new added tokens ids that the package tokenizers
 * does not give them.
 *
 * Debug mode gives more warnings (hd_set_debug). */

/* The type of a warning handler. It gets the message and the user's pointer. */
typedef void (*hd_warning_handler)(const char *message, void *user);

/* Sets the handler that every warning of the process calls, on the thread of the call that warns.
 * NULL: warnings are dropped (the default); with HEED_DEBUG=1 in the environment, hd_warning_print
 * takes its place. The message names the function and the values and says what to do; the text
 * lasts until the handler returns. The handler may call heed: hd_on_warning too, and hd_error_set,
 * which makes an error of the warning. If such a call warns, that warning is dropped. The handler
 * must return: longjmp and C++ exceptions must not leave it. */
HD_API void hd_on_warning(hd_warning_handler handler, void *user);

/* Gives a warning, from an op or a module of your own. The arguments are those of printf. The
 * message begins as that of hd_fail does, and should say what to do. Without a handler nothing
 * happens. */
HD_API void hd_warn(const char *format, ...) HD__PRINTF(1, 2);

/* A ready handler that flushes stdout and prints "warning: " and the message to stderr. The same
 * message twice in a row is printed once; after a call of hd_on_warning it is printed again.
 *   hd_on_warning(hd_warning_print, NULL); */
HD_API void hd_warning_print(const char *message, void *user);

/* ---------------------------------------------------------------- debug mode */

/* Turns debug mode on or off for all threads, and returns whether it was on. HEED_DEBUG=1 in the
 * environment turns it on at the start. Debug mode finds the place of a mistake and reports it
 * through hd_on_warning. Results stay the same, and calls take longer.
 *
 * The first NaN or infinity: an op warns if its result has NaN and no input has, or if its result
 * has an infinity and all inputs are finite. The warning names the function, the first such element
 * and the module whose forward runs, as "GPT.blocks.0.attention". The backward of an op warns in
 * the same way, and also names the call that recorded it. A result that follows from an earlier NaN
 * or infinity gives no further warning; this includes a backward that reads one from a saved
 * tensor. A value that the caller gives (hd_masked_fill, hd_full) may be infinite.
 *
 * An error inside the forward of a module: the message ends with the module, "; in GPT.blocks.0".
 *
 * Every message ends with the file and line of the program's innermost HD_SCOPE (not of heed's
 * own), if there is one: "; in the scope opened at first.c:12".
 *
 * A saved tensor that was changed in place: the error of hd_backward names the call that saved it
 * and the call that changed it, with their modules.
 *
 * A module that was not registered: hd_shutdown warns, as in "Net runs a Linear that has no
 * parent", of a module that ran inside of another module's forward and was not freed. It warns only
 * of a module in training mode that has a parameter that requires grad and no parent, and once for
 * each such pair of types.
 *
 * Live tensors: hd_tensor_report and hd_shutdown name the functions that made them, and the modules
 * in whose forward. The graph's alias of a saved tensor counts as one more tensor of the same
 * maker.
 *
 * The function is always the one that the program called, such as hd_optim_step. In the forward of
 * a module, also of a ready one, it is the one that the forward called.
 *
 * heed knows these details only of things that were made while debug mode was on, so turn it on at
 * the start. HEED_DEBUG=1 does two more things. It prints errors and warnings to stderr if the
 * program has set no handler, and it keeps freed blocks out of use for longer (hd_empty_cache). If
 * HEED_CPU or HEED_THREADS is wrong, the call fails and changes nothing. */
HD_API bool hd_set_debug(bool on);

/* Two more variables of the environment show what a program does, without a change to it. heed
 * reads them at the start, and prints to stderr. Results stay the same.
 *   HEED_TRACE=1         each op when its result is ready, with the shapes of its inputs and of its
 *                        result, and the module whose forward runs; the beginning and the end of
 *                        each module's forward; and each step of an optimizer. The last word of a
 *                        line is the node of the result, or the node's name without "Backward" if
 *                        nothing is recorded. Lines from inside of a forward are indented.
 *   HEED_TRACE=backward  each node when hd_backward or hd_grad_of reaches it, with the shapes of
 *                        its gradient and of its inputs' gradients, and the call that recorded it.
 *                        The ops of a user's backward, or of a hook, follow below their node.
 *   HEED_TRACE=all       both
 *   HEED_PROFILE=1       where the time went, when the program ends (hd_profile in tensor.h)
 * Each line is written at once. The lines of a second thread begin with "thread 2: ", and so on. 0
 * and an empty text turn a variable off. Any other value makes every call fail with an error that
 * names the variable; so does a value of HEED_DEBUG or HEED_CACHE that is neither 0 nor 1. A wrong
 * HEED_DEBUG is printed, too. */

/* ---------------------------------------------------------------- memory */

/* hd_alloc gives all of heed's memory, and hd_free takes it back. Both are thread safe; hd_free
 * takes NULL. */
HD_API void *hd_alloc(size_t size); /* aligned to 16 bytes, from 1 KiB on to 64; NULL: HD_MEMORY */
HD_API void hd_free(void *p);       /* p: from hd_alloc, or from a function that names hd_free */

/* An allocator that takes the system's place. Several threads may call alloc and free at the same
 * time. */
typedef struct hd_allocator {
    size_t size;                                                /* sizeof(hd_allocator) */
    void *(*alloc)(size_t bytes, size_t alignment, void *user); /* returns NULL if memory ran out */
    void (*free)(void *p, size_t bytes, void *user);            /* bytes: the size alloc got */
    void *user;                                                 /* the last argument of both */
} hd_allocator;

/* Makes hd_alloc take every block from this allocator, one by one and without a cache. NULL: from
 * the system again. While any block is live, the call fails with HD_STATE. */
HD_API bool hd_set_allocator(const hd_allocator *a);

/* heed keeps freed memory for the next hd_alloc of any thread, so that a loop asks the system for
 * nothing after its first rounds. It keeps at most:
 *   size classes up to 1 KiB  for each class, the most bytes that were live of it at one time
 *   each thread               6 MB
 *   larger blocks             the most bytes that were live at the peak; when heed asks the system
 *                             for more memory, it first gives back all but an eighth of the live
 *                             bytes and 16 MiB
 * Blocks above 64 KiB are rounded up to 4 KiB, and lie in huge pages where the system has them.
 *
 * A thread keeps the last 64 blocks of tensors and objects that it freed, up to 4 KiB each, out of
 * use for a while. So the use of a freed one is an error (heed.h). With HEED_DEBUG=1 in the
 * environment it keeps 65,536 of them, up to 32 MiB. The error then names the file and line of the
 * scope, and the elements of a freed tensor become NaN (integers -1, bools true; a freed text
 * becomes empty). A kept block counts as freed. With HEED_CACHE=0, and with hd_set_allocator, heed
 * keeps nothing. */
HD_API void hd_empty_cache(void); /* gives kept memory back, but for the 6 MB of other threads */

HD_API int64_t hd_bytes_live(void);    /* bytes that callers hold now; size 0 counts as 1 */
HD_API int64_t hd_bytes_peak(void);    /* the most bytes that were live since the last reset */
HD_API void hd_bytes_peak_reset(void); /* the peak becomes the bytes that are live */
HD_API int64_t hd_system_allocs(void); /* the number of blocks asked of the system so far */

/* ---------------------------------------------------------------- random numbers */

/* A Mersenne twister (MT19937) with PyTorch's streams, bit for bit. Of a seed, the low 32 bits
 * (two's complement) are used. The process has one default generator, which a lock protects. Two
 * threads must not draw from any other generator at the same time. */
typedef struct hd_generator hd_generator;

/* The stream of Bernoulli draws and of dropout. docs/architecture.md describes both streams. */
typedef enum hd_bernoulli_stream {
    HD_BERNOULLI_MCG31 = 0, /* PyTorch up to 2.6 on x86-64, as the notebooks print (the default) */
    HD_BERNOULLI_NATIVE = 1 /* PyTorch 2.7 and later */
} hd_bernoulli_stream;

/* makes a generator with that seed; free it with hd_generator_free */
HD_API hd_generator *hd_generator_new(int64_t seed);
HD_API void hd_generator_free(hd_generator *g); /* frees g; takes NULL; the default one: HD_VALUE */
/* begins again with that seed; the Bernoulli stream stays */
HD_API bool hd_generator_seed(hd_generator *g, int64_t seed);
HD_API uint32_t hd_generator_random(hd_generator *g);   /* the next 32-bit output */
HD_API uint64_t hd_generator_random64(hd_generator *g); /* two outputs: high half, low half */

/* Sets and returns the stream that g draws Bernoulli numbers from. */
HD_API bool hd_generator_set_bernoulli(hd_generator *g, hd_bernoulli_stream s);
HD_API hd_bernoulli_stream hd_generator_bernoulli(const hd_generator *g);

/* the process's generator; its first seed is 67280421310721 */
HD_API hd_generator *hd_default_generator(void);
HD_API hd_generator *hd_generator_current(void); /* the generator that this thread draws from */
HD_API bool hd_manual_seed(int64_t seed);        /* seeds this thread's generator */

/* Makes the calling thread draw from g, which must outlive this use. NULL: from the default
 * generator again. */
HD_API void hd_generator_use(hd_generator *g);

/* ---------------------------------------------------------------- threads and CPU */

/* One call splits its work over the threads of the process's pool. Results never depend on their
 * number. The default is HEED_THREADS of the environment, or else the number of CPUs that affinity
 * and cgroup allow (one at the level plain). n < 1 or n > 1024 is an error. If there are no more
 * threads than CPUs, a thread without work looks for more for 50 microseconds before it sleeps. */
HD_API bool hd_set_num_threads(int n);
HD_API int hd_num_threads(void);

/* The level of the kernels in use: "plain", "baseline", "avx2" or "avx512". heed chooses it at the
 * start: the highest that the build has and the CPU supports. CPUs other than x86-64 have "plain"
 * and "baseline" only. HEED_CPU in the environment names a lower level. The level plain is written
 * for reading and stepping in a debugger: it is slow, and has one thread unless HEED_THREADS or
 * hd_set_num_threads says otherwise. A debug build uses it unless HEED_CPU names another. NULL:
 * HEED_CPU names a level that does not exist, or that the CPU or this build lacks; then every
 * function that creates a tensor fails with that error. */
HD_API const char *hd_cpu_level(void);

/* Closes the calling thread's root scope, ends the pool's threads and gives every cache back to the
 * system. heed calls it at exit if the program did not. Afterwards, the program must not use
 * tensors. */
HD_API void hd_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
