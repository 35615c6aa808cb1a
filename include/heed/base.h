/* base.h - errors, warnings, debug mode, memory, random generators and threads.
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

/* Makes the compiler check the arguments of a function like printf. The format is parameter
 * format_at, and its first argument is parameter `first`, counted from 1. With MinGW, `printf`
 * would mean the formats of Microsoft. */
#if defined(__MINGW32__) && !defined(__clang__)
#define HD__PRINTF(format_at, first) __attribute__((format(gnu_printf, format_at, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define HD__PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#else
#define HD__PRINTF(format_at, first)
#endif

/* HD__AT_END(variable, end, value, macro, instead) defines a variable with this value. When the
 * block ends, the function `end` is called with the address of the variable. A compiler without the
 * attribute cleanup refuses the line, and its error says to call the functions `instead` in place
 * of `macro`. TinyCC has the attribute, but glibc's headers define __attribute__ as nothing for
 * TinyCC. */
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

/* The code of an error. The values never change, so a program may store and send them. */
typedef enum hd_code {
    HD_OK = 0,       /* no error is set */
    HD_NULL_ARG = 1, /* an argument is NULL or HD_NONE where an object is required */
    HD_SHAPE = 2,    /* shapes or ranks do not fit */
    HD_DTYPE = 3,    /* the function does not take this dtype */
    HD_INDEX = 4,    /* a dim or an index is out of range */
    HD_VALUE = 5,    /* a number is outside its range, such as p = 1.5 */
    HD_MEMORY = 6,   /* memory ran out, or a size overflows */
    HD_GRAD = 7,     /* the graph that backward needs does not allow the call */
    HD_STATE = 8,    /* the object is not in a state that allows the call */
    HD_IO = 9,       /* the operating system could not open, read or write a file */
    HD_FORMAT = 10,  /* a file or text is malformed */
    HD_USER = 11     /* code of the program failed: an op, a hook, a module or another callback */
} hd_code;

HD_API hd_code hd_error_code(void);         /* the code of the calling thread's error, or HD_OK */
HD_API const char *hd_error_message(void);  /* the message of that error; "" if none is set */
HD_API void hd_error_clear(void);           /* clears the error; the next failure sets a new one */
HD_API const char *hd_code_name(hd_code c); /* c's name, as "SHAPE"; "?" if c is no hd_code */

/* Makes messages begin with the name of a function of your own. Write HD_CALL as the first line of
 * this function:
 *     static hd_tensor *my_loss(hd_tensor *x, hd_tensor *y)
 *     {
 *         HD_CALL("my_loss");
 *         if (hd_ndim(x) != 2) {
 *             return hd_fail(HD_SHAPE, "x has %d dimensions: expected 2", hd_ndim(x));
 *         }
 *         return hd_sum(hd_matmul(x, y));
 *     }
 * Until the enclosing block ends, messages begin with this name: "my_loss: x has 1 dimensions:
 * expected 2". If a function of heed fails, the message has both names: "my_loss: hd_matmul: (2, 3)
 * and (4, 2): inner sizes 3 and 4 differ". Within the block, heed also records this name for each
 * tensor that is made, as the function that made it, and for each object that is freed, as the
 * function that freed it.
 *
 * If one function with HD_CALL calls another, messages begin with the name of the outermost one. In
 * the forward of a module, messages begin with the module's class, as in "GPT: my_loss: ...". They
 * do not name the functions that called this forward.
 *
 * heed keeps a copy of each different name until the process ends, so pass a literal, not a text
 * that differs from call to call. After a longjmp out of the block, the thread keeps using the
 * name.
 *
 * HD_CALL needs GCC, Clang or TinyCC. With another compiler, call hd_call_begin and hd_call_end. */
#define HD_CALL(name)                                                                              \
    HD__AT_END(hd_call HD__JOIN(hd_call_at_, __LINE__), hd_call_cleanup, hd_call_begin(name),      \
               "HD_CALL", "hd_call_begin and hd_call_end")

/* The call that was active before HD_CALL. The end of HD_CALL's block makes it active again. */
typedef struct hd_call {
    const char *name;    /* heed's copy of the call's name; NULL: no call was active */
    const void *forward; /* the module's forward in which the call began; NULL: none */
} hd_call;

HD_API hd_call hd_call_begin(const char *name); /* begins a call; returns the previous one */
HD_API void hd_call_end(hd_call before);        /* makes `before` active again; {0}: no call */

