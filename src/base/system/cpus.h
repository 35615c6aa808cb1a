/* cpus.h - the number of CPUs that the process may use (cpus.c), and the level and the cache of the
 * CPU (level.c). */
#ifndef HEED_BASE_CPUS_H
#define HEED_BASE_CPUS_H

/* Returns the smallest CPU quota, rounded up to whole CPUs, of the process's cgroups and of all
 * groups above them; 0 if there is no limit. The file `list` names the cgroups, in the format of
 * /proc/self/cgroup. Their hierarchies are mounted under `root`. */
int hd__sys_cgroup_cpus(const char *list, const char *root);

/* Returns the number of CPUs that the process may use, by its affinity and its cgroup quota: at
 * least 1 and at most `most`. */
int hd__sys_cpus_allowed(int most);

/* The CPU levels, from the slowest to the fastest. Every CPU runs the first two. The kernels of
 * "plain" are easy to read and to step through in a debugger; those of "baseline" are fast. */
enum { HD__PLAIN, HD__BASELINE, HD__AVX2, HD__AVX512, HD__LEVELS };

/* Returns the highest level that the CPU supports and whose registers the operating system
 * saves. */
int hd__sys_cpu_level(void);

/* Returns the bytes of a core's second-level data cache, as the CPU reports them, or else the
 * operating system; less than 1 if neither does. */
long hd__sys_second_cache(void);

#endif
