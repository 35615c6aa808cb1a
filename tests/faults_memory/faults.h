/* faults.h - tests every public function with each of its allocations refused, one after the other.
 *
 * A row is one call of a function. The call runs on a world: tensors, modules, dictionaries, files
 * and everything else that it may change. The test takes a picture of the world before the call and
 * after its failure, and both must be equal. Then the same call runs with enough memory, and its
 * outcome must equal that of a call that never failed.
 *
 *   rows_*.h    the tables of rows, one a header of heed
 *   table.h     makes a table of C from them
 *   world.c     makes and frees the world
 *   things.c    the parts of a world and of an outcome: one kind for each type
 *   picture.c   pictures, and the differences between two
 *   inject.c    refuses allocations and checks the state after a failed call
 *   system.c    malloc and mmap that fail, for the libraries that do not use heed's allocator
 *   test_control.c  calls that are wrong on purpose, which the test must find */
#ifndef HEED_TESTS_FAULTS_H
#define HEED_TESTS_FAULTS_H

#include "heed/heed.h"

/* ---------------------------------------------------------------- pictures */

enum { PICTURE_ITEMS = 1600, PICTURE_LABEL = 80 };

typedef struct picture {
    int n;
    struct {
        char label[PICTURE_LABEL]; /* "x: its values" */
        uint64_t hash;
        bool address; /* it is compared only between pictures of one world */
    } items[PICTURE_ITEMS];
} picture;

/* Adds n bytes to the picture. `aspect` says what they are. */
void see(picture *p, const char *name, const char *aspect, const void *bytes, size_t n);
void see_text(picture *p, const char *name, const char *aspect, const char *text);
void see_address(picture *p, const char *name, const char *aspect, const void *address);

/* What differs first, of all that `excused` (NULL: nothing) does not excuse by its label, which it
 * is given with the hash in b (0: b does not have it). NULL: they are equal apart from that. */
typedef bool (*excuse)(const char *label, uint64_t hash);
const char *picture_difference(const picture *a, const picture *b, bool same_world, excuse excused);
/* Has p an entry with this label and this hash? */
bool picture_has(const picture *p, const char *label, uint64_t hash);

/* ---------------------------------------------------------------- things */

typedef struct thing thing;

typedef struct kind {
    bool (*nothing)(const thing *t); /* is it what a failed call gives? NULL: is the pointer NULL */
    void (*see)(picture *p, const char *name, const thing *t);
    void (*free)(thing *t); /* NULL: a scope frees it, or nobody has to */
} kind;

struct thing {
    const char *name;
    const kind *kind;
    const void *p;
    size_t n;
    double number;
};

thing thing_of_tensor(const hd_tensor *x);
thing thing_of_list(const hd_list *l);
thing thing_of_text(const char *text);
thing thing_of_own_text(char *text); /* hd_free */
thing thing_of_dict(hd_dict *d);
thing thing_of_const_dict(const hd_dict *d);
thing thing_of_module(hd_module *m);
thing thing_of_optim(hd_optim *o);
thing thing_of_schedule(hd_schedule *s);
thing thing_of_generator(hd_generator *g);
thing thing_of_tokenizer(hd_tokenizer *t);
thing thing_of_tokens(hd_tokens *t);
thing thing_of_dataset(hd_dataset *s);
thing thing_of_loader(hd_loader *l);
thing thing_of_cache(hd_kv_cache *c);
thing thing_of_safetensors(hd_safetensors *f);
thing thing_of_node(const hd_node *n);
thing thing_of_scope(hd_scope *s);
thing thing_of_block(void *p); /* hd_free */
thing thing_of_pointer(const void *p);
thing thing_of_bool(bool b);
thing thing_of_number(double d);
thing thing_of_count(int64_t i);
thing thing_of_folder(const char *path);
thing thing_of_bytes(const void *p, size_t n);
thing thing_of_stream(FILE *f); /* a temporary file */

