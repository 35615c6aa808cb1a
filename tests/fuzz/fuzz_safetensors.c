/* fuzz_safetensors.c - fuzzes safetensors files. The bytes are a file, which is loaded as a copy,
 * mapped, and opened and read tensor by tensor; the three must agree. The loaded tensors are saved.
 * The saved file must load to the same tensors, and a second save must write the same bytes. */
#include "fuzz.h"
#include "mutate.h"

void fuzz_setup(void)
{
}

static void saved_and_loaded_again(const hd_dict *d)
{
    size_t n, m;
    fuzz_check(hd_save_safetensors(fuzz_path("a"), d), "a loaded file cannot be saved");
    char *first = fuzz_read(fuzz_path("a"), &n);
    hd_dict *again = hd_load_safetensors(fuzz_path("a"), NULL);
    fuzz_check(again, "a saved file cannot be loaded");
    fuzz_check(hd_dict_len(again) == hd_dict_len(d), "a saved file has other entries");
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        fuzz_check(hd_dict_kind_of(again, name) == hd_dict_kind_of(d, name), "'%s' is lost", name);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR) {
            fuzz_check(fuzz_same_tensor(hd_dict_get(again, name), hd_dict_get(d, name)),
                       "'%s' has changed", name);
        } else {
            fuzz_check(strcmp(hd_dict_get_string(again, name), hd_dict_get_string(d, name)) == 0,
                       "the text '%s' has changed", name);
        }
    }
    fuzz_check(hd_save_safetensors(fuzz_path("a"), again), "it cannot be saved twice");
    char *second = fuzz_read(fuzz_path("a"), &m);
    fuzz_check(n == m && memcmp(first, second, n) == 0, "it was saved as other bytes");
    free(first);
    free(second);
    hd_dict_free(again);
}

static void same_shape(const hd_safetensors *f, int64_t i, const hd_tensor *x)
{
    const int64_t *sizes = hd_safetensors_sizes(f, i);
    fuzz_check(hd_ndim(x) == hd_safetensors_ndim(f, i), "another rank");
    fuzz_check(!hd_ndim(x) || memcmp(hd_sizes(x), sizes, (size_t)hd_ndim(x) * sizeof *sizes) == 0,
               "another shape");
    fuzz_check(hd_safetensors_bytes(f, i) >= hd_numel(x), "fewer bytes than elements");
}

/* Returns whether all tensors could be read. */
static bool read_each(const char *path, bool map, const hd_dict *d)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = map;
    hd_safetensors *f = hd_safetensors_open(path, &o);
    if (!fuzz_verdict(f, "hd_safetensors_open")) {
        return false;
    }
    bool ok = true;
    for (int64_t i = 0; i < hd_safetensors_len(f); i++) {
        const char *name = hd_safetensors_name(f, i);
        fuzz_check(hd_safetensors_find(f, name) == i, "'%s' is not found", name);
        hd_tensor *x = hd_safetensors_read(f, i);
        if (!fuzz_verdict(x, "hd_safetensors_read")) {
            ok = false;
            continue;
        }
        same_shape(f, i, x);
        fuzz_check(!d || fuzz_same_tensor(hd_dict_get(d, name), x), "'%s' differs", name);
    }
    fuzz_read_all(hd_safetensors_metadata(f));
    fuzz_check(hd_safetensors_find(f, "no such name") == -1 || hd_safetensors_len(f) > 0,
               "a name in an empty file");
    hd_safetensors_close(f);
    return ok;
}

/* Writing to a mapped tensor changes neither the file nor another load of it. d was loaded from the
 * same file. */
static void write_to_mapped(hd_dict *mapped, const char *path, const hd_dict *d)
{
    fuzz_check(fuzz_same_dict(d, mapped), "mapped tensors differ from copies");
    for (int64_t i = 0; i < hd_dict_len(mapped); i++) {
        const char *name = hd_dict_name(mapped, i);
        if (hd_dict_kind_of(mapped, name) == HD_DICT_TENSOR) {
            fuzz_check(hd_fill_(hd_dict_get(mapped, name), 1), "'%s' cannot be filled", name);
        }
    }
    hd_dict *after = hd_load_safetensors(path, NULL);
    fuzz_check(after && fuzz_same_dict(d, after), "the file has changed");
    hd_dict_free(after);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(0, data, size);
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    hd_dict *d = hd_load_safetensors(path, NULL);
    const bool loaded = fuzz_verdict(d, "hd_load_safetensors");
    hd_dict *mapped = hd_load_safetensors(path, &o);
    fuzz_check(fuzz_verdict(mapped, "a mapped hd_load_safetensors") == loaded,
               "the mapped file has another verdict");
    const bool each = read_each(path, false, d);
    fuzz_check(read_each(path, true, d) == each, "the mapped file is read otherwise");
    fuzz_check(each || !loaded, "a file that was loaded cannot be read");
    if (loaded) {
        fuzz_read_all(d);
        write_to_mapped(mapped, path, d);
        saved_and_loaded_again(d);
    }
    hd_dict_free(d);
    hd_dict_free(mapped);
}

#ifdef FUZZ_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_safetensors(data, size, max, seed);
}
#endif