/* Ends the call and makes *before the active call. The end of HD_CALL's block calls this
 * function. */
static inline void hd_call_cleanup(hd_call *before)
{
    hd_call_end(*before);
}

/* Sets the calling thread's error. The message begins with the name from HD_CALL. In the forward of
 * a module, the module's class comes before this name. format and the arguments after it are those
 * of printf. While an error is set, a later error is counted (hd_error_count) but not kept. Returns
 * NULL, so that a function can end in `return hd_fail(...)`. */
HD_API void *hd_fail(hd_code code, const char *format, ...) HD__PRINTF(2, 3);

/* Sets the error and returns NULL, as hd_fail does, but puts no names before the message. */
HD_API void *hd_error_set(hd_code code, const char *format, ...) HD__PRINTF(2, 3);

/* Returns the number of calls that have failed on this thread. A failure counts even while an error
 * is set, and hd_error_clear does not change the number. */
HD_API uint64_t hd_error_count(void);

/* The type of an error handler. It gets the failure's code, its message, and the pointer `user` of
 * hd_on_error. */
typedef void (*hd_error_handler)(hd_code code, const char *message, void *user);

/* Sets the handler that heed calls at every failure, on any thread. It runs on the thread of the
 * failed call and gets the message of that call, even while an older error is set. A failure inside
 * the handler does not call it again. The handler returns or ends the process: longjmp and C++
 * exceptions must not leave it. The default is NULL: no handler, or hd_error_print if HEED_DEBUG=1
 * is in the environment. */
HD_API void hd_on_error(hd_error_handler handler, void *user);

/* A ready handler for examples and debuggers. It flushes stdout, prints the message to stderr and
 * aborts, so that a debugger shows the call that failed.
 *   hd_on_error(hd_error_abort, NULL);
 * With this handler no failed call returns, so a branch such as `if (!x)` never runs. A program
 * that handles errors itself must set another handler, or none. */
HD_API void hd_error_abort(hd_code code, const char *message, void *user);

/* A ready handler that flushes stdout, prints the message to stderr, and lets the program go on.
 * While an error is set, it does not print the failures that follow from this error: those of calls
 * that got the NULL of a failed call. */
HD_API void hd_error_print(hd_code code, const char *message, void *user);

/* ---------------------------------------------------------------- warnings */

/* If a call is probably a mistake, heed carries it out and gives a warning. PyTorch warns of these
 * mistakes, too:
 *   hd_mse_loss             x and target have different shapes
 *   hd_l1_loss              x and target have different shapes
 *   hd_smooth_l1_loss       x and target have different shapes
 *   hd_var                  a result is NaN: at most `correction` elements were reduced to it
 *   hd_std                  a result is NaN: at most `correction` elements were reduced to it
 *   hd_grad                 x is not a leaf, and hd_retain_grad was not called for it
 *   hd_schedule_step        hd_optim_step has not run since the schedule was made
 *   hd_clip_grad_norm_      the list of parameters is empty
 *   hd_multihead_attention  key_padding_mask and attn_mask have different dtypes
 *   hd_init_kaiming_...     x has no elements
 *   hd_init_trunc_normal_   the mean is more than 2 std outside of [a, b]
 *   hd_randint              the dtype is a float that cannot hold all integers of the range
 *
 * heed also warns of the following mistakes. hd_optim_step gives each of its three warnings at most
 * once for each optimizer.
 *
 * hd_optim_step, stale gradients: the loop lacks hd_optim_zero_grad, so the second step uses the
 * gradients of the first step again:
 *     hd_backward(loss);
 *     hd_optim_step(opt);
 * There is no warning if the program changes a gradient or the parameter itself between two steps
 * (clipping does not count), or if the last step had lr 0.
 *
 * hd_optim_step, lost gradients: hd_optim_zero_grad stands between hd_backward and hd_optim_step,
 * so no step finds a gradient:
 *     hd_backward(loss);
 *     hd_optim_zero_grad(opt);
 *     hd_optim_step(opt);
 * The tenth such step in a row warns. There is no warning if any earlier step found a gradient, or
 * while a second optimizer exists.
 *
 * hd_optim_step, frozen parameters: none of the optimizer's parameters requires grad. This happens
 * if the optimizer is made before hd_lora_apply or hd_module_freeze is called. The tenth such step
 * in a row warns, with the same two exceptions as for lost gradients.
 *
 * hd_cross_entropy, softmax twice: hd_cross_entropy does a softmax itself, so x must be the logits:
 *     hd_tensor *wrong = hd_cross_entropy(hd_softmax(x, 1), y);
 * There is at most one warning for each number of classes, and none if hd_softmax was not recorded
 * or ran over another dim.
 *
 * hd_backward, a loop without HD_SCOPE: the scope around the loop keeps the tensors of every
 * iteration:
 *     for (int i = 0; i < steps; i++) {
 *         hd_backward(hd_mse_loss(hd_forward(model, x), y));
 *     }
 * The warning comes if at least 1 GiB is live and these tensors hold more than half of it, or if
 * the scope owns at least 100,000 tensors and the iterations made more than half of them. It comes
 * again each time that the live bytes or the scope's tensors have doubled. The loop must have run 3
 * backwards if the scope is the root scope, and 32 in any other scope. Two groups of tensors do not
 * count: those of the largest iteration, which the program may want to keep, and those that
 * hd_retain holds. There is no warning for a loop without a backward. hd_scope_report lists the
 * tensors.
 *
 * hd_backward, a loss of NaN or infinity: there is at most one warning for each function that makes
 * a loss.
 *
 * A function that saves, replaces or removes a folder, such as a checkpoint, warns if it leaves a
 * directory behind that it cannot remove. hd_tokenizer_json warns if the file states other ids for
 * new added tokens than the Python package tokenizers gives them.
 *
 * Debug mode gives more warnings (hd_set_debug). */

