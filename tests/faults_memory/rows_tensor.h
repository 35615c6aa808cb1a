/* rows_tensor.h - the functions of tensor.h as rows; table.h explains the form. */
NEVER_ROW(hd_dtype_name, hd_dtype_name(HD_BOOL))
NEVER_ROW(hd_dtype_size, hd_dtype_size(HD_BOOL))

/* ---------------------------------------------------------------- lifetime */

NEVER_ROW(hd_retain,
          (hd_release(hd_retain(w->x)), hd_retain(w->x) == w->x && (hd_release(w->x), true)))
NEVER_ROW(hd_release, (hd_release(hd_retain(w->x)), true))
NEVER_ROW(hd_assign, hd_assign(&w->slot, w->y))
NEVER_ROW(hd_scope_open, hd_scope_open())
NEVER_ROW(hd_scope_open_at, hd_scope_open_at("here.c", 1))
NEVER_ROW(hd_scope_close, (hd_scope_close(hd_scope_open()), true))
DO(CALL, hd_scope_open, "more than lie in the thread", {
    hd_scope *first = hd_scope_open();
    for (int i = 0; i < 12; i++) {
        if (!hd_scope_open()) {
            break;
        }
    }
    keep(o, thing_of_bool(hd_error_code() == HD_OK));
    hd_scope_close(first);
})
DO(CALL, hd_scope_return, "", {
    hd_scope *s = hd_scope_open();
    hd_tensor *y = hd_scope_return(hd_neg(w->x));
    hd_scope_close(s);
    keep(o, thing_of_tensor(y));
})
ROW(hd_scope_report, "", hd_scope_report(w->stream))
SKIP_ROW(hd_profile, "it needs HEED_PROFILE=1; tests/heard refuses it memory")
NEVER_ROW(hd_scope_count, hd_scope_count() > 0)
NEVER_ROW(hd_tensor_count, hd_tensor_count() > 0)
ROW(hd_tensor_report, "", hd_tensor_report() > 0)

/* ---------------------------------------------------------------- creation */

ROW(hd_empty_n, "", hd_shape_repr(hd_empty(HD_FLOAT32, 2, 3)))
ROW(hd_zeros_n, "", hd_zeros(HD_FLOAT32, 2, 3))
ROW(hd_zeros_n, "larger than a block of a class", hd_zeros(HD_FLOAT64, 100, 200))
ROW(hd_ones_n, "", hd_ones(HD_INT64, 2, 3))
ROW(hd_full_n, "", hd_full(HD_BOOL, 1, 2, 3))
ROW(hd_scalar_tensor, "", hd_scalar_tensor(HD_FLOAT64, 0.5))
ROW(hd_arange, "", hd_arange(0, 9, 2))
ROW(hd_arange_as, "", hd_arange_as(HD_FLOAT32, 0, 1, 0.25))
ROW(hd_linspace, "", hd_linspace(HD_FLOAT32, 0, 1, 5))
ROW(hd_eye, "", hd_eye(HD_FLOAT32, 3, 4))
ROW(hd_empty_like, "", hd_shape_repr(hd_empty_like(w->x, HD_FLOAT64)))
ROW(hd_zeros_like, "", hd_zeros_like(w->x, HD_FLOAT64))
ROW(hd_ones_like, "", hd_ones_like(w->x, HD_FLOAT64))
ROW(hd_full_like, "", hd_full_like(w->x, HD_FLOAT64, 3))
ROW(hd_rand_n, "", hd_rand(HD_FLOAT32, 3, 3))
ROW(hd_rand_n, "float64", hd_rand(HD_FLOAT64, 30, 3))
ROW(hd_randn_n, "a few", hd_randn(HD_FLOAT32, 3))
ROW(hd_randn_n, "", hd_randn(HD_FLOAT32, 30, 3))
ROW(hd_rand_like, "", hd_rand_like(w->x, HD_FLOAT64))
ROW(hd_randn_like, "", hd_randn_like(w->x, HD_FLOAT64))
ROW(hd_randint_n, "", hd_randint(HD_INT64, 0, 9, 3, 3))
ROW(hd_randperm, "", hd_randperm(9))
ROW(hd_from_data_n, "", hd_from_data_n(HD_FLOAT32, data, 2, (int64_t[]){3, 3}))
ROW(hd_from_data_checked, "", hd_from_data(HD_FLOAT32, data, 9))
ROW(hd_tensor_of_checked, "", hd_tensor_of(data, 9))
ROW(hd_wrap_n, "",
    hd_wrap_n(HD_FLOAT32, (void *)(uintptr_t)data, released, NULL, 2, (int64_t[]){3, 3}))
ROW(hd_wrap_checked, "", hd_wrap(HD_FLOAT32, (float *)(uintptr_t)data, released, NULL, 9))

/* ---------------------------------------------------------------- access */

