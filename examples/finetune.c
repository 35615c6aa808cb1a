/* finetune.c - teaches a model a task of your own, from a small table of texts.
 *
 *   finetune classify SmolLM2 --lora 8 --save classifier
 *   finetune instruct SmolLM2 --lora 8 --save adapter
 * classify learns which messages are offers (chapter 6 of Raschka, "Build a Large Language Model
 * (From Scratch)"), and instruct learns to answer instructions (chapter 7). Without a folder they
 * train a small model of random weights. */
#include "heed/heed.h"
#include "heed/hf.h"
#ifdef HEED_HAVE_VIZ
#include "heed/viz.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "finetune_texts.h"
#include "program.h"

enum { BATCH = 4, RESPONSE = 40, MOST_EPOCHS = 1000, TEXT = 256, PATH = 4096 };

typedef struct {
    bool classify;
    const char *folder, *save, *pictures; /* NULL: none */
    double rank, epochs, lr, seed;        /* rank 0: no LoRA; epochs and lr 0: the default */
} arguments;

typedef struct part {
    const struct run *r;
    int64_t first; /* the index of its first item in the table */
} part;

typedef struct run {
    arguments a;
    hd_module *model;
    hd_tokenizer *tokenizer;
    hd_generate_options how; /* greedy; eos_token_id[0] ends a text and pads a short one */
    int64_t longest;         /* the number of tokens of the longest message */
    hd_collate_pad_options pad;
    part parts[2];
    hd_loader *learnt, *unseen; /* the first three quarters of the table, and its last quarter */
} run;

/* ---------------------------------------------------------------- the texts */

static hd_tensor *message_ids(const run *r, int64_t i) /* (n,) */
{
    return hd_tokenizer_encode_with(r->tokenizer, messages[i / 2][i % 2], -1, NULL);
}

/* Returns message i, padded to the length of the longest one, and its class. */
static hd_list *message_item(int64_t i, void *user)
{
    const part *p = user;
    const run *r = p->r;
    i += p->first;
    hd_tensor *ids = message_ids(r, i); /* (n,) */
    hd_tensor *rest = hd_full(HD_INT64, r->how.eos_token_id[0], r->longest - hd_numel(ids));
    return hd_list_of(hd_cat(0, ids, rest), hd_scalar_tensor(HD_INT64, i % 2));
}

/* Writes the prompt of instruction i, and the response to it. */
static void write_instruction(int64_t i, char prompt[TEXT], char response[TEXT])
{
    const char *const *words = changes[i / 3][i % 3];
    snprintf(prompt, TEXT,
             "Below is an instruction. Write a response.\n\n"
             "### Instruction:\nGive the %s of %s.\n\n### Response:\n",
             ways[i % 3], words[0]);
    snprintf(response, TEXT, "%s becomes %s.", words[0], words[1]);
}

/* Returns instruction i with its response, and the length of the prompt. The loss leaves the prompt
 * out. */
static hd_list *instruction_item(int64_t i, void *user)
{
    const part *p = user;
    const hd_tokenizer *t = p->r->tokenizer;
    char prompt[TEXT], response[TEXT];
    write_instruction(p->first + i, prompt, response);
    hd_tensor *before = hd_tokenizer_encode_with(t, prompt, -1, NULL);        /* (n,) */
    hd_tensor *after = hd_tokenizer_encode(t, response, -1, HD_SPECIAL_TEXT); /* (m,) */
    return hd_list_of(hd_cat(0, before, after), hd_scalar_tensor(HD_INT64, hd_numel(before)));
}

static hd_loader *batches(run *r, part *p, int64_t first, int64_t n, bool shuffle)
{
    *p = (part){r, first};
    hd_dataset *d = hd_dataset_new(n, r->a.classify ? message_item : instruction_item, p, NULL);
    hd_loader_options o = hd_loader_defaults();
    o.batch_size = BATCH, o.shuffle = shuffle;
    if (!r->a.classify) {
        o.collate = hd_collate_pad;
        o.collate_user = &r->pad;
    }
    hd_loader *l = hd_loader_new(d, &o);
    hd_dataset_free(d); /* the loader still holds it */
    return l;
}

