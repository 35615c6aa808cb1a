/* dict.h - the struct of a dictionary. dict.c explains how it finds a name. */
#ifndef HEED_TENSOR_DICT_H
#define HEED_TENSOR_DICT_H

#include "heed/tensor.h"

typedef union hd__dict_value {
    hd_tensor *tensor; /* the dictionary has a reference to it */
    char *string;      /* allocated by hd_alloc */
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
    int64_t len, room; /* numbers of entries in use, and of entries that fit */
    hd__dict_entry **entries;
    uint32_t *slots;
    int64_t places; /* the number of slots; 0 if no entry was ever set */
};

/* Returns "prefix.field", or "field" for an empty prefix, as a string in the innermost scope.
 * Returns NULL if memory runs out; every hd_dict function fails for a NULL name. */
const char *hd__dict_field(const char *prefix, const char *field);

#endif
