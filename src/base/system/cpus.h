/* cpus.h - how many CPUs the process may use (cpus.c, which reads Linux's groups of processes), and
 * what they can do (level.c, which asks the CPU). */
#ifndef HEED_BASE_CPUS_H
#define HEED_BASE_CPUS_H

/* The least CPU quota, rounded up, of the cgroups that the file `list` names (as /proc/self/cgroup
 * does) and of the groups above them, in the hierarchies mounted under `root`. 0 if there is no
 * limit. */
int hd__sys_cgroup_cpus(const char *list, const char *root);

/* The number of CPUs that the process may use by its affinity and its cgroup quota, from 1 to
 * most. */
int hd__sys_cpus_allowed(int most);

/* From the slowest to the fastest. Every CPU has the first two: plain is written to be read and
 * stepped through, baseline to be fast. */
enum { HD__PLAIN, HD__BASELINE, HD__AVX2, HD__AVX512, HD__LEVELS };

/* The highest level that the CPU runs and whose registers the system saves. */
int hd__sys_cpu_level(void);

/* The bytes of a core's second-level data cache, as the CPU or else the system says; less than 1 if
 * neither does. */
long hd__sys_second_cache(void);

#endif
