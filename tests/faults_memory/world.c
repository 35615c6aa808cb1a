/* world.c - makes the tensors, modules and files on which the rows run. Two worlds with the same
 * parts are equal. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../examples/gpt.h"
#include "faults_memory/faults.h"
#include "support/files.h"
#include "support/golden_reader.h"

void world_add(world *w, const char *name, thing t)
{
    if (w->n == WORLD_THINGS) {
        fprintf(stderr, "the world has no room for %s\n", name);
        abort();
    }
    w->things[w->n++] = thing_named(t, name);
}

#define ADD(field, ...)                                                                            \
    do {                                                                                           \
        w->field = (__VA_ARGS__);                                                                  \
        world_add(w, #field, THING(w->field));                                                     \
    } while (0)

/* ---------------------------------------------------------------- tensors */

static hd_tensor *twice(hd_tensor *grad, void *user)
{
    (void)user;
    return hd_mul_scalar(grad, 2);
}

static void begin_tensors(world *w)
{
    ADD(p, hd_requires_grad_(hd_rand(HD_FLOAT32, 3, 3), true));
    ADD(q, hd_requires_grad_(hd_rand(HD_FLOAT32, 3, 3), true));
    ADD(v, hd_requires_grad_(hd_rand(HD_FLOAT32, 3), true));
    ADD(x, hd_mul_scalar(w->p, 0.9));
    ADD(y, hd_mul_scalar(w->q, 0.8));
    ADD(z, hd_clone(hd_detach(w->y)));
    ADD(h, hd_mul(w->p, w->q));
    ADD(row, hd_select(w->h, 0, 1));
    ADD(plain, hd_rand(HD_FLOAT32, 3, 3));
    ADD(d, hd_rand(HD_FLOAT64, 3, 3));
    ADD(index, hd_from_data(HD_INT64, ((int64_t[]){1, 0}), 2));
    ADD(target, hd_from_data(HD_INT64, ((int64_t[]){1, 0, 2}), 3));
    ADD(indices, hd_from_data(HD_INT64, ((int64_t[]){1, 0, 2, 2, 1, 0, 0, 0, 1}), 3, 3));
    ADD(mask, hd_from_data(HD_BOOL, ((bool[]){1, 0, 0, 0, 1, 0, 1, 0, 1}), 3, 3));
    ADD(grad, hd_ones(HD_FLOAT32, 3, 3));
    ADD(loss, hd_sum(hd_mul(w->x, w->v)));
    ADD(hooked, hd_retain_grad(hd_mul(w->p, w->v)));
    w->hook = hd_register_hook(w->hooked, twice, NULL);
    hd_set_grad(w->q, hd_full(HD_FLOAT32, 0.25, 3, 3));
    w->slot = hd_retain(w->plain);
}

/* Tensors that are so large that they take other ways through the kernels. */
static void begin_large(world *w)
{
    ADD(wide, hd_reshape(hd_expand(hd_mul_scalar(w->p, 0.5), 27, 3, 3), 81, 3));
    ADD(long_, hd_reshape(hd_expand(w->x, 50, 3, 3), 450));
}

static const hd_module_type around_type = HD_MODULE_TYPE(hd_module, "Around", NULL);

static void begin_others(world *w)
{
    ADD(around, hd_module_new(&around_type));
    ADD(list, hd_list_of(w->x, w->y));
    ADD(leaves, hd_list_of(w->p, w->q));
    ADD(grads, hd_list_of(w->grad, w->grad));
    ADD(some_grads, hd_list_of(w->grad, HD_NONE));
    ADD(dict, hd_dict_new());
    hd_dict_set(w->dict, "tensor", w->plain);
    hd_dict_set_string(w->dict, "text", "some text");
    hd_dict_set_int(w->dict, "whole", 7);
    hd_dict_set_double(w->dict, "number", 0.5);
    ADD(generator, hd_generator_new(3));
    hd_generator_save(w->generator, w->dict, "generator");
    w->stream = tmpfile();
    world_add(w, "stream", thing_of_stream(w->stream));
}

/* ---------------------------------------------------------------- modules */

static hd_module *mixed_new(void)
{
    return hd_sequential(hd_linear_new(3, 4, true), hd_gelu_new("none"), hd_layer_norm_new(4),
                         hd_dropout_new(0.5, false), hd_linear_new(4, 3, false));
}

