/* vec_type.h - the vectors of one element type: the template (template.h) that vec.h includes. */

typedef T fn(vec) __attribute__((vector_size(HDK_REGISTER), aligned(sizeof(T)), may_alias));

HDK_INLINE V fn(vload)(const T *x)
{
    return *(const V *)x;
}

HDK_INLINE void fn(vstore)(T *y, V v)
{
    *(V *)y = v;
}

/* past the cache; y aligned to the vector's size */
HDK_INLINE void fn(vstream)(T *y, V v)
{
#ifdef HDK_X86
    HDK__MM(stream)((float *)y, (hdk__mm)v);
#else
    fn(vstore)(y, v);
#endif
}

/* x in every element; + would turn -0 to 0, and not vanish */
HDK_INLINE V fn(vall)(T x)
{
    return x - (V){0};
}

/* a b + c, with one rounding where the level has the instruction */
HDK_INLINE V fn(vmuladd)(V a, V b, V c)
{
    V y;
    HDK_UNROLL
    for (int l = 0; l < VECTOR; l++) {
        y[l] = FMA(a[l], b[l], c[l]);
    }
    return y;
}

/* ---------------------------------------------------------------- fewer elements */

typedef T fn(svec) __attribute__((vector_size(SVECTOR * sizeof(T)), aligned(sizeof(T)), may_alias));

HDK_INLINE SVEC fn(sall)(T x)
{
    return x - (SVEC){0};
}

/* a b + c, with one rounding where the level has the instruction */
HDK_INLINE SVEC fn(smuladd)(T a, SVEC b, SVEC c)
{
#ifdef __FMA__
    SVEC y;
    HDK_UNROLL
    for (int l = 0; l < SVECTOR; l++) {
        y[l] = FMA(a, b[l], c[l]);
    }
    return y;
#else
    return a * b + c;
#endif
}

typedef T fn(four) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));

/* to (4, 4), its rows to_row apart, = x (4, 4) transposed */
HDK_INLINE void fn(turn_four)(T *to, int64_t to_row, const T *x, int64_t row)
{
#if defined(__clang__) || __GNUC__ >= 12
    if (4 * sizeof(T) <= HDK_REGISTER) {
        FOUR a = *(const FOUR *)x, b = *(const FOUR *)(x + row);
        FOUR c = *(const FOUR *)(x + 2 * row), d = *(const FOUR *)(x + 3 * row);
        FOUR ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        FOUR ab_end = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        FOUR cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        FOUR cd_end = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        *(FOUR *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        *(FOUR *)(to + to_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        *(FOUR *)(to + 2 * to_row) = __builtin_shufflevector(ab_end, cd_end, 0, 1, 4, 5);
        *(FOUR *)(to + 3 * to_row) = __builtin_shufflevector(ab_end, cd_end, 2, 3, 6, 7);
        return;
    }
#endif
    for (int e = 0; e < 4; e++) {
        for (int i = 0; i < 4; i++) {
            to[e * to_row + i] = x[i * row + e];
        }
    }
}
