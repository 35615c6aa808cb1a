/* plugin.c - a small library over heed, which program.c loads and unloads. After the unloading, its
 * function names are no longer in memory. */
#include "call/plugin.h"

static hd_tensor *made(void)
{
    HD_CALL("plugin_made");
    return hd_ones(HD_FLOAT32, 2);
}

static bool changed(hd_tensor *x)
{
    HD_CALL("plugin_changed");
    return hd_add_scalar_(x, 1);
}

static bool square(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx;
    y[0] = hd_mul(x[0], x[0]);
    return y[0];
}

/* dx = 2 x dy, which nobody asks for */
static void square_backward(hd_ctx *ctx, hd_tensor *const *dy, hd_tensor **dx)
{
    (void)ctx, (void)dy, (void)dx;
}

static hd_tensor *applied(hd_tensor *x)
{
    static const hd_op op = {.size = sizeof(hd_op),
                             .name = "PluginSquare",
                             .forward = square,
                             .backward = square_backward};
    HD_NO_GRAD;
    HD_CALL("plugin_applied");
    return hd_apply(&op, NULL, x);
}

static void freed(hd_generator *g)
{
    HD_CALL("plugin_freed");
    hd_generator_free(g);
}

HD_API const plugin plugin_functions;
const plugin plugin_functions = {made, changed, applied, freed};