/* The thing that an expression gives. MORE_KINDS adds types of other libraries. */
#ifndef MORE_KINDS
#define MORE_KINDS
#endif
#define THING(e)                                                                                   \
    _Generic((e), hd_tensor *                                                                      \
             : thing_of_tensor, hd_list *                                                          \
             : thing_of_list, const char *                                                         \
             : thing_of_text, char *                                                               \
             : thing_of_own_text, hd_dict *                                                        \
             : thing_of_dict, const hd_dict *                                                      \
             : thing_of_const_dict, hd_module *                                                    \
             : thing_of_module, hd_optim *                                                         \
             : thing_of_optim, hd_schedule *                                                       \
             : thing_of_schedule, hd_generator *                                                   \
             : thing_of_generator, hd_tokenizer *                                                  \
             : thing_of_tokenizer, hd_tokens *                                                     \
             : thing_of_tokens, hd_dataset *                                                       \
             : thing_of_dataset, hd_loader *                                                       \
             : thing_of_loader, hd_kv_cache *                                                      \
             : thing_of_cache, hd_safetensors *                                                    \
             : thing_of_safetensors, const hd_node *                                               \
             : thing_of_node, hd_scope *                                                           \
             : thing_of_scope, void *                                                              \
             : thing_of_block, const void *                                                        \
             : thing_of_pointer, const int64_t *                                                   \
             : thing_of_pointer, bool                                                              \
             : thing_of_bool, double                                                               \
             : thing_of_number MORE_KINDS, default                                                 \
             : thing_of_count)(e)

/* ---------------------------------------------------------------- the world */

/* Parts of a world, beside its tensors. */
enum {
    MODULES = 1,
    OPTIMIZERS = 2,
    DATA = 4,
    FILES = 8,
    GPT = 16,
    SCENARIOS = 32,
    FOLDER = 64, /* an empty one */
};

/* What the scenarios take. */
typedef struct scenario_inputs {
    hd_tensor *a, *b, *w, *bias; /* (2, 3), (3,), (4, 3), (4,): leaves that require grad */
    hd_tensor *h;                /* a non-leaf of (2, 3), for in-place changes */
    hd_tensor *index, *mask;     /* (2,) int64, (2, 3) bool */
    const char *folder;
    int own_live; /* contexts of users' ops that were not freed */
} scenario_inputs;

typedef struct own_module {
    hd_module base;
    hd_tensor *weight, *buffer;
    hd_module *child;
} own_module;

enum { WORLD_THINGS = 80, OUTCOME_THINGS = 8 };

typedef struct world {
    hd_scope *scope;
    int n;
    thing things[WORLD_THINGS];
    /* tensors of float32 (3, 3): p and q are leaves that require grad, x and y are computed from
     * them, z is an alias of y's values, h has the view `row`, plain needs no gradient */
    hd_tensor *p, *q, *x, *y, *z, *h, *row, *plain;
    hd_tensor *v;                        /* (3,): a leaf that requires grad */
    hd_tensor *d;                        /* (3, 3) float64 */
    hd_tensor *index, *target, *indices; /* int64 (2,), (3,), (3, 3) */
    hd_tensor *mask;                     /* bool (3, 3) */
    hd_tensor *wide;                     /* (80, 3), computed from p: more than a tile */
    hd_tensor *long_;                    /* (2000,): more than one thread's part */
    hd_tensor *grad;                     /* (3, 3) ones */
    hd_tensor *loss;                     /* a number, computed from p and v */
    hd_tensor *hooked;                   /* computed from p, with a hook and retain_grad */
    hd_tensor *slot;                     /* held: hd_assign */
    hd_list *list, *leaves, *grads;      /* [x, y], [p, q], [grad, grad] */
    hd_list *some_grads;                 /* [grad, HD_NONE] */
    hd_dict *dict;                       /* an entry of each kind */
    hd_generator *generator;             /* not the default one */
    FILE *stream;                        /* an empty file */
    int64_t hook;                        /* the id of hooked's hook */
    int own_live;                        /* contexts of users' ops that were not freed */
    int visits;                          /* of a module, by hd_module_visit */
    /* MODULES */
    hd_module *linear, *mixed, *heads, *causal, *packed, *block, *list_module, *embedding;
    hd_tensor *tokens3, *ids; /* (2, 3, 4), and int64 (2, 3) */
    hd_kv_cache *cache, *block_cache;
    hd_dict *state, *grads_state, *report;
    /* OPTIMIZERS */
    hd_list *parameters;
    hd_optim *sgd, *adamw;
    hd_schedule *schedule, *plateau;
    hd_dict *adamw_state, *sgd_state, *schedule_state;
    /* DATA */
    hd_tokenizer *bytes, *chars, *bpe, *qwen2, *llama2;
    hd_tokens *tokens;
    hd_dataset *windows, *own;
    hd_loader *loader, *fresh_loader, *own_loader, *pad_loader; /* the last two: of `own` */
    hd_dict *data_state;
    /* FILES */
    char folder[64];
    hd_safetensors *file;
    hd_dict *saved; /* tensors and texts */
    /* GPT */
    hd_module *gpt;
    hd_list *gpt_parameters;
    hd_tensor *gpt_x, *gpt_y;
    hd_optim *gpt_optim;
    hd_schedule *gpt_schedule;
    hd_dict *gpt_state, *gpt_saved; /* two dictionaries of a checkpoint */
    /* SCENARIOS */
    scenario_inputs in;
    hd_module *around; /* whose forward rows with DRAWS run in; it holds nothing */
} world;

