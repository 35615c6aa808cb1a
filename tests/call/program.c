/* program.c - tests that messages name functions outside of libheed that use HD_CALL: while they
 * run, and later, through objects that remember them. The functions are in this program, which may
 * lie far from the library or contain it, and in a plugin, which is unloaded before the messages
 * are written.
 *
 * usage: call_program [PLUGIN] */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "call/plugin.h"
#include "support/quarantine.h"

static int wrong;

static void expect(const char *message)
{
    if (strcmp(hd_error_message(), message) != 0) {
        printf("seen:     %s\nexpected: %s\n", hd_error_message(), message);
        wrong++;
    }
    hd_error_clear();
}

/* ---------------------------------------------------------------- this program's functions */

static hd_tensor *my_product(hd_tensor *x, hd_tensor *y)
{
    HD_CALL("my_product");
    if (hd_ndim(x) != 2) {
        return hd_fail(HD_SHAPE, "x of %d dimensions: expected 2", hd_ndim(x));
    }
    return hd_matmul(x, y);
}

static hd_tensor *my_loss(hd_tensor *x, hd_tensor *y)
{
    HD_CALL("my_loss");
    return hd_sum(my_product(x, y));
}

static void my_close(hd_generator *g)
{
    HD_CALL("my_close");
    hd_generator_free(g);
}

static void speaks(void)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *v = hd_ones(HD_FLOAT32, 3);
    my_loss(x, x);
    expect("my_loss: hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    my_product(x, x);
    expect("my_product: hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    my_product(v, x);
    expect("my_product: x of 1 dimensions: expected 2");
    hd_fail(HD_USER, "no call is open");
    expect("no call is open");
    hd_matmul(x, x);
    expect("hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    {
        HD_CALL(NULL);
        expect("hd_call_begin: name is NULL");
        hd_matmul(x, x);
        expect("hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    }
}

/* ---------------------------------------------------------------- a forward */

typedef struct {
    hd_module base;
} net;

static hd_tensor *net_forward(hd_module *self, hd_tensor *x)
{
    (void)self;
    if (hd_ndim(x) == 1) {
        return hd_fail(HD_SHAPE, "x of 1 dimension: expected 2");
    }
    return hd_size(x, 0) == 2 ? hd_matmul(x, x) : my_loss(x, hd_transpose(hd_neg(x), 0, 0));
}

static void class_speaks(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    hd_module *m = hd_module_ready(hd_module_new(&type));
    HD_CALL("my_step"); /* outside of the forward: not named inside */
    hd_forward(m, hd_ones(HD_FLOAT32, 2, 3));
    expect("Net: hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    hd_forward(m, hd_ones(HD_FLOAT32, 3));
    expect("Net: x of 1 dimension: expected 2");
    hd_forward(m, hd_ones(HD_FLOAT32, 3, 2));
    expect("Net: my_loss: hd_matmul: (3, 2) and (3, 2): inner sizes 2 and 3 differ");
    hd_forward(m, NULL);
    expect("my_step: hd_forward: x is NULL");
    if (hd_forward_begin(m)) {
        hd_size(hd_ones(HD_FLOAT32, 2), 5);
        hd_forward_end(m, HD_NONE);
        expect("Net: hd_size: dim 5 of (2,): expected -1 to 0");
    }
    if (hd_forward_begin(m)) {
        hd_forward_end(m, HD_NONE);
        expect("my_step: hd_forward_end: Net gave HD_NONE: expected a tensor");
    }
    hd_module_free(m);
}

/* ---------------------------------------------------------------- what objects remember */

#define WHEN_CLOSED(maker)                                                                         \
    "hd_numel: x was freed when its scope closed; " maker " made it. Keep it with hd_retain, "     \
    "hd_assign or hd_scope_return"

static void remembers(void)
{
    hd_generator *g = hd_generator_new(1);
    hd_tensor *y, *v;
    {
        HD_SCOPE;
        hd_tensor *x = hd_ones(HD_FLOAT32, 2, 2);
        y = my_product(x, x);
        HD_CALL("my_view");
        v = hd_transpose(x, 0, 1);
    }
    my_close(g);
    hd_generator_seed(g, 1);
    expect("hd_generator_seed: g was freed by my_close");
    hd_generator_free(g);
    expect("hd_generator_free: g was freed already, by my_close");
    hd_numel(y);
    expect(WHEN_CLOSED("my_product"));
    hd_numel(v);
    expect(WHEN_CLOSED("my_view"));
}

/* ---------------------------------------------------------------- a plugin */

/* Calls all of the plugin's functions, and unloads it. */
static void use_plugin(const char *path, hd_generator *g, hd_tensor *x, hd_tensor **made)
{
    void *library = dlopen(path, RTLD_NOW);
    const plugin *p = library ? dlsym(library, "plugin_functions") : NULL;
    if (!p) {
        printf("%s\n", dlerror());
        exit(1);
    }
    {
        HD_SCOPE;
        *made = p->made();
    }
    p->applied(x);
    p->changed(x);
    p->freed(g);
    dlclose(library);
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
        printf("%s is still loaded\n", path);
        wrong++;
    }
}

static void remembers_plugin(const char *path)
{
    hd_generator *g = hd_generator_new(1);
    hd_set_debug(true);
    hd_tensor *x = hd_ones(HD_FLOAT32, 2), *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    hd_tensor *y = hd_sum(hd_mul(x, w)), *made;
    use_plugin(path, g, x, &made);
    hd_backward(y);
    if (!strstr(hd_error_message(), "plugin_changed")) {
        expect("what plugin_changed changed");
    }
    hd_error_clear();
    hd_set_debug(false);
    if (quarantine_on()) {
        hd_numel(made);
        expect(WHEN_CLOSED("plugin_made"));
        hd_generator_seed(g, 1);
        expect("hd_generator_seed: g was freed by plugin_freed");
    }
}

int main(int argc, char **argv)
{
    speaks();
    class_speaks();
    if (quarantine_on()) {
        remembers();
    }
    if (argc > 1) {
        remembers_plugin(argv[1]);
    }
    printf("%d wrong\n", wrong);
    return wrong > 0;
}
