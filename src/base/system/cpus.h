/* cpus.h - the number of CPUs that the process may use (cpus.c), and the level and the cache of the
 * CPU (level.c). */
#ifndef HEED_BASE_CPUS_H
#define HEED_BASE_CPUS_H

/* The smallest CPU quota, rounded up, among the cgroups that the file `list` names, in the format
 * of /proc/self/cgroup, and the groups above them. The hierarchies are mounted under `root`. 0:
 * there is no limit. */
int hd__sys_cgroup_cpus(const char *list, const char *root);

/* The number of CPUs that the process may use, by its affinity and its cgroup quota: 1 to
 * `most`. */
int hd__sys_cpus_allowed(int most);

/* From the slowest to the fastest. Every CPU runs the first two: plain is for reading and stepping,
 * baseline for speed. */
enum { HD__PLAIN, HD__BASELINE, HD__AVX2, HD__AVX512, HD__LEVELS };

/* The highest level that the CPU runs and whose registers the system saves. */
int hd__sys_cpu_level(void);

/* The bytes of a core's second-level data cache, as the CPU says, or otherwise the system; less
 * than 1 if it is unknown. */
long hd__sys_second_cache(void);

#endif
