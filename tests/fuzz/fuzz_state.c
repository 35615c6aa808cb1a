/* fuzz_state.c - fuzzes the saved states of objects. The bytes are the state of one object, as a
 * checkpoint has it: a byte that chooses the object, a byte of flags, and a safetensors file. The
 * file is loaded as a checkpoint, and the dictionary into the object. A refused load must leave the
 * object unchanged. After a successful one, saving the object must give the loaded state, the
 * object is used, and its good state must load again.
 *
 * If HEED_FUZZ_SEEDS names a folder, the good state of each object is written to it. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "mutate.h"
#include "optimizers_made.h"

enum { STRANGE = 1, STRICT = 2, MAPPED = 4 }; /* flags */

/* An object whose state is saved and loaded. */
typedef struct object {
    void *it; /* what the three functions get */
    bool (*save)(void *it, hd_dict *d);
    bool (*load)(void *it, const hd_dict *d);
    void (*use)(void *it); /* whatever it does, without a crash; errors are allowed */
    const char *name;
    hd_dict *good; /* its state at the start, in memory of its own */
} object;

enum { OBJECTS = 40 };
static object objects[OBJECTS];
static int n_objects;
static bool strict = true;
static hd_dict *nothing;

/* ---------------------------------------------------------------- modules */

static hd_module *model;
static hd_tensor *model_in; /* (2, 3) int64 */

static bool module_save(void *it, hd_dict *d)
{
    hd_dict *state = hd_module_state_dict(it);
    bool ok = state;
    for (int64_t i = 0; ok && i < hd_dict_len(state); i++) {
        const char *name = hd_dict_name(state, i);
        ok = hd_dict_set(d, name, hd_dict_get(state, name));
    }
    hd_dict_free(state);
    return ok;
}

static bool module_load(void *it, const hd_dict *d)
{
    hd_dict *report = hd_dict_new();
    bool ok = hd_module_load_state_dict(it, d, strict, report);
    fuzz_check(!ok || !strict || hd_dict_len(report) == 0, "it was loaded, with a report");
    hd_dict_free(report);
    return ok;
}

static void module_use(void *it)
{
    fuzz_check(hd_forward(it, model_in), "a loaded model does not run");
}

static bool grads_save(void *it, hd_dict *d)
{
    return hd_module_save_grads(it, d, "g");
}

static bool grads_load(void *it, const hd_dict *d)
{
    return hd_module_load_grads(it, d, "g");
}

static void grads_use(void *it)
{
    hd_list *p = hd_module_parameters(it);
    hd_clip_grad_norm_(p, 1, 2, false);
    hd_clip_grad_value_(p, 0.5);
}

/* ---------------------------------------------------------------- optimizers and schedules */

static hd_list *parameters, *more_parameters; /* (2, 3) and (3,); (2,) float64 */

static bool optim_save(void *it, hd_dict *d)
{
    return hd_optim_save(it, d, "");
}

static bool optim_load(void *it, const hd_dict *d)
{
    return hd_optim_load(it, d, "");
}

static void set_gradients(void)
{
    for (int64_t i = 0; i < hd_list_len(parameters); i++) {
        hd_tensor *p = hd_list_get(parameters, i);
        hd_set_grad(p, hd_ones_like(p, hd_dtype_of(p)));
    }
    hd_tensor *p = hd_list_get(more_parameters, 0);
    hd_set_grad(p, hd_ones_like(p, hd_dtype_of(p)));
}

static void optim_use(void *it)
{
    set_gradients();
    hd_optim_step(it);
    hd_error_clear();
    hd_optim_step(it);
    hd_optim_zero_grad(it);
}

typedef struct plan {
    hd_schedule *s;
    hd_optim *o;
} plan;

static bool plan_save(void *it, hd_dict *d)
{
    return hd_schedule_save(((plan *)it)->s, d, "s");
}

static bool plan_load(void *it, const hd_dict *d)
{
    return hd_schedule_load(((plan *)it)->s, d, "s");
}

