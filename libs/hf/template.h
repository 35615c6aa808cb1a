/* template.h - evaluates chat templates, which are written in a part of Jinja.
 *
 * A template is cut into tokens (template_lex.c). A run walks over them by recursive descent and
 * computes as it goes (template_walk.c, template_expression.c). A loop goes back to the first token
 * of its body. Parts that are not executed are walked over with `live` false.
 *
 * The rules are those of jinja2 in the environment that transformers makes for chat templates.
 * Nesting, steps and memory of a run are limited. */
#ifndef HEED_HF_TEMPLATE_H
#define HEED_HF_TEMPLATE_H

#include "base/text/text.h"
#include "base/text/utf8.h"

enum { HD__DEEPEST = 200 }; /* levels of nesting */

/* ---------------------------------------------------------------- values */

typedef enum hd__template_kind {
    HD__UNDEFINED, /* a missing variable or key */
    HD__NONE_VALUE,
    HD__BOOL_VALUE,
    HD__TEMPLATE_INT,
    HD__STRING,
    HD__LIST,
    HD__SERIES, /* the items of a Python generator, which no variable can store */
    HD__DICT_VALUE,
    HD__NAMESPACE, /* a table that {% set ns.name = ... %} changes */
    HD__LOOP,      /* the variable `loop` */
    HD__FUNCTION,  /* a macro or a built-in function */
    HD__KINDS
} hd__template_kind;

/* A value. Its memory belongs to an arena; only tables of namespaces and of `loop` change. */
typedef struct hd__template_value {
    hd__template_kind kind;
    int64_t n; /* BOOL, INT: the number; STRING: bytes; LIST, SERIES: items */
    union {
        const char *s; /* UTF-8 without a zero at its end */
        const struct hd__template_value *items;
        struct hd__template_table *table;
        const struct hd__template_token *macro; /* the macro's parameters; NULL: no macro */
    };
} hd__template_value;

/* A growing array of values. A dict or a frame of variables has names and values in turn. */
typedef struct hd__template_table {
    int64_t n, room;
    hd__template_value *items;
    struct hd__template_table *outer; /* the frame around this one, or NULL */
} hd__template_table;

#define HD__TEXT(text, size) ((hd__template_value){HD__STRING, (int64_t)(size), {.s = (text)}})
#define HD__LITERAL(text) HD__TEXT(text, sizeof(text) - 1)
#define HD__OF(kind, n) ((hd__template_value){(kind), (n), {0}})
#define HD__NOTHING HD__OF(HD__UNDEFINED, 0)

/* ---------------------------------------------------------------- tokens and runs */

typedef enum hd__template_token_kind {
    HD__TOKEN_END,
    HD__TOKEN_TEXT,      /* text between two tags */
    HD__TOKEN_OUTPUT,    /* {{ */
    HD__TOKEN_STATEMENT, /* {% */
    HD__TOKEN_CLOSE,     /* }} or %} */
    HD__TOKEN_CONSTANT,  /* a string or a number */
    HD__TOKEN_NAME,
    HD__TOKEN_SIGN
} hd__template_token_kind;

typedef struct hd__template_token {
    hd__template_token_kind kind;
    hd__template_value value; /* the constant, or the text, name or sign as a string */
    size_t at, end;           /* its place in the template */
} hd__template_token;

/* Memory that is freed as a whole */
typedef struct hd__template_arena {
    void *blocks;
    char *at, *end;
} hd__template_arena;

void hd__template_arena_free(hd__template_arena *a);

typedef struct hd__template_run {
    const char *name; /* the template's path */
    const char *text; /* the template: n bytes, with "\n" at the end of each line */
    size_t n;
    hd__template_arena *arena;
    size_t steps, bytes;             /* left for this run */
    int depth, loops;                /* levels and loops around the current token */
    bool live;                       /* read it by hd__template_live */
    bool failed;                     /* an error is set */
    char jump;                       /* 'b' or 'c' after break or continue, until the loop's end */
    const hd__template_token *t;     /* the current token */
    const hd__template_token *first; /* the token from which a message quotes */
    hd__template_table *frame;       /* the innermost variables */
    hd__text out;
    int64_t now; /* as in hd_chat_options */
} hd__template_run;

/* True if the current token is executed. */
static inline bool hd__template_live(const hd__template_run *r)
{
    return r->live && !r->failed && !r->jump;
}

/* Ends the run with an error: "hd_chat_text: 'x', line 3: 'a | b': " and the format. */
hd__template_value hd__template_fail_at(hd__template_run *r, hd_code code, const char *format, ...)
    HD__PRINTF(3, 4);
/* Counts n steps. Fails if fewer are left. */
void hd__template_spend(hd__template_run *r, size_t n);
/* n zeroed bytes of the run's memory; NULL if the run has failed */
void *hd__template_take(hd__template_run *r, size_t n);
/* Adds to the text. */
void hd__template_write(hd__template_run *r, const char *s, size_t n);
/* Takes the bytes from `mark` on out of the text, and returns them as a string. */
hd__template_value hd__template_written(hd__template_run *r, size_t mark);

/* The array of tokens, which ends with HD__TOKEN_END; hd_free. NULL on failure. */
const hd__template_token *hd__template_tokens(hd__template_run *r);
/* Runs the whole template from its first token on; not live: only checks its form. */
void hd__template_walk(hd__template_run *r, const hd__template_token *first, bool live);
/* Calls a macro. args: names, "" for a positional argument, and values in turn */
hd__template_value hd__template_call_macro(hd__template_run *r,
                                           const hd__template_token *parameters,
                                           const hd__template_table *args);

