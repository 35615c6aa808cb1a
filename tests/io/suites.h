/* suites.h - the suites of the io layer, one for each topic; main.c runs them all. Each test begins
 * in an empty directory of its own. It fails unless it ends with the number of live bytes, tensors
 * and open files that it began with. */
#ifndef HEED_TESTS_IO_SUITES_H
#define HEED_TESTS_IO_SUITES_H

#include <stdlib.h>

#include "support/files.h"
#include "support/leak_checked.h"
#include "support/scarce.h"
#include "io/safetensors.h"

#define SUITES(X)                                                                                  \
    X(verdicts)                                                                                    \
    X(safetensors) X(shards) X(mapping) X(npy) X(files) X(durable) X(checkpoint) X(replace)
SUITES(DECLARE_SUITE)

void begin_in_a_folder(void); /* before and after each test of io */
void end_in_a_folder(void);
#undef SUITE
#define SUITE(name, tests) SUITE_BETWEEN(name, tests, begin_in_a_folder, end_in_a_folder)

/* ---------------------------------------------------------------- files (support.c) */

bool same_files(const char *a, const char *b);

/* A safetensors file of this header and n bytes of data. */
void write_safetensors(const char *path, const char *header, const void *data, size_t n);

/* Makes the test go on, to its end, as a user whom permissions bind. False: that is not
 * possible. */
bool as_nobody(void);

/* The name of the only directory here that begins with ".heed-". */
void left_over(char name[256]);

/* ---------------------------------------------------------------- golden cases (golden_case.c) */

typedef struct golden_tensor {
    char *name, dtype[16], shape[64]; /* as heed must have them: "float32", "torch.Size([2])" */
    unsigned char *bytes;
    size_t n;
} golden_tensor;

typedef struct golden_case { /* tests/golden/io/README.md */
    char name[80];
    bool python_loads;
    char *bytes;
    size_t n;
    int tensors;
    golden_tensor tensor[8];
} golden_case;

/* Calls f with each case of tests/golden/io/FILE, and returns how many there were. */
int for_each_case(const char *file, void (*f)(const golden_case *c));

/* ---------------------------------------------------------------- the round trip (roundtrip.c) */

/* A dictionary with every dtype, odd names, views and empty tensors. It is always the same. */
hd_dict *roundtrip_dict(void);
/* For tools/runs/roundtrip_safetensors.py: "make FILE" writes it, "copy IN OUT" loads and saves. */
int roundtrip_main(int argc, char **argv);

#endif
