/* system.h - functions that stand in for the system's (system.c): what a test tells them. */
#ifndef HEED_TESTS_IO_SYSTEM_H
#define HEED_TESTS_IO_SYSTEM_H

#include <sys/types.h>

enum { MOST = 16, NEVER = -1 };

typedef struct stand_in_system {
    /* F: a file synced, D: a directory, R: a name changed, X: two names exchanged */
    char events[MOST + 1];
    ino_t synced[MOST]; /* of the event */
    int n;
    int fails_at; /* the event that fails */
    int cause;    /* with this errno; 0: EIO */
    int dies_at;  /* the call before which the process is killed, counted in calls that change
                     something */
    const char *appears; /* a directory that another process makes while one is synced */
    const char *arrives; /* a directory that gets the new name just before another one does */
    int clears;          /* not 0: another process removes the old one after an exchange */
    int keeps;           /* not 0: no file can be removed */
    int halting; /* not 0: every second call is interrupted, and the others do 7 bytes at most */
} stand_in_system;

extern stand_in_system stand_in;

/* Begins to note events; the one with this number fails. */
void watch(int fail);
ino_t inode_of(const char *path);

#endif
