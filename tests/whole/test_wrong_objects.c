/* test_wrong_objects.c - passes an object of another type, for which a C compiler may give only a
 * warning: the function must refuse it before it reads more of it. */
#include "suites.h"

enum { OBJECTS = 8 };

/* One of each; the list and the tensors belong to the scope. */
typedef struct all {
    void *each[OBJECTS];
    hd_module *module;
    hd_optim *optim;
    hd_schedule *schedule;
    hd_kv_cache *cache;
    hd_dict *dict;
    hd_generator *generator;
    hd_list *list;
    hd_tensor *alias; /* of a tensor: its block has a header of its own */
} all;

#define LIST "a list of tensors"
#define TENSOR "a tensor"

static const char *const texts[OBJECTS] = {
    "a module",     "an optimizer", "a schedule", "a cache",
    "a dictionary", "a generator",  LIST,         TENSOR,
};

/* True if p begins a page. Its header is then not read, as the page before may be no memory. */
static bool begins_page(const void *p)
{
    return (uintptr_t)p % 4096 < 16;
}

/* Checks the error of a function to which p, whose kind is text, was given in place of another
 * kind. The message does not name the kind of an object that begins a page, except that of a
 * tensor, which is known by a mark inside of it. */
static void check_wrong(const void *p, const char *text, const char *expected, const char *function,
                        const char *arg)
{
    const bool unknown = begins_page(p) && strcmp(text, TENSOR) != 0;
    char message[160];
    if (unknown && strcmp(expected, TENSOR) == 0) {
        snprintf(message, sizeof message,
                 "%s: %s is not a tensor: it was freed long ago, or the pointer never pointed to "
                 "one",
                 function, arg);
        ck_error(HD_STATE, message);
        return;
    }
    snprintf(message, sizeof message, "%s: %s is %s: expected %s", function, arg,
             unknown ? "another thing" : text, expected);
    ck_error(HD_VALUE, message);
}

static all all_new(void)
{
    all a = {.module = hd_linear_new(3, 2, true)};
    hd_module *attention = hd_multi_head_attention_new(2, 2, 4, 0, 1, false);
    a.list = hd_module_parameters(a.module);
    a.optim = hd_sgd_new(a.list, NULL);
    a.schedule = hd_constant_lr_new(a.optim, 0.5, 2);
    a.cache = hd_kv_cache_new(attention, 1);
    a.dict = hd_dict_new();
    a.generator = hd_generator_new(1);
    a.alias = hd_detach(hd_ones(HD_FLOAT32, 2, 3));
    void *each[OBJECTS] = {a.module, a.optim,     a.schedule, a.cache,
                           a.dict,   a.generator, a.list,     a.alias};
    memcpy(a.each, each, sizeof each);
    hd_module_free(attention);
    ck_no_error();
    return a;
}

static void all_free(all *a)
{
    hd_schedule_free(a->schedule);
    hd_optim_free(a->optim);
    hd_kv_cache_free(a->cache);
    hd_dict_free(a->dict);
    hd_generator_free(a->generator);
    hd_module_free(a->module);
    ck_no_error();
}

