/* main.c - tests saves and loads with failing system calls. Each system call for files fails once,
 * or from then on, with each of five errors, or does only a part; and a save is killed before each.
 * In a checkpoint's save or load, any two system calls fail. judge.c checks the state afterwards.
 * usage: faults_files            tries all faults and prints their number
 *        faults_files --marked   runs each call once between marks for strace (check_file_calls) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "support/files.h"

typedef struct attempt {
    int cause;
    fault_way how;
} attempt;

static const attempt attempts[] = {
    {EIO, FAULT_ONCE},    {ENOSPC, FAULT_ONCE}, {EINTR, FAULT_ONCE}, {EACCES, FAULT_ONCE},
    {EMFILE, FAULT_ONCE}, {0, FAULT_SHORT},     {EIO, FAULT_KIND},   {EIO, FAULT_ALL},
};
enum { ATTEMPTS = sizeof attempts / sizeof attempts[0] };

static long faults, kills, pairs;

static const char *describe(const attempt *a, char text[64])
{
    static const char *const ways[] = {"once", "and all of its kind", "and all after it"};
    if (a->how == FAULT_SHORT) {
        return "does one byte";
    }
    snprintf(text, 64, "fails with %s %s", strerror(a->cause), ways[a->how]);
    return text;
}

/* Returns what is wrong with the scenario first, or NULL. `message` has room for it. */
static const char *try_faults(const scenario *s, long calls, char message[2048])
{
    char text[64];
    for (long at = 0; at < calls; at++) {
        for (int i = 0; i < ATTEMPTS; i++) {
            const char *wrong = judge_fault(s, at, attempts[i].cause, attempts[i].how);
            faults += stand_in.hits > 0;
            if (wrong) {
                snprintf(message, 2048, "call %ld (%s) %s: %s", at, stand_in.call,
                         describe(&attempts[i], text), wrong);
                return message;
            }
        }
    }
    return NULL;
}

/* After the first fault the call goes another way, so its calls are counted in that run. */
static const char *try_pairs(const scenario *s, long calls, char message[2048])
{
    for (long first = 0; first < calls && s->checkpoint; first++) {
        judge_fault(s, first, EIO, FAULT_ONCE);
        long then = stand_in.n;
        for (long second = first + 1; second < then; second++) {
            const char *wrong = judge_pair(s, first, second);
            pairs++;
            if (wrong) {
                snprintf(message, 2048, "calls %ld (%s) and %ld fail with EIO: %s", first,
                         stand_in.call, second, wrong);
                return message;
            }
        }
    }
    return NULL;
}

static const char *try_kills(const scenario *s, long calls, char message[2048])
{
    for (long at = 0; at < calls; at++) {
        const char *wrong = judge_kill(s, at);
        kills++;
        if (wrong) {
            snprintf(message, 2048, "killed before call %ld: %s", at, wrong);
            return message;
        }
    }
    return NULL;
}

static const char *try_all(const scenario *s, char message[2048])
{
    const char *wrong;
    long calls = judge_calls(s, &wrong);
    if (!wrong && calls == 0) {
        return "it makes no call";
    }
    wrong = wrong ? wrong : try_faults(s, calls, message);
    wrong = wrong ? wrong : try_kills(s, calls, message);
    return wrong ? wrong : try_pairs(s, calls, message);
}

static int run_marked(void)
{
    for (int i = 0; i < n_scenarios; i++) {
        const char *wrong = judge_marked(&scenarios[i]);
        if (wrong) {
            printf("%s\n", wrong);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

static bool run_scenarios(void)
{
    char message[2048];
    bool ok = true;
    for (int i = 0; i < n_scenarios; i++) {
        const char *wrong = try_all(&scenarios[i], message);
        if (wrong) {
            printf("%s: %s\n", scenarios[i].name, wrong);
            ok = false;
        }
    }
    printf("%ld faults, %ld pairs of faults and %ld kills in %d calls of heed\n", faults, pairs,
           kills, n_scenarios);
    if (ok && (faults < 1000 || pairs < 1000 || kills < 100)) {
        printf("expected at least 1000 faults, 1000 pairs and 100 kills\n");
        ok = false;
    }
    return ok;
}

static bool run_controls(void)
{
    char message[2048];
    int caught = 0;
    for (int i = 0; i < n_controls; i++) {
        const scenario *c = &controls[i];
        const char *wrong = try_all(c, message);
        bool found = c->control ? wrong && strstr(wrong, c->control) : !wrong;
        caught += found;
        if (!found) {
            printf("control '%s': expected '%s', found '%s'\n", c->name,
                   c->control ? c->control : "nothing", wrong ? wrong : "nothing");
        }
    }
    printf("%d of %d controls judged as they should be\n", caught, n_controls);
    return caught == n_controls;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!folder_make() || chdir(temporary("")) != 0) {
        return EXIT_FAILURE;
    }
    bool ok;
    if (argc > 1 && strcmp(argv[1], "--marked") == 0) {
        ok = run_marked() == 0;
    } else {
        ok = run_scenarios();
        ok = run_controls() && ok;
    }
    if (chdir("/") != 0) {
        return EXIT_FAILURE;
    }
    folder_remove();
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