NEVER_ROW(hd_ndim, hd_ndim(w->x))
NEVER_ROW(hd_size, hd_size(w->x, 1))
NEVER_ROW(hd_stride, hd_stride(w->x, 1))
NEVER_ROW(hd_sizes, hd_sizes(w->x))
NEVER_ROW(hd_strides, hd_strides(w->x))
NEVER_ROW(hd_numel, hd_numel(w->x))
NEVER_ROW(hd_storage_offset, hd_storage_offset(w->row))
NEVER_ROW(hd_dtype_of, hd_dtype_of(w->d))
NEVER_ROW(hd_is_contiguous, hd_is_contiguous(w->x))
NEVER_ROW(hd_shares_storage, hd_shares_storage(w->h, w->row))
NEVER_ROW(hd_version_of, hd_version_of(w->x) == 0)
NEVER_ROW(hd_data, hd_data(w->x))
NEVER_ROW(hd_data_mut, (const void *)hd_data_mut(w->z))
NEVER_ROW(hd_item, hd_item(w->loss))
NEVER_ROW(hd_item_int, hd_item_int(w->loss) != INT64_MIN)
NEVER_ROW(hd_get_n, hd_get(w->x, 1, 2))
NEVER_ROW(hd_get_int_n, hd_get_int(w->target, 0))
NEVER_ROW(hd_set_n, hd_set(w->z, 3, 1, 2))
NEVER_ROW(hd_copy_to, hd_copy_to(w->v, (float[3]){0}, 12))
NEVER_ROW(hd_copy_from, hd_copy_from(w->z, data, 36))

/* ---------------------------------------------------------------- lists */

ROW(hd_list_n, "", hd_list_of(w->x, w->y, w->v))
NEVER_ROW(hd_list_len, hd_list_len(w->list))
NEVER_ROW(hd_list_get, hd_list_get(w->list, -1))
NEVER_ROW(hd_list_append, hd_list_append(w->list, w->v))
DO(CALL, hd_list_append, "until the list grows", {
    hd_list *l = hd_list_of(w->x, w->y);
    for (int i = 0; i < 20 && hd_list_append(l, w->v); i++) {
    }
    keep(o, thing_of_list(hd_error_code() == HD_OK ? l : NULL));
})

/* ---------------------------------------------------------------- printing */

NEVER_ROW(hd_print_defaults, hd_print_defaults().precision)
NEVER_ROW(hd_print_short, hd_print_short().precision)
NEVER_ROW(hd_print_full, hd_print_full().precision)
NEVER_ROW(hd_set_print_options, hd_set_print_options(NULL))
ROW(hd_repr, "", hd_repr(w->x))
ROW(hd_repr, "a leaf", hd_repr(w->p))
ROW(hd_repr, "float64", hd_repr(w->d))
ROW(hd_repr, "summarised", hd_repr(w->wide))
ROW(hd_repr, "int64", hd_repr(w->indices))
ROW(hd_repr_with, "",
    hd_repr_with(w->x, &(hd_print_options){sizeof(hd_print_options), 2, 5, 1, 40, 1}))
ROW(hd_list_repr, "", hd_list_repr(w->list))
ROW(hd_shape_repr, "", hd_shape_repr(w->x))
ROW(hd_float_repr, "", hd_float_repr(0.1))
SKIP_ROW(hd_print, "it is hd_fprint to stdout")
ROW(hd_fprint, "", hd_fprint(w->stream, w->x))
SKIP_ROW(hd_print_list, "it is hd_fprint_list to stdout")
ROW(hd_fprint_list, "", hd_fprint_list(w->stream, w->list))

/* ---------------------------------------------------------------- dictionaries */

ROW(hd_dict_new, "", hd_dict_new())
NEVER_ROW(hd_dict_free, (hd_dict_free(NULL), true))
NEVER_ROW(hd_dict_len, hd_dict_len(w->dict))
NEVER_ROW(hd_dict_name, hd_dict_name(w->dict, 0))
NEVER_ROW(hd_dict_kind_of, hd_dict_kind_of(w->dict, "text"))
ROW(hd_dict_set, "", hd_dict_set(w->dict, "new", w->x))
NEVER_ROW(hd_dict_set, hd_dict_set(w->dict, "text", w->x))
ROW(hd_dict_set_string, "", hd_dict_set_string(w->dict, "new", "a text"))
ROW(hd_dict_set_string, "in place of a text", hd_dict_set_string(w->dict, "text", "a longer text"))
ROW(hd_dict_set_string, "in place of a tensor", hd_dict_set_string(w->dict, "tensor", "a text"))
ROW(hd_dict_set_int, "", hd_dict_set_int(w->dict, "new", 5))
NEVER_ROW(hd_dict_set_int, hd_dict_set_int(w->dict, "whole", 5))
ROW(hd_dict_set_double, "", hd_dict_set_double(w->dict, "new", 5))
DO(CALL | SEQUENCE, hd_dict_set, "until the table grows", {
    char name[16];
    hd_dict *d = hd_dict_new();
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "entry %d", i);
        i % 2 ? hd_dict_set_string(d, name, "text") : hd_dict_set(d, name, w->x);
    }
    bool removed = hd_error_code() == HD_OK && hd_dict_remove(d, "entry 8");
    keep(o, thing_of_bool(removed));
    hd_dict_free(d);
})
NEVER_ROW(hd_dict_remove, hd_dict_remove(w->dict, "text"))
NEVER_ROW(hd_dict_get, hd_dict_get(w->dict, "tensor"))
NEVER_ROW(hd_dict_get_string, hd_dict_get_string(w->dict, "text"))
NEVER_ROW(hd_dict_get_int, hd_dict_get_int(w->dict, "whole", NULL))
NEVER_ROW(hd_dict_get_double, hd_dict_get_double(w->dict, "number", NULL))
ROW(hd_generator_save, "", hd_generator_save(w->generator, w->dict, "new"))
ROW(hd_generator_save, "the default one", hd_generator_save(hd_default_generator(), w->dict, ""))
ROW(hd_generator_load, "", hd_generator_load(hd_default_generator(), w->dict, "generator"))
