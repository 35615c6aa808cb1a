/* lasting.c - texts that last as long as the process: the names of modules, and of the functions
 * that made or freed an object. A message may need them at any time. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error/lasting.h"

const char hd__lasting_scope_end[] = "when its scope closed";

typedef struct lasting {
    struct lasting *below[2]; /* the two subtrees */
    struct lasting *next;     /* the next older text in the list */
    int32_t n;                /* the text's number, counted from 0 */
    char text[];
} lasting;

/* The lock protects the tree and the list. The tree finds the entry of a text. The list, newest
 * entry first, finds the entry with a number. */
pthread_mutex_t hd__lasting_lock = PTHREAD_MUTEX_INITIALIZER;
static lasting *tree, *newest;

/* Returns a hash whose high bits depend on the whole text. */
static uint64_t mixed(const char *text)
{
    uint64_t bits = 0;
    for (; *text; text++) {
        bits = (bits + (unsigned char)*text) * 0x9e3779b97f4a7c15u;
    }
    return bits;
}

/* Each node of the tree branches by one bit of the hash, beginning with the highest bit at the
 * root. Uses calloc, not hd_alloc, because the texts are never freed. */
const char *hd__lasting_text(const char *text)
{
    lasting **at = &tree;
    HD__LOCKED(hd__lasting_lock);
    for (uint64_t bits = mixed(text); *at && strcmp((*at)->text, text) != 0; bits <<= 1) {
        at = &(*at)->below[bits >> 63];
    }
    if (!*at && (*at = calloc(1, sizeof **at + strlen(text) + 1))) {
        strcpy((*at)->text, text);
        (*at)->n = newest ? newest->n + 1 : 0;
        (*at)->next = newest;
        newest = *at;
    }
    return *at ? (*at)->text : "?";
}

/* A text of this library lies less than FAR bytes from hd__lasting_scope_end, and its code is this
 * distance. Any other text comes from hd__lasting_text, and its code is INT32_MIN plus its number.
 * This sum is less than every such distance. */
enum { FAR = 1 << 30 };

int32_t hd__lasting_code(const char *text)
{
    const intptr_t distance = (intptr_t)text - (intptr_t)hd__lasting_scope_end;
    const lasting *e = (const void *)(text - offsetof(lasting, text));
    return distance > -FAR && distance < FAR ? (int32_t)distance : INT32_MIN + e->n;
}

const char *hd__lasting_of_code(int32_t code)
{
    if (code > -FAR) {
        return (const char *)((intptr_t)hd__lasting_scope_end + code);
    }
    HD__LOCKED(hd__lasting_lock);
    const lasting *e = newest;
    while (e->n != code - INT32_MIN) {
        e = e->next;
    }
    return e->text;
}
