/* read_file.c - reads regular files. Every read states its offset and uses no file position, so
 * several threads can read one file. base/files/whole_file.h has the functions that write. */
#include <errno.h>
#include <inttypes.h>

#include "base/files/file.h"
#include "base/system/system.h"
#include "io/read_file.h"
#include "tensor/for_nn_and_optim.h"

const char *hd__io_path_in(const char *dir, size_t n, const char *name)
{
    hd__text t = {0};
    hd__text_add(&t, dir, n);
    hd__text_format(&t, "/%s", name);
    return hd__tensor_text_give(&t);
}

const char *hd__io_path_beside(const char *path, const char *name)
{
    hd__text t = {0};
    hd__text_add(&t, path, hd__file_parent_length(path));
    hd__text_format(&t, "%s/%s", hd__file_parent_end(path), name);
    return hd__tensor_text_give(&t);
}

bool hd__io_in_open(hd__io_in *in, const char *path, int fd)
{
    *in = (hd__io_in){.path = path, .fd = fd};
    if (fd >= 0) {
        return hd__file_regular_ok(path, fd, &in->size);
    }
    in->fd = hd__file_regular_open(path, &in->size);
    return in->fd >= 0;
}

bool hd__io_in_read(const hd__io_in *in, int64_t at, void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ptrdiff_t got = hd__sys_pread(in->fd, (char *)bytes + done, n - done, at + (int64_t)done);
        if (got < 0) {
            return hd__file_fail(in->path, "read", errno);
        }
        if (got == 0) {
            return hd_fail(HD_IO,
                           "'%.*s': ends at byte %" PRId64 " now: expected %" PRId64
                           " bytes, as when it was opened",
                           HD__CUT(in->path), at + (int64_t)done, in->size);
        }
        done += (size_t)got;
    }
    return true;
}
