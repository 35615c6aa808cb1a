/* file_stdio.c - stdio files built with fopencookie over the functions in file_calls.c, because the
 * C library's own stdio calls the system directly. */
#include "support/file_faults_internal.h"

#ifdef __linux__

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 64 };

static struct {
    FILE *file;
    int fd;
} streams[STREAMS];

static ssize_t stream_read(void *at, char *bytes, size_t n)
{
    return read(streams[(size_t)at].fd, bytes, n);
}

/* Writes all, as the C library does it. */
static ssize_t stream_write(void *at, const char *bytes, size_t n)
{
    size_t done = 0;
    for (ssize_t put = 0; put >= 0 && done<n; done += put> 0 ? (size_t)put : 0) {
        put = write(streams[(size_t)at].fd, bytes + done, n - done);
    }
    return (ssize_t)done;
}

static int stream_seek(void *at, off64_t *to, int from)
{
    off_t place = lseek(streams[(size_t)at].fd, *to, from);
    *to = place < 0 ? *to : place;
    return place < 0 ? -1 : 0;
}

static int stream_close(void *at)
{
    int fd = streams[(size_t)at].fd;
    streams[(size_t)at].file = NULL;
    return close(fd);
}

FILE *stream_new(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    size_t at = 0;
    while (at < STREAMS && streams[at].file) {
        at++;
    }
    streams[at].fd = fd;
    streams[at].file = fopencookie((void *)at, mode, functions);
    return streams[at].file;
}

static FILE *stream_open(const char *path, const char *mode)
{
    bool update = strchr(mode, '+');
    int flags = mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
    flags |= update ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    int fd = open_file(AT_FDCWD, path, flags, 0666);
    return fd < 0 ? NULL : stream_new(fd, mode);
}

SEEN FILE *fopen(const char *restrict path, const char *restrict mode)
{
    REAL(FILE *, WIDE("fopen"), const char *, const char *);
    return stand_in.on ? stream_open(path, mode) : real(path, mode);
}

SEEN int fileno(FILE *f)
{
    REAL(int, "fileno", FILE *);
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].file == f) {
            return streams[i].fd;
        }
    }
    return real(f);
}

#endif
