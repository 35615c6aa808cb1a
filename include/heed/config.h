/* config.h - typed configuration from JSON files and command lines (libheed-config).
 *
 * A static table describes the settings. For each setting it has a path, a type, a default, the
 * allowed values, and the place of the value in the caller's struct. A setting that is in a file,
 * but not in the table, is an error.
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
 * The dots of a path mean nested objects: {"model": {"n_layers": 12}}. Settings that a file lacks
 * get their defaults. If a load fails, the message tells the first mistake: the file, the path, the
 * value that was found and the values that are allowed. HD_FORMAT: the file is not JSON. HD_VALUE:
 * the table does not allow a setting or value. HD_IO: the file cannot be read. After a failure the
 * struct has not changed. Texts are UTF-8. Nothing depends on the locale. */
#ifndef HEED_CONFIG_H
#define HEED_CONFIG_H

#include "heed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the table */

/* The type of a setting, and of the struct's field for it. */
typedef enum hd_config_type {
    /* an int or int64_t; in JSON, a number without a fraction, above -2^53 and below 2^53 */
    HD_CONFIG_INT = 0,
    HD_CONFIG_DOUBLE = 1, /* a double */
    HD_CONFIG_BOOL = 2,   /* a bool */
    HD_CONFIG_STRING = 3, /* a char array, which holds the text and its final zero */
    HD_CONFIG_ENUM = 4    /* an int: the number of the choice, counted from 0 */
} hd_config_type;

/* A setting. The macros below initialize one. */
typedef struct hd_config_field {
    /* the place in the JSON, as "model.n_layers"; the fields of one object must stand together */
    const char *path;
    hd_config_type type;     /* decides which of the members below are used */
    size_t offset, room;     /* offset and size of the field in the caller's struct */
    double number, min, max; /* INT, DOUBLE: default, smallest and largest value; BOOL: default */
    const char *text;        /* STRING, ENUM: the text that is the default */
    const char *choices;     /* ENUM: the texts that are allowed, as "constant|cosine" */
} hd_config_field;

#ifdef __cplusplus
#define HD_CONFIG__AT(type, field) offsetof(type, field), sizeof(type::field)
#define HD_CONFIG__COUNT(array) static_cast<int64_t>(sizeof(array) / sizeof((array)[0]))
#else
#define HD_CONFIG__AT(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define HD_CONFIG__COUNT(array) (int64_t)(sizeof(array) / sizeof((array)[0]))
#endif

/* Initialize a setting at `path` for a field of the struct `type`. `value` or `text` is its
 * default, min and max are the smallest and the largest value that is allowed, and choices lists
 * the texts that are allowed, as in "constant|cosine". */
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

/* The place from which the checked values come, for the message of hd_config_refuse. */
typedef struct hd_config_source hd_config_source;

/* A check of values that depend on each other. heed calls it when every single value is allowed. It
 * returns true if config is valid, and otherwise the result of hd_config_refuse:
 *   return hd_config_refuse(from, "model.n_heads", "%d does not divide %d", n_heads, emb_dim);
 * If it returns false without an error, the function that called it fails with HD_USER. */
typedef bool (*hd_config_check)(const void *config, const hd_config_source *from);

/* All settings of a struct. HD_CONFIG_TABLE(settings, fields, check) initializes one. */
typedef struct hd_config_table {
    size_t size;                   /* sizeof(hd_config_table) */
    size_t config_size;            /* sizeof the caller's struct */
    const hd_config_field *fields; /* the settings, in the order in which they are written */
    int64_t n;                     /* the number of fields */
    hd_config_check check;         /* the check of values that depend on each other, or NULL */
} hd_config_table;

/* Initializes the table of the struct `type` from an array of fields. check may be NULL. */
#define HD_CONFIG_TABLE(type, fields, check)                                                       \
    {                                                                                              \
        sizeof(hd_config_table), sizeof(type), fields, HD_CONFIG__COUNT(fields), check             \
    }

/* Fails with HD_VALUE. The message begins with the function, the source and the path, as in
 * "hd_config_load: gpt.json: model.n_heads: ". The text of format and its arguments, as in printf,
 * follows. Returns false. */
HD_API bool hd_config_refuse(const hd_config_source *from, const char *path, const char *format,
                             ...) HD__PRINTF(3, 4);

/* ---------------------------------------------------------------- loading and saving */

/* Sets every field of the table to its default. Members of the struct that the table does not name
 * stay as they are. The check is not called. HD_VALUE: a field of the table is wrong. */
HD_API bool hd_config_defaults(const hd_config_table *t, void *config);

/* Sets all fields to their defaults, then sets the values of the file at path (NULL: no file), then
 * makes the n_sets settings in `sets`, such as "model.n_layers=6", in this order, and then calls
 * the check. In `sets`, a text has no quotes, and any other value is written as in JSON. HD_FORMAT:
 * the file has more than 1 MiB. If the call fails, it returns false, and *config does not
 * change. */
HD_API bool hd_config_load(const hd_config_table *t, void *config, const char *path, int n_sets,
                           const char *const *sets);
/* Does the same as hd_config_load, but reads the n bytes of text, such as a compiled-in default, in
 * place of a file. Messages call this text `name`. */
HD_API bool hd_config_load_text(const hd_config_table *t, void *config, const char *name,
                                const char *text, size_t n, int n_sets, const char *const *sets);

/* Returns all values as JSON, in the table's order. Numbers have enough digits that loading the
 * text gives the same values. The values are checked first, as when they are loaded. Free the text
 * with hd_free. */
HD_API char *hd_config_text(const hd_config_table *t, const void *config);
/* Writes the text of hd_config_text to a file, whole or not at all. While an error is set, nothing
 * is written. HD_VALUE: the text has more than 1 MiB, which hd_config_load does not read. */
HD_API bool hd_config_save(const hd_config_table *t, const void *config, const char *path);

#ifdef __cplusplus
}
#endif
#endif
