/* safetensors.c - opens safetensors files, describes their tensors, and reads them.
 *
 * An open index is an hd_safetensors, too, but has no data of its own. It has the entries of all
 * its shards (the files of the index), and every entry points to the hd_safetensors with its data.
 *
 * If the file is mapped, a tensor whose elements need no conversion uses them in place, and holds a
 * reference to the mapping. Elements that need a conversion, or are not aligned, are copied. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/memory/refs.h"
#include "base/system/system.h"
#include "io/safetensors.h"
#include "tensor/lifecycle.h"

/* ---------------------------------------------------------------- the mapping */

struct hd__io_mapping {
    atomic_int refs;
    char *bytes;
    size_t n;
};

static void mapping_drop(void *unused, void *user)
{
    (void)unused;
    hd__io_mapping *m = user;
    if (m && hd__refs_down(&m->refs)) {
        hd__sys_unmap(m->bytes, m->n);
        hd_free(m);
    }
}

/* Maps the file and sets f->mapping. The mapping is private: writing to a tensor changes pages of
 * the process, not the file. Returns false with an error if the file cannot be mapped. */
static bool map_file(hd_safetensors *f)
{
    hd__io_mapping *m = hd_alloc(sizeof *m);
    if (!m) {
        return false;
    }
    atomic_init(&m->refs, 1);
    m->n = (size_t)f->in.size;
    m->bytes = hd__sys_map(f->in.fd, f->in.size, true);
    if (!m->bytes) {
        int cause = errno;
        hd_free(m);
        return hd__file_fail(f->path, "map", cause);
    }
    f->mapping = m;
    return true;
}

/* Returns false with an error if the file no longer has the size that it had when its header was
 * checked. */
static bool same_size(const hd_safetensors *f)
{
    hd__sys_info info;
    if (hd__sys_fstat(f->in.fd, &info) != 0) {
        return hd__file_fail(f->path, "stat", errno);
    }
    return info.size == f->in.size || hd_fail(HD_IO,
                                              "'%.*s': %" PRId64 " bytes now: expected %" PRId64
                                              " bytes, as when it was opened",
                                              HD__CUT(f->path), info.size, f->in.size);
}

/* ---------------------------------------------------------------- opening */

hd_safetensors_options hd_safetensors_defaults(void)
{
    return (hd_safetensors_options){.size = sizeof(hd_safetensors_options)};
}

/* Makes an hd_safetensors for path, without opening the file. o NULL: the defaults. Returns NULL
 * with an error if memory runs out. */
static hd_safetensors *file_new(const char *path, const hd_safetensors_options *o)
{
    hd_safetensors *f = hd__object_new(HD__SAFETENSORS, sizeof *f);
    if (!f) {
        return NULL;
    }
    f->in.fd = -1;
    f->o = o ? *o : hd_safetensors_defaults();
    f->names = hd_dict_new();
    f->path = hd_alloc(strlen(path) + 1);
    if (!f->names || !f->path) {
        hd_safetensors_close(f);
        return NULL;
    }
    strcpy(f->path, path);
    return f;
}

hd_safetensors *hd__safetensors_open(const char *path, int fd, const hd_safetensors_options *o)
{
    hd_safetensors *f = file_new(path, o);
    if (!f) {
        hd__sys_drop(fd);
        return NULL;
    }
    if (hd__io_in_open(&f->in, f->path, fd) && hd__safetensors_header(f) &&
        (!f->o.map || hd__io_big_endian || map_file(f))) {
        return f;
    }
    hd_safetensors_close(f);
    return NULL;
}

static hd_safetensors *index_open(const char *path, const hd_safetensors_options *o)
{
    hd_safetensors *f = file_new(path, o);
    if (f && hd__safetensors_index(f)) {
        return f;
    }
    hd_safetensors_close(f);
    return NULL;
}

static bool is_index(const char *path)
{
    static const char end[] = ".index.json";
    const size_t n = strlen(path), m = sizeof end - 1;
    return n >= m && strcmp(path + n - m, end) == 0;
}

static hd_safetensors *open_with(const char *path, const hd_safetensors_options *o)
{
    if (!hd__arg_given("path", path) || (o && !HD__SIZE_OK(o, "hd_safetensors_defaults()"))) {
        return NULL;
    }
    return is_index(path) ? index_open(path, o) : hd__safetensors_open(path, -1, o);
}

hd_safetensors *hd_safetensors_open(const char *path, const hd_safetensors_options *o)
{
    HD__CALL("hd_safetensors_open");
    return open_with(path, o);
}

void hd_safetensors_close(hd_safetensors *f)
{
    HD__CALL("hd_safetensors_close");
    if (hd__object_may_free("f", f, HD_NONE)) {
        for (int64_t i = 0; i < f->n_shards; i++) {
            hd_safetensors_close(f->shards[i]);
        }
        mapping_drop(NULL, f->mapping);
        hd__sys_drop(f->in.fd);
        hd_free(f->shards);
        hd_dict_free(f->names);
        hd_dict_free(f->metadata);
        hd_free(f->entries);
        hd_free(f->path);
        hd__mem_retire_object(f, hd__call_kept());
    }
}

/* ---------------------------------------------------------------- asking */

static const hd__io_entry *entry_at(const hd_safetensors *f, int64_t i)
{
    if (!hd__object("f", f)) {
        return NULL;
    }
    int64_t at = hd__arg_index(i, f->n, "tensors");
    return at < 0 ? NULL : &f->entries[at];
}

