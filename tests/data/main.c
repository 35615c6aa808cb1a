/* main.c - runs every suite of the data layer. */
#include "support/run_suites.h"
#include "suites.h"

#include <dirent.h>
#include <unistd.h>

static Suite *(*const suites[])(void) = {
    suite_generator,  suite_tokens, suite_windows, suite_loader,
    suite_tokenizers, suite_bpe,    suite_memory,
};

/* ---------------------------------------------------------------- files */

static char folder[] = "/tmp/heed-data-XXXXXX";

static void remove_folder(void)
{
    DIR *d = opendir(folder);
    char path[512];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            remove(path);
        }
    }
    if (d) {
        closedir(d);
    }
    rmdir(folder);
}

const char *temporary(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *file_of(const char *name, const void *bytes, size_t size)
{
    const char *path = temporary(name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

/* ---------------------------------------------------------------- data */

static golden_file *data;

const golden_file *golden_data(void)
{
    return data;
}

hd_tokens *counted_tokens(int64_t n)
{
    HD_SCOPE;
    hd_tokens *t = hd_tokens_from(hd_arange(0, n, 1));
    ck_assert_ptr_nonnull(t);
    return t;
}

/* ---------------------------------------------------------------- main */

int main(void)
{
    if (!mkdtemp(folder)) {
        perror(folder);
        return EXIT_FAILURE;
    }
    data = golden_read(GOLDEN_DIR "/data.txt");
    int result = RUN_SUITES(suites);
    golden_free(data);
    remove_folder();
    return data ? result : EXIT_FAILURE;
}
