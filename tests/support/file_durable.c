/* file_durable.c - keeps track of the files and names that a loss of power could lose
 * (file_faults.h). */
#include "support/file_faults_internal.h"

#ifdef __linux__

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files and directories with writes or new names since their last sync */
enum { DIRTY = 64 };

static struct {
    dev_t device;
    ino_t inode;
    bool directory;
} dirty[DIRTY];
static int n_dirty;
bool written[FILES];

void durable_begin(void)
{
    memset(written, 0, sizeof written);
    n_dirty = 0;
}

void stain(const struct stat *st, bool directory)
{
    for (int i = 0; i < n_dirty; i++) {
        if (dirty[i].inode == st->st_ino && dirty[i].device == st->st_dev) {
            return;
        }
    }
    if (n_dirty < DIRTY) {
        dirty[n_dirty].device = st->st_dev;
        dirty[n_dirty].inode = st->st_ino;
        dirty[n_dirty++].directory = directory;
    }
}

void clean(const struct stat *st)
{
    for (int i = 0; i < n_dirty; i++) {
        if (dirty[i].inode == st->st_ino && dirty[i].device == st->st_dev) {
            dirty[i] = dirty[--n_dirty];
            return;
        }
    }
}

bool real_stat(int at, const char *path, int flags, struct stat *st)
{
    REAL(int, WIDE("fstatat"), int, const char *, struct stat *, int);
    int before = errno;
    bool ok = real(at, path, st, flags) == 0;
    errno = before;
    return ok;
}

bool real_fstat(int fd, struct stat *st)
{
    return real_stat(fd, "", AT_EMPTY_PATH, st);
}

/* A name is made or changed in the directory that path lies in. */
void stain_parent(int at, const char *path)
{
    char parent[4096];
    struct stat st;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    snprintf(parent, sizeof parent, "%.*s", n ? (int)n : 1, n ? path : ".");
    if (real_stat(at, parent, 0, &st)) {
        stain(&st, true);
    }
}

void check_synced(const char *call, int at, const char *path)
{
    struct stat st;
    if (!stand_in.on || stand_in.unsafe[0] || !real_stat(at, path, AT_SYMLINK_NOFOLLOW, &st)) {
        return;
    }
    for (int i = 0; i < n_dirty; i++) {
        if (!dirty[i].directory || dirty[i].inode == st.st_ino) {
            snprintf(stand_in.unsafe, sizeof stand_in.unsafe, "%s of '%.60s' before %s was synced",
                     call, path,
                     dirty[i].directory ? "the names in it" : "a file that was written");
        }
    }
}

static bool still_there(int i)
{
    /* A directory that was removed needs no sync; it is looked for among the ones below. */
    struct stat st;
    char path[64];
    bool found = real_stat(AT_FDCWD, ".", 0, &st) && st.st_ino == dirty[i].inode;
    REAL(DIR *, "opendir", const char *);
    DIR *here = found ? NULL : real(".");
    struct dirent *(*next)(DIR *);
    int (*end)(DIR *);
    *(void **)&next = dlsym(RTLD_NEXT, WIDE("readdir"));
    *(void **)&end = dlsym(RTLD_NEXT, "closedir");
    for (struct dirent *e; here && !found && (e = next(here));) {
        snprintf(path, sizeof path, "%.60s", e->d_name);
        found = strcmp(e->d_name, "..") != 0 && real_stat(AT_FDCWD, path, 0, &st) &&
                st.st_ino == dirty[i].inode;
    }
    if (here) {
        end(here);
    }
    return found;
}

const char *faults_unsafe(void)
{
    for (int i = 0; i < n_dirty && !stand_in.unsafe[0]; i++) {
        if (still_there(i)) {
            snprintf(stand_in.unsafe, sizeof stand_in.unsafe, "%s is not synced at the end",
                     dirty[i].directory ? "a directory with a new name in it" : "a written file");
        }
    }
    return stand_in.unsafe;
}

#endif
