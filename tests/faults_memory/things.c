/* things.c - the kinds of things that a call takes, changes or returns. For each kind: its value
 * after a failed call, its visible content, and how to free it. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "faults_memory/faults.h"

enum { PATH_ROOM = 512 };

/* ---------------------------------------------------------------- tensors */

static void see_values_of(picture *p, const char *name, const char *aspect, const hd_tensor *x)
{
    size_t n = (size_t)hd_numel(x) * (size_t)hd_dtype_size(hd_dtype_of(x));
    char *bytes = malloc(n + 1);
    hd_copy_to(x, bytes, n);
    see(p, name, aspect, bytes, n);
    free(bytes);
}

static void see_values(picture *p, const char *name, const hd_tensor *x)
{
    see_values_of(p, name, "its values", x);
}

static void see_layout_of(picture *p, const char *name, const char *aspect, const hd_tensor *x)
{
    int64_t layout[3 + 2 * HD_MAX_DIMS] = {hd_ndim(x), hd_dtype_of(x), hd_storage_offset(x)};
    for (int d = 0; d < hd_ndim(x); d++) {
        layout[3 + d] = hd_size(x, d);
        layout[3 + HD_MAX_DIMS + d] = hd_stride(x, d);
    }
    see(p, name, aspect, layout, sizeof layout);
}

static void see_layout(picture *p, const char *name, const hd_tensor *x)
{
    see_layout_of(p, name, "its layout", x);
}

static void see_graph(picture *p, const char *name, hd_tensor *x)
{
    bool flags[] = {hd_requires_grad(x), hd_is_leaf(x), hd_is_parameter(x)};
    see(p, name, "whether it requires grad", flags, sizeof flags);
    see_text(p, name, "its grad_fn", hd_grad_fn(x));
    if (flags[0]) {
        see_address(p, name, "its node", hd_grad_node(x));
    }
}

static void see_tensor(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_tensor *x = (hd_tensor *)(uintptr_t)t->p, *grad;
    if (!x || x == HD_NONE) {
        see_text(p, name, "whether it is a tensor", x ? "HD_NONE" : NULL);
        return;
    }
    int64_t version = hd_version_of(x);
    see_layout(p, name, x);
    see_values(p, name, x);
    see(p, name, "its version", &version, sizeof version);
    see_graph(p, name, x);
    grad = hd_grad(x);
    if (grad != HD_NONE) {
        version = hd_version_of(grad);
        see_values_of(p, name, "its gradient", grad);
        see_layout_of(p, name, "its gradient's layout", grad);
        see(p, name, "its gradient's version", &version, sizeof version);
    }
    see(p, name, "whether it has a gradient", &(bool){grad != HD_NONE}, 1);
}

static void see_list(picture *p, const char *name, const thing *t)
{
    int64_t n = t->p ? hd_list_len(t->p) : -1;
    see(p, name, "its length", &n, sizeof n);
    for (int64_t i = 0; i < n; i++) {
        thing each = thing_of_tensor(hd_list_get(t->p, i));
        see_address(p, name, "its tensors", each.p);
        see_tensor(p, name, &each);
    }
}

static void see_node(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    int inputs = hd_node_inputs(t->p);
    see_text(p, name, "its name", hd_node_name(t->p));
    see(p, name, "its inputs", &inputs, sizeof inputs);
}

/* ---------------------------------------------------------------- dictionaries */

static void see_entry(picture *p, const char *label, const hd_dict *d, const char *name)
{
    int64_t whole;
    double number;
    thing tensor;
    switch (hd_dict_kind_of(d, name)) {
    case HD_DICT_TENSOR:
        tensor = thing_of_tensor(hd_dict_get(d, name));
        see_values(p, label, tensor.p);
        see_layout(p, label, tensor.p);
        break;
    case HD_DICT_STRING: see_text(p, label, "its text", hd_dict_get_string(d, name)); break;
    case HD_DICT_INT:
        hd_dict_get_int(d, name, &whole);
        see(p, label, "its number", &whole, sizeof whole);
        break;
    default:
        hd_dict_get_double(d, name, &number);
        see(p, label, "its number", &number, sizeof number);
    }
}

static void see_dict(picture *p, const char *name, const thing *t)
{
    const hd_dict *d = t->p;
    int64_t n = d ? hd_dict_len(d) : -1;
    for (int64_t i = 0; i < n; i++) {
        char label[PICTURE_LABEL];
        snprintf(label, sizeof label, "%s, entry %s", name, hd_dict_name(d, i));
        see_entry(p, label, d, hd_dict_name(d, i));
    }
    see(p, name, "the number of its entries", &n, sizeof n);
}

static void free_dict(thing *t)
{
    hd_dict_free((hd_dict *)(uintptr_t)t->p);
}

/* What a function that saves state writes is the picture of that state. */
static void see_saved(picture *p, const char *name, hd_dict *d, bool saved)
{
    thing state = thing_of_dict(d);
    see(p, name, "whether it can be saved", &saved, sizeof saved);
    see_dict(p, name, &state);
    hd_dict_free(d);
}

