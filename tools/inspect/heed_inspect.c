/* heed_inspect.c - heed-inspect FILE.safetensors prints the contents of the file, a line for each
 * tensor. For an index of several files, it reads these files; for the directory of a checkpoint,
 * the model.safetensors in it.
 *
 * One tensor is in memory at a time. Statistics are computed in double, over the elements that are
 * not NaN; std is that of a sample (divided by n - 1), as torch.std computes it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <heed/io.h>

enum { GOOD = 0, BAD_FILE = 1, BAD_USAGE = 2, COLUMNS = 9, TEXTS = 3, CELL = 192 };

/* A row is a line of cells with a tab between two; no cell holds a tab. */
static const char heading[] = "name\tdtype\tshape\tbytes\tmin\tmax\tmean\tstd\tnan";

/* ---------------------------------------------------------------- statistics */

typedef struct statistics {
    int64_t n, nans; /* n: how many are not NaN */
    double min, max, mean, std;
} statistics;

static double value_at(const hd_tensor *x, int64_t i)
{
    const void *data = hd_data(x);
    switch (hd_dtype_of(x)) {
    case HD_FLOAT32: return ((const float *)data)[i];
    case HD_FLOAT64: return ((const double *)data)[i];
    case HD_INT64: return (double)((const int64_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
    }
}

static statistics statistics_of(const hd_tensor *x)
{
    statistics s = {.min = INFINITY, .max = -INFINITY};
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < hd_numel(x); i++) {
        double v = value_at(x, i);
        if (isnan(v)) {
            s.nans++;
            continue;
        }
        s.n++;
        sum += v;
        s.min = v < s.min ? v : s.min;
        s.max = v > s.max ? v : s.max;
    }
    s.mean = sum / (double)s.n;
    for (int64_t i = 0; i < hd_numel(x); i++) {
        double d = value_at(x, i) - s.mean;
        squares += isnan(d) ? 0 : d * d;
    }
    s.std = isfinite(s.mean) ? sqrt(squares / (double)(s.n - 1)) : NAN;
    return s;
}

/* ---------------------------------------------------------------- a row */

/* How many bytes the control character at c has (U+0080 to U+009F are some); 0: it is none. */
static int control(const unsigned char *c)
{
    return *c < ' ' || *c == 0x7F ? 1 : *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0 ? 2 : 0;
}

/* A text from the file as one line without control characters; a long text ends in dots. */
static void plain(char cell[CELL], const char *text)
{
    size_t at = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c && at < CELL - 8; c++) {
        int n = control(c);
        if (n > 0) {
            at += (size_t)snprintf(cell + at, CELL - at, "\\x%02x", c[n - 1]);
            c += n - 1;
        } else {
            cell[at++] = (char)*c;
        }
    }
    bool cut = at >= CELL - 8;
    while (cut && at > 0 && ((unsigned char)cell[at - 1] & 0xC0) == 0x80) {
        at--; /* no part of a character */
    }
    at -= cut && at > 0 && (unsigned char)cell[at - 1] >= 0xC0;
    snprintf(cell + at, CELL - at, "%s", cut ? "..." : "");
}

static void shape_cell(char cell[CELL], const hd_safetensors *f, int64_t i)
{
    int at = snprintf(cell, CELL, "(");
    for (int d = 0; d < hd_safetensors_ndim(f, i); d++) {
        at += snprintf(cell + at, (size_t)(CELL - at), "%s%" PRId64, d ? ", " : "",
                       hd_safetensors_sizes(f, i)[d]);
    }
    snprintf(cell + at, (size_t)(CELL - at), hd_safetensors_ndim(f, i) == 1 ? ",)" : ")");
}

/* A dash where the statistic does not exist: for no elements, and for the std of one. */
static void number_cell(char cell[CELL], double v, bool there)
{
    snprintf(cell, CELL, there ? "%.6g" : "-", isnan(v) ? NAN : v); /* no "-nan" */
}

