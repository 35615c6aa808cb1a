/* load.c - fills the caller's struct from defaults, a JSON text and settings of the command line.
 *
 * heed's strict JSON reader checks a text before cJSON makes a tree of it, because cJSON accepts
 * numbers like 01 and 1e999 and bytes that are not UTF-8, and ends a text at a zero. cJSON runs in
 * the C locale. Its memory comes from malloc, because its allocation hooks belong to the whole
 * process. Values go to a copy of the struct. The caller's struct changes only if all values are
 * right. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "config/config_internal.h"

typedef struct loading {
    hd_config_source from;
    const hd_config_table *table;
    void *config; /* the copy of the caller's struct */
} loading;

/* ---------------------------------------------------------------- refusing */

bool hd_config_refuse(const hd_config_source *from, const char *path, const char *format, ...)
{
    HD__CALL("hd_config_refuse");
    if (!hd__arg_given("from", from) || !hd__arg_given("path", path) ||
        !hd__arg_given("format", format)) {
        return false;
    }
    char text[512];
    va_list args;
    va_start(args, format);
    void *before = hd__sys_locale_enter();
    vsnprintf(text, sizeof text, format, args);
    hd__sys_locale_leave(before);
    va_end(args);
    const char *own = hd__call_exchange(from->call ? from->call : hd__call_now());
    hd_fail(HD_VALUE, "%s: %s: %s", from->place, HD__CONFIG_SHOWN(path), text);
    hd__call_exchange(own);
    return false;
}

static const char *found_text(const cJSON *item, char out[HD__SHOWN])
{
    char text[HD__SHOWN];
    switch (item->type & 0xFF) {
    case cJSON_Number: return hd__text_shortest(item->valuedouble, out);
    case cJSON_String:
        snprintf(out, HD__SHOWN, "\"%.90s\"", hd__config_shown(item->valuestring, text));
        return out;
    case cJSON_True: return "true";
    case cJSON_False: return "false";
    case cJSON_NULL: return "null";
    default: return cJSON_IsArray(item) ? "an array" : "an object";
    }
}

static bool refuse_value(const loading *l, const hd_config_field *f, const cJSON *item)
{
    char found[HD__SHOWN], expected[HD__EXPECTED], meant[HD__SHOWN];
    bool near = f->type == HD_CONFIG_ENUM && cJSON_IsString(item) &&
                hd__config_meant_choice(f, item->valuestring, meant);
    return hd_config_refuse(&l->from, f->path, "found %s: expected %s%s%s%s",
                            found_text(item, found), hd__config_expected(f, expected),
                            near ? ": did you mean \"" : "", near ? meant : "", near ? "\"?" : "");
}

/* ---------------------------------------------------------------- one value */

static bool assign(const loading *l, const hd_config_field *f, const cJSON *item)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : NULL;
    double v = item->valuedouble;
    bool ok;
    switch (f->type) {
    case HD_CONFIG_BOOL:
        ok = cJSON_IsBool(item);
        v = cJSON_IsTrue(item);
        break;
    case HD_CONFIG_STRING: ok = text && strlen(text) < f->room; break;
    case HD_CONFIG_ENUM:
        v = text ? hd__config_choice(f, text) : -1;
        ok = v >= 0;
        break;
    default:
        ok = cJSON_IsNumber(item) && (f->type == HD_CONFIG_DOUBLE || v == floor(v)) &&
             v >= hd__config_min(f) && v <= hd__config_max(f);
    }
    if (!ok) {
        return refuse_value(l, f, item);
    }
    if (f->type == HD_CONFIG_STRING) {
        memcpy((char *)l->config + f->offset, text, strlen(text) + 1);
    } else {
        hd__config_put(f, l->config, v);
    }
    return true;
}

/* ---------------------------------------------------------------- the tree */

/* Returns the part of f's path inside the object at `path` ("" is the outermost object), or NULL if
 * f is not in this object. */
static const char *name_in(const hd_config_field *f, const char *path)
{
    size_t n = strlen(path);
    bool inside = n == 0 || (strncmp(f->path, path, n) == 0 && f->path[n] == '.');
    return inside ? f->path + n + (n > 0) : NULL;
}

/* Returns the names of the fields and objects in the object at `path`, with commas between them.
 * The caller frees the text. NULL with an error if memory runs out. */
static char *names_in(const hd_config_table *t, const char *path)
{
    hd__text names = {0};
    const char *before = "";
    for (int64_t i = 0; i < t->n; i++) {
        const char *name = name_in(&t->fields[i], path);
        size_t n = name ? strcspn(name, ".") : 0;
        if (n > 0 && (strcspn(before, ".") != n || memcmp(before, name, n) != 0)) {
            hd__text_puts(&names, *before ? ", " : "");
            hd__text_add(&names, name, n);
            before = name;
        }
    }
    return hd__text_take(&names);
}

