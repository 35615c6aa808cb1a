/* sibling.h - what base offers to the libraries beside libheed, which lie in libs/.
 *
 * Those may include heed's public headers, tensor/arg.h, and of base this one, error/args.h,
 * error/speak.h, files/folder.h, files/whole_file.h, system/shared.h, text/json.h, text/number.h,
 * text/text.h and text/utf8.h. What these declare as HD__SIBLING the shared library exports, so
 * that nothing of base is compiled a second time. It is for them alone: where the linker knows
 * symbol versions it has one of its own (src/private.map.in), and it may change with any version of
 * heed. So each of these libraries first asks whether it was built with this very version. */
#ifndef HEED_BASE_SIBLING_H
#define HEED_BASE_SIBLING_H

#include "heed/base.h"

#define HD__SIBLING HD_API

#define HD__TEXT_OF(x) #x
#define HD__VERSION_OF(major, minor, patch)                                                        \
    HD__TEXT_OF(major) "." HD__TEXT_OF(minor) "." HD__TEXT_OF(patch)
#define HD__VERSION HD__VERSION_OF(HD_VERSION_MAJOR, HD_VERSION_MINOR, HD_VERSION_PATCH)

/* Was the library that calls it built with the very version of heed that runs? If not, fails with
 * HD_STATE. A function that a program can call first asks it before anything else. */
HD__SIBLING bool hd__sibling_ok(const char *version);
#define HD__SIBLING_OK() hd__sibling_ok(HD__VERSION)

/* What HD__CALL and HD__CALLS_BACK of speak.h call, each of which returns the call of this thread
 * before. If there is no call, it becomes a copy of the name that lasts. */
HD__SIBLING const char *hd__call_enter(const char *name);
/* The call becomes `now`, which was one before, or NULL. */
HD__SIBLING const char *hd__call_exchange(const char *now);

#endif