/* The tensor's row, of hd_alloc; NULL when it cannot be read. */
static char *row_of(const hd_safetensors *f, int64_t i)
{
    HD_SCOPE;
    hd_tensor *x = hd_safetensors_read(f, i);
    char *line = x ? hd_alloc(COLUMNS * CELL) : NULL;
    if (!line) {
        return NULL;
    }
    char name[CELL], shape[CELL], numbers[4][CELL];
    statistics s = statistics_of(x);
    plain(name, hd_safetensors_name(f, i));
    shape_cell(shape, f, i);
    number_cell(numbers[0], s.min, s.n > 0);
    number_cell(numbers[1], s.max, s.n > 0);
    number_cell(numbers[2], s.mean, s.n > 0);
    number_cell(numbers[3], s.std, s.n > 1);
    int n = snprintf(line, COLUMNS * CELL, "%s\t%s\t%s\t%" PRId64 "\t%s\t%s\t%s\t%s\t%" PRId64,
                     name, hd_safetensors_type(f, i), shape, hd_safetensors_bytes(f, i), numbers[0],
                     numbers[1], numbers[2], numbers[3], s.nans);
    char *row = hd_alloc((size_t)n + 1);
    if (row) {
        memcpy(row, line, (size_t)n + 1);
    }
    hd_free(line);
    return row;
}

/* ---------------------------------------------------------------- the table */

/* The length of a row's first cell, and its columns on a screen, where a character takes one. */
static size_t cell_of(const char *row, int *width)
{
    size_t n = strcspn(row, "\t");
    *width = 0;
    for (size_t i = 0; i < n; i++) {
        *width += ((unsigned char)row[i] & 0xC0) != 0x80;
    }
    return n;
}

static void widen(int widths[COLUMNS], const char *row)
{
    for (int c = 0; c < COLUMNS; c++) {
        int width;
        size_t n = cell_of(row, &width);
        widths[c] = width > widths[c] ? width : widths[c];
        row += n + (row[n] == '\t');
    }
}

/* Texts are aligned to the left, numbers to the right. */
static void print_row(const char *row, const int widths[COLUMNS])
{
    for (int c = 0; c < COLUMNS; c++) {
        int width;
        size_t n = cell_of(row, &width);
        int space = widths[c] - width;
        printf("%s%*s%.*s%*s", c ? "  " : "", c < TEXTS ? 0 : space, "", (int)n, row,
               c < TEXTS ? space : 0, "");
        row += n + (row[n] == '\t');
    }
    printf("\n");
}

/* Nothing is printed unless all can be read. */
static bool print_tensors(const hd_safetensors *f)
{
    int64_t n = hd_safetensors_len(f), made = 0;
    int widths[COLUMNS] = {0};
    char **rows = hd_alloc((size_t)n * sizeof *rows);
    widen(widths, heading);
    while (rows && made < n && (rows[made] = row_of(f, made))) {
        widen(widths, rows[made++]);
    }
    bool ok = rows && made == n;
    if (ok) {
        print_row(heading, widths);
    }
    for (int64_t i = 0; i < made; i++) {
        if (ok) {
            print_row(rows[i], widths);
        }
        hd_free(rows[i]);
    }
    hd_free(rows);
    return ok;
}

/* heed saves a double as "double " and the 16 hexadecimal digits of its bits. Such a text is shown
 * with the number instead; any other text is shown as it is. */
static void value_cell(char cell[CELL], const char *text)
{
    static const char type[] = "double ";
    const char *digits = strncmp(text, type, sizeof type - 1) == 0 ? text + sizeof type - 1 : "";
    if (strspn(digits, "0123456789abcdef") != 16 || digits[16] != '\0') {
        plain(cell, text);
        return;
    }
    HD_SCOPE;
    uint64_t bits = strtoull(digits, NULL, 16);
    double v;
    memcpy(&v, &bits, sizeof v);
    const char *number = hd_float_repr(v);
    snprintf(cell, CELL, "%s%s", type, number ? number : digits);
}

static void print_rest(const hd_safetensors *f)
{
    int64_t n = hd_safetensors_len(f), bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        bytes += hd_safetensors_bytes(f, i);
    }
    printf("%" PRId64 " tensor%s, %" PRId64 " bytes\n", n, n == 1 ? "" : "s", bytes);
    const hd_dict *metadata = hd_safetensors_metadata(f);
    for (int64_t i = 0; i < hd_dict_len(metadata); i++) {
        char name[CELL], text[CELL];
        plain(name, hd_dict_name(metadata, i));
        value_cell(text, hd_dict_get_string(metadata, hd_dict_name(metadata, i)));
        printf("%s%s = %s\n", i ? "" : "metadata:\n", name, text);
    }
}

