/* test_replace.c - tests that hd_checkpoint_replace leaves the old checkpoint or the new one,
 * complete, at any time: whichever call fails, wherever the process is killed, and for a program
 * that loads meanwhile. Linux only. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "io/checkpoint.h"
#include "suites.h"
#include "support/file_faults.h"

#ifdef __linux__

/* A checkpoint whose model and state both have this number. */
static bool replace(const char *dir, int value)
{
    HD_SCOPE;
    hd_dict *model = hd_dict_new(), *state = hd_dict_new();
    bool ok = hd_dict_set(model, "w", hd_full(HD_FLOAT32, value, 3)) &&
              hd_dict_set_int(state, "step", value) && hd_checkpoint_replace(dir, model, state);
    hd_dict_free(model);
    hd_dict_free(state);
    return ok;
}

/* The number; model and state must have the same one. */
static int loaded(const char *dir)
{
    hd_dict *model = NULL, *state = NULL;
    int64_t step = 0;
    ck_assert_msg(hd_checkpoint_load(dir, &model, &state), "%s", hd_error_message());
    ck_assert(hd_dict_get_int(state, "step", &step));
    ck_elements(hd_dict_get(model, "w"), (double)step, (double)step, (double)step);
    hd_dict_free(model);
    hd_dict_free(state);
    return (int)step;
}

static void refuses(const char *dir, hd_code code, const char *message)
{
    ck_assert(!replace(dir, 9));
    ck_error(code, message);
}

/* ---------------------------------------------------------------- what it does */

START_TEST(a_new_name_or_an_old_one)
{
    ck_assert(replace("c", 1)); /* as hd_checkpoint_save */
    ck_assert_int_eq(loaded("c"), 1);
    ino_t before = inode_of("c");
    ck_assert(replace("c", 2));
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert_uint_ne(inode_of("c"), before);
    ck_assert(replace("c/", 3)); /* the slash that a shell adds */
    ck_assert_int_eq(loaded("c"), 3);
    write_file("c/config.json", "{}", 2);
    ck_assert(replace("./c", 4));
    ck_assert_int_eq(loaded("c"), 4);
    ck_assert_int_ne(access("c/config.json", F_OK), 0);
    ck_assert_int_eq(files_in("c"), 2);
    ck_assert_int_eq(mkdir("d", 0777), 0);
    ck_assert(replace("d/c", 5) && replace("d/c", 6));
    ck_assert_int_eq(loaded("d/c"), 6);
    ck_assert_int_eq(files_in("d"), 1);
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

static unsigned mode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_mode & 07777;
}

START_TEST(permissions_stay)
{
    mode_t mask = umask(022);
    ck_assert(replace("c", 1));
    ck_assert_uint_eq(mode_of("c"), 0755);
    ck_assert_uint_eq(mode_of("c/model.safetensors"), 0644);
    ck_assert_int_eq(chmod("c", 0700), 0);
    ck_assert_int_eq(chmod("c/state.safetensors", 0600), 0);
    ck_assert(replace("c", 2));
    ck_assert_uint_eq(mode_of("c"), 0700);
    ck_assert_uint_eq(mode_of("c/model.safetensors"), 0644);
    ck_assert_uint_eq(mode_of("c/state.safetensors"), 0600);
    ck_assert_int_eq(chmod("c", 0775), 0);
    ck_assert(replace("c", 3));
    ck_assert_uint_eq(mode_of("c"), 0775);
    umask(mask);
    ck_assert_int_eq(loaded("c"), 3);
}
END_TEST

