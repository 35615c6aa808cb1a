/* sample_gpt.h - the arguments of sample_gpt. */
#ifndef HEED_EXAMPLES_SAMPLE_GPT_H
#define HEED_EXAMPLES_SAMPLE_GPT_H

#include <math.h>
#include <stdbool.h>

enum { DEFAULT_LENGTH = 400 };

typedef struct {
    const char *from, *prompt; /* the checkpoint or folder, and the text to continue */
    const char *system;        /* NULL: the template's own system message, if any */
    const char *template_file; /* NULL: the folder's chat template */
    double length, temperature, top_k, top_p; /* NAN: the option is not given */
    double seed;
    bool no_cache, chat, bfloat16;
} arguments;

static inline double or_else(double v, double otherwise)
{
    return isnan(v) ? otherwise : v;
}

#endif
