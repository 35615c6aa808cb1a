/* picture.c - pictures of what a call may change: labels with the hash of what is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults_memory/faults.h"

/* FNV-1a over words of 8 bytes. */
static uint64_t hash_of(const void *bytes, size_t n)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ n;
    const char *p = bytes;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, p + i, n - i < 8 ? n - i : 8);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    return hash;
}

static void add(picture *p, const char *name, const char *aspect, uint64_t hash, bool address)
{
    if (p->n == PICTURE_ITEMS) {
        fprintf(stderr, "a picture has no room for %s: %s\n", name, aspect);
        abort();
    }
    snprintf(p->items[p->n].label, PICTURE_LABEL, "%s: %s", name, aspect);
    p->items[p->n].hash = hash;
    p->items[p->n++].address = address;
}

void see(picture *p, const char *name, const char *aspect, const void *bytes, size_t n)
{
    add(p, name, aspect, hash_of(bytes, n), false);
}

void see_text(picture *p, const char *name, const char *aspect, const char *text)
{
    see(p, name, aspect, text ? text : "NULL", text ? strlen(text) : 5);
}

void see_address(picture *p, const char *name, const char *aspect, const void *address)
{
    add(p, name, aspect, (uint64_t)(uintptr_t)address, true);
}

const char *picture_difference(const picture *a, const picture *b, bool same_world)
{
    int n = a->n < b->n ? a->n : b->n;
    for (int i = 0; i < n; i++) {
        bool counts = same_world || !a->items[i].address;
        if (strcmp(a->items[i].label, b->items[i].label) != 0) {
            return b->items[i].label;
        }
        if (counts && a->items[i].hash != b->items[i].hash) {
            return a->items[i].label;
        }
    }
    return a->n == b->n ? NULL : a->n > n ? a->items[n].label : b->items[n].label;
}
