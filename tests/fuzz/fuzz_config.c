/* fuzz_config.c - fuzzes the loading of settings. The bytes are a table, a JSON text and settings
 * of a command line, with the byte 1E between them: TABLE 1E JSON 1E SET 1E SET ... An empty table
 * stands for own_table. Each line of another table is a field:
 * path;type;room;number;min;max;text;choices. A part that is missing at the end of a line has its
 * usual value, and / in choices stands for |. Loaded settings are printed as JSON, which must load
 * to the same values. After an error the struct must be unchanged, and no byte beside it may ever
 * change. */
#include "fuzz.h"

#include <math.h>

#include "heed/config.h"

enum { FIELDS = 24, SETS = 16, CONFIG = 512, GUARD = 64, MARK = 0x1E, BEFORE = 0x5A, DEEPEST = 60 };

typedef struct settings {
    int64_t seed;
    int emb_dim, n_heads, schedule;
    double lr, eps;
    bool bias, tied;
    char data[16], name[1];
} settings;

static bool divides(const void *config, const hd_config_source *from)
{
    const settings *s = config;
    return s->n_heads == 0 || s->emb_dim % s->n_heads == 0 ||
           hd_config_refuse(from, "model.n_heads", "%d does not divide %d", s->n_heads, s->emb_dim);
}

static const hd_config_field own_fields[] = {
    HD_CONFIG_INT_OF(settings, seed, "seed", 123, -1e15, 1e15),
    HD_CONFIG_INT_OF(settings, emb_dim, "model.emb_dim", 64, 1, 4096),
    HD_CONFIG_INT_OF(settings, n_heads, "model.n_heads", 4, 0, 64),
    HD_CONFIG_BOOL_OF(settings, bias, "model.qkv.bias", false),
    HD_CONFIG_BOOL_OF(settings, tied, "model.tied", true),
    HD_CONFIG_ENUM_OF(settings, schedule, "train.schedule", "cosine", "constant|cosine|one_cycle"),
    HD_CONFIG_DOUBLE_OF(settings, lr, "train.lr", 4e-4, 0, 1),
    HD_CONFIG_DOUBLE_OF(settings, eps, "train.eps", 1e-8, -INFINITY, INFINITY),
    HD_CONFIG_STRING_OF(settings, data, "data.text", "input.txt"),
    HD_CONFIG_STRING_OF(settings, name, "data.name", ""),
};
static const hd_config_table own_table = HD_CONFIG_TABLE(settings, own_fields, divides);

/* ---------------------------------------------------------------- a table of the input's */

typedef struct made_table {
    hd_config_field fields[FIELDS];
    hd_config_table table;
    char *texts; /* the lines, cut into strings */
} made_table;

/* The text up to the next ';' or the end of the line, ended by a zero. */
static const char *next_text(char **at)
{
    char *text = *at, *end = text + strcspn(text, ";");
    *at = *end ? end + 1 : end;
    *end = '\0';
    return text;
}

static double next_number(char **at, double otherwise)
{
    const char *text = next_text(at);
    return *text ? strtod(text, NULL) : otherwise;
}

static size_t usual_room(int type)
{
    static const size_t rooms[] = {sizeof(int), sizeof(double), sizeof(bool), 8, sizeof(int)};
    return type >= 0 && type < 5 ? rooms[type] : 8;
}

static void read_field(hd_config_field *f, char *line, size_t *offset)
{
    f->path = next_text(&line);
    const double type = next_number(&line, 0);
    f->type = (hd_config_type)(type >= 0 && type < 8 ? (int)type : 0);
    const double room = next_number(&line, 0);
    f->room = room >= 1 && room < CONFIG ? (size_t)room : usual_room((int)f->type);
    f->number = next_number(&line, 0);
    f->min = next_number(&line, -INFINITY);
    f->max = next_number(&line, INFINITY);
    f->text = *line == ';' || *line ? next_text(&line) : "";
    f->choices = *line ? next_text(&line) : NULL;
    f->offset = *offset;
    *offset += (f->room + 7) / 8 * 8;
}

static void read_table(made_table *t, const uint8_t *text, size_t n)
{
    size_t offset = 0;
    int64_t fields = 0;
    t->texts = malloc(n + 1);
    fuzz_check(t->texts, "memory ran out");
    memcpy(t->texts, text, n);
    t->texts[n] = '\0';
    for (char *line = t->texts, *end; *line && fields < FIELDS; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        int dots = 0;
        for (char *c = line; *c; c++) { /* heed trusts a table: its texts are UTF-8 and not deep */
            *c = *c == '/' ? '|' : (char)(*c & 0x7F);
            dots += *c == '.';
            *c = *c == '.' && dots > DEEPEST ? '_' : *c;
        }
        read_field(&t->fields[fields++], line, &offset);
    }
    t->table = (hd_config_table){sizeof t->table, CONFIG, t->fields, fields, NULL};
}

/* ---------------------------------------------------------------- loading */

static void printed_and_loaded_again(const hd_config_table *t, const char *config)
{
    char again[CONFIG];
    memset(again, BEFORE, sizeof again);
    char *text = hd_config_text(t, config);
    fuzz_check(text, "what was loaded cannot be printed");
    fuzz_check(hd_config_load_text(t, again, "again", text, strlen(text), 0, NULL),
               "what was printed cannot be loaded: %s", text);
    char *second = hd_config_text(t, again);
    fuzz_check(second && strcmp(text, second) == 0, "%s was loaded, and %s", text,
               second ? second : "");
    hd_free(text);
    hd_free(second);
}

static void guarded(const char *config)
{
    for (int i = 0; i < GUARD; i++) {
        fuzz_check(config[-1 - i] == BEFORE && config[CONFIG + i] == BEFORE,
                   "a byte beside the struct was written");
    }
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, data + size};
    char block[GUARD + CONFIG + GUARD], *config = block + GUARD, *sets[SETS];
    size_t n_table, n_text;
    const uint8_t *lines = fuzz_part(&in, MARK, &n_table);
    const uint8_t *json = fuzz_part(&in, MARK, &n_text);
    made_table made = {.texts = NULL};
    const hd_config_table *t = &own_table;
    int n_sets = 0;
    if (n_table > 0) {
        read_table(&made, lines, n_table);
        t = &made.table;
    }
    while (fuzz_more(&in) && n_sets < SETS) {
        size_t n;
        const uint8_t *set = fuzz_part(&in, MARK, &n);
        sets[n_sets] = calloc(1, n + 1);
        fuzz_check(sets[n_sets], "memory ran out");
        memcpy(sets[n_sets++], set, n);
    }
    memset(block, BEFORE, sizeof block);
    const bool ok = hd_config_load_text(t, config, "fuzz.json", (const char *)json, n_text, n_sets,
                                        (const char *const *)sets);
    if (fuzz_verdict(ok, "hd_config_load_text")) {
        printed_and_loaded_again(t, config);
    } else {
        for (int i = 0; i < CONFIG; i++) {
            fuzz_check(config[i] == BEFORE, "an error has changed the struct");
        }
    }
    guarded(config);
    while (n_sets > 0) {
        free(sets[--n_sets]);
    }
    free(made.texts);
}

/* Each object in a path of the table is a line of its own, which is indented. */
static int64_t bound(size_t size)
{
    return 64 * ((int64_t)size + 1024) + 4 * (int64_t)(size * size);
}

void fuzz_setup(void)
{
    fuzz_bound = bound;
}
