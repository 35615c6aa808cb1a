/* train_attention.c - MultiHeadAttention learns a task that needs attention.
 *
 * A sequence is eight pairs and a question, such as `a3 k7 b1 f5 m1 c0 h9 e4 ?b`: which digit
 * stands with b? To answer, the last token must find its letter among the other tokens and take the
 * digit of that pair. A second model of the same size learns the same sequences. It sees the
 * question and the average of all tokens, but cannot look up a single token. So it can only guess a
 * digit that is frequent in the sequence. The program exits with 1 if the difference between the
 * models is too small, unless --steps is given. */
#include "heed/heed.h"
#ifdef HEED_HAVE_VIZ
#include "heed/viz.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "train_progress.h"

enum { LETTERS = 16, DIGITS = 10, PAIRS = 8, TOKENS = PAIRS + 1 };
enum { DIM = 32, HEADS = 2, BATCH = 32, UNSEEN = 1000, REPORTS = 10 };

/* ---------------------------------------------------------------- the task */

typedef struct {
    hd_tensor *x; /* (n, TOKENS, 2) int64: letter and digit of each token; digit DIGITS: question */
    hd_tensor *y; /* (n,) int64: the right answers */
} sequences;

static void draw_sequence(hd_generator *g, int64_t x[TOKENS][2], int64_t *y)
{
    int64_t letters[LETTERS];
    for (int i = 0; i < LETTERS; i++) {
        letters[i] = i;
    }
    for (int i = 0; i < PAIRS; i++) { /* draws eight different letters, as a shuffle begins */
        uint32_t j = (uint32_t)i + hd_generator_random(g) % (uint32_t)(LETTERS - i);
        x[i][0] = letters[j];
        x[i][1] = hd_generator_random(g) % DIGITS;
        letters[j] = letters[i];
    }
    uint32_t asked = hd_generator_random(g) % PAIRS;
    x[PAIRS][0] = x[asked][0];
    x[PAIRS][1] = DIGITS;
    *y = x[asked][1];
}

static sequences draw_sequences(hd_generator *g, int64_t n)
{
    static int64_t x[UNSEEN][TOKENS][2], y[UNSEEN];
    for (int64_t i = 0; i < n; i++) {
        draw_sequence(g, x[i], &y[i]);
    }
    return (sequences){hd_tensor_of(x, n, TOKENS, 2), hd_tensor_of(y, n)};
}

/* ---------------------------------------------------------------- the two models */

/* Returns the vectors (n, TOKENS, DIM) of the tokens x (n, TOKENS, 2). The vector of a token is the
 * sum of the vectors of its letter and of its digit. */
static hd_tensor *embed(hd_module *letter, hd_module *digit, hd_tensor *x)
{
    return hd_add(hd_forward(letter, hd_select(x, 2, 0)), hd_forward(digit, hd_select(x, 2, 1)));
}

typedef struct {
    hd_module base;
    hd_module *letter, *digit, *attention, *out;
} lookup;

static hd_tensor *lookup_forward(hd_module *self, hd_tensor *x) /* (n, TOKENS, 2) */
{
    lookup *m = (lookup *)self;
    hd_tensor *tokens = embed(m->letter, m->digit, x);          /* (n, TOKENS, DIM) */
    hd_tensor *context_vecs = hd_forward(m->attention, tokens); /* (n, TOKENS, DIM) */
    return hd_forward(m->out, hd_select(context_vecs, 1, -1));  /* (n, DIGITS) */
}

static hd_module *lookup_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(lookup, "Lookup", lookup_forward);
    hd_module *self = hd_module_new(&type);
    lookup *m = (lookup *)self;
    if (!m) {
        return NULL;
    }
    hd_register_module(self, "letter", &m->letter, hd_embedding_new(LETTERS, DIM, HD_NO_PADDING));
    hd_register_module(self, "digit", &m->digit, hd_embedding_new(DIGITS + 1, DIM, HD_NO_PADDING));
    hd_register_module(self, "attention", &m->attention,
                       hd_multi_head_attention_new(DIM, DIM, TOKENS, 0.0, HEADS, false));
    hd_register_module(self, "out", &m->out, hd_linear_new(DIM, DIGITS, true));
    return hd_module_ready(self);
}

typedef struct {
    hd_module base;
    hd_module *letter, *digit, *each, *all, *out;
} average;

