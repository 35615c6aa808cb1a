/* fuzz.c - runs one input of a fuzz target, and holds the code that the targets share. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t multiple_of_size(size_t size)
{
    return 64 * ((int64_t)size + 1024);
}

int64_t (*fuzz_bound)(size_t size) = multiple_of_size;

/* ---------------------------------------------------------------- checks */

void fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nthe error of heed: %s: %s\n", hd_code_name(hd_error_code()),
            hd_error_message());
    va_end(args);
    abort();
}

bool fuzz_verdict(bool ok, const char *what)
{
    const hd_code code = hd_error_code();
    if (ok) {
        fuzz_check(code == HD_OK, "%s succeeded, and an error is set", what);
        return true;
    }
    fuzz_check(code == HD_FORMAT || code == HD_DTYPE || code == HD_VALUE || code == HD_SHAPE ||
                   code == HD_INDEX,
               "%s failed with a code that no input should cause", what);
    fuzz_check(strncmp(hd_error_message(), "hd_", 3) == 0, "%s: a message without a function",
               what);
    hd_error_clear();
    return false;
}

bool fuzz_same_tensor(const hd_tensor *a, const hd_tensor *b)
{
    if (hd_dtype_of(a) != hd_dtype_of(b) || hd_ndim(a) != hd_ndim(b)) {
        return false;
    }
    for (int i = 0; i < hd_ndim(a); i++) {
        if (hd_size(a, i) != hd_size(b, i)) {
            return false;
        }
    }
    size_t n = (size_t)(hd_numel(a) * hd_dtype_size(hd_dtype_of(a)));
    char *x = malloc(2 * n + 1);
    bool same = x && hd_copy_to(a, x, n) && hd_copy_to(b, x + n, n) && memcmp(x, x + n, n) == 0;
    free(x);
    return same;
}

static bool same_entry(const hd_dict *a, const hd_dict *b, const char *name)
{
    int64_t i = 0, j = 0;
    double v = 0, w = 0;
    hd_dict_kind kind = hd_dict_kind_of(a, name);
    if (kind != hd_dict_kind_of(b, name)) {
        return false;
    }
    switch (kind) {
    case HD_DICT_TENSOR: return fuzz_same_tensor(hd_dict_get(a, name), hd_dict_get(b, name));
    case HD_DICT_INT: return hd_dict_get_int(a, name, &i) && hd_dict_get_int(b, name, &j) && i == j;
    case HD_DICT_DOUBLE:
        return hd_dict_get_double(a, name, &v) && hd_dict_get_double(b, name, &w) &&
               memcmp(&v, &w, sizeof v) == 0;
    default: return strcmp(hd_dict_get_string(a, name), hd_dict_get_string(b, name)) == 0;
    }
}

bool fuzz_same_dict(const hd_dict *a, const hd_dict *b)
{
    if (hd_dict_len(a) != hd_dict_len(b)) {
        return false;
    }
    for (int64_t i = 0; i < hd_dict_len(a); i++) {
        const char *name = hd_dict_name(a, i);
        if (strcmp(name, hd_dict_name(b, i)) != 0 || !same_entry(a, b, name)) {
            return false;
        }
    }
    return true;
}

void fuzz_read_all(const hd_dict *d)
{
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR) {
            hd_tensor *x = hd_dict_get(d, name);
            fuzz_check(fuzz_same_tensor(x, x), "'%s' cannot be read", name);
            fuzz_check(hd_sum(x), "'%s' has no sum", name);
        }
    }
}

/* ---------------------------------------------------------------- files without a disk */

static int new_file(int i, char *path, size_t n)
{
#ifdef __linux__
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, n, "/proc/self/fd/%d", fd);
    (void)i;
    return fd;
#else
    char name[] = {'f', (char)('0' + i), '\0'};
    snprintf(path, n, "%s", fuzz_path(name));
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
#endif
}

const char *fuzz_file(int i, const void *data, size_t size)
{
    static int files[4] = {-1, -1, -1, -1};
    static char paths[4][128];
    if (files[i] < 0) {
        files[i] = new_file(i, paths[i], sizeof paths[i]);
    }
    /* It is cut first: a mapping that an earlier input has left would be a leak. */
    if (files[i] < 0 || ftruncate(files[i], 0) != 0 ||
        pwrite(files[i], data, size, 0) != (ssize_t)size) {
        fuzz_fail(__FILE__, __LINE__, "the file in memory cannot be written");
    }
    return paths[i];
}

static char folder[64];

static void remove_folder(void)
{
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) {
        fprintf(stderr, "%s is left\n", folder);
    }
}

const char *fuzz_path(const char *name)
{
    static char path[sizeof folder + 64];
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/heed-fuzz-%ld",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
        fuzz_check(mkdir(folder, 0700) == 0, "'%s' cannot be made", folder);
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

char *fuzz_read(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    fuzz_check(fd >= 0 && fstat(fd, &st) == 0, "'%s' cannot be opened", path);
    char *bytes = malloc((size_t)st.st_size + 1);
    fuzz_check(bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size, "'%s' cannot be read",
               path);
    close(fd);
    bytes[st.st_size] = '\0';
    *size = (size_t)st.st_size;
    return bytes;
}

/* ---------------------------------------------------------------- an input */

const uint8_t *fuzz_part(fuzz_input *in, uint8_t mark, size_t *size)
{
    const uint8_t *part = in->at;
    size_t left = (size_t)(in->end - in->at);
    const uint8_t *found = left ? memchr(part, mark, left) : NULL;
    *size = found ? (size_t)(found - part) : left;
    in->at = found ? found + 1 : in->end;
    return part;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_check(hd_set_num_threads(1), "one thread is refused");
    fuzz_setup();
    fuzz_check(hd_error_code() == HD_OK, "the target cannot be set up");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int64_t live = hd_bytes_live(), tensors = hd_tensor_count(), owned = hd_scope_count();
    hd_bytes_peak_reset();
    {
        HD_SCOPE;
        fuzz_one(data, size);
    }
    fuzz_check(hd_error_code() == HD_OK, "an error was left");
    fuzz_check(hd_scope_count() == owned, "a scope was left");
    fuzz_check(hd_tensor_count() == tensors, "%lld tensors are left",
               (long long)(hd_tensor_count() - tensors));
    fuzz_check(hd_bytes_live() == live, "%lld bytes are left", (long long)(hd_bytes_live() - live));
    fuzz_check(hd_bytes_peak() - live <= fuzz_bound(size), "%lld bytes for an input of %zu",
               (long long)(hd_bytes_peak() - live), size);
    return 0;
}