int64_t hd_safetensors_len(const hd_safetensors *f)
{
    HD__CALL("hd_safetensors_len");
    return hd__object("f", f) ? f->n : -1;
}

int64_t hd_safetensors_find(const hd_safetensors *f, const char *name)
{
    HD__CALL("hd_safetensors_find");
    int64_t i;
    bool there = hd__object("f", f) && hd__arg_given("name", name) && *name &&
                 hd_dict_kind_of(f->names, name) != HD_DICT_MISSING &&
                 hd_dict_get_int(f->names, name, &i);
    return there ? i : -1;
}

const char *hd_safetensors_name(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_name");
    const hd__io_entry *e = entry_at(f, i);
    return e ? e->name : NULL;
}

const char *hd_safetensors_type(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_type");
    const hd__io_entry *e = entry_at(f, i);
    return e ? e->type->safetensors : NULL;
}

int hd_safetensors_ndim(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_ndim");
    const hd__io_entry *e = entry_at(f, i);
    return e ? e->ndim : -1;
}

const int64_t *hd_safetensors_sizes(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_sizes");
    const hd__io_entry *e = entry_at(f, i);
    return e ? e->sizes : NULL;
}

int64_t hd_safetensors_bytes(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_bytes");
    const hd__io_entry *e = entry_at(f, i);
    return e ? e->end - e->begin : -1;
}

const hd_dict *hd_safetensors_metadata(const hd_safetensors *f)
{
    HD__CALL("hd_safetensors_metadata");
    return hd__object("f", f) ? f->metadata : NULL;
}

/* ---------------------------------------------------------------- reading */

/* Returns the entry's bytes in the mapping. Returns NULL, without an error, if the file is not
 * mapped, or if the bytes need a conversion or are not aligned. */
static void *bytes_in_place(const hd__io_entry *e)
{
    const hd_safetensors *f = e->file;
    char *bytes = f->mapping ? f->mapping->bytes + f->data + e->begin : NULL;
    bool fit = e->begin < e->end && !e->type->convert && (uintptr_t)bytes % e->type->bytes == 0;
    return fit ? bytes : NULL;
}

static hd_tensor *wrap_entry(const hd__io_entry *e, void *data)
{
    hd__io_mapping *m = e->file->mapping;
    hd_tensor *x = hd_wrap_n(e->type->dtype, data, mapping_drop, m, e->ndim, e->sizes);
    if (x) {
        hd__refs_up(&m->refs);
    }
    return x;
}

static hd_tensor *read_entry(const hd__io_entry *e)
{
    char what[160];
    const hd_safetensors *f = e->file;
    void *in_place = bytes_in_place(e);
    if (in_place) {
        return same_size(f) ? wrap_entry(e, in_place) : NULL;
    }
    snprintf(what, sizeof what, "tensor '%.*s'", HD__CUT(e->name));
    hd_tensor *x = hd__tensor_empty(e->type->dtype, e->ndim, e->sizes);
    if (x && !hd__io_in_elements(&f->in, what, f->data + e->begin, e->type, hd__io_big_endian, x)) {
        hd_release(x);
        return NULL;
    }
    return x;
}

hd_tensor *hd_safetensors_read(const hd_safetensors *f, int64_t i)
{
    HD__CALL("hd_safetensors_read");
    const hd__io_entry *e = entry_at(f, i);
    return e ? read_entry(e) : NULL;
}

static bool read_entries_into(const hd_safetensors *f, hd_dict *d)
{
    for (int64_t i = 0; i < f->n; i++) {
        HD__SCOPE_OR(false);
        hd_tensor *x = read_entry(&f->entries[i]);
        if (!x || !hd_dict_set(d, f->entries[i].name, x)) {
            return false;
        }
    }
    for (int64_t i = 0; i < hd_dict_len(f->metadata); i++) {
        const char *name = hd_dict_name(f->metadata, i);
        if (hd_dict_kind_of(d, name) != HD_DICT_MISSING) {
            return hd_fail(HD_FORMAT,
                           "'%.*s': '%.*s' is the name of a tensor and of a metadata text: "
                           "expected only one of them. Read both with hd_safetensors_open",
                           HD__CUT(f->path), HD__CUT(name));
        }
        if (!hd_dict_set_string(d, name, hd_dict_get_string(f->metadata, name))) {
            return false;
        }
    }
    return true;
}

/* Loads all tensors and metadata of f into a new dictionary, which the caller frees, and closes f.
 * Returns NULL with an error if this fails, or if f is NULL because the file could not be
 * opened. */
static hd_dict *load_and_close(hd_safetensors *f)
{
    hd_dict *d = f ? hd_dict_new() : NULL;
    bool ok = d && read_entries_into(f, d);
    hd_safetensors_close(f);
    if (!ok) {
        hd_dict_free(d);
    }
    return ok ? d : NULL;
}

hd_dict *hd_load_safetensors(const char *path, const hd_safetensors_options *o)
{
    HD__CALL("hd_load_safetensors");
    return load_and_close(open_with(path, o));
}

hd_dict *hd__safetensors_load_fd(const char *path, int fd)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.keep_bfloat16 = true;
    return load_and_close(hd__safetensors_open(path, fd, &o));
}
