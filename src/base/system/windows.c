/* windows.c - the functions of system.h on Windows, for MinGW-w64 and Zig. windows_files.c and
 * windows_names.c have those for files. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/system.h"
#include "base/system/windows_headers.h"

/* ---------------------------------------------------------------- threads, time and CPUs */

bool hd__sys_thread_start(pthread_t *thread, void *(*f)(void *arg), void *arg)
{
    return pthread_create(thread, NULL, f, arg) == 0;
}

int64_t hd__sys_nanoseconds(void)
{
    LARGE_INTEGER now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    return now.QuadPart / second.QuadPart * 1000000000 +
           now.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

long hd__sys_process(void)
{
    return (long)GetCurrentProcessId();
}

int hd__sys_affinity_cpus(void)
{
    DWORD_PTR ours, all;
    return GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) ? __builtin_popcountll(ours)
                                                                    : 0;
}

long hd__sys_second_cache_told(void)
{
    return 0;
}

/* ---------------------------------------------------------------- memory */

void *hd__sys_block_new(size_t align, size_t bytes)
{
    return _aligned_malloc(bytes, align);
}

void hd__sys_block_free(void *p)
{
    _aligned_free(p);
}

size_t hd__sys_page_bytes(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static void *pages_at(void *place, size_t bytes, DWORD how)
{
    return VirtualAlloc(place, bytes, how, PAGE_READWRITE);
}

/* Windows aligns to 64 KiB. So this function reserves a larger range, releases it, and maps the
 * aligned part. If another thread has mapped something there meanwhile, it tries again. */
void *hd__sys_pages_map(size_t bytes, size_t align)
{
    char *p = NULL, *room;
    while (!p && (room = pages_at(NULL, bytes + align, MEM_RESERVE))) {
        VirtualFree(room, 0, MEM_RELEASE);
        p = pages_at(room + -(uintptr_t)room % align, bytes, MEM_RESERVE | MEM_COMMIT);
        if (!p && GetLastError() != ERROR_INVALID_ADDRESS) {
            return NULL;
        }
    }
    return p;
}

bool hd__sys_pages_drop(void *p, size_t bytes)
{
    return pages_at(p, bytes, MEM_RESET);
}

void hd__sys_unmap(void *bytes, size_t n)
{
    (void)n;
    if (!VirtualFree(bytes, 0, MEM_RELEASE)) {
        UnmapViewOfFile(bytes);
    }
}

/* ---------------------------------------------------------------- error texts */

const char *hd__sys_why(int cause, char text[HD__WHY_TEXT])
{
    if (cause == 0 || strerror_s(text, HD__WHY_TEXT, cause) != 0) {
        snprintf(text, HD__WHY_TEXT, "unknown error");
    }
    return text;
}

/* ---------------------------------------------------------------- locale */

typedef struct locale_before {
    int shared;  /* the result of _configthreadlocale */
    char name[]; /* the thread's locale */
} locale_before;

/* If _configthreadlocale returns -1, as in the old library msvcrt.dll, threads have no locales of
 * their own. Then the locale does not change. */
void *hd__sys_locale_enter(void)
{
    int shared = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char *name = setlocale(LC_ALL, NULL);
    locale_before *b = malloc(sizeof *b + strlen(name) + 1);
    if (b) {
        b->shared = shared;
        strcpy(b->name, name);
        setlocale(LC_ALL, shared == -1 ? NULL : "C");
    }
    return b;
}

void hd__sys_locale_leave(void *before)
{
    locale_before *b = before;
    if (b && b->shared != -1) {
        setlocale(LC_ALL, b->name);
        _configthreadlocale(b->shared);
    }
    free(b);
}
