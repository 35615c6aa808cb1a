/* object.c - reads an object's kind, and whether it was freed, from the header before it.
 * quarantine.c says why the header of a freed object can still be read. */
#include "base/error/assert.h"
#include "base/error/call.h"
#include "base/error/lasting.h"
#include "base/memory/blocks.h"
#include "base/memory/object.h"

static bool is_freed(const void *p)
{
    return hd__mem_header_of(p)->size == HD__FREED_SIZE;
}

#define KIND_TEXT(kind, type, text) text,
static const char *const kind_texts[] = {"another thing", HD__OBJECTS(KIND_TEXT)};
enum { KINDS = sizeof kind_texts / sizeof kind_texts[0] };

void *hd__object_new(hd__object_kind_of_object kind, size_t size)
{
    void *p = hd__mem_alloc_zeroed(size);
    if (p) {
        hd__mem_header_of(p)->kind = (uint16_t)kind;
    }
    return p;
}

void *hd__object_in(hd__object_kind_of_object kind, void *block)
{
    void *p = (char *)block + HD__HEADER;
    *hd__mem_header_of(p) = (hd__mem_header){.size = 1, .kind = (uint16_t)kind};
    return p;
}

/* p may be any address of the program. The header of an object at the start of a page would lie in
 * the page before, which may not be mapped. So the kind of such an object, one in 256, is
 * HD__NO_OBJECT. */
hd__object_kind_of_object hd__object_kind_at(const void *p)
{
    const unsigned int mark = ((const unsigned char *)p)[HD__MARK_AT];
    if (mark == HD__TENSOR) {
        return HD__A_TENSOR;
    }
    const bool block = (uintptr_t)p % 4096 >= HD__HEADER;
    const unsigned int kind = block ? hd__mem_header_of(p)->kind : HD__NO_OBJECT;
    return kind - HD__NO_OBJECT < KINDS ? (hd__object_kind_of_object)kind : HD__NO_OBJECT;
}

void *hd__object_wrong_object(hd__object_kind_of_object expected, const char *arg, const void *p)
{
    return hd_fail(HD_VALUE, "%s is %s: expected %s", arg,
                   kind_texts[hd__object_kind_at(p) - HD__NO_OBJECT],
                   kind_texts[expected - HD__NO_OBJECT]);
}

/* Fails with the error of hd__object, and returns false. `by` has the words between "was freed" and
 * the name of the function that freed p. */
HD__RARE static bool object_fail(hd__object_kind_of_object kind, const char *arg, const void *p,
                                 const char *by)
{
    if (!p) {
        return hd__arg_null_arg(arg);
    }
    return is_freed(p) ? hd_fail(HD_STATE, "%s was freed%s %s", arg, by,
                                 hd__lasting_of_code(hd__mem_header_of(p)->freed_by))
                       : hd__object_wrong_object(kind, arg, p);
}

bool hd__object_is(hd__object_kind_of_object kind, const char *arg, const void *p)
{
    return (p && hd__mem_header_of(p)->kind == kind) || object_fail(kind, arg, p, " by");
}

bool hd__object_free_ok(hd__object_kind_of_object kind, const char *arg, const void *p,
                        const void *none)
{
    return p && p != none &&
           (hd__mem_header_of(p)->kind == kind || object_fail(kind, arg, p, " already, by"));
}

bool hd__object_not_given_up(const char *arg, const atomic_bool *freed, const char *freed_by)
{
    return !atomic_load(freed) || hd_fail(HD_STATE, "%s was freed by %s", arg, freed_by);
}

bool hd__object_given_up(const char *arg, atomic_bool *freed)
{
    return !atomic_exchange(freed, true) ||
           hd_fail(HD_STATE, "%s was freed already, by %s", arg, hd__call);
}
