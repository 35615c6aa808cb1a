/* gemm_tile_type.h - the register tile (gemm_tile.h) for one type: a template (template.h) for
 * gemm.c. */

/* The addresses of the rows of a. An instruction of x86 can add a register to an address once,
 * twice or four times. So two pointers and three distances, in bytes, reach every row of a tile. */
typedef struct REACH {
    const char *row0, *row7;
    ptrdiff_t one, three, five; /* bytes between rows, times 1, 3 and 5; a register each */
} REACH;

/* Returns the element of a in row i at the current step. */
HDK_INLINE T fn(element)(const REACH *a, const int i)
{
    const int rows = i % 7;
    ptrdiff_t at = rows == 3 || rows == 6 ? rows / 3 * a->three
                   : rows == 5            ? a->five
                                          : rows * a->one;
    return *(const T *)((i < 7 ? a->row0 : a->row7) + at);
}

/* Returns sum + a * b, rounded once if the CPU level has an instruction for it. If `named` is true,
 * asks for this instruction by name at AVX2 and AVX-512, with a and b in registers. Without the
 * name GCC would move sums between registers, because a tile has two loops. */
HDK_INLINE V fn(vadd_product)(const bool named, V sum, V a, V b)
{
#if HDK_AT_AVX512 || HDK_AT_AVX2
    if (named && sizeof(T) == 4) {
        __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
        return sum;
    }
    if (named) {
        __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
        return sum;
    }
#endif
    (void)named;
    return fn(vmuladd)(a, b, sum);
}

/* Adds the products of one step to the sums of a tile. If `packs` is true, also copies b to
 * `panel`. Moves `at` to the next step. */
HDK_INLINE void fn(tile_step)(const int rows, const int vecs, const bool packs, REACH *at,
                              ptrdiff_t a_step, const T *b, T *panel, V sums[][2])
{
    V y[2];
    HDK_UNROLL
    for (int j = 0; j < vecs; j++) {
        y[j] = fn(vload)(b + j * VECTOR);
        if (packs) {
            fn(vstore)(panel + j * VECTOR, y[j]);
        }
    }
    HDK_UNROLL
    for (int i = 0; i < rows; i++) {
        V x = fn(vall)(fn(element)(at, i));
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) { /* with one vector, the instruction reads x from memory */
            sums[i][j] = fn(vadd_product)(vecs == 2, sums[i][j], x, y[j]); /* heed-loop */
        }
    }
    at->row0 += a_step;
    at->row7 += a_step;
}

/* Computes a tile of `rows` rows and `vecs` vectors. If `packs` is true, also copies b to `panel`.
 * rows, vecs and packs are constants for the compiler. gemm_tile.h explains the other arguments. */
HDK_INLINE void fn(tile_of)(const int rows, const int vecs, const bool packs, int64_t k, const T *a,
                            int64_t a_row, int64_t a_step, const T *b, int64_t b_step, T *panel,
                            T *c, int64_t c_row, bool go_on, hdk_ask ask)
{
    V sums[HDK_TILE_ROWS][2];
    T *to = c;
    HDK_UNROLL
    for (int i = 0; i < rows; i++, to += c_row) {
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) {
            sums[i][j] = go_on ? fn(vload)(to + j * VECTOR) : (V){0};
        }
    }
    ptrdiff_t row = (ptrdiff_t)(a_row * (int64_t)sizeof(T));
    ptrdiff_t step = (ptrdiff_t)(a_step * (int64_t)sizeof(T));
    REACH at = {(const char *)a, (const char *)a + 7 * row, row, 3 * row, 5 * row};
    /* Each of the first `asks` steps prefetches b, which the L2 cache delivers within 16 steps, and
     * may prefetch a row of the tile of c to the right. Later steps, if any, run in pairs. */
    const T *next = c + vecs * VECTOR, *far = b + 16 * b_step;
    const bool twos = vecs == 2 && HDK_REGISTER > 16;
    int64_t down = ask == HDK_ASK_C ? c_row : 0;
    int64_t asks = ask == HDK_ASK_C ? rows : ask == HDK_ASK_B ? k : 0;
    asks = twos && asks < k ? asks + ((k - asks) & 1) : k;
    for (int64_t left = asks; left > 0; left--, b += b_step, far += b_step, next += down) {
        HIDE(at);
        __asm__("" : "+r"(far));
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) {
            if (twos && !packs && HDK_REGISTER > 32) {
                __builtin_prefetch(next + j * VECTOR, 1);
            }
            if (j * HDK_REGISTER % 64 == 0) { /* once per cache line */
                __builtin_prefetch(far + j * VECTOR);
            }
        }
        fn(tile_step)(rows, vecs, packs, &at, step, b, panel, sums);
        if (packs) { /* else panel may be NULL */
            panel += vecs * VECTOR;
        }
    }
    for (int64_t left = k - asks; left > 0; left -= 2, b += 2 * b_step) {
        HIDE(at);
        fn(tile_step)(rows, vecs, false, &at, step, b, NULL, sums);
        fn(tile_step)(rows, vecs, false, &at, step, b + b_step, NULL, sums);
    }
    /* Hides these values from the compiler. Without this, it would keep the address of every row of
     * c during the loop. */
    __asm__("" : "+r"(c), "+r"(c_row));
    HDK_UNROLL
    for (int i = 0; i < rows; i++, c += c_row) {
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) {
            fn(vstore)(c + j * VECTOR, sums[i][j]);
        }
    }
}

