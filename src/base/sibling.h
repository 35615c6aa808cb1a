/* sibling.h - what base offers to the libraries in libs/.
 *
 * They may include heed's public headers, tensor/arg.h, and of base: this header, error/args.h,
 * error/speak.h, files/folder.h, files/whole_file.h, system/shared.h, text/json.h, text/number.h,
 * text/text.h and text/utf8.h. The shared library exports the functions that these headers declare
 * as HD__SIBLING, so that nothing of base is compiled twice. They are for these libraries alone:
 * where the linker knows symbol versions, they have a version of their own (src/private.map.in),
 * and they may change with any version of heed. So each of these libraries first checks that it was
 * built with exactly this version. */
#ifndef HEED_BASE_SIBLING_H
#define HEED_BASE_SIBLING_H

#include "heed/base.h"

#define HD__SIBLING HD_API

#define HD__TEXT_OF(x) #x
#define HD__VERSION_OF(major, minor, patch)                                                        \
    HD__TEXT_OF(major) "." HD__TEXT_OF(minor) "." HD__TEXT_OF(patch)
#define HD__VERSION HD__VERSION_OF(HD_VERSION_MAJOR, HD_VERSION_MINOR, HD_VERSION_PATCH)

/* True if the calling library was built with exactly the version of heed that runs. Otherwise fails
 * with HD_STATE. Every function that a program can call first begins with this check. */
HD__SIBLING bool hd__sibling_ok(const char *version);
#define HD__SIBLING_OK() hd__sibling_ok(HD__VERSION)

/* For HD__CALL of speak.h: returns this thread's call. If there was none, a lasting copy of `name`
 * becomes the call. */
HD__SIBLING const char *hd__call_enter(const char *name);
/* For speak.h: sets this thread's call to `now`, an earlier call or NULL, and returns the call
 * before. */
HD__SIBLING const char *hd__call_exchange(const char *now);

#endif