typedef struct table table;

/* Makes what the rows of a table need: always equal worlds. */
void world_begin(world *w, const table *t);
void world_add(world *w, const char *name, thing t);
void world_end(world *w);
void world_see(const world *w, picture *p);

/* A path in the folder of the world; good until eight later calls. */
const char *in_folder(const world *w, const char *name);

/* ---------------------------------------------------------------- rows */

typedef struct outcome {
    int n;
    thing things[OUTCOME_THINGS];
} outcome;

void keep(outcome *o, thing t);
/* A result of an out-parameter; only kept if the call did not fail. */
#define KEEP_OUT(o, name_, e) keep((o), (thing_named(THING(e), (name_))))
thing thing_named(thing t, const char *name);

enum {
    CALL = 0,
    NEVER = 1,     /* the call asks for no memory */
    CONSUMES = 2,  /* a failed call has used up what it walked: backward without retain_graph */
    RECOVERS = 4,  /* it may do without the block that was refused */
    SEQUENCE = 8,  /* several calls, of which the later ones fail too */
    ALONE = 16,    /* the backward of its result is not injected */
    DRAWS = 32,    /* it runs in a forward, which takes back what its calls have drawn */
    STEPS = 64,    /* the calls that succeeded are not undone; the whole is done again */
    REMOVES = 128, /* what the system did not remove is named, and the next call goes on */
};

typedef struct row {
    const char *function, *what;
    int flags;
    void (*run)(world *w, outcome *o);
} row;

struct table {
    const char *name;
    const row *rows;
    int n, parts;
    void (*begin)(world *w); /* adds to the world what these rows need; or NULL */
};

/* ---------------------------------------------------------------- refusing */

/* Whose blocks are refused: heed's (ALLOCATOR), those of malloc and mmap (SYSTEM), or heed's below
 * more scopes than a thread has room for (DEEP): there only blocks of a scope's size begin a
 * refusal, unless FAULTS_ALL is set. */
typedef enum source { ALLOCATOR, DEEP, SYSTEM } source;

/* Runs the row with each of its blocks refused. Returns how many faults it found, and adds to
 * *injections. Each fault is told to `told` (NULL: to stderr). */
int row_faults(const row *r, const table *of, source from, int64_t *injections,
               void (*told)(const char *fault));

/* Of system.c: the next block but `left` is refused, and all later ones unless once. left < 0:
 * none is. */
bool system_fails(void); /* can they be made to fail in this build? */
void system_refuse(int64_t left, bool once);
int64_t system_refused(void); /* since the last system_refuse */
int64_t system_asked(void);
int64_t system_blocks(void); /* live blocks of malloc */

#endif
