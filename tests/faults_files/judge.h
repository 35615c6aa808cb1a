/* judge.h - the promises of a call on files, whatever fails in it. main.c says which faults are
 * tried. */
#ifndef HEED_TESTS_FAULTS_FILES_JUDGE_H
#define HEED_TESTS_FAULTS_FILES_JUDGE_H

#include "heed/heed.h"
#include "support/file_faults.h"

/* A call, which begins in an empty folder. Its files have the same bytes each time. */
typedef struct scenario {
    const char *name;
    void (*prepare)(void); /* makes what is there before; NULL: nothing */
    bool (*call)(void);
    bool (*check)(void); /* is what is there after a success what was asked for? NULL: nothing to
                            ask; a load checks in `call` what it has loaded */
    const char *path;    /* one that the messages name; NULL: several */
    bool again;          /* after a success, the same call succeeds again */
    bool checkpoint;     /* the next call removes what is left over */
    const char *control; /* a wrong call: what the judge has to say of it, or a part of that */
} scenario;

extern const scenario scenarios[], controls[];
extern const int n_scenarios, n_controls;

/* How a verdict is reached: lets the call meet one fault. Returns NULL, or what is wrong. */
const char *judge_fault(const scenario *s, long at, int cause, fault_way how);
/* Lets two calls of the system fail with EIO. */
const char *judge_pair(const scenario *s, long first, long second);
/* Kills a process in the call before its n-th call of the system. */
const char *judge_kill(const scenario *s, long at);
/* How many calls of the system it makes; -1 with a message if it fails without a fault. */
long judge_calls(const scenario *s, const char **wrong);

/* With strace: the call between two marks (file_faults.h). */
const char *judge_marked(const scenario *s);

#endif
