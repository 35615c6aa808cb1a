/* judge.c - makes a call fail and checks the state afterwards: the files are the old ones or the
 * new ones, complete; there is no other file; no open file, mapping or memory is left; the message
 * names the path and the cause; and a second call succeeds. */
#include "judge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HIDDEN = 8, NAME = 256, TEXT = 1024 };

/* What is in the folder: a hash of all names, permissions and bytes, and the hidden names that are
 * left over. */
typedef struct state {
    uint64_t hash;
    int hidden;
    char names[HIDDEN][NAME];
} state;

static char verdict[TEXT];
static uint64_t old_hash, new_hash; /* of the scenario that judge_calls was last asked for */
static char warning[TEXT];

static const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *wrong(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(verdict, sizeof verdict, format, list);
    va_end(list);
    return verdict;
}

/* ---------------------------------------------------------------- the folder */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ b[i]) * 0x100000001b3;
    }
    return h;
}

static uint64_t hash_file(uint64_t h, const char *path)
{
    char bytes[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    for (ssize_t n; fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0;) {
        h = hash_bytes(h, bytes, (size_t)n);
    }
    if (fd >= 0) {
        close(fd);
    }
    return h;
}

/* Names come in any order, so the hashes of names are added. */
static uint64_t hash_folder(const char *path, state *s)
{
    uint64_t sum = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char inner[2 * NAME];
        struct stat st;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(inner, &st) != 0) {
            continue;
        }
        if (s && strncmp(e->d_name, ".heed-", 6) == 0) {
            snprintf(s->names[s->hidden % HIDDEN], NAME, "%s", e->d_name);
            s->hidden++;
            continue;
        }
        uint64_t h = hash_bytes(0xcbf29ce484222325, e->d_name, strlen(e->d_name) + 1);
        h = h * 4096 + (st.st_mode & 07777);
        h = S_ISDIR(st.st_mode) ? h * 31 + hash_folder(inner, NULL) : hash_file(h, inner);
        sum += hash_bytes(h, "", 1);
    }
    if (dir) {
        closedir(dir);
    }
    return sum;
}

static state look(void)
{
    state s = {0};
    s.hash = hash_folder(".", &s);
    return s;
}

