/* template.h - evaluates chat templates, which are written in a part of Jinja.
 *
 * A template is cut into tokens once (template_lex.c). A run computes the template's text for one
 * list of messages: it walks over the tokens by recursive descent (template_walk.c,
 * template_expression.c). A loop goes back to the first token of its body. With `live` false,
 * the run walks over parts that it does not execute, such as the "else" of a true "if".
 *
 * A function of this header that fails sets an error and r->failed. Its result then has no meaning.
 *
 * The rules are those of jinja2 in the environment that transformers makes for chat templates.
 * Nesting, steps and memory of a run are limited. */
#ifndef HEED_HF_TEMPLATE_H
#define HEED_HF_TEMPLATE_H

#include "base/text/text.h"
#include "base/text/utf8.h"

enum { HD__DEEPEST = 200 }; /* the most levels of nesting in a template or in JSON */

/* ---------------------------------------------------------------- values */

typedef enum hd__template_kind {
    HD__UNDEFINED, /* a missing variable or key */
    HD__NONE_VALUE,
    HD__BOOL_VALUE,
    HD__TEMPLATE_INT,
    HD__STRING,
    HD__LIST,
    HD__SERIES, /* a Python generator, stored as its items; no variable can hold it */
    HD__DICT_VALUE,
    HD__NAMESPACE, /* a table that {% set ns.name = ... %} changes */
    HD__LOOP,      /* the variable `loop` */
    HD__FUNCTION,  /* a macro or a built-in function */
    HD__KINDS
} hd__template_kind;

/* A value. Its memory belongs to an arena. Values do not change, except the tables of namespaces
 * and of `loop`. */
typedef struct hd__template_value {
    hd__template_kind kind;
    int64_t n; /* BOOL, INT: the number; STRING: its size in bytes; LIST, SERIES: its length */
    union {
        const char *s; /* UTF-8 without a zero at its end */
        const struct hd__template_value *items;
        struct hd__template_table *table;
        const struct hd__template_token *macro; /* its parameters' first token; NULL: built-in */
    };
} hd__template_value;

/* A growing array of values. In a dict and in a frame (the variables of a loop, macro or template),
 * each name is followed by its value. */
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
    hd__template_value value; /* the constant; or the text, name or sign as a string */
    size_t at, end; /* at: its offset in the template; end: the offset after its last byte */
} hd__template_token;

/* Memory that is taken in pieces and freed as a whole. */
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
    size_t steps, bytes; /* the steps and the bytes of memory that this run may still use */
    int depth, loops;    /* the numbers of nesting levels and loops around the current token */
    bool live;           /* false in parts that are not executed; see hd__template_live */
    bool failed;         /* an error is set */
    char jump;           /* 'b' after break, 'c' after continue, 0 otherwise; the loop resets it */
    const hd__template_token *t;     /* the current token */
    const hd__template_token *first; /* the first of the tokens that a message quotes */
    hd__template_table *frame;       /* the innermost frame of variables */
    hd__text out;
    int64_t now; /* the time for strftime_now, in seconds since 1970; 0: now */
} hd__template_run;

/* True if the run executes the current token, false if it only walks over it. */
static inline bool hd__template_live(const hd__template_run *r)
{
    return r->live && !r->failed && !r->jump;
}

/* Sets an error and r->failed. The error's message begins with the place in the template, such as
 * "hd_chat_text: 'x', line 3: 'a | b': ", and ends with the formatted text. If the run has failed
 * before, the first error stays. Returns a value of the kind HD__UNDEFINED. */
hd__template_value hd__template_fail_at(hd__template_run *r, hd_code code, const char *format, ...)
    HD__PRINTF(3, 4);
/* Subtracts n from r->steps. Fails if fewer steps are left. */
void hd__template_spend(hd__template_run *r, size_t n);
/* Returns n zeroed bytes of the run's arena. Fails if r->bytes is less than n. Returns NULL if the
 * run has failed. */
