/* collate.c - a batch from items: tensors of one shape are stacked, and texts are padded. */
#include <inttypes.h>

#include "data/data_internal.h"

/* ---------------------------------------------------------------- stacking */

/* Have all items a tensor number k like that of the first item? */
static bool alike(hd_list *const *items, int64_t n, int64_t k)
{
    const hd_tensor *x = items[0]->items[k];
    for (int64_t i = 1; i < n; i++) {
        const hd_tensor *other = items[i]->items[k];
        if (other->dtype != x->dtype || !hd__same_shape(other, x)) {
            return hd__fail(other->dtype != x->dtype ? HD_DTYPE : HD_SHAPE,
                            "tensor %" PRId64 " of item %" PRId64
                            " of the batch is %s %s, and of item 0 %s %s: expected one dtype "
                            "and shape",
                            k, i, hd_dtype_name(other->dtype), HD__SHAPE(other),
                            hd_dtype_name(x->dtype), HD__SHAPE(x));
        }
    }
    return true;
}

/* Tensor number k of each item, along a new first dim. */
static hd_tensor *stacked(hd_list *const *items, int64_t n, int64_t k)
{
    const hd_tensor *x = items[0]->items[k];
    int64_t sizes[HD_MAX_DIMS + 1] = {n};
    memcpy(sizes + 1, x->sizes, (size_t)x->ndim * sizeof *sizes);
    bool ok = alike(items, n, k) && hd__sizes_arg(x->ndim + 1, sizes);
    hd_tensor *y = ok ? hd__empty(x->dtype, x->ndim + 1, sizes) : NULL; /* (n, ...) */
    for (int64_t i = 0; y && i < n; i++) {
        hd__array row;
        const char *at = (char *)hd__ptr(y) + i * x->numel * hd__bytes_of(x->dtype);
        hd__copy(hd__array_of(&row, x, at), items[i]->items[k]);
    }
    return y;
}

hd_list *hd__stack_items(hd_list *const *items, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (items[i]->len != items[0]->len) {
            return hd__fail(HD_VALUE,
                            "item %" PRId64 " of the batch has %" PRId64
                            " tensors, and item 0 %" PRId64 ": expected as many",
                            i, items[i]->len, items[0]->len);
        }
    }
    hd_list *batch = hd_list_n(0, NULL);
    for (int64_t k = 0; batch && k < items[0]->len; k++) {
        hd_tensor *y = stacked(items, n, k);
        if (!y || !hd_list_append(batch, y)) {
            return NULL;
        }
    }
    return batch;
}

/* ---------------------------------------------------------------- padding */

hd_collate_pad_options hd_collate_pad_defaults(void)
{
    return (hd_collate_pad_options){
        .size = sizeof(hd_collate_pad_options), .pad_token_id = 50256, .ignore_index = -100};
}

/* The text of item i: (n,) int64. How many ids of it are no targets? */
static hd_tensor *text_of(const hd_list *item, int64_t i, int64_t *prompt)
{
    char name[40];
    snprintf(name, sizeof name, "items[%" PRId64 "]", i);
    if (!hd__list_arg(name, item) || !hd__args(name, item->len, item->items, false)) {
        return NULL;
    }
    hd_tensor *const *x = item->items;
    for (int64_t k = 0; k < item->len; k++) {
        if (x[k]->dtype != HD_INT64 || (k ? x[k]->numel : x[k]->ndim) != 1) {
            return hd__fail(x[k]->dtype != HD_INT64 ? HD_DTYPE : HD_SHAPE,
                            "%s[%" PRId64 "] is %s %s: expected %s", name, k,
                            hd_dtype_name(x[k]->dtype), HD__SHAPE(x[k]),
                            k ? "one int64" : "int64 (n,)");
        }
    }
    if (item->len < 1 || item->len > 2) {
        return hd__fail(HD_VALUE,
                        "%s has %" PRId64 " tensors: expected a text, or a text and the length "
                        "of its prompt",
                        name, item->len);
    }
    *prompt = item->len == 2 ? hd__int_at(x[1], x[1]->offset) : 0;
    if (*prompt < 0 || *prompt > x[0]->numel) {
        return hd__fail(HD_VALUE, "%s[1] is %" PRId64 ": expected 0 to %" PRId64, name, *prompt,
                        x[0]->numel);
    }
    return x[0];
}

/* Writes a row of inputs and one of targets. The first end token of the targets counts. */
static void pad(const hd_collate_pad_options *o, const hd_tensor *text, int64_t prompt,
                int64_t width, int64_t *x, int64_t *y)
{
    int64_t id = o->pad_token_id;
    bool ended = false;
    for (int64_t k = 0; k <= width; k++) {
        int64_t before = id;
        id = k < text->numel ? hd__int_at(text, text->offset + k * text->strides[0])
                             : o->pad_token_id;
        if (k > 0) {
            bool end = id == o->pad_token_id;
            x[k - 1] = before;
            y[k - 1] = k < prompt || (end && ended) ? o->ignore_index : id;
            ended |= end;
        }
    }
}

hd_list *hd_collate_pad(hd_list *const *items, int64_t n, void *options)
{
    HD__CALL("hd_collate_pad");
    HD__SCOPE_OR(NULL);
    hd_collate_pad_options d = hd_collate_pad_defaults(), *o = options ? options : &d;
    int64_t width = 0, prompt;
    if (!hd__given("items", items) || !HD__SIZE_OK(o, "hd_collate_pad_defaults()")) {
        return NULL;
    }
    if (n < 1 || o->allowed_max_length < 0) {
        return hd__fail(HD_VALUE,
                        "%" PRId64 " items, allowed_max_length %" PRId64
                        ": expected 1 or more, and 0 or more",
                        n, o->allowed_max_length);
    }
    for (int64_t i = 0; i < n; i++) {
        const hd_tensor *text = text_of(items[i], i, &prompt);
        if (!text) {
            return NULL;
        }
        width = text->numel > width ? text->numel : width;
    }
    width = o->allowed_max_length && o->allowed_max_length < width ? o->allowed_max_length : width;
    const int64_t sizes[] = {n, width};
    hd_tensor *x = hd__empty(HD_INT64, 2, sizes), *y = x ? hd__empty(HD_INT64, 2, sizes) : NULL;
    for (int64_t i = 0; y && i < n; i++) {
        const hd_tensor *text = text_of(items[i], i, &prompt);
        pad(o, text, prompt, width, (int64_t *)hd__ptr(x) + i * width,
            (int64_t *)hd__ptr(y) + i * width);
    }
    return y ? hd__list_return(hd_list_of(x, y)) : NULL;
}