static void clear(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char inner[2 * NAME];
        struct stat st;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && lstat(inner, &st) == 0) {
            if (S_ISDIR(st.st_mode)) {
                clear(inner);
                rmdir(inner);
            } else {
                unlink(inner);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static void begin(const scenario *s)
{
    clear(".");
    hd_error_clear();
    if (s->prepare) {
        s->prepare();
    }
    warning[0] = '\0';
}

/* ---------------------------------------------------------------- what a process holds */

typedef struct holdings {
    int files, mappings;
    int64_t bytes, tensors;
} holdings;

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) {
        n++;
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

/* The files of the folder that are mapped. */
static int mapped_files(void)
{
    char line[1024], here[NAME];
    int n = 0;
    FILE *f = getcwd(here, sizeof here) ? fopen("/proc/self/maps", "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        n += strstr(line, here) != NULL;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static holdings held(void)
{
    return (holdings){open_files(), mapped_files(), hd_bytes_live(), hd_tensor_count()};
}

static const char *check_held(holdings before)
{
    holdings now = held();
    if (now.files != before.files) {
        return wrong("%d files are open, before it were %d", now.files, before.files);
    }
    if (now.mappings != before.mappings) {
        return wrong("%d files are mapped, before it were %d", now.mappings, before.mappings);
    }
    if (now.bytes != before.bytes || now.tensors != before.tensors) {
        return wrong("%lld bytes are live, before it were %lld", (long long)now.bytes,
                     (long long)before.bytes);
    }
    return NULL;
}

/* ---------------------------------------------------------------- judging */

static void hear(const char *message, void *user)
{
    (void)user;
    snprintf(warning, sizeof warning, "%s", message);
}

static bool call_heard(const scenario *s)
{
    hd_on_warning(hear, NULL);
    bool ok = s->call();
    hd_on_warning(NULL, NULL);
    return ok;
}

long judge_calls(const scenario *s, const char **what)
{
    begin(s);
    call_heard(s); /* what is read only once in a process has been read then */
    begin(s);
    old_hash = look().hash;
    faults_begin(NEVER, 0, FAULT_ONCE);
    bool ok = call_heard(s);
    faults_end();
    state after = look();
    new_hash = after.hash;
    *what = !ok                       ? wrong("it fails without a fault: %s", hd_error_message())
            : faults_unsafe()[0]      ? wrong("%s", faults_unsafe())
            : s->check && !s->check() ? wrong("what was saved is not what was given")
            : after.hidden > 0        ? wrong("it leaves %s", after.names[0])
                                      : NULL;
    return stand_in.n;
}

const char *judge_marked(const scenario *s)
{
    begin(s);
    faults_begin(NEVER, 0, FAULT_ONCE);
    faults_mark();
    bool ok = call_heard(s);
    faults_mark();
    faults_end();
    return ok ? NULL : wrong("%s: it fails without a fault: %s", s->name, hd_error_message());
}

static bool named(const char *text, const char *name)
{
    return strstr(text, name) != NULL;
}

/* Is the message one that tells what was wrong where? */
static const char *check_message(const scenario *s, int cause)
{
    const char *message = hd_error_message();
    if (hd_error_code() != HD_IO) {
        return wrong("the error is %s: %s", hd_code_name(hd_error_code()), message);
    }
    if (!named(message, strerror(cause))) {
        return wrong("the message does not name the cause '%s': %s", strerror(cause), message);
    }
    return !s->path || named(message, s->path)
               ? NULL
               : wrong("the message does not name '%s': %s", s->path, message);
}

/* Hidden names may be left over only if removing them fails too, and then a message names them. */
static const char *check_hidden(const state *before, const state *after, fault_way how)
{
    for (int i = 0; i < after->hidden && how == FAULT_ONCE; i++) {
        const char *name = after->names[i];
        bool old = false;
        for (int k = 0; k < before->hidden; k++) {
            old = old || strcmp(before->names[k], name) == 0;
        }
        if (!old && !named(warning, name) && !named(hd_error_message(), name)) {
            return wrong("it leaves '%s', and no message says so: %s", name, hd_error_message());
        }
    }
    return NULL;
}

/* After a success. */
static const char *check_done(const scenario *s, const state *after)
{
    const char *unsafe = faults_unsafe();
    if (hd_error_code() != HD_OK) {
        return wrong("it succeeds with an error: %s", hd_error_message());
    }
    if (after->hash != new_hash) {
        return wrong("it succeeds, and the files are not the new ones");
    }
    if (s->check && !s->check()) {
        return wrong("what was saved is not what was given");
    }
    if (stand_in.kind == CALL_CLOSE && stand_in.written && stand_in.cause != EINTR &&
        stand_in.hits > 0) {
        return wrong("the close of a written file failed, and the call succeeded");
    }
    return unsafe[0] ? wrong("%s", unsafe) : NULL;
}

/* The same call again, without a fault. `done`: it has succeeded already, or killed after that. */
static const char *check_again(const scenario *s, bool done)
{
    hd_error_clear();
    if (!done || s->again) {
        if (!call_heard(s)) {
            return wrong("afterwards it fails without a fault: %s", hd_error_message());
        }
    }
    state after = look();
    if (after.hash != new_hash) {
        return wrong("afterwards it succeeds without a fault, and the files are not the new ones");
    }
    if (after.hidden > 0 && (!done || s->again)) {
        return wrong("afterwards '%s' is still there", after.names[0]);
    }
    return NULL;
}

/* A save that has failed after its checkpoint got its name: a second one finds the name taken. */
static bool stands(const scenario *s, const state *after)
{
    return !s->again && s->checkpoint && after->hash == new_hash && old_hash != new_hash &&
           strstr(s->name, "save");
}

/* A fault that a second attempt overcomes. */
static bool harmless(int cause, fault_way how)
{
    return how == FAULT_SHORT || cause == EINTR;
}

const char *judge_fault(const scenario *s, long at, int cause, fault_way how)
{
    begin(s);
    holdings before = held();
    state was = look();
    faults_begin(at, cause, how);
    bool ok = call_heard(s);
    faults_end();
    state after = look();
    const char *bad = NULL;
    if (!ok && harmless(cause, how)) {
        bad = wrong("it fails by a part or an interruption: %s", hd_error_message());
    } else if (!ok && after.hash != old_hash && after.hash != new_hash) {
        bad = wrong("what is left is neither the old nor the new: %s", hd_error_message());
    } else {
        bad = ok ? check_done(s, &after) : check_message(s, cause);
    }
    bad = bad ? bad : check_hidden(&was, &after, how);
    bad = bad ? bad : check_held(before);
    /* A failure that leaves the new files has come after them, when a directory is synced. */
    bool done = ok || (!s->again && after.hash == new_hash && after.hidden == 0);
    return bad ? bad : check_again(s, done || stands(s, &after));
}

const char *judge_pair(const scenario *s, long first, long second)
{
    stand_in.second = second;
    return judge_fault(s, first, EIO, FAULT_ONCE);
}

const char *judge_kill(const scenario *s, long at)
{
    int status = 0;
    begin(s);
    pid_t child = fork();
    if (child == 0) {
        faults_begin(at, 0, FAULT_KILL);
        s->call();
        _exit(7);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return wrong("no process: %s", strerror(errno));
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        return wrong("it was not killed, and ends with %d", status);
    }
    state after = look();
    if (after.hash != old_hash && after.hash != new_hash) {
        return wrong("what is left is neither the old nor the new");
    }
    bool done = !s->again && after.hash == new_hash && after.hidden == 0;
    return check_again(s, done || stands(s, &after));
}
