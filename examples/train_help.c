/* train_help.c - the texts of train_gpt --help and train_gpt --help-settings. The text of
 * --help-settings comes from the table of the settings, like the man page (settings_man.c). */
#include "train_help.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the settings */

/* Writes a number as a user does, such as 1000000000 or 0.002, and not as 1e+09. Returns out. */
static const char *number_text(double v, char out[32])
{
    snprintf(out, 32, v == floor(v) && fabs(v) < 1e16 ? "%.0f" : "%g", v);
    return out;
}

/* Writes choices, such as "a|b|c", as "a, b or c". */
static void choices_text(const char *choices, char out[HELP_TEXT])
{
    size_t at = 0;
    for (const char *c = choices; *c != '\0' && at + 5 < HELP_TEXT; c++) {
        bool last = !strchr(c + 1, '|');
        const char *between = *c != '|' ? NULL : last ? " or " : ", ";
        at += (size_t)snprintf(out + at, HELP_TEXT - at, "%s", between ? between : (char[]){*c, 0});
    }
}

const char *help_allowed(const hd_config_field *f, char out[HELP_TEXT])
{
    char min[32], max[32];
    if (f->type == HD_CONFIG_BOOL) {
        snprintf(out, HELP_TEXT, "true or false");
    } else if (f->type == HD_CONFIG_STRING) {
        snprintf(out, HELP_TEXT, "a text of at most %zu bytes", f->room - 1);
    } else if (f->type == HD_CONFIG_ENUM) {
        choices_text(f->choices, out);
    } else {
        snprintf(out, HELP_TEXT, "a %snumber from %s to %s",
                 f->type == HD_CONFIG_INT ? "whole " : "", number_text(f->min, min),
                 number_text(f->max, max));
    }
    return out;
}

const char *help_default(const hd_config_field *f, char out[HELP_TEXT])
{
    if (f->type == HD_CONFIG_BOOL) {
        snprintf(out, HELP_TEXT, "%s", f->number != 0 ? "true" : "false");
    } else if (f->type == HD_CONFIG_STRING || f->type == HD_CONFIG_ENUM) {
        snprintf(out, HELP_TEXT, "%s", f->text[0] != '\0' ? f->text : "empty");
    } else {
        char number[32];
        snprintf(out, HELP_TEXT, "%s", number_text(f->number, number));
    }
    return out;
}