/* Calls `call` with `wrong`, each object but the one that it expects. */
#define CK_WRONG(a, expects, expected, function, arg, call)                                        \
    do {                                                                                           \
        for (int i = 0; i < OBJECTS; i++) {                                                        \
            void *wrong = (a).each[i];                                                             \
            if (wrong != (void *)(expects)) {                                                      \
                call;                                                                              \
                check_wrong(wrong, texts[i], expected, function, arg);                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

START_TEST(in_the_place_of_a_tensor)
{
    all a = all_new();
    CK_WRONG(a, a.alias, TENSOR, "hd_print", "x", hd_print(wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_forward", "x", hd_forward(a.module, wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_add", "b", hd_add(a.alias, wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_backward", "loss", hd_backward(wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_numel", "x", hd_numel(wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_retain", "t", hd_retain(wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_release", "t", hd_release(wrong));
    CK_WRONG(a, a.alias, TENSOR, "hd_parameter", "x", hd_parameter(wrong, true));
    CK_WRONG(a, a.alias, TENSOR, "hd_list_append", "t", hd_list_append(a.list, wrong));
    all_free(&a);
}
END_TEST

/* So many that some begin a page */
START_TEST(many_objects_of_one_kind)
{
    enum { MANY = 2000 };
    static hd_dict *dicts[MANY];
    int first = 0;
    for (int i = 0; i < MANY; i++) {
        void *wrong = dicts[i] = hd_dict_new();
        ck_assert_int_eq(hd_list_len(wrong), -1);
        check_wrong(wrong, "a dictionary", LIST, "hd_list_len", "l");
        ck_assert_int_eq(hd_numel(wrong), -1);
        check_wrong(wrong, "a dictionary", TENSOR, "hd_numel", "x");
        first += begins_page(wrong);
    }
    for (int i = 0; i < MANY; i++) {
        hd_dict_free(dicts[i]);
    }
    printf("%d of %d dictionaries begin a page\n", first, MANY);
}
END_TEST

START_TEST(in_the_place_of_a_list)
{
    all a = all_new();
    CK_WRONG(a, a.list, LIST, "hd_sgd_new", "parameters", hd_sgd_new(wrong, NULL));
    CK_WRONG(a, a.list, LIST, "hd_adamw_new", "parameters", hd_adamw_new(wrong, NULL));
    CK_WRONG(a, a.list, LIST, "hd_list_len", "l", hd_list_len(wrong));
    all_free(&a);
}
END_TEST

START_TEST(in_the_place_of_an_object)
{
    all a = all_new();
    const char *module = "a module", *optim = "an optimizer", *dict = "a dictionary";
    CK_WRONG(a, a.module, module, "hd_forward", "m", hd_forward(wrong, a.alias));
    CK_WRONG(a, a.module, module, "hd_module_parameters", "m", hd_module_parameters(wrong));
    CK_WRONG(a, a.module, module, "hd_kv_cache_new", "attention", hd_kv_cache_new(wrong, 1));
    CK_WRONG(a, a.optim, optim, "hd_optim_step", "o", hd_optim_step(wrong));
    CK_WRONG(a, a.optim, optim, "hd_step_lr_new", "o", hd_step_lr_new(wrong, 1, 0.5));
    CK_WRONG(a, a.optim, optim, "hd_optim_save", "o", hd_optim_save(wrong, a.dict, "o"));
    CK_WRONG(a, a.dict, dict, "hd_optim_save", "d", hd_optim_save(a.optim, wrong, "o"));
    CK_WRONG(a, a.dict, dict, "hd_dict_len", "d", hd_dict_len(wrong));
    CK_WRONG(a, a.schedule, "a schedule", "hd_schedule_step", "s", hd_schedule_step(wrong));
    CK_WRONG(a, a.generator, "a generator", "hd_generator_use", "g", hd_generator_use(wrong));
    all_free(&a);
}
END_TEST

START_TEST(freed_as_another_object)
{
    all a = all_new();
    CK_WRONG(a, a.module, "a module", "hd_module_free", "m", hd_module_free(wrong));
    CK_WRONG(a, a.optim, "an optimizer", "hd_optim_free", "o", hd_optim_free(wrong));
    CK_WRONG(a, a.dict, "a dictionary", "hd_dict_free", "d", hd_dict_free(wrong));
    CK_WRONG(a, a.cache, "a cache", "hd_kv_cache_free", "c", hd_kv_cache_free(wrong));
    all_free(&a);
}
END_TEST

START_TEST(what_is_no_object)
{
    hd_module *m = hd_linear_new(3, 2, true);
    struct {
        _Alignas(16) char before[16], text[240];
    } other = {"", "a text that has the size of a tensor"};
    ck_assert_ptr_null(hd_forward(m, (hd_tensor *)(void *)other.text));
    ck_error(HD_STATE, "hd_forward: x is not a tensor: it was freed long ago, or the pointer never "
                       "pointed to one");
    ck_assert(!hd_optim_step((hd_optim *)(void *)other.text));
    ck_error(HD_VALUE, "hd_optim_step: o is another thing: expected an optimizer");
    hd_module_free(m);
}
END_TEST

Suite *suite_wrong_objects(void)
{
    const TTest *const tests[] = {
        in_the_place_of_a_tensor,  in_the_place_of_a_list,  many_objects_of_one_kind,
        in_the_place_of_an_object, freed_as_another_object, what_is_no_object,
    };
    return SUITE_OF("wrong objects", tests);
}