static void plan_use(void *it)
{
    plan *p = it;
    hd_schedule_step(p->s);
    hd_error_clear();
    hd_schedule_step(p->s);
    optim_use(p->o);
}

static void plateau_use(void *it)
{
    plan *p = it;
    for (int i = 0; i < 4; i++) {
        fuzz_check(hd_schedule_step_metric(p->s, i), "no step of a plateau");
    }
    optim_use(p->o);
}

/* ---------------------------------------------------------------- data and generators */

static bool loader_save(void *it, hd_dict *d)
{
    return hd_loader_save(it, d, "l");
}

static bool loader_load(void *it, const hd_dict *d)
{
    return hd_loader_load(it, d, "l");
}

static void loader_use(void *it)
{
    for (int i = 0; i < 12; i++) {
        hd_loader_next(it, NULL, NULL);
        hd_error_clear();
    }
}

static bool generator_save(void *it, hd_dict *d)
{
    return hd_generator_save(it, d, "g");
}

static bool generator_load(void *it, const hd_dict *d)
{
    return hd_generator_load(it, d, "g");
}

static void generator_use(void *it)
{
    hd_generator_use(it);
    hd_generator_random64(it);
    hd_randn(HD_FLOAT32, 3);
    hd_randn(HD_FLOAT64, 40);
    hd_randperm(7);
    hd_dropout(hd_ones(HD_FLOAT32, 9), 0.5, true);
    for (int i = 0; i < 640; i++) {
        hd_generator_random(it);
    }
    hd_generator_use(NULL);
}

/* ---------------------------------------------------------------- the table */

static void add(const char *name, void *it, bool (*save)(void *, hd_dict *),
                bool (*load)(void *, const hd_dict *), void (*use)(void *))
{
    fuzz_check(it && n_objects < OBJECTS, "'%s' cannot be made", name);
    objects[n_objects++] = (object){it, save, load, use, name, NULL};
}

#define OPTIM_NUMBER(kind, ...) OPTIM_##kind,
enum { OPTIMIZERS(OPTIM_NUMBER) OPTIMS, FIRST_OPTIMS = 5 };
#define OPTIM_NAME(kind, name, ...) name,
static const char *const optim_names[] = {OPTIMIZERS(OPTIM_NAME)};

/* With every state in use. */
static hd_optim *new_optim(int number)
{
    hd_optim *made = NULL;
#define OPTIM_NEW(kind, name, ...)                                                                 \
    if (number == OPTIM_##kind) {                                                                  \
        hd_##kind##_options o = hd_##kind##_defaults();                                            \
        __VA_ARGS__;                                                                               \
        made = hd_##kind##_new(parameters, &o);                                                    \
    }
    OPTIMIZERS(OPTIM_NEW)
    fuzz_check(made && hd_optim_add_group(made, more_parameters, NULL), "no optimizer");
    optim_use(made);
    return made;
}

static hd_schedule *new_schedule(int kind, hd_optim *o)
{
    hd_cosine_warmup_options cosine = hd_cosine_warmup_defaults();
    hd_one_cycle_options cycle = hd_one_cycle_defaults();
    cosine.warmup_steps = 3, cosine.total_steps = 9, cycle.total_steps = 8;
    switch (kind) {
    case 0: return hd_constant_lr_new(o, 0.5, 4);
    case 1: return hd_step_lr_new(o, 3, 0.5);
    case 2: return hd_linear_lr_new(o, 0.1, 1, 5);
    case 3: return hd_cosine_warmup_new(o, &cosine);
    default: return hd_one_cycle_new(o, &cycle);
    }
}

