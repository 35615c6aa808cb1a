/* draw_graph.c - draws the graph of the notebook's MultiHeadAttention, or of a small GPT of two
 * blocks, as backward walks it. It writes FILE in Graphviz's language; `dot -Tsvg FILE -o
 * graph.svg` makes a picture of it.
 *
 * usage: draw_graph [OPTION...] attention|gpt FILE; draw_graph --help */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpt.h"
#include "heed/heed.h"
#include "heed/viz.h"
#include "notebook_classes.h"
#include "program.h"

static const char help[] =
    "usage: draw_graph [OPTION...] attention|gpt FILE\n"
    "       draw_graph --help | --version\n"
    "\n"
    "Draws the graph that backward walks, for the notebook's MultiHeadAttention or for the loss "
    "of\n"
    "a small GPT with two blocks, and writes it to FILE in Graphviz's language.\n"
    "\n"
    "  --depth N        draws modules that are nested N deep as one box each; 0, which is the\n"
    "                   default, opens all of them\n"
    "  --full           gives every view a box and shows the grad_fn of every call\n"
    "  --no-parameters  draws no boxes for parameters\n"
    "  --sideways       draws the arrows to the right instead of downwards\n"
    "  --help           prints this text\n"
    "  --version        prints the version of heed\n"
    "\n"
    "Graphviz makes a picture of FILE, or a page that fits on a sheet of paper:\n"
    "\n"
    "    dot -Tsvg FILE -o graph.svg\n"
    "    dot -Tpdf -Gsize=7.5,10.5 FILE -o graph.pdf\n"
    "\n"
    "The exit status is 0 if FILE was written, 1 if it was not, and 2 if the arguments are wrong.\n"
    "Example: draw_graph gpt gpt.dot\n";

/* Adds the class of module m to names, under the module's name. Returns false with an error on
 * failure. */
static bool add_class(hd_module *m, const char *name, void *names)
{
    return name[0] == '\0' || hd_dict_set_string(names, name, m->type->name);
}

/* Returns a dictionary of model's parameters and the class of each module, under their names. The
 * caller frees it. Returns NULL with an error on failure. */
static hd_dict *names_of(hd_module *model)
{
    hd_dict *names = hd_module_named_parameters(model);
    if (!names || !hd_module_visit(model, add_class, names)) {
        hd_dict_free(names);
        return NULL;
    }
    return names;
}

static bool save(hd_module *model, hd_tensor *y, const hd_graph_options *o, const char *path)
{
    hd_dict *names = names_of(model);
    bool ok = names && hd_graph_save_dot_with(y, names, path, o);
    hd_dict_free(names);
    return ok;
}

static bool draw_attention(const hd_graph_options *o, const char *path)
{
    hd_module *mha = multi_head_attention_new(3, 2, 6, 0.5, 2, false);
    hd_tensor *x = hd_rand(HD_FLOAT32, 2, 6, 3);      /* (b, num_tokens, d_in) */
    bool ok = save(mha, hd_forward(mha, x), o, path); /* (b, num_tokens, d_out) */
    hd_module_free(mha);
    return ok;
}

static bool draw_gpt(const hd_graph_options *o, const char *path)
{
    const gpt_config cfg = {.vocab_size = 100,
                            .context_length = 16,
                            .emb_dim = 32,
                            .n_heads = 4,
                            .n_layers = 2,
                            .drop_rate = 0.1};
    hd_module *gpt = gpt_model_new(&cfg);
    hd_tensor *tokens = hd_randint(HD_INT64, 0, 100, 2, 9); /* (b, num_tokens + 1) */
    hd_tensor *x = hd_slice(tokens, 1, 0, 8);               /* (b, num_tokens) */
    hd_tensor *y = hd_slice(tokens, 1, 1, 9);               /* (b, num_tokens) */
    hd_tensor *logits = hd_forward(gpt, x);                 /* (b, num_tokens, vocab_size) */
    bool ok = save(gpt, hd_cross_entropy(hd_flatten(logits, 0, 1), hd_flatten(y, 0, 1)), o, path);
    hd_module_free(gpt);
    return ok;
}

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "draw_graph: %s%s (see --help)\n", what, argument);
    return 2;
}

static bool read_depth(const char *text, int *depth)
{
    char *end;
    long n = strtol(text, &end, 10);
    *depth = (int)n;
    return end != text && *end == '\0' && n >= 0 && n <= 1000;
}

/* Reads the options from argv[*at] on, and moves *at to the first argument after them. Returns 0,
 * or the exit status if an option is wrong. */
static int read_options(char **argv, int *at, hd_graph_options *o)
{
    for (; argv[*at] && argv[*at][0] == '-'; ++*at) {
        const char *option = argv[*at];
        if (strcmp(option, "--") == 0) {
            ++*at;
            break;
        }
        if (strcmp(option, "--full") == 0) {
            o->full = true;
        } else if (strcmp(option, "--no-parameters") == 0) {
            o->parameters = false;
        } else if (strcmp(option, "--sideways") == 0) {
            o->sideways = true;
        } else if (strcmp(option, "--depth") == 0) {
            const char *depth = argv[*at + 1] ? argv[++*at] : "";
            if (!read_depth(depth, &o->depth)) {
                return wrong_usage("--depth expects a number from 0 to 1000 and not ", depth);
            }
        } else {
            return wrong_usage("unknown option ", option);
        }
    }
    return 0;
}

static int draw(const char *what, const char *path, const hd_graph_options *o)
{
    HD_SCOPE;
    bool ok = strcmp(what, "gpt") == 0 ? draw_gpt(o, path) : draw_attention(o, path);
    if (!ok) {
        fprintf(stderr, "draw_graph: %s\n", hd_error_message());
        return 1;
    }
    char word[SHELL_WORD];
    printf("graph: %s; dot -Tsvg %s%s -o graph.svg makes a picture of it\n", path,
           path[0] == '-' ? "./" : "", shell_word(path, word));
    return stdout_written("draw_graph") ? 0 : 1;
}

int main(int argc, char **argv)
{
    open_standard_files();
    hd_on_warning(hd_warning_print, NULL);
    int about = about_status(argc, argv, "draw_graph", help);
    if (about >= 0) {
        return about;
    }
    hd_graph_options o = hd_graph_defaults();
    int at = 1, status = argc > 0 ? read_options(argv, &at, &o) : 2;
    if (status != 0) {
        return status;
    }
    if (argc != at + 2) {
        return wrong_usage("expected attention or gpt, and a file", "");
    }
    if (strcmp(argv[at], "gpt") != 0 && strcmp(argv[at], "attention") != 0) {
        return wrong_usage("expected attention or gpt and not ", argv[at]);
    }
    return draw(argv[at], argv[at + 1], &o);
}
