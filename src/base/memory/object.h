/* object.h - the objects that a program holds: which kind one is of, and whether it was freed
 * (object.c). */
#ifndef HEED_BASE_OBJECT_H
#define HEED_BASE_OBJECT_H

#include <stdatomic.h>

#include "base/memory/alloc.h"

/* The objects that a program may give in place of each other. The kind of each stands in the header
 * before it. Only a tensor has no header of its own, but a mark: the byte HD__MARK_AT, where other
 * objects have the upper half of an address or of a small number. */
#define HD__OBJECTS(ROW)                                                                           \
    ROW(A_TENSOR, hd_tensor, "a tensor")                                                           \
    ROW(A_LIST, hd_list, "a list of tensors")                                                      \
    ROW(MODULE, hd_module, "a module")                                                             \
    ROW(OPTIM, hd_optim, "an optimizer")                                                           \
    ROW(SCHEDULE, hd_schedule, "a schedule")                                                       \
    ROW(KV_CACHE, hd_kv_cache, "a cache")                                                          \
    ROW(DICT, hd_dict, "a dictionary")                                                             \
    ROW(GENERATOR, hd_generator, "a generator")                                                    \
    ROW(DATASET, hd_dataset, "a dataset")                                                          \
    ROW(LOADER, hd_loader, "a loader")                                                             \
    ROW(TOKENS, hd_tokens, "an hd_tokens")                                                         \
    ROW(TOKENIZER, hd_tokenizer, "a tokenizer")                                                    \
    ROW(SAFETENSORS, hd_safetensors, "an open safetensors file")

#define HD__KIND_NAME(kind, type, text) HD__##kind,
typedef enum hd__kind_of_object {
    HD__NO_OBJECT = 0xa500,
    HD__OBJECTS(HD__KIND_NAME)
} hd__kind_of_object;

/* The kind that the type of a pointer says. */
#define HD__KIND_OF_TYPE(kind, type, text)                                                         \
    , struct type * : HD__##kind, const struct type * : HD__##kind
#define HD__KIND(p) _Generic((p), char * : HD__NO_OBJECT HD__OBJECTS(HD__KIND_OF_TYPE))

enum { HD__MARK_AT = 6, HD__TENSOR = 0x80 };

/* The kind of what lies at p; HD__NO_OBJECT: something else, or a tensor that was freed. */
hd__kind_of_object hd__kind_at(const void *p);
/* Fails with HD_VALUE: "hd_print: x is a module: expected a tensor". */
void *hd__wrong_object(hd__kind_of_object expected, const char *arg, const void *p);

/* A zeroed block of that kind. NULL: HD_MEMORY. */
void *hd__object_new(hd__kind_of_object kind, size_t size);
/* The place of an object in a larger block: after a header, which is written. */
enum { HD__HEADER = 16 };
void *hd__object_in(hd__kind_of_object kind, void *block);

/* Is p, a pointer to an object, given, of the kind that its type says, and not freed? Otherwise
 * fails with HD_NULL_ARG as hd__given does; with HD_STATE: "hd_optim_step: o was freed by
 * hd_optim_free"; or with HD_VALUE: "hd_forward: m is a tensor: expected a module". */
#define hd__object(arg, p) hd__object_is(HD__KIND(p), arg, p)
bool hd__object_is(hd__kind_of_object kind, const char *arg, const void *p);

/* May a _free function free p, an object? Not if it is NULL or `none`, which is HD_NONE: no error.
 * If it was freed before, fails with HD_STATE: "hd_optim_free: o was freed already, by
 * hd_optim_free"; an object of another kind fails as in hd__object. */
#define hd__may_free(arg, p, none) hd__free_ok(HD__KIND(p), arg, p, none)
bool hd__free_ok(hd__kind_of_object kind, const char *arg, const void *p, const void *none);

/* For an object with other holders than the user, whose _free gives up the user's hold alone and
 * sets *freed. Did the user not call it yet? Otherwise fails as hd__object does. */
bool hd__not_given_up(const char *arg, const atomic_bool *freed, const char *freed_by);
/* The same in that _free: *freed, which becomes true, must have been false. */
bool hd__given_up(const char *arg, atomic_bool *freed);

#endif
