/* gemm_split.h - the product of at most HDK_SPLIT_ROWS rows with a matrix whose columns are dense:
 * a template (template.h) for gemm.c, which transposes a product of one column to one row. The
 * matrix may be bfloat16, which is widened as it is read. gemm.c defines these macros:
 *     B, B_VECTOR(b)    the type of the matrix's elements; a vector of them, widened to T
 *     B_ELEMENT(v)      an element, widened to T
 *     BESIDE            number of columns that are read side by side for one row of a
 *     split(name)       the name of a function for B
 *
 * A Linear of one token reads each weight once, so memory is the limit. Every element of c is the
 * dot of a row of a with a column of b, both dense, in VECTOR chains, which are folded in halves at
 * the end. The steps of k after the last whole vector are one more chain. No bit depends on how c
 * is cut, or on the number of rows. */

#ifdef TYPE

/* Sets c (m, cols) or, with p->add, adds to it. Element (i, j) gets the sum of the elements of the
 * vector sums[i * some + j], plus the products of the steps from q on. `sums` holds `some` vectors
 * for each of the m rows, and c gets the first `cols` of them. add_up reads `sums` four vectors at
 * a time, so it may read up to three vectors after the last row. */
static HDK_NOINLINE void split(add_up)(const hdk_product *p, const V *sums, int64_t some,
                                       int64_t cols, int64_t q, const B *b, T *c)
{
    const T *x = p->a;
    T total[HDK_SPLIT_ROWS * HDK_SPLIT_ROWS];
    for (int64_t e = 0; e < p->m * some; e += 4) {
        fn(vsum_four)(total + e, sums + e);
    }
    for (int64_t i = 0; i < p->m; i++, x += p->a_row, c += p->c_row) {
        for (int64_t j = 0; j < cols; j++) {
            T sum = total[i * some + j], rest = 0;
            for (int64_t r = q; r < p->k; r++) {
                rest = FMA(x[r], B_ELEMENT(b[j * p->b_col + r]), rest); /* heed-loop */
            }
            sum += rest;
            c[j] = p->add ? c[j] + sum : sum;
        }
    }
}

/* Computes c (p->m, cols) for the columns at b, with code for m rows and `some` columns, which are
 * constants at compile time. If c has fewer rows or columns, the code computes the last row or
 * column again in place of each missing one, and does not write the copy. */
HDK_INLINE void split(split_of)(const int m, const int some, const hdk_product *p, int64_t cols,
                                const B *b, T *c)
{
    enum { LINE = 64 / sizeof(B), WIDENED = sizeof(B) < sizeof(T) };
    const T *x[HDK_SPLIT_ROWS];
    const B *y[HDK_SPLIT_ROWS];
    V acc[HDK_SPLIT_ROWS][HDK_SPLIT_ROWS];
    int64_t whole = p->k - p->k % VECTOR, ahead = some * p->b_col;
    ahead = WIDENED && ahead < AHEAD_BF16 ? AHEAD_BF16 : ahead;
    HDK_UNROLL
    for (int j = 0; j < some; j++) {
        y[j] = b + (j < cols ? j : cols - 1) * p->b_col + whole;
    }
    HDK_UNROLL
    for (int i = 0; i < m; i++) {
        x[i] = (const T *)p->a + (i < p->m ? i : p->m - 1) * p->a_row + whole;
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            acc[i][j] = (V){0};
        }
    }
    if (HDK_REGISTER > 32) { /* x and y need all registers, so p, cols, b and c go to memory */
        __asm__("" : "+m"(p), "+m"(cols), "+m"(b), "+m"(c));
    }
    for (int64_t q = -whole; q != 0; q += VECTOR) {
        V v[HDK_SPLIT_ROWS];
        /* Prefetches the next columns. A cache line has several vectors of bfloat16. It is
         * prefetched once, in the order of memory, which is faster than the order of use. */
        if (!WIDENED || (q & (LINE - 1)) < VECTOR) {
            HDK_UNROLL
            for (int j = 0; j < some; j++) {
                const B *next = WIDENED ? b + (q + whole) * some + j * LINE : y[j] + q;
                __builtin_prefetch(next + ahead, 0, 2);
            }
        }
        HDK_UNROLL
        for (int i = 0; i < m; i++) {
            v[i] = fn(vload)(x[i] + q);
        }
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            const V u = B_VECTOR(y[j] + q);
            HDK_UNROLL
            for (int i = 0; i < m; i++) {
                acc[i][j] = fn(vmuladd)(v[i], u, acc[i][j]); /* heed-loop */
            }
        }
    }
    V sums[HDK_SPLIT_ROWS * HDK_SPLIT_ROWS];
    sums[m * some] = sums[m * some + 1] = sums[m * some + 2] = (V){0};
    HDK_UNROLL
    for (int i = 0; i < m; i++) {
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            sums[i * some + j] = acc[i][j];
        }
    }
    split(add_up)(p, sums, some, cols < some ? cols : some, whole, b, c);
}

/* split_of for one row of a, with BESIDE columns of b side by side */
static HDK_NOINLINE void split(split_1)(const hdk_product *p, int64_t cols, const B *b, T *c)
{
    split(split_of)(1, BESIDE, p, cols, b, c);
}

static HDK_NOINLINE void split(split_2)(const hdk_product *p, int64_t cols, const B *b, T *c)
{
    split(split_of)(2, BESIDE_2, p, cols, b, c);
}

static HDK_NOINLINE void split(split_4)(const hdk_product *p, int64_t cols, const B *b, T *c)
{
    split(split_of)(4, BESIDE_4, p, cols, b, c);
}

/* Computes the product p, a few columns of b at a time. While these columns are in the L1 cache,
 * computes all rows, at most four at a time. */
static void split(split)(const hdk_product *p)
{
    const bool two = p->m == 2 && sizeof(B) == sizeof(T); /* with a bfloat16 b, split_4 is used */
    void (*const some_columns)(const hdk_product *, int64_t, const B *, T *) =
        p->m == 1 ? split(split_1)
        : two     ? split(split_2)
                  : split(split_4);
    int64_t some = p->m == 1 ? BESIDE : two ? BESIDE_2 : BESIDE_4;
    hdk_product rows = *p;
    for (int64_t j = 0; j < p->n; j += some) {
        for (int64_t i = 0; i < p->m; i += 4) {
            rows.m = p->m - i < 4 ? p->m - i : 4;
            rows.a = (const T *)p->a + i * p->a_row;
            some_columns(&rows, p->n - j, (const B *)p->b + j * p->b_col,
                         (T *)p->c + i * p->c_row + j);
        }
    }
}

#endif

/* Names: add_up_bf16 add_up_f32 add_up_f64 split_of_bf16 split_of_f32 split_of_f64 split_1_bf16
 * split_1_f32 split_1_f64 split_2_bf16 split_2_f32 split_2_f64 split_4_bf16 split_4_f32 split_4_f64
 * split_bf16 split_f32 split_f64 */
