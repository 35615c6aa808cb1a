/* golden_tensor.h - makes the tensor that a golden record describes. */
#ifndef HEED_TESTS_GOLDEN_TENSOR_H
#define HEED_TESTS_GOLDEN_TENSOR_H

#include <stdlib.h>

#include "heed/tensor.h"
#include "support/golden_reader.h"

/* The types of numbers are hd_dtype's, in its order. */
static inline hd_dtype dtype_of_record(const golden_record *r)
{
    return (hd_dtype)r->type;
}

/* Of the record's dtype, sizes and values; NULL when it cannot be made. */
static inline hd_tensor *tensor_of(const golden_record *r)
{
    hd_dtype d = dtype_of_record(r);
    hd_tensor *x = hd_empty_n(d, r->ndim, r->sizes);
    char *bytes = malloc((size_t)r->numel * 8 + 1);
    for (int64_t i = 0; bytes && i < r->numel; i++) {
        switch (d) {
        case HD_FLOAT32: ((float *)bytes)[i] = (float)r->d[i]; break;
        case HD_FLOAT64: ((double *)bytes)[i] = r->d[i]; break;
        case HD_INT64: ((int64_t *)bytes)[i] = r->i[i]; break;
        default: ((uint8_t *)bytes)[i] = (uint8_t)r->i[i];
        }
    }
    bool ok = bytes && hd_copy_from(x, bytes, (size_t)(r->numel * hd_dtype_size(d)));
    free(bytes);
    return ok ? x : NULL;
}

#endif