/* The type of a warning handler. It gets the message and the pointer `user` of hd_on_warning. */
typedef void (*hd_warning_handler)(const char *message, void *user);

/* Sets the handler that heed calls at every warning, on the thread of the call that warns. The
 * default is NULL: no handler, or hd_warning_print if HEED_DEBUG=1 is in the environment. Without a
 * handler, warnings are dropped. The message names the function and the values and says what to do.
 * Its text is valid until the handler returns. The handler may call heed, even hd_on_warning, and
 * hd_error_set to turn the warning into an error. Warnings of such calls are dropped. The handler
 * must return: longjmp and C++ exceptions must not leave it. */
HD_API void hd_on_warning(hd_warning_handler handler, void *user);

/* Gives a warning, from an op or a module of your own. The arguments are those of printf. The
 * message begins with the same names as that of hd_fail, and should say what to do. Without a
 * handler the call does nothing. */
HD_API void hd_warn(const char *format, ...) HD__PRINTF(1, 2);

/* A ready handler that flushes stdout and prints "warning: " and the message to stderr. If the same
 * message comes several times in a row, it is printed once. After a call of hd_on_warning it can be
 * printed again.
 *   hd_on_warning(hd_warning_print, NULL); */
HD_API void hd_warning_print(const char *message, void *user);

/* ---------------------------------------------------------------- debug mode */

/* Turns debug mode on or off for all threads, and returns whether it was on. HEED_DEBUG=1 in the
 * environment turns it on at the start. Debug mode finds the place of a mistake and reports it
 * through hd_on_warning and in the messages of errors. Results stay the same, but calls take
 * longer.
 *
 * The first NaN or infinity: an op warns if its result has NaN but no input has, or if its result
 * has an infinity but all inputs are finite. The warning names the function, the first such element
 * and the module whose forward runs, as in "GPT.blocks.0.attention". The backward of an op warns in
 * the same way, and also names the call that recorded the op. A result that follows from an earlier
 * NaN or infinity gives no further warning; this includes a backward that reads such a value from a
 * saved tensor. An infinite value that the caller passes, as to hd_masked_fill or hd_full, gives no
 * warning.
 *
 * An error inside the forward of a module: the message ends with the module, as in "; in
 * GPT.blocks.0".
 *
 * If the program has an open HD_SCOPE, every message ends with the file and line of the innermost
 * one: "; in the scope opened at first.c:12". Scopes that heed itself opens do not count.
 *
 * A saved tensor that was changed in place: the error of hd_backward names the call that saved it
 * and the call that changed it, with their modules.
 *
 * A module that was not registered: hd_shutdown warns of a module without a parent that ran inside
 * the forward of another module and was not freed, as in "Net runs a Linear that has no parent". It
 * warns only if the module is in training mode and has a parameter that requires grad, and only
 * once for each pair of types.
 *
 * Live tensors: hd_tensor_report and hd_shutdown name the functions that made them, and the modules
 * in whose forward these functions ran. If the graph saves a tensor, it makes a second tensor that
 * shares the memory. This second tensor counts, too, as made by the same function.
 *
 * All these messages name the function that the program called, such as hd_optim_step. In the
 * forward of a module, even of one that heed provides, they name the function that this forward
 * called.
 *
 * heed knows these details only for tensors and modules that were made while debug mode was on, so
 * turn it on at the start. HEED_DEBUG=1 does two more things. It prints errors and warnings to
 * stderr if the program has set no handler, and it delays the reuse of freed memory for longer
 * (hd_empty_cache). If the value of HEED_CPU or HEED_THREADS is wrong, hd_set_debug fails: it
 * returns false and changes nothing. */
