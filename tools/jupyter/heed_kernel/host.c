/* host.c - runs the cells of a notebook. The kernel (session.py) compiles each cell to a shared
 * library, and writes its number to a socket.
 *
 * Before each cell the process forks. The child runs the cell. If it comes to the end, it kills its
 * parent, and goes on as the session. If it does not, because of an error, a crash, exit() or an
 * interrupt, the parent goes on, in which nothing has changed. So a cell that fails is undone.
 *
 * The first process watches the kernel, which holds the other end of its standard input. When that
 * end is closed, because the session ends or the kernel is killed, it kills its process group, in
 * which all processes of the session are, also those that cells have forked.
 *
 * The lines to the kernel: "run PID" as a cell begins, then "done", or "ended STATUS LINE". The
 * value of the last line, or the text of an error, is in the file FOLDER/shown, after a line with
 * its kind. */
#define _GNU_SOURCE
#include "cell.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

volatile int *heed_line;
static int control;
static const char *folder;

/* ---------------------------------------------------------------- values */

void heed_show(const char *kind, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/shown", folder);
    FILE *f = fopen(path, "w");
    if (f) {
        fprintf(f, "%s\n%s", kind, text ? text : "NULL");
        fclose(f);
    }
}

const char *heed_bool(bool v)
{
    return v ? "true" : "false";
}

const char *heed_integer(intmax_t v)
{
    static char text[32];
    snprintf(text, sizeof text, "%jd", v);
    return text;
}

const char *heed_unsigned(uintmax_t v)
{
    static char text[32];
    snprintf(text, sizeof text, "%ju", v);
    return text;
}

const char *heed_text(const char *v)
{
    return v;
}

const char *heed_pointer(const volatile void *v)
{
    return v ? "a pointer to something that the kernel does not show" : "NULL";
}

/* ---------------------------------------------------------------- cells */

/* Ends a cell with its first error. */
static void stop(hd_code code, const char *message, void *user)
{
    (void)user;
    char text[2048];
    snprintf(text, sizeof text, "%s: %s", hd_code_name(code), message);
    heed_show("error", text);
    fflush(NULL);
    _exit(1);
}

static void run_cell(int number)
{
    char path[4096], name[32];
    snprintf(path, sizeof path, "%s/cell_%d.so", folder, number);
    snprintf(name, sizeof name, "cell_%d", number);
    *heed_line = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void (*run)(void) = NULL;
    if (library) {
        *(void **)&run = dlsym(library, name);
    }
    if (!run) {
        heed_show("error", dlerror());
        _exit(1);
    }
    run();
    if (hd_error_code() != HD_OK) { /* the cell has set another handler */
        stop(hd_error_code(), hd_error_message(), NULL);
    }
    fflush(NULL);
}

/* Runs the cells whose numbers the kernel writes. */
static void run_cells(FILE *numbers)
{
    char line[32];
    while (fgets(line, sizeof line, numbers)) {
        pid_t parent = getpid(), child = fork();
        int status = 0;
        if (child == 0) {
            signal(SIGINT, SIG_DFL);
            dprintf(control, "run %d\n", (int)getpid());
            run_cell(atoi(line));
            signal(SIGINT, SIG_IGN); /* an interrupt is for a cell alone */
            kill(parent, SIGKILL);
            dprintf(control, "done\n");
            continue;
        }
        if (child < 0) {
            heed_show("error", strerror(errno));
        } else {
            waitpid(child, &status, 0);
        }
        dprintf(control, "ended %d %d\n", status, *heed_line);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    control = atoi(argv[1]);
    folder = argv[2];
    heed_line =
        mmap(NULL, sizeof *heed_line, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (heed_line == MAP_FAILED) {
        return 1;
    }
    signal(SIGINT, SIG_IGN);
    setpgid(0, 0);
#ifdef __linux__
    /* The process below takes over the children of parents that are gone. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    if (fork() != 0) {
        char byte;
        close(control);
        signal(SIGCHLD, SIG_IGN); /* the system forgets the children that have ended */
        while (read(STDIN_FILENO, &byte, 1) > 0) {
        }
        kill(0, SIGKILL);
    }
    if (!freopen("/dev/null", "r", stdin)) {
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    hd_on_error(stop, NULL);
    hd_on_warning(hd_warning_print, NULL);
    run_cells(fdopen(control, "r"));
    return 0;
}
