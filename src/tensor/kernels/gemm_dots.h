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

/* All columns, `some` side by side. More rows than m go in turn, while the first cache holds the
 * columns. */
HDK_INLINE void fn(dots_by)(const int m, const int some, const hdk_product *p)
{
    hdk_product rows = *p;
    for (int64_t j = 0; j < p->n; j += some) {
        for (int64_t i = 0; i < p->m; i += m) {
            rows.m = p->m - i < m ? p->m - i : m;
            rows.a = (const T *)p->a + i * p->a_row;
            fn(dots_of)(m, some, &rows, p->n - j, (const T *)p->b + j * p->b_col,
                        (T *)p->c + i * p->c_row + j);
        }
    }
}

/* As many columns as leave registers for their elements. */
static HDK_NOINLINE void fn(dots1)(const hdk_product *p)
{
    fn(dots_by)(1, 8, p);
}

static HDK_NOINLINE void fn(dots2)(const hdk_product *p)
{
    fn(dots_by)(2, HDK_REGISTER > 32 ? 8 : 4, p);
}

static HDK_NOINLINE void fn(dots4)(const hdk_product *p)
{
    fn(dots_by)(4, HDK_REGISTER > 32 ? 6 : 3, p);
}

static void fn(dots)(const hdk_product *p)
{
    (p->m == 1 ? fn(dots1) : p->m == 2 ? fn(dots2) : fn(dots4))(p);
}

#endif