static void make_loaders(run *r)
{
    HD_SCOPE;
    int64_t all = r->a.classify ? MESSAGES : INSTRUCTIONS, learnt = all * 3 / 4;
    r->pad = hd_collate_pad_defaults();
    r->pad.pad_token_id = r->how.eos_token_id[0];
    for (int i = 0; i < MESSAGES; i++) {
        int64_t n = hd_numel(message_ids(r, i));
        r->longest = n > r->longest ? n : r->longest;
    }
    r->learnt = batches(r, &r->parts[0], 0, learnt, true);
    r->unseen = batches(r, &r->parts[1], learnt, all - learnt, false);
}

/* ---------------------------------------------------------------- the model */

static bool load_folder(run *r)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/tokenizer.json", r->a.folder);
    r->tokenizer = hd_tokenizer_json(path);
    r->model = hd_from_pretrained(r->a.folder, NULL);
    bool ok = hd_generate_options_load(r->a.folder, &r->how) && r->model && r->tokenizer;
    r->how.do_sample = false;
    return ok && (r->how.num_eos > 0 ||
                  hd_error_set(HD_VALUE, "%s: expected an eos_token_id in generation_config.json",
                               r->a.folder));
}

/* Makes a GPT-2 of random weights, whose tokens are characters. The character | ends a text. The
 * weights are larger than those with which GPT-2 begins, because most of them are not trained. */
static bool make_small(run *r)
{
    static const char characters[] = "\n !%,.0123456789:#?ABCDEFGHIJKLMNOPQRSTUVWXYZ|"
                                     "abcdefghijklmnopqrstuvwxyz";
    r->tokenizer = hd_tokenizer_chars(characters, -1);
    hd_gpt2_config c = hd_gpt2_config_defaults();
    c.vocab_size = hd_tokenizer_size(r->tokenizer), c.n_positions = 256;
    c.n_embd = 64, c.n_layer = 2, c.n_head = 4;
    c.embd_pdrop = c.attn_pdrop = c.resid_pdrop = 0;
    c.initializer_range = 0.06;
    r->model = hd_gpt2_new(&c);
    r->how = hd_generate_defaults();
    r->how.num_eos = 1;
    r->how.eos_token_id[0] = hd_tokenizer_id(r->tokenizer, "|", -1);
    return r->model;
}

/* Replaces the head, which gives a logit for each token, by one for two classes. */
static bool replace_head(hd_module *model)
{
    hd_tensor *head = hd_module_get_parameter(model, "lm_head.weight"); /* (vocab_size, width) */
    return hd_module_set(model, "lm_head", hd_linear_new(hd_size(head, 1), 2, true));
}

/* Freezes all parameters except those of the last block and the last norm. */
static bool freeze_most(hd_module *model)
{
    bool gpt2 = strcmp(model->type->name, "GPT2LMHeadModel") == 0;
    hd_module *blocks = hd_module_get(model, gpt2 ? "transformer.h" : "model.layers");
    hd_module *last = hd_module_list_get(blocks, hd_module_list_len(blocks) - 1);
    hd_module *norm = hd_module_get(model, gpt2 ? "transformer.ln_f" : "model.norm");
    return hd_module_freeze(model, "") && hd_module_requires_grad_(last, true) &&
           hd_module_requires_grad_(norm, true);
}

static bool add_lora(hd_module *model, int64_t rank)
{
    hd_lora_options o = hd_lora_defaults();
    o.r = rank;
    o.lora_alpha = 2 * (double)rank;
    return hd_lora_apply(model, &o);
}

/* Gives the model its head, and chooses the parameters that are trained. */
static bool prepare(hd_module *model, bool classify, int64_t rank)
{
    bool ok = hd_module_train(model, true) && (!classify || replace_head(model)) &&
              (rank > 0 ? add_lora(model, rank) : !classify || freeze_most(model));
    return ok && (!classify || hd_module_requires_grad_(hd_module_get(model, "lm_head"), true));
}

/* ---------------------------------------------------------------- learning */

/* Returns the logits for x (b, t). To classify: those of the last token of each message, which has
 * seen all others, (b, 2). For instructions: those of all tokens, (b * t, vocab_size). */
static hd_tensor *logits_of(const run *r, hd_tensor *x)
{
    hd_tensor *logits = hd_forward(r->model, x); /* (b, t, classes) */
    return r->a.classify ? hd_select(logits, 1, -1) : hd_flatten(logits, 0, 1);
}