void *hd__template_take(hd__template_run *r, size_t n);
/* Appends n bytes to r->out. Fails if r->bytes is less than n. */
void hd__template_write(hd__template_run *r, const char *s, size_t n);
/* Removes the bytes of r->out from offset `mark` to the end, and returns them as a string. */
hd__template_value hd__template_written(hd__template_run *r, size_t mark);

/* Returns the array of the template's tokens, which ends with HD__TOKEN_END. The caller frees it
 * with hd_free. Returns NULL on failure. */
const hd__template_token *hd__template_tokens(hd__template_run *r);
/* Runs the whole template, whose first token is `first`, and writes its text to r->out. If `live`
 * is false, only checks the template's form. After a failure, r->failed is true. */
void hd__template_walk(hd__template_run *r, const hd__template_token *first, bool live);
/* Returns the text that a macro writes. `parameters` is the first token of the macro's parameters.
 * args has names and values in turn; the name of a positional argument is "". */
hd__template_value hd__template_call_macro(hd__template_run *r,
                                           const hd__template_token *parameters,
                                           const hd__template_table *args);

/* ---------------------------------------------------------------- values (template_value.c) */

extern const char *const hd__template_kind_names[HD__KINDS]; /* such as "a string" */

bool hd__template_value_is(hd__template_value v, const char *s);
static inline bool hd__template_is_list(hd__template_value v)
{
    return v.kind == HD__LIST || v.kind == HD__SERIES;
}
/* True if v is a number. Bools count as numbers. */
static inline bool hd__template_is_number(hd__template_value v)
{
    return v.kind == HD__BOOL_VALUE || v.kind == HD__TEMPLATE_INT;
}

/* True if v counts as true in a condition. Undefined, none, 0, and an empty string, list or dict
 * count as false. Everything else counts as true, even an empty generator. */
bool hd__template_truth(hd__template_value v);
/* Returns true if a == b. Fails if a and b have the same kind, and this kind is HD__LIST or a later
 * one. */
bool hd__template_equal(hd__template_run *r, hd__template_value a, hd__template_value b);
/* Returns the text that {{ v }} writes. Fails if v's kind is HD__LIST or a later one. */
hd__template_value hd__template_value_text(hd__template_run *r, hd__template_value v);
/* Returns a string with a copy of the n bytes at s. A zero byte, which the string does not count,
 * follows the copy. */
hd__template_value hd__template_value_copy(hd__template_run *r, const char *s, size_t n);
/* Searches the string `all` for the string `part`, beginning at `from`. Returns the address of the
 * first match, or NULL if there is none. */
const char *hd__template_value_find(hd__template_run *r, hd__template_value all, const char *from,
                                    hd__template_value part);
/* Returns the number of characters of a string, or the number of items of a list or dict. */
int64_t hd__template_length(hd__template_value v);

void hd__template_push(hd__template_run *r, hd__template_table *t, hd__template_value v);
/* Returns the address of the value of `key` in t, or NULL if t has no such key. */
hd__template_value *hd__template_table_find(hd__template_run *r, const hd__template_table *t,
                                            hd__template_value key);
/* Sets t[key] = v. Fails if key is no string or v is a generator. */
void hd__template_table_put(hd__template_run *r, hd__template_table *t, hd__template_value key,
                            hd__template_value v);
/* Returns a value of this kind, a dict, a namespace or a loop, with the items of t. It shares t's
 * array of items. Returns HD__NOTHING if memory runs out. */
hd__template_value hd__template_dict_of(hd__template_run *r, hd__template_kind kind,
                                        hd__template_table t);
static inline hd__template_value hd__template_list_of(hd__template_kind kind, hd__template_table t)
{
    return (hd__template_value){kind, t.n, {.items = t.items}};
}
/* Returns the address of the argument for parameter i, whose name is `name`. args gives an argument
 * by position or by name. Returns NULL if args has none for this parameter. */
const hd__template_value *hd__template_argument(const hd__template_table *args, int64_t i,
                                                hd__template_value name);
/* Returns the list for a loop over v: the items of a list, the keys of a dict, or no items if v is
 * undefined. Fails for other kinds. */
hd__template_value hd__template_items_of(hd__template_run *r, hd__template_value v);