/* ---------------------------------------------------------------- modules and optimizers */

typedef struct place {
    picture *p;
    const char *name;
} place;

static bool see_mode(hd_module *m, const char *name, void *user)
{
    const place *at = user;
    char label[PICTURE_LABEL];
    snprintf(label, sizeof label, "%s%s%s", at->name, *name ? "." : "", name);
    see(at->p, label, "its mode", &(bool){hd_module_training(m)}, 1);
    return true;
}

static void see_tensors(picture *p, const char *name, hd_dict *d)
{
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        char label[PICTURE_LABEL];
        thing each = thing_of_tensor(hd_dict_get(d, hd_dict_name(d, i)));
        snprintf(label, sizeof label, "%s.%s", name, hd_dict_name(d, i));
        see_tensor(p, label, &each);
        see_address(p, label, "its address", each.p);
    }
    hd_dict_free(d);
}

static void see_module(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_module *m = (hd_module *)(uintptr_t)t->p;
    if (!m) {
        return;
    }
    see_text(p, name, "its summary", hd_module_summary(m));
    hd_module_visit(m, see_mode, &(place){p, name});
    see_tensors(p, name, hd_module_named_parameters(m));
    see_tensors(p, name, hd_module_named_buffers(m));
    hd_dict *state = hd_module_state_dict(m);
    see_saved(p, name, state, state);
}

static void free_module(thing *t)
{
    hd_module_free((hd_module *)(uintptr_t)t->p);
}

static void see_optim(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    see_saved(p, name, d, hd_optim_save(t->p, d, ""));
}

static void free_optim(thing *t)
{
    hd_optim_free((hd_optim *)(uintptr_t)t->p);
}

static void see_schedule(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    see_saved(p, name, d, hd_schedule_save(t->p, d, ""));
}

static void free_schedule(thing *t)
{
    hd_schedule_free((hd_schedule *)(uintptr_t)t->p);
}

static void see_generator(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    see_saved(p, name, d, hd_generator_save((hd_generator *)(uintptr_t)t->p, d, ""));
}

static void free_generator(thing *t)
{
    hd_generator_free((hd_generator *)(uintptr_t)t->p);
}

static void see_cache(picture *p, const char *name, const thing *t)
{
    int64_t len = hd_kv_cache_len(t->p);
    see(p, name, "its length", &len, sizeof len);
}

static void free_cache(thing *t)
{
    hd_kv_cache_free((hd_kv_cache *)(uintptr_t)t->p);
}

/* ---------------------------------------------------------------- data */

static void see_tokenizer(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    see_saved(p, name, d, hd_tokenizer_save(t->p, d, ""));
}

static void free_tokenizer(thing *t)
{
    hd_tokenizer_free((hd_tokenizer *)(uintptr_t)t->p);
}

static void see_tokens(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    see_values(p, name, hd_tokens_read(t->p, 0, hd_tokens_len(t->p)));
}

static void free_tokens(thing *t)
{
    hd_tokens_free((hd_tokens *)(uintptr_t)t->p);
}

static void see_dataset(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    int64_t n = hd_dataset_len(t->p);
    see(p, name, "its length", &n, sizeof n);
    for (int64_t i = 0; i < n; i++) {
        hd_tensor *input, *target;
        hd_dataset_get(t->p, i, &input, &target);
        see_values(p, name, input);
        see_values(p, name, target);
    }
}

static void free_dataset(thing *t)
{
    hd_dataset_free((hd_dataset *)(uintptr_t)t->p);
}

static void see_loader(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    hd_dict *d = hd_dict_new();
    see_saved(p, name, d, hd_loader_save(t->p, d, ""));
}

static void free_loader(thing *t)
{
    hd_loader_free((hd_loader *)(uintptr_t)t->p);
}

/* ---------------------------------------------------------------- files */

static void see_safetensors(picture *p, const char *name, const thing *t)
{
    HD_SCOPE;
    int64_t n = hd_safetensors_len(t->p);
    thing metadata = thing_of_const_dict(hd_safetensors_metadata(t->p));
    see(p, name, "its length", &n, sizeof n);
    see_dict(p, name, &metadata);
    for (int64_t i = 0; i < n; i++) {
        see_text(p, name, "its names", hd_safetensors_name(t->p, i));
        see_values(p, name, hd_safetensors_read(t->p, i));
    }
}

static void free_safetensors(thing *t)
{
    hd_safetensors_close((hd_safetensors *)(uintptr_t)t->p);
}

static void see_file(picture *p, const char *path, const struct stat *st)
{
    char *bytes = malloc((size_t)st->st_size + 1);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, (size_t)st->st_size, f) : 0;
    see(p, path, "its bytes", bytes, n);
    see(p, path, "its permissions", &st->st_mode, sizeof st->st_mode);
    if (f) {
        fclose(f);
    }
    free(bytes);
}