/* The functions are aligned, because the address of a small loop changes its speed by up to a
 * third. */
#define HDK_TILE(rows)                                                                             \
    static __attribute__((aligned(32))) void fn(tile##rows)(                                       \
        int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b, int64_t b_step, T *c,    \
        int64_t c_row, bool go_on, hdk_ask ask)                                                    \
    {                                                                                              \
        fn(tile_of)(rows, 2, false, k, a, a_row, a_step, b, b_step, NULL, c, c_row, go_on, ask);   \
    }                                                                                              \
    static void fn(half##rows)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,   \
                               int64_t b_step, T *c, int64_t c_row, bool go_on, hdk_ask ask)       \
    {                                                                                              \
        fn(tile_of)(rows, 1, false, k, a, a_row, a_step, b, b_step, NULL, c, c_row, go_on, ask);   \
    }
HDK_TILES(HDK_TILE)
#undef HDK_TILE

#define HDK_TILE(rows)                                                                             \
    static __attribute__((aligned(32))) void fn(packing##rows)(                                    \
        int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b, int64_t b_step,          \
        T *panel, T *c, int64_t c_row, bool go_on)                                                 \
    {                                                                                              \
        fn(tile_of)(rows, 2, true, k, a, a_row, a_step, b, b_step, panel, c, c_row, go_on,         \
                    HDK_ASK_B);                                                                    \
    }
HDK_PACKING_TILES(HDK_TILE)
#undef HDK_TILE

typedef void (*TILE_LOOP)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,
                          int64_t b_step, T *c, int64_t c_row, bool go_on, hdk_ask ask);
typedef void (*PACKING_LOOP)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,
                             int64_t b_step, T *panel, T *c, int64_t c_row, bool go_on);

#define HDK_TILE(rows) fn(tile##rows),
static const TILE_LOOP fn(tile)[] = {NULL, HDK_TILES(HDK_TILE)};
#undef HDK_TILE
#define HDK_TILE(rows) fn(half##rows),
static const TILE_LOOP fn(half)[] = {NULL, HDK_TILES(HDK_TILE)};
#undef HDK_TILE
#define HDK_TILE(rows) [rows] = fn(packing##rows),
static const PACKING_LOOP fn(packing)[HDK_TILE_ROWS + 1] = {HDK_PACKING_TILES(HDK_TILE)};
#undef HDK_TILE

/* Names: element_f32 element_f64 vadd_product_f32 vadd_product_f64 tile_step_f32 tile_step_f64
 * tile_of_f32 tile_of_f64 tile1_f32 tile1_f64 half1_f32 half1_f64 tile2_f32 tile2_f64 half2_f32
 * half2_f64 tile3_f32 tile3_f64 half3_f32 half3_f64 tile4_f32 tile4_f64 half4_f32 half4_f64
 * tile5_f32 tile5_f64 half5_f32 half5_f64 tile6_f32 tile6_f64 half6_f32 half6_f64 tile7_f32
 * tile7_f64 half7_f32 half7_f64 tile8_f32 tile8_f64 half8_f32 half8_f64 tile9_f32 tile9_f64
 * half9_f32 half9_f64 tile10_f32 tile10_f64 half10_f32 half10_f64 tile11_f32 tile11_f64 half11_f32
 * half11_f64 tile12_f32 tile12_f64 half12_f32 half12_f64 tile13_f32 tile13_f64 half13_f32
 * half13_f64 tile14_f32 tile14_f64 half14_f32 half14_f64 packing3_f32 packing3_f64 packing4_f32
 * packing4_f64 packing5_f32 packing5_f64 packing6_f32 packing6_f64 packing10_f32 packing10_f64
 * packing11_f32 packing11_f64 packing12_f32 packing12_f64 packing13_f32 packing13_f64
 * packing14_f32 packing14_f64 */
