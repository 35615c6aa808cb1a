/* stress.c - runs everything that threads may do at the same time, for a chosen time.
 *
 * Each job of the table runs on its own threads, again and again. Its results must have the bits
 * that one thread computed before. The jobs: readers of shared tensors and of a shared model,
 * backwards into leaves of their own through a shared model that is frozen, gradients of the
 * weights of a shared model by hd_grad_of, generators of their own, draws from the default
 * generator, draws that are taken back, a pool that is resized, forks, signals without SA_RESTART,
 * files, threads that end with open scopes, and handlers that several threads set. Before that,
 * pthread_create fails, once and for good. At the end no tensor and no byte is left.
 *
 * usage: stress [SECONDS] [race]     3 seconds by default
 * With `race`, two threads change one tensor at the same time, which the contract forbids. The
 * thread sanitizer must report it (tests/checks/check_race). */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heed/heed.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#elif __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif
#define WAITS_AT_FORK (UNDER_TSAN || UNDER_ASAN)

/* ---------------------------------------------------------------- checks */

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail(__LINE__, #condition);                                                            \
        }                                                                                          \
    } while (0)

_Noreturn static void fail(int line, const char *what)
{
    fprintf(stderr, "stress.c:%d: not so: %s\n%s\n", line, what, hd_error_message());
    _exit(1);
}

static uint64_t bits_of(const hd_tensor *x)
{
    uint64_t hash = 1469598103934665603u;
    must(x);
    x = hd_contiguous(hd_detach((hd_tensor *)(uintptr_t)x));
    const unsigned char *p = hd_data(x);
    const int64_t n = hd_numel(x) * hd_dtype_size(hd_dtype_of(x));
    for (int64_t i = 0; i < n; i++) {
        hash = (hash ^ p[i]) * 1099511628211u;
    }
    return hash;
}

/* ---------------------------------------------------------------- what is shared */

enum { WIDTH = 32, TOKENS = 16, BATCH = 4, MOST_POOL = 4 };

static struct {
    hd_module *model;  /* in evaluation mode */
    hd_module *frozen; /* its parameters do not require grad */
    hd_module *fails;  /* its forward draws, and fails */
    hd_tensor *x;      /* (BATCH, TOKENS, WIDTH) */
    hd_tensor *w;      /* (WIDTH, WIDTH), a leaf that requires grad */
    hd_tensor *a, *b;  /* (192, 192): a product that the pool shares */
    hd_tensor *racing; /* (64,) */
    hd_dict *state;    /* of the model */
    uint64_t forward, product, gradient, leaf, weights, drawn;
    char text[4096]; /* the summary of the model */
} shared;

static uint64_t forward_bits(void)
{
    HD_SCOPE;
    return bits_of(hd_forward(shared.model, shared.x));
}

static uint64_t product_bits(void)
{
    HD_SCOPE;
    return bits_of(hd_matmul(shared.a, shared.b));
}

/* A graph over a leaf of this thread; the gradient lies in its .grad. */
static uint64_t gradient_bits(void)
{
    HD_SCOPE;
    hd_tensor *p = hd_parameter(hd_clone(hd_detach(shared.w)), true);
    hd_tensor *y = hd_softmax(hd_forward(shared.frozen, hd_matmul(shared.x, p)), -1);
    must(hd_backward(hd_sum(hd_mul(y, y))));
    return bits_of(hd_grad(p));
}

/* A graph over a leaf of all threads: hd_grad_of writes nothing to the leaf. */
static uint64_t leaf_bits(void)
{
    HD_SCOPE;
    hd_tensor *y = hd_tanh(hd_matmul(shared.x, shared.w));
    must(strcmp(hd_node_name(hd_node_input(hd_grad_node(y), 0, NULL)), "UnsafeViewBackward0") == 0);
    must(hd_node_is_leaf(hd_grad_node(shared.w)));
    hd_list *g = hd_grad_of(hd_list_of(hd_mean(y)), hd_list_of(shared.w), NULL, NULL);
    must(g && hd_grad(shared.w) == HD_NONE);
    return bits_of(y) ^ bits_of(hd_list_get(g, 0));
}

