/* mman.h - stands for the header of POSIX; ../tests.h has what tests need of it. */
