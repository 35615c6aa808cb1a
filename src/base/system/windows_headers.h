/* windows_headers.h - the headers of Windows, without their macros that would replace names of
 * heed. */
#ifndef HEED_BASE_WINDOWS_HEADERS_H
#define HEED_BASE_WINDOWS_HEADERS_H

#define NOGDI
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <winternl.h>

#undef FAR
#undef IGNORE
#undef NEAR
#undef far
#undef near

#endif