HD_API bool hd_set_debug(bool on);

/* Two more variables of the environment show the work of a program, without a change to the
 * program. heed reads them at the start and prints to stderr. Results stay the same.
 *   HEED_TRACE=1         prints each op when its result is ready, with the shapes of its inputs and
 *                        of its result, and the module whose forward runs; the beginning and the
 *                        end of each module's forward; and each step of an optimizer. The last word
 *                        of a line is the name of the result's node; if nothing is recorded, it is
 *                        this name without "Backward". Lines from inside of a forward are indented.
 *   HEED_TRACE=backward  prints each node when hd_backward or hd_grad_of reaches it, with the
 *                        shapes of its gradient and of its inputs' gradients, and the call that
 *                        recorded it. The ops of a user's backward, or of a hook, follow below
 *                        their node.
 *   HEED_TRACE=all       prints both
 *   HEED_PROFILE=1       prints where the time went, when the program ends (hd_profile in tensor.h)
 * Each line is written at once. The lines of a second thread begin with "thread 2: ", and so on.
 * "0" and an empty text turn a variable off. With any other value that is not listed here, every
 * call fails with an error that names the variable. The same holds for a value of HEED_DEBUG or
 * HEED_CACHE that is neither 0 nor 1. A wrong value of HEED_DEBUG is also printed. */

/* ---------------------------------------------------------------- memory */

/* Allocates `size` bytes. heed takes all its memory from this function. The block is aligned to 16
 * bytes, or to 64 bytes from a size of 1 KiB on. If memory runs out, returns NULL with HD_MEMORY.
 * Any thread may call it. */
HD_API void *hd_alloc(size_t size);
/* Frees p, which comes from hd_alloc or from a function whose comment names hd_free. Any thread may
 * call it. Does nothing for NULL. */
HD_API void hd_free(void *p);

/* An allocator that heed uses in place of the system's. heed may call alloc and free from several
 * threads at the same time. */
typedef struct hd_allocator {
    size_t size;                                                /* sizeof(hd_allocator) */
    void *(*alloc)(size_t bytes, size_t alignment, void *user); /* returns NULL if memory ran out */
    void (*free)(void *p, size_t bytes, void *user);            /* bytes: as given to alloc */
    void *user;                                                 /* passed to alloc and free */
} hd_allocator;

/* Makes hd_alloc request every block from a, one by one and without a cache. a NULL: from the
 * system again. The call fails with HD_STATE while any block of heed is live. */
HD_API bool hd_set_allocator(const hd_allocator *a);

/* heed keeps freed memory for later calls of hd_alloc. So a loop asks the system for no memory
 * after its first iterations. heed keeps at most:
 *   blocks up to 1 KiB  in each thread: 2 MiB of each of 16 sizes, which only this thread reuses
 *   up to 64 KiB        in each thread: 3.3 MB in all, which only this thread reuses
 *   above 1 KiB         for all threads: as many bytes as were live at the peak; before heed asks
 *                       the system for more memory, it gives back the part above 16 MiB plus an
 *                       eighth of the live bytes
 * The sizes of blocks above 64 KiB are rounded up to a multiple of 4 KiB. These blocks lie in huge
 * pages if the system has them.
 *
 * A thread does not reuse the last 64 blocks of tensors and objects that it freed, if they have at
 * most 4 KiB each. So heed can report the use of a freed tensor or object as an error (heed.h).
 * With HEED_DEBUG=1 in the environment it keeps 65,536 such blocks, up to 32 MiB in sum. The error
 * then also names the file and line of the scope. The elements of a freed tensor become NaN
 * (integers become -1, bools true), and a freed text becomes empty. hd_bytes_live does not count
 * these blocks. With HEED_CACHE=0 in the environment, and with hd_set_allocator, heed keeps
 * nothing. */

