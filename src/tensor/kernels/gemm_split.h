/* gemm_split.h - at most HDK_SPLIT_ROWS rows times a matrix whose columns are dense: a template
 * (template.h) for gemm.c, which turns one column into one row.
 *
 * A Linear of one token reads each weight once, so that memory is the limit. Every element of c is
 * the dot of a row of a with a column of b, both dense, in VECTOR chains, which are added up at the
 * end in halves; what is left of k is one chain more. No bit depends on how c is cut, or on how
 * many rows there are beside a row. */

#ifdef TYPE

/* c (m, cols) = the sums of the chains of each element, in rows of `some`, and of the steps from q
 * on. sums has room for a multiple of four. */
static HDK_NOINLINE void fn(add_up)(const hdk_product *p, const V *sums, int64_t some, int64_t cols,
                                    int64_t q, const T *b, T *c)
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
                rest = FMA(x[r], b[j * p->b_col + r], rest);
            }
            sum += rest;
            c[j] = p->add ? c[j] + sum : sum;
        }
    }
}

/* c (p->m, cols) for the columns at b, with numbers of rows and columns that the compiler knows.
 * The rows and columns that are missing are read as the last one and not written. */
HDK_INLINE void fn(split_of)(const int m, const int some, const hdk_product *p, int64_t cols,
                             const T *b, T *c)
{
    const T *x[HDK_SPLIT_ROWS], *y[HDK_SPLIT_ROWS];
    V acc[HDK_SPLIT_ROWS][HDK_SPLIT_ROWS];
    int64_t whole = p->k - p->k % VECTOR, ahead = some * p->b_col;
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
    if (HDK_REGISTER > 32) { /* the pointers take all registers, so that these wait in memory */
        __asm__("" : "+m"(p), "+m"(cols), "+m"(b), "+m"(c));
    }
    for (int64_t q = -whole; q != 0; q += VECTOR) {
        V u[HDK_SPLIT_ROWS];
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            __builtin_prefetch(y[j] + ahead + q, 0, 2); /* of the next columns */
            u[j] = fn(vload)(y[j] + q);
        }
        HDK_UNROLL
        for (int i = 0; i < m; i++) {
            V v = fn(vload)(x[i] + q);
            HDK_UNROLL
            for (int j = 0; j < some; j++) {
                acc[i][j] = fn(vmuladd)(v, u[j], acc[i][j]);
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
    fn(add_up)(p, sums, some, cols < some ? cols : some, whole, b, c);
}

static HDK_NOINLINE void fn(split_1)(const hdk_product *p, int64_t cols, const T *b, T *c)
{
    fn(split_of)(1, BESIDE_1, p, cols, b, c);
}

static HDK_NOINLINE void fn(split_2)(const hdk_product *p, int64_t cols, const T *b, T *c)
{
    fn(split_of)(2, BESIDE_2, p, cols, b, c);
}

static HDK_NOINLINE void fn(split_4)(const hdk_product *p, int64_t cols, const T *b, T *c)
{
    fn(split_of)(4, BESIDE_4, p, cols, b, c);
}

/* More than four rows go in turn, while the first cache holds the columns. */
static void fn(split)(const hdk_product *p)
{
    void (*const some_columns)(const hdk_product *, int64_t, const T *, T *) =
        p->m == 1   ? fn(split_1)
        : p->m == 2 ? fn(split_2)
                    : fn(split_4);
    int64_t some = p->m == 1 ? BESIDE_1 : p->m == 2 ? BESIDE_2 : BESIDE_4;
    hdk_product rows = *p;
    for (int64_t j = 0; j < p->n; j += some) {
        for (int64_t i = 0; i < p->m; i += 4) {
            rows.m = p->m - i < 4 ? p->m - i : 4;
            rows.a = (const T *)p->a + i * p->a_row;
            some_columns(&rows, p->n - j, (const T *)p->b + j * p->b_col,
                         (T *)p->c + i * p->c_row + j);
        }
    }
}

#endif
