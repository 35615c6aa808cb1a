/* products.c - heed-products: times products of float32 matrices, by heed or by another library
 * with the same loop. products.py runs it.
 *
 *   heed-products THREADS                  hd_matmul
 *   heed-products THREADS FILE FUNCTION    a function of the library in FILE; its name ends in
 *                                          cblas_sgemm or in dnnl_sgemm
 *
 * One process measures all products. A line of stdin is "M N K nn" or "M N K nt", which makes the
 * matrices of a product, or "turn", which measures this product. The program answers each line with
 * a line of JSON. */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: heed-products THREADS [FILE FUNCTION]\n";

/* A turn has as many products as take turn_ns. Products for warm_ns come before it and are not
 * timed: a thread that has slept runs on the CPU of its caller for some milliseconds. */
static const double turn_ns = 5e6, warm_ns = 10e6;

/* ---------------------------------------------------------------- one product */

typedef void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef int dnnl_sgemm(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                       const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                       float *c, int64_t ldc);
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 }; /* of CBLAS */

/* The other library's function; both are NULL if heed is measured. */
static cblas_sgemm *cblas;
static dnnl_sgemm *dnnl;

typedef struct product {
    int64_t m, n, k;
    bool transposed; /* b is (n, k) in memory */
    hd_tensor *a;    /* (m, k) */
    hd_tensor *b;    /* (k, n) */
    hd_tensor *c;    /* (m, n), the result of another library */
    double first;    /* nanoseconds of one product */
} product;

static hd_tensor *multiply(const product *p)
{
    if (!cblas && !dnnl) {
        return hd_matmul(p->a, p->b);
    }
    const float *a = hd_data(p->a), *b = hd_data(p->b);
    float *c = hd_data_mut(p->c);
    int64_t m = p->m, n = p->n, k = p->k, ldb = p->transposed ? k : n;
    if (cblas) {
        cblas(ROW_MAJOR, AS_IT_IS, p->transposed ? TRANSPOSED : AS_IT_IS, (int)m, (int)n, (int)k, 1,
              a, (int)k, b, (int)ldb, 0, c, (int)n);
    } else {
        dnnl('N', p->transposed ? 'T' : 'N', m, n, k, 1, a, k, b, ldb, 0, c, n);
    }
    return p->c;
}

/* Compares elements of c with their sums in float64. Returns the largest difference, as a share of
 * the largest element. */
static double error_of(const product *p, const hd_tensor *c)
{
    enum { TERMS = 10000000 };
    int64_t step = p->m * p->n * p->k / TERMS | 1, between = p->transposed ? 1 : p->n;
    const float *results = hd_data(c);
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < p->m * p->n; i += step) {
        const float *a = (const float *)hd_data(p->a) + i / p->n * p->k;
        const float *b = (const float *)hd_data(p->b) + i % p->n * (p->transposed ? p->k : 1);
        double sum = 0;
        for (int64_t l = 0; l < p->k; l++) {
            sum += (double)a[l] * (double)b[l * between];
        }
        worst = fmax(worst, fabs((double)results[i] - sum));
        largest = fmax(largest, fabs(sum));
    }
    return worst / largest;
}

static double time_of_one(const product *p)
{
    double begin = bench_now();
    {
        HD_SCOPE;
        multiply(p);
    }
    return bench_now() - begin;
}

static void end_product(product *p)
{
    hd_release(p->a);
    hd_release(p->b);
    hd_release(p->c);
}

static bool begin_product(product *p)
{
    HD_SCOPE;
    hd_manual_seed(123);
    p->a = hd_retain(hd_randn(HD_FLOAT32, p->m, p->k));
    p->b = hd_retain(p->transposed ? hd_t(hd_randn(HD_FLOAT32, p->n, p->k))
                                   : hd_randn(HD_FLOAT32, p->k, p->n));
    p->c = hd_retain(hd_zeros(HD_FLOAT32, p->m, p->n));
    hd_tensor *c = p->c ? multiply(p) : NULL;
    if (!c) {
        return false;
    }
    double error = error_of(p, c), end = bench_now() + warm_ns;
    p->first = time_of_one(p);
    while (bench_now() < end) {
        p->first = fmin(p->first, time_of_one(p));
    }
    printf("{\"error\": %.3g}\n", error);
    return true;
}

/* ---------------------------------------------------------------- turns */

/* The clock of this core in GHz: a chain of multiplications of integers, which take three cycles
 * each on the x86-64 CPUs of AMD and Intel. 0: not known. */
static double clock_now(void)
{
#ifdef __x86_64__
    enum { CHAIN = 20000, CYCLES = 3 };
    uint64_t x = 3;
    double begin = bench_now();
    for (int i = 0; i < CHAIN; i++) {
        __asm__ volatile("imul %0, %0" : "+r"(x));
    }
    return CHAIN * CYCLES / (bench_now() - begin);
#else
    return 0;
#endif
}

/* A turn of heed's process also has the better one of the peaks before and after it. */
static void turn(const product *p, int threads)
{
    bool is_heed = !cblas && !dnnl;
    int calls = 1 + (int)(turn_ns / p->first);
    double before = is_heed ? bench_peak_flops(threads) : 0, end = bench_now() + warm_ns;
    do {
        time_of_one(p);
    } while (bench_now() < end);
    double begin = bench_now();
    for (int i = 0; i < calls; i++) {
        HD_SCOPE;
        multiply(p);
    }
    double ns = (bench_now() - begin) / calls, ghz = clock_now();
    double after = is_heed ? bench_peak_flops(threads) : 0;
    printf("{\"ns\": %.1f, \"ghz\": %.3f, \"peak\": %.3f}\n", ns, ghz, fmax(before, after));
}

static bool serve(int threads)
{
    char line[64];
    product p = {0};
    bool ok = hd_set_num_threads(cblas || dnnl ? 1 : threads);
    while (ok && fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "turn\n") == 0) {
            turn(&p, threads);
        } else {
            long long m = 1, n = 1, k = 1;
            char form[3] = "";
            end_product(&p);
            sscanf(line, "%lld %lld %lld %2s", &m, &n, &k, form);
            p = (product){.m = m, .n = n, .k = k, .transposed = strcmp(form, "nt") == 0};
            ok = begin_product(&p);
        }
        fflush(stdout);
    }
    end_product(&p);
    return ok && hd_error_code() == HD_OK;
}

static bool find_function(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "heed-products: %s\n", dlerror());
    } else if (strstr(name, "dnnl")) {
        memcpy(&dnnl, &function, sizeof dnnl);
    } else {
        memcpy(&cblas, &function, sizeof cblas);
    }
    return function;
}

int main(int argc, char **argv)
{
    int threads = argc == 2 || argc == 4 ? atoi(argv[1]) : 0;
    if (threads < 1) {
        fputs(usage, stderr);
        return 2;
    }
    if (argc == 4 && !find_function(argv[2], argv[3])) {
        return 1;
    }
    bool ok = serve(threads);
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "heed-products: %s\n", hd_error_message());
    }
    return ok ? 0 : 1;
}