static hd_module *block_new(void)
{
    hd_module *att = hd_multi_head_attention_new(4, 4, 6, 0, 2, false);
    hd_module *ff = hd_feed_forward_new(4, 8);
    return hd_transformer_block_new(att, ff, hd_layer_norm_new(4), hd_layer_norm_new(4), 0);
}

static void begin_modules(world *w)
{
    ADD(linear, hd_linear_new(3, 3, true));
    ADD(mixed, mixed_new());
    ADD(heads, hd_multi_head_attention_new(4, 4, 6, 0, 2, true));
    ADD(causal, hd_causal_attention_new(4, 4, 6, 0.5, false));
    ADD(packed, hd_multihead_attention_new(4, 2, NULL));
    ADD(block, block_new());
    ADD(list_module, hd_module_list(hd_relu_new(false)));
    ADD(embedding, hd_embedding_new(5, 3, 0));
    ADD(tokens3, hd_rand(HD_FLOAT32, 2, 3, 4));
    ADD(ids, hd_from_data(HD_INT64, ((int64_t[]){1, 0, 4, 2, 3, 0}), 2, 3));
    hd_attention_keep_weights(w->heads, true);
    hd_backward(hd_sum(hd_forward(w->linear, w->plain)));
    hd_module_eval(w->block);
    ADD(cache, hd_kv_cache_new(w->heads, 2));
    ADD(block_cache, hd_kv_cache_new(hd_module_get(w->block, "att"), 2));
    hd_multi_head_attention_cached(w->heads, w->tokens3, w->cache);
    ADD(state, hd_module_state_dict(w->mixed));
    hd_dict_set(w->state, "0.weight", hd_ones(HD_FLOAT32, 4, 3));
    ADD(grads_state, hd_dict_new());
    hd_dict_set(w->grads_state, "g.weight", hd_ones(HD_FLOAT32, 3, 3));
    hd_dict_set(w->grads_state, "g.bias", hd_ones(HD_FLOAT32, 3));
    ADD(report, hd_dict_new());
}

/* ---------------------------------------------------------------- optimizers */

static hd_dict *optim_state(const hd_optim *o)
{
    hd_dict *d = hd_dict_new();
    hd_optim_save(o, d, "o");
    return d;
}

static void begin_optimizers(world *w)
{
    hd_sgd_options sgd = hd_sgd_defaults();
    sgd.momentum = 0.9;
    ADD(parameters, hd_list_of(hd_parameter(hd_rand(HD_FLOAT32, 4, 3), true),
                               hd_parameter(hd_rand(HD_FLOAT32, 5), true)));
    for (int i = 0; i < 2; i++) {
        hd_tensor *each = hd_list_get(w->parameters, i);
        hd_set_grad(each, hd_full_like(each, HD_FLOAT32, 0.5));
    }
    ADD(adamw, hd_adamw_new(w->parameters, NULL));
    ADD(sgd, hd_sgd_new(w->parameters, &sgd));
    hd_optim_step(w->adamw);
    ADD(schedule, hd_linear_lr_new(w->adamw, 0.5, 1, 3));
    ADD(plateau, hd_reduce_on_plateau_new(w->sgd, NULL));
    ADD(adamw_state, optim_state(w->adamw));
    hd_dict_set(w->adamw_state, "o.state.0.exp_avg", hd_ones(HD_FLOAT32, 4, 3));
    ADD(sgd_state, optim_state(w->sgd));
    ADD(schedule_state, hd_dict_new());
    hd_schedule_save(w->schedule, w->schedule_state, "s");
    hd_dict_set_int(w->schedule_state, "s.step", 2);
}

/* ---------------------------------------------------------------- data */

static hd_list *own_item(int64_t i, void *user)
{
    (void)user;
    return hd_list_of(hd_full(HD_INT64, i, 3), hd_full(HD_INT64, 2, 1));
}

