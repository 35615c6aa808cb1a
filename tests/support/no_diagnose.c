/* no_diagnose.c - in place of src/diagnose, for the programs that test a layer below it: nobody is
 * told of any event. */
#include "base/events.h"

void hd__diagnose_start(char *wrong, size_t size)
{
    (void)wrong, (void)size;
}
