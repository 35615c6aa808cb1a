/* train_directory.c - makes the directory of a new run. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "train_run.h"

/* Makes a directory and its parents. Returns false with errno set on failure: EEXIST if the
 * directory exists already. */
static bool make_path(const char *path)
{
    char part[PATH_SIZE];
    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] != '/' || path[i + 1] == '\0') {
            continue;
        }
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return false;
        }
    }
    return mkdir(path, 0777) == 0;
}

/* Syncs the parent of the new directory to the disk. Otherwise a crash may lose the directory's
 * name, and with it all checkpoints. Returns false with an error on failure. */
static bool sync_directory(const run *r)
{
    char parent[2 * PATH_SIZE];
    run_path(r, parent, "..");
    int fd = open(parent, O_RDONLY);
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* EINVAL: cannot sync folders */
    if (!ok) {
        hd_error_set(HD_IO, "%s: %s", parent, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

bool run_make_directory(run *r)
{
    char word[SHELL_WORD];
    bool made = false;
    if (r->s.out[0]) {
        snprintf(r->dir, sizeof r->dir, "%.*s", directory_length(r->s.out), r->s.out);
        made = make_path(r->dir);
    }
    for (int i = 1; !r->s.out[0] && !made; i++) {
        snprintf(r->dir, sizeof r->dir, "gpt-%d", i);
        made = make_path(r->dir);
        if (!made && errno != EEXIST) {
            break;
        }
    }
    int cause = made ? 0 : errno;
    int64_t newest = cause == EEXIST ? run_newest_step(r) : 0;
    if (newest < 0) {
        return false;
    }
    if (made || (cause == EEXIST && newest == 0)) {
        run_remove_leftovers(r); /* left by a run that was killed before its first checkpoint */
        return sync_directory(r);
    }
    if (cause == EEXIST) {
        return hd_error_set(HD_STATE,
                            "%s has a run in it. --resume %s continues it; a new run needs another "
                            "--set out=DIR",
                            r->dir, shell_word(r->dir, word));
    }
    return hd_error_set(HD_IO, "%s: %s", r->dir, strerror(cause));
}
