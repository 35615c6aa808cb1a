/* object.h - the kinds of objects that a program holds, and checks of an object's kind and of
 * whether it is alive (object.c). */
#ifndef HEED_BASE_OBJECT_H
#define HEED_BASE_OBJECT_H

#include <stdatomic.h>

#include "base/memory/alloc.h"

/* The kinds of objects. The header before an object has its kind. A tensor has no header: its byte
 * HD__MARK_AT is HD__TENSOR. All other objects begin with an address or a small number, in which
 * this byte has another value. */
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
typedef enum hd__object_kind_of_object {
    HD__NO_OBJECT = 0xa500,
    HD__OBJECTS(HD__KIND_NAME)
} hd__object_kind_of_object;

/* HD__KIND(p): the kind of object that the type of p names. */
#define HD__KIND_OF_TYPE(kind, type, text)                                                         \
    , struct type * : HD__##kind, const struct type * : HD__##kind
#define HD__KIND(p) _Generic((p), char * : HD__NO_OBJECT HD__OBJECTS(HD__KIND_OF_TYPE))

enum { HD__MARK_AT = 6, HD__TENSOR = 0x80 };

/* Returns the kind of the object at p; HD__NO_OBJECT for anything else and for a freed object. Also
 * returns HD__NO_OBJECT for one live object in 256, whose header cannot be read safely
 * (object.c). */
hd__object_kind_of_object hd__object_kind_at(const void *p);
/* Fails with HD_VALUE, for example with "hd_print: x is a module: expected a tensor". Returns
 * NULL. */
void *hd__object_wrong_object(hd__object_kind_of_object expected, const char *arg, const void *p);

/* Returns a zeroed object of the given kind and of `size` bytes, or NULL with HD_MEMORY if memory
 * runs out. */
void *hd__object_new(hd__object_kind_of_object kind, size_t size);
/* Makes an object inside a larger block: writes the object's header at `block`, and returns the
 * address after the header. */
enum { HD__HEADER = 16 };
void *hd__object_in(hd__object_kind_of_object kind, void *block);

/* Checks that p is a live object of the kind that its type names. Otherwise returns false with
 * HD_NULL_ARG, HD_STATE or HD_VALUE: "hd_optim_step: o is NULL", "hd_optim_step: o was freed by
 * hd_optim_free", "hd_forward: m is a tensor: expected a module". */
#define hd__object(arg, p) hd__object_is(HD__KIND(p), arg, p)
bool hd__object_is(hd__object_kind_of_object kind, const char *arg, const void *p);

/* Returns true if a _free function may free the object p. Returns false without an error if p is
 * NULL or equals `none`, which is HD_NONE. Otherwise returns false with an error of hd__object. For
 * a freed object the message is "hd_optim_free: o was freed already, by hd_optim_free". */
#define hd__object_may_free(arg, p, none) hd__object_free_ok(HD__KIND(p), arg, p, none)
bool hd__object_free_ok(hd__object_kind_of_object kind, const char *arg, const void *p,
                        const void *none);

/* The next two functions are for an object that heed may still hold when the program frees it. Its
 * _free function drops only the program's reference. hd__object_given_up, which this _free calls,
 * sets *freed; it returns false with HD_STATE if *freed was set already. hd__object_not_given_up
 * returns false with HD_STATE if *freed is set, and names freed_by, the _free function. */
bool hd__object_not_given_up(const char *arg, const atomic_bool *freed, const char *freed_by);
bool hd__object_given_up(const char *arg, atomic_bool *freed);

#endif
