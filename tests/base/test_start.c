/* test_start.c - tests of heed's start and end: version, CPU level, HEED_CPU and HEED_THREADS,
 * cgroup quotas. */
#include "suites.h"
#include "base/error/call.h"
#include "base/start.h"
#include "base/system/system.h"
#include "base/threads/pool.h"
#include "support/leave.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The start runs once in a process, so each try has a child process of its own. */
static bool in_child(const char *name, const char *value, bool (*f)(const char *), const char *arg)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        leave(f(arg) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Every call fails, with this message. */
static bool init_fails(const char *message)
{
    for (int i = 1; i <= 2; i++) {
        hd_error_clear();
        bool failed = !hd__init() && hd_error_code() == HD_VALUE;
        if (!failed || hd_error_count() != (uint64_t)i ||
            strcmp(hd_error_message(), message) != 0) {
            fprintf(stderr, "expected: %s\nfound:    %s\n", message, hd_error_message());
            return false;
        }
    }
    hd_error_clear();
    return !hd_cpu_level() && hd_error_code() == HD_VALUE && hd_num_threads() == -1 &&
           !hd_set_num_threads(2);
}

static bool level_is(const char *name)
{
    const char *level = hd_cpu_level();
    return level && strcmp(level, name) == 0 && hd__init() && hd_error_code() == HD_OK;
}

static bool threads_are(const char *n)
{
    return hd_num_threads() == atoi(n) && hd__init() && hd_error_code() == HD_OK;
}

static bool usual_threads_are(const char *n)
{
    return setenv("HEED_THREADS", "", 1) == 0 && threads_are(n);
}

static int best_level(void)
{
    int level = hd__sys_cpu_level();
    return level < HD__LEVEL_BUILT ? level : HD__LEVEL_BUILT;
}

/* The level of a process without HEED_CPU: a build for stepping takes the plain one. */
static int usual_level(void)
{
#ifdef HDK_STEPPING
    return HD__PLAIN;
#else
    return best_level();
#endif
}

/* Are all of these words among those of the line? */
static bool has_words(const char *line, const char *words)
{
    char each[80], word[32];
    snprintf(each, sizeof each, "%s", words);
    for (char *rest, *w = strtok_r(each, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        snprintf(word, sizeof word, " %s ", w);
        if (!strstr(line, word)) {
            return false;
        }
    }
    return true;
}

START_TEST(version)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", HD_VERSION_MAJOR, HD_VERSION_MINOR,
             HD_VERSION_PATCH);
    ck_assert_str_eq(hd_version(), expected);
}
END_TEST

START_TEST(libraries_of_another_version)
{
    HD__CALL("hd_plot_lines");
    ck_assert(HD__SIBLING_OK());
    ck_assert(!hd__sibling_ok("0.2.9"));
    ck_error(
        HD_STATE,
        "hd_plot_lines: its library was built with heed 0.2.9, but libheed is heed " HD__VERSION
        ". Install both from the same version");
}
END_TEST

/* musl's fwrite may fail without an errno. */
START_TEST(no_cause)
{
    char text[HD__WHY_TEXT];
    ck_assert_str_eq(hd__sys_why(0, text), "unknown error");
}
END_TEST

/* The CPU gives the size itself, or the system does; both mean the same cache. */
START_TEST(second_cache)
{
    ck_assert_int_ge(hd__sys_second_cache_told(), -1); /* where sysconf does not know it */
    ck_assert(hd__init());
    ck_assert_int_gt(hd__start_second_cache, 0);
}
END_TEST

