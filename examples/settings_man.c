/* settings_man.c - prints the man page train_gpt-settings(5). The build runs it. It uses the table
 * with which train_gpt reads its settings, so the page and the program cannot differ. */
#include <ctype.h>
#include <string.h>

#include "train_help.h"

/* ---------------------------------------------------------------- roff */

/* Prints one character of a text. A dash becomes a minus sign, which a reader can copy into a
 * command line. */
static void put_character(char c)
{
    if (c == '\\') {
        fputs("\\e", stdout);
    } else if (c == '-') {
        fputs("\\-", stdout);
    } else {
        putchar(c);
    }
}

static void put_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_character(text[i]);
    }
}

static bool is_path(const char *word, size_t n)
{
    int64_t i = 0;
    while (i < settings_table.n && (strlen(settings_table.fields[i].path) != n ||
                                    memcmp(settings_table.fields[i].path, word, n) != 0)) {
        i++;
    }
    return i < settings_table.n && memchr(word, '.', n);
}

/* Prints sentences, each on its own line as roff requires. Names of settings are bold. */
static void put_sentences(const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, " "), name = n;
        while (name > 0 && strchr(".,;:", text[name - 1])) {
            name--;
        }
        bool path = is_path(text, name);
        fputs(path ? "\\fB" : "", stdout);
        put_text(text, name);
        fputs(path ? "\\fR" : "", stdout);
        put_text(text + name, n - name);
        bool end =
            n > 0 && text[n - 1] == '.' && text[n] == ' ' && isupper((unsigned char)text[n + 1]);
        text += n + (text[n] == ' ');
        putchar(end || *text == '\0' ? '\n' : ' ');
    }
}

/* ---------------------------------------------------------------- the page */

static const char head[] =
    ".TH TRAIN_GPT-SETTINGS 5 2026-11-22 \"heed\" \"File formats\"\n"
    ".SH NAME\n"
    "train_gpt-settings \\- the settings of train_gpt\n"
    ".SH SYNOPSIS\n"
    ".B train_gpt\n"
    ".I CONFIG.json\n"
    ".br\n"
    ".B train_gpt \\-\\-set\n"
    ".IR KEY = VALUE\n"
    ".SH DESCRIPTION\n"
    "A run of\n"
    ".BR train_gpt (1)\n"
    "takes its settings from a JSON file and from its arguments.\n"
    "In the file, the dots of a name mean nested objects.\n"
    "A setting that the file leaves out has its default.\n"
    "An argument\n"
    ".B \\-\\-set\n"
    "is stronger than the file, and among two for the same setting the last one counts.\n"
    "There a text is written without quotes.\n"
    "An unknown name, a name that is given twice in the file, and a value that is not allowed are\n"
    "errors.\n"
    "Paths are relative to the directory in which the program is called.\n"
    ".PP\n"
    "Losses are in nats per token: a loss is the mean of \\-log(p), where p is the probability "
    "that\n"
    "the model gave to the token which came next, and log is the natural logarithm.\n"
    "A uniform guess among n tokens has log(n) nats.\n"
    ".PP\n"
    "Every run writes its settings to the file\n"
    ".I config.json\n"
    "in its directory, and\n"
    ".B train_gpt \\-\\-print\\-config\n"
    "prints them.\n"
    "A resumed run reads that file, which may have been edited, and then the arguments.\n"
    "Only the settings below that say so may then have other values.\n"
    ".SH SETTINGS\n";

static const char tail[] = ".SH EXAMPLES\n"
                           ".nf\n"
                           "{\n"
                           "    \"data\": {\"text\": \"book.txt\"},\n"
                           "    \"model\": {\"context_length\": 128, \"drop_rate\": 0.1},\n"
                           "    \"train\": {\"steps\": 2000, \"sample_every\": 0}\n"
                           "}\n"
                           ".fi\n"
                           ".PP\n"
                           "With this text in the file\n"
                           ".IR book.json ,\n"
                           "the following line trains for 500 steps.\n"
                           ".PP\n"
                           ".nf\n"
                           "train_gpt book.json \\-\\-set train.steps=500 \\-\\-set out=book\n"
                           ".fi\n"
                           ".SH SEE ALSO\n"
                           ".BR train_gpt (1),\n"
                           ".BR sample_gpt (1)\n";

static void put_setting(const hd_config_field *f, const setting_meaning *m)
{
    char allowed[HELP_TEXT], value[HELP_TEXT];
    printf(".TP\n.B ");
    put_text(f->path, strlen(f->path));
    printf("\n");
    put_sentences(m->help);
    help_allowed(f, allowed);
    help_default(f, value);
    printf(".br\nValue: ");
    put_text(allowed, strlen(allowed));
    printf(".\nDefault: ");
    put_text(value, strlen(value));
    printf(".\n%s", m->free ? "A resumed run may change it.\n" : "");
}

int main(void)
{
    fputs(head, stdout);
    for (int64_t i = 0; i < settings_table.n; i++) {
        const char *heading = help_heading(i);
        if (heading) {
            printf(".SS %s\n", heading);
        }
        put_setting(&settings_table.fields[i], &settings_meaning[i]);
    }
    fputs(tail, stdout);
    return ferror(stdout) || fflush(stdout) != 0;
}
