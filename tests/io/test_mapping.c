/* test_mapping.c - tests of tensors that are loaded by mapping: shared with the file, copied before
 * a write, independent of each other. */
#include <errno.h>
#include <unistd.h>

#include "suites.h"
#include "tensor/copy.h"
#include "tensor/lifecycle.h"

static hd_safetensors_options mapped(void)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = true;
    return o;
}

static hd_dict *load_mapped(const char *path)
{
    hd_safetensors_options o = mapped();
    return hd_load_safetensors(path, &o);
}

/* a (3,) float32, b (2,) int64, c (2,) bool */
static void save_three(const char *path)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "a", vec(HD_FLOAT32, 1, 2, 3)));
    ck_assert(hd_dict_set(d, "b", hd_arange(4, 6, 1)));
    ck_assert(hd_dict_set(d, "c", vec(HD_BOOL, 1, 0)));
    ck_assert(hd_save_safetensors(path, d));
    hd_dict_free(d);
}

/* Does x's memory lie outside of heed's own? */
static bool is_mapped(const hd_tensor *x)
{
    return x->storage->release;
}

/* Is x mapped where it can be, and a copy on a big-endian machine? */
static bool is_shared(const hd_tensor *x)
{
    return is_mapped(x) != hd__io_big_endian;
}

START_TEST(writing_stays_private)
{
    HD_SCOPE;
    save_three("x");
    save_three("same");
    hd_dict *d = load_mapped("x"), *other = load_mapped("x");
    hd_tensor *a = hd_dict_get(d, "a");
    ck_assert(is_shared(a) && is_shared(hd_dict_get(d, "b")));
    ck_assert(!hd_shares_storage(a, hd_dict_get(other, "a")));
    ck_elements(hd_dict_get(d, "b"), 4, 5);
    ck_elements(hd_dict_get(d, "c"), 1, 0);
    ck_assert(hd_set(a, 7, 0));
    ck_elements(a, 7, 2, 3);
    ck_elements(hd_dict_get(other, "a"), 1, 2, 3);
    ck_assert(same_files("x", "same"));
    hd_dict_free(d);
    hd_dict_free(other);
}
END_TEST

START_TEST(a_tensor_outlives_file_and_dictionary)
{
    HD_SCOPE;
    save_three("x");
    hd_dict *d = load_mapped("x");
    hd_tensor *a = hd_retain(hd_dict_get(d, "a"));
    hd_dict_free(d);
    save_three("x"); /* there is a new file of this name; the mapping still has the old one */
    ck_assert_int_eq(unlink("x"), 0);
    ck_elements(a, 1, 2, 3);
    hd_release(a);
}
END_TEST

START_TEST(copies_what_cannot_be_shared)
{
    HD_SCOPE;
    static const char header[] =
        "{\"odd\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"none\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[5,5]},"
        "\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[5,7]}}  ";
    ck_assert_uint_eq((sizeof header - 1) % 4, 0);
    write_safetensors("x", header, "\7\0\0\x80\x3f\1\2", 7);
    hd_dict *d = load_mapped("x");
    static const char *const names[] = {"odd", "u", "none", "b"};
    for (int i = 0; i < 4; i++) {
        ck_assert(!is_mapped(hd_dict_get(d, names[i])));
    }
    ck_elements(hd_dict_get(d, "odd"), 1);
    ck_elements(hd_dict_get(d, "u"), 7);
    ck_elements(hd_dict_get(d, "b"), 1, 1);
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- files that change */

/* The file is cut to this many bytes after its header was read. */
static void read_shrunk(const hd_safetensors_options *o, off_t left, const char *name,
                        const char *message)
{
    HD_SCOPE;
    save_three("x");
    hd_safetensors *f = hd_safetensors_open("x", o);
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(truncate("x", left), 0);
    ck_assert_ptr_null(hd_safetensors_read(f, hd_safetensors_find(f, name)));
    ck_error(HD_IO, message);
    hd_safetensors_close(f);
}

/* Its 8 + 168 bytes of header are followed by b in 16, a in 12 and c in 2. */
START_TEST(a_file_that_shrinks_behind_its_header)
{
    hd_safetensors_options o = mapped();
    read_shrunk(
        NULL, 200, "a",
        "hd_safetensors_read: 'x': ends at byte 200 now: expected 206 bytes, as when it was "
        "opened");
    read_shrunk(
        NULL, 0, "c",
        "hd_safetensors_read: 'x': ends at byte 204 now: expected 206 bytes, as when it was "
        "opened");
    if (hd__io_big_endian) { /* it is read */
        read_shrunk(
            &o, 200, "a",
            "hd_safetensors_read: 'x': ends at byte 200 now: expected 206 bytes, as when it was "
            "opened");
        return;
    }
    read_shrunk(
        &o, 200, "a",
        "hd_safetensors_read: 'x': 200 bytes now: expected 206 bytes, as when it was opened");
    read_shrunk(&o, 0, "b",
                "hd_safetensors_read: 'x': 0 bytes now: expected 206 bytes, as when it was opened");
}
END_TEST