/* Linux asks the CPU, too, and lists only the features whose registers it saves. */
START_TEST(cpu_level_is_what_linux_says)
{
#if defined(__x86_64__) || defined(__i386__)
    const bool x86 = true;
#else
    const bool x86 = false;
#endif
    static char flags[1 << 14];
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (x86 && !f) {
        return;
    }
    while (f && fgets(flags, sizeof flags, f) && strncmp(flags, "flags", 5) != 0) {
        ;
    }
    if (f) {
        fclose(f);
    }
    flags[strcspn(flags, "\n")] = ' ';
    bool avx2 = x86 && has_words(flags, "avx2 fma");
    bool avx512 = avx2 && has_words(flags, "avx512f avx512bw avx512dq avx512vl");
    ck_assert_int_eq(hd__sys_cpu_level(), avx512 ? HD__AVX512 : avx2 ? HD__AVX2 : HD__BASELINE);
}
END_TEST

START_TEST(cpu_levels)
{
    static const char *const names[] = {"plain", "baseline", "avx2", "avx512"};
    static const char *const reasons[][HD__LEVELS] = {
        {"", "", "this CPU has no AVX2 with FMA", "this CPU has no AVX-512"},
        {"", "", "heed was built without AVX2", "heed was built without AVX-512"}};
    int best = best_level();
    ck_assert(in_child("HEED_CPU", "", level_is, names[usual_level()]));
    for (int i = 0; i < HD__LEVELS; i++) {
        char message[128];
        snprintf(message, sizeof message, "heed: HEED_CPU=%s: %s; expected %s", names[i],
                 reasons[i > HD__LEVEL_BUILT][i],
                 best == HD__AVX2 ? "plain, baseline or avx2" : "plain or baseline");
        ck_assert_msg(i <= best ? in_child("HEED_CPU", names[i], level_is, names[i])
                                : in_child("HEED_CPU", names[i], init_fails, message),
                      "HEED_CPU=%s", names[i]);
    }
}
END_TEST

/* The kernels of a level may be missing though the CPU could run them: on i686, or because the
 * compiler was too old. */
