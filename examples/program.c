/* program.c - functions that the example programs share. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "heed/base.h"

void open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* open takes the lowest free number, which is this one. */
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd) {
            _exit(1); /* there is no place for a message */
        }
    }
}

bool stdout_written(const char *program)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    fprintf(stderr, "%s: cannot write to the standard output\n", program);
    return false;
}

int about_status(int argc, char **argv, const char *program, const char *help)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
    } else if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("%s %s\n", program, hd_version());
    } else {
        return -1;
    }
    return stdout_written(program) ? 0 : 1;
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In single quotes every character stands for itself, except a single quote, which becomes '\''. */
const char *shell_word(const char *text, char out[SHELL_WORD])
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_-./:,+@%";
    size_t n = strlen(text), at = 0;
    if (n > 0 && n < SHELL_WORD && strspn(text, plain) == n) {
        memcpy(out, text, n + 1);
        return out;
    }
    out[at++] = '\'';
    for (const char *c = text; *c != '\0' && at + 6 <= SHELL_WORD; c++) {
        size_t length = *c == '\'' ? 4 : 1;
        memcpy(out + at, *c == '\'' ? "'\\''" : c, length);
        at += length;
    }
    out[at++] = '\'';
    out[at] = '\0';
    return out;
}

int directory_length(const char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') {
        n--;
    }
    return (int)n;
}

bool pictures_folder(const char *program, const char *folder)
{
#ifdef HEED_HAVE_VIZ
    struct stat s;
    if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || stat(folder, &s) != 0) {
        fprintf(stderr, "%s: --pictures %s: %s\n", program, folder, strerror(errno));
        return false;
    }
    if (!S_ISDIR(s.st_mode) || access(folder, W_OK | X_OK) != 0) {
        fprintf(stderr, "%s: --pictures %s: expected a folder in which files can be made\n",
                program, folder);
        return false;
    }
    return true;
#else
    fprintf(stderr, "%s: --pictures %s: this program was built without libheed-viz\n", program,
            folder);
    return false;
#endif
}
