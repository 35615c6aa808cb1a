/* repr_text.c - gives a text to the innermost scope, writes a text to a file, and writes a number
 * as text. */
#include <errno.h>

#include "base/system/system.h"
#include "base/text/number.h"
#include "tensor/repr_text.h"
#include "tensor/scope.h"

const char *hd__tensor_text_give(hd__text *t)
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

bool hd__tensor_text_print(hd__text *t, FILE *f, bool at_once)
{
    bool ok = !t->failed;
    errno = 0;
    if (ok && (fwrite(t->s, 1, t->len, f) != t->len || (at_once && fflush(f) != 0))) {
        ok = hd_fail(HD_IO, "%zu bytes not written: %s", t->len, HD__WHY(errno));
    }
    hd_free(t->s);
    return ok;
}

const char *hd_float_repr(double v)
{
    HD__CALL("hd_float_repr");
    hd__text t = {0};
    hd__text_puts(&t, hd__text_of_float(v, (char[HD__FLOAT_TEXT]){0}));
    return hd__tensor_text_give(&t);
}