/* What is replaced and removed is read-only for its owner, whom permissions bind. */
START_TEST(a_read_only_one)
{
    warnings_expected();
    char name[256];
    ck_assert_int_eq(chmod(".", 0777), 0);
    if (!as_nobody()) {
        return;
    }
    ck_assert(replace("c", 1));
    for (int i = 2; i < 5; i++) {
        ck_assert_int_eq(chmod("c", 0555), 0);
        ck_assert_msg(replace("c", i), "%s", hd_error_message());
        ck_assert_uint_eq(mode_of("c"), 0555);
        ck_assert_int_eq(loaded("c"), i);
        ck_assert_int_eq(files_in("."), 1);
    }
    stand_in.keeps = 1; /* a left-over that is read-only */
    ck_assert(replace("c", 5));
    stand_in.keeps = 0;
    left_over(name);
    ck_assert_int_eq(chmod(name, 0555), 0);
    ck_assert(replace("c", 6));
    ck_assert_int_eq(files_in("."), 1);
    ck_assert_uint_eq(mode_of("c"), 0555);
    ck_assert_msg(hd_checkpoint_remove("c"), "%s", hd_error_message());
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

START_TEST(the_longest_name)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    ck_assert_msg(replace(name, 1) && replace(name, 2), "%s", hd_error_message());
    ck_assert_int_eq(loaded(name), 2);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

START_TEST(order_of_calls)
{
    watch(NEVER);
    ck_assert(replace("c", 1));
    ck_assert_str_eq(stand_in.events, "FRDFRDRD");
    watch(NEVER);
    ck_assert(replace("c", 2));
    ck_assert_str_eq(stand_in.events, "FRDFRDXD");
    ck_assert_uint_eq(stand_in.synced[0], inode_of("c/model.safetensors"));
    ck_assert_uint_eq(stand_in.synced[3], inode_of("c/state.safetensors"));
    ck_assert_uint_eq(stand_in.synced[5], inode_of("c"));
    ck_assert_uint_eq(stand_in.synced[7], inode_of("."));
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

START_TEST(only_a_checkpoint_is_replaced)
{
    ck_assert(replace("c", 1));
    ck_assert_int_eq(symlink("c", "last"), 0);
    refuses("last", HD_FORMAT,
            "hd_checkpoint_replace: 'last' is a symbolic link: expected the checkpoint's own "
            "path");
    refuses("last/", HD_IO,
            "hd_checkpoint_replace: 'last/': cannot exchange it with the new directory: Not a "
            "directory");
    refuses("c/.", HD_VALUE,
            "hd_checkpoint_replace: 'c/.' ends in '.': expected the checkpoint's own name");
    refuses(".", HD_VALUE,
            "hd_checkpoint_replace: '.' ends in '.': expected the checkpoint's own name");
    refuses("c/..//", HD_VALUE,
            "hd_checkpoint_replace: 'c/..//' ends in '..': expected the checkpoint's own name");
    ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
    refuses("dangling", HD_FORMAT,
            "hd_checkpoint_replace: 'dangling' is a symbolic link: expected the checkpoint's own "
            "path");
    write_file("file", "text", 4);
    refuses("file", HD_FORMAT,
            "hd_checkpoint_replace: 'file' holds no model.safetensors: expected a checkpoint");
    ck_assert_int_eq(mkdir("empty", 0777), 0);
    refuses("empty", HD_FORMAT,
            "hd_checkpoint_replace: 'empty' holds no model.safetensors: expected a checkpoint");
    ck_assert_int_eq(mkdir("c/notes", 0777), 0);
    refuses("c", HD_FORMAT,
            "hd_checkpoint_replace: 'c' holds the directory 'notes': expected files");
    refuses("none/c", HD_IO,
            "hd_checkpoint_replace: 'none/c': the folder 'none' does not exist. Create it first");
    hd_error_set(HD_USER, "the first error");
    refuses("c", HD_USER, "the first error");
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set_int(d, "step", 1));
    ck_assert(!hd_checkpoint_replace("c", d, d));
    ck_error(HD_VALUE, "hd_checkpoint_replace: model: 'step' is not a tensor: expected only "
                       "tensors. Put other values into state");
    hd_dict_free(d);
    ck_assert_int_eq(loaded("c"), 1);
    ck_assert_int_eq(files_in("."), 5);
}
END_TEST

/* ---------------------------------------------------------------- failures */

START_TEST(each_call_fails)
{
    static const char steps[] = "FRDFRDXD";
    ck_assert(replace("c", 1));
    ino_t before = inode_of("c");
    for (int fail = 0; steps[fail]; fail++) {
        watch(fail);
        ck_assert(!replace("c", 2));
        ck_assert_int_eq(hd_error_code(), HD_IO);
        hd_error_clear();
        watch(NEVER);
        ck_assert_int_eq(loaded("c"), 1);
        ck_assert_uint_eq(inode_of("c"), before);
        ck_assert_int_eq(files_in("."), 1);
    }
}
END_TEST

START_TEST(a_system_that_cannot_exchange)
{
    static const int causes[] = {ENOSYS, EINVAL, ENOTSUP};
    ck_assert(replace("c", 1));
    for (int i = 0; i < 3; i++) {
        stand_in.event_cause = causes[i];
        watch(6);
        refuses("c", HD_IO,
                "hd_checkpoint_replace: 'c': this file system cannot exchange two names, so "
                "nothing was changed. Use hd_checkpoint_save with a new name, then "
                "hd_checkpoint_remove");
        ck_assert_int_eq(loaded("c"), 1);
        ck_assert_int_eq(files_in("."), 1);
    }
    stand_in.event_cause = 0;
    watch(6);
    refuses("c", HD_IO,
            sized("hd_checkpoint_replace: 'c': cannot exchange it with the new directory: %s",
                  strerror(EIO)));
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

/* The new checkpoint stands; the next call removes what is left. */
START_TEST(a_file_system_without_modes)
{
    warnings_expected();
    static const int causes[] = {EPERM, ENOTSUP, ENOSYS};
    int modes = 0;
    ck_assert(replace("c", 1));
    for (int i = 0; i < 3; i++) {
        long at = 0;
        do {
            faults_begin(at++, causes[i], FAULT_ONCE);
            bool ok = replace("c", 2);
            faults_end();
            hd_error_clear();
            ck_assert(ok || stand_in.kind != CALL_MODE);
            modes += stand_in.hits > 0 && stand_in.kind == CALL_MODE;
        } while (stand_in.hits > 0);
    }
    ck_assert_int_ge(modes, 3);
    ck_assert_int_eq(loaded("c"), 2);
}
END_TEST

START_TEST(the_old_one_cannot_be_removed)
{
    char message[512], name[256];
    warnings_heard heard = {0, ""};
    ck_assert(replace("c", 1));
    stand_in.keeps = 1;
    hd_on_warning(hear_warning, &heard);
    ck_assert(replace("c", 2));
    hd_on_warning(NULL, NULL);
    stand_in.keeps = 0;
    left_over(name);
    snprintf(message, sizeof message,
             "hd_checkpoint_replace: the old checkpoint of 'c' is left as './%s', because removing "
             "it failed: Permission denied. The next call tries again; "
             "you may also remove it yourself",
             name);
    ck_assert_str_eq(heard.last, message);
    ck_assert_int_eq(heard.count, 1);
    ck_no_error();
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert_int_eq(loaded(name), 1);
    ck_assert(replace("c", 3));
    ck_assert_int_eq(loaded("c"), 3);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

static void clear_directory(const char *path)
{
    hd__folder_directory_clear(hd__sys_open_directory(path, false), path, hd__checkpoint_files);
}

START_TEST(another_removes_the_old_one)
{
    warnings_heard heard = {0, ""};
    ck_assert(replace("c", 1));
    hd_on_warning(hear_warning, &heard);
    stand_in.exchanged = clear_directory;
    ck_assert(replace("c", 2));
    stand_in.exchanged = NULL;
    hd_on_warning(NULL, NULL);
    ck_assert_msg(heard.count == 0, "%s", heard.last);
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

/* Another call, which began before, replaces the new one at once and removes it. */
static void replace_again(const char *old)
{
    (void)old;
    stand_in.exchanged = NULL;
    ck_assert_int_eq(hd__sys_exchange("other", "c"), 0);
    clear_directory("other");
}

/* What the other call has reported as replaced stays, though this one's last step fails. */
START_TEST(another_replaces_the_new_one)
{
    char message[512], name[256];
    ck_assert(replace("c", 1) && replace("other", 3));
    watch(8); /* this one's 7 and the other one's exchange, and then the sync of the directory */
    stand_in.exchanged = replace_again;
    ck_assert(!replace("c", 2));
    ck_assert_str_eq(stand_in.events, "FRDFRDXXD");
    left_over(name);
    snprintf(
        message, sizeof message,
        "hd_checkpoint_replace: 'c' is replaced, but a crash may undo that, because its directory "
        "cannot be synced: %s. The old one is left as './%s', and the next call removes it",
        strerror(EIO), name);
    ck_error(HD_IO, message);
    ck_assert_int_eq(loaded("c"), 3);
    ck_assert_int_eq(loaded(name), 1);
    watch(NEVER);
    ck_assert(replace("c", 4));
    ck_assert_int_eq(loaded("c"), 4);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

/* ---------------------------------------------------------------- a process that is killed */

/* Replaces c in a child that is killed before call n of those that change something. Returns
 * whether it came to its end before. */
static bool killed_at(int n, int value)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        stand_in.dies_at = n;
        _exit(replace("c", value) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    bool ended = WIFEXITED(status);
    ck_assert(ended ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
    return ended;
}

/* Up to the exchange it is the old one, and from then on the new one. */
START_TEST(killed_at_every_call)
{
    int calls = 0, exchanged = NEVER;
    ck_assert(replace("c", 1));
    for (bool ended = false; !ended; calls++) {
        ended = killed_at(calls, 2);
        int value = loaded("c");
        exchanged = value == 2 && exchanged == NEVER ? calls : exchanged;
        ck_assert_int_eq(value, exchanged == NEVER ? 1 : 2);
        ck_assert_int_eq(files_in("."), ended || calls == 0 ? 1 : 2);
        ck_assert(replace("c", 1)); /* removes what the killed one has left */
        ck_assert_int_eq(loaded("c"), 1);
        ck_assert_int_eq(files_in("."), 1);
    }
    ck_assert_int_ge(exchanged, 10);
    ck_assert_int_ge(calls - exchanged, 4); /* the sync, two files and the directory */
}
END_TEST

START_TEST(killed_before_there_is_one)
{
    int calls = 0, none = 0;
    for (bool ended = false; !ended; calls++) {
        ended = killed_at(calls, 2);
        if (access("c", F_OK) == 0) {
            ck_assert_int_eq(loaded("c"), 2);
            ck_assert(hd_checkpoint_remove("c"));
        } else {
            none++;
        }
        ck_assert(replace("c", 3));
        ck_assert_int_eq(loaded("c"), 3);
        ck_assert_int_eq(files_in("."), 1);
        ck_assert(hd_checkpoint_remove("c"));
    }
    ck_assert_int_ge(none, 10);
    ck_assert_int_ge(calls - none, 2);
}
END_TEST

/* What a living process fills is left alone, as are directories of other checkpoints and links. */
START_TEST(only_what_is_left_over_is_removed)
{
    char name[256];
    ck_assert(replace("c", 1));
    ck_assert(!killed_at(10, 2));
    left_over(name);
    int files = files_in(name), fd = open(name, O_RDONLY | O_DIRECTORY);
    ck_assert_int_gt(files, 0);
    ck_assert_int_eq(hd__sys_lock(fd), 0);
    ck_assert(replace("c", 2));
    ck_assert_int_eq(files_in(name), files);
    close(fd);
    ck_assert(replace("other", 1)); /* has a prefix of its own */
    ck_assert_int_eq(files_in(name), files);
    ck_assert_int_eq(rename(name, "away"), 0);
    ck_assert_int_eq(symlink("away", name), 0);
    ck_assert(replace("c", 3));
    ck_assert_int_eq(files_in("away"), files);
    ck_assert_int_eq(unlink(name), 0);
    write_file(name, "x", 1);
    ck_assert(replace("c", 4));
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(mkfifo(name, 0600), 0); /* to open it would wait for a writer */
    ck_assert(replace("c", 5));
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(rename("away", name), 0);
    if (geteuid() == 0) { /* another user's */
        ck_assert_int_eq(chown(name, 65534, (gid_t)-1), 0);
        ck_assert(replace("c", 6));
        ck_assert_int_eq(files_in(name), files);
        ck_assert_int_eq(chown(name, 0, (gid_t)-1), 0);
    }
    ck_assert(replace("c", 7));
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

/* Without a standard input, the first file that is opened has the number 0. */
START_TEST(files_may_have_the_number_0)
{
    ck_assert_int_eq(close(STDIN_FILENO), 0);
    ck_assert(replace("c", 1));
    ck_assert(replace("c", 2));
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert_int_eq(files_in("."), 1);
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_int_eq(files_in("."), 0);
    ck_assert_int_eq(open("/dev/null", O_RDONLY), STDIN_FILENO); /* every file was closed */
}
END_TEST

/* ---------------------------------------------------------------- at the same time */

enum { CHANGES = 40 };

static pid_t write_until_told(int from)
{
    pid_t child = fork();
    if (child == 0) {
        bool ok = true;
        for (int i = 0; ok && access("stop", F_OK) != 0; i = (i + 1) % 1000) {
            ok = replace("c", from + i);
        }
        _exit(ok ? 0 : 1);
    }
    return child;
}

/* Two processes replace it, and this one finds a whole checkpoint at every moment. */
START_TEST(loaded_while_it_is_replaced)
{
    ck_assert(replace("c", 0));
    pid_t writers[] = {write_until_told(1), write_until_told(1001)};
    for (int seen = 0, last = 0; seen < CHANGES;) {
        int value = loaded("c");
        seen += value != last;
        last = value;
    }
    write_file("stop", "", 0);
    for (int i = 0; i < 2; i++) {
        int status = 0;
        ck_assert_int_eq(waitpid(writers[i], &status, 0), writers[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_int_eq(files_in("."), 2);
}
END_TEST

/* Another one comes first, after the call has seen that there is none. */
START_TEST(another_comes_first)
{
    ck_assert(replace("other", 1));
    stand_in.arrives = "other";
    ck_assert_msg(replace("c", 2), "%s", hd_error_message());
    ck_assert_ptr_null(stand_in.arrives);
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert_int_eq(files_in("."), 1);
}
END_TEST

static void replace_now(void)
{
    ck_assert(replace("c", 2));
}

static void remove_now(void)
{
    ck_assert(hd_checkpoint_remove("c"));
}

/* Another one replaces, or removes, the checkpoint after a load has opened its directory. */
START_TEST(replaced_while_it_is_opened)
{
    ck_assert(replace("c", 1));
    stand_in.opening = replace_now;
    ck_assert_int_eq(loaded("c"), 2);
    ck_assert(!stand_in.opening);

    hd_dict *model, *state;
    stand_in.opening = remove_now;
    ck_assert(!hd_checkpoint_load("c", &model, &state));
    ck_error(HD_IO, "hd_checkpoint_load: 'c/model.safetensors': cannot open: No such file or "
                    "directory");
    ck_assert(!model && !state);
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

/* What another process may do at any moment: a name is gone (ENOENT) or taken (EEXIST, ENOTEMPTY).
 * And a file system may have no modes (EPERM, ENOTSUP, ENOSYS). Each of these at each call. */
START_TEST(names_that_come_and_go)
{
    warnings_expected();
    static const int causes[] = {ENOENT, EEXIST, ENOTEMPTY, EPERM, ENOTSUP, ENOSYS};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        ck_assert(replace("c", 1));
        faults_begin(NEVER, 0, FAULT_ONCE);
        ck_assert(replace("c", 1));
        faults_end();
        long n = stand_in.n;
        for (long at = 0; at < n; at++) {
            ck_assert(replace("c", 1));
            faults_begin(at, causes[i], FAULT_ONCE);
            bool ok = replace("c", 2);
            faults_end();
            ck_assert_int_eq(stand_in.hits, 1);
            ck_assert_msg(ok || hd_error_code() == HD_IO || hd_error_code() == HD_FORMAT,
                          "%s at %s: %s", strerror(causes[i]), stand_in.call, hd_error_message());
            hd_error_clear();
            ck_assert_msg(loaded("c") == (ok ? 2 : 1), "%s at %s", strerror(causes[i]),
                          stand_in.call);
            ck_assert(replace("c", 3) && hd_checkpoint_remove("c"));
            ck_assert_int_eq(files_in("."), 0);
        }
        ck_assert_int_gt(n, 30);
    }
}
END_TEST

/* A file system without modes: every call that sets one fails. */
START_TEST(a_system_without_modes)
{
    warnings_expected();
    static const int causes[] = {EPERM, ENOTSUP, ENOSYS};
    for (int i = 0; i < 3; i++) {
        ck_assert(replace("c", 1));
        faults_begin(NEVER, 0, FAULT_ONCE);
        ck_assert(replace("c", 1));
        long at = 0, all = stand_in.n;
        do {
            faults_begin(at++, causes[i], FAULT_KIND);
            ck_assert_msg(replace("c", 2) || stand_in.kind != CALL_MODE, "%s", hd_error_message());
            faults_end();
            hd_error_clear();
        } while (at < all && stand_in.kind != CALL_MODE);
        ck_assert_int_eq(stand_in.kind, CALL_MODE);
        ck_assert_int_gt(stand_in.hits, 1);
        ck_assert_int_eq(loaded("c"), 2);
        ck_assert(hd_checkpoint_remove("c"));
    }
}
END_TEST

/* Both writers may find that there is none yet. */
START_TEST(two_make_the_first_one)
{
    for (int i = 0; i < 20; i++) {
        int status[2];
        pid_t writers[2];
        for (int k = 0; k < 2; k++) {
            writers[k] = fork();
            if (writers[k] == 0) {
                _exit(replace("c", k + 1) ? 0 : 1);
            }
        }
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(waitpid(writers[k], &status[k], 0), writers[k]);
            ck_assert(WIFEXITED(status[k]) && WEXITSTATUS(status[k]) == 0);
        }
        ck_assert_int_ge(loaded("c"), 1);
        ck_assert_int_eq(files_in("."), 1);
        ck_assert(hd_checkpoint_remove("c"));
    }
}
END_TEST

Suite *suite_replace(void)
{
    const TTest *const tests[] = {
        a_new_name_or_an_old_one,
        permissions_stay,
        a_read_only_one,
        the_longest_name,
        order_of_calls,
        only_a_checkpoint_is_replaced,
        each_call_fails,
        a_system_that_cannot_exchange,
        a_file_system_without_modes,
        the_old_one_cannot_be_removed,
        another_removes_the_old_one,
        another_replaces_the_new_one,
        killed_at_every_call,
        killed_before_there_is_one,
        only_what_is_left_over_is_removed,
        files_may_have_the_number_0,
        loaded_while_it_is_replaced,
        another_comes_first,
        replaced_while_it_is_opened,
        names_that_come_and_go,
        a_system_without_modes,
        two_make_the_first_one,
    };
    return SUITE("replace", tests);
}

#else

Suite *suite_replace(void)
{
    return suite_create("replace");
}

#endif