/* The gradients of every weight of the shared model. */
static uint64_t weights_bits(void)
{
    HD_SCOPE;
    uint64_t bits = 0;
    hd_list *weights = hd_module_parameters(shared.model);
    hd_tensor *y = hd_forward(shared.model, shared.x);
    hd_list *g = hd_grad_of(hd_list_of(hd_mean(hd_mul(y, y))), weights, NULL, NULL);
    must(hd_list_len(g) == hd_list_len(weights));
    for (int64_t i = 0; i < hd_list_len(g); i++) {
        must(hd_grad(hd_list_get(weights, i)) == HD_NONE);
        bits = bits * 31 + bits_of(hd_list_get(g, i));
    }
    return bits;
}

static uint64_t drawn_bits(void)
{
    HD_SCOPE;
    hd_generator *g = hd_generator_new(5);
    hd_generator_use(g);
    const uint64_t dropped = bits_of(hd_dropout(hd_randn(HD_FLOAT32, 5, 70), 0.3, true));
    const uint64_t bits = dropped ^ bits_of(hd_randperm(100));
    hd_generator_use(NULL);
    hd_generator_free(g);
    return bits;
}

/* What it drew is taken back. */
static hd_tensor *draw_and_fail(hd_module *self, hd_tensor *x)
{
    (void)self;
    return hd_matmul(hd_dropout(x, 0.5, true), shared.a); /* the shapes do not fit */
}

static void share(void)
{
    HD_SCOPE;
    hd_manual_seed(1);
    shared.model = hd_sequential(hd_multi_head_attention_new(WIDTH, WIDTH, TOKENS, 0.1, 4, true),
                                 hd_layer_norm_new(WIDTH), hd_linear_new(WIDTH, 8, true));
    must(hd_module_eval(shared.model));
    shared.frozen = hd_linear_new(WIDTH, WIDTH, true);
    must(hd_module_requires_grad_(shared.frozen, false));
    shared.x = hd_retain(hd_randn(HD_FLOAT32, BATCH, TOKENS, WIDTH));
    shared.w = hd_retain(hd_parameter(hd_randn(HD_FLOAT32, WIDTH, WIDTH), true));
    shared.a = hd_retain(hd_randn(HD_FLOAT32, 192, 192));
    shared.b = hd_retain(hd_randn(HD_FLOAT32, 192, 192));
    shared.racing = hd_retain(hd_zeros(HD_FLOAT32, 64));
    shared.state = hd_module_state_dict(shared.model);
    snprintf(shared.text, sizeof shared.text, "%s", hd_module_summary(shared.model));
    must(hd_set_num_threads(1));
    shared.forward = forward_bits();
    shared.product = product_bits();
    shared.gradient = gradient_bits();
    shared.leaf = leaf_bits();
    shared.weights = weights_bits();
    static const hd_module_type type = HD_MODULE_TYPE(hd_module, "Fails", draw_and_fail);
    shared.fails = hd_module_ready(hd_module_new(&type));
    shared.drawn = drawn_bits();
}

static void give_back(void)
{
    hd_dict_free(shared.state);
    hd_module_free(shared.model);
    hd_module_free(shared.frozen);
    hd_module_free(shared.fails);
    hd_release(shared.x), hd_release(shared.w), hd_release(shared.a);
    hd_release(shared.b), hd_release(shared.racing);
}

/* ---------------------------------------------------------------- pthread_create that fails */

static atomic_int creations_left = -1; /* until it fails for good; negative: it never fails */

/* Takes the place of the system's, in heed too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    int left = atomic_load(&creations_left);
    while (left >= 0 && !atomic_compare_exchange_weak(&creations_left, &left, left - (left > 0))) {
    }
    return left == 0 ? EAGAIN : real(thread, attr, start, arg);
}

/* With 0 to 3 threads that can be had of the 7 that are asked for; then with all of them. */
static void fewer_threads(void)
{
    for (int left = 0; left < MOST_POOL; left++) {
        must(hd_set_num_threads(1));
        atomic_store(&creations_left, left);
        must(hd_set_num_threads(8));
        for (int i = 0; i < 20; i++) {
            must(product_bits() == shared.product && forward_bits() == shared.forward);
        }
        must(hd_error_code() == HD_OK && hd_num_threads() == 8);
        atomic_store(&creations_left, -1);
        must(product_bits() == shared.product);
    }
}

/* ---------------------------------------------------------------- much memory */

enum { GRAPHS = 300, MUCH = 300 << 20 }; /* MUCH: elements; nobody touches them */

static pthread_barrier_t both;

