/* test_module.c - tests of modules: registration and all its errors, names, order, lookup,
 * freeing. */
#include "suites.h"
#include "support/quarantine.h"
#include "support/scarce.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- types */

START_TEST(refuses_a_bad_type)
{
    ck_assert_ptr_null(hd_module_new(NULL));
    ck_error(HD_NULL_ARG, "hd_module_new: type is NULL");

    hd_module_type type = probe_type;
    type.size = 8;
    ck_assert_ptr_null(hd_module_new(&type));
    ck_error(HD_VALUE, sized("hd_module_new: type->size 8: expected %zu, as HD_MODULE_TYPE gives",
                             sizeof(hd_module_type)));

    type = probe_type;
    type.name = NULL;
    ck_assert_ptr_null(hd_module_new(&type));
    ck_error(HD_NULL_ARG, "hd_module_new: type->name is NULL");

    type = probe_type;
    type.instance_size = sizeof(hd_module) / 2;
    ck_assert_ptr_null(hd_module_new(&type));
    ck_error(HD_VALUE, sized("hd_module_new: Probe: instance_size %zu: expected at least %zu, "
                             "because the struct begins with an hd_module",
                             type.instance_size, sizeof(hd_module)));
}
END_TEST

START_TEST(new_module_is_zeroed_and_trains)
{
    probe *m = (probe *)hd_module_new(&probe_type);
    ck_assert_ptr_null(m->a);
    ck_assert_ptr_null(m->left);
    ck_assert_int_eq(m->odd, 0);
    ck_assert(hd_module_training(&m->base));
    ck_assert_ptr_eq(hd_module_ready(&m->base), &m->base);
    hd_module_free(&m->base);
    hd_module_free(NULL);
    ck_assert(!hd_module_training(NULL));
    ck_error(HD_NULL_ARG, "hd_module_training: m is NULL");
}
END_TEST

/* ---------------------------------------------------------------- registration */

/* A registration that fails leaves the message and HD_NONE in the field, and hd_module_ready
 * fails. */
#define fails(call, code, message)                                                                 \
    do {                                                                                           \
        HD_SCOPE;                                                                                  \
        probe *m = (probe *)hd_module_new(&probe_type);                                            \
        ck_assert(hd_register_parameter(&m->base, "taken", &m->b, ramp_parameter(2)));             \
        ck_assert(!(call));                                                                        \
        ck_error(code, message);                                                                   \
        ck_assert_ptr_null(hd_module_ready(&m->base));                                             \
        ck_error(HD_STATE, "hd_module_ready: a registration in Probe failed");                     \
    } while (0)

/* A field that no longer has its tensor is no parameter. */
START_TEST(a_field_that_was_emptied)
{
    HD_SCOPE;
    probe *m = (probe *)hd_module_new(&probe_type);
    ck_assert(hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(2)));
    ck_assert(hd_register_parameter(&m->base, "b", &m->b, ramp_parameter(3)));
    ck_assert(hd_assign(&m->a, HD_NONE));
    hd_list *left = hd_module_parameters(&m->base);
    ck_assert_int_eq(hd_list_len(left), 1);
    ck_assert_ptr_eq(hd_list_get(left, 0), m->b);
    hd_module_free(&m->base);
}
END_TEST