/* The windows' loaders: one in the middle of an epoch, and one before its first. */
static void begin_data(world *w)
{
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = 2;
    o.shuffle = true;
    ADD(bytes, hd_tokenizer_bytes());
    ADD(chars, hd_tokenizer_chars("every character", -1));
    ADD(bpe, hd_tokenizer_bpe(GOLDEN_DIR "/bpe_vocab.json", GOLDEN_DIR "/bpe_merges.txt"));
    ADD(qwen2, hd_tokenizer_json(GOLDEN_DIR "/tokenizers/qwen2.json"));
    ADD(llama2, hd_tokenizer_json(GOLDEN_DIR "/tokenizers/llama2.json"));
    ADD(tokens, hd_tokens_from(hd_arange(0, 16, 1)));
    ADD(windows, hd_windows_new(w->tokens, 3, 2));
    ADD(loader, hd_loader_new(w->windows, &o));
    ADD(fresh_loader, hd_loader_new(w->windows, &o));
    hd_loader_next(w->loader, NULL, NULL);
    ADD(own, hd_dataset_new(5, own_item, NULL, NULL));
    ADD(own_loader, hd_loader_new(w->own, &o));
    o.collate = hd_collate_pad;
    ADD(pad_loader, hd_loader_new(w->own, &o));
    hd_loader_next(w->own_loader, NULL, NULL);
    hd_loader_next(w->pad_loader, NULL, NULL);
    ADD(data_state, hd_dict_new());
    hd_tokenizer_save(w->bpe, w->data_state, "bpe");
    hd_tokenizer_save(w->llama2, w->data_state, "llama2");
    hd_tokenizer_save(w->chars, w->data_state, "chars");
    hd_loader_save(w->loader, w->data_state, "loader");
    hd_loader_next(w->loader, NULL, NULL);
}

/* ---------------------------------------------------------------- files */

const char *in_folder(const world *w, const char *name)
{
    static char paths[8][192];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", w->folder, name);
    return path;
}

static void begin_folder(world *w)
{
    snprintf(w->folder, sizeof w->folder, "%s", temporary("world"));
    mkdir(w->folder, 0777);
    world_add(w, "the folder", thing_of_folder(w->folder));
}

/* The index of two files. */
static void write_index(const world *w)
{
    FILE *f = fopen(in_folder(w, "saved.index.json"), "w");
    if (f) {
        fputs("{\"weight_map\": {\"b\": \"saved.safetensors\", \"a\": \"old.safetensors\"}}", f);
        fclose(f);
    }
}

static void begin_files(world *w)
{
    ADD(saved, hd_dict_new());
    hd_dict_set(w->saved, "a", hd_rand(HD_FLOAT32, 3, 3));
    hd_dict_set(w->saved, "b", w->index);
    hd_dict_set_string(w->saved, "about", "a text");
    hd_save_safetensors(in_folder(w, "saved.safetensors"), w->saved);
    hd_save_safetensors(in_folder(w, "old.safetensors"), w->saved);
    write_index(w);
    hd_save_npy(in_folder(w, "x.npy"), w->plain);
    hd_tokens_write(in_folder(w, "tokens.bin"), HD_TOKEN_U16, hd_arange(0, 9, 1));
    ADD(file, hd_safetensors_open(in_folder(w, "saved.safetensors"), NULL));
    hd_dict_remove(w->saved, "about");
    hd_checkpoint_save(in_folder(w, "checkpoint"), w->saved, w->dict);
}

/* Removes the folder and what is below it. */
static void remove_below(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, NULL);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        bool itself = strcmp(names[i]->d_name, ".") == 0 || strcmp(names[i]->d_name, "..") == 0;
        free(names[i]);
        if (!itself && remove(path) != 0) {
            remove_below(path);
        }
    }
    free(n >= 0 ? names : NULL);
    rmdir(folder);
}

/* ---------------------------------------------------------------- the GPT */

