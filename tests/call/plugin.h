/* plugin.h - declares the functions of plugin.c. Each calls heed under an HD_CALL with its own
 * name. */
#ifndef HEED_TESTS_PLUGIN_H
#define HEED_TESTS_PLUGIN_H

#include "heed/heed.h"

typedef struct plugin {
    hd_tensor *(*made)(void);            /* (2,), "plugin_made" */
    bool (*changed)(hd_tensor *x);       /* x += 1 */
    hd_tensor *(*applied)(hd_tensor *x); /* the op "PluginSquare", without a gradient */
    void (*freed)(hd_generator *g);      /* frees g */
} plugin;

#endif