/* The module holds what its field had before, too. */
START_TEST(a_field_that_has_its_tensor_before)
{
    probe *m = (probe *)hd_module_new(&probe_type);
    {
        HD_SCOPE;
        m->a = ramp_parameter(2);
        ck_assert(hd_register_parameter(&m->base, "a", &m->a, m->a));
        ck_assert(hd_module_ready(&m->base));
    }
    ck_assert_int_eq(hd_numel(m->a), 2);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(refuses_bad_names)
{
    fails(hd_register_parameter(&m->base, "a.b", &m->a, ramp_parameter(2)), HD_VALUE,
          "hd_register_parameter: Probe: \"a.b\" is not a valid name: expected text without dots");
    fails(hd_register_buffer(&m->base, "", &m->a, ramp_parameter(2), true), HD_VALUE,
          "hd_register_buffer: Probe: \"\" is not a valid name: expected text without dots");
    fails(hd_register_parameter(&m->base, NULL, &m->a, ramp_parameter(2)), HD_NULL_ARG,
          "hd_register_parameter: name is NULL");
    fails(hd_register_parameter(&m->base, "taken", &m->a, ramp_parameter(2)), HD_VALUE,
          "hd_register_parameter: Probe: \"taken\" is registered already");
    fails(hd_register_buffer(&m->base, "taken", &m->a, ramp_parameter(2), false), HD_VALUE,
          "hd_register_buffer: Probe: \"taken\" is registered already");
    fails(hd_register_module(&m->base, "taken", &m->left, hd_relu_new(false)), HD_VALUE,
          "hd_register_module: Probe: \"taken\" is registered already");
    fails(hd_register_parameter(&m->base, NULL, &m->a, ramp_parameter(2)), HD_NULL_ARG,
          "hd_register_parameter: name is NULL");
    fails(hd_register_module(&m->base, NULL, &m->left, hd_relu_new(false)), HD_NULL_ARG,
          "hd_register_module: name is NULL");
}
END_TEST

START_TEST(refuses_bad_fields)
{
    hd_tensor *outside = NULL;
    hd_module *child_outside = NULL;
    fails(hd_register_parameter(&m->base, "p", NULL, ramp_parameter(2)), HD_NULL_ARG,
          "hd_register_parameter: field is NULL");
    fails(hd_register_parameter(&m->base, "p", &outside, ramp_parameter(2)), HD_VALUE,
          "hd_register_parameter: Probe: \"p\" has a field that is not in its module's struct. "
          "Pass a member's address, such as &m->head");
    ck_assert_ptr_null(outside);
    fails(hd_register_buffer(&m->base, "p", (hd_tensor **)&m->base.priv, ramp_parameter(2), true),
          HD_VALUE,
          "hd_register_buffer: Probe: \"p\" has a field that is not in its module's struct. Pass a "
          "member's address, such as &m->head");
    fails(hd_register_buffer(&m->base, "p", (hd_tensor **)(m + 1), ramp_parameter(2), true),
          HD_VALUE,
          "hd_register_buffer: Probe: \"p\" has a field that is not in its module's struct. Pass a "
          "member's address, such as &m->head");
    fails(hd_register_module(&m->base, "p", &child_outside, hd_relu_new(false)), HD_VALUE,
          "hd_register_module: Probe: \"p\" has a field that is not in its module's struct. Pass a "
          "member's address, such as &m->head");
    ck_assert_ptr_null(child_outside);
    fails(hd_register_buffer(&m->base, "p", &m->b, ramp_parameter(2), true), HD_VALUE,
          "hd_register_buffer: Probe: \"p\" is registered with the struct field that \"taken\" "
          "already uses: expected a field of its own");
    fails(hd_register_buffer(&m->base, "taken", &m->b, ramp_parameter(2), true), HD_VALUE,
          "hd_register_buffer: Probe: \"taken\" is registered already");
}
END_TEST

START_TEST(refuses_bad_tensors)
{
    fails(hd_register_parameter(&m->base, "p", &m->a, NULL), HD_NULL_ARG,
          "hd_register_parameter: t is NULL: expected a tensor or HD_NONE");
    fails(hd_register_buffer(&m->base, "p", &m->a, NULL, true), HD_NULL_ARG,
          "hd_register_buffer: t is NULL: expected a tensor or HD_NONE");
    fails(hd_register_parameter(&m->base, "p", &m->a, hd_zeros(HD_INT64, 2)), HD_DTYPE,
          "hd_register_parameter: Probe: \"p\" is int64: expected float32, float64 or bfloat16");
    fails(hd_register_parameter(&m->base, "p", &m->a, hd_mul_scalar(ramp_parameter(2), 2)), HD_GRAD,
          "hd_register_parameter: Probe: \"p\" (2,) is the result of an operation: expected a leaf "
          "(hd_parameter makes one)");
    fails(hd_register_parameter(&m->base, "p", &m->a, hd_zeros(HD_FLOAT32, 2)), HD_VALUE,
          "hd_register_parameter: Probe: \"p\" (2,) is a plain tensor: expected a parameter "
          "(hd_parameter makes one)");
    fails(hd_register_module(&m->base, "p", &m->left, NULL), HD_NULL_ARG,
          "hd_register_module: child is NULL");
}
END_TEST

START_TEST(failure_leaves_none_in_the_field)
{
    HD_SCOPE;
    probe *m = (probe *)hd_module_new(&probe_type);
    ck_assert(!hd_register_parameter(&m->base, "p.q", &m->a, ramp_parameter(2)));
    ck_assert_ptr_eq(m->a, HD_NONE);
    ck_assert(!hd_register_module(&m->base, "p.q", &m->left, hd_relu_new(false)));
    ck_assert_ptr_null(m->left);
    hd_module_free(&m->base);
    hd_error_clear();
}
END_TEST

START_TEST(none_stays_and_has_no_name)
{
    HD_SCOPE;
    probe *m = probe_new();
    ck_assert(hd_register_parameter(&m->base, "a", &m->a, HD_NONE));
    ck_assert_ptr_eq(m->a, HD_NONE);
    ck_assert_int_eq(hd_list_len(hd_module_parameters(&m->base)), 0);
    ck_assert_ptr_null(hd_module_get_parameter(&m->base, "a"));
    ck_error(HD_VALUE, "hd_module_get_parameter: Probe has no parameter \"a\"");
    ck_assert_ptr_eq(hd_module_ready(&m->base), &m->base);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(null_modules)
{
    HD_SCOPE;
    hd_tensor *t = NULL;
    hd_module *child = NULL;
    ck_assert(!hd_register_parameter(NULL, "a", &t, ramp_parameter(1)));
    ck_error(HD_NULL_ARG, "hd_register_parameter: m is NULL");
    ck_assert(!hd_register_buffer(NULL, "a", &t, ramp_parameter(1), true));
    ck_error(HD_NULL_ARG, "hd_register_buffer: m is NULL");
    ck_assert(!hd_register_module(NULL, "a", &child, hd_relu_new(false))); /* which is freed */
    ck_error(HD_NULL_ARG, "hd_register_module: m is NULL");
    ck_assert_ptr_null(hd_module_ready(NULL));
    ck_error(HD_NULL_ARG, "hd_module_ready: m is NULL");
    ck_assert(!hd_module_train(NULL, true));
    ck_error(HD_NULL_ARG, "hd_module_train: m is NULL");
    ck_assert(!hd_module_eval(NULL));
    ck_error(HD_NULL_ARG, "hd_module_eval: m is NULL");
}
END_TEST

/* ---------------------------------------------------------------- children */

START_TEST(a_child_has_one_parent)
{
    probe *one = probe_new(), *two = probe_new();
    ck_assert(hd_register_module(&one->base, "left", &one->left, hd_relu_new(false)));
    hd_module *relu = one->left;
    ck_assert(!hd_register_module(&two->base, "left", &two->left, relu));
    ck_error(HD_STATE, "hd_register_module: ReLU has a parent already: a Probe");
    ck_assert_ptr_null(two->left);

    hd_module_free(relu);
    ck_error(HD_STATE, "hd_module_free: ReLU is a child of Probe, which frees it");
    ck_assert_ptr_eq(hd_module_get(&one->base, "left"), relu);
    hd_module_free(&one->base);
    hd_module_free(&two->base);
}
END_TEST

START_TEST(no_cycles)
{
    probe *root = probe_new(), *below = probe_new();
    ck_assert(hd_register_module(&root->base, "left", &root->left, &below->base));
    ck_assert(!hd_register_module(&root->base, "right", &root->right, &root->base));
    ck_error(HD_STATE, "hd_register_module: Probe cannot be below itself");
    ck_assert(!hd_register_module(&below->base, "left", &below->left, &root->base));
    ck_error(HD_STATE, "hd_register_module: Probe cannot be below itself");
    ck_assert_ptr_null(below->left);
    hd_module_free(&root->base);
}
END_TEST

static int freed;

static void count_free(hd_module *self)
{
    freed++;
    hd_release(((probe *)self)->b);
}

START_TEST(freeing_frees_everything_once)
{
    hd_module_type type = probe_type;
    type.free = count_free;
    probe *root = probe_new(), *child = (probe *)hd_module_new(&type);
    {
        HD_SCOPE;
        hd_assign(&child->b, ramp_parameter(3)); /* not registered: type->free frees it */
        hd_register_parameter(&child->base, "a", &child->a, ramp_parameter(3));
        hd_register_module(&root->base, "left", &root->left, hd_module_ready(&child->base));
    }
    freed = 0;
    hd_module_free(&root->base);
    ck_assert_int_eq(freed, 1);
}
END_TEST

START_TEST(a_child_is_freed_with_its_parent)
{
    if (!quarantine_on()) {
        return;
    }
    HD_SCOPE;
    probe *m = probe_new(), *left = probe_new();
    ck_assert(hd_register_module(&m->base, "left", &m->left, &left->base));
    hd_module_free(&m->base);
    ck_no_error();
    ck_assert_ptr_null(hd_forward(&left->base, hd_ones(HD_FLOAT32, 2)));
    ck_error(HD_STATE, "hd_forward: m was freed by hd_module_free of its parent");
    hd_module_free(&left->base);
    ck_error(HD_STATE, "hd_module_free: m was freed already, by hd_module_free of its parent");
    hd_module_free(&m->base);
    ck_error(HD_STATE, "hd_module_free: m was freed already, by hd_module_free");
    ck_assert(!hd_module_train(&m->base, true));
    ck_error(HD_STATE, "hd_module_train: m was freed by hd_module_free");
}
END_TEST

START_TEST(train_and_eval_reach_everything)
{
    hd_module *list[] = {hd_dropout_new(0.5, false), hd_dropout_new(0.5, false)};
    hd_module *m = hd_sequential_n(2, list);
    ck_assert(hd_module_eval(m));
    ck_assert(!hd_module_training(m) && !hd_module_training(list[1]));
    ck_assert(hd_module_train(list[1], true));
    ck_assert(!hd_module_training(m) && hd_module_training(list[1]));
    ck_assert(hd_module_train(m, true));
    ck_assert(hd_module_training(list[0]));
    hd_module_free(m);
}
END_TEST

/* The fields say what is in the tree now. What a registration has noted stays as it is. */
START_TEST(train_and_eval_follow_the_fields)
{
    probe *m = probe_new();
    hd_register_module(&m->base, "left", &m->left, hd_sequential(hd_dropout_new(0.5, false)));
    hd_register_module(&m->base, "right", &m->right, hd_dropout_new(0.5, false));
    hd_module *left = m->left, *right = m->right;
    m->left = right;
    m->right = left;
    ck_assert(hd_module_eval(&m->base));
    ck_assert(!hd_module_training(left) && !hd_module_training(right) &&
              !hd_module_training(hd_module_list_get(left, 0)));
    m->right = right; /* one module in two fields */
    ck_assert(hd_module_train(&m->base, true));
    ck_assert(hd_module_training(right) && !hd_module_training(left));
    hd_module *other = hd_sequential(hd_sequential(hd_relu_new(false)), hd_relu_new(false));
    m->left = other;
    ck_assert(hd_module_eval(&m->base));
    ck_assert(!hd_module_training(hd_module_get(&m->base, "left.0.0")) &&
              !hd_module_training(hd_module_get(&m->base, "left.1")) && !hd_module_training(right));
    m->left = left;
    ck_assert(hd_module_train(&m->base, true));
    ck_assert(hd_module_training(hd_module_list_get(left, 0)) && !hd_module_training(other));
    ck_no_error();
    hd_module_free(other); /* it was never registered */
    ck_no_error();
    hd_module_free(left);
    ck_error(HD_STATE, "hd_module_free: Sequential is a child of Probe, which frees it");
    hd_module_free(&m->base);
}
END_TEST

static bool count_modules(hd_module *m, const char *name, void *user)
{
    *(int *)user += m && name;
    return true;
}

/* As with tensors, a field that the user has emptied holds nothing that a walk would come to. */
START_TEST(a_field_without_a_module_is_passed_over)
{
    probe *m = probe_new();
    hd_register_module(&m->base, "left", &m->left, hd_linear_new(2, 2, true));
    hd_register_module(&m->base, "right", &m->right, hd_relu_new(false));
    hd_module *left = m->left;
    int n = 0;
    m->left = NULL;
    ck_assert(hd_module_eval(&m->base) && !hd_module_training(m->right));
    ck_assert(hd_module_training(left));
    ck_assert(hd_module_visit(&m->base, count_modules, &n));
    ck_assert_int_eq(n, 2);
    HD_SCOPE;
    ck_assert_int_eq(hd_list_len(hd_module_parameters(&m->base)), 0);
    ck_assert_str_eq(hd_module_summary(&m->base), "Probe(\n  (right): ReLU()\n)");
    ck_assert_ptr_null(hd_module_get(&m->base, "left"));
    ck_error(HD_VALUE, "hd_module_get: Probe has no module \"left\"");
    ck_assert_ptr_null(hd_module_get_parameter(&m->base, "left.weight"));
    ck_error(HD_VALUE, "hd_module_get_parameter: Probe has no parameter \"left.weight\"");
    m->left = left;
    hd_module_free(&m->base);
    m = probe_new();
    hd_register_module(&m->base, "left", &m->left, hd_relu_new(false));
    left = m->left;
    m->left = NULL;
    ck_assert_str_eq(hd_module_summary(&m->base), "Probe()");
    m->left = left;
    hd_module_free(&m->base);
}
END_TEST

/* ---------------------------------------------------------------- names */

/* root: a, buffer b; left: Probe with a; right: Sequential of two Linear layers */
static probe *family(void)
{
    HD_SCOPE;
    probe *root = (probe *)hd_module_new(&probe_type), *left = probe_new();
    hd_register_module(&root->base, "left", &root->left, &left->base);
    hd_register_parameter(&left->base, "a", &left->a, ramp_parameter(2));
    hd_register_module(&root->base, "right", &root->right,
                       hd_sequential(hd_linear_new(2, 3, true), hd_linear_new(3, 1, false)));
    hd_register_buffer(&root->base, "b", &root->b, hd_zeros(HD_INT64, 2), true);
    hd_register_parameter(&root->base, "a", &root->a, ramp_parameter(1));
    return (probe *)hd_module_ready(&root->base);
}

static void ck_names(hd_dict *d, int n, const char *const *names)
{
    ck_assert_int_eq(hd_dict_len(d), n);
    for (int i = 0; i < n; i++) {
        ck_assert_str_eq(hd_dict_name(d, i), names[i]);
    }
    hd_dict_free(d);
}

START_TEST(names_in_pytorchs_order)
{
    HD_SCOPE;
    probe *m = family();
    ck_names(hd_module_named_parameters(&m->base), 5,
             (const char *[]){"a", "left.a", "right.0.weight", "right.0.bias", "right.1.weight"});
    ck_names(hd_module_named_buffers(&m->base), 1, (const char *[]){"b"});
    ck_names(
        hd_module_state_dict(&m->base), 6,
        (const char *[]){"a", "b", "left.a", "right.0.weight", "right.0.bias", "right.1.weight"});
    hd_list *list = hd_module_parameters(&m->base);
    ck_assert_int_eq(hd_list_len(list), 5);
    ck_assert_ptr_eq(hd_list_get(list, 0), m->a);
    ck_assert_ptr_eq(hd_list_get(list, 2), hd_module_get_parameter(&m->base, "right.0.weight"));
    hd_module_free(&m->base);
}
END_TEST

START_TEST(a_shared_parameter_is_listed_once)
{
    HD_SCOPE;
    probe *m = probe_new(), *left = probe_new();
    hd_tensor *tied = ramp_parameter(2);
    ck_assert(hd_register_module(&m->base, "left", &m->left, &left->base));
    ck_assert(hd_register_parameter(&m->base, "a", &m->a, tied));
    ck_assert(hd_register_parameter(&left->base, "a", &left->a, tied));
    ck_assert_int_eq(hd_list_len(hd_module_parameters(&m->base)), 1);
    ck_names(hd_module_named_parameters(&m->base), 1, (const char *[]){"a"});
    ck_names(hd_module_state_dict(&m->base), 2, (const char *[]){"a", "left.a"});

    ck_assert(hd_module_to(&m->base, HD_FLOAT64)); /* still shared */
    ck_assert_ptr_eq(m->a, left->a);
    ck_assert_int_eq(hd_dtype_of(m->a), HD_FLOAT64);
    hd_module_free(&m->base);
}
END_TEST

START_TEST(lookup_by_name)
{
    HD_SCOPE;
    probe *m = family();
    hd_module *root = &m->base;
    ck_assert_ptr_eq(hd_module_get(root, ""), root);
    ck_assert_ptr_eq(hd_module_get(root, "left"), m->left);
    ck_assert_ptr_eq(hd_module_get(root, "right.1"), hd_module_list_get(m->right, 1));
    ck_assert_ptr_eq(hd_module_get_parameter(root, "left.a"), ((probe *)m->left)->a);
    ck_assert_ptr_eq(hd_module_get_buffer(root, "b"), m->b);

    ck_assert_ptr_null(hd_module_get(root, "right.2"));
    ck_error(HD_VALUE, "hd_module_get: Probe has no module \"right.2\"");
    ck_assert_ptr_null(hd_module_get(root, "right.0.weight"));
    ck_error(HD_VALUE, "hd_module_get: Probe has no module \"right.0.weight\"");
    ck_assert_ptr_null(hd_module_get_parameter(root, "b"));
    ck_error(HD_VALUE, "hd_module_get_parameter: Probe has no parameter \"b\"");
    ck_assert_ptr_null(hd_module_get_parameter(root, "lef.a"));
    ck_error(HD_VALUE, "hd_module_get_parameter: Probe has no parameter \"lef.a\"");
    ck_assert_ptr_null(hd_module_get_buffer(root, "left..a"));
    ck_error(HD_VALUE, "hd_module_get_buffer: Probe has no buffer \"left..a\"");
    ck_assert_ptr_null(hd_module_get_parameter(root, NULL));
    ck_error(HD_NULL_ARG, "hd_module_get_parameter: name is NULL");
    ck_assert_ptr_null(hd_module_get(NULL, "a"));
    ck_error(HD_NULL_ARG, "hd_module_get: m is NULL");
    ck_assert_ptr_null(hd_module_parameters(NULL));
    ck_error(HD_NULL_ARG, "hd_module_parameters: m is NULL");
    ck_assert_ptr_null(hd_module_named_parameters(NULL));
    ck_error(HD_NULL_ARG, "hd_module_named_parameters: m is NULL");
    hd_module_free(root);
}
END_TEST

static char visited[256];

static bool write_down(hd_module *m, const char *name, void *user)
{
    (void)m;
    strcat(strcat(visited, name), ";");
    return !user || strcmp(name, user) != 0;
}

START_TEST(visiting_parents_first)
{
    probe *m = family();
    visited[0] = '\0';
    ck_assert(hd_module_visit(&m->base, write_down, NULL));
    ck_assert_str_eq(visited, ";left;right;right.0;right.1;");
    visited[0] = '\0';
    ck_assert(!hd_module_visit(&m->base, write_down, (void *)"right.0"));
    ck_assert_str_eq(visited, ";left;right;right.0;");
    ck_assert(!hd_module_visit(NULL, write_down, NULL));
    ck_error(HD_NULL_ARG, "hd_module_visit: m is NULL");
    ck_assert(!hd_module_visit(&m->base, NULL, NULL));
    ck_error(HD_NULL_ARG, "hd_module_visit: f is NULL");
    hd_module_free(&m->base);
}
END_TEST

/* The root of a walk, the name at which something is freed, and the name of what is freed there;
 * or, with a tail of "=", replaced. "" is the root. */
typedef struct change {
    hd_module *root;
    const char *at, *what;
} change;

static bool change_there(hd_module *m, const char *name, void *user)
{
    const change *c = user;
    write_down(m, name, NULL);
    if (strcmp(name, c->at) == 0 && *c->what == '\0') {
        hd_module_free(c->root);
    } else if (strcmp(name, c->at) == 0 && strcmp(c->what, "right=") == 0) {
        ck_assert(hd_module_set(c->root, "right", hd_sequential(hd_relu_new(false))));
    } else if (strcmp(name, c->at) == 0) {
        hd_module_free(hd_module_take(c->root, c->what));
    }
    return true;
}

START_TEST(visiting_what_changes)
{
    static const struct {
        const char *at, *what, *visited;
    } cases[] = {
        {"left", "left", ";left;right;right.0;right.1;"},
        {"right", "right", ";left;right;"},
        {"right.0", "right", ";left;right;right.0;"},
        {"right.0", "right.0", ";left;right;right.0;right.1;"},
        {"right.0", "right.1", ";left;right;right.0;"},
        {"", "left", ";right;right.0;right.1;"},
        {"left", "right=", ";left;right;right.0;"},
        {"right", "right=", ";left;right;"},
        {"right.0", "right=", ";left;right;right.0;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        probe *m = family();
        change c = {&m->base, cases[i].at, cases[i].what};
        visited[0] = '\0';
        ck_assert(hd_module_visit(&m->base, change_there, &c));
        ck_assert_str_eq(visited, cases[i].visited);
        hd_module_free(&m->base);
    }
    if (quarantine_on()) {
        probe *m = family();
        ck_assert(!hd_module_visit(&m->base, change_there, &(change){&m->base, "left", ""}));
        ck_error(HD_STATE, "hd_module_visit: m was freed by hd_module_free");
    }
}
END_TEST

/* ---------------------------------------------------------------- containers */

START_TEST(lists)
{
    warnings_expected();
    HD_SCOPE;
    hd_module *list = hd_module_list_n(0, NULL);
    ck_assert_int_eq(hd_module_list_len(list), 0);
    for (int i = 0; i < 12; i++) {
        ck_assert(hd_module_list_append(list, hd_linear_new(1, i, false)));
    }
    ck_assert_int_eq(hd_module_list_len(list), 12);
    ck_assert_ptr_eq(hd_module_list_get(list, -1), hd_module_get(list, "11"));
    ck_assert_ptr_eq(hd_module_list_get(list, 0), hd_module_get(list, "0"));
    ck_assert_ptr_null(hd_module_list_get(list, 12));
    ck_error(HD_INDEX, "hd_module_list_get: index 12 of 12 modules: expected -12 to 11");
    ck_assert(!hd_module_list_append(list, NULL));
    ck_error(HD_NULL_ARG, "hd_module_list_append: child is NULL");
    ck_assert_int_eq(hd_module_list_len(list), 12);
    ck_assert_ptr_null(hd_forward(list, hd_ones(HD_FLOAT32, 1)));
    ck_error(
        HD_STATE,
        "hd_forward: ModuleList has no forward: expected a module whose hd_module_type has one");
    hd_module_free(list);

    hd_module *linear = hd_linear_new(1, 1, true);
    ck_assert_int_eq(hd_module_list_len(linear), -1);
    ck_error(HD_VALUE,
             "hd_module_list_len: list is a Linear: expected a ModuleList or a Sequential");
    ck_assert(!hd_module_list_append(linear, hd_relu_new(false)));
    ck_error(HD_VALUE,
             "hd_module_list_append: list is a Linear: expected a ModuleList or a Sequential");
    hd_module_free(linear);
    ck_assert(!hd_module_list_append(NULL, hd_relu_new(false)));
    ck_error(HD_NULL_ARG, "hd_module_list_append: list is NULL");
}
END_TEST

START_TEST(a_failed_list_frees_all)
{
    hd_module *relu = hd_relu_new(false);
    hd_module *with_null[] = {hd_relu_new(false), NULL, hd_relu_new(true)};
    ck_assert_ptr_null(hd_sequential_n(3, with_null));
    ck_error(HD_NULL_ARG, "hd_sequential: modules[1] is NULL");
    hd_module *twice[] = {relu, relu};
    ck_assert_ptr_null(hd_module_list_n(2, twice));
    ck_error(HD_STATE, "hd_module_list: ReLU has a parent already: a ModuleList");
    ck_assert_ptr_null(hd_sequential_n(-1, NULL));
    ck_error(HD_VALUE, "hd_sequential: n -1: expected 0 or more");
    ck_assert_ptr_null(hd_module_list_n(2, NULL));
    ck_error(HD_NULL_ARG, "hd_module_list: modules is NULL");
}
END_TEST

/* ---------------------------------------------------------------- one child for another */

START_TEST(a_child_in_anothers_place)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_register_module(&m->base, "left", &m->left,
                       hd_sequential(hd_linear_new(2, 2, true), hd_relu_new(false)));
    hd_module *root = &m->base, *gelu = hd_gelu_new("tanh"), *norm = hd_layer_norm_new(2);
    ck_assert(hd_module_set(root, "left.0", norm));
    ck_assert_ptr_eq(hd_module_get(root, "left.0"), norm);
    ck_assert_ptr_null(hd_module_get_parameter(root, "left.0.in"));
    hd_error_clear();
    hd_module_free(norm);
    ck_error(HD_STATE, "hd_module_free: LayerNorm is a child of Sequential, which frees it");
    ck_assert(hd_module_set(root, "left", gelu));
    ck_assert_ptr_eq(m->left, gelu);
    ck_assert_str_eq(hd_module_summary(root), "Probe(\n  (left): GELU(approximate='tanh')\n)");

    hd_module *taken = hd_module_take(root, "left");
    ck_assert_ptr_eq(taken, gelu);
    ck_assert_ptr_null(m->left);
    ck_assert_ptr_null(hd_module_take(root, "left"));
    ck_error(HD_VALUE, "hd_module_take: Probe has no module \"left\"");
    ck_assert(hd_module_set(root, "left", hd_sequential(taken))); /* a wrapper around it */
    ck_assert_ptr_eq(hd_module_get(root, "left.0"), gelu);
    hd_module_free(root);
}
END_TEST

START_TEST(a_place_in_a_list_stays)
{
    HD_SCOPE;
    hd_tensor *x = hd_full(HD_FLOAT32, -1, 2);
    hd_module *m = hd_sequential(hd_relu_new(false), hd_gelu_new("none"), hd_gelu_new("none"));
    hd_module *relu = hd_module_take(m, "0");
    ck_assert(same_bits(hd_forward(m, x), hd_gelu(hd_gelu(x))));
    ck_assert_int_eq(hd_module_list_len(m), 3);
    ck_assert_ptr_null(hd_module_list_get(m, 0));
    ck_error(HD_STATE, "hd_module_list_get: module 0 of this Sequential was removed by "
                       "hd_module_take. Set another one with hd_module_set");
    ck_assert_str_eq(hd_module_summary(m), "Sequential(\n  (1): GELU(approximate='none')\n"
                                           "  (2): GELU(approximate='none')\n)");
    ck_assert(hd_module_list_append(m, relu));
    ck_assert_ptr_eq(hd_module_get(m, "3"), relu);
    ck_assert(hd_module_set(m, "0", hd_dropout_new(0, false)));
    ck_assert_int_eq(hd_module_list_len(m), 4);
    hd_module_free(m);

    m = hd_module_list(hd_relu_new(false), hd_relu_new(false), hd_relu_new(false),
                       hd_relu_new(false));
    hd_module_free(hd_module_take(m, "1"));
    ck_assert_str_eq(hd_module_summary(m), "ModuleList(\n  (0): ReLU()\n  (2-3): 2 x ReLU()\n)");
    hd_module_free(m);
}
END_TEST

/* What cannot be put there is freed, unless another module frees it. */
START_TEST(what_cannot_take_a_place)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_module *root = &m->base, *inner = hd_sequential(hd_relu_new(false));
    hd_register_module(root, "left", &m->left, inner);
    ck_assert(!hd_module_set(root, "right", hd_relu_new(false)));
    ck_error(HD_VALUE, "hd_module_set: Probe has no module \"right\"");
    ck_assert(!hd_module_set(root, "left.1", hd_relu_new(false)));
    ck_error(HD_VALUE, "hd_module_set: Probe has no module \"left.1\"");
    ck_assert(!hd_module_set(root, "", hd_relu_new(false)));
    ck_error(HD_VALUE, "hd_module_set: Probe has no module \"\"");
    ck_assert(!hd_module_set(root, "left", NULL));
    ck_error(HD_NULL_ARG, "hd_module_set: child is NULL");
    ck_assert(!hd_module_set(root, NULL, hd_relu_new(false)));
    ck_error(HD_NULL_ARG, "hd_module_set: name is NULL");
    ck_assert(!hd_module_set(NULL, "left", hd_relu_new(false)));
    ck_error(HD_NULL_ARG, "hd_module_set: m is NULL");
    ck_assert(!hd_module_set(root, "left", inner));
    ck_error(HD_STATE, "hd_module_set: Sequential has a parent already: a Probe");
    ck_assert(!hd_module_set(root, "left.0", root));
    ck_error(HD_STATE, "hd_module_set: Probe cannot be below itself");
    ck_assert(!hd_module_set(root, "no", root));
    ck_error(HD_VALUE, "hd_module_set: Probe has no module \"no\"");
    ck_assert_ptr_eq(m->left, inner);
    ck_assert_ptr_null(hd_module_take(root, "right"));
    ck_error(HD_VALUE, "hd_module_take: Probe has no module \"right\"");
    hd_module_free(root);
}
END_TEST

/* The built-in classes look at what their places hold. */
START_TEST(a_dropout_of_another_class)
{
    HD_SCOPE;
    hd_module *m = hd_multi_head_attention_new(4, 4, 6, 0.5, 2, false);
    hd_tensor *x = hd_randn(HD_FLOAT32, 2, 6, 4), *want;
    hd_module_eval(m);
    want = hd_forward(m, x);
    hd_module_train(m, true);
    ck_assert(hd_module_set(m, "dropout", hd_sequential(hd_dropout_new(0, false))));
    ck_assert_double_lt(distance(hd_forward(m, x), want), 1e-6);
    hd_module_free(hd_module_take(m, "dropout"));
    ck_assert(same_bits(hd_forward(m, x), want));
    ck_assert(hd_module_set(m, "W_key", hd_relu_new(false)));
    ck_assert_ptr_null(hd_kv_cache_new(m, 1));
    ck_error(HD_VALUE, "hd_kv_cache_new: ReLU has no parameter \"weight\"");
    hd_module_free(hd_module_take(m, "out_proj"));
    ck_assert_ptr_null(hd_forward(m, x));
    ck_error(HD_NULL_ARG, "MultiHeadAttention: hd_forward: m is NULL; the field \"out_proj\" of "
                          "MultiHeadAttention is empty");
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- out of memory */

/* However many allocations succeed before one fails, a constructor that fails leaks nothing. */
START_TEST(constructors_survive_no_memory)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    hd_module *m = NULL;
    for (int64_t n = 0; !m && n < 1000; n++) {
        s.left = n;
        m = hd_multi_head_attention_new(2, 2, 3, 0.5, 2, true);
        s.left = -1;
        if (!m) {
            ck_assert_int_eq(hd_error_code(), HD_MEMORY);
            hd_error_clear();
            ck_assert_int_eq(hd_bytes_live(), 0);
        }
    }
    ck_assert_ptr_nonnull(m);
    hd_module_free(m);
    ck_assert_int_eq(hd_bytes_live(), 0);
    scarce_end();
}
END_TEST

Suite *suite_module(void)
{
    const TTest *const tests[] = {
        refuses_a_bad_type,
        new_module_is_zeroed_and_trains,
        visiting_what_changes,
        a_field_that_was_emptied,
        a_field_that_has_its_tensor_before,
        refuses_bad_names,
        refuses_bad_fields,
        refuses_bad_tensors,
        failure_leaves_none_in_the_field,
        none_stays_and_has_no_name,
        null_modules,
        a_child_has_one_parent,
        no_cycles,
        freeing_frees_everything_once,
        a_child_is_freed_with_its_parent,
        train_and_eval_reach_everything,
        train_and_eval_follow_the_fields,
        a_field_without_a_module_is_passed_over,
        names_in_pytorchs_order,
        a_shared_parameter_is_listed_once,
        lookup_by_name,
        visiting_parents_first,
        lists,
        a_failed_list_frees_all,
        a_child_in_anothers_place,
        a_place_in_a_list_stays,
        what_cannot_take_a_place,
        a_dropout_of_another_class,
        constructors_survive_no_memory,
    };
    return SUITE("module", tests);
}
