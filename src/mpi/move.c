/* move.c - tensors and bytes from one rank to all, and from all to all. */
#include "mpi/mpi_internal.h"

#include <string.h>

const char *hd__kind_of(const hd_tensor *x, char text[HD__SHAPE_TEXT])
{
    char sizes[HD__SHAPE_TEXT];
    snprintf(text, HD__SHAPE_TEXT, "%s %s", hd__sizes_text(hd_ndim(x), hd_sizes(x), sizes),
             hd_dtype_name(hd_dtype_of(x)));
    return text;
}

static int64_t bytes_of(const hd_tensor *x)
{
    return hd_numel(x) * (int64_t)hd_dtype_size(hd_dtype_of(x));
}

/* MPI counts in int. */
bool hd__broadcast_bytes(void *bytes, int64_t n, int root)
{
    enum { MOST = 1 << 30 };
    bool ok = true;
    for (int64_t at = 0; at < n && ok && hd__others(); at += MOST) {
        int64_t some = n - at < MOST ? n - at : MOST;
        ok = hd__mpi_ok(MPI_Bcast((char *)bytes + at, (int)some, MPI_BYTE, root, hd__mpi.control));
    }
    return ok;
}

/* x NULL: this rank has failed. */
static bool broadcast_dense(hd_tensor *x, int root)
{
    HD_NO_GRAD;
    bool as_it_is = x && hd_is_contiguous(x);
    hd_tensor *dense = as_it_is ? x : hd_contiguous(x); /* x's sizes */
    void *data = hd_data_mut(dense);
    if (!hd__meet(NULL, data || (dense && hd_numel(dense) == 0))) {
        return false;
    }
    return hd__broadcast_bytes(data, bytes_of(dense), root) && (as_it_is || hd_copy_(x, dense));
}

bool hd__broadcast_tensor(hd_tensor *x, int root)
{
    hd_scope *scope = hd_scope_open();
    bool ok = broadcast_dense(scope ? x : NULL, root);
    hd_scope_close(scope);
    return hd__meet(NULL, ok);
}

static bool tensor_given(const hd_tensor *x)
{
    return hd__given_to(hd__mpi_call, "x", x) &&
           (x != HD_NONE || hd__mpi_fail(HD_NULL_ARG, "x is HD_NONE: expected a tensor"));
}

hd_tensor *hd_mpi_broadcast_(hd_tensor *x)
{
    hd__mpi_call = "hd_mpi_broadcast_";
    char kind[HD__SHAPE_TEXT] = "no tensor";
    bool ok = tensor_given(x) && hd__kind_of(x, kind) && hd_numel(x) >= 0;
    return hd__meet(kind, ok) && (!hd__others() || hd__broadcast_tensor(x, 0)) ? x : NULL;
}

/* (ranks, x's sizes), empty; NULL if that cannot be. */
static hd_tensor *room_for_all(const hd_tensor *x)
{
    int64_t sizes[HD_MAX_DIMS];
    int n = hd_ndim(x);
    if (n == HD_MAX_DIMS) {
        return hd__mpi_fail(HD_SHAPE, "x has %d dims: expected fewer", n);
    }
    sizes[0] = hd__mpi.size;
    memcpy(sizes + 1, hd_sizes(x), (size_t)n * sizeof *sizes);
    return hd_empty_n(hd_dtype_of(x), n + 1, sizes);
}

hd_tensor *hd_mpi_gather(hd_tensor *x)
{
    hd__mpi_call = "hd_mpi_gather";
    HD_NO_GRAD;
    char kind[HD__SHAPE_TEXT] = "no tensor";
    bool ok = tensor_given(x) && hd__kind_of(x, kind) && hd_numel(x) >= 0;
    hd_tensor *all = ok ? room_for_all(x) : NULL;
    hd_tensor *dense = ok ? hd_contiguous(hd_detach(x)) : NULL; /* x's sizes */
    char *data = all && dense ? hd_data_mut(all) : NULL;
    bool ready = all && dense && (data || hd_numel(x) == 0);
    if (!hd__meet(kind, ready)) {
        return NULL;
    }
    int64_t bytes = bytes_of(dense);
    if (bytes > 0) {
        memcpy(data + hd__mpi.rank * bytes, hd_data(dense), (size_t)bytes);
    }
    for (int r = 0; r < hd__mpi.size && hd__others(); r++) {
        if (!hd__broadcast_bytes(data + r * bytes, bytes, r)) {
            return NULL;
        }
    }
    return all;
}
