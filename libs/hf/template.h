/* template.h - an evaluator of chat templates: the part of Jinja that they are written in.
 *
 * A template becomes an array of tokens (template_lex.c). A run walks over them by descent
 * (template_walk.c), and computes as it goes: a loop goes back to the first token of its body, and
 * what does not count, such as the other branch of an "if", is walked over with `live` false.
 *
 * The rules are those of jinja2 in the environment that transformers makes for chat templates.
 * Everything has a bound: the depth, the steps of a run, and each byte that it takes. */
#ifndef HEED_HF_TEMPLATE_H
#define HEED_HF_TEMPLATE_H

#include "base/text/text.h"
#include "base/text/utf8.h"

enum { HD__DEEPEST = 200 };

/* ---------------------------------------------------------------- values */

typedef enum hd__template_kind {
    HD__UNDEFINED, /* a variable or a key that is not there */
    HD__NONE_VALUE,
    HD__BOOL_VALUE,
    HD__TEMPLATE_INT,
    HD__STRING,
    HD__LIST,
    HD__SERIES, /* a list that Python makes while it is read; no variable keeps it */
    HD__DICT,
    HD__NAMESPACE, /* a table that {% set ns.name = ... %} changes */
    HD__LOOP,      /* the variable `loop` */
    HD__FUNCTION,  /* a macro, or a function of the evaluator's */
    HD__KINDS
} hd__template_kind;

/* What a value points to lies in an arena and never changes, but for the tables of namespaces. */
typedef struct hd__template_value {
    hd__template_kind kind;
    int64_t n; /* BOOL, INT: the number; STRING: bytes; LIST, SERIES: items */
    union {
        const char *s; /* UTF-8, which no zero ends */
        const struct hd__template_value *items;
        struct hd__template_table *table;
        const struct hd__template_token *macro; /* its parameters; NULL: no macro */
    };
} hd__template_value;

/* Values that grow; of a dict or of variables a name, its value, a name, ... A frame of variables
 * lies in those of `outer`. */
typedef struct hd__template_table {
    int64_t n, room;
    hd__template_value *items;
    struct hd__template_table *outer;
} hd__template_table;

#define HD__TEXT(text, size) ((hd__template_value){HD__STRING, (int64_t)(size), {.s = (text)}})
#define HD__LITERAL(text) HD__TEXT(text, sizeof(text) - 1)
#define HD__OF(kind, n) ((hd__template_value){(kind), (n), {0}})
#define HD__NOTHING HD__OF(HD__UNDEFINED, 0)

/* ---------------------------------------------------------------- tokens and runs */

typedef enum hd__template_token_kind {
    HD__TOKEN_END,
    HD__TOKEN_TEXT,      /* between two tags */
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
    size_t at, end;           /* where it stands */
} hd__template_token;

/* Memory that is freed as a whole */
typedef struct hd__template_arena {
    void *blocks;
    char *at, *end;
} hd__template_arena;

void hd__template_arena_free(hd__template_arena *a);

typedef struct hd__template_run {
    const char *name; /* of the template's file, for messages */
    const char *text; /* of the template, with "\n" at the end of each line */
    size_t n;
    hd__template_arena *arena;
    size_t steps, bytes;             /* how many are left */
    int depth, loops;                /* how deep the walk is, and in how many loops */
    bool live;                       /* what is walked over counts; ask hd__template_live */
    bool failed;                     /* an error stands */
    char jump;                       /* 'b' or 'c' after break or continue, until the loop's end */
    const hd__template_token *t;     /* the current token, */
    const hd__template_token *first; /* and the one from which a message quotes */
    hd__template_table *frame;       /* the innermost variables */
    hd__text out;
    int64_t now; /* as in hd_chat_options */
} hd__template_run;

static inline bool hd__template_live(const hd__template_run *r)
{
    return r->live && !r->failed && !r->jump;
}