static hd_tensor *average_forward(hd_module *self, hd_tensor *x) /* (n, TOKENS, 2) */
{
    average *m = (average *)self;
    hd_tensor *tokens = embed(m->letter, m->digit, x);                    /* (n, TOKENS, DIM) */
    hd_tensor *mean = hd_mean_dim(hd_forward(m->each, tokens), 1, false); /* (n, DIM) */
    hd_tensor *seen = hd_add(mean, hd_select(tokens, 1, -1)); /* (n, DIM), with the question */
    return hd_forward(m->out, hd_forward(m->all, seen));      /* (n, DIGITS) */
}

static hd_module *average_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(average, "Average", average_forward);
    hd_module *self = hd_module_new(&type);
    average *m = (average *)self;
    if (!m) {
        return NULL;
    }
    hd_register_module(self, "letter", &m->letter, hd_embedding_new(LETTERS, DIM, HD_NO_PADDING));
    hd_register_module(self, "digit", &m->digit, hd_embedding_new(DIGITS + 1, DIM, HD_NO_PADDING));
    hd_register_module(self, "each", &m->each,
                       hd_sequential(hd_linear_new(DIM, DIM, true), hd_relu_new(false),
                                     hd_linear_new(DIM, DIM, true)));
    hd_register_module(self, "all", &m->all,
                       hd_sequential(hd_linear_new(DIM, DIM, true), hd_relu_new(false),
                                     hd_linear_new(DIM, DIM, true)));
    hd_register_module(self, "out", &m->out, hd_linear_new(DIM, DIGITS, true));
    return hd_module_ready(self);
}

/* ---------------------------------------------------------------- training */

static double train_step(hd_module *model, hd_optim *opt, sequences s)
{
    HD_SCOPE;
    hd_tensor *loss = hd_cross_entropy(hd_forward(model, s.x), s.y); /* () */
    hd_optim_zero_grad(opt);
    hd_backward(loss);
    hd_optim_step(opt);
    return hd_item(loss);
}

/* Returns the share of right answers. */
static double accuracy(hd_module *model, sequences s)
{
    HD_SCOPE;
    HD_NO_GRAD;
    hd_module_eval(model);
    hd_tensor *answers = hd_argmax_dim(hd_forward(model, s.x), -1, false); /* (n,) */
    hd_module_train(model, true);
    return hd_item(hd_mean(hd_to(hd_eq(answers, s.y), HD_FLOAT32)));
}

/* Returns the norm of a parameter's gradient in the last step. */
static double grad_norm(hd_module *model, const char *name)
{
    HD_SCOPE;
    hd_tensor *g = hd_grad(hd_module_get_parameter(model, name)); /* the parameter's shape */
    return sqrt(hd_item(hd_sum(hd_mul(g, g))));
}

static int64_t parameter_count(hd_module *model)
{
    HD_SCOPE;
    hd_list *parameters = hd_module_parameters(model);
    int64_t count = 0;
    for (int64_t i = 0; i < hd_list_len(parameters); i++) {
        count += hd_numel(hd_list_get(parameters, i));
    }
    return count;
}

/* ---------------------------------------------------------------- showing the attention */

/* Returns the attention weights between the tokens of one sequence, averaged over the heads. */
static hd_tensor *attention_of(hd_module *model, hd_tensor *x) /* (1, TOKENS, 2) */
{
    HD_SCOPE;
    HD_NO_GRAD;
    hd_module *attention = hd_module_get(model, "attention");
    hd_attention_keep_weights(attention, true);
    hd_forward(model, x);
    hd_tensor *w = hd_mean_dim(hd_attention_weights(attention), 1, false); /* (1, TOKENS, TOKENS) */
    hd_attention_keep_weights(attention, false);
    return hd_scope_return(hd_select(w, 0, 0)); /* (TOKENS, TOKENS) */
}

typedef char token_name[3];

static void name_tokens(token_name names[TOKENS], hd_tensor *x) /* (1, TOKENS, 2) */
{
    for (int i = 0; i < TOKENS; i++) {
        char letter = (char)('a' + hd_get_int(x, 0, i, 0));
        int64_t digit = hd_get_int(x, 0, i, 1);
        names[i][0] = digit == DIGITS ? '?' : letter;
        names[i][1] = digit == DIGITS ? letter : (char)('0' + digit);
        names[i][2] = '\0';
    }
}

/* Prints the weights. A row is a query token, and a column is a token to which it attends. */
static void print_attention(hd_tensor *w, token_name names[TOKENS]) /* (TOKENS, TOKENS) */
{
    static const char shades[] = " .:-=+*#%@";
    printf("     ");
    for (int j = 0; j < TOKENS; j++) {
        printf(" %s", names[j]);
    }
    for (int i = 0; i < TOKENS; i++) {
        printf("\n  %s |", names[i]);
        for (int j = 0; j < TOKENS; j++) {
            char shade = shades[(int)(hd_get(w, i, j) * 9.999)];
            printf("%s%c%c", j > 0 ? " " : "", shade, shade);
        }
        printf("|");
    }
    printf("\n");
}

