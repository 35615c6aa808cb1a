/* train_text.c - reads a file, or the C sources of a directory, as one text. */
#include "train_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char *bytes;
    size_t n, room;
} text;

static bool grow(text *t)
{
    size_t room = t->room ? 2 * t->room : 1 << 16;
    char *bytes = realloc(t->bytes, room);
    if (!bytes) {
        return hd_error_set(HD_MEMORY, "a text of %zu bytes: memory ran out", room);
    }
    t->bytes = bytes;
    t->room = room;
    return true;
}

static bool fail(const char *path)
{
    return hd_error_set(HD_IO, "%s: %s", path, strerror(errno));
}

static bool append_file(text *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        return fail(path);
    }
    bool ok = true;
    do { /* leaves a byte for the zero after the text */
        ok = t->n + 1 < t->room || grow(t);
        if (ok) {
            t->n += fread(t->bytes + t->n, 1, t->room - t->n - 1, f);
        }
    } while (ok && !feof(f) && !ferror(f));
    ok = ok && (!ferror(f) || fail(path));
    fclose(f);
    return ok;
}

static bool append_directory(text *t, const char *path);

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

/* Appends an entry of a directory if it is a directory or a source file, and ignores other entries.
 * Ignores links to directories, too, because they may lead in a circle. */
static bool append_entry(text *t, const char *path)
{
    struct stat s;
    if (lstat(path, &s) != 0) {
        return fail(path);
    }
    if (S_ISDIR(s.st_mode)) {
        return append_directory(t, path);
    }
    bool source = is_source(path) && stat(path, &s) == 0 && S_ISREG(s.st_mode);
    return !source || append_file(t, path);
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static bool append_directory(text *t, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort);
    if (n < 0) {
        return fail(path);
    }
    bool ok = true;
    for (int i = 0; i < n; i++) {
        char inner[4096];
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (ok && length >= (int)sizeof inner) {
            ok = hd_error_set(HD_VALUE, "%.200s: the path is too long", path);
        }
        ok = ok && append_entry(t, inner);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

char *read_text(const char *path, size_t *n)
{
    text t = {0};
    struct stat s;
    bool there = stat(path, &s) == 0, folder = there && S_ISDIR(s.st_mode);
    bool ok = !there ? fail(path) : folder ? append_directory(&t, path) : append_file(&t, path);
    if (ok && t.n == 0) {
        ok = hd_error_set(HD_VALUE, "%s: %s", path,
                          folder ? "no .c or .h files in this directory" : "the file is empty");
    }
    if (!ok) {
        free(t.bytes);
        return NULL;
    }
    t.bytes[t.n] = '\0';
    *n = t.n;
    return t.bytes;
}