static void *run_others(void *losses)
{
    pthread_barrier_wait(&both);
    for (int i = 0; i < GRAPHS; i++) {
        HD_SCOPE;
        must(hd_backward(((hd_tensor **)losses)[i]));
    }
    return NULL;
}

static void *read_views(void *views)
{
    pthread_barrier_wait(&both);
    for (int i = 0; i < GRAPHS; i++) {
        HD_SCOPE;
        must(hd_mul_scalar(((hd_tensor **)views)[i], 2));
    }
    return NULL;
}

/* At 1 GiB this thread's backward looks at all that its scope has, while another thread runs the
 * graphs of these losses, or uses views whose base has changed. Each thread looks but once. */
static void *much_memory(void *other)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 4), true), *each[GRAPHS]; /* (4,) */
    hd_tensor *y = hd_requires_grad_(hd_ones(HD_FLOAT32, 4), true);                /* (4,) */
    hd_tensor *base = hd_mul_scalar(x, 2);                                         /* (4,) */
    const bool views = *(bool *)other;
    for (int i = 0; i < GRAPHS; i++) {
        each[i] = hd_retain(views ? hd_view(base, 2, 2) : hd_sum(hd_square(hd_exp(x))));
    }
    must(hd_mul_scalar_(base, 3) && hd_empty(HD_FLOAT32, MUCH));
    hd_tensor *mine = hd_sum(hd_square(y)); /* () */
    pthread_t thread;
    must(pthread_create(&thread, NULL, views ? read_views : run_others, each) == 0);
    pthread_barrier_wait(&both);
    must(hd_backward(mine));
    pthread_join(thread, NULL);
    for (int i = 0; i < GRAPHS; i++) {
        hd_release(each[i]);
    }
    return NULL;
}

static void watched_memory(void)
{
    hd_on_warning(hd_warning_print, NULL);
    pthread_barrier_init(&both, NULL, 2);
    for (int views = 0; views < 2; views++) {
        pthread_t thread;
        bool other = views;
        must(pthread_create(&thread, NULL, much_memory, &other) == 0);
        pthread_join(thread, NULL);
    }
    pthread_barrier_destroy(&both);
    hd_on_warning(NULL, NULL);
}

/* ---------------------------------------------------------------- the jobs */

static atomic_bool over;
static atomic_uint_least64_t drawn_xor, signals, failures, warnings;
static atomic_llong draws;

static void read_shared(int round)
{
    HD_SCOPE;
    must(forward_bits() == shared.forward);
    must(hd_dict_get(shared.state, "2.weight") && hd_dict_len(shared.state) > 4);
    if (round % 16 == 0) {
        must(strcmp(hd_module_summary(shared.model), shared.text) == 0);
        must(strncmp(hd_repr(shared.w), "Parameter containing:", 21) == 0);
    }
}

static void run_backward(int round)
{
    must(gradient_bits() == shared.gradient);
    must(leaf_bits() == shared.leaf);
    (void)round;
}

static void grad_of_weights(int round)
{
    must(weights_bits() == shared.weights);
    (void)round;
}

static void draw_alone(int round)
{
    must(drawn_bits() == shared.drawn);
    (void)round;
}

/* The numbers that all threads together get are those that one thread would get. */
static void draw_together(int round)
{
    uint64_t bits = 0;
    for (int i = 0; i < 50; i++) {
        bits ^= hd_generator_random64(hd_default_generator());
    }
    atomic_fetch_xor(&drawn_xor, bits);
    atomic_fetch_add(&draws, 50);
    (void)round;
}

/* Others draw from the default generator, ask for its stream and save it meanwhile. */
static void draw_and_take_back(int round)
{
    HD_SCOPE;
    must(!hd_forward(shared.fails, shared.x) && hd_error_code() == HD_SHAPE);
    hd_error_clear();
    (void)round;
}

static void draw_in_dropout(int round)
{
    HD_SCOPE;
    hd_generator *g = hd_default_generator();
    hd_dict *state = hd_dict_new();
    must(hd_dropout(shared.x, 0.5, true) && hd_generator_bernoulli(g) == HD_BERNOULLI_MCG31);
    must(hd_generator_save(g, state, "g") && hd_generator_set_bernoulli(g, HD_BERNOULLI_MCG31));
    hd_dict_free(state);
    (void)round;
}

static void resize(int round)
{
    must(hd_set_num_threads(1 + round * 7 % MOST_POOL));
    must(product_bits() == shared.product);
}