/* Draws the same weights as FOLDER/attention_WHEN.svg. */
static void draw_attention(hd_tensor *w, token_name names[TOKENS], const char *folder,
                           const char *when) /* (TOKENS, TOKENS) */
{
#ifdef HEED_HAVE_VIZ
    char path[4096], title[64];
    const char *texts[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        texts[i] = names[i];
    }
    snprintf(path, sizeof path, "%s/attention_%s.svg", folder, when);
    snprintf(title, sizeof title, "attention %s training", when);
    hd_attention_map_options o = hd_attention_map_defaults();
    o.title = title;
    o.max = 1;
    hd_picture *p = hd_attention_map(w, texts, NULL, &o);
    if (hd_picture_save_svg(p, path)) {
        printf("%s\n", path);
    }
    hd_picture_free(p);
#else
    (void)w, (void)names, (void)folder, (void)when; /* never called: see pictures_folder */
#endif
}

static void show_attention(hd_module *model, hd_tensor *x, const char *folder, const char *when)
{
    HD_SCOPE;
    token_name names[TOKENS];
    hd_tensor *w = attention_of(model, x); /* (TOKENS, TOKENS) */
    if (!w) {
        return;
    }
    name_tokens(names, x);
    print_attention(w, names);
    if (folder) {
        draw_attention(w, names, folder, when);
    }
}

/* Prints a bar as wide as the terminal allows, and at most 40 columns. */
static void print_bar(int64_t step, int64_t steps)
{
    char bar[41], numbers[48];
    int length = snprintf(numbers, sizeof numbers, "%lld/%lld", (long long)step, (long long)steps);
    int room = progress_columns() - length - 6; /* the brackets, a space, "^C", the last column */
    int columns = room > 40 ? 40 : room > 0 ? room : 0;
    memset(bar, '.', (size_t)columns);
    memset(bar, '#', (size_t)(columns * step / steps));
    bar[columns] = '\0';
    printf("[%s] %s\r", bar, numbers);
    fflush(stdout); /* the next line, or bar, is written over this one */
}

static void print_progress(int64_t step, double loss, double loss_without, hd_module *model)
{
    printf("%6lld  %9.4f  %9.4f  %9.4f  %9.4f      %9.4f\n", (long long)step, loss,
           grad_norm(model, "attention.W_query.weight"), grad_norm(model, "attention.W_key.weight"),
           grad_norm(model, "attention.W_value.weight"), loss_without);
    fflush(stdout);
}

#ifdef HEED_PAGE
void page_step(int64_t step, double loss, double loss_without, hd_tensor *w); /* (TOKENS, TOKENS) */
#endif

/* The site has a page that draws each step (tools/pages). */
static void show_step(int64_t step, double loss, double loss_without, hd_module *model,
                      hd_tensor *x) /* (1, TOKENS, 2) */
{
#ifdef HEED_PAGE
    page_step(step, loss, loss_without, attention_of(model, x));
#else
    (void)step, (void)loss, (void)loss_without, (void)model, (void)x;
#endif
}

/* ---------------------------------------------------------------- the program */

typedef struct {
    int64_t steps, seed;
    const char *pictures; /* a folder, or NULL */
    bool demand;          /* checks the accuracy: true without --steps */
} arguments;

static bool read_number(const char *text, int64_t lowest, int64_t *value)
{
    char *end;
    *value = text ? strtoll(text, &end, 10) : 0;
    return text && *text != '\0' && *end == '\0' && *value >= lowest;
}

static bool read_arguments(arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool steps = strcmp(argv[i], "--steps") == 0;
        if (strcmp(argv[i], "--pictures") == 0) {
            if (!value) {
                fprintf(stderr, "%s: --pictures without a folder (see --help)\n", argv[0]);
                return false;
            }
            a->pictures = value;
            continue;
        }
        if (!steps && strcmp(argv[i], "--seed") != 0) {
            fprintf(stderr, "%s: unknown option '%s' (see --help)\n", argv[0], argv[i]);
            return false;
        }
        if (!read_number(value, steps ? 1 : INT64_MIN, steps ? &a->steps : &a->seed)) {
            fprintf(stderr, "%s: %s %s: expected a whole number%s (see --help)\n", argv[0], argv[i],
                    value ? value : "without a value", steps ? " above 0" : "");
            return false;
        }
        if (steps) {
            a->demand = false;
        }
    }
    return true;
}

static hd_optim *adamw(hd_module *model)
{
    hd_adamw_options o = hd_adamw_defaults();
    o.lr = 3e-3;
    return hd_adamw_new(hd_module_parameters(model), &o);
}

