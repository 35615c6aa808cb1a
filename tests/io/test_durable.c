/* test_durable.c - tests the system calls of a save and their order: the new file is synced before
 * it gets its name, and the directory after; the files that are left when one of these fails; and
 * calls that are interrupted or do a part. Linux only. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "suites.h"
#include "support/file_faults.h"

#ifdef __linux__

START_TEST(calls_that_do_a_part)
{
    hd_dict *d = roundtrip_dict();
    ck_assert(hd_save_safetensors("whole", d));
    stand_in.halting = 1;
    ck_assert_msg(hd_save_safetensors("parts", d), "%s", hd_error_message());
    hd_dict *e = hd_load_safetensors("whole", NULL);
    ck_assert_msg(e, "%s", hd_error_message());
    ck_assert_int_gt(stand_in.halting, 100);
    stand_in.halting = 0;
    ck_assert(hd_save_safetensors("again", e));
    ck_assert(same_files("whole", "parts"));
    ck_assert(same_files("whole", "again"));
    hd_dict_free(d);
    hd_dict_free(e);
}
END_TEST

/* ---------------------------------------------------------------- files */

static bool save_safetensors(hd_tensor *x)
{
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "w", x));
    bool ok = hd_save_safetensors("a/x", d);
    hd_dict_free(d);
    return ok;
}

static bool save_npy(hd_tensor *x)
{
    return hd_save_npy("a/x", x);
}

/* Each step fails once; until the last one succeeds the old file is still there. */
static void check_file(bool (*save)(hd_tensor *x))
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3), *y = hd_zeros(HD_FLOAT32, 5);
    ck_assert_int_eq(mkdir("a", 0777), 0);
    for (int fail = 0; fail < 3; fail++) {
        watch(NEVER);
        ck_assert(save(x));
        ck_assert_str_eq(stand_in.events, "FRD");
        ck_assert_uint_eq(stand_in.synced[0], inode_of("a/x"));
        ck_assert_uint_eq(stand_in.synced[2], inode_of("a"));
        ck_assert_int_eq(link("a/x", "old"), 0);
        watch(fail);
        ck_assert(!save(y));
        ck_assert_int_eq(hd_error_code(), HD_IO);
        ck_assert_ptr_nonnull(strstr(hd_error_message(), "'a/x': cannot "));
        ck_assert_ptr_nonnull(strstr(hd_error_message(), strerror(EIO)));
        hd_error_clear();
        ck_assert_int_eq(inode_of("a/x") == inode_of("old"), fail < 2);
        ck_assert_int_eq(unlink("old"), 0);
        ck_assert_int_eq(unlink("a/x"), 0);
    }
    ck_assert_int_eq(rmdir("a"), 0); /* nothing else is in it */
}

START_TEST(files)
{
    check_file(save_safetensors);
    check_file(save_npy);
}
END_TEST

/* ---------------------------------------------------------------- checkpoints */

START_TEST(checkpoints)
{
    static const char steps[] = "FRDFRDRD";
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "w", hd_ones(HD_FLOAT32, 3)));
    for (int fail = 0; steps[fail]; fail++) {
        watch(fail);
        ck_assert(!hd_checkpoint_save("c", d, d));
        ck_assert_int_eq(hd_error_code(), HD_IO);
        hd_error_clear();
        ck_assert_int_eq(files_in("."), 0);
    }
    watch(NEVER);
    ck_assert(hd_checkpoint_save("c", d, d));
    ck_assert_str_eq(stand_in.events, steps);
    ck_assert_uint_eq(stand_in.synced[0], inode_of("c/model.safetensors"));
    ck_assert_uint_eq(stand_in.synced[3], inode_of("c/state.safetensors"));
    ck_assert_uint_eq(stand_in.synced[5], inode_of("c"));
    ck_assert_uint_eq(stand_in.synced[7], inode_of("."));
    hd_dict_free(d);

    watch(0);
    ck_assert(!hd_checkpoint_remove("c"));
    ck_error(HD_IO, sized("hd_checkpoint_remove: 'c': cannot rename: %s", strerror(EIO)));
    ck_assert_int_eq(access("c/state.safetensors", F_OK), 0);
    watch(NEVER);
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_str_eq(stand_in.events, "RD");
    ck_assert_uint_eq(stand_in.synced[1], inode_of("."));
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

/* The directory cannot be synced, and then one more call fails. Where the new checkpoint cannot be
 * taken back, it stands whole, and the other calls go on with it. */
