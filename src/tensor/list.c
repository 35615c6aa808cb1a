/* list.c - lists of tensors.
 *
 * The data of a bool tensor, the list's `holder`, begin with the header that marks an object of
 * heed (HD__HEADER bytes). The struct hd_list follows. The innermost scope owns the holder. When
 * the holder is freed, its storage's release function drops the list's tensors and frees the array
 * of pointers. */
#include <inttypes.h>

#include "tensor/lifecycle.h"
#include "tensor/list.h"
#include "tensor/tensor_args.h"

static void release_items(void *data, void *user)
{
    (void)user;
    hd_list *l = (hd_list *)((char *)data + HD__HEADER);
    for (int64_t i = 0; i < l->len; i++) {
        hd__tensor_drop(l->items[i]);
    }
    hd_free(l->items);
    l->items = NULL;
    l->len = -1;
}

static hd_list *empty(int64_t room)
{
    int64_t bytes = HD__HEADER + (int64_t)sizeof(hd_list);
    hd_tensor *holder = hd__tensor_empty(HD_BOOL, 1, &bytes);
    if (!holder) {
        return NULL;
    }
    hd_list *l = hd__object_in(HD__A_LIST, holder->storage->data);
    *l = (hd_list){.holder = holder};
    if (!hd__text_grow(&l->items, &l->room, room, sizeof *l->items)) {
        hd_release(holder);
        return NULL;
    }
    holder->storage->release = release_items;
    return l;
}

hd_list *hd__tensor_list_return(hd_list *l)
{
    for (int64_t i = 0; l && i < l->len; i++) {
        hd_scope_return(l->items[i]);
    }
    hd_scope_return(l ? l->holder : NULL);
    return l;
}

bool hd__tensor_list_arg(const char *arg, const hd_list *l)
{
    return hd__object(arg, l) &&
           (l->len >= 0 || hd_fail(HD_STATE,
                                   "%s was freed when its scope closed. Use the list inside "
                                   "the scope that made it",
                                   arg));
}

static bool check_items(int64_t n, hd_tensor *const *tensors)
{
    return ((n >= 0 && n <= INT64_MAX / (int64_t)sizeof *tensors / 2) ||
            hd_fail(HD_VALUE, "%" PRId64 " tensors: expected 0 or more", n)) &&
           (n == 0 || hd__arg_given("tensors", tensors)) &&
           hd__tensor_args("tensors", n, tensors, true);
}

hd_list *hd_list_n(int64_t n, hd_tensor *const *tensors)
{
    HD__CALL("hd_list_of");
    hd_list *l = check_items(n, tensors) ? empty(n) : NULL;
    for (int64_t i = 0; l && i < n; i++) {
        l->items[l->len++] = hd__tensor_hold(tensors[i]);
    }
    return l;
}

bool hd_list_append(hd_list *l, hd_tensor *t)
{
    HD__CALL("hd_list_append");
    if (!hd__tensor_list_arg("l", l) || !hd__tensor_any_arg("t", t, true) ||
        !hd__text_grow(&l->items, &l->room, l->len + 1, sizeof *l->items)) {
        return false;
    }
    l->items[l->len++] = hd__tensor_hold(t);
    return true;
}

int64_t hd_list_len(const hd_list *l)
{
    HD__CALL("hd_list_len");
    return hd__tensor_list_arg("l", l) ? l->len : -1;
}

hd_tensor *hd_list_get(const hd_list *l, int64_t i)
{
    HD__CALL("hd_list_get");
    int64_t at = hd__tensor_list_arg("l", l) ? hd__arg_index(i, l->len, "tensors") : -1;
    return at < 0 ? NULL : l->items[at];
}