/* Trains on all batches once. Returns the mean of their losses. */
static double epoch(const run *r, hd_optim *opt)
{
    double sum = 0;
    for (;;) {
        HD_SCOPE;
        hd_tensor *x, *y; /* (b, t), and (b,) or (b, t) */
        if (!hd_loader_next(r->learnt, &x, &y)) {
            break; /* the epoch is over, or an error is set */
        }
        hd_tensor *loss = hd_cross_entropy(logits_of(r, x), hd_flatten(y, 0, -1)); /* () */
        hd_optim_zero_grad(opt);
        hd_backward(loss);
        if (!hd_optim_step(opt)) {
            break;
        }
        sum += hd_item(loss);
    }
    return sum / (double)hd_loader_len(r->learnt);
}

/* Returns the share of right classes, or of right tokens in the responses. */
static double accuracy(const run *r, hd_loader *l)
{
    HD_NO_GRAD;
    double right = 0, all = 0;
    hd_module_eval(r->model);
    for (;;) {
        HD_SCOPE;
        hd_tensor *x, *y;
        if (!hd_loader_next(l, &x, &y)) {
            break;
        }
        hd_tensor *answers = hd_argmax_dim(logits_of(r, x), -1, false); /* (n,) */
        y = hd_flatten(y, 0, -1);                                       /* (n,) */
        right += hd_item(hd_sum(hd_eq(answers, y)));
        all += hd_item(hd_sum(hd_ne_scalar(y, r->pad.ignore_index)));
    }
    hd_module_train(r->model, true);
    return right / all;
}

/* Trains the model. losses[i] gets the loss of epoch i. */
static void train(const run *r, double *losses)
{
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = r->a.lr;
    hd_optim *opt = hd_adamw_new(hd_module_parameters(r->model), &o);
    for (int i = 1; i <= (int)r->a.epochs && hd_error_code() == HD_OK; i++) {
        losses[i] = epoch(r, opt);
        printf("epoch %d: loss %.4f\n", i, losses[i]);
        fflush(stdout);
    }
    hd_optim_free(opt);
}

/* ---------------------------------------------------------------- judging */

/* Prints the text that a token adds to a response. A space replaces each newline. */
static bool show(int64_t row, int64_t id, const char *text, int64_t n, void *user)
{
    const run *r = user;
    (void)row;
    for (int64_t i = 0; i < n && id != r->how.eos_token_id[0]; i++) {
        putchar(text[i] == '\n' ? ' ' : text[i]);
    }
    return fflush(stdout) == 0;
}

/* Prints responses to an instruction on which the model is trained, and to another one. */
static void respond(run *r)
{
    r->how.max_new_tokens = RESPONSE;
    r->how.tokenizer = r->tokenizer;
    r->how.on_token = show, r->how.user = r;
    for (int64_t i = 0; i < INSTRUCTIONS && !r->a.classify; i += INSTRUCTIONS - 3) {
        HD_SCOPE;
        char prompt[TEXT], response[TEXT];
        write_instruction(i, prompt, response);
        hd_tensor *ids = hd_tokenizer_encode_with(r->tokenizer, prompt, -1, NULL); /* (n,) */
        printf("    the %s of %s: ", ways[i % 3], changes[i / 3][i % 3][0]);
        hd_generate(r->model, hd_unsqueeze(ids, 0), &r->how);
        printf("\n");
    }
}

/* Prints the shares of right answers and, for instructions, two responses. Returns the share that
 * decides whether the model has learned. */
static double judge(run *r, const char *when)
{
    double learnt = accuracy(r, r->learnt), unseen = accuracy(r, r->unseen);
    printf("%s: %.0f%% right, %.0f%% of the texts that it does not learn\n", when, 100 * learnt,
           100 * unseen);
    respond(r);
    return r->a.classify ? unseen : learnt;
}

static void draw(const run *r, double *losses)
{
#ifdef HEED_HAVE_VIZ
    char path[PATH];
    snprintf(path, sizeof path, "%s/finetune.svg", r->a.pictures);
    losses[0] = NAN; /* not drawn: epochs begin with 1 */
    hd_series s = {.name = "loss", .n = (int64_t)r->a.epochs + 1, .y = losses};
    hd_plot_options o = hd_plot_defaults();
    o.title = "finetune", o.x_label = "epochs", o.y_label = "loss";
    hd_picture *p = hd_plot_lines(1, &s, &o);
    if (hd_picture_save_svg(p, path)) {
        printf("%s\n", path);
    }
    hd_picture_free(p);
#else
    (void)r, (void)losses; /* never called: pictures_folder refuses the option */
#endif
}

