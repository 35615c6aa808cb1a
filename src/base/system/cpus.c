/* cpus.c - the number of CPUs that the process may use, by its affinity and the CPU quota of its
 * cgroups.
 *
 * In a container the machine's number of CPUs says little. Quotas are read from cgroup v2 (cpu.max)
 * and v1 (cpu.cfs_quota_us). The quotas of all groups above the process's own group limit the
 * process, too. A file that cannot be read sets no limit. */
#include "base/system/cpus.h"
#include "base/system/shared.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 1024 };

/* Returns the lower of two limits; 0 stands for no limit. */
static int lesser(int a, int b)
{
    return a > 0 && (a < b || b == 0) ? a : b;
}

/* Reads the first two numbers of the file `name` in the directory dir. Sets a number to 0 if it is
 * missing. */
static void read_numbers(const char *dir, const char *name, long long *a, long long *b)
{
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    *b = 0;
    if (!f || fscanf(f, "%lld %lld", a, b) < 1) {
        *a = 0;
    }
    if (f) {
        fclose(f);
    }
}

/* Returns the number of CPUs, rounded up, that the quota of one group's directory allows; 0 if
 * there is no limit. `v2`: the group belongs to cgroup v2, not v1. */
static int quota_of(const char *dir, bool v2)
{
    long long quota, period, unused;
    if (v2) {
        read_numbers(dir, "cpu.max", &quota, &period);
    } else {
        read_numbers(dir, "cpu.cfs_quota_us", &quota, &unused);
        read_numbers(dir, "cpu.cfs_period_us", &period, &unused);
    }
    if (quota <= 0 || period <= 0) {
        return 0;
    }
    long long cpus = quota / period + (quota % period != 0);
    return cpus > INT_MAX ? INT_MAX : (int)cpus;
}

/* Returns the lowest quota of the groups from root + path up to root; 0 if there is no limit. */
static int least_quota(const char *root, const char *path, bool v2)
{
    char dir[PATH_SIZE];
    int length = snprintf(dir, sizeof dir, "%s%s", root, path);
    if (length < 0 || length >= PATH_SIZE) {
        return 0;
    }
    int least = 0;
    for (char *end = dir + length; end; end = strrchr(dir + strlen(root), '/')) {
        *end = '\0';
        least = lesser(quota_of(dir, v2), least);
    }
    return least;
}

/* Returns the lowest quota for one line of the list of cgroups; 0 if there is no limit. A line is
 * "4:cpu,cpuacct:/a/b" in v1, and "0::/a/b" in v2. */
static int line_quota(char *line, const char *root)
{
    line[strcspn(line, "\n")] = '\0';
    char *names = strchr(line, ':');
    char *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) {
        return 0;
    }
    *path++ = '\0';
    if (*++names == '\0') {
        return least_quota(root, path, true);
    }
    for (char *rest, *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (strcmp(name, "cpu") == 0) {
            char mount[PATH_SIZE];
            snprintf(mount, sizeof mount, "%s/cpu", root);
            return least_quota(mount, path, false);
        }
    }
    return 0;
}

int hd__sys_cgroup_cpus(const char *list, const char *root)
{
    FILE *f = fopen(list, "r");
    if (!f) {
        return 0;
    }
    char line[PATH_SIZE];
    int least = 0;
    while (fgets(line, sizeof line, f)) {
        least = lesser(line_quota(line, root), least);
    }
    fclose(f);
    return least;
}

int hd__sys_cpus_allowed(int most)
{
    int quota = hd__sys_cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    int cpus = lesser(quota, hd__sys_affinity_cpus());
    return cpus < 1 ? 1 : cpus < most ? cpus : most;
}
