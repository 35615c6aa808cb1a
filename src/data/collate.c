/* collate.c - makes a batch from items: stacks tensors of equal shape, or pads texts to equal
 * length. */
#include <inttypes.h>

#include "data/dataset.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/list.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- stacking */

/* Returns false with an error unless tensor k of every item has the dtype and shape of tensor k of
 * item 0. */
static bool alike(hd_list *const *items, int64_t n, int64_t k)
{
    const hd_tensor *x = items[0]->items[k];
    for (int64_t i = 1; i < n; i++) {
        const hd_tensor *other = items[i]->items[k];
        if (other->dtype != x->dtype || !hd__tensor_same_shape(other, x)) {
            return hd_fail(other->dtype != x->dtype ? HD_DTYPE : HD_SHAPE,
                           "tensor %" PRId64 " of item %" PRId64
                           " of the batch is %s %s, but that of item 0 is %s %s: expected one "
                           "dtype and shape",
                           k, i, hd_dtype_name(other->dtype), HD__SHAPE(other),
                           hd_dtype_name(x->dtype), HD__SHAPE(x));
        }
    }
    return true;
}

/* Returns a new tensor: the tensors with index k of all items, stacked along a new first dim.
 * Returns NULL with an error if their dtypes or shapes differ, or if memory runs out. */
static hd_tensor *stacked(hd_list *const *items, int64_t n, int64_t k)
{
    const hd_tensor *x = items[0]->items[k];
    int64_t sizes[HD_MAX_DIMS + 1] = {n};
    memcpy(sizes + 1, x->sizes, (size_t)x->ndim * sizeof *sizes);
    bool ok = alike(items, n, k) && hd__tensor_sizes_arg(x->ndim + 1, sizes);
    hd_tensor *y = ok ? hd__tensor_empty(x->dtype, x->ndim + 1, sizes) : NULL; /* (n, ...) */
    for (int64_t i = 0; y && i < n; i++) {
        hd__tensor_array row;
        const char *at = (char *)hd__tensor_ptr(y) + i * x->numel * hd__tensor_bytes_of(x->dtype);
        hd__tensor_copy(hd__tensor_array_of(&row, x, at), items[i]->items[k]);
    }
    return y;
}

