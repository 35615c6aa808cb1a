/* config.h - typed configuration from JSON files and command lines (libheed-config).
 *
 * A static table says what there is: a path, a type, a default and what is allowed, and where the
 * value goes in the caller's struct. Everything else in a file is an error.
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
 *   if (!hd_config_load(&table, &s, "gpt.json", n_sets, sets)) ...
 *
 * A path's dots are nested objects: {"model": {"n_layers": 12}}. An error (HD_FORMAT: no JSON,
 * HD_VALUE: not what the table allows, HD_IO) names the file, the path, what was found and what is
 * allowed, of the first thing that is wrong; on any error the struct is as it was. A file may leave
 * out what has its default. Texts are UTF-8. Nothing depends on the locale. */
#ifndef HEED_CONFIG_H
#define HEED_CONFIG_H

#include "heed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the table */

typedef enum hd_config_type {
    HD_CONFIG_INT = 0, /* an int or int64_t; JSON numbers without a fraction, below 2^53 in size */
    HD_CONFIG_DOUBLE = 1, /* a double */
    HD_CONFIG_BOOL = 2,   /* a bool */
    HD_CONFIG_STRING = 3, /* a char array, which the text and its zero must fit */
    HD_CONFIG_ENUM = 4    /* an int: which of the choices */
} hd_config_type;

typedef struct hd_config_field {
    const char *path; /* "model.n_layers"; fields of one object stand together */
    hd_config_type type;
    size_t offset, room;     /* of the struct's field: where, and its size */
    double number, min, max; /* INT, DOUBLE: default and range, ends included; BOOL: 0 or 1 */
    const char *text;        /* STRING, ENUM: default */
    const char *choices;     /* ENUM: "constant|cosine" */
} hd_config_field;

#define HD_CONFIG__AT(type, field) offsetof(type, field), sizeof(((type *)0)->field)
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

/* Where the values that a check looks at came from; for hd_config_refuse. */
typedef struct hd_config_source hd_config_source;

/* Looks at values that are allowed one by one, but may not be together. Ends in true, or in
 *   return hd_config_refuse(from, "model.n_heads", "found %d: expected a divisor of ...", ...); */
typedef bool (*hd_config_check)(const void *config, const hd_config_source *from);

typedef struct hd_config_table {
    size_t size;        /* sizeof(hd_config_table) */
    size_t config_size; /* of the struct */
    const hd_config_field *fields;
    int64_t n;
    hd_config_check check; /* NULL: none */
} hd_config_table;

#define HD_CONFIG_TABLE(type, fields, check)                                                       \
    {                                                                                              \
        sizeof(hd_config_table), sizeof(type), fields,                                             \
            (int64_t)(sizeof(fields) / sizeof((fields)[0])), check                                 \
    }

/* "hd_config_load: gpt.json: model.n_heads: " and the text, as HD_VALUE. Returns false. */
HD_API bool hd_config_refuse(const hd_config_source *from, const char *path, const char *format,
                             ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---------------------------------------------------------------- loading and saving */

/* Every field to its default; what the struct holds besides is left. Defaults are not checked. */
HD_API bool hd_config_defaults(const hd_config_table *t, void *config);

/* The defaults, then what the file at path says (NULL: no file), then each of sets, as
 * "model.n_layers=6", in their order; then the check. After the sign a text stands as it is,
 * without quotes; anything else as in JSON. Files of up to 1 MiB. */
HD_API bool hd_config_load(const hd_config_table *t, void *config, const char *path, int n_sets,
                           const char *const *sets);
/* The same from a text of n bytes, which messages call `name`: a default compiled in. */
HD_API bool hd_config_load_text(const hd_config_table *t, void *config, const char *name,
                                const char *text, size_t n, int n_sets, const char *const *sets);

/* All values as JSON in the table's order, numbers with as many digits as they need: loading it
 * gives the same values. They are checked first, as if they were loaded. Free with hd_free. */
HD_API char *hd_config_text(const hd_config_table *t, const void *config);
/* Writes that, whole or not at all; nothing while an error stands. */
HD_API bool hd_config_save(const hd_config_table *t, const void *config, const char *path);

#ifdef __cplusplus
}
#endif
#endif
