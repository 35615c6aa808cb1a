/* mutate.h - mutators that know a file format. A change in one place adapts all other places, so
 * that most inputs of libFuzzer get past the first check. */
#ifndef HEED_TESTS_FUZZ_MUTATE_H
#define HEED_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max); /* libFuzzer's own */

/* Changes the file of `size` bytes at data, which may grow to max bytes; returns its new size. */
size_t mutate_safetensors(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t mutate_npy(uint8_t *data, size_t size, size_t max, unsigned seed);

#endif
