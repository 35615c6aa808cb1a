/* posix.c - the functions of posix.h, and the start of each of heed's programs on Windows: its
 * files and standard files have no carriage returns, and its terminal shows UTF-8. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "posix.h"

__attribute__((constructor)) static void begin_program(void)
{
    _fmode = _O_BINARY;
    for (int fd = 0; fd < 3; fd++) {
        _setmode(fd, _O_BINARY);
    }
    SetConsoleCP(CP_UTF8);
    SetConsoleOutputCP(CP_UTF8);
}

int symlink(const char *target, const char *path)
{
    (void)target, (void)path;
    errno = ENOSYS;
    return -1;
}

int gethostname(char *name, size_t room)
{
    DWORD size = (DWORD)room;
    return GetComputerNameA(name, &size) ? 0 : -1;
}

char *mkdtemp(char *pattern)
{
    char *end = pattern + strlen(pattern) - strlen("XXXXXX");
    unsigned number = (unsigned)GetCurrentProcessId() << 8;
    bool made;
    do {
        snprintf(end, sizeof "XXXXXX", "%06x", number++ & 0xffffff);
        made = _mkdir(pattern) == 0;
    } while (!made && errno == EEXIST);
    return made ? pattern : NULL;
}

ssize_t getline(char **line, size_t *room, FILE *f)
{
    size_t n = 0;
    for (int c = 0; c != '\n' && (c = getc(f)) != EOF;) {
        if (n + 2 > *room) {
            char *more = realloc(*line, 2 * *room + 256);
            if (!more) {
                return -1;
            }
            *line = more;
            *room = 2 * *room + 256;
        }
        (*line)[n++] = (char)c;
        (*line)[n] = '\0';
    }
    return n > 0 ? (ssize_t)n : -1;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef int comparison(const void *a, const void *b);

int scandir(const char *path, struct dirent ***entries, int (*keep)(const struct dirent *e),
            int (*compare)(const struct dirent **a, const struct dirent **b))
{
    DIR *dir = opendir(path);
    struct dirent **list = NULL;
    int n = dir ? 0 : -1;
    for (struct dirent *e; n >= 0 && (e = readdir(dir));) {
        if (keep(e)) {
            struct dirent **more = realloc(list, ((size_t)n + 1) * sizeof(*list));
            struct dirent *copy = malloc(sizeof *copy);
            if (!more || !copy) {
                abort();
            }
            *copy = *e;
            list = more;
            list[n++] = copy;
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (n > 0) {
        qsort(list, (size_t)n, sizeof *list, (comparison *)(void (*)(void))compare);
    }
    *entries = list;
    return n;
}

int sigaction(int number, const struct sigaction *a, struct sigaction *old)
{
    bool known = number == SIGINT || number == SIGTERM;
    void (*before)(int) = known && a ? signal(number, a->sa_handler) : SIG_DFL;
    if (old) {
        old->sa_handler = before;
    }
    return known && before != SIG_ERR ? 0 : -1;
}
