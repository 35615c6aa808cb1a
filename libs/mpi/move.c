/* move.c - sends bytes and tensors from one rank to all, and gathers tensors from all. */
#include "mpi/mpi_internal.h"

#include <string.h>

const char *hd__mpi_kind_of(const hd_tensor *x, char text[HD__SHAPE_TEXT])
{
    char sizes[HD__SHAPE_TEXT];
    snprintf(text, HD__SHAPE_TEXT, "%s %s", hd__text_of_sizes(hd_ndim(x), hd_sizes(x), sizes),
             hd_dtype_name(hd_dtype_of(x)));
    return text;
}

int64_t hd__mpi_bytes_of(const hd_tensor *x)
{
    return hd_numel(x) * (int64_t)hd_dtype_size(hd_dtype_of(x));
}

/* Sends the bytes in parts, because MPI counts them in an int. */
bool hd__mpi_broadcast_bytes(void *bytes, int64_t n, int root)
{
    enum { MOST = 1 << 30 };
    bool ok = true;
    for (int64_t at = 0; at < n && ok && hd__mpi_others(); at += MOST) {
        int64_t some = n - at < MOST ? n - at : MOST;
        ok = hd__mpi_ok(MPI_Bcast((char *)bytes + at, (int)some, MPI_BYTE, root, hd__mpi.control));
    }
    return ok;
}

bool hd__mpi_broadcast_tensor(hd_tensor *x, int root)
{
    HD_NO_GRAD;
    hd_scope *scope = hd_scope_open();
    hd_tensor *dense = hd_contiguous(scope ? x : NULL); /* dense has x's sizes */
    void *data = hd_data_mut(dense);
    bool ok = hd__mpi_meet(NULL, data || (dense && hd_numel(dense) == 0)) &&
              hd__mpi_broadcast_bytes(data, hd__mpi_bytes_of(dense), root) &&
              (dense == x || hd_copy_(x, dense));
    hd_scope_close(scope);
    return hd__mpi_meet(NULL, ok);
}

/* Writes x's sizes and dtype to kind. They must be equal on all ranks, which hd__mpi_meet checks.
 * Returns false with an error if x is no tensor. */
static bool tensor_given(const hd_tensor *x, char kind[HD__SHAPE_TEXT])
{
    return hd__arg_given("x", x) &&
           (x != HD_NONE || hd_fail(HD_NULL_ARG, "x is HD_NONE: expected a tensor")) &&
           hd__mpi_kind_of(x, kind) && hd_numel(x) >= 0;
}

hd_tensor *hd_mpi_broadcast_(hd_tensor *x)
{
    HD__CALL("hd_mpi_broadcast_");
    char kind[HD__SHAPE_TEXT] = "no tensor";
    bool ok = tensor_given(x, kind);
    return hd__mpi_meet(kind, ok) && (!hd__mpi_others() || hd__mpi_broadcast_tensor(x, 0)) ? x
                                                                                           : NULL;
}

/* Returns a new tensor (ranks, x's sizes), whose elements are not set. Returns NULL with an error
 * if x has too many dims or memory runs out. */
static hd_tensor *room_for_all(const hd_tensor *x)
{
    int64_t sizes[HD_MAX_DIMS];
    int n = hd_ndim(x);
    if (n == HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE,
                       "x has %d dims: expected at most %d, because the result has one dim more", n,
                       HD_MAX_DIMS - 1);
    }
    sizes[0] = hd__mpi.size;
    memcpy(sizes + 1, hd_sizes(x), (size_t)n * sizeof *sizes);
    return hd_empty_n(hd_dtype_of(x), n + 1, sizes);
}

hd_tensor *hd_mpi_gather(hd_tensor *x)
{
    HD__CALL("hd_mpi_gather");
    HD_NO_GRAD;
    char kind[HD__SHAPE_TEXT] = "no tensor";
    hd_tensor *all = tensor_given(x, kind) ? room_for_all(x) : NULL;
    bool ok = hd__mpi_meet(kind, all && hd_copy_(hd_select(all, 0, hd__mpi.rank), x));
    for (int r = 0; ok && r < hd__mpi.size; r++) {
        ok = hd__mpi_broadcast_tensor(hd_select(all, 0, r), r);
    }
    return ok ? all : NULL;
}