START_TEST(saving_cannot_go_back)
{
    warnings_expected();
    int stood = 0;
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "w", hd_ones(HD_FLOAT32, 3)));
    faults_begin(NEVER, 0, FAULT_ONCE);
    ck_assert(hd_checkpoint_save("c", d, d));
    faults_end();
    for (long at = 0, calls = stand_in.n; at < calls + 8; at++) {
        ck_assert(hd_checkpoint_remove("c"));
        watch(7); /* the sync of the directory */
        faults_begin(at, EIO, FAULT_ONCE);
        ck_assert(!hd_checkpoint_save("c", d, d));
        faults_end();
        watch(NEVER);
        if (access("c", F_OK) == 0) {
            ck_error(HD_IO, sized("hd_checkpoint_save: 'c': cannot sync its directory: %s. The new "
                                  "checkpoint is in place, but a crash may lose it",
                                  strerror(EIO)));
            ck_assert_int_eq(files_in("c"), 2);
            ck_assert_int_eq(files_in("."), 1);
            stood++;
        }
        hd_error_clear();
        ck_assert_msg(hd_checkpoint_replace("c", d, d), "%s", hd_error_message());
        ck_assert_int_eq(files_in("."), 1);
    }
    ck_assert_int_eq(stood, 3); /* two that look where it is, and the rename */
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- removing */

static void save_small(const char *dir)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    ck_assert(hd_dict_set(d, "w", hd_ones(HD_FLOAT32, 3)));
    ck_assert_msg(hd_checkpoint_save(dir, d, d), "%s", hd_error_message());
    hd_dict_free(d);
}

/* If the hidden name cannot be made durable, the checkpoint has its own name again. */
START_TEST(removing_cannot_sync)
{
    save_small("c");
    watch(1);
    ck_assert(!hd_checkpoint_remove("c"));
    ck_error(HD_IO,
             sized("hd_checkpoint_remove: 'c': cannot sync its directory: %s", strerror(EIO)));
    ck_assert_str_eq(stand_in.events, "RDR");
    ck_assert_int_eq(files_in("c"), 2);
    ck_assert_int_eq(files_in("."), 1);
    watch(NEVER);
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

static void ck_left(const char *what)
{
    char name[256], message[600];
    left_over(name);
    snprintf(
        message, sizeof message,
        "hd_checkpoint_remove: 'c': cannot %s. The rest is at './%s'; the next call removes it",
        what, name);
    ck_error(HD_IO, message);
    ck_assert_int_eq(access("c", F_OK), -1);
}

/* The error says where the rest is, and the next calls go on with it. */
START_TEST(removing_cannot_remove)
{
    save_small("c");
    for (int calls = 0; calls < 2; calls++) {
        stand_in.keeps = 1;
        ck_assert(!hd_checkpoint_remove("c"));
        stand_in.keeps = 0;
        ck_left("remove its files: Permission denied");
    }
    ck_assert(hd_checkpoint_remove("c"));
    ck_assert_int_eq(files_in("."), 0);
    ck_assert(!hd_checkpoint_remove("c"));
    ck_error(HD_FORMAT, "hd_checkpoint_remove: 'c' does not exist: expected a checkpoint");
}
END_TEST

/* Another user's checkpoint, whose directory this one may not write to, keeps its name. */
START_TEST(removing_is_not_allowed)
{
    save_small("c");
    ck_assert_int_eq(chmod("c", 0755), 0);
    ck_assert_int_eq(chmod(".", 0777), 0);
    if (geteuid() != 0 || !as_nobody()) {
        return;
    }
    for (int calls = 0; calls < 2; calls++) {
        ck_assert(!hd_checkpoint_remove("c"));
        ck_error(HD_IO, "hd_checkpoint_remove: 'c': cannot remove its files: Permission denied");
        ck_assert_int_eq(files_in("c"), 2);
        ck_assert_int_eq(files_in("."), 1);
    }
    ck_assert_int_eq(seteuid(getuid()), 0);
    ck_assert_int_eq(chmod("c", 0777), 0);
    ck_assert(as_nobody());
    ck_assert_msg(hd_checkpoint_remove("c"), "%s", hd_error_message());
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

/* How many calls of the system remove a checkpoint. */
static long calls_of_remove(void)
{
    save_small("c");
    faults_begin(NEVER, 0, FAULT_ONCE);
    ck_assert(hd_checkpoint_remove("c"));
    faults_end();
    return stand_in.n;
}

/* From the sync of the directory on, nothing works. The last call of all closes the directory,
 * which is gone: it cannot fail. */
START_TEST(removing_cannot_go_back)
{
    long calls = calls_of_remove() - 1;
    for (long at = 0; at < calls; at++) {
        save_small("c");
        faults_begin(at, EIO, FAULT_ALL);
        ck_assert(!hd_checkpoint_remove("c"));
        faults_end();
        ck_assert_int_eq(hd_error_code(), HD_IO);
        hd_error_clear();
        ck_assert_int_eq(files_in("."), 1);
        ck_assert(hd_checkpoint_remove("c"));
        ck_assert_int_eq(files_in("."), 0);
    }
}
END_TEST

/* What another process may do to a name at any moment: it is gone (ENOENT, ENOTDIR) or taken
 * (EEXIST). A call that fails then leaves the checkpoint, or a rest that the next call removes. */
START_TEST(removing_while_names_come_and_go)
{
    static const int causes[] = {ENOENT, ENOTDIR, EEXIST};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        long calls = calls_of_remove();
        for (long at = 0; at < calls; at++) {
            save_small("c");
            faults_begin(at, causes[i], FAULT_ONCE);
            bool ok = hd_checkpoint_remove("c");
            faults_end();
            ck_assert_msg(ok || hd_error_code() == HD_IO || hd_error_code() == HD_FORMAT,
                          "%s at %s: %s", strerror(causes[i]), stand_in.call, hd_error_message());
            hd_error_clear();
            ck_assert_msg(!ok || access("c", F_OK) != 0, "%s at %s", strerror(causes[i]),
                          stand_in.call);
            if (access("c", F_OK) == 0) {
                ck_assert_int_eq(files_in("c"), 2);
            }
            if (files_in(".") > 0) {
                ck_assert_msg(hd_checkpoint_remove("c"), "%s", hd_error_message());
            }
            ck_assert_int_eq(files_in("."), 0);
        }
        ck_assert_int_gt(calls, 20);
    }
}
END_TEST

/* ---------------------------------------------------------------- calls that are interrupted */

static bool save_checkpoint(hd_tensor *x)
{
    hd_dict *d = hd_dict_new();
    bool ok = hd_dict_set(d, "w", x) && hd_checkpoint_replace("c", d, d);
    hd_dict_free(d);
    return ok;
}

static bool save_file(hd_tensor *x)
{
    return hd_save_npy("x", x);
}

static bool load_file(hd_tensor *x)
{
    hd_tensor *y = hd_load_npy("x");
    return y && memcmp(hd_data(y), hd_data(x), (size_t)hd_numel(x) * sizeof(float)) == 0;
}

/* A handler without SA_RESTART may interrupt every call. Nothing fails by it. */
START_TEST(interrupted_anywhere)
{
    bool (*const calls[])(hd_tensor * x) = {save_file, load_file, save_checkpoint};
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(save_checkpoint(x));
        faults_begin(NEVER, 0, FAULT_ONCE);
        ck_assert(calls[i](x));
        faults_end();
        long n = stand_in.n;
        for (long at = 0; at < n; at++) {
            faults_begin(at, EINTR, FAULT_ONCE);
            ck_assert_msg(calls[i](x), "%s: %s", stand_in.call, hd_error_message());
            faults_end();
            ck_assert_int_eq(stand_in.hits, 1);
        }
        ck_assert_int_gt(n, 4);
        ck_assert_int_eq(files_in("."), 2);
    }
}
END_TEST