START_TEST(cpu_level_not_built)
{
    static const struct {
        int cpu, built;
        const char *text;
        int level;
        const char *wrong;
    } rows[] = {
        {HD__AVX512, HD__BASELINE, NULL, HD__BASELINE, ""},
        {HD__AVX512, HD__BASELINE, "", HD__BASELINE, ""},
        {HD__AVX512, HD__BASELINE, "baseline", HD__BASELINE, ""},
        {HD__AVX512, HD__AVX512, "plain", HD__PLAIN, ""},
        {HD__BASELINE, HD__BASELINE, "plain", HD__PLAIN, ""},
        {HD__AVX512, HD__AVX2, NULL, HD__AVX2, ""},
        {HD__BASELINE, HD__AVX512, NULL, HD__BASELINE, ""},
        {HD__AVX512, HD__BASELINE, "avx2", HD__AVX2,
         "heed: HEED_CPU=avx2: heed was built without AVX2; expected plain or baseline"},
        {HD__AVX512, HD__AVX2, "avx512", HD__AVX512,
         "heed: HEED_CPU=avx512: heed was built without AVX-512; expected plain, baseline or "
         "avx2"},
        {HD__AVX2, HD__AVX512, "avx512", HD__AVX512,
         "heed: HEED_CPU=avx512: this CPU has no AVX-512; expected plain, baseline or avx2"},
        {HD__AVX512, HD__BASELINE, "sse9", HD__LEVELS,
         "heed: HEED_CPU=sse9: no such level; expected plain or baseline"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char wrong[160] = "";
        ck_assert_int_eq(
            hd__level_choose(rows[i].cpu, rows[i].built, rows[i].text, wrong, sizeof wrong),
            rows[i].level);
        ck_assert_str_eq(wrong, rows[i].wrong);
    }
}
END_TEST

START_TEST(cpu_level_unknown)
{
    static const char *const messages[HD__LEVELS] = {
        [HD__BASELINE] = "heed: HEED_CPU=sse9: no such level; expected plain or baseline",
        [HD__AVX2] = "heed: HEED_CPU=sse9: no such level; expected plain, baseline or avx2",
        [HD__AVX512] =
            "heed: HEED_CPU=sse9: no such level; expected plain, baseline, avx2 or avx512"};
    ck_assert(in_child("HEED_CPU", "sse9", init_fails, messages[best_level()]));
}
END_TEST

START_TEST(thread_counts)
{
    ck_assert(in_child("HEED_THREADS", "1", threads_are, "1"));
    ck_assert(in_child("HEED_THREADS", "3", threads_are, "3"));
    ck_assert(in_child("HEED_THREADS", "1024", threads_are, "1024"));
    char cpus[16];
    snprintf(cpus, sizeof cpus, "%d", hd__sys_cpus_allowed(HD__MAX_THREADS));
    ck_assert(in_child("HEED_CPU", "baseline", usual_threads_are, cpus));
    ck_assert(in_child("HEED_CPU", "plain", usual_threads_are, "1"));
}
END_TEST

START_TEST(thread_counts_wrong)
{
    static const char *const values[] = {"0", "-1", "two", "4x", "1025", "99999999999999999999"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char message[128];
        snprintf(message, sizeof message, "heed: HEED_THREADS=%s: expected 1 to 1024", values[i]);
        ck_assert_msg(in_child("HEED_THREADS", values[i], init_fails, message), "%s", values[i]);
    }
}
END_TEST

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(cgroup_quotas)
{
    char dir[] = "/tmp/heed-cgroup-XXXXXX", list[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(list, sizeof list, "%s/list", dir);
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);

    write_file(dir, "list", "0::/a/b\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);
    write_file(dir, "a/b/cpu.max", "max 100000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);
    write_file(dir, "a/b/cpu.max", "350000 100000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 4);
    write_file(dir, "a/cpu.max", "150000 100000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 2);
    write_file(dir, "cpu.max", "1000 100000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 1);
    write_file(dir, "list", "0::/\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 1);

    write_file(dir, "list", "5:cpuset:/x\n4:cpuacct,cpu:/x\n3:memory:/y\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);
    write_file(dir, "cpu/x/cpu.cfs_quota_us", "-1\n");
    write_file(dir, "cpu/x/cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);
    write_file(dir, "cpu/x/cpu.cfs_quota_us", "300000\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 3);

    /* A list without a group, without its names, and with a path that no file can have */
    write_file(dir, "list", "0\n0:cpu\n");
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);
    char path[4000] = "0::";
    memset(path + 3, '/', sizeof path - 4);
    write_file(dir, "list", path);
    ck_assert_int_eq(hd__sys_cgroup_cpus(list, dir), 0);

    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static _Thread_local int ends_here;
static int ends_elsewhere;

static void count_end(void)
{
    ends_here++;
    ends_elsewhere++;
    hd_free(hd_alloc(100)); /* allowed at the end, too */
}

static void *armed_thread(void *arg)
{
    for (int i = 0; arg && i < 3; i++) {
        hd__start_thread_arm();
    }
    return NULL;
}

START_TEST(ends_of_threads)
{
    pthread_t t;
    hd__start_on_thread_end(count_end);
    ck_assert_int_eq(pthread_create(&t, NULL, armed_thread, NULL), 0);
    pthread_join(t, NULL);
    ck_assert_int_eq(ends_elsewhere, 0);
    ck_assert_int_eq(pthread_create(&t, NULL, armed_thread, &ends_elsewhere), 0);
    pthread_join(t, NULL);
    ck_assert_int_eq(ends_elsewhere, 1);
    hd_shutdown();
    ck_assert_int_eq(ends_here, 1);
    hd_shutdown();
    ck_assert_int_eq(ends_here, 2);
    hd__start_on_thread_end(NULL);
    ck_assert(hd__init());
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

Suite *suite_start(void)
{
    const TTest *const tests[] = {
        version,
        libraries_of_another_version,
        cpu_levels,
        cpu_level_not_built,
        cpu_level_unknown,
        thread_counts,
        thread_counts_wrong,
        cgroup_quotas,
        ends_of_threads,
        no_cause,
        second_cache,
        cpu_level_is_what_linux_says,
    };
    return SUITE_OF("start", tests);
}
