/* gemm_dots.h - at most HDK_DOTS rows times a matrix whose columns are dense: a template
 * (template.h) for gemm.c.
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
    T total[HDK_DOTS * HDK_DOTS];
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
HDK_INLINE void fn(dots_of)(const int m, const int some, const hdk_product *p, int64_t cols,
                            const T *b, T *c)
{
    const T *x[HDK_DOTS], *y[HDK_DOTS];
    V acc[HDK_DOTS][HDK_DOTS];
    int64_t k = p->k, q = 0, ahead = some * p->b_col;
    HDK_UNROLL
    for (int j = 0; j < some; j++) {
        y[j] = b + (j < cols ? j : cols - 1) * p->b_col;
    }
    HDK_UNROLL
    for (int i = 0; i < m; i++) {
        x[i] = (const T *)p->a + (i < p->m ? i : p->m - 1) * p->a_row;
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            acc[i][j] = (V){0};
        }
    }
    for (; q + VECTOR <= k; q += VECTOR) {
        V u[HDK_DOTS];
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
    V sums[HDK_DOTS * HDK_DOTS];
    sums[m * some] = sums[m * some + 1] = sums[m * some + 2] = (V){0};
    HDK_UNROLL
    for (int i = 0; i < m; i++) {
        HDK_UNROLL
        for (int j = 0; j < some; j++) {
            sums[i * some + j] = acc[i][j];
        }
    }
    fn(add_up)(p, sums, some, cols < some ? cols : some, q, b, c);
}

/* Columns that are read side by side: as many as leave registers for their elements. */
#define SOME(m)                                                                                    \
    (HDK_REGISTER > 32 ? ((m) < 4   ? 8                                                            \
                          : (m) < 8 ? 6                                                            \
                                    : 3)                                                           \
                       : ((m) < 2   ? 8                                                            \
                          : (m) < 4 ? 4                                                            \
                          : (m) < 8 ? 2                                                            \
                                    : 1))
#define HDK_DOT(m)                                                                                 \
    static void fn(dots##m)(const hdk_product *p)                                                  \
    {                                                                                              \
        for (int64_t j = 0; j < p->n; j += SOME(m)) {                                              \
            fn(dots_of)(m, SOME(m), p, p->n - j, (const T *)p->b + j * p->b_col, (T *)p->c + j);   \
        }                                                                                          \
    }
HDK_DOT(1)
HDK_DOT(2)
HDK_DOT(4)
HDK_DOT(8)
#undef HDK_DOT
#undef SOME

static void fn(dots)(const hdk_product *p)
{
    (p->m == 1 ? fn(dots1) : p->m == 2 ? fn(dots2) : p->m <= 4 ? fn(dots4) : fn(dots8))(p);
}

#endif
