/* template.h - an evaluator of chat templates: the part of Jinja that they are written in.
 *
 *   text -> tokens (template_lex.c) -> nodes (template_parse.c) -> a text (template_eval.c)
 *
 * The rules are those of jinja2 in the environment that transformers makes for chat templates. What
 * heed does not evaluate is an error that names the construct and its line. Nothing here runs
 * without a bound: nodes and values are at most HD__DEEPEST deep, each step counts, and so does
 * each byte that a run takes. */
#ifndef HEED_HF_TEMPLATE_H
#define HEED_HF_TEMPLATE_H

#include "base/text/text.h"
#include "heed/base.h"

/* ---------------------------------------------------------------- values */

typedef enum hd__kind {
    HD__UNDEFINED, /* a variable or a key that is not there */
    HD__NONE_VALUE,
    HD__BOOL_VALUE,
    HD__INT,
    HD__DOUBLE,
    HD__STRING,
    HD__LIST,
    HD__TUPLE,
    HD__SERIES, /* a list that Python makes while it is read; no variable has it */
    HD__DICT,
    HD__NAMESPACE, /* a table that {% set ns.name = ... %} changes */
    HD__LOOP,      /* the variable `loop` */
    HD__MACRO,
    HD__KINDS
} hd__kind;

/* Strings, items and tables lie in an arena and never change, but for the tables of namespaces and
 * loops. */
typedef struct hd__value {
    hd__kind kind;
    int64_t n; /* BOOL: 0 or 1; INT: the number; STRING: bytes; LIST, TUPLE, SERIES: items */
    union {
        double number;
        const char *s; /* UTF-8, which no zero ends */
        const struct hd__value *items;
        struct hd__table *table;
        const struct hd__loop *loop;
        const struct hd__node *macro; /* NULL: a function of heed's */
    };
} hd__value;

/* Names and values in the order of their coming. A frame is one too: the variables of a loop's
 * body, around which lie those of `outer`. */
typedef struct hd__table {
    int64_t n, room;
    hd__value *pairs; /* name, value, name, value, ... */
    struct hd__table *outer;
} hd__table;

typedef struct hd__loop {
    const hd__value *items;
    int64_t n, i;
} hd__loop;

#define HD__TEXT(text, size) ((hd__value){HD__STRING, (int64_t)(size), {.s = (text)}})
#define HD__LITERAL(text) HD__TEXT(text, sizeof(text) - 1)
#define HD__TRUTH(b) ((hd__value){HD__BOOL_VALUE, (b), {0}})
#define HD__WHOLE(i) ((hd__value){HD__INT, (i), {0}})

/* ---------------------------------------------------------------- nodes */

typedef enum hd__node_kind {
    HD__CONSTANT, /* value */
    HD__NAME,     /* value: the name */
    HD__ATTRIBUTE, /* first . value */
    HD__ITEM,      /* first[second] */
    HD__SLICE,     /* first[second:third:fourth], each of which may be NULL */
    HD__CALL,      /* first(list); first is a NAME or an ATTRIBUTE */
    HD__FILTER,    /* first | value(list) */
    HD__TEST,      /* first is value(list) */
    HD__UNARY,     /* value: "-", "+" or "not" */
    HD__BINARY,    /* value: "+", "==", "and", ... */
    HD__CHOICE,    /* second if first else third */
    HD__LIST_OF,   /* list */
    HD__TUPLE_OF,
    HD__DICT_OF, /* list: key, value, key, value, ... */
    HD__OUTPUT,  /* first */
    HD__IF,      /* {% if first %} second {% else %} third */
    HD__FOR,     /* {% for list in first if second %} third {% else %} fourth */
    HD__SET,     /* {% set list = first %} */
    HD__CAPTURE, /* what the statements in `list` write, as a text; in a frame of their own */
    HD__MACRO_OF, /* {% macro value(list) %} second */
    HD__JUMP      /* value: "break" or "continue" */
} hd__node_kind;

typedef struct hd__node {
    hd__node_kind kind;
    size_t at, end; /* where it stands in the text */
    hd__value value;
    struct hd__node *first, *second, *third, *fourth;
    struct hd__node *list; /* the first one in a list of nodes, */
    struct hd__node *next; /* each of which has the next one, as statements have */
    hd__value name;        /* of an argument, name=value, or STRING without bytes */
} hd__node;

/* ---------------------------------------------------------------- memory and failing */

enum { HD__DEEPEST = 200 };

/* Memory that is freed as a whole */
typedef struct hd__arena {
    void *blocks;
    char *at, *end;
} hd__arena;

void *hd__arena_take(hd__arena *a, size_t n); /* zeroed; NULL if memory runs out */
void hd__arena_free(hd__arena *a);

typedef struct hd__template {
    const char *name; /* for messages: 'm/chat_template.jinja' */
    const char *text; /* with "\n" at the end of each line */
    size_t n;
    hd__node *body;
} hd__template;

