/* sibling.h - the functions of base for the libraries in libs/, which are the siblings of libheed.
 *
 * These libraries may include heed's public headers, tensor/arg.h, and of base: this header,
 * error/args.h, error/speak.h, files/folder.h, files/whole_file.h, system/shared.h, text/json.h,
 * text/number.h, text/text.h and text/utf8.h. The shared library exports the functions that these
 * headers declare as HD__SIBLING, so that nothing of base is compiled twice. Programs must not call
 * these functions, because they may change with any version of heed. Where the linker has symbol
 * versions, the functions have a version of their own (src/private.map.in). Each library in libs/
 * first checks that it was built with exactly the version of libheed that runs. */
#ifndef HEED_BASE_SIBLING_H
#define HEED_BASE_SIBLING_H

#include "heed/base.h"

#define HD__SIBLING HD_API

#define HD__TEXT_OF(x) #x
#define HD__VERSION_OF(major, minor, patch)                                                        \
    HD__TEXT_OF(major) "." HD__TEXT_OF(minor) "." HD__TEXT_OF(patch)
#define HD__VERSION HD__VERSION_OF(HD_VERSION_MAJOR, HD_VERSION_MINOR, HD_VERSION_PATCH)

/* Checks that the calling library was built with exactly the version of heed that runs. Otherwise
 * returns false with HD_STATE. Every function that can be a program's first call into its library
 * begins with this check. */
HD__SIBLING bool hd__sibling_ok(const char *version);
#define HD__SIBLING_OK() hd__sibling_ok(HD__VERSION)

/* For HD__CALL of speak.h: if hd__call (error/call.h) is NULL on this thread, sets it to a copy of
 * `name` that lasts as long as the process. Returns the old hd__call, which may be NULL. */
HD__SIBLING const char *hd__call_enter(const char *name);
/* For speak.h: sets hd__call to `now`, an earlier hd__call or NULL. Returns the old hd__call. */
HD__SIBLING const char *hd__call_exchange(const char *now);

#endif