/* Returns the number of bytes before the first dot of a path, or 0 if it has no dot. */
static size_t group_length(const char *path)
{
    const char *dot = strchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

const char *help_heading(int64_t i)
{
    static const char *const headings[][2] = {
        {"", "The run"},       {"data", "The text"},  {"model", "The model"},
        {"train", "Training"}, {"sample", "Samples"},
    };
    const char *path = settings_table.fields[i].path;
    const char *before = i > 0 ? settings_table.fields[i - 1].path : NULL;
    size_t n = group_length(path);
    if (before && group_length(before) == n && strncmp(path, before, n) == 0) {
        return NULL;
    }
    for (size_t k = 0; k < sizeof headings / sizeof headings[0]; k++) {
        if (strlen(headings[k][0]) == n && strncmp(path, headings[k][0], n) == 0) {
            return headings[k][1];
        }
    }
    return "More settings";
}

/* Prints text on lines of at most 79 columns, with `indent` spaces before each line. */
static void print_words(FILE *f, const char *text, int indent)
{
    int column = 0;
    while (*text != '\0') {
        int n = (int)strcspn(text, " ");
        bool fresh = column == 0 || column + 1 + n > 79;
        fprintf(f, "%s%*s%.*s", fresh && column > 0 ? "\n" : "", fresh ? indent : 1, "", n, text);
        column = (fresh ? indent : column + 1) + n;
        text += n + (text[n] == ' ');
    }
    fputc('\n', f);
}

void help_print_settings(FILE *f)
{
    char allowed[HELP_TEXT], value[HELP_TEXT];
    fputs("The settings of train_gpt, for CONFIG.json and for --set KEY=VALUE. A star marks those\n"
          "that a resumed run may change.\n",
          f);
    for (int64_t i = 0; i < settings_table.n; i++) {
        const hd_config_field *field = &settings_table.fields[i];
        const char *heading = help_heading(i);
        if (heading) {
            fprintf(f, "\n%s\n", heading);
        }
        fprintf(f, "\n  %s%s: %s; default: %s\n", field->path, settings_meaning[i].free ? " *" : "",
                help_allowed(field, allowed), help_default(field, value));
        print_words(f, settings_meaning[i].help, 6);
    }
}

/* ---------------------------------------------------------------- the program */

static const char *const help[] = {
    "usage: train_gpt [CONFIG.json] [--set KEY=VALUE]... [--stop-at STEP]\n"
    "       train_gpt --resume DIR [--set KEY=VALUE]... [--stop-at STEP]\n"
    "       train_gpt [CONFIG.json] [--set KEY=VALUE]... --print-config\n"
    "       train_gpt --help | --help-settings | --version\n"
    "\n"
    "Trains a GPT on a text. Without arguments it learns heed's own C sources, character by\n"
    "character, which takes about two minutes.\n"
    "\n"
    "  CONFIG.json      reads the settings from this file. A setting that the file leaves out has\n"
    "                   its default.\n"
    "  --set KEY=VALUE  sets one setting, such as --set train.steps=200 --set data.text=book.txt.\n"
    "                   It is stronger than the file.\n"
    "  --resume DIR     continues the run in DIR from its newest checkpoint. The weights are then\n"
    "                   the same, bit for bit, as if the run had never been stopped.\n"
    "  --stop-at STEP   saves after that step and stops\n"
    "  --print-config   prints all settings as a CONFIG.json and stops\n"
    "  --help           prints this text\n"
    "  --help-settings  explains every setting, with its range and its default\n"
    "  --version        prints the version of heed\n"
    "\n"
    "The directory of a run (the setting out; by default gpt-1, gpt-2 and so on) holds:\n"
    "  config.json            the settings. You may edit them before --resume; --help-settings "
    "says\n"
    "                         which ones may change.\n"
    "  log.csv, log.jsonl     a row for each step: the step, the epoch, the learning rate, the "
    "loss,\n"
    "                         and the validation loss if it was measured after this step\n"
    "  events.out.tfevents.*  the same rows for TensorBoard (tensorboard --logdir DIR), if\n"
    "                         train.tensorboard is true\n"
    "  step-00000100/         a checkpoint: model.safetensors has the weights under PyTorch's "
    "names,\n"
    "                         and state.safetensors has everything else\n"
    "  last, best             links to the newest checkpoint and to the one with the least\n"
    "                         validation loss; older checkpoints are removed\n"
    "  loss.svg               the loss curve, after you have called plot_log\n"
    "\n",
    "A loss is in nats per token. It is the mean of -log(p), where p is the probability that the\n"
    "model gave to the token which came next, and log is the natural logarithm. A uniform guess\n"
    "among n tokens has log(n) nats. One nat is 1.44 bits.\n"
    "\n"
    "Ctrl-C (SIGINT), SIGTERM, SIGHUP (the terminal is closed) or SIGUSR1 lets the program finish\n"
    "its step, save and stop. A second SIGINT or SIGTERM ends it at once. The progress bar "
    "follows\n"
    "the width of the terminal.\n"
    "\n"
    "mpirun -n 4 train_gpt ... trains on four ranks, on one machine or on several, if this "
    "program\n"
    "was built with libheed-mpi. Each rank learns its part of every batch, and each step takes "
    "the\n"
    "average of their gradients. Rank 0 prints and writes all files, which every rank must be "
    "able\n"
    "to read. The losses are those of one rank with the same batches to 1e-6, unless there is\n"
    "dropout: rank r draws it with the seed train.seed + r. A run may be resumed on another "
    "number\n"
    "of ranks. With the same number it gives the same bits; with another one, dropout begins new\n"
    "streams. To save and stop the run, send SIGUSR1 to mpirun. After Ctrl-C or SIGTERM, Open MPI\n"
    "kills its ranks within two seconds, which may be too early for them to save.\n"
    "\n"
    "Environment variables:\n"
    "  NO_COLOR      if it is not empty, plain lines replace the progress bar, as in a pipe; so\n"
    "                does TERM=dumb\n"
    "  COLUMNS       the width of a terminal that does not know its own\n"
    "  HEED_THREADS  the number of threads. It does not change the results. Under mpirun, the\n"
    "                default is the number of CPUs divided by the ranks on the machine.\n"
    "  HEED_CPU      the CPU level: plain, baseline, avx2 or avx512, the same for all ranks.\n"
    "\n"
    "The exit status is 0 if the run has all its steps or has reached --stop-at, 1 if something\n"
    "failed, 2 if the arguments or the settings are wrong, and 128 plus its number if a signal\n"
    "stopped the run: 129 for SIGHUP, 130 for SIGINT, 138 for SIGUSR1, 143 for SIGTERM.\n"
    "\n"
    "Examples:\n"
    "  train_gpt --set data.text=book.txt --set out=book --set train.steps=2000\n"
    "  train_gpt --resume book\n"
    "  mpirun -n 2 train_gpt --resume book\n"
    "  sample_gpt book/best 'Once upon'\n",
};

void help_print(FILE *f)
{
    for (size_t i = 0; i < sizeof help / sizeof help[0]; i++) {
        fputs(help[i], f);
    }
}
