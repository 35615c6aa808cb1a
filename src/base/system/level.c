/* level.c - the CPU's level and its second-level cache.
 *
 * heed asks the CPU itself, with the instruction CPUID, because no built-in function for this works
 * with all compilers. A level can be used only if the operating system saves its registers when it
 * switches threads. The register XCR0 says so: it has a bit for each group of registers. */
#include "base/system/cpus.h"
#include "base/system/system.h"

#include <stdatomic.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static bool has_all(uint32_t bits, uint32_t wanted)
{
    return (bits & wanted) == wanted;
}

/* Returns the low half of XCR0. The instruction exists only where CPUID reports OSXSAVE. */
static uint32_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
#ifdef __APPLE__
    low |= low & 4 ? 0xe0 : 0; /* macOS sets the bits of ZMM only after the first use of ZMM */
#endif
    return low;
}

static int level_of_cpu(void)
{
    enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX = 1 << 28 }; /* bits of ecx in CPUID leaf 1 */
    enum { AVX2 = 1 << 5 };                                   /* a bit of ebx in CPUID leaf 7 */
    /* bits of ebx in CPUID leaf 7: AVX-512 F, DQ, BW and VL */
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    enum { YMM = 6, ZMM = 0xe6 }; /* bits of XCR0; both include XMM */
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, FMA | OSXSAVE | AVX)) {
        return HD__BASELINE;
    }
    uint32_t saved = saved_registers();
    if (!has_all(saved, YMM) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has_all(b, AVX2)) {
        return HD__BASELINE;
    }
    return has_all(saved, ZMM) && has_all(b, avx512) ? HD__AVX512 : HD__AVX2;
}

/* Returns the bytes of the second-level data cache, or 0 if the CPUID leaf does not describe it.
 * Leaf 4 is Intel's, and leaf 0x8000001D is AMD's; their fields are the same. eax has the type and
 * the level of cache i. ebx has its numbers of ways, of partitions and of bytes in a line, and ecx
 * its number of sets. The CPU gives each of these four numbers minus 1. */
static long cache_of_cpuid(unsigned leaf)
{
    unsigned a, b, c, d;
    for (unsigned i = 0; __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31) != 0; i++) {
        if ((a >> 5 & 7) == 2 && (a & 31) != 2) { /* level 2, and not an instruction cache */
            long ways = (long)(b >> 22) + 1, partitions = (long)(b >> 12 & 1023) + 1;
            return ways * partitions * ((long)(b & 4095) + 1) * ((long)c + 1);
        }
    }
    return 0;
}

static long cache_of_cpu(void)
{
    long bytes = cache_of_cpuid(4);
    return bytes > 0 ? bytes : cache_of_cpuid(0x8000001Du);
}

#else

static int level_of_cpu(void)
{
    return HD__BASELINE;
}

static long cache_of_cpu(void)
{
    return 0;
}

#endif

/* Remembers the level, because CPUID is slow, especially in a virtual machine. */
int hd__sys_cpu_level(void)
{
    static atomic_int known = -1;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        level = level_of_cpu();
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

long hd__sys_second_cache(void)
{
    long bytes = cache_of_cpu();
    return bytes > 0 ? bytes : hd__sys_second_cache_told();
}
