/* attention_drop.h - which weights of a tile dropout keeps, in vectors: a part of
 * attention_tiles.h. The draws come from the MCG31 stream (draws.h) or from bits. */

/* The place of a row of weights in the MCG31 stream or in the bits. a is the stream's
 * multiplier. */
typedef struct dice {
    const hdk_head *h;
    int64_t number;       /* index of the row's first weight */
    uint32_t x, next_row; /* element `number` of the stream; factor that leads to the next row */
    vec_u64 even, odd;    /* 2 * a^0, 2 * a^2, ...; 2 * a^1, 2 * a^3, ... */
    vec_u64 stride;       /* 2 * a^HDK_V */
    vec_u32 limit;
} dice;

static dice dice_at(const hdk_head *h, int64_t i, int64_t j)
{
    dice d = {.h = h, .number = h->first + i * h->s + j};
    if (h->keep < 1 && !h->bits) {
        d.x = hd__mcg31_times(h->seed, hd__mcg31_power(d.number));
        d.next_row = hd__mcg31_power(h->s);
        uint32_t a = 1;
        for (int l = 0; l < HDK_V; l++, a = hd__mcg31_times(a, HD__MCG31_MULTIPLIER)) {
            if (l % 2) {
                d.odd[l / 2] = 2 * a;
            } else {
                d.even[l / 2] = 2 * a;
            }
        }
        d.stride = vall_u64(2 * (uint64_t)a);
        d.limit = (vec_u32){0} + h->limit;
    }
    return d;
}

/* Returns the elements of the MCG31 stream for the first HDK_V weights of the row at d. */
HDK_INLINE vec_u32 dice_lanes(const dice *d)
{
    return vmcg31_times((vec_u32){0} + d->x, d->even, d->odd);
}

static inline void dice_next_row(dice *d)
{
    d->number += d->h->s;
    d->x = hd__mcg31_times(d->x, d->next_row);
}

/* Returns the mask of the HDK_V weights from j on, read from the bits: -1 for a weight that is
 * kept, and 0 for others and after the row's n weights. */
static vec_i32 dice_bits(const dice *d, int64_t j, int64_t n)
{
    vec_i32 y = {0};
    for (int l = 0; l < HDK_V && j + l < n; l++) {
        int64_t at = d->number + j + l;
        y[l] = -(d->h->bits[at >> 3] >> (at & 7) & 1);
    }
    return y;
}

/* Returns the mask of the HDK_V weights from j on: -1 for a weight that is kept, and 0 for others.
 * The row has n weights. `lanes` holds the stream's elements for this vector, and advances to the
 * next one. */
HDK_INLINE vec_i32 dice_roll(const dice *d, vec_u32 *lanes, int64_t j, int64_t n)
{
    if (d->h->bits) {
        return dice_bits(d, j, n);
    }
    vec_i32 kept = (vec_i32)(*lanes < d->limit);
    *lanes = vmcg31_times(*lanes, d->stride, d->stride);
    return kept;
}