/* Prints the error, which may contain texts from the file, without control characters. */
static void print_error(void)
{
    fprintf(stderr, "heed-inspect: ");
    for (const unsigned char *c = (const unsigned char *)hd_error_message(); *c; c++) {
        int n = control(c);
        fprintf(stderr, n > 0 ? "\\x%02x" : "%c", c[n > 0 ? n - 1 : 0]);
        c += n > 0 ? n - 1 : 0;
    }
    fprintf(stderr, "\n");
}

/* The file itself, or the file of the weights in the checkpoint at path. */
static hd_safetensors *open_at(const char *path)
{
    static const char name[] = "/model.safetensors";
    struct stat s;
    bool found = stat(path, &s) == 0;
    if (!found && errno != ENOENT) {
        return hd_error_set(HD_IO, "'%s': cannot open: %s", path, strerror(errno));
    }
    if (!found || !S_ISDIR(s.st_mode)) {
        return hd_safetensors_open(path, NULL);
    }
    size_t n = strlen(path);
    char *inside = hd_alloc(n + sizeof name);
    if (inside) {
        memcpy(inside, path, n);
        memcpy(inside + n, name, sizeof name);
    }
    hd_safetensors *f = hd_safetensors_open(inside, NULL);
    hd_free(inside);
    return f;
}

/* Flushes stdout. Returns the exit status: an error if a write has failed. */
static int stdout_status(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "heed-inspect: cannot write to the standard output\n");
        return BAD_FILE;
    }
    return GOOD;
}

static int inspect(const char *path)
{
    hd_safetensors *f = open_at(path);
    bool ok = f && print_tensors(f);
    if (ok) {
        print_rest(f);
    }
    hd_safetensors_close(f);
    if (!ok) {
        print_error();
        return BAD_FILE;
    }
    return stdout_status();
}

static const char help[] =
    "usage: heed-inspect FILE.safetensors\n"
    "       heed-inspect FILE.index.json\n"
    "       heed-inspect CHECKPOINT\n"
    "       heed-inspect --help | --version\n"
    "\n"
    "Lists the tensors of a safetensors file. The program checks the whole file first. Then it\n"
    "prints a line for each tensor, and after them the texts of the file's metadata.\n"
    "\n"
    "  FILE.safetensors  a file that heed, PyTorch or another program has written; write -- "
    "before\n"
    "                    a name that begins with a dash\n"
    "  FILE.index.json   the index of a model in several files, which are read as one\n"
    "  CHECKPOINT        a directory: the program reads the model.safetensors in it. The rest of "
    "a\n"
    "                    checkpoint of heed is in its state.safetensors.\n"
    "  --help            prints this text\n"
    "  --version         prints the version of heed\n"
    "\n"
    "The columns are the tensor's name, its type and shape, its size in the file, and the least "
    "and\n"
    "largest element, the mean, the standard deviation (divided by n - 1) and the number of NaN.\n"
    "The other columns ignore NaN. A dash means that the value does not exist.\n"
    "\n"
    "The exit status is 0 if the file is good, 1 if it is not or cannot be read, and 2 if the\n"
    "arguments are wrong.\n"
    "Example: heed-inspect gpt-1/best/state.safetensors\n";

/* Reports wrong arguments. `argument` is the first wrong one, or names the missing one. */
static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "heed-inspect: %s%s (see heed-inspect --help)\n", what, argument);
    return BAD_USAGE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return stdout_status();
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("heed-inspect %s\n", hd_version());
        return stdout_status();
    }
    int file = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (argc > file && file == 1 && argv[1][0] == '-') {
        return wrong_usage("unknown option ", argv[1]);
    }
    if (argc != file + 1) {
        return argc > file ? wrong_usage("more than one file: ", argv[file + 1])
                           : wrong_usage("expected a file or a checkpoint", "");
    }
    return inspect(argv[file]);
}