hd_list *hd__data_stack_items(hd_list *const *items, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (items[i]->len != items[0]->len) {
            return hd_fail(HD_VALUE,
                           "item %" PRId64 " of the batch has %" PRId64
                           " tensors, but item 0 has %" PRId64 ": expected equal numbers",
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

/* A text, and the choice of its tokens that count in the loss. If `learnt` is NULL, these are the
 * tokens after the prompt. Otherwise they are the tokens for which `learnt` is true. */
typedef struct lesson {
    const hd_tensor *ids;    /* (n,) int64 */
    const hd_tensor *learnt; /* NULL, or (n,) bool: true for each token that counts */
    int64_t prompt;          /* the number of tokens of the prompt; 0 if learnt is not NULL */
} lesson;

/* Returns false with an error unless x, the tensor with index k of an item, has the dtype and shape
 * that hd_collate_pad requires. `text` is the item's first tensor, and `name` is the item's name in
 * the message. */
static bool tensor_ok(const char *name, int64_t k, const hd_tensor *x, const hd_tensor *text)
{
    const bool marks = k == 1 && x->dtype == HD_BOOL;
    const bool dtype_ok = x->dtype == HD_INT64 || marks;
    const bool shape_ok = marks    ? hd__tensor_same_shape(x, text)
                          : k == 1 ? x->numel == 1
                                   : x->ndim == 1;
    char expected[128] = "int64 (n,)";
    if (k == 1) {
        snprintf(expected, sizeof expected,
                 "one int64, the length of the prompt, or bool %s, true where a token counts in "
                 "the loss",
                 HD__SHAPE(text));
    }
    return (shape_ok && dtype_ok) ||
           hd_fail(dtype_ok ? HD_SHAPE : HD_DTYPE, "%s[%" PRId64 "] is %s %s: expected %s", name, k,
                   hd_dtype_name(x->dtype), HD__SHAPE(x), expected);
}

static bool lesson_of(const hd_list *item, int64_t i, lesson *t)
{
    char name[40];
    snprintf(name, sizeof name, "items[%" PRId64 "]", i);
    if (!hd__tensor_list_arg(name, item) || !hd__tensor_args(name, item->len, item->items, false)) {
        return false;
    }
    hd_tensor *const *x = item->items;
    if (item->len < 1 || item->len > 2) {
        return hd_fail(HD_VALUE,
                       "%s has %" PRId64
                       " tensors: expected 1 or 2: the ids of a text, and optionally the length of "
                       "its prompt or a bool for each token",
                       name, item->len);
    }
    for (int64_t k = 0; k < item->len; k++) {
        if (!tensor_ok(name, k, x[k], x[0])) {
            return false;
        }
    }
    bool marked = item->len == 2 && x[1]->dtype == HD_BOOL;
    int64_t prompt = item->len == 2 && !marked ? hd__tensor_int_at(x[1], x[1]->offset) : 0;
    *t = (lesson){x[0], marked ? x[1] : NULL, prompt};
    return (prompt >= 0 && prompt <= x[0]->numel) ||
           hd_fail(HD_VALUE,
                   "%s[1], the length of the prompt, is %" PRId64 ": expected 0 to %" PRId64, name,
                   prompt, x[0]->numel);
}

static int64_t id_at(const hd_tensor *x, int64_t k)
{
    return hd__tensor_int_at(x, x->offset + k * x->strides[0]);
}

/* Returns true if token k counts in the loss. For a token of the text, t->learnt says this. After
 * the text come end tokens, whose id is `end`. The first of them counts if the text's last token
 * counts and is not itself an end token; the others never count. */
static bool is_marked(const lesson *t, int64_t end, int64_t k)
{
    const int64_t n = t->ids->numel;
    return k < n ? id_at(t->learnt, k)
                 : k == n && n > 0 && id_at(t->learnt, n - 1) && id_at(t->ids, n - 1) != end;
}

/* Writes a row of inputs to x and a row of targets to y, with `width` elements each. Targets that
 * do not count become o->ignore_index. If t->learnt is NULL, the tokens after the prompt count, but
 * only the first of the end tokens among them. */
static void pad(const hd_collate_pad_options *o, const lesson *t, int64_t width, int64_t *x,
                int64_t *y)
{
    int64_t id = o->pad_token_id;
    bool ended = false;
    for (int64_t k = 0; k <= width; k++) {
        int64_t before = id;
        id = k < t->ids->numel ? id_at(t->ids, k) : o->pad_token_id;
        if (k > 0) {
            bool end = id == o->pad_token_id && k >= t->prompt;
            bool learnt =
                t->learnt ? is_marked(t, o->pad_token_id, k) : k >= t->prompt && !(end && ended);
            x[k - 1] = before;
            y[k - 1] = learnt ? id : o->ignore_index;
            ended |= end;
        }
    }
}

hd_list *hd_collate_pad(hd_list *const *items, int64_t n, void *options)
{
    HD__CALL("hd_collate_pad");
    HD__SCOPE_OR(NULL);
    hd_collate_pad_options d = hd_collate_pad_defaults(), *o = options ? options : &d;
    int64_t width = 0;
    lesson t;
    if (!hd__arg_given("items", items) || !HD__SIZE_OK(o, "hd_collate_pad_defaults()")) {
        return NULL;
    }
    if (n < 1 || o->allowed_max_length < 0) {
        return hd_fail(HD_VALUE,
                       "n %" PRId64 ", allowed_max_length %" PRId64
                       ": expected n >= 1, allowed_max_length >= 0",
                       n, o->allowed_max_length);
    }
    for (int64_t i = 0; i < n; i++) {
        if (!lesson_of(items[i], i, &t)) {
            return NULL;
        }
        width = t.ids->numel > width ? t.ids->numel : width;
    }
    width = o->allowed_max_length && o->allowed_max_length < width ? o->allowed_max_length : width;
    const int64_t sizes[] = {n, width};
    hd_tensor *x = hd__tensor_empty(HD_INT64, 2, sizes),
              *y = x ? hd__tensor_empty(HD_INT64, 2, sizes) : NULL;
    for (int64_t i = 0; y && i < n && lesson_of(items[i], i, &t); i++) {
        pad(o, &t, width, (int64_t *)hd__tensor_ptr(x) + i * width,
            (int64_t *)hd__tensor_ptr(y) + i * width);
    }
    return y ? hd__tensor_list_return(hd_list_of(x, y)) : NULL;
}
