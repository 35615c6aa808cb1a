/* repr_text.c - texts that live in a scope, and numbers as text. */
#include "tensor/tensor_internal.h"

const char *hd__text_give(hd__text *t)
{
    char *s = t->failed ? NULL : hd__scope_alloc(t->len + 1);
    if (s) {
        if (t->len) {
            memcpy(s, t->s, t->len);
        }
        s[t->len] = '\0';
    }
    hd_free(t->s);
    return s;
}

const char *hd_float_repr(double v)
{
    HD__CALL("hd_float_repr");
    hd__text t = {0};
    hd__text_puts(&t, hd__float_text(v, (char[HD__FLOAT_TEXT]){0}));
    return hd__text_give(&t);
}
