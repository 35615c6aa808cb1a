/* freed_rows.h - runs the rows that check_null_table --freed generates: each calls a function with
 * a freed object for one of its pointers. The call must fail once, with HD_STATE, and name the
 * function and the parameter.
 *
 * A function gone_x() makes an x, frees it and returns the pointer. Each row calls it anew, because
 * heed recognises only the objects that were freed last. */
#ifndef HEED_TESTS_FREED_ROWS_H
#define HEED_TESTS_FREED_ROWS_H

#include <stdlib.h>
#include <unistd.h>

#include "heed/heed.h"
#include "null_rows.h"
#include "quarantine.h"

/* ---------------------------------------------------------------- freed things */

static inline hd_tensor *gone_tensor(void)
{
    HD_SCOPE;
    return hd_ones(HD_FLOAT32, 2, 3);
}

static inline hd_list *gone_list(void)
{
    HD_SCOPE;
    return hd_list_of(hd_ones(HD_FLOAT32, 2));
}

/* Of these and of gone_modules the second one is alive. */
static inline hd_tensor *const *gone_tensors(void)
{
    static hd_tensor *tensors[2];
    tensors[1] = hd_ones(HD_FLOAT32, 2, 3);
    tensors[0] = gone_tensor();
    return tensors;
}

#define GONE(type, name, make)                                                                     \
    static inline type *gone_##name(void)                                                          \
    {                                                                                              \
        HD_SCOPE;                                                                                  \
        type *p = make;                                                                            \
        hd_##name##_free(p);                                                                       \
        return p;                                                                                  \
    }

static inline hd_optim *some_optim(void)
{
    return hd_sgd_new(hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2), true)), NULL);
}

GONE(hd_dict, dict, hd_dict_new())
GONE(hd_generator, generator, hd_generator_new(1))
GONE(hd_module, module, hd_linear_new(2, 3, true))
GONE(hd_optim, optim, some_optim())
GONE(hd_tokenizer, tokenizer, hd_tokenizer_bytes())
GONE(hd_tokens, tokens, hd_tokens_from(hd_arange(0, 9, 1)))

static inline hd_module *const *gone_modules(void)
{
    static hd_module *modules[2];
    modules[0] = gone_module();
    modules[1] = hd_relu_new(false);
    return modules;
}

static inline hd_schedule *gone_schedule(void)
{
    hd_optim *o = some_optim();
    hd_schedule *s = hd_constant_lr_new(o, 1, 0);
    hd_schedule_free(s);
    hd_optim_free(o);
    return s;
}

static inline hd_dataset *gone_dataset(void)
{
    hd_tokens *t = hd_tokens_from(hd_arange(0, 9, 1));
    hd_dataset *s = hd_windows_new(t, 2, 2);
    hd_tokens_free(t);
    hd_dataset_free(s);
    return s;
}

static inline hd_loader *gone_loader(void)
{
    hd_tokens *t = hd_tokens_from(hd_arange(0, 9, 1));
    hd_dataset *s = hd_windows_new(t, 2, 2);
    hd_loader *l = hd_loader_new(s, NULL);
    hd_loader_free(l);
    hd_dataset_free(s);
    hd_tokens_free(t);
    return l;
}

static inline hd_kv_cache *gone_kv_cache(void)
{
    hd_module *m = hd_multi_head_attention_new(3, 4, 2, 0, 2, false);
    hd_kv_cache *c = hd_kv_cache_new(m, 1);
    hd_kv_cache_free(c);
    hd_module_free(m);
    return c;
}

static inline hd_safetensors *gone_safetensors(void)
{
    char path[] = "/tmp/heed-freed-XXXXXX";
    close(mkstemp(path));
    hd_dict *d = hd_dict_new();
    hd_save_safetensors(path, d);
    hd_dict_free(d);
    hd_safetensors *f = hd_safetensors_open(path, NULL);
    hd_safetensors_close(f);
    unlink(path);
    return f;
}

/* ---------------------------------------------------------------- rows */

static inline void found_freed(const char *function, const char *parameter, bool nothing,
                               uint64_t failures)
{
    char rest[120], item[120];
    snprintf(rest, sizeof rest, ": %s was freed", parameter);
    snprintf(item, sizeof item, ": %s[0] was freed", parameter);
    if (!nothing) {
        tell(function, parameter, "gives a result for a freed one");
    }
    if (failures != 1) {
        tell(function, parameter, "a freed one is not counted as one failure");
    }
    if ((!names(hd_error_message(), function, rest) &&
         !names(hd_error_message(), function, item)) ||
        hd_error_code() != HD_STATE) {
        tell(function, parameter, hd_error_message());
    }
    hd_error_clear();
}

#define FREED_CALL(function, parameter, nothing_of)                                                \
    do {                                                                                           \
        uint64_t count = hd_error_count();                                                         \
        bool nothing = nothing_of;                                                                 \
        found_freed(#function, #parameter, nothing, hd_error_count() - count);                     \
    } while (0);
#define FREED(function, parameter, call) FREED_CALL(function, parameter, gives_nothing(call))
#define FREED_ANY(function, parameter, call) FREED_CALL(function, parameter, ((void)(call), true))

#endif
