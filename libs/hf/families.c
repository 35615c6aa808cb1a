/* families.c - the rows of all model families. */
#include "hf/family.h"

const hd__family *const hd__families[] = {
#define FAMILY(name) &hd__##name##_family,
#include "hf/families.h"
    NULL,
};