/* One reading or one run of a template */
typedef struct hd__run {
    const char *function;
    const hd__template *template;
    hd__arena *arena;
    size_t steps, bytes; /* how many are left */
    int depth;
    bool failed;          /* an error stands; nothing more is done */
    const hd__node *node; /* of which messages speak */
    hd__table *frame;     /* the innermost variables */
    hd__text out;
    char jump;   /* 'b' or 'c' on the way out of a loop's body after break or continue */
    int64_t now; /* as in hd_chat_options */
} hd__run;

/* Sets an error, unless one has stopped the run: "hd_chat_text: 'x', line 3: 'a | b': " and the
 * format. Returns HD__UNDEFINED. */
hd__value hd__template_fail(hd__run *r, hd_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts n steps. False: there were too many, or the run has failed. */
bool hd__spend(hd__run *r, size_t n);
/* Memory of the run, zeroed. On failure NULL, and the run has failed. */
void *hd__take(hd__run *r, size_t n);

/* ---------------------------------------------------------------- values (template_value.c) */

extern const char *const hd__kind_names[HD__KINDS]; /* "a string" */

static inline bool hd__is_text(hd__value v, const char *s)
{
    return v.kind == HD__STRING && (size_t)v.n == strlen(s) && memcmp(v.s, s, (size_t)v.n) == 0;
}
static inline bool hd__is_list(hd__value v)
{
    return v.kind == HD__LIST || v.kind == HD__TUPLE;
}

/* A bool is a number, too. */
static inline bool hd__is_number(hd__value v)
{
    return v.kind >= HD__BOOL_VALUE && v.kind <= HD__DOUBLE;
}
static inline double hd__number_of(hd__value v)
{
    return v.kind == HD__DOUBLE ? v.number : (double)v.n;
}

bool hd__truth(hd__value v);
bool hd__equal(hd__run *r, hd__value a, hd__value b, int depth);
/* What {{ v }} writes; a list or a dict has no such text here. */
hd__value hd__text_of(hd__run *r, hd__value v);
/* Where a part of a string begins, from a place on; NULL: nowhere */
const char *hd__find(hd__run *r, hd__value all, const char *from, hd__value part);
/* The characters of a string, or the items of a list or a dict */
int64_t hd__length(hd__value v);
/* A copy of the bytes */
hd__value hd__copied(hd__run *r, const char *s, size_t n);
/* The value of a key, or NULL */
hd__value *hd__table_find(hd__run *r, const hd__table *t, hd__value key);
void hd__table_put(hd__run *r, hd__table *t, hd__value key, hd__value v);
/* A list with room for n items, of which it has none; NULL items on failure */
hd__value hd__list_of(hd__run *r, int64_t n);
/* The items that a loop goes through: those of a list, or the keys of a dict. */
hd__value hd__items_of(hd__run *r, hd__value v);

/* How many bytes at the beginning are in `chars` (NULL: white space, as Python sees it); how many
 * bytes are left without those at the end */
size_t hd__strip_left(const char *s, size_t n, const hd__value *chars);
size_t hd__strip_right(const char *s, size_t n, const hd__value *chars);

/* ---------------------------------------------------------------- JSON (template_json.c) */

/* The value of a JSON text, which messages call `where` */
hd__value hd__value_of_json(hd__run *r, const char *where, const char *text, size_t n);
/* Writes json.dumps of v; indent < 0: on one line. */
void hd__write_json(hd__run *r, hd__value v, int64_t indent, int depth);

/* ---------------------------------------------------------------- reading (template_parse.c) */

/* Makes t->body of t->text. */
bool hd__template_parse(hd__run *r, hd__template *t);

/* ---------------------------------------------------------------- running (template_eval.c) */

/* The value of a node; a statement has none. */
hd__value hd__eval(hd__run *r, const hd__node *n);
void hd__eval_all(hd__run *r, const hd__node *n); /* n and those after it */
/* v.key or v[key] */
hd__value hd__item_of(hd__run *r, hd__value v, hd__value key);
/* Adds to the text. */
void hd__write(hd__run *r, const char *s, size_t n);
/* What was written after the text had `mark` bytes is taken out of it. */
hd__value hd__written(hd__run *r, size_t mark);

/* ---------------------------------------------------------------- calls (template_call.c) */

hd__value hd__eval_call(hd__run *r, const hd__node *n);
hd__value hd__eval_filter(hd__run *r, const hd__node *n);
hd__value hd__eval_test(hd__run *r, const hd__node *n);
/* Is it the name of a function of heed's, or of a method of values of the kind? */
bool hd__is_function(hd__value name);
bool hd__is_method(hd__kind kind, hd__value name);

/* ---------------------------------------------------------------- operators (template_operator.c) */

hd__value hd__eval_unary(hd__run *r, const hd__node *n);
hd__value hd__eval_binary(hd__run *r, const hd__node *n);
bool hd__contains(hd__run *r, hd__value all, hd__value part);

#endif