/* Some file systems report only when a file is closed that its bytes are lost. */
START_TEST(close_fails)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    int found = 0;
    faults_begin(NEVER, 0, FAULT_ONCE);
    ck_assert(hd_save_npy("x", x));
    faults_end();
    long n = stand_in.n;
    unlink("x");
    for (long at = 0; at < n; at++) {
        faults_begin(at, EIO, FAULT_ONCE);
        bool ok = hd_save_npy("x", x);
        faults_end();
        if (stand_in.kind == CALL_CLOSE && stand_in.written) {
            found++;
            ck_assert(!ok);
            ck_error(HD_IO, sized("hd_save_npy: 'x': cannot close: %s", strerror(EIO)));
            ck_assert_int_eq(files_in("."), 0);
        }
        hd_error_clear();
        unlink("x");
    }
    ck_assert_int_eq(found, 1);
}
END_TEST

/* An empty directory, which a rename would silently replace. */
START_TEST(another_comes_first)
{
    hd_dict *d = hd_dict_new();
    stand_in.appears = "c";
    ck_assert(!hd_checkpoint_save("c", d, d));
    ck_error(HD_IO, "hd_checkpoint_save: 'c' exists already. Choose a new name, or replace the "
                    "checkpoint by hd_checkpoint_replace");
    ck_assert_int_eq(files_in("."), 1);
    ck_assert_int_eq(rmdir("c"), 0);
    stand_in.appears = NULL;
    hd_dict_free(d);
}
END_TEST

Suite *suite_durable(void)
{
    const TTest *const tests[] = {calls_that_do_a_part,
                                  files,
                                  checkpoints,
                                  saving_cannot_go_back,
                                  removing_cannot_sync,
                                  removing_cannot_remove,
                                  removing_is_not_allowed,
                                  removing_cannot_go_back,
                                  removing_while_names_come_and_go,
                                  interrupted_anywhere,
                                  close_fails,
                                  another_comes_first};
    return SUITE("durable", tests);
}

#else

Suite *suite_durable(void)
{
    return suite_create("durable");
}

#endif
