/* sample_gpt.c - continues a text with a GPT from train_gpt or with a model of Hugging Face, or
 * holds a conversation with a model of Hugging Face.
 *
 *   sample_gpt gpt-1/best "static int " --length 200 --temperature 0.7
 *   sample_gpt SmolLM2 --chat --temperature 0.7
 * The prompt comes from the arguments, or else from stdin. The program prints the text token by
 * token. If a character takes several tokens, it prints the character after the last of them.
 * The last line, on stderr, is the speed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate.h"
#include "program.h"
#include "sample_gpt.h"
#ifdef HEED_HAVE_HF
#include "pretrained.h"
#endif

static const char help[] =
    "usage: sample_gpt CHECKPOINT|FOLDER [PROMPT] [OPTION]...\n"
    "       sample_gpt FOLDER --chat [OPTION]...\n"
    "\n"
    "Continues a text with a GPT that train_gpt has trained, or with a model of Hugging Face. The\n"
    "text appears token by token. At the end a line on stderr says how fast it was written. With\n"
    "--chat the model answers each line of stdin.\n"
    "\n"
    "  CHECKPOINT       a checkpoint of train_gpt, which is a directory such as gpt-1/best\n"
    "  FOLDER           a folder with config.json, model.safetensors and tokenizer.json, as\n"
    "                   transformers saves a GPT-2, Llama, Qwen or a similar model\n"
    "  PROMPT           the text to continue. Without it the program reads stdin and drops one\n"
    "                   newline at its end.\n"
    "  --chat           holds a conversation, in the form of FOLDER's chat template. In a "
    "terminal,\n"
    "                   Ctrl-C stops an answer, Ctrl-D ends, and the line /new begins a new\n"
    "                   conversation. If the context has no room for an answer of --length "
    "tokens,\n"
    "                   a message says so.\n"
    "  --system TEXT    begins each conversation with TEXT as the system's message. Without it,\n"
    "                   or with '', there is only the template's own, if it has one.\n"
    "  --template FILE  uses the chat template in FILE instead of FOLDER's\n"
    "  --length N       writes N tokens after the prompt, or after the line of a chat. A model of\n"
    "                   FOLDER may end earlier. The default is 400.\n"
    "  --temperature T  divides the logits by T before each draw. The default is 0.8. With 1 the\n"
    "                   tokens have the model's probabilities, and above 1 unlikely tokens come\n"
    "                   more often. 0 (or less than 0.00001) takes the likeliest token without a\n"
    "                   draw.\n"
    "  --top-k K        draws from the K likeliest tokens only. The default 0 draws from all.\n"
    "  --top-p P        draws from the likeliest tokens that together have the probability P, and\n"
    "                   from one token at least. The default 1 draws from all. With --top-k too,\n"
    "                   P is a share of the probability of the K tokens.\n"
    "  --seed N         seeds the draws. The default is 123. The same seed gives the same text.\n"
    "  --no-cache       computes all tokens again for each new one, which takes longer. The\n"
    "                   logits differ by rounding from those with the cache, so that the text is\n"
    "                   nearly always the same, but not always. For a CHECKPOINT only.\n"
    "  --bfloat16       keeps the weights of FOLDER in bfloat16, which takes half the memory\n"
    "  --               ends the options, so that PROMPT may begin with two dashes\n"
    "  --help           prints this text\n"
    "  --version        prints the version of heed\n"
    "\n"
    "For a FOLDER, the defaults of --length, --temperature, --top-k and --top-p are those of its\n"
    "generation_config.json. If it says nothing, the program takes the likeliest token, unless\n"
    "you give one of the last three options.\n"
    "The environment variable HEED_THREADS sets the number of threads, and HEED_CPU the CPU level\n"
    "(plain, baseline, avx2 or avx512).\n"
    "The exit status is 0 if the text was written, 1 if the model cannot be read or the text\n"
    "cannot be written, and 2 if the arguments are wrong.\n"
    "Examples: sample_gpt gpt-1/best 'static int ' --length 200 --top-k 20\n"
    "          sample_gpt SmolLM2 'The sun is' --length 30\n"
    "          sample_gpt SmolLM2 --chat --temperature 0.7\n";

/* ---------------------------------------------------------------- arguments */

typedef struct {
    const char *name, *expected;
    double *value, lowest, highest;
    bool whole;
} number_option;

/* Reads the value of an option from text, the argument after it (NULL: there is none). False if the
 * value is wrong. A number that is too large for a double, such as 1e999, becomes infinite, which
 * is above every bound. */
static bool read_number(const number_option *o, const char *text)
{
    char *end = NULL;
    double v = text ? strtod(text, &end) : 0;
    bool ok = text && end > text && *end == '\0' && v >= o->lowest && v <= o->highest &&
              (!o->whole || v == floor(v));
    *o->value = v;
    return ok;
}

/* Reads the value of the option `name`. If the name or the value is wrong, prints a message and
 * returns false. */
