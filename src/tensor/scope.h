/* scope.h - the struct of a scope, and how tensors enter and leave one (scope.c). */
#ifndef HEED_TENSOR_SCOPE_H
#define HEED_TENSOR_SCOPE_H

#include "tensor/tensor_struct.h"

struct hd_scope {
    hd__scope_head head;
    hd_scope *outer; /* the scope around this one; NULL in the root */
    hd_tensor *first;
    int64_t count;    /* number of tensors that the scope owns */
    int64_t warn_at;  /* from this count on, backward checks whether an HD_SCOPE is missing */
    const char *file; /* the source file that opened the scope; NULL if unknown */
    int line;
};

enum { HD__SCOPE_MANY = 100000 }; /* warn_at of a new scope */

/* Returns memory that lives as long as the innermost scope, or NULL with an error if memory runs
 * out. */
void *hd__scope_alloc(size_t bytes);

/* Opens the thread's root scope. Returns false with an error if heed cannot start (hd__init). */
bool hd__scope_enter_thread(void);
static inline bool hd__scope_ready(void)
{
    return hd__scope_top || hd__scope_enter_thread();
}

static inline void hd__scope_link(hd_scope *s, hd_tensor *t)
{
    hd__assert(!t->scope);
    t->scope = s;
    t->prev = NULL;
    t->next = s->first;
    if (t->next) {
        t->next->prev = t;
    }
    s->first = t;
    s->count++;
}

static inline void hd__scope_unlink(hd_tensor *t)
{
    hd_scope *s = t->scope;
    hd__assert(s->count > 0 && (t->prev ? t->prev->next : s->first) == t);
    if (t->prev) {
        t->prev->next = t->next;
    } else {
        s->first = t->next;
    }
    if (t->next) {
        t->next->prev = t->prev;
    }
    s->count--;
    t->scope = NULL;
}

#endif
