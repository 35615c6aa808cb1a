/* fuzz_index.c - fuzzes indexes of several safetensors files. The bytes are the index of two files,
 * "a" with the tensors x and y and "b" with y and z. An opened index must have only these tensors,
 * with the bytes of the files, also when mapped. Other files do not exist, so HD_IO is a valid
 * result, too. */
#include "fuzz.h"

static void save(const char *path, const char *first, const char *second, double from)
{
    hd_dict *d = hd_dict_new();
    fuzz_check(hd_dict_set(d, first, hd_full(HD_FLOAT32, from, 2, 3)) &&
                   hd_dict_set(d, second, hd_full(HD_INT64, from + 1, 2)) &&
                   hd_dict_set_string(d, "format", path) && hd_save_safetensors(fuzz_path(path), d),
               "'%s' cannot be saved", path);
    hd_dict_free(d);
}

void fuzz_setup(void)
{
    HD_SCOPE;
    save("a", "x", "y", 1);
    save("b", "y", "z", 3);
}

/* A file that is not there, or a name that the system does not take, is the input's doing. */
static bool verdict(const void *opened, const char *what)
{
    if (!opened && hd_error_code() == HD_IO &&
        strstr(hd_error_message(), ": cannot open its file '")) {
        hd_error_clear();
        return false;
    }
    return fuzz_verdict(opened, what);
}

/* Each tensor of f is x, y or z, filled with one of the values that the two files have for it. */
static void same_as_files(const hd_safetensors *f)
{
    for (int64_t i = 0; i < hd_safetensors_len(f); i++) {
        const char *name = hd_safetensors_name(f, i);
        fuzz_check(hd_safetensors_find(f, name) == i, "'%s' is not found", name);
        fuzz_check(strlen(name) == 1 && *name >= 'x' && *name <= 'z', "'%s' is in no file", name);
        hd_tensor *x = hd_safetensors_read(f, i);
        fuzz_check(x, "'%s' cannot be read", name);
        const double v = hd_item(hd_sum(x)) / (double)hd_numel(x);
        fuzz_check(*name == 'x'   ? v == 1
                   : *name == 'z' ? v == 4
                                  : v == 2 || v == 3,
                   "'%s' has other elements", name);
    }
    fuzz_read_all(hd_safetensors_metadata(f));
    fuzz_check((hd_dict_len(hd_safetensors_metadata(f)) == 1) == (hd_safetensors_len(f) > 0),
               "it has not the metadata of its files");
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static char path[128];
    hd_safetensors_options o = hd_safetensors_defaults();
    snprintf(path, sizeof path, "%s", fuzz_path("x.index.json"));
    FILE *file = fopen(path, "wb");
    fuzz_check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0,
               "the index cannot be written");
    hd_safetensors *f = hd_safetensors_open(path, NULL);
    const bool ok = verdict(f, "hd_safetensors_open");
    o.map = true;
    hd_safetensors *mapped = hd_safetensors_open(path, &o);
    fuzz_check(verdict(mapped, "a mapped hd_safetensors_open") == ok,
               "the mapped files have another verdict");
    if (ok) {
        same_as_files(f);
        same_as_files(mapped);
        hd_dict *d = hd_load_safetensors(path, NULL);
        fuzz_check(d && hd_dict_len(d) == hd_safetensors_len(f) + (hd_safetensors_len(f) > 0),
                   "what was loaded has other entries");
        hd_dict_free(d);
    }
    hd_safetensors_close(f);
    hd_safetensors_close(mapped);
}