static bool read_option(arguments *a, const char *program, const char *name, const char *text)
{
    const number_option options[] = {
        {"--length", "a whole number from 0 to 1e15", &a->length, 0, 1e15, true},
        {"--top-k", "a whole number from 0 (all tokens) to 1e15", &a->top_k, 0, 1e15, true},
        {"--temperature", "a number from 0 to 1e6", &a->temperature, 0, 1e6, false},
        {"--top-p", "a number from 0 to 1", &a->top_p, 0, 1, false},
        {"--seed", "a whole number from -1e15 to 1e15", &a->seed, -1e15, 1e15, true},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(name, options[i].name) != 0) {
            continue;
        }
        bool ok = read_number(&options[i], text);
        if (!ok) {
            fprintf(stderr, "%s: %s %s: expected %s (see --help)\n", program, name,
                    text ? text : "without a value", options[i].expected);
        }
        return ok;
    }
    bool system = strcmp(name, "--system") == 0;
    if (system || strcmp(name, "--template") == 0) {
        *(system ? &a->system : &a->template_file) = text;
        if (!text) {
            fprintf(stderr, "%s: %s without a value: expected a %s (see --help)\n", program, name,
                    system ? "text" : "file");
        }
        return text;
    }
    bool option = strncmp(name, "--", 2) == 0;
    fprintf(stderr, "%s: %s '%s' (see --help)\n", program,
            option ? "unknown option" : "expected CHECKPOINT and PROMPT, found a third argument",
            name);
    return false;
}

static bool read_arguments(arguments *a, int argc, char **argv)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        bool option = options && strncmp(argv[i], "--", 2) == 0;
        if (option && argv[i][2] == '\0') {
            options = false;
        } else if (option && strcmp(argv[i], "--no-cache") == 0) {
            a->no_cache = true;
        } else if (option && strcmp(argv[i], "--chat") == 0) {
            a->chat = true;
        } else if (option && strcmp(argv[i], "--bfloat16") == 0) {
            a->bfloat16 = true;
        } else if (!option && !a->from) {
            a->from = argv[i];
        } else if (!option && !a->prompt) {
            a->prompt = argv[i];
        } else if (!read_option(a, argv[0], argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            return false;
        } else {
            i++;
        }
    }
    if (!a->from) {
        fprintf(stderr, "%s: expected a CHECKPOINT or a FOLDER (see --help)\n", argv[0]);
    } else if (a->chat && a->prompt) {
        fprintf(stderr, "%s: '%s': expected no PROMPT with --chat (see --help)\n", argv[0],
                a->prompt);
    } else if ((a->system || a->template_file) && !a->chat) {
        fprintf(stderr, "%s: %s: expected it with --chat only (see --help)\n", argv[0],
                a->system ? "--system" : "--template");
    } else {
        return true;
    }
    return false;
}

/* Returns the text of stdin, without the newline that echo puts after a prompt. The caller frees
 * it. NULL: the error is set. */
static char *read_stdin(void)
{
    if (isatty(STDIN_FILENO)) {
        fprintf(stderr, "Type the prompt, then Ctrl-D:\n");
    }
    size_t n = 0, room = 4096;
    char *text = malloc(room);
    while (text) {
        n += fread(text + n, 1, room - n - 1, stdin);
        if (n + 1 < room) {
            break;
        }
        room *= 2;
        char *more = realloc(text, room);
        if (!more) {
            free(text);
        }
        text = more;
    }
    if (!text || ferror(stdin)) {
        free(text);
        return hd_error_set(HD_IO, "stdin cannot be read");
    }
    text[n > 0 && text[n - 1] == '\n' ? n - 1 : n] = '\0';
    return text;
}

static bool prompt_ok(const char *prompt)
{
    return prompt &&
           (*prompt != '\0' || hd_error_set(HD_VALUE, "the prompt is empty: expected some text"));
}

/* ---------------------------------------------------------------- sampling */

static bool sample(const arguments *a, const char *prompt, hd_module *gpt, const gpt_config *cfg,
                   const hd_tokenizer *tokenizer, writing_speed *speed)
{
    sampling how = {or_else(a->temperature, 0.8), (int64_t)or_else(a->top_k, 0),
                    or_else(a->top_p, 1), !a->no_cache};
    int64_t length = (int64_t)or_else(a->length, DEFAULT_LENGTH);
    hd_tensor *ids = hd_tokenizer_encode(tokenizer, prompt, -1, HD_SPECIAL_ALLOW); /* (count,) */
    if (!ids) {
        return false;
    }
    hd_manual_seed((int64_t)a->seed);
    fputs(prompt, stdout);
    bool ok = generate(gpt, cfg, tokenizer, ids, length, &how, stdout, speed);
    putchar('\n');
    return ok;
}