/* Saves the result. transformers has no class for a model with a head of two classes, so heed saves
 * it as a checkpoint. The state has the length and the id to which a program pads messages. */
static bool save(const run *r)
{
    if (!r->a.classify && r->a.rank > 0) {
        return hd_lora_save(r->model, r->a.save);
    }
    if (!r->a.classify) {
        hd_save_pretrained_options o = hd_save_pretrained_defaults();
        o.source = r->a.folder; /* the folder's tokenizer is saved with the model */
        return hd_save_pretrained(r->model, r->a.save, &o);
    }
    bool ok = r->a.rank == 0 || hd_lora_merge(r->model);
    hd_dict *weights = hd_module_state_dict(r->model), *state = hd_dict_new();
    ok = ok && hd_dict_set_int(state, "longest", r->longest) &&
         hd_dict_set_int(state, "pad", r->how.eos_token_id[0]) &&
         hd_checkpoint_save(r->a.save, weights, state);
    hd_dict_free(weights), hd_dict_free(state);
    return ok;
}

/* ---------------------------------------------------------------- the program */

/* Returns false with an error if the folder cannot be made. It is called before the training, so
 * that a wrong name costs no training. */
static bool is_new(const char *path)
{
    int n = directory_length(path);
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    char parent[PATH];
    snprintf(parent, sizeof parent, "%.*s", n > 0 ? n : 1, n > 0 ? path : ".");
    if (access(path, F_OK) == 0) {
        return hd_error_set(HD_IO, "--save %s: expected a name that does not exist", path);
    }
    return access(parent, W_OK | X_OK) == 0 ||
           hd_error_set(HD_IO, "--save %s: expected a name in a folder where files may be made",
                        path);
}

static bool finetune(run *r)
{
    HD_SCOPE;
    static double losses[MOST_EPOCHS + 1]; /* [i] is the loss of epoch i, from 1 on */
    const double least = r->a.classify ? 0.8 : 0.9;
    if ((r->a.save && !is_new(r->a.save)) || !(r->a.folder ? load_folder(r) : make_small(r)) ||
        !prepare(r->model, r->a.classify, (int64_t)r->a.rank)) {
        return false;
    }
    make_loaders(r);
    printf("%lld parameters, %lld of them learn\n",
           (long long)hd_module_num_parameters(r->model, false),
           (long long)hd_module_num_parameters(r->model, true));
    judge(r, "before");
    train(r, losses);
    double share = judge(r, "after");
    if (hd_error_code() == HD_OK && r->a.pictures) {
        draw(r, losses);
    }
    if (hd_error_code() == HD_OK && r->a.save && save(r)) {
        printf("%s\n", r->a.save);
    }
    return share >= least ||
           hd_error_set(
               HD_USER,
               "the model has not learned: %.0f%% of the %s are right: expected at least %.0f%%",
               100 * share, r->a.classify ? "unseen messages" : "tokens", 100 * least);
}

static const char help[] =
    "usage: finetune classify|instruct [FOLDER] [OPTION]...\n"
    "       finetune --help | --version\n"
    "\n"
    "Teaches a model a task: classify, which of 60 messages are offers, or instruct, how to\n"
    "respond to 24 instructions. It does not learn a quarter of the texts. The program prints the\n"
    "loss of each epoch, and the share of right classes, or of right tokens of the responses,\n"
    "before and after. It also prints the responses to an instruction of each kind.\n"
    "\n"
    "  FOLDER         a folder with config.json, model.safetensors and tokenizer.json, as\n"
    "                 transformers saves a GPT-2, Llama, Qwen or a similar model. Without it,\n"
    "                 the model is a small GPT-2 of random weights.\n"
    "  --lora R       trains adapters of rank R (LoRA) beside the weights, which stay as they\n"
    "                 are. Without it, instruct trains all weights, and classify those of the\n"
    "                 last block and the last norm. The new head of classify always learns.\n"
    "  --epochs N     learns the texts N times, 1 to 1000. The default is 5 for a FOLDER, else\n"
    "                 20 for classify and 100 for instruct.\n"
    "  --lr X         the learning rate. The default for a FOLDER is 0.0005 with --lora and\n"
    "                 0.00005 without, else 0.003.\n"
    "  --seed N       seeds the weights and the order of the texts. The default is 123.\n"
    "  --save NEW     saves the result in a new folder: the adapters as peft does, or the model\n"
    "                 as transformers does, or for classify a checkpoint of heed\n"
    "  --pictures DIR draws the losses as DIR/finetune.svg, and makes DIR if there is none\n"
    "  --help         prints this text\n"
    "  --version      prints the version of heed\n"
    "\n"
    "The exit status is 0 if the model has learnt: 80% of the messages that it does not learn are\n"
    "right, or 90% of the tokens of the responses that it learns. It is 1 if not or if something\n"
    "failed, and 2 if the arguments are wrong.\n";

