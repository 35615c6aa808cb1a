/* picture.c - makes pictures of everything that a call may change: labels, each with a hash of its
 * content. */
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

/* The entry of p with this label from entry i on; p->n: there is none. */
static int entry_from(const picture *p, int i, const char *label)
{
    while (i < p->n && strcmp(p->items[i].label, label) != 0) {
        i++;
    }
    return i;
}

bool picture_has(const picture *p, const char *label, uint64_t hash)
{
    int i = entry_from(p, 0, label);
    while (i < p->n && p->items[i].hash != hash) {
        i = entry_from(p, i + 1, label);
    }
    return i < p->n;
}

/* One of them may have entries in between that the other one does not have: an entry of a that b
 * does not have from here on is missing, and what b has up to it has been added. */
const char *picture_difference(const picture *a, const picture *b, bool same_world, excuse excused)
{
    int j = 0;
    for (int i = 0; i <= a->n; i++) {
        int same = i < a->n ? entry_from(b, j, a->items[i].label) : b->n;
        bool missing = i < a->n && same == b->n;
        for (; !missing && j < same; j++) {
            if (!excused || !excused(b->items[j].label, b->items[j].hash)) {
                return b->items[j].label;
            }
        }
        if (i == a->n) {
            break;
        }
        uint64_t hash = missing ? 0 : b->items[j].hash;
        bool differs =
            missing || (hash != a->items[i].hash && (same_world || !a->items[i].address));
        if (differs && (!excused || !excused(a->items[i].label, hash))) {
            return a->items[i].label;
        }
        j += !missing;
    }
    return NULL;
}
