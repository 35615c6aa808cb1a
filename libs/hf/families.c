/* families.c - the list of the rows (family.h) of all model families. */
#include "hf/family.h"

const hd__hf_family *const hd__hf_families[] = {
#define FAMILY(name) &hd__hf_##name##_family,
#include "hf/families.h"
    NULL,
};
