/* plain_product.h - the matrix product, c = a @ b + bias: a template (template.h) for plain.c,
 * which defines the type of b's elements (`weight`) and their conversion to T (`widened`). */

/* Computes c = a @ b + bias or, with p->add, c += a @ b + bias, with a (m, k), b (k, n) and bias
 * (n,). */
static void fn(product)(const hdk_product *p, void *scratch)
{
    const T *a = p->a, *bias = p->bias;
    const fn(weight) *b = p->b;
    T *c = p->c;
    (void)scratch;
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            T sum = p->add ? c[i * p->c_row + j] : 0;
            if (p->order == HDK_ONE_STEP) { /* keeps a product of -0, which 0 + -0 would hide */
                sum = -(T)0;
            }
            for (int64_t q = 0; q < p->k; q++) {
                T x = a[i * p->a_row + q * p->a_col];
                T w = fn(widened)(b[q * p->b_row + j * p->b_col]);
                sum += x * w; /* heed-loop */
            }
            c[i * p->c_row + j] = bias ? sum + bias[j * p->bias_step] : sum;
        }
    }
}

/* Names: product_bf16 product_f32 product_f64 product_u64 */
