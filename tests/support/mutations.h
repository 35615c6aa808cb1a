/* mutations.h - makes damaged files: copies of a good file with random changes, the same in each
 * run. */
#ifndef HEED_TESTS_MUTATIONS_H
#define HEED_TESTS_MUTATIONS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct mutation {
    unsigned char *bytes; /* of n; the room is for twice the good file and 64 more */
    size_t n;
    uint64_t random; /* any number but 0 */
} mutation;

/* Marsaglia's xorshift64. */
static inline size_t mutation_draw(mutation *m, size_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (size_t)(m->random >> 11) % below;
}

/* Makes room for `more` bytes at a random place, which it returns. */
static inline unsigned char *mutation_open(mutation *m, size_t more)
{
    size_t at = mutation_draw(m, m->n + 1);
    memmove(m->bytes + at + more, m->bytes + at, m->n - at);
    m->n += more;
    return m->bytes + at;
}

/* Half of the places are in the first 256 bytes, where a header's lengths stand. */
static inline size_t mutation_place(mutation *m)
{
    size_t head = m->n < 256 ? m->n : 256;
    return mutation_draw(m, 2) ? mutation_draw(m, head) : mutation_draw(m, m->n);
}

/* One change: a bit, a byte, a number, a piece that is lost, doubled or put in, or the end. */
static inline void mutation_change(mutation *m)
{
    static const char *const pieces[] = {"[",
                                         "]",
                                         "{",
                                         "}",
                                         "\"",
                                         ",",
                                         ":",
                                         "0",
                                         "-",
                                         "1e9",
                                         "9223372036854775807",
                                         "18446744073709551616",
                                         "\\u0000",
                                         "\xC0\x80",
                                         "\xED\xA0\x80",
                                         "\n",
                                         " ",
                                         "\xFF\xFF\xFF\xFF"};
    if (m->n == 0) {
        return;
    }
    size_t at = mutation_place(m);
    size_t left = m->n - at;
    size_t piece = 1 + mutation_draw(m, left < 16 ? left : 16);
    switch (mutation_draw(m, 7)) {
    case 0: m->bytes[at] ^= (unsigned char)(1 << mutation_draw(m, 8)); break;
    case 1: m->bytes[at] = (unsigned char)mutation_draw(m, 256); break;
    case 2: memset(m->bytes + at, mutation_draw(m, 2) ? 0xFF : 0, piece); break;
    case 3:
        memmove(m->bytes + at, m->bytes + at + piece, left - piece);
        m->n -= piece;
        break;
    case 4: {
        unsigned char copy[16];
        memcpy(copy, m->bytes + at, piece);
        memcpy(mutation_open(m, piece), copy, piece);
        break;
    }
    case 5: {
        const char *put = pieces[mutation_draw(m, sizeof pieces / sizeof *pieces)];
        size_t n = strlen(put);
        memcpy(mutation_open(m, n), put, n);
        break;
    }
    default: m->n = at;
    }
}

/* Copy number `seed` of good, with one to three changes; free(m.bytes). */
static inline mutation mutation_of(const void *good, size_t n, uint64_t seed)
{
    mutation m = {malloc(2 * n + 64), n, (seed + 1) * 0x9E3779B97F4A7C15u};
    memcpy(m.bytes, good, n);
    for (size_t changes = 1 + mutation_draw(&m, 3); changes > 0; changes--) {
        mutation_change(&m);
    }
    return m;
}

#endif
