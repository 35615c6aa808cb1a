/* roundtrip.c - heed's two ends of the round trip heed -> PyTorch -> heed.
 * tools/runs/roundtrip_safetensors.py runs this program and PyTorch in turn. The test repeats the
 * last step on the committed file, which PyTorch wrote. */
#include <stdio.h>

#include "suites.h"

static hd_tensor *of_float64(void)
{
    const double values[] = {0.1, -0.0, INFINITY, 5e-324};
    return hd_from_data(HD_FLOAT64, values, 4);
}

hd_dict *roundtrip_dict(void)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    hd_manual_seed(123);
    hd_tensor *w = hd_randn(HD_FLOAT32, 4, 3); /* (4, 3) */
    hd_dict_set(d, "trf_blocks.0.att.W_query.weight", w);
    hd_dict_set(d, "trf_blocks.0.att.mask", hd_eye(HD_FLOAT32, 5, 5));
    hd_dict_set(d, "out_head.weight", w); /* tied: under each name */
    hd_dict_set(d, "ids", hd_arange(-3, 3, 1));
    hd_dict_set(d, "keep", hd_eye(HD_BOOL, 3, 2));
    hd_dict_set(d, "double", of_float64());
    hd_dict_set(d, "scalar", hd_scalar_tensor(HD_FLOAT32, 0.1));
    hd_dict_set(d, "empty", hd_zeros(HD_INT64, 2, 0, 3));
    hd_dict_set(d, "10", hd_ones(HD_FLOAT32, 1));
    hd_dict_set(d, "9", hd_ones(HD_FLOAT32, 1));
    hd_dict_set(d, "h\xc3\xa9 \"quoted\"\\\t\x01\x7f \xf0\x9f\x98\x80", hd_ones(HD_BOOL, 1));
    return d;
}

static int make(const char *path)
{
    hd_dict *d = roundtrip_dict();
    bool ok = hd_save_safetensors(path, d);
    hd_dict_free(d);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int copy(const char *from, const char *to)
{
    hd_dict *d = hd_load_safetensors(from, NULL);
    bool ok = d && hd_save_safetensors(to, d);
    hd_dict_free(d);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int roundtrip_main(int argc, char **argv)
{
    int result = 2;
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        result = make(argv[2]);
    } else if (argc == 4 && strcmp(argv[1], "copy") == 0) {
        result = copy(argv[2], argv[3]);
    } else {
        fprintf(stderr, "usage: test_io [make FILE | copy IN OUT]\n");
    }
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "%s\n", hd_error_message());
    }
    return result;
}
