/* dict.h - what a dictionary is in memory. dict.c says how names are found. */
#ifndef HEED_TENSOR_DICT_H
#define HEED_TENSOR_DICT_H

#include "heed/tensor.h"

typedef union hd__dict_value {
    hd_tensor *tensor; /* retained */
    char *string;      /* of hd_alloc */
    int64_t i;
    double d;
} hd__dict_value;

typedef struct hd__dict_entry {
    uint64_t hash;
    hd_dict_kind kind;
    hd__dict_value v;
    char name[];
} hd__dict_entry;

struct hd_dict {
    int64_t len, room; /* of entries */
    hd__dict_entry **entries;
    uint32_t *slots;
    int64_t places; /* the number of slots; with none len is 0 */
};

/* As hd__text_key of base, in the innermost scope: "prefix.field". Every hd_dict function takes
 * NULL. */
const char *hd__dict_field(const char *prefix, const char *field);

#endif