static bool unknown(const loading *l, const char *object, const char *path)
{
    char meant[HD__SHOWN];
    if (hd__config_meant(l->table, path, meant)) {
        return hd_config_refuse(&l->from, path, "unknown: did you mean '%s'?", meant);
    }
    char *names = names_in(l->table, object);
    if (names) {
        hd_config_refuse(&l->from, path, "unknown: expected one of %s", names);
    }
    hd_free(names);
    return false;
}

static bool take_object(const loading *l, const char *path, const cJSON *object);

/* Assigns item to the field at `path` or, if the table has an object there, item's members to its
 * fields. `object` is the path of the object around `path`. Returns false with an error if the
 * table has neither a field nor an object at `path`, or if a value does not fit. */
static bool take_member(const loading *l, const char *object, const char *path, const cJSON *item)
{
    size_t n = strlen(path);
    for (int64_t i = 0; i < l->table->n; i++) {
        const hd_config_field *f = &l->table->fields[i];
        bool begins = strncmp(f->path, path, n) == 0;
        if (begins && !f->path[n]) {
            return assign(l, f, item);
        }
        if (begins && f->path[n] == '.' && n > 0) {
            char found[HD__SHOWN];
            return cJSON_IsObject(item)
                       ? take_object(l, path, item)
                       : hd_config_refuse(&l->from, path, "found %s: expected an object",
                                          found_text(item, found));
        }
    }
    return unknown(l, object, path);
}

