/* fuzz_npy.c - fuzzes .npy files. A loaded array is saved, and the saved file must load to the same
 * array. */
#include "fuzz.h"
#include "mutate.h"

void fuzz_setup(void)
{
}

void fuzz_one(const uint8_t *data, size_t size)
{
    hd_tensor *x = hd_load_npy(fuzz_file(0, data, size));
    if (!fuzz_verdict(x, "hd_load_npy")) {
        return;
    }
    fuzz_check(hd_is_contiguous(x) && hd_sum(x), "an array that cannot be read");
    fuzz_check(hd_save_npy(fuzz_path("a.npy"), x), "a loaded array cannot be saved");
    hd_tensor *y = hd_load_npy(fuzz_path("a.npy"));
    fuzz_check(y && fuzz_same_tensor(x, y), "a saved array has changed");
}

#ifdef FUZZ_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_npy(data, size, max, seed);
}
#endif