static void add_optims(void)
{
    static const char *const kinds[] = {"constant", "steps", "linear", "cosine", "one cycle"};
    static plan plans[5];
    parameters = hd_list_of(hd_parameter(hd_ones(HD_FLOAT32, 2, 3), true),
                            hd_parameter(hd_ones(HD_FLOAT32, 3), true));
    more_parameters = hd_list_of(hd_parameter(hd_ones(HD_FLOAT64, 2), true));
    for (int i = 0; i < FIRST_OPTIMS; i++) {
        add(optim_names[i], new_optim(i), optim_save, optim_load, optim_use);
    }
    for (int i = 0; i < 5; i++) {
        plans[i].o = new_optim(i == 4 ? OPTIM_adamw : OPTIM_sgd);
        plans[i].s = new_schedule(i, plans[i].o);
        fuzz_check(plans[i].s && hd_schedule_step(plans[i].s), "no schedule");
        add(kinds[i], &plans[i], plan_save, plan_load, plan_use);
    }
}

static void add_loaders(void)
{
    hd_loader_options o = hd_loader_defaults();
    hd_tokens *t = hd_tokens_from(hd_arange(0, 20, 1));
    hd_dataset *s = hd_windows_new(t, 3, 2);
    hd_loader *plain = hd_loader_new(s, NULL);
    o.shuffle = true, o.batch_size = 2, o.generator = hd_generator_new(3);
    hd_loader *shuffled = hd_loader_new(s, &o);
    hd_loader_next(shuffled, NULL, NULL);
    add("loader", plain, loader_save, loader_load, loader_use);
    add("shuffled loader", shuffled, loader_save, loader_load, loader_use);
}

/* After the objects that were there first, so that their numbers stay. */
static void add_later_schedules(void)
{
    static plan plans[2];
    hd_cosine_annealing_options annealing = hd_cosine_annealing_defaults();
    hd_reduce_on_plateau_options plateau = hd_reduce_on_plateau_defaults();
    annealing.T_max = 3, plateau.patience = 1, plateau.cooldown = 2;
    plans[0].o = new_optim(OPTIM_sgd), plans[1].o = new_optim(OPTIM_sgd);
    plans[0].s = hd_cosine_annealing_new(plans[0].o, &annealing);
    plans[1].s = hd_reduce_on_plateau_new(plans[1].o, &plateau);
    add("annealing", &plans[0], plan_save, plan_load, plan_use);
    add("plateau", &plans[1], plan_save, plan_load, plateau_use);
    plan_use(&plans[0]);
    plateau_use(&plans[1]);
}

/* After all others, for the same reason. */
static void add_later_optims(void)
{
    for (int i = FIRST_OPTIMS; i < OPTIMS; i++) {
        add(optim_names[i], new_optim(i), optim_save, optim_load, optim_use);
    }
}

/* Before the last two schedules, for the same reason. */
static void add_loader_of_a_rank(void)
{
    hd_loader_options o = hd_loader_defaults();
    hd_tokens *t = hd_tokens_from(hd_arange(0, 20, 1));
    hd_dataset *s = hd_windows_new(t, 3, 2);
    o.shuffle = true, o.batch_size = 2, o.num_replicas = 2, o.rank = 1, o.seed = 4;
    hd_loader *l = hd_loader_new(s, &o);
    hd_loader_next(l, NULL, NULL);
    add("loader of a rank", l, loader_save, loader_load, loader_use);
}

static void add_modules(void)
{
    model = hd_sequential(hd_embedding_new(5, 4, 0), hd_layer_norm_new(4),
                          hd_multi_head_attention_new(4, 4, 3, 0.1, 2, true), hd_gelu_new("tanh"),
                          hd_linear_new(4, 2, true));
    model_in = hd_from_data(HD_INT64, ((int64_t[]){0, 1, 2, 4, 3, 0}), 2, 3);
    fuzz_check(hd_backward(hd_sum(hd_forward(model, model_in))), "no gradients");
    add("module", model, module_save, module_load, module_use);
    add("gradients", model, grads_save, grads_load, grads_use);
}

/* ---------------------------------------------------------------- checkpoints */

static const char *folder(void)
{
    static char path[128];
    if (!*path) {
        snprintf(path, sizeof path, "%s", fuzz_path("checkpoint"));
        fuzz_check(mkdir(path, 0700) == 0, "'%s' cannot be made", path);
    }
    return path;
}