static void multiply(int round)
{
    must(product_bits() == shared.product);
    (void)round;
}

static void rest(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* If another thread was in the allocator of a sanitizer at a fork, the child waits for that one for
 * ever. So there other threads wait. Under the thread sanitizer the child may make no threads. */
static pthread_rwlock_t forking;

static void forking_init(void)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&forking, &attr);
    pthread_rwlockattr_destroy(&attr);
}

static void fork_child(int round)
{
    if (WAITS_AT_FORK) {
        pthread_rwlock_wrlock(&forking);
    }
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        const bool ok = hd_set_num_threads(UNDER_TSAN ? 1 : 3) &&
                        product_bits() == shared.product && gradient_bits() == shared.gradient;
        _exit(ok && hd_error_code() == HD_OK ? 0 : 1);
    }
    if (WAITS_AT_FORK) {
        pthread_rwlock_unlock(&forking);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        must(errno == EINTR);
    }
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rest(WAITS_AT_FORK ? 200 : 20);
    (void)round;
}

static void files(int round)
{
    HD_SCOPE;
    char path[64];
    snprintf(path, sizeof path, "%s/heed-stress-%ld-%lx",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid(),
             (unsigned long)(uintptr_t)&path);
    must(hd_save_safetensors(path, shared.state));
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = round % 2;
    hd_dict *d = hd_load_safetensors(path, &o);
    must(d && hd_dict_len(d) == hd_dict_len(shared.state));
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        must(bits_of(hd_dict_get(d, name)) == bits_of(hd_dict_get(shared.state, name)));
    }
    hd_dict_free(d);
    unlink(path);
}

static void *leave_scopes_open(void *arg)
{
    for (int i = 0; i < 5; i++) {
        hd_scope_open();
        hd_mul(shared.x, shared.x);
        hd_matmul(shared.x, shared.w);
    }
    hd_add(shared.x, NULL); /* its error stands at the end, too */
    pthread_exit(arg);
}

/* A view whose base was changed in place gets its place in the graph when it is read first. */
static void *use_view(void *view)
{
    HD_SCOPE;
    must(strcmp(hd_grad_fn(hd_mul_scalar(view, 2)), "MulBackward0") == 0);
    must(strcmp(hd_grad_fn(view), "AsStridedBackward0") == 0);
    return NULL;
}

