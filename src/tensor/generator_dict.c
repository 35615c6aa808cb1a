/* generator_dict.c - saves a random generator to a dictionary, and loads one.
 *
 * The state is the Mersenne twister's words (int64, (624,)), the position of the next word, the
 * spare normal number and the Bernoulli stream. Loading checks all of them before it changes the
 * generator. */
#include <inttypes.h>
#include <math.h>

#include "base/random/generator.h"
#include "base/random/rng.h"
#include "tensor/dict.h"
#include "tensor/tensor_struct.h"

static bool generator_write(const void *object, hd_dict *d, const char *prefix)
{
    hd_generator *g = (hd_generator *)object;
    hd_tensor *state = hd_empty(HD_INT64, HD__MT_SIZE); /* (624,) */
    if (!state) {
        return false;
    }
    hd__gen_hold(g);
    hd_generator now = *g;
    hd__gen_unlock(g);
    int64_t *words = hd__tensor_ptr(state);
    for (int i = 0; i < HD__MT_SIZE; i++) {
        words[i] = now.state[i];
    }
    return hd_dict_set(d, hd__dict_field(prefix, "state"), state) &&
           hd_dict_set_int(d, hd__dict_field(prefix, "next"), now.next) &&
           hd_dict_set_int(d, hd__dict_field(prefix, "bernoulli"), now.bernoulli) &&
           hd_dict_set_int(d, hd__dict_field(prefix, "has_spare"), now.has_spare) &&
           hd_dict_set_double(d, hd__dict_field(prefix, "spare"), now.has_spare ? now.spare : 0);
}

bool hd_generator_save(hd_generator *g, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_generator_save");
    return hd__tensor_state_save("g", g, d, prefix, generator_write);
}

/* ---------------------------------------------------------------- reading */

static bool read_words(const hd_dict *d, const char *prefix, uint32_t *words)
{
    const char *name = hd__dict_field(prefix, "state");
    const hd_tensor *expected = hd_empty(HD_INT64, HD__MT_SIZE);
    const hd_tensor *state = expected ? hd__dict_copy("", d, name, expected) : NULL;
    if (!state) {
        return false;
    }
    for (int64_t i = 0; i < HD__MT_SIZE; i++) {
        int64_t word = ((const int64_t *)hd__tensor_ptr(state))[i];
        if (word < 0 || word > UINT32_MAX) {
            return hd_fail(HD_VALUE,
                           "'%s' holds %" PRId64 " at index %" PRId64 ": expected 0 to 4294967295",
                           name, word, i);
        }
        words[i] = (uint32_t)word;
    }
    return true;
}

bool hd_generator_load(hd_generator *g, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_generator_load");
    HD__SCOPE_OR(false);
    hd_generator read;
    int64_t next, bernoulli, has_spare;
    if (!hd__tensor_state_given("g", g, d, prefix) || !read_words(d, prefix, read.state) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "next"), 0, HD__MT_SIZE, &next) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "bernoulli"), 0, HD_BERNOULLI_NATIVE,
                             &bernoulli) ||
        !hd__dict_int_within(d, hd__dict_field(prefix, "has_spare"), 0, 1, &has_spare) ||
        !hd_dict_get_double(d, hd__dict_field(prefix, "spare"), &read.spare)) {
        return false;
    }
    if (!isfinite(read.spare)) {
        return hd_fail(HD_VALUE, "'%s' is %g: expected a finite number",
                       hd__dict_field(prefix, "spare"), read.spare);
    }
    read.next = (int)next;
    read.bernoulli = (hd_bernoulli_stream)bernoulli;
    read.has_spare = has_spare;
    HD__GEN_LOCKED(g);
    read.user = g->user;
    read.switches = g->switches;
    *g = read;
    return true;
}
