/* reduce_extremes.h - the maximum, the minimum, and their places: a template (template.h) for
 * reduce_kernels.c. */
#define MOST max
#define OP >=
#define STRICTLY >
#include "tensor/kernels/reduce_extreme.h"
#undef MOST
#undef OP
#undef STRICTLY
#define MOST min
#define OP <=
#define STRICTLY <
#include "tensor/kernels/reduce_extreme.h"
#undef MOST
#undef OP
#undef STRICTLY
