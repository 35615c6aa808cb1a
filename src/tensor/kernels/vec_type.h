/* vec_type.h - the vectors of one element type: the template (template.h) that vec.h includes. */

typedef T fn(vec) __attribute__((vector_size(HDK_REGISTER), aligned(sizeof(T)), may_alias));

/* Reads a vector from x, which needs only the alignment of T. */
HDK_INLINE V fn(vload)(const T *x)
{
    return *(const V *)x;
}

HDK_INLINE void fn(vstore)(T *y, V v)
{
    *(V *)y = v;
}

/* Stores v at y, past the cache. y must be aligned to the vector's size. */
HDK_INLINE void fn(vstream)(T *y, V v)
{
#ifdef HDK_X86
    HDK__MM(stream)((float *)y, (hdk__mm)v);
#else
    fn(vstore)(y, v);
#endif
}

/* Returns a vector with x in every element. The compiler drops the subtraction of 0. It could not
 * drop an addition, which turns -0 into 0. */
HDK_INLINE V fn(vall)(T x)
{
    return x - (V){0};
}

/* Returns a * b + c, rounded once if the CPU level has an instruction for it; twice otherwise. */
HDK_INLINE V fn(vmuladd)(V a, V b, V c)
{
    V y;
    HDK_UNROLL
    for (int l = 0; l < VECTOR; l++) {
        y[l] = FMA(a[l], b[l], c[l]);
    }
    return y;
}

/* Returns the sum of the elements, folded in halves: the upper half is added to the lower one until
 * one number is left. */
HDK_INLINE T fn(vsum)(V v)
{
    T a[VECTOR];
    memcpy(a, &v, sizeof a);
    for (int h = VECTOR / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            a[l] += a[l + h];
        }
    }
    return a[0];
}

/* ---------------------------------------------------------------- short vectors */

typedef T fn(svec) __attribute__((vector_size(SVECTOR * sizeof(T)), aligned(sizeof(T)), may_alias));

HDK_INLINE SVEC fn(sall)(T x)
{
    return x - (SVEC){0};
}

/* Returns a * b + c, rounded once if the CPU level has an instruction for it; twice otherwise. */
HDK_INLINE SVEC fn(smuladd)(T a, SVEC b, SVEC c)
{
#ifdef HDK_FUSED
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

/* Sets `to` (4, 4), whose rows lie to_row elements apart, to the transpose of x (4, 4), whose rows
 * lie `row` elements apart. */
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

/* Sets to[i] to the sum of the elements of v[i], folded in halves, for i from 0 to 3. */
HDK_INLINE void fn(vsum_four)(T *to, const V *v)
{
    T lanes[4][VECTOR < 4 ? 4 : VECTOR], turned[4][4];
    for (int i = 0; i < 4; i++) {
        memcpy(lanes[i], &v[i], sizeof v[i]);
        for (int h = VECTOR / 2; h >= 4; h /= 2) {
            *(FOUR *)lanes[i] += *(FOUR *)(lanes[i] + h);
            if (h == 8) {
                *(FOUR *)(lanes[i] + 4) += *(FOUR *)(lanes[i] + 12);
            }
        }
    }
    if (VECTOR < 4) {
        for (int i = 0; i < 4; i++) {
            to[i] = fn(vsum)(v[i]);
        }
        return;
    }
    fn(turn_four)(turned[0], 4, lanes[0], VECTOR);
    FOUR *r = (FOUR *)turned;
    *(FOUR *)to = (r[0] + r[2]) + (r[1] + r[3]);
}

/* Names: vload_f32 vload_f64 vload_u64 vstore_f32 vstore_f64 vstore_u64 vstream_f32 vstream_f64
 * vstream_u64 vall_f32 vall_f64 vall_u64 vmuladd_f32 vmuladd_f64 vmuladd_u64 vsum_f32 vsum_f64
 * vsum_u64 sall_f32 sall_f64 sall_u64 smuladd_f32 smuladd_f64 smuladd_u64 turn_four_f32
 * turn_four_f64 turn_four_u64 vsum_four_f32 vsum_four_f64 vsum_four_u64 */