/* ---------------------------------------------------------------- values (template_value.c) */

extern const char *const hd__template_kind_names[HD__KINDS]; /* "a string" */

bool hd__template_value_is(hd__template_value v, const char *s);
static inline bool hd__template_is_list(hd__template_value v)
{
    return v.kind == HD__LIST || v.kind == HD__SERIES;
}
/* A bool is a number, too. */
static inline bool hd__template_is_number(hd__template_value v)
{
    return v.kind == HD__BOOL_VALUE || v.kind == HD__TEMPLATE_INT;
}

/* Undefined, none, 0 and empty values are false. Generators and the kinds after dicts are true. */
bool hd__template_truth(hd__template_value v);
/* a == b; fails for two lists, two dicts, and two values of a kind after them. */
bool hd__template_equal(hd__template_run *r, hd__template_value a, hd__template_value b);
/* The text that {{ v }} writes. Fails for lists and the kinds after them. */
hd__template_value hd__template_value_text(hd__template_run *r, hd__template_value v);
/* A copy with a zero at its end */
hd__template_value hd__template_value_copy(hd__template_run *r, const char *s, size_t n);
/* The first place of `part` in the string `all`, not before `from`; NULL: there is none */
const char *hd__template_value_find(hd__template_run *r, hd__template_value all, const char *from,
                                    hd__template_value part);
/* The characters of a string, or the items of a list or dict */
int64_t hd__template_length(hd__template_value v);

void hd__template_push(hd__template_run *r, hd__template_table *t, hd__template_value v);
/* The place of the key's value, or NULL */
hd__template_value *hd__template_table_find(hd__template_run *r, const hd__template_table *t,
                                            hd__template_value key);
/* t[key] = v. Fails if key is no string or v is a generator. */
void hd__template_table_put(hd__template_run *r, hd__template_table *t, hd__template_value key,
                            hd__template_value v);
/* A dict, a namespace or a loop with the table's items */
hd__template_value hd__template_dict_of(hd__template_run *r, hd__template_kind kind,
                                        hd__template_table t);
static inline hd__template_value hd__template_list_of(hd__template_kind kind, hd__template_table t)
{
    return (hd__template_value){kind, t.n, {.items = t.items}};
}
/* The argument for parameter i, by place or by name; NULL: it is not given */
const hd__template_value *hd__template_argument(const hd__template_table *args, int64_t i,
                                                hd__template_value name);
/* The list for a loop over v: the items of a list, or the keys of a dict */
hd__template_value hd__template_items_of(hd__template_run *r, hd__template_value v);

/* The number of bytes at the text's beginning whose characters are in `chars` (NULL: Python's white
 * space) */
size_t hd__template_strip_left(const char *s, size_t n, const hd__template_value *chars);
/* The length of the text without such characters at its end */
size_t hd__template_strip_right(const char *s, size_t n, const hd__template_value *chars);

/* ---------------------------------------------------------------- expressions */

/* True if t is this name or sign, or one in the list `texts`, which ends with NULL. */
bool hd__template_walk_is(const hd__template_token *t, const char *text);
bool hd__template_walk_is_one(const hd__template_token *t, const char *const *texts);

/* Goes to the next token, but not past the last one. After a failure, goes to the last one. */
void hd__template_walk_on(hd__template_run *r);
/* Fails at the current token: "expected ...". */
hd__template_value hd__template_walk_fail(hd__template_run *r, const char *expected);
/* If the current token is this name or sign, goes on and returns true. */
bool hd__template_walk_given(hd__template_run *r, const char *text);
/* Goes on if the current token is this name or sign, or any name; else fails. */
void hd__template_walk_expect(hd__template_run *r, const char *text);
hd__template_value hd__template_walk_name(hd__template_run *r);
/* Counts a level of nesting, which the caller counts down. False if the run has failed. */
bool hd__template_walk_deeper(hd__template_run *r);

/* The place of a variable's value, or NULL */
hd__template_value *hd__template_walk_find(hd__template_run *r, hd__template_value name);
/* Walks over an expression; its value */
hd__template_value hd__template_expression(hd__template_run *r);
/* Walks over an expression whose operators are of this level or higher ones; level 0 is "or". */
hd__template_value hd__template_expression_level(hd__template_run *r, size_t level);

/* ---------------------------------------------------------------- JSON (template_json.c) */

/* The value of a JSON text; `where` is its name in messages. */
hd__template_value hd__template_value_of_json(hd__template_run *r, const char *where,
                                              const char *text, size_t n);
/* Writes json.dumps(v, indent) of v at this depth; indent < 0: on one line. */
void hd__template_write_json(hd__template_run *r, hd__template_value v, int64_t indent, int depth);

/* ---------------------------------------------------------------- operators and calls */

/* The value of "a sign b" */
hd__template_value hd__template_operate(hd__template_run *r, hd__template_value sign,
                                        hd__template_value a, hd__template_value b);

/* The value of v.key or v[key]; undefined if v has no such item */
hd__template_value hd__template_item_of(hd__template_run *r, hd__template_value v,
                                        hd__template_value key);
/* `of` is HD__FILTER_CALL, HD__FUNCTION_CALL, or the kind of the value whose method is called. */
enum { HD__FILTER_CALL = HD__KINDS, HD__FUNCTION_CALL };
bool hd__template_has_call(int of, hd__template_value name);
/* on: the value that is filtered, or whose method is called */
hd__template_value hd__template_call_named(hd__template_run *r, int of, hd__template_value name,
                                           hd__template_value on, const hd__template_table *args);
/* The result of "v is name" */
bool hd__template_test(hd__template_run *r, hd__template_value name, hd__template_value v);

#endif
