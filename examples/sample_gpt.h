/* sample_gpt.h - the arguments of sample_gpt. */
#ifndef HEED_EXAMPLES_SAMPLE_GPT_H
#define HEED_EXAMPLES_SAMPLE_GPT_H

#include <math.h>
#include <stdbool.h>

enum { DEFAULT_LENGTH = 400 };

typedef struct {
    const char *from, *prompt; /* a checkpoint or a folder, and the text to continue */
    const char *system;        /* NULL: the system's message of the folder, if it has one */
    const char *template_file; /* NULL: the folder's chat template */
    double length, temperature, top_k, top_p; /* NAN: not given */
    double seed;
    bool no_cache, chat, bfloat16;
} arguments;

static inline double or_else(double v, double otherwise)
{
    return isnan(v) ? otherwise : v;
}

#endif