/* Reads the option `name`. If its name or value is wrong, prints a message and returns false. */
static bool read_option(arguments *a, const char *program, const char *name, const char *value)
{
    const struct {
        const char *name, *expected;
        double *number, lowest, highest;
        const char **text;
    } options[] = {
        {"--lora", "a whole number from 1 to 1e6", &a->rank, 1, 1e6, NULL},
        {"--epochs", "a whole number from 1 to 1000", &a->epochs, 1, MOST_EPOCHS, NULL},
        {"--seed", "a whole number from 0 to 1e15", &a->seed, 0, 1e15, NULL},
        {"--lr", "a number from 1e-9 to 1", &a->lr, 1e-9, 1, NULL},
        {"--save", "a folder", NULL, 0, 0, &a->save},
        {"--pictures", "a folder", NULL, 0, 0, &a->pictures},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(name, options[i].name) != 0) {
            continue;
        }
        char *end = NULL;
        double v = value ? strtod(value, &end) : 0;
        bool ok = value && *value != '\0';
        if (options[i].text) {
            *options[i].text = value;
        } else {
            *options[i].number = v;
            ok = ok && *end == '\0' && v >= options[i].lowest && v <= options[i].highest &&
                 (options[i].number == &a->lr || v == (double)(int64_t)v);
        }
        if (!ok) {
            fprintf(stderr, "%s: %s %s: expected %s (see --help)\n", program, name,
                    value ? value : "without a value", options[i].expected);
        }
        return ok;
    }
    fprintf(stderr, "%s: unknown option '%s' (see --help)\n", program, name);
    return false;
}

static bool read_arguments(arguments *a, int argc, char **argv)
{
    const char *words[2] = {NULL, NULL};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (n < 2 && strncmp(argv[i], "--", 2) != 0) {
            words[n++] = argv[i];
        } else if (!read_option(a, argv[0], argv[i], argv[i + 1])) {
            return false;
        } else {
            i++;
        }
    }
    a->classify = n > 0 && strcmp(words[0], "classify") == 0;
    a->folder = words[1];
    if (n == 0 || !(a->classify || strcmp(words[0], "instruct") == 0)) {
        fprintf(stderr, "%s: %s: expected classify or instruct (see --help)\n", argv[0],
                n > 0 ? words[0] : "no task");
        return false;
    }
    a->epochs = a->epochs > 0 ? a->epochs : a->folder ? 5 : a->classify ? 20 : 100;
    a->lr = a->lr > 0 ? a->lr : !a->folder ? 0.003 : a->rank > 0 ? 0.0005 : 0.00005;
    return true;
}

int main(int argc, char **argv)
{
    run r = {.a = {.seed = 123}};
    open_standard_files();
    hd_on_warning(hd_warning_print, NULL);
    int about = about_status(argc, argv, "finetune", help);
    if (about >= 0) {
        return about;
    }
    if (!read_arguments(&r.a, argc, argv)) {
        return 2;
    }
    if (r.a.pictures && !pictures_folder(argv[0], r.a.pictures)) {
        return 1;
    }
    hd_manual_seed((int64_t)r.a.seed);
    bool ok = finetune(&r) && hd_error_code() == HD_OK;
    ok = stdout_written(argv[0]) && ok; /* the output comes before an error's message */
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "%s: %s\n", argv[0], hd_error_message());
    }
    hd_loader_free(r.learnt), hd_loader_free(r.unseen);
    hd_module_free(r.model);
    hd_tokenizer_free(r.tokenizer);
    return ok ? 0 : 1;
}