static void begin_gpt(world *w)
{
    const gpt_config c = {11, 4, 8, 2, 2, 0.1, true};
    hd_adamw_options o = hd_adamw_defaults();
    o.weight_decay = 0.1;
    ADD(gpt, gpt_model_new(&c));
    ADD(gpt_parameters, hd_module_parameters(w->gpt));
    ADD(gpt_optim, hd_adamw_new(w->gpt_parameters, &o));
    ADD(gpt_schedule, hd_linear_lr_new(w->gpt_optim, 0.5, 1, 3));
    ADD(gpt_x, hd_from_data(HD_INT64, ((int64_t[]){1, 2, 3, 4, 5, 6, 7, 8}), 2, 4));
    ADD(gpt_y, hd_from_data(HD_INT64, ((int64_t[]){2, 3, 4, 5, 6, 7, 8, 10}), 2, 4));
    ADD(gpt_saved, hd_module_state_dict(w->gpt));
    hd_dict_set(w->gpt_saved, "out_head.weight", hd_ones(HD_FLOAT32, 11, 8));
    ADD(gpt_state, hd_dict_new());
    hd_optim_save(w->gpt_optim, w->gpt_state, "optim");
    hd_schedule_save(w->gpt_schedule, w->gpt_state, "schedule");
    hd_generator_save(w->generator, w->gpt_state, "generator");
    if (w->folder[0]) {
        hd_checkpoint_save(in_folder(w, "gpt"), w->gpt_saved, w->gpt_state);
    }
}

/* ---------------------------------------------------------------- the scenarios */

static void begin_scenarios(world *w)
{
    scenario_inputs *in = &w->in;
    ADD(in.a, hd_requires_grad_(hd_rand(HD_FLOAT32, 2, 3), true));
    ADD(in.b, hd_requires_grad_(hd_rand(HD_FLOAT32, 3), true));
    ADD(in.w, hd_requires_grad_(hd_rand(HD_FLOAT32, 4, 3), true));
    ADD(in.bias, hd_requires_grad_(hd_rand(HD_FLOAT32, 4), true));
    ADD(in.h, hd_add_scalar(in->a, 2)); /* its node saves nothing: backward may be called again */
    ADD(in.index, hd_from_data(HD_INT64, ((int64_t[]){1, 0}), 2));
    ADD(in.mask, hd_from_data(HD_BOOL, ((uint8_t[]){1, 0, 0, 0, 1, 0}), 2, 3));
    in->folder = w->folder;
}

/* ---------------------------------------------------------------- the whole */

void world_begin(world *w, const table *t)
{
    const int parts = t->parts;
    memset(w, 0, sizeof *w);
    w->scope = hd_scope_open();
    hd_manual_seed(1);
    begin_tensors(w);
    begin_large(w);
    begin_others(w);
    if (parts & MODULES) {
        begin_modules(w);
    }
    if (parts & OPTIMIZERS) {
        begin_optimizers(w);
    }
    if (parts & DATA) {
        begin_data(w);
    }
    if (parts & (FILES | FOLDER)) {
        begin_folder(w);
    }
    if (parts & FILES) {
        begin_files(w);
    }
    if (parts & GPT) {
        begin_gpt(w);
    }
    if (parts & SCENARIOS) {
        begin_scenarios(w);
    }
    if (t->begin) {
        t->begin(w);
    }
    hd_manual_seed(2);
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "the world cannot be made: %s\n", hd_error_message());
        abort();
    }
}

void world_end(world *w)
{
    for (int i = w->n - 1; i >= 0; i--) {
        if (w->things[i].kind->free) {
            w->things[i].kind->free(&w->things[i]);
        }
    }
    hd_release(w->slot);
    hd_scope_close(w->scope);
    if (w->folder[0]) {
        remove_below(w->folder);
    }
    hd_generator_use(NULL);
    hd_set_grad_mode(true);
    hd_set_fused_attention(true);
}

/* What belongs to the thread or the process. */
static void see_process(const world *w, picture *p)
{
    thing slot = thing_of_tensor(w->slot), generator = thing_of_generator(hd_default_generator());
    bool modes[] = {hd_grad_mode(), hd_fused_attention()};
    int64_t numbers[] = {hd_num_threads(), w->own_live, w->in.own_live};
    see(p, "the thread", "its grad mode, fused attention", modes, sizeof modes);
    see(p, "the thread", "numbers", numbers, sizeof numbers);
    see_address(p, "the thread", "its generator", hd_generator_current());
    see_text(p, "the process", "its print options", hd_repr(w->x));
    generator.kind->see(p, "the default generator", &generator);
    slot.kind->see(p, "slot", &slot);
}

void world_see(const world *w, picture *p)
{
    HD_SCOPE;
    for (int i = 0; i < w->n; i++) {
        w->things[i].kind->see(p, w->things[i].name, &w->things[i]);
    }
    see_process(w, p);
}
