/* replay.c - runs the inputs of a corpus without a fuzzer, and converts corpora.
 *
 * A corpus is a text file with one input on each line. A printable character of ASCII stands for
 * itself, except that \\ is a backslash, \n a newline, \0 the byte 0 and \xHH any byte. A line that
 * begins with # is a comment, and an empty line is the empty input.
 *
 * usage: replay_TARGET CORPUS                 runs every input
 *        replay_TARGET --unpack CORPUS DIR    writes each input to a file of its own in DIR
 *        replay_TARGET --pack DIR             prints the corpus of the files in DIR, sorted
 *        replay_TARGET --run FILE...          runs each file as one input */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    uint8_t *p;
    size_t n;
} bytes;

static char now[300]; /* which input runs */

_Noreturn static void give_up(const char *what, const char *name)
{
    fprintf(stderr, "replay: %s: %s\n", name, what);
    exit(2);
}

static void say_input(int signal_number)
{
    if (write(STDERR_FILENO, now, strlen(now)) < 0) {
        _exit(3);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static bytes whole_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        give_up("cannot be opened", path);
    }
    bytes b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.p = malloc(b.n + 1);
    if (!b.p || fread(b.p, 1, b.n, f) != b.n) {
        give_up("cannot be read", path);
    }
    b.p[b.n] = '\0';
    fclose(f);
    return b;
}

/* ---------------------------------------------------------------- one line */

static int hex_digit(int c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes of a line of n characters. They take its place. */
static bytes decode(uint8_t *line, size_t n)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = line[i];
        if (c == '\\') {
            c = line[++i];
            int high = c == 'x' ? hex_digit(line[i + 1]) : 0;
            int low = c == 'x' && high >= 0 ? hex_digit(line[i + 2]) : 0;
            if (i >= n || !strchr("\\n0x", c) || high < 0 || low < 0) {
                give_up("not an escape", (char *)line);
            }
            i += c == 'x' ? 2 : 0;
            c = (uint8_t)(c == 'x' ? 16 * high + low : c == 'n' ? '\n' : c == '0' ? 0 : '\\');
        }
        line[to++] = c;
    }
    return (bytes){line, to};
}

/* The line of an input: malloc. */
static char *encode(bytes b)
{
    char *line = malloc(4 * b.n + 1), *to = line;
    for (size_t i = 0; line && i < b.n; i++) {
        const uint8_t c = b.p[i];
        bool edge = (c == ' ' && (i == 0 || i + 1 == b.n)) || (c == '#' && i == 0);
        if (c == '\n' || c == '\\' || c == 0) {
            *to++ = '\\';
            *to++ = c == '\n' ? 'n' : c == 0 ? '0' : '\\';
        } else if (c < ' ' || c > '~' || edge) {
            to += snprintf(to, 5, "\\x%02x", c);
        } else {
            *to++ = (char)c;
        }
    }
    if (!line) {
        give_up("memory ran out", "encode");
    }
    *to = '\0';
    return line;
}

/* ---------------------------------------------------------------- a corpus */

static void run(bytes b, void *unused, int line)
{
    (void)unused;
    snprintf(now, sizeof now, "the input on line %d of the corpus\n", line);
    uint8_t *exact = malloc(b.n ? b.n : 1); /* so that a sanitizer sees its end */
    if (!exact) {
        give_up("memory ran out", now);
    }
    memcpy(exact, b.p, b.n);
    LLVMFuzzerTestOneInput(exact, b.n);
    free(exact);
}

static void unpack(bytes b, void *dir, int line)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%05d", (char *)dir, line);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0) {
        give_up("cannot be written", path);
    }
}

/* Calls f for each input; returns how many there are. */
static int each_input(const char *corpus, void (*f)(bytes, void *, int), void *user)
{
    bytes all = whole_file(corpus);
    int inputs = 0, line = 0;
    for (uint8_t *at = all.p, *end; at < all.p + all.n; at = end + 1) {
        end = memchr(at, '\n', all.n - (size_t)(at - all.p));
        if (!end) {
            give_up("the last line has no end", corpus);
        }
        line++;
        if (*at != '#') {
            *end = '\0';
            f(decode(at, (size_t)(end - at)), user, line);
            inputs++;
        }
    }
    free(all.p);
    return inputs;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void pack(const char *folder)
{
    DIR *d = opendir(folder);
    char **lines = NULL, path[4096];
    size_t n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (e->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        bytes b = whole_file(path);
        char **more = realloc(lines, (n + 1) * sizeof *lines);
        if (!more) {
            give_up("memory ran out", folder);
        }
        lines = more;
        lines[n++] = encode(b);
        free(b.p);
    }
    if (!d) {
        give_up("no folder", folder);
    }
    closedir(d);
    if (n > 0) {
        qsort(lines, n, sizeof *lines, by_text);
    }
    for (size_t i = 0; i < n; i++) {
        puts(lines[i]);
        free(lines[i]);
    }
    free(lines);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--unpack") == 0) {
        each_input(argv[2], unpack, argv[3]);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--pack") == 0) {
        pack(argv[2]);
        return 0;
    }
    signal(SIGABRT, say_input);
    signal(SIGSEGV, say_input);
    LLVMFuzzerInitialize(&argc, &argv);
    if (argc >= 3 && strcmp(argv[1], "--run") == 0) {
        for (int i = 2; i < argc; i++) {
            bytes b = whole_file(argv[i]);
            run(b, NULL, i - 1);
            free(b.p);
        }
        return 0;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    int inputs = each_input(argv[1], run, NULL);
    printf("%d inputs\n", inputs);
    return inputs == 0;
}
