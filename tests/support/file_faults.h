/* file_faults.h - a shared library that replaces the system's calls for files (file_calls.c). It
 * counts them, makes one fail, do only a part or be interrupted, kills the process before one, and
 * keeps track of the durable files. A program links it, or runs with it in LD_PRELOAD. */
#ifndef HEED_TESTS_FILE_FAULTS_H
#define HEED_TESTS_FILE_FAULTS_H

#include <stdbool.h>
#include <sys/types.h>

enum { MOST = 16, NEVER = -1 };

/* The kinds of calls, in the order of call_names in file_faults.c */
typedef enum call_kind {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_SYNC,
    CALL_CLOSE,
    CALL_STAT,
    CALL_MKDIR,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_MAP,
    CALL_TRUNCATE,
    CALL_LOCK,
    CALL_MODE,
    CALL_LIST,
    CALL_LINK,
    CALL_ACCESS,
    CALL_KINDS
} call_kind;

typedef enum fault_way {
    FAULT_ONCE,
    FAULT_KIND,  /* it and all later calls of its kind fail */
    FAULT_ALL,   /* it and all later calls fail */
    FAULT_SHORT, /* a read or a write does 1 byte */
    FAULT_KILL   /* the process is killed before it */
} fault_way;

/* A fault at one call, and the calls that were counted */
typedef struct file_faults {
    /* Set by the test */
    bool on;   /* counts calls only if true */
    long at;   /* the call that fails, from 0 on; NEVER */
    int cause; /* with this errno */
    fault_way how;
    long second; /* a later call that fails, too, once; NEVER. faults_end takes it back */

    /* Results */
    long n, hits; /* calls, and those of them that failed */
    long counts[CALL_KINDS];
    call_kind kind;   /* of the first one that failed */
    bool written;     /* it closed a file that had been written to */
    bool cleaning;    /* it, or a later one, was to remove something */
    char call[64];    /* its function */
    char unsafe[160]; /* the first step that a loss of power could turn into a loss; "": none */

    /* The older, smaller set: only the calls that order a save */
    char events[MOST + 1]; /* F: a file synced, D: a directory, R: a name changed, X: two names
                              exchanged */
    ino_t synced[MOST];    /* of the event */
    int n_events;
    int fails_at;    /* the event that fails */
    int event_cause; /* with this errno; 0: EIO */
    int dies_at;     /* the call before which the process is killed, counted in calls that change
                            something */
    const char *appears; /* a directory that another process makes while one is synced */
    const char *arrives; /* a directory that gets the new name just before another one does */
    void (*exchanged)(const char *old); /* another process does this after an exchange */
    void (*opening)(void); /* another process does this, once, before a file is opened through its
                              directory */
    int keeps;             /* not 0: no file can be removed */
    int halting; /* not 0: every second call is interrupted, and the others do 7 bytes at most */
} file_faults;

/* These are visible outside the library, unlike its other names. */
#pragma GCC visibility push(default)

extern file_faults stand_in;

/* Begins to count from 0. at: NEVER counts only. */
void faults_begin(long at, int cause, fault_way how);
void faults_end(void);
/* Returns "" if all writes since faults_begin are durable; otherwise names one that is not. */
const char *faults_unsafe(void);
const char *call_name(call_kind kind);
/* Reports the counts to strace, by a failing call whose path holds them: /heed-faults/open=3,... */
void faults_mark(void);

/* Begins to note events; the one with this number fails. */
void watch(int fail);
ino_t inode_of(const char *path); /* 0: there is none */

#pragma GCC visibility pop

#endif
