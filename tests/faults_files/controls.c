/* controls.c - incorrect calls that judge.c must find. Each writes a file as whole_file.c does,
 * except for one step. */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char bytes[] = "the new bytes, which are longer than the old ones";

/* The steps that a wrong call leaves out or does in another way. */
typedef struct steps {
    bool no_sync, no_directory_sync, in_place, ignores_close, leaves_file, leaves_open, no_retry,
        no_path, closes_twice, half, late_mode;
} steps;

static bool fail(const steps *s, const char *what, int cause)
{
    return hd_error_set(HD_IO, "save: %s: cannot %s: %s", s->no_path ? "the file" : "'x'", what,
                        strerror(cause));
}

static int open_retried(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static bool write_all(const steps *s, int fd)
{
    for (size_t done = 0; done < sizeof bytes;) {
        ssize_t n = write(fd, bytes + done, sizeof bytes - done);
        if (n < 0 && (errno != EINTR || s->no_retry)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
        if (s->half) {
            return true;
        }
    }
    return true;
}

static bool sync_fd(int fd)
{
    int done;
    do {
        done = fsync(fd);
    } while (done != 0 && errno == EINTR);
    return done == 0;
}

static bool close_fd(const steps *s, int fd)
{
    bool ok = close(fd) == 0 || errno == EINTR || s->ignores_close;
    if (s->closes_twice && ok) {
        close(fd); /* it may be another thread's file by now */
    }
    return ok;
}

static bool write_file(const steps *s, const char *name)
{
    int fd = open_retried(name, O_WRONLY | O_CREAT | (s->in_place ? O_TRUNC : O_EXCL));
    if (fd < 0) {
        return fail(s, "create", errno);
    }
    bool ok = write_all(s, fd) || fail(s, "write", errno);
    ok = ok && (s->no_sync || sync_fd(fd) || fail(s, "sync", errno));
    if (!ok && s->leaves_open) {
        return false;
    }
    if (!close_fd(s, fd) && ok) {
        ok = fail(s, "close", errno);
    }
    return ok;
}

static bool rename_retried(const char *old, const char *new)
{
    int done;
    do {
        done = rename(old, new);
    } while (done != 0 && errno == EINTR);
    return done == 0;
}

static bool save(const steps *s)
{
    const char *name = s->in_place ? "x" : ".heed-1.tmp";
    unlink(".heed-1.tmp");
    int parent = open_retried(".", O_RDONLY | O_DIRECTORY);
    if (parent < 0) {
        return fail(s, "open", errno);
    }
    bool ok = write_file(s, name);
    ok = ok && (s->in_place || rename_retried(name, "x") || fail(s, "rename", errno));
    if (!ok && !s->in_place && !s->leaves_file) {
        unlink(name);
    }
    if (ok && !s->no_directory_sync && !sync_fd(parent)) {
        ok = fail(s, "sync its directory", errno);
    }
    close(parent);
    return ok && (!s->late_mode || chmod("x", 0600) == 0);
}

static void old_file(void)
{
    int fd = open("x", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, "old", 3) != 3 || close(fd) != 0) {
        perror("x");
    }
}

static void old_private_file(void)
{
    old_file();
    if (chmod("x", 0600) != 0) {
        perror("x");
    }
}

#define CONTROL(name, ...)                                                                         \
    static bool name(void)                                                                         \
    {                                                                                              \
        return save(&(steps){__VA_ARGS__});                                                        \
    }
CONTROL(right, .no_sync = false)
CONTROL(without_sync, .no_sync = true)
CONTROL(without_directory_sync, .no_directory_sync = true)
CONTROL(in_place, .in_place = true)
CONTROL(ignores_close, .ignores_close = true)
CONTROL(leaves_file, .leaves_file = true)
CONTROL(leaves_open, .leaves_open = true)
CONTROL(no_retry, .no_retry = true)
CONTROL(no_path, .no_path = true)
CONTROL(closes_twice, .closes_twice = true)
CONTROL(half, .half = true)
CONTROL(late_mode, .late_mode = true)

/* ---------------------------------------------------------------- checkpoints and loads */

static hd_dict *dict_of(bool both)
{
    hd_dict *d = hd_dict_new();
    hd_dict_set_int(d, "step", 7);
    if (both) {
        hd_dict_set_double(d, "best", 0.5);
    }
    return d;
}

/* It saves `step` and forgets `best`. */
static bool drops_a_field(void)
{
    hd_dict *model = hd_dict_new(), *state = dict_of(false);
    bool ok = hd_checkpoint_replace("x", model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

/* A save that fails clears its files even if it could not take the name back. Only two faults show
 * it. */
static bool empties_the_name(void)
{
    hd_dict *model = hd_dict_new(), *state = dict_of(true);
    bool ok = hd_checkpoint_save("x", model, state);
    if (!ok) {
        unlink("x/model.safetensors");
        unlink("x/state.safetensors");
    }
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

static bool has_both_fields(void)
{
    hd_dict *state = NULL;
    bool ok = hd_checkpoint_load("x", NULL, &state) &&
              hd_dict_kind_of(state, "step") == HD_DICT_INT &&
              hd_dict_kind_of(state, "best") == HD_DICT_DOUBLE;
    hd_dict_free(state);
    return ok;
}

/* A load that takes the first part of a file for the whole. */
static bool reads_once(void)
{
    char text[8];
    int fd = open_retried("x", O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    int cause = errno;
    if (fd >= 0) {
        close(fd);
    }
    return n == 3 || hd_error_set(HD_IO, "load: 'x': cannot read: %s", strerror(cause));
}

static bool forgets_memory(void)
{
    static const steps none = {0};
    static void *forgotten; /* a sanitizer finds it, so only the judge complains */
    forgotten = hd_alloc(100);
    bool ok = save(&none);
    if (ok) {
        hd_free(forgotten);
    }
    return ok;
}

const scenario controls[] = {
    {"nothing is wrong", old_file, right, NULL, "'x'", true, false, NULL},
    {"skips the sync", old_file, without_sync, NULL, "'x'", true, false,
     "before a file that was written was synced"},
    {"skips the directory's sync", old_file, without_directory_sync, NULL, "'x'", true, false,
     "a directory with a new name in it is not synced"},
    {"writes in place", old_file, in_place, NULL, "'x'", true, false,
     "neither the old nor the new"},
    {"ignores the error of close", old_file, ignores_close, NULL, "'x'", true, false,
     "the close of a written file failed"},
    {"leaves its file", old_file, leaves_file, NULL, "'x'", true, false, "it leaves '.heed-1.tmp'"},
    {"leaves a file open", old_file, leaves_open, NULL, "'x'", true, false, "files are open"},
    {"does not try again", old_file, no_retry, NULL, "'x'", true, false,
     "by a part or an interruption"},
    {"does not name the path", old_file, no_path, NULL, "'x'", true, false, "does not name ''x''"},
    {"closes twice", old_file, closes_twice, NULL, "'x'", true, false,
     "close of a file that is not open"},
    {"writes a part for the whole", old_file, half, NULL, "'x'", true, false,
     "the files are not the new ones"},
    {"gives the permissions too late", old_private_file, late_mode, NULL, "'x'", true, false,
     "neither the old nor the new"},
    {"empties what it saved", NULL, empties_the_name, has_both_fields, "'x", false, true,
     "what is left is neither the old nor the new"},
    {"drops a checkpoint's field", NULL, drops_a_field, has_both_fields, "'x", true, true,
     "what was saved is not what was given"},
    {"reads a part for the whole", old_file, reads_once, NULL, "'x'", true, false,
     "by a part or an interruption"},
    {"forgets memory", old_file, forgets_memory, NULL, "'x'", true, false, "bytes are live"},
};
const int n_controls = sizeof controls / sizeof controls[0];