static void short_threads(int round)
{
    HD_SCOPE;
    pthread_t threads[3];
    hd_tensor *base = hd_mul_scalar(shared.w, 3), *view = hd_slice(base, 0, 1, 3);
    must(hd_mul_scalar_(base, 2));
    must(pthread_create(&threads[0], NULL, leave_scopes_open, NULL) == 0);
    must(pthread_create(&threads[1], NULL, use_view, view) == 0);
    must(pthread_create(&threads[2], NULL, use_view, view) == 0);
    for (int i = 0; i < 3; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
    (void)round;
}

static void count_failure(hd_code code, const char *message, void *user)
{
    must(*message && user == &failures && code != HD_OK);
    atomic_fetch_add(&failures, 1);
}

static void count_warning(const char *message, void *user)
{
    must(*message && user == &warnings);
    atomic_fetch_add(&warnings, 1);
}

static void set_handlers(int round)
{
    HD_SCOPE;
    hd_on_error(round % 3 ? count_failure : NULL, &failures);
    hd_on_warning(round % 2 ? count_warning : NULL, &warnings);
    must(!hd_matmul(shared.x, shared.a) && hd_error_code() == HD_SHAPE);
    must(strncmp(hd_error_message(), "hd_matmul: ", 11) == 0);
    hd_error_clear();
    must(hd_mse_loss(hd_ones(HD_FLOAT32, 2, 2), hd_ones(HD_FLOAT32, 2))); /* gives a warning */
}

/* Debug mode goes on and off under the others, and their tensors are listed. hd_arange and
 * hd_flatten rename what they made. */
static void debug_mode(int round)
{
    HD_SCOPE;
    hd_set_debug(round % 4);
    hd_tensor *x = hd_flatten(hd_matmul(shared.x, shared.w), 0, 1);
    must(x && hd_arange(0, round % 9, 0.5));
    hd_tensor_report();
    hd_set_debug(false);
}

static void change_together(int round)
{
    must(hd_add_scalar_(shared.racing, round));
}

/* ---------------------------------------------------------------- threads of jobs */

typedef struct job {
    const char *name;
    void (*run)(int round);
    int threads;
} job;

static const job jobs[] = {
    {"read", read_shared, 2},
    {"backward", run_backward, 2},
    {"gradients", grad_of_weights, 2},
    {"draw alone", draw_alone, 1},
    {"debug", debug_mode, 2},
    {"draw", draw_together, 2},
    {"resize", resize, 1},
    {"multiply", multiply, 2},
    {"fork", fork_child, 1},
    {"files", files, 1},
    {"short threads", short_threads, 1},
    {"handlers", set_handlers, 2},
};
/* Apart from those, because what is taken back was drawn. */
static const job taking_back[] = {
    {"take back", draw_and_take_back, 2},
    {"dropout", draw_in_dropout, 2},
};
static const job racing_jobs[] = {{"race", change_together, 2}};

typedef struct runner {
    const job *job;
    pthread_t thread;
    atomic_int rounds; /* begun */
} runner;

static void *run(void *arg)
{
    runner *r = arg;
    const bool waits = WAITS_AT_FORK && r->job->run != fork_child;
    while (!atomic_load(&over)) {
        if (waits) {
            pthread_rwlock_rdlock(&forking);
        }
        r->job->run(atomic_fetch_add(&r->rounds, 1));
        if (waits) {
            pthread_rwlock_unlock(&forking);
        }
        must(hd_error_code() == HD_OK);
    }
    return NULL;
}

static void on_signal(int number)
{
    (void)number;
    const int kept = errno;
    atomic_fetch_add(&signals, 1);
    errno = kept;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Has each thread begun a round, and has each handler been called? Only `jobs` has handlers. */
static bool all_have_run(const job *list, runner *runners, int n)
{
    bool all = list != jobs || (atomic_load(&signals) > 0 && atomic_load(&failures) > 0 &&
                                atomic_load(&warnings) > 0);
    for (int i = 0; i < n; i++) {
        all &= atomic_load(&runners[i].rounds) > 0;
    }
    return all;
}

/* Runs n jobs for so many seconds, and until all have run, while signals arrive at every thread. */
static void run_jobs(const job *list, int n, double seconds)
{
    enum { MOST = 32 };
    static runner runners[MOST];
    int count = 0, next = 0;
    atomic_store(&over, false);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < list[i].threads; k++) {
            runner *r = &runners[count++];
            *r = (runner){.job = &list[i]};
            must(count <= MOST && pthread_create(&r->thread, NULL, run, r) == 0);
        }
    }
    const double end = now() + seconds;
    for (; now() < end || !all_have_run(list, runners, count); rest(1)) {
        must(pthread_kill(runners[next++ % count].thread, SIGUSR1) == 0);
    }
    atomic_store(&over, true);
    for (int i = 0; i < count; i++) {
        pthread_join(runners[i].thread, NULL);
        printf("%-14s %8d rounds\n", runners[i].job->name, runners[i].rounds);
    }
}

static void check_draws(void)
{
    uint64_t bits = 0;
    must(hd_manual_seed(11));
    for (long long i = atomic_load(&draws); i > 0; i--) {
        bits ^= hd_generator_random64(hd_default_generator());
    }
    must(bits == atomic_load(&drawn_xor));
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 3;
    const bool race = argc > 2 && strcmp(argv[2], "race") == 0;
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    alarm(6000); /* nothing here takes so long, unless it hangs */
    const int64_t tensors = hd_tensor_count(), bytes = hd_bytes_live();
    forking_init();
    share();
    if (race) {
        run_jobs(racing_jobs, 1, seconds);
        return 0;
    }
    fewer_threads();
    watched_memory();
    run_jobs(taking_back, sizeof taking_back / sizeof *taking_back, seconds / 3);
    must(hd_manual_seed(11));
    alarm((unsigned)seconds + 6000);
    run_jobs(jobs, sizeof jobs / sizeof *jobs, seconds);
    hd_on_error(NULL, NULL);
    hd_on_warning(NULL, NULL);
    check_draws();
    give_back();
    must(hd_set_num_threads(1));
    must(hd_tensor_count() == tensors && hd_bytes_live() == bytes);
    printf("%llu signals, %llu failures and %llu warnings handled, %lld draws\n",
           (unsigned long long)signals, (unsigned long long)failures, (unsigned long long)warnings,
           (long long)draws);
    return 0;
}
