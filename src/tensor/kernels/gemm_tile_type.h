/* gemm_tile_type.h - the register tile for one type: the template (template.h) that gemm_tile.h
 * includes. */

/* The addresses of the rows of a. An instruction of x86 can add a register to an address once,
 * twice or four times. So two pointers and three distances, in bytes, reach every row of a tile. */
typedef struct REACH {
    const char *row0, *row7;
    ptrdiff_t one, three, five; /* bytes between rows, times 1, 3 and 5; a register each */
} REACH;

/* Returns the element of row i at the current step. */
HDK_INLINE T fn(element)(const REACH *a, const int i)
{
    const int rows = i % 7;
    ptrdiff_t at = rows == 3 || rows == 6 ? rows / 3 * a->three
                   : rows == 5            ? a->five
                                          : rows * a->one;
    return *(const T *)((i < 7 ? a->row0 : a->row7) + at);
}

/* Computes a tile. rows and vecs are constants for the compiler. */
HDK_INLINE void fn(tile_of)(const int rows, const int vecs, int64_t k, const T *a, int64_t a_row,
                            int64_t a_step, const T *b, int64_t b_step, T *c, int64_t c_row,
                            bool go_on)
{
    V acc[HDK_TILE_ROWS][2], y[2];
    T *to = c;
    HDK_UNROLL
    for (int i = 0; i < rows; i++, to += c_row) {
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) {
            acc[i][j] = go_on ? fn(vload)(to + j * VECTOR) : (V){0};
        }
    }
    ptrdiff_t row = (ptrdiff_t)(a_row * (int64_t)sizeof(T));
    REACH at = {(const char *)a, (const char *)a + 7 * row, row, 3 * row, 5 * row};
    const T *next = c + vecs * VECTOR; /* prefetched: the tile of c to the right, one row a step */
    const T *far = b + 16 * b_step;    /* prefetched: the L2 cache answers within 16 steps */
    int64_t down = c_row, first = k < rows ? k : rows;
    for (int64_t left = first, rest = k - first; left > 0; left = rest, rest = 0, down = 0) {
        for (; left > 0; left--, b += b_step, far += b_step, next += down) {
            /* Hides these values from the compiler. Without this, it would compute a distance for
             * every row, and keep most of them in memory. */
            __asm__("" : "+r"(at.one), "+r"(at.three), "+r"(at.five), "+r"(far));
            HDK_UNROLL
            for (int j = 0; j < vecs && HDK_REGISTER > 32; j++) {
                __builtin_prefetch(next + j * VECTOR, 1);
            }
            HDK_UNROLL
            for (int j = 0; j < vecs; j++) {
                if (j * HDK_REGISTER % 64 == 0) { /* once a line */
                    __builtin_prefetch(far + j * VECTOR);
                }
                y[j] = fn(vload)(b + j * VECTOR);
            }
            HDK_UNROLL
            for (int i = 0; i < rows; i++) {
                V x = fn(vall)(fn(element)(&at, i));
                HDK_UNROLL
                for (int j = 0; j < vecs; j++) {
                    acc[i][j] = fn(vmuladd)(x, y[j], acc[i][j]); /* heed-loop */
                }
            }
            at.row0 += a_step * (int64_t)sizeof(T);
            at.row7 += a_step * (int64_t)sizeof(T);
        }
    }
    /* Hides these values from the compiler. Without this, it would keep the address of every row of
     * c during the loop. */
    __asm__("" : "+r"(c), "+r"(c_row));
    HDK_UNROLL
    for (int i = 0; i < rows; i++, c += c_row) {
        HDK_UNROLL
        for (int j = 0; j < vecs; j++) {
            fn(vstore)(c + j * VECTOR, acc[i][j]);
        }
    }
}

/* The functions are aligned, because the address of a small loop changes its speed by up to a
 * third. */
#define HDK_TILE(rows)                                                                             \
    static __attribute__((aligned(32))) void fn(tile##rows)(                                       \
        int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b, int64_t b_step, T *c,    \
        int64_t c_row, bool go_on)                                                                 \
    {                                                                                              \
        fn(tile_of)(rows, 2, k, a, a_row, a_step, b, b_step, c, c_row, go_on);                     \
    }                                                                                              \
    static void fn(half##rows)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,   \
                               int64_t b_step, T *c, int64_t c_row, bool go_on)                    \
    {                                                                                              \
        fn(tile_of)(rows, 1, k, a, a_row, a_step, b, b_step, c, c_row, go_on);                     \
    }
HDK_TILES(HDK_TILE)
#undef HDK_TILE

typedef void (*TILE_LOOP)(int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b,
                          int64_t b_step, T *c, int64_t c_row, bool go_on);

#define HDK_TILE(rows) fn(tile##rows),
static const TILE_LOOP fn(tile)[] = {NULL, HDK_TILES(HDK_TILE)};
#undef HDK_TILE
#define HDK_TILE(rows) fn(half##rows),
static const TILE_LOOP fn(half)[] = {NULL, HDK_TILES(HDK_TILE)};
#undef HDK_TILE

/* Names: element_f32 element_f64 tile_of_f32 tile_of_f64 tile1_f32 tile1_f64 half1_f32 half1_f64
 * tile2_f32 tile2_f64 half2_f32 half2_f64 tile3_f32 tile3_f64 half3_f32 half3_f64 tile4_f32
 * tile4_f64 half4_f32 half4_f64 tile5_f32 tile5_f64 half5_f32 half5_f64 tile6_f32 tile6_f64
 * half6_f32 half6_f64 tile7_f32 tile7_f64 half7_f32 half7_f64 tile8_f32 tile8_f64 half8_f32
 * half8_f64 tile9_f32 tile9_f64 half9_f32 half9_f64 tile10_f32 tile10_f64 half10_f32 half10_f64
 * tile11_f32 tile11_f64 half11_f32 half11_f64 tile12_f32 tile12_f64 half12_f32 half12_f64
 * tile13_f32 tile13_f64 half13_f32 half13_f64 tile14_f32 tile14_f64 half14_f32 half14_f64 */