/* Trains both models on the same sequences, and shows how the first one looks at the sequence x.
 * Stops at the first error. */
static void train(hd_module *model, hd_module *without, hd_generator *g, int64_t steps,
                  hd_tensor *x) /* (1, TOKENS, 2) */
{
    hd_optim *opt = adamw(model), *opt_without = adamw(without);
    bool terminal = isatty(STDOUT_FILENO) != 0;
    int64_t every = steps / REPORTS > 0 ? steps / REPORTS : 1;
    printf("\n                   length of the gradient of            loss without\n"
           "  step       loss    W_query      W_key    W_value         attention\n");
    for (int64_t step = 1; step <= steps && hd_error_code() == HD_OK; step++) {
        HD_SCOPE;
        sequences s = draw_sequences(g, BATCH);
        double loss = train_step(model, opt, s);
        double loss_without = train_step(without, opt_without, s);
        if (step == 1 || step % every == 0 || step == steps) {
            print_progress(step, loss, loss_without, model);
        }
        show_step(step, loss, loss_without, model, x);
        if (terminal && step < steps) {
            print_bar(step, steps);
        }
    }
    hd_optim_free(opt);
    hd_optim_free(opt_without);
}

/* Trains both models and prints the results. Returns false with a message if they are not as
 * expected. */
static bool run(const arguments *a, hd_module *model, hd_module *without)
{
    HD_SCOPE;
    hd_generator *g = hd_generator_new(a->seed);
    sequences unseen = draw_sequences(g, UNSEEN);
    hd_tensor *one = hd_narrow(unseen.x, 0, 0, 1); /* (1, TOKENS, 2) */

    printf("%d pairs and a question; %lld parameters with attention, %lld without\n", PAIRS,
           (long long)parameter_count(model), (long long)parameter_count(without));
    printf("\nattention before training (rows look at columns; @: all of it, blank: nothing)\n");
    show_attention(model, one, a->pictures, "before");
    if (hd_error_code() != HD_OK) { /* a picture could not be written */
        hd_generator_free(g);
        return false;
    }
    train(model, without, g, a->steps, one);
    printf("\nattention after training\n");
    show_attention(model, one, a->pictures, "after");

    double right = accuracy(model, unseen), right_without = accuracy(without, unseen);
    printf("\nright answers to %d unseen sequences (chance: %.1f%%)\n", UNSEEN, 100.0 / DIGITS);
    printf("  with attention     %5.1f%%\n  without attention  %5.1f%%\n", 100 * right,
           100 * right_without);
    hd_generator_free(g);
    if (a->demand && !(right >= 0.95 && right_without < 0.60)) {
        fprintf(stderr, "expected at least 95%% with attention and less than 60%% without\n");
        return false;
    }
    return true;
}

static const char help[] =
    "usage: train_attention [--steps N] [--seed N] [--pictures FOLDER]\n"
    "       train_attention --help | --version\n"
    "\n"
    "Trains two small models to answer questions about a sequence. One has attention and learns "
    "to\n"
    "look the answer up. The other one sees only the average of the tokens. The program prints "
    "the\n"
    "losses, the norms of the gradients, and the attention before and after the training.\n"
    "\n"
    "  --steps N          makes N training steps. The default is 400. With this option the\n"
    "                     accuracy is not checked.\n"
    "  --seed N           seeds the weights and the sequences. The default is 123.\n"
    "  --pictures FOLDER  also draws the attention, before and after the training, as two SVG\n"
    "                     files in this folder, and makes the folder if there is none\n"
    "  --help             prints this text\n"
    "  --version          prints the version of heed\n"
    "\n"
    "The exit status is 0 if the model with attention is right far more often, 1 if it is not or "
    "if\n"
    "something failed, and 2 if the arguments are wrong.\n";

int main(int argc, char **argv)
{
    arguments a = {.steps = 400, .seed = 123, .demand = true};
    open_standard_files();
    hd_on_warning(hd_warning_print, NULL);
    int about = about_status(argc, argv, "train_attention", help);
    if (about >= 0) {
        return about;
    }
    if (!read_arguments(&a, argc, argv)) {
        return 2;
    }
    if (a.pictures && !pictures_folder(argv[0], a.pictures)) {
        return 1;
    }
    hd_manual_seed(a.seed);
    hd_module *model = lookup_new(), *without = average_new();
    bool ok = run(&a, model, without);
    hd_module_free(model);
    hd_module_free(without);
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "%s\n", hd_error_message());
    }
    return ok && hd_error_code() == HD_OK ? 0 : 1;
}