/* Ends the run with an error: "hd_chat_text: 'x', line 3: 'a | b': " and the format. */
hd__template_value hd__template_fail_at(hd__template_run *r, hd_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts n steps; the run fails when there were too many. */
void hd__template_spend(hd__template_run *r, size_t n);
/* Memory of the run; NULL if it has failed. */
void *hd__template_take(hd__template_run *r, size_t n);
/* Adds to the text. */
void hd__template_write(hd__template_run *r, const char *s, size_t n);
/* What was written since the text had `mark` bytes is taken out of it. */
hd__template_value hd__template_written(hd__template_run *r, size_t mark);

/* The array of tokens, which ends with HD__TOKEN_END; NULL on failure */
const hd__template_token *hd__template_tokens(hd__template_run *r);
/* Runs the statements of the whole template from its first token on, or walks over them. */
void hd__template_walk(hd__template_run *r, const hd__template_token *first, bool live);
/* Calls a macro with arguments: names, which may be "", and values. */
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

/* Nothing, 0 and what is empty are false; a generator is true, and so are those after a dict. */
bool hd__template_truth(hd__template_value v);
/* Of two lists or two dicts it fails. */
bool hd__template_equal(hd__template_run *r, hd__template_value a, hd__template_value b);
/* What {{ v }} writes; a list or a dict has no such text here. */
hd__template_value hd__template_value_text(hd__template_run *r, hd__template_value v);
/* A copy, which a zero ends */
hd__template_value hd__template_value_copy(hd__template_run *r, const char *s, size_t n);
/* Where a part of a string begins, from a place on; NULL: nowhere */
const char *hd__template_value_find(hd__template_run *r, hd__template_value all, const char *from,
                                    hd__template_value part);
/* The characters of a string, or the items of others */
int64_t hd__template_length(hd__template_value v);

void hd__template_push(hd__template_run *r, hd__template_table *t, hd__template_value v);
hd__template_value *hd__template_table_find(hd__template_run *r, const hd__template_table *t,
                                            hd__template_value key); /* NULL: it is missing */
void hd__template_table_put(hd__template_run *r, hd__template_table *t, hd__template_value key,
                            hd__template_value v);
/* A copy of the table as a dict or a namespace */
hd__template_value hd__template_dict_of(hd__template_run *r, hd__template_kind kind,
                                        hd__template_table t);
static inline hd__template_value hd__template_list_of(hd__template_kind kind, hd__template_table t)
{
    return (hd__template_value){kind, t.n, {.items = t.items}};
}
/* In names, which may be "", and values: the i-th one, or the one with the name; or NULL */
const hd__template_value *hd__template_argument(const hd__template_table *args, int64_t i,
                                                hd__template_value name);
/* What a loop goes through: the items of a list, or the keys of a dict */
hd__template_value hd__template_items_of(hd__template_run *r, hd__template_value v);

/* How many bytes at the beginning are in `chars` (NULL: white space, as Python sees it); how many
 * bytes are left without those at the end */
size_t hd__template_strip_left(const char *s, size_t n, const hd__template_value *chars);
size_t hd__template_strip_right(const char *s, size_t n, const hd__template_value *chars);

/* ---------------------------------------------------------------- expressions */

/* Is it this name or sign, or one of these? A list ends with NULL. */
bool hd__template_walk_is(const hd__template_token *t, const char *text);
bool hd__template_walk_is_one(const hd__template_token *t, const char *const *texts);

/* Goes to the next token. After a failure, and at the end of the text, that is the last one. */
void hd__template_walk_on(hd__template_run *r);
/* Fails at the current token. */
hd__template_value hd__template_walk_fail(hd__template_run *r, const char *expected);
/* Goes over a name or a sign: if it is the current token, or else fails. */
bool hd__template_walk_given(hd__template_run *r, const char *text);
void hd__template_walk_expect(hd__template_run *r, const char *text);
hd__template_value hd__template_walk_name(hd__template_run *r);
/* One level deeper, which the caller takes back. False: the run has failed. */
bool hd__template_walk_deeper(hd__template_run *r);

/* A variable; NULL: there is none of the name */
hd__template_value *hd__template_walk_find(hd__template_run *r, hd__template_value name);
hd__template_value hd__template_expression(hd__template_run *r);
/* One without an "if" of its own: level 0 is "or". */
hd__template_value hd__template_expression_level(hd__template_run *r, size_t level);

/* ---------------------------------------------------------------- JSON (template_json.c) */

/* The value of a JSON text, which messages call `where` */
hd__template_value hd__template_value_of_json(hd__template_run *r, const char *where,
                                              const char *text, size_t n);
/* Writes json.dumps(v, indent); indent < 0: on one line. */
void hd__template_write_json(hd__template_run *r, hd__template_value v, int64_t indent, int depth);

/* ---------------------------------------------------------------- operators and calls */

hd__template_value hd__template_operate(hd__template_run *r, hd__template_value sign,
                                        hd__template_value a, hd__template_value b);

/* v.key or v[key] */
hd__template_value hd__template_item_of(hd__template_run *r, hd__template_value v,
                                        hd__template_value key);
/* `of` is HD__FILTER_CALL, HD__FUNCTION_CALL, or the kind of value whose method is called. */
enum { HD__FILTER_CALL = HD__KINDS, HD__FUNCTION_CALL };
bool hd__template_has_call(int of, hd__template_value name);
hd__template_value hd__template_call_named(hd__template_run *r, int of, hd__template_value name,
                                           hd__template_value on, const hd__template_table *args);
bool hd__template_test(hd__template_run *r, hd__template_value name, hd__template_value v);

#endif