static void link_file(const char *name, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    unlink(path);
    fuzz_check(symlink(file, path) == 0, "'%s' cannot be made", path);
}

/* The dictionary of a checkpoint whose state these bytes are; NULL: they are refused. */
static hd_dict *load_state(const uint8_t *data, size_t size)
{
    hd_dict *state = NULL, *weights = NULL;
    fuzz_file(1, data, size);
    const bool ok = hd_checkpoint_load(folder(), &weights, &state);
    fuzz_verdict(ok, "hd_checkpoint_load");
    fuzz_check(!ok == !state && !ok == !weights, "half a checkpoint");
    hd_dict_free(weights);
    return state;
}

/* A copy of d, so that later changes of an object do not reach it. */
static hd_dict *copy_of(const hd_dict *d)
{
    hd_dict *to = hd_dict_new();
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        int64_t n;
        double v;
        switch (hd_dict_kind_of(d, name)) {
        case HD_DICT_TENSOR: hd_dict_set(to, name, hd_clone(hd_dict_get(d, name))); break;
        case HD_DICT_INT: hd_dict_get_int(d, name, &n), hd_dict_set_int(to, name, n); break;
        case HD_DICT_DOUBLE:
            hd_dict_get_double(d, name, &v), hd_dict_set_double(to, name, v);
            break;
        default: hd_dict_set_string(to, name, hd_dict_get_string(d, name));
        }
    }
    fuzz_check(hd_error_code() == HD_OK, "a dictionary cannot be copied");
    return to;
}

static void write_seed(const object *o, int i)
{
    char path[512];
    size_t n;
    if (!getenv("HEED_FUZZ_SEEDS")) {
        return;
    }
    hd_checkpoint_remove(fuzz_path("seed"));
    hd_error_clear();
    fuzz_check(hd_checkpoint_save(fuzz_path("seed"), nothing, o->good), "no seed");
    char *bytes = fuzz_read(fuzz_path("seed/state.safetensors"), &n);
    snprintf(path, sizeof path, "%s/good-%d", getenv("HEED_FUZZ_SEEDS"), i);
    FILE *f = fopen(path, "wb");
    fuzz_check(f && fputc(i, f) == i && fputc(STRICT, f) == STRICT && fwrite(bytes, 1, n, f) == n &&
                   fclose(f) == 0,
               "'%s' cannot be written", path);
    free(bytes);
}

/* ---------------------------------------------------------------- one input */

/* Each tensor of d becomes one with the same elements in another order in memory. */
static void make_strange(hd_dict *d)
{
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR) {
            hd_tensor *x = hd_dict_get(d, name);
            if (hd_ndim(x) > 0 && hd_ndim(x) < HD_MAX_DIMS && hd_numel(x) > 0) {
                x = hd_contiguous(hd_transpose(x, 0, -1));
                x = hd_transpose(x, 0, -1);
                bool stacks = hd_dtype_of(x) != HD_BFLOAT16; /* which is for storing only */
                x = stacks ? hd_select(hd_stack(0, x, x), 0, 1) : x;
            }
            fuzz_check(hd_dict_set(d, name, x), "'%s' cannot be set", name);
        }
    }
}

/* A generator without a spare normal keeps no number for it. */
static bool is_unused(const hd_dict *saved, const char *name)
{
    int64_t has = 1;
    return strcmp(name, "g.spare") == 0 && hd_dict_get_int(saved, "g.has_spare", &has) && !has;
}