/* Gives the freed memory that heed keeps back to the system, except the blocks that other threads
 * keep in their own lists. */
HD_API void hd_empty_cache(void);

HD_API int64_t hd_bytes_live(void);    /* bytes that are allocated now; an empty block counts 1 */
HD_API int64_t hd_bytes_peak(void);    /* the most bytes that were live since the last reset */
HD_API void hd_bytes_peak_reset(void); /* sets the peak to the bytes that are live now */
HD_API int64_t hd_system_allocs(void); /* blocks requested from the system so far */

/* ---------------------------------------------------------------- random numbers */

/* A random generator: a Mersenne twister (MT19937), whose streams are PyTorch's, bit for bit. It
 * uses the low 32 bits of a seed (in two's complement). The process has one default generator,
 * which a lock protects. No other generator may be used by two threads at the same time. */
typedef struct hd_generator hd_generator;

/* The stream of Bernoulli draws and of dropout. docs/architecture.md describes both streams. */
typedef enum hd_bernoulli_stream {
    HD_BERNOULLI_MCG31 = 0, /* the default: the stream of PyTorch up to 2.6 on x86-64 */
    HD_BERNOULLI_NATIVE = 1 /* the stream of PyTorch 2.7 and later */
} hd_bernoulli_stream;

/* makes a generator with that seed; free it with hd_generator_free */
HD_API hd_generator *hd_generator_new(int64_t seed);
/* frees g, which may be NULL; HD_VALUE if g is the default generator */
HD_API void hd_generator_free(hd_generator *g);
/* restarts g with that seed; the choice of the Bernoulli stream stays */
HD_API bool hd_generator_seed(hd_generator *g, int64_t seed);
HD_API uint32_t hd_generator_random(hd_generator *g);   /* the next 32-bit output */
HD_API uint64_t hd_generator_random64(hd_generator *g); /* two outputs: high half, then low half */

/* Set or return the stream from which g draws Bernoulli numbers. */
HD_API bool hd_generator_set_bernoulli(hd_generator *g, hd_bernoulli_stream s);
HD_API hd_bernoulli_stream hd_generator_bernoulli(const hd_generator *g);

/* returns the process's default generator, whose seed is 67280421310721 at the start */
HD_API hd_generator *hd_default_generator(void);
HD_API hd_generator *hd_generator_current(void); /* the generator that this thread draws from */
HD_API bool hd_manual_seed(int64_t seed);        /* seeds this thread's generator */

/* Makes the calling thread draw from g. g must live as long as the thread draws from it. NULL: the
 * thread draws from the default generator again. */
HD_API void hd_generator_use(hd_generator *g);

/* ---------------------------------------------------------------- threads and CPU */

/* Set or return the number of threads among which one call divides its work. Results never depend
 * on it. The default is the value of HEED_THREADS in the environment. Without this variable, it is
 * the number of CPUs that affinity and cgroup allow, or one at the CPU level plain.
 * hd_set_num_threads fails with HD_VALUE unless n is 1 to 1024. If there are no more threads than
 * CPUs, a thread without work waits actively for 50 microseconds before it sleeps. */
HD_API bool hd_set_num_threads(int n);
HD_API int hd_num_threads(void);

/* Returns the CPU level, which is the set of kernels in use: "plain", "baseline", "avx2" or
 * "avx512". At the start heed chooses the highest level that the build has and the CPU supports.
 * CPUs other than x86-64 have "plain" and "baseline" only. HEED_CPU in the environment can name a
 * lower level. The level plain is written to be read and to be stepped through in a debugger: it is
 * slow, and uses one thread unless HEED_THREADS or hd_set_num_threads says otherwise. A debug build
 * uses it unless HEED_CPU names another level. If HEED_CPU names a level that does not exist, or
 * one that the CPU or this build lacks, the call returns NULL and sets an error. Every function
 * that creates a tensor then fails with this error. */
HD_API const char *hd_cpu_level(void);

/* Closes the calling thread's root scope, ends the pool's threads and gives every cache back to the
 * system. heed calls it at exit if the program did not. Afterwards, the program must not use
 * tensors. */
HD_API void hd_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