static bool file_exists(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* Returns false with an error if path cannot be a checkpoint or the folder of a model. If path is a
 * run, or a file of a checkpoint, the message suggests the right path. */
static bool is_checkpoint(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        return hd_error_set(HD_IO,
                            "%s: %s: expected a checkpoint of train_gpt, or the folder of a "
                            "model",
                            path, strerror(errno));
    }
    if (!S_ISDIR(s.st_mode)) {
        const char *slash = strrchr(path, '/');
        int n = slash ? (int)(slash - path) : 0;
        return hd_error_set(HD_IO, "%s is a file: expected a checkpoint's directory%s%.*s%s", path,
                            n > 0 ? ": did you mean " : "", n, path, n > 0 ? "?" : "");
    }
    if (file_exists(path, "adapter_config.json") && !file_exists(path, "config.json")) {
        return hd_error_set(
            HD_VALUE,
            "%s is an adapter: expected the folder of a model. Make one from the model and the "
            "adapter with hd_lora_load, hd_lora_merge and hd_save_pretrained",
            path);
    }
    bool run =
        !file_exists(path, "model.safetensors") && file_exists(path, "best/model.safetensors");
    return !run || hd_error_set(HD_IO, "%s is a run: did you mean %.*s/best?", path,
                                directory_length(path), path);
}

/* Returns false with an error if the state is not from train_gpt. The state of another program
 * lacks model.vocab_size. */
static bool is_of_train_gpt(const char *path, const hd_dict *state)
{
    return hd_dict_kind_of(state, "model.vocab_size") != HD_DICT_MISSING ||
           hd_error_set(HD_VALUE,
                        "%s is a checkpoint, but not one of train_gpt: its state has no "
                        "'model.vocab_size'",
                        path);
}

static bool run_checkpoint(const arguments *a, const char *prompt, writing_speed *speed)
{
    HD_SCOPE;
    hd_dict *model = NULL, *state = NULL;
    gpt_config cfg = {0};
    if (!hd_checkpoint_load(a->from, &model, &state)) {
        return false;
    }
    bool ok = is_of_train_gpt(a->from, state);
    hd_module *gpt = ok && gpt_config_load(&cfg, state, "model") ? gpt_model_new(&cfg) : NULL;
    hd_tokenizer *tokenizer = gpt ? hd_tokenizer_load(state, "tokenizer") : NULL;
    ok = tokenizer && hd_module_load_state_dict(gpt, model, true, NULL) &&
         sample(a, prompt, gpt, &cfg, tokenizer, speed);
    hd_dict_free(model);
    hd_dict_free(state);
    hd_tokenizer_free(tokenizer);
    hd_module_free(gpt);
    return ok;
}

/* True if path is the folder of a model that train_gpt did not make. */
static bool is_pretrained(const char *path)
{
    return !file_exists(path, "state.safetensors") &&
           (file_exists(path, "config.json") || file_exists(path, "tokenizer.json"));
}

static bool run(const arguments *a, const char *prompt, writing_speed *speed)
{
    bool of_train_gpt = !is_pretrained(a->from);
    if (of_train_gpt && (a->chat || a->bfloat16)) {
        return hd_error_set(
            HD_VALUE,
            "%s: %s: expected a folder of Hugging Face, with config.json and tokenizer.json",
            a->chat ? "--chat" : "--bfloat16", a->from);
    }
    if (of_train_gpt) {
        return run_checkpoint(a, prompt, speed);
    }
    if (a->no_cache) {
        return hd_error_set(HD_VALUE, "--no-cache: %s: expected a checkpoint of train_gpt",
                            a->from);
    }
#ifdef HEED_HAVE_HF
    return a->chat ? chat(a) : pretrained_text(a, prompt, speed);
#else
    return hd_error_set(HD_VALUE,
                        "%s is a Hugging Face folder, and this program was built without "
                        "libheed-hf, which reads such folders",
                        a->from);
#endif
}

int main(int argc, char **argv)
{
    arguments a = {.length = NAN, .temperature = NAN, .top_k = NAN, .top_p = NAN, .seed = 123};
    hd_on_warning(hd_warning_print, NULL);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return stdout_written(argv[0]) ? 0 : 1;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("sample_gpt %s\n", hd_version());
            return stdout_written(argv[0]) ? 0 : 1;
        }
    }
    if (!read_arguments(&a, argc, argv)) {
        return 2;
    }
    bool ok = is_checkpoint(a.from);
    char *from_stdin = ok && !a.prompt && !a.chat ? read_stdin() : NULL;
    const char *prompt = a.prompt ? a.prompt : from_stdin;
    writing_speed speed = {0};
    char line[SPEED_LINE];
    ok = ok && (a.chat || prompt_ok(prompt)) && run(&a, prompt, &speed);
    free(from_stdin);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", argv[0], hd_error_message());
    }
    if (!ok || !stdout_written(argv[0])) {
        return 1;
    }
    if (!a.chat) {
        fprintf(stderr, "%s\n", speed_line(&speed, line));
    }
    return 0;
}