/* Returns the length in bytes of the white space at the beginning of the text s. If `chars` is not
 * NULL, the characters of that string take the place of white space. */
size_t hd__template_strip_left(const char *s, size_t n, const hd__template_value *chars);
/* Returns the length in bytes of the text s without the characters at its end that are in `chars`,
 * or without the white space there if chars is NULL. */
size_t hd__template_strip_right(const char *s, size_t n, const hd__template_value *chars);

/* ---------------------------------------------------------------- expressions */

/* True if t is the name or sign `text`, or one of `texts`, a list that ends with NULL. */
bool hd__template_walk_is(const hd__template_token *t, const char *text);
bool hd__template_walk_is_one(const hd__template_token *t, const char *const *texts);

/* Makes the next token the current one, but does not go past the last token. If the run has failed,
 * goes to the last token. */
void hd__template_walk_on(hd__template_run *r);
/* Fails at the current token with a message that says "expected" and this text. Returns
 * undefined. */
hd__template_value hd__template_walk_fail(hd__template_run *r, const char *expected);
/* If the current token is this name or sign, goes to the next token and returns true. Otherwise
 * returns false. */
bool hd__template_walk_given(hd__template_run *r, const char *text);
/* These two go to the next token. hd__template_walk_expect fails unless the current token is the
 * name or sign `text`. hd__template_walk_name returns the current token's value, and fails unless
 * the token is a name. */
void hd__template_walk_expect(hd__template_run *r, const char *text);
hd__template_value hd__template_walk_name(hd__template_run *r);
/* Adds 1 to r->depth, which the caller subtracts later. Fails if r->depth is then above
 * HD__DEEPEST. Returns false if the run has failed. */
bool hd__template_walk_deeper(hd__template_run *r);

/* Returns the address of the value of the variable `name`, or NULL if no frame has this
 * variable. */
hd__template_value *hd__template_walk_find(hd__template_run *r, hd__template_value name);
/* Walks over the expression that begins at the current token, and returns its value. */
hd__template_value hd__template_expression(hd__template_run *r);
/* Walks over an expression like hd__template_expression, but stops before an operator that binds
 * less tightly than those of `level`. Level 0 is "or", which binds least tightly. */
hd__template_value hd__template_expression_level(hd__template_run *r, size_t level);

/* ---------------------------------------------------------------- JSON (template_json.c) */

/* Returns the value of a JSON text of n bytes. Fails if it is no JSON; the message calls the text
 * `where`. */
hd__template_value hd__template_value_of_json(hd__template_run *r, const char *where,
                                              const char *text, size_t n);
/* Appends json.dumps(v, indent=indent) to r->out. A negative indent stands for None: all on one
 * line. `depth` is the number of lists and dicts around v. Fails if v has no JSON form. */
void hd__template_write_json(hd__template_run *r, hd__template_value v, int64_t indent, int depth);

/* ---------------------------------------------------------------- operators and calls */

/* Returns the value of "a sign b". Fails if heed has no such operator for the kinds of a and b. */
hd__template_value hd__template_operate(hd__template_run *r, hd__template_value sign,
                                        hd__template_value a, hd__template_value b);

/* Returns the value of v.key or v[key], or undefined if v has no such item. Fails if v is
 * undefined, or if v is `loop` and has no such item. */
hd__template_value hd__template_item_of(hd__template_run *r, hd__template_value v,
                                        hd__template_value key);
/* The argument `of` of the next two functions is one of these, or the kind of the value whose
 * method is called. */
enum { HD__FILTER_CALL = HD__KINDS, HD__FUNCTION_CALL };
bool hd__template_has_call(int of, hd__template_value name);
/* Returns the result of a filter, function or method. `on` is the value that is filtered, or whose
 * method is called. Fails if heed has no such call, or if the arguments do not fit. */
hd__template_value hd__template_call_named(hd__template_run *r, int of, hd__template_value name,
                                           hd__template_value on, const hd__template_table *args);
/* Returns the result of "v is name". Fails if heed has no test of this name. */
bool hd__template_test(hd__template_run *r, hd__template_value name, hd__template_value v);

#endif
