/* multiply_add.c - tests the fused multiply-adds of src/tensor/kernels.
 *
 * First with sums whose float64 lies in the middle of two float32, so that rounding twice goes to
 * the wrong one. Then it compares a million random ones with fmaf. */
#include <math.h>
#include <stdio.h>

#define HDK_LEVEL baseline
#include "tensor/kernels/vec.h"

enum { RANDOM = 1000000 };

static int differences(float a, float b, float c, float expected)
{
    vec_f32 y = vfma_f32(vall_f32(a), vall_f32(b), vall_f32(c));
    int count = (scalar_fma_f32(a, b, c) != expected) + (fmaf(a, b, c) != expected);
    for (int l = 0; l < HDK_V; l++) {
        count += y[l] != expected;
    }
    return count;
}

int main(void)
{
    /* a b is a little less than half a unit in the last place of c */
    const volatile float a = 0x1.000002p0f, b = 0x1.fffffcp-25f, c = 0x1.000002p0f;
    int wrong = differences(a, b, c, c) + differences(-a, b, -c, -c) + differences(a, -b, c, c) +
                differences(-a, -b, -c, -c);
    uint64_t state = 1;
    for (int i = 0; i < RANDOM; i++) {
        float x[3];
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[k] = ldexpf((float)(int32_t)(state >> 32), -31 - (int)(state >> 24 & 31));
        }
        wrong += differences(x[0], x[1], x[2], fmaf(x[0], x[1], x[2]));
    }
    printf("%d multiply-adds are wrong\n", wrong);
    return wrong != 0;
}