/* ---------------------------------------------------------------- more than 4 GB */

static const int64_t four_gb = INT64_C(1) << 32;

/* `large` has 4 GB, which are a hole of the file, and `tail` comes after it. */
static void write_large(const char *path)
{
    static const char header[] =
        "{\"large\":{\"dtype\":\"BOOL\",\"shape\":[4294967296],\"data_offsets\":[0,4294967296]},"
        "\"tail\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4294967296,4294967304]}} ";
    ck_assert_uint_eq((sizeof header - 1) % 8, 0);
    write_safetensors(path, header, NULL, 0);
    write_file_at(path, 8 + (int64_t)sizeof header - 1 + four_gb, "\0\0\xc0\x3f\0\0\0\xc0", 8);
}

START_TEST(a_tensor_after_4_gb_is_read)
{
    HD_SCOPE;
    write_large("x");
    hd_safetensors *f = hd_safetensors_open("x", NULL);
    ck_assert_int_eq(hd_safetensors_bytes(f, 0), four_gb);
    ck_elements(hd_safetensors_read(f, 1), 1.5, -2);
    if (four_gb > PTRDIFF_MAX) {
        ck_assert_ptr_null(hd_safetensors_read(f, 0));
        ck_error(HD_MEMORY, "hd_safetensors_read: (4294967296,) of bool: the size overflows");
    }
    hd_safetensors_close(f);
}
END_TEST

START_TEST(four_gb_are_mapped_whole_or_refused)
{
    HD_SCOPE;
    write_large("x");
    hd_safetensors_options o = mapped();
    hd_safetensors *f = hd_safetensors_open("x", &o);
    if (f) {
        ck_assert(four_gb <= PTRDIFF_MAX);
        ck_elements(hd_safetensors_read(f, 1), 1.5, -2);
        hd_safetensors_close(f);
        return;
    }
    int why = four_gb <= PTRDIFF_MAX ? ENOMEM : EFBIG; /* the system may have too little memory */
    char message[120];
    snprintf(message, sizeof message, "hd_safetensors_open: 'x': cannot map: %s", strerror(why));
    ck_error(HD_IO, message);
}
END_TEST

/* bfloat16 stays what it is where the caller asks for it: mapped, read, through an index's file and
 * through a checkpoint. */
START_TEST(bfloat16_is_kept)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new(), *model, *state;
    hd_tensor *six = hd__tensor_cast(hd_arange(0, 6, 1), HD_BFLOAT16);
    hd_tensor *h =
        hd__tensor_alias(six, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}, 0); /* transposed */
    ck_assert(hd_dict_set(d, "flag", vec(HD_BOOL, 1, 0)) && hd_dict_set(d, "h", h) &&
              hd_dict_set(d, "f", vec(HD_FLOAT32, 1.5)));
    ck_assert(hd_save_safetensors("x", d));
    hd_safetensors_options o = mapped();
    for (int map = 0; map < 2; map++) {
        for (int keep = 0; keep < 2; keep++) {
            o.map = map;
            o.keep_bfloat16 = keep;
            hd_safetensors *f = hd_safetensors_open("x", &o);
            ck_assert_str_eq(hd_safetensors_name(f, 0), "f"); /* as Python's safetensors has them */
            ck_assert_str_eq(hd_safetensors_name(f, 2), "flag");
            ck_assert_str_eq(hd_safetensors_type(f, 1), "BF16");
            hd_tensor *x = hd_safetensors_read(f, 1);
            ck_assert_int_eq(hd_dtype_of(x), keep ? HD_BFLOAT16 : HD_FLOAT32);
            ck_assert(!(map && keep) || is_shared(x));
            hd_safetensors_close(f);
            ck_elements(x, 0, 3, 1, 4, 2, 5);
        }
    }
    ck_assert(hd_checkpoint_save("kept", d, d) && hd_checkpoint_load("kept", &model, &state));
    ck_assert_int_eq(hd_dtype_of(hd_dict_get(model, "h")), HD_BFLOAT16);
    ck_elements(hd_dict_get(state, "h"), 0, 3, 1, 4, 2, 5);
    ck_no_error();
    ck_assert(!hd_save_npy("x.npy", h));
    ck_error(HD_DTYPE, "hd_save_npy: x is bfloat16, which is for storing only: expected another "
                       "dtype. hd_to(x, HD_FLOAT32) converts it");
    hd_dict_free(state);
    hd_dict_free(model);
    hd_dict_free(d);
}
END_TEST

Suite *suite_mapping(void)
{
    const TTest *const tests[] = {
        writing_stays_private,
        a_tensor_outlives_file_and_dictionary,
        copies_what_cannot_be_shared,
        a_file_that_shrinks_behind_its_header,
        a_tensor_after_4_gb_is_read,
        four_gb_are_mapped_whole_or_refused,
        bfloat16_is_kept,
    };
    return SUITE("mapping", tests);
}