/* The folders below a world's folder have no folders. */
static void see_folder(picture *p, const char *name, const thing *t)
{
    struct dirent **names;
    int n = scandir(t->p, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_ROOM];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", (const char *)t->p, names[i]->d_name);
        bool hidden = strcmp(names[i]->d_name, ".") == 0 || strcmp(names[i]->d_name, "..") == 0;
        free(names[i]);
        if (hidden || stat(path, &st) != 0) {
            continue;
        }
        /* The folder's own name differs from run to run. */
        see_text(p, name, "its files", strrchr(path, '/'));
        if (S_ISDIR(st.st_mode)) {
            thing below = thing_of_folder(path);
            see_folder(p, strrchr(path, '/'), &below);
        } else {
            see_file(p, path, &st);
        }
    }
    free(n >= 0 ? names : NULL);
}

static void see_stream(picture *p, const char *name, const thing *t)
{
    FILE *f = (FILE *)(uintptr_t)t->p;
    char text[4096];
    fflush(f);
    rewind(f);
    size_t n = fread(text, 1, sizeof text, f);
    see(p, name, "what was written to it", text, n);
}

static void free_stream(thing *t)
{
    fclose((FILE *)(uintptr_t)t->p);
}

/* ---------------------------------------------------------------- texts, numbers, memory */

static bool no_text(const thing *t)
{
    return !t->p || strcmp(t->p, "NULL") == 0;
}

static void see_own_text(picture *p, const char *name, const thing *t)
{
    see_text(p, name, "its text", t->p);
}

static void free_block(thing *t)
{
    hd_free((void *)(uintptr_t)t->p);
}

static bool no_number(const thing *t)
{
    return isnan(t->number);
}

static bool no_truth(const thing *t)
{
    return t->number == 0;
}

static bool no_count(const thing *t)
{
    return t->number == -1 || t->number == (double)INT64_MIN || t->number == 0;
}

static void see_number(picture *p, const char *name, const thing *t)
{
    see(p, name, "the number", &t->number, sizeof t->number);
}

static void see_bytes(picture *p, const char *name, const thing *t)
{
    see(p, name, "its bytes", t->p, t->n);
}

static void see_whether(picture *p, const char *name, const thing *t)
{
    see(p, name, "whether it is NULL", &(bool){!t->p}, 1);
}

static void close_scope(thing *t)
{
    hd_scope_close((hd_scope *)(uintptr_t)t->p);
}

/* ---------------------------------------------------------------- the kinds */

thing thing_named(thing t, const char *name)
{
    t.name = name;
    return t;
}

#define KIND(suffix, parameter, nothing_, see_, free_)                                             \
    thing thing_of_##suffix(parameter x)                                                           \
    {                                                                                              \
        static const kind k = {nothing_, see_, free_};                                             \
        return (thing){.name = "the result", .kind = &k, .p = x};                                  \
    }
#define NUMBER(suffix, parameter, nothing_)                                                        \
    thing thing_of_##suffix(parameter x)                                                           \
    {                                                                                              \
        static const kind k = {nothing_, see_number, NULL};                                        \
        return (thing){.name = "the result", .kind = &k, .number = (double)x};                     \
    }

KIND(tensor, const hd_tensor *, NULL, see_tensor, NULL)
KIND(list, const hd_list *, NULL, see_list, NULL)
KIND(text, const char *, no_text, see_own_text, NULL)
KIND(own_text, char *, NULL, see_own_text, free_block)
KIND(dict, hd_dict *, NULL, see_dict, free_dict)
KIND(const_dict, const hd_dict *, NULL, see_dict, NULL)
KIND(module, hd_module *, NULL, see_module, free_module)
KIND(optim, hd_optim *, NULL, see_optim, free_optim)
KIND(schedule, hd_schedule *, NULL, see_schedule, free_schedule)
KIND(generator, hd_generator *, NULL, see_generator, free_generator)
KIND(tokenizer, hd_tokenizer *, NULL, see_tokenizer, free_tokenizer)
KIND(tokens, hd_tokens *, NULL, see_tokens, free_tokens)
KIND(dataset, hd_dataset *, NULL, see_dataset, free_dataset)
KIND(loader, hd_loader *, NULL, see_loader, free_loader)
KIND(cache, hd_kv_cache *, NULL, see_cache, free_cache)
KIND(safetensors, hd_safetensors *, NULL, see_safetensors, free_safetensors)
KIND(node, const hd_node *, NULL, see_node, NULL)
KIND(scope, hd_scope *, NULL, see_whether, close_scope)
KIND(block, void *, NULL, see_whether, free_block)
KIND(pointer, const void *, NULL, see_whether, NULL)
KIND(folder, const char *, NULL, see_folder, NULL)
KIND(stream, FILE *, NULL, see_stream, free_stream)
NUMBER(bool, bool, no_truth)
NUMBER(number, double, no_number)
NUMBER(count, int64_t, no_count)

thing thing_of_bytes(const void *p, size_t n)
{
    static const kind k = {NULL, see_bytes, NULL};
    return (thing){.name = "the result", .kind = &k, .p = p, .n = n};
}