/* What the object saves is what d has, where both have the name with the same kind and dtype. */
static void holds(const object *o, const hd_dict *saved, const hd_dict *d)
{
    for (int64_t i = 0; i < hd_dict_len(saved); i++) {
        const char *name = hd_dict_name(saved, i);
        hd_dict_kind kind = hd_dict_kind_of(saved, name);
        if (kind != hd_dict_kind_of(d, name) || is_unused(saved, name)) {
            continue;
        }
        if (kind == HD_DICT_TENSOR) {
            hd_tensor *x = hd_dict_get(saved, name), *y = hd_dict_get(d, name);
            fuzz_check(hd_dtype_of(x) != hd_dtype_of(y) || fuzz_same_tensor(x, y),
                       "%s: '%s' is not what was loaded", o->name, name);
        } else if (kind == HD_DICT_INT) {
            int64_t a, b;
            fuzz_check(hd_dict_get_int(saved, name, &a) && hd_dict_get_int(d, name, &b) && a == b,
                       "%s: '%s' is not what was loaded", o->name, name);
        } else if (kind == HD_DICT_DOUBLE) {
            double a, b;
            fuzz_check(hd_dict_get_double(saved, name, &a) && hd_dict_get_double(d, name, &b) &&
                           (a == b || (isnan(a) && isnan(b))),
                       "%s: '%s' is not what was loaded", o->name, name);
        }
    }
}

static void loaded(const object *o, const hd_dict *d)
{
    hd_dict *saved = hd_dict_new();
    fuzz_check(o->save(o->it, saved), "%s: what was loaded cannot be saved", o->name);
    holds(o, saved, d);
    hd_dict *copy = copy_of(saved);
    fuzz_check(o->load(o->it, copy), "%s: what was saved cannot be loaded", o->name);
    hd_dict_free(saved);
    saved = hd_dict_new();
    fuzz_check(o->save(o->it, saved) && fuzz_same_dict(saved, copy), "%s: it is saved otherwise",
               o->name);
    hd_dict_free(saved);
    hd_dict_free(copy);
    o->use(o->it);
    hd_error_clear();
}

static void as_before(const object *o)
{
    hd_dict *now = hd_dict_new();
    fuzz_check(o->save(o->it, now) && fuzz_same_dict(now, o->good),
               "%s: a state that was refused has changed it", o->name);
    hd_dict_free(now);
}

void fuzz_setup(void)
{
    size_t n;
    nothing = hd_dict_new();
    fuzz_check(hd_save_safetensors(fuzz_path("empty"), nothing), "an empty file cannot be saved");
    char *empty = fuzz_read(fuzz_path("empty"), &n);
    link_file("model.safetensors", fuzz_file(0, empty, n));
    link_file("state.safetensors", fuzz_file(1, empty, n));
    free(empty);
    add_modules();
    add_optims();
    add_loaders();
    add("generator", hd_generator_new(5), generator_save, generator_load, generator_use);
    add_loader_of_a_rank();
    add_later_schedules();
    add_later_optims();
    for (int i = 0; i < n_objects; i++) {
        hd_dict *d = hd_dict_new();
        fuzz_check(objects[i].save(objects[i].it, d), "%s: not saved", objects[i].name);
        objects[i].good = copy_of(d);
        hd_dict_free(d);
        write_seed(&objects[i], i);
        loaded(&objects[i], objects[i].good); /* so that all its memory is there */
        fuzz_check(objects[i].load(objects[i].it, objects[i].good), "%s: its good state is refused",
                   objects[i].name);
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    const object *o = &objects[fuzz_byte(&in) % n_objects];
    const uint8_t flags = fuzz_byte(&in);
    hd_dict *d = load_state(in.at, (size_t)(in.end - in.at));
    if (!d) {
        return;
    }
    if (flags & STRANGE) {
        make_strange(d);
    }
    strict = flags & STRICT;
    if (fuzz_verdict(o->load(o->it, d), o->name)) {
        loaded(o, d);
        strict = true;
        fuzz_check(o->load(o->it, o->good), "%s: its good state is refused", o->name);
    }
    as_before(o);
    hd_dict_free(d);
}

#ifdef FUZZ_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* One change in 16 is of the first two bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    if (size < 2 || seed % 16 == 0) {
        if (size < 2 || max < 2) {
            return LLVMFuzzerMutate(data, size, max);
        }
        data[seed / 16 % 2] = (uint8_t)(seed / 32);
        return size;
    }
    return 2 + mutate_safetensors(data + 2, size - 2, max - 2, seed);
}
#endif
