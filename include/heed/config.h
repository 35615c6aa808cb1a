/* config.h - typed configuration from JSON files and command lines (libheed-config).
 *
 * A static table describes the settings. For each setting it has a path, a type, a default, the
 * allowed values, and the place of the value in the caller's struct. Everything else in a file is
 * an error.
 *
 *   typedef struct { int n_layers; double lr; bool bias; int schedule; char data[256]; } settings;
 *
 *   static const hd_config_field fields[] = {
 *       HD_CONFIG_INT_OF(settings, n_layers, "model.n_layers", 12, 1, 96),
 *       HD_CONFIG_BOOL_OF(settings, bias, "model.bias", false),
 *       HD_CONFIG_DOUBLE_OF(settings, lr, "train.lr", 4e-4, 0, 1),
 *       HD_CONFIG_ENUM_OF(settings, schedule, "train.schedule", "cosine", "constant|cosine"),
 *       HD_CONFIG_STRING_OF(settings, data, "data", "input.txt"),
 *   };
 *   static const hd_config_table table = HD_CONFIG_TABLE(settings, fields, NULL);
 *
 *   settings s;
 *   bool loaded = hd_config_load(&table, &s, "gpt.json", n_sets, sets);
 *
 * The dots of a path mean nested objects: {"model": {"n_layers": 12}}. Settings that a file leaves
 * out get their defaults. An error is about the first fault (HD_FORMAT: not JSON; HD_VALUE: the
 * table does not allow it; HD_IO). It names the file, the path, what was found and what is allowed.
 * After an error the struct has not changed. Texts are UTF-8. Nothing depends on the locale. */
#ifndef HEED_CONFIG_H
#define HEED_CONFIG_H

#include "heed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the table */

/* The type of a setting, and of the struct's field for it. */
typedef enum hd_config_type {
    HD_CONFIG_INT = 0,    /* an int or int64_t; JSON numbers without a fraction, |v| < 2^53 */
    HD_CONFIG_DOUBLE = 1, /* a double */
    HD_CONFIG_BOOL = 2,   /* a bool */
    HD_CONFIG_STRING = 3, /* a char array with room for the text and its zero */
    HD_CONFIG_ENUM = 4    /* an int: the number of the choice, from 0 on */
} hd_config_type;

/* A setting. The macros below fill one. */
typedef struct hd_config_field {
    const char *path;        /* "model.n_layers"; the fields of one object must stand together */
    hd_config_type type;     /* decides which of the members below count */
    size_t offset, room;     /* offset and size of the struct's field */
    double number, min, max; /* INT, DOUBLE: default and range, ends included; BOOL: 0 or 1 */
    const char *text;        /* STRING, ENUM: default */
    const char *choices;     /* ENUM: "constant|cosine" */
} hd_config_field;

#ifdef __cplusplus
#define HD_CONFIG__AT(type, field) offsetof(type, field), sizeof(type::field)
#define HD_CONFIG__COUNT(array) static_cast<int64_t>(sizeof(array) / sizeof((array)[0]))
#else
#define HD_CONFIG__AT(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define HD_CONFIG__COUNT(array) (int64_t)(sizeof(array) / sizeof((array)[0]))
#endif

/* A setting at `path` for a field of the struct `type`, with its default `value` or `text`; min and
 * max are the smallest and the largest value, choices are as in "constant|cosine". */
#define HD_CONFIG_INT_OF(type, field, path, value, min, max)                                       \
    {                                                                                              \
        path, HD_CONFIG_INT, HD_CONFIG__AT(type, field), value, min, max, NULL, NULL               \
    }
#define HD_CONFIG_DOUBLE_OF(type, field, path, value, min, max)                                    \
    {                                                                                              \
        path, HD_CONFIG_DOUBLE, HD_CONFIG__AT(type, field), value, min, max, NULL, NULL            \
    }
#define HD_CONFIG_BOOL_OF(type, field, path, value)                                                \
    {                                                                                              \
        path, HD_CONFIG_BOOL, HD_CONFIG__AT(type, field), value, 0, 1, NULL, NULL                  \
    }
#define HD_CONFIG_STRING_OF(type, field, path, text)                                               \
    {                                                                                              \
        path, HD_CONFIG_STRING, HD_CONFIG__AT(type, field), 0, 0, 0, text, NULL                    \
    }
#define HD_CONFIG_ENUM_OF(type, field, path, text, choices)                                        \
    {                                                                                              \
        path, HD_CONFIG_ENUM, HD_CONFIG__AT(type, field), 0, 0, 0, text, choices                   \
    }

/* The source of the checked values; hd_config_refuse needs it. */
typedef struct hd_config_source hd_config_source;

/* A check of values that depend on each other. It runs after each value alone was found to be
 * allowed. It ends in `return true;` or in
 *   return hd_config_refuse(from, "model.n_heads", "%d does not divide %d", n_heads, emb_dim); */
typedef bool (*hd_config_check)(const void *config, const hd_config_source *from);

/* All settings of a struct. HD_CONFIG_TABLE(settings, fields, check) fills one. */
typedef struct hd_config_table {
    size_t size;                   /* sizeof(hd_config_table) */
    size_t config_size;            /* sizeof the struct */
    const hd_config_field *fields; /* in the order in which they are printed */
    int64_t n;                     /* the number of fields */
    hd_config_check check;         /* NULL: none */
} hd_config_table;

/* The table of an array of fields, for the struct `type`. check may be NULL. */
#define HD_CONFIG_TABLE(type, fields, check)                                                       \
    {                                                                                              \
        sizeof(hd_config_table), sizeof(type), fields, HD_CONFIG__COUNT(fields), check             \
    }

/* Sets the error HD_VALUE with "hd_config_load: gpt.json: model.n_heads: " and the text. Returns
 * false. */
HD_API bool hd_config_refuse(const hd_config_source *from, const char *path, const char *format,
                             ...) HD__PRINTF(3, 4);

/* ---------------------------------------------------------------- loading and saving */

/* Sets every field of the table to its default. Members of the struct that the table does not name
 * stay as they are. The check is not run. */
HD_API bool hd_config_defaults(const hd_config_table *t, void *config);

/* Sets the defaults, then the values of the file at path (NULL: no file), then each of sets in its
 * order, such as "model.n_layers=6"; then runs the check. In sets, a text is written without
 * quotes, and any other value as in JSON. A file may have up to 1 MiB. */
HD_API bool hd_config_load(const hd_config_table *t, void *config, const char *path, int n_sets,
                           const char *const *sets);
/* hd_config_load from a string of n bytes, such as a compiled-in default, in place of a file.
 * Messages call the string `name`. */
HD_API bool hd_config_load_text(const hd_config_table *t, void *config, const char *name,
                                const char *text, size_t n, int n_sets, const char *const *sets);

/* Returns all values as JSON in the table's order. Numbers have as many digits as they need, so
 * that loading the text gives the same values. The values are checked first, as if they were
 * loaded. Free with hd_free. */
HD_API char *hd_config_text(const hd_config_table *t, const void *config);
/* Writes that text to a file, whole or not at all. While an error is set, it writes nothing.
 * HD_VALUE: the text has more than 1 MiB, the most that hd_config_load reads. */
HD_API bool hd_config_save(const hd_config_table *t, const void *config, const char *path);

#ifdef __cplusplus
}
#endif
#endif