static bool given_twice(const cJSON *object, const cJSON *item)
{
    for (const cJSON *before = object->child; before != item; before = before->next) {
        if (strcmp(before->string, item->string) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_item(const loading *l, const char *object_path, const char *path,
                      const cJSON *object, const cJSON *item)
{
    return (!given_twice(object, item) ||
            hd_fail(HD_FORMAT, "%s: %s: given twice", l->from.place, HD__CONFIG_SHOWN(path))) &&
           (!strchr(item->string, '.') ||
            hd_config_refuse(&l->from, path, "the name has a dot in it. Write nested objects")) &&
           take_member(l, object_path, path, item);
}

/* Assigns the members of `object` to the fields in the table's object at `path`. Recursive through
 * take_member, but at most as deep as the table's paths, because an unknown name is an error.
 * Returns false with an error if a member is wrong. */
static bool take_object(const loading *l, const char *path, const cJSON *object)
{
    hd__text at = {0};
    bool ok = true;
    for (const cJSON *item = object->child; item && ok; item = item->next) {
        hd__text_cut(&at, 0);
        hd__text_format(&at, "%s%s%s", path, *path ? "." : "", item->string);
        ok = !at.failed && take_item(l, path, at.s, object, item);
    }
    hd_free(at.s);
    return ok;
}

/* ---------------------------------------------------------------- texts */

/* Returns true if the text that j reads is strict JSON, and no string in it has a zero byte, at
 * which cJSON would end the string. Otherwise returns false, and j describes the fault for
 * hd__json_fail. */
static bool is_strict(hd__json *j)
{
    hd__json_kind kind;
    while ((kind = hd__json_next(j)) > HD__JSON_END) {
        bool text = kind == HD__JSON_NAME || kind == HD__JSON_STRING;
        if (text && j->len > 0 && memchr(j->s, 0, j->len)) {
            j->kind = HD__JSON_BAD;
            j->expected = "a text without a zero in it";
            return false;
        }
    }
    return kind == HD__JSON_END;
}

/* Returns the cJSON tree of a text, which the caller frees. If the text is not JSON, returns NULL,
 * with an error unless quiet is true. */
static cJSON *parse_tree(const hd_config_source *from, const char *text, size_t n, bool quiet)
{
    hd__json j;
    hd__json_init(&j, text, n);
    bool strict = is_strict(&j);
    if (!strict && !quiet) {
        hd__json_fail(&j, from->place, NULL);
    }
    hd__json_free(&j);
    if (!strict) {
        return NULL;
    }
    void *before = hd__sys_locale_enter();
    cJSON *tree = before ? cJSON_ParseWithLength(text, n) : NULL;
    hd__sys_locale_leave(before);
    return tree ? tree : hd_fail(HD_MEMORY, "%s: out of memory", from->place);
}

static bool take_text(const loading *l, const char *text, size_t n)
{
    cJSON *tree = parse_tree(&l->from, text, n, false);
    bool ok = tree && cJSON_IsObject(tree);
    if (tree && !ok) {
        char found[HD__SHOWN];
        hd_fail(HD_FORMAT, "%s: found %s: expected an object", l->from.place,
                found_text(tree, found));
    }
    ok = ok && take_object(l, "", tree);
    cJSON_Delete(tree);
    return ok;
}

/* ---------------------------------------------------------------- settings */

static bool takes_text(const hd_config_table *t, const char *path)
{
    for (int64_t i = 0; i < t->n; i++) {
        if (strcmp(t->fields[i].path, path) == 0) {
            return t->fields[i].type == HD_CONFIG_STRING || t->fields[i].type == HD_CONFIG_ENUM;
        }
    }
    return false;
}

/* Assigns value to the field at path. heed takes value as a text if the field takes texts, or if
 * value is not JSON. value is not const because cJSON's valuestring is not. Returns false with an
 * error if value does not fit or there is no such field. */
static bool take_value(const loading *l, const char *path, char *value)
{
    size_t n = strlen(value);
    if (hd__utf8_good(value, n) != n) {
        return hd_config_refuse(&l->from, path, "found bytes that are not UTF-8: expected UTF-8");
    }
    uint64_t errors = hd_error_count();
    cJSON *tree = takes_text(l->table, path) ? NULL : parse_tree(&l->from, value, n, true);
    if (hd_error_count() != errors) {
        return false;
    }
    cJSON text = {.type = cJSON_String, .valuestring = value};
    bool ok = take_member(l, "", path, tree ? tree : &text);
    cJSON_Delete(tree);
    return ok;
}

static bool take_set(const loading *all, const char *set)
{
    char place[HD__SHOWN + 16];
    loading l = *all;
    snprintf(place, sizeof place, "setting %s", HD__CONFIG_SHOWN(set));
    l.from.place = place;
    size_t n = strlen(set);
    char *path = hd_alloc(n + 1), *equals = path ? memcpy(path, set, n + 1) : NULL;
    equals = equals ? strchr(path, '=') : NULL;
    bool ok = false;
    if (equals) {
        *equals = '\0';
        ok = take_value(&l, path, equals + 1);
    } else if (path) {
        hd_fail(HD_VALUE, "%s: expected key=value", place);
    }
    hd_free(path);
    return ok;
}

/* ---------------------------------------------------------------- public */

static bool run_check(const hd_config_table *t, const void *config, const hd_config_source *from)
{
    HD__CALLS_BACK;
    return t->check(config, &(hd_config_source){from->place, hd__call_before});
}

bool hd__config_check(const hd_config_table *t, const void *config, const hd_config_source *from)
{
    uint64_t errors = hd_error_count();
    return !t->check || run_check(t, config, from) ||
           (hd_error_count() == errors &&
            hd_fail(HD_USER,
                    "%s: the check returned false without an error. A check that refuses a value "
                    "must call hd_config_refuse",
                    from->place));
}

static bool sets_ok(int n_sets, const char *const *sets)
{
    if (n_sets < 0) {
        return hd_fail(HD_VALUE, "n_sets %d: expected 0 or more", n_sets);
    }
    if (n_sets > 0 && !hd__arg_given("sets", sets)) {
        return false;
    }
    for (int i = 0; i < n_sets; i++) {
        if (!sets[i]) {
            return hd_fail(HD_NULL_ARG, "sets[%d] is NULL", i);
        }
    }
    return true;
}

/* Sets the fields of config to the defaults, then to the values in text (NULL: none), then to those
 * in sets. On failure returns false with an error, and config does not change. */
static bool load_config(const hd_config_source *from, const hd_config_table *t, void *config,
                        const char *text, size_t n, int n_sets, const char *const *sets)
{
    loading l = {*from, t, hd_alloc(t->config_size)};
    if (!l.config) {
        return false;
    }
    memcpy(l.config, config, t->config_size);
    bool ok = hd_config_defaults(t, l.config) && (!text || take_text(&l, text, n));
    for (int i = 0; i < n_sets && ok; i++) {
        ok = take_set(&l, sets[i]);
    }
    ok = ok && hd__config_check(t, l.config, from);
    if (ok) {
        memcpy(config, l.config, t->config_size);
    }
    hd_free(l.config);
    return ok;
}

static bool load_args_ok(const hd_config_table *t, const void *config, int n_sets,
                         const char *const *sets)
{
    return hd__arg_given("config", config) && hd__config_table_ok(t) && sets_ok(n_sets, sets);
}

bool hd_config_load(const hd_config_table *t, void *config, const char *path, int n_sets,
                    const char *const *sets)
{
    HD__CALL("hd_config_load");
    char place[256] = "the settings";
    char *text = NULL;
    size_t n = 0;
    if (!load_args_ok(t, config, n_sets, sets)) {
        return false;
    }
    if (path) {
        text = hd__file_whole_read(path, HD__CONFIG_LARGEST, &n);
        snprintf(place, sizeof place, "'%.200s'", path);
    }
    bool ok = (!path || text) &&
              load_config(&(hd_config_source){.place = place}, t, config, text, n, n_sets, sets);
    hd_free(text);
    return ok;
}

bool hd_config_load_text(const hd_config_table *t, void *config, const char *name, const char *text,
                         size_t n, int n_sets, const char *const *sets)
{
    HD__CALL("hd_config_load_text");
    return hd__arg_given("name", name) && hd__arg_given("text", text) &&
           load_args_ok(t, config, n_sets, sets) &&
           load_config(&(hd_config_source){.place = name}, t, config, text, n, n_sets, sets);
}
