/* windows_files.h - the handles, paths and errors of windows_files.c and windows_names.c. */
#ifndef HEED_BASE_WINDOWS_FILES_H
#define HEED_BASE_WINDOWS_FILES_H

#include "base/system/system.h"
#include "base/system/windows_headers.h"

/* HD__IN_NTDLL(name): the function `name` of ntdll.dll. Every process has loaded this DLL, so the
 * program need not link a library for it. */
#define HD__IN_NTDLL(name)                                                                         \
    ((__typeof__(&name))(void (*)(void))GetProcAddress(GetModuleHandleW(L"ntdll.dll"), #name))

static inline HANDLE hd__sys_handle(int fd)
{
    return (HANDLE)(intptr_t)fd;
}

/* Both return -1. hd__sys_failed sets errno to the meaning of GetLastError, and
 * hd__sys_status_failed sets it to the meaning of a status of ntdll. */
int hd__sys_failed(void);
int hd__sys_status_failed(NTSTATUS status);

/* Writes a path as UTF-16. Returns false with errno if it is not UTF-8 or too long. */
enum { HD__SYS_PATH = 4096 };
bool hd__sys_widen(const char *path, WCHAR wide[HD__SYS_PATH]);

/* Opens a path in the open directory `at`, or in HD__SYS_HERE, with access `rights`. `how` may have
 * HD__SYS_FOLLOW, without which a link itself is opened, and HD__SYS_NEW for a file that must not
 * exist. Returns -1 with errno on failure. */
enum { HD__SYS_FOLLOW = 1, HD__SYS_NEW = 2 };
int hd__sys_open_at(int at, const char *path, DWORD rights, int how);

#endif
