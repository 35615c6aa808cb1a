/* bpe_parts.c - reads the components of a tokenizer.json around the model. The normalizer, the
 * pre-tokenizer and the decoder are lists of components. heed writes such a list as a short text,
 * and looks this text up in a table of the short texts that it supports. */
#include "tokenizers/bpe_json.h"

/* ---------------------------------------------------------------- components */

enum { PART_TYPE, LIST, DESCRIBED, MEMBERS = 12 };

typedef struct section {
    /* key is the section's key in the file; known is a text for messages that describes the lists
     * that heed knows */
    const char *key, *known;
    /* the short text of a component, which `describe` writes, has the members keys[DESCRIBED] to
     * keys[described - 1]; the members after them have no effect */
    int described;
    /* the keys that a component may have; the member keys[LIST] of a Sequence lists its
     * components */
    const char *keys[MEMBERS + 1];
} section;

static const section normalizers = {
    "normalizer",
    "none, NFC, or Replace of a space by U+2581, with or without Prepend of U+2581",
    5,
    {"type", "normalizers", "prepend", "pattern", "content"},
};
static const section pre_tokenizers = {
    "pre_tokenizer",
    "none, ByteLevel without a prefix space, alone or after Digits or the Split of Llama 3 or Qwen "
    "2, or a Metaspace that does not split",
    11,
    {"type", "pretokenizers", "add_prefix_space", "use_regex", "individual_digits", "behavior",
     "invert", "pattern", "replacement", "prepend_scheme", "split", "trim_offsets"},
};
static const section decoders = {
    "decoder",
    "ByteLevel, or Replace of U+2581, ByteFallback and Fuse, with or without Strip of one space",
    6,
    {"type", "decoders", "pattern", "content", "start", "stop", "add_prefix_space", "trim_offsets",
     "use_regex"},
};

/* Appends " key=value" to the short text `to`; a string is in quotes. For a regular expression that
 * heed knows, appends its name, as in " key: Llama 3". Appends nothing if v is missing. If
 * memory runs out, sets to->failed. */
static void describe_member(hd__bpe_reader *r, const char *key, hd__bpe_value v, hd__text *to)
{
    if (v.kind == HD__JSON_OBJECT &&
        strcmp(key, "pattern") == 0) { /* {"String": text} or {"Regex": text} */
        hd__bpe_value string = hd__bpe_member(r, v, "String");
        v = string.end ? string : hd__bpe_member(r, v, "Regex");
    }
    if (v.end == 0) {
        return;
    }
    const char *quote = v.kind == HD__JSON_STRING ? "'" : "";
    const hd__text *t = hd__bpe_text_of(r, v);
    if (hd__bpe_is_text(t, hd__words_llama3.pattern)) {
        hd__text_format(to, " %s: Llama 3", key);
    } else if (hd__bpe_is_text(t, hd__words_qwen2.pattern)) {
        hd__text_format(to, " %s: Qwen 2", key);
    } else {
        hd__text_format(to, " %s=%s", key, quote);
        hd__text_add(to, t->s, t->failed ? 0 : t->len);
        hd__text_puts(to, quote);
    }
}

/* Appends "Type key=value;" to `to` for each component of v, with the keys in the order of s->keys.
 * Sets r->failed, with an error, if v or a component is malformed. */
static void describe(hd__bpe_reader *r, const section *s, hd__bpe_value v, hd__text *to)
{
    hd__bpe_each w;
    hd__bpe_value m[MEMBERS];
    hd__bpe_expect_kind(r, s->key, v, HD__JSON_OBJECT, "an object or null");
    hd__bpe_members(r, v, s->keys, m, s->key);
    if (hd__bpe_is_text(hd__bpe_text_of(r, m[PART_TYPE]), "Sequence")) {
        hd__bpe_expect_kind(r, s->keys[LIST], m[LIST], HD__JSON_ARRAY, "an array");
        for (hd__bpe_each_begin(r, &w, m[LIST]); hd__bpe_each_next(r, &w);) {
            describe(r, s, w.item, to);
        }
        return;
    }
    hd__bpe_add_text_of(r, m[PART_TYPE], to);
    for (int i = DESCRIBED; i < s->described; i++) {
        describe_member(r, s->keys[i], m[i], to);
    }
    hd__text_puts(to, ";");
}

/* The forms of tokenizers. BYTES: words are made of bytes. NORMALIZED: words are made of
 * characters, and the normalizer replaces spaces. METASPACE: words are made of characters, and the
 * pre-tokenizer Metaspace replaces spaces. */
enum { BYTES = 1, NORMALIZED = 2, METASPACE = 4 };

typedef struct known {
    const char *text;
    int forms; /* the forms of tokenizers that may have the components in text, as bits */
    /* of a normalizer: hd__bpe_normalizer; of a pre-tokenizer: hd__bpe_prepend; of a decoder: 1 if
     * decoding removes the first space, else 0 */
    int choice;
    const hd__tokenizer_words *words;
    bool digits;
} known;

#define LEVEL "ByteLevel add_prefix_space=false"
#define SPLIT_BY "Split behavior='Isolated' invert=false pattern: "
#define META "Metaspace replacement='" HD__METASPACE "' prepend_scheme="
#define SPACED "Replace pattern=' ' content='" HD__METASPACE "';"
#define UNSPACED "Replace pattern='" HD__METASPACE "' content=' ';ByteFallback;Fuse;"

static const known known_normalizers[] = {
    {"", BYTES | METASPACE, HD__AS_IS, NULL, false},
    {"NFC;", BYTES, HD__NFC, NULL, false},
    {SPACED, NORMALIZED, HD__SPACES, NULL, false},
    {"Prepend prepend='" HD__METASPACE "';" SPACED, NORMALIZED, HD__PREPEND, NULL, false},
    {NULL, 0, 0, NULL, false},
};
static const known known_pre_tokenizers[] = {
    {"", NORMALIZED, HD__NO_METASPACE, NULL, false},
    {LEVEL ";", BYTES, 0, &hd__words_gpt2, false},
    {LEVEL " use_regex=true;", BYTES, 0, &hd__words_gpt2, false},
    {"Digits individual_digits=true;" LEVEL ";", BYTES, 0, &hd__words_gpt2, true},
    {"Digits individual_digits=true;" LEVEL " use_regex=true;", BYTES, 0, &hd__words_gpt2, true},
    {SPLIT_BY "Llama 3;" LEVEL " use_regex=false;", BYTES, 0, &hd__words_llama3, false},
    {SPLIT_BY "Qwen 2;" LEVEL " use_regex=false;", BYTES, 0, &hd__words_qwen2, false},
    {META "'never' split=false;", METASPACE, HD__NEVER, NULL, false},
    {META "'first' split=false;", METASPACE, HD__FIRST, NULL, false},
    {META "'always' split=false;", METASPACE, HD__ALWAYS, NULL, false},
    {NULL, 0, 0, NULL, false},
};
static const known known_decoders[] = {
    {"ByteLevel;", BYTES, false, NULL, false},
    {UNSPACED, NORMALIZED | METASPACE, false, NULL, false},
    {UNSPACED "Strip content=' ' start=1 stop=0;", NORMALIZED | METASPACE, true, NULL, false},
    {NULL, 0, 0, NULL, false},
};

/* Returns the entry of the table k whose short text is that of v. If there is none, sets r->failed,
 * with an error, and returns NULL. */
static const known *components(hd__bpe_reader *r, const section *s, hd__bpe_value v, const known *k)
{
    hd__text found = {0};
    hd__text_puts(&found, "");
    if (v.kind != HD__JSON_NULL) {
        describe(r, s, v, &found);
    }
    r->failed = r->failed || found.failed;
    while (!r->failed && k->text && !hd__bpe_is_text(&found, k->text)) {
        k++;
    }
    if (!r->failed && !k->text) {
        r->failed = !hd_fail(HD_FORMAT, "%s: %s is '%.*s': expected %s", r->f.where, s->key,
                             HD__CLIP(found.s, found.len), s->known);
    }
    hd_free(found.s);
    return r->failed ? NULL : k;
}

void hd__bpe_parts_read(hd__bpe_reader *r, hd__bpe_value normalizer, hd__bpe_value pre_tokenizer,
                        hd__bpe_value decoder)
{
    const known *a = components(r, &normalizers, normalizer, known_normalizers);
    const known *b = a ? components(r, &pre_tokenizers, pre_tokenizer, known_pre_tokenizers) : NULL;
    const known *c = b ? components(r, &decoders, decoder, known_decoders) : NULL;
    if (c && !(a->forms & b->forms & c->forms)) {
        r->failed = !hd_fail(HD_FORMAT,
                             "%s: normalizer '%s', pre_tokenizer '%s' and decoder '%s': heed "
                             "supports each of them, but not all three together",
                             r->f.where, a->text, b->text, c->text);
    } else if (c) {
        r->form = (hd__bpe_form){(hd__bpe_normalizer)a->choice, (hd__bpe_prepend)b->choice,
                                 b->words, b->digits, c->choice};
        r->alphabet = b->words ? &r->a : NULL;
    }
}

/* ---------------------------------------------------------------- the post-processor */

#define SINGLE "post_processor.single"
#define IDS "ids in post_processor.special_tokens"

/* Adds the ids of the template's special token `name` to `to`. `tokens` is the object that maps
 * names to ids. Sets r->failed, with an error, if this object lacks the name. */
static void add_template_token(hd__bpe_reader *r, hd__bpe_value name, hd__bpe_value tokens,
                               hd__tokenizer_ids *to)
{
    hd__bpe_each w;
    hd__bpe_expect_kind(r, "a SpecialToken of " SINGLE, name, HD__JSON_STRING, "a text");
    hd__bpe_value token = hd__bpe_member(r, tokens, hd__bpe_text_of(r, name)->s),
                  ids = hd__bpe_member(r, token, "ids");
    if (token.kind != HD__JSON_OBJECT) {
        hd__bpe_value_fail(r, "a SpecialToken of " SINGLE, name,
                           "an entry of post_processor.special_tokens");
    }
    hd__bpe_expect_kind(r, IDS, ids, HD__JSON_ARRAY, "an array");
    for (hd__bpe_each_begin(r, &w, ids); hd__bpe_each_next(r, &w);) {
        const int64_t id = hd__bpe_id_of(r, IDS, w.item);
        if (id >= r->b->base.size) {
            hd__bpe_value_fail(r, IDS, w.item, "an id of the vocabulary");
        }
        hd__tokenizer_ids_add(to, id);
    }
    r->failed = r->failed || to->failed;
}

/* In the template `single`, the Sequence "A" stands for the text. Sets r->b->before and r->b->after
 * to the ids of the special tokens before and after this Sequence. Sets r->failed, with an error,
 * unless it occurs once, and no other Sequence occurs. */
static void read_template(hd__bpe_reader *r, hd__bpe_value single, hd__bpe_value tokens)
{
    hd__bpe_each w;
    int texts = 0;
    for (hd__bpe_each_begin(r, &w, single); hd__bpe_each_next(r, &w);) {
        hd__bpe_value token = hd__bpe_member(r, w.item, "SpecialToken");
        if (token.kind == HD__JSON_OBJECT) {
            add_template_token(r, hd__bpe_member(r, token, "id"), tokens,
                               texts ? &r->b->after : &r->b->before);
        } else {
            hd__bpe_value id = hd__bpe_member(r, hd__bpe_member(r, w.item, "Sequence"), "id");
            texts +=
                id.kind == HD__JSON_STRING && hd__bpe_is_text(hd__bpe_text_of(r, id), "A") ? 1 : 2;
        }
    }
    if (texts != 1) {
        hd__bpe_value_fail(r, SINGLE, single, "special tokens and one Sequence with the id A");
    }
}

static void read_processor(hd__bpe_reader *r, hd__bpe_value v)
{
    enum { TYPE_OF, PROCESSORS, THE_SINGLE, TOKENS, KEYS };
    hd__bpe_each w;
    hd__bpe_value m[KEYS];
    hd__bpe_expect_kind(r, "post_processor", v, HD__JSON_OBJECT, "an object or null");
    hd__bpe_members(r, v,
                    (const char *const[]){"type", "processors", "single", "special_tokens", NULL},
                    m, NULL);
    const hd__text *type = hd__bpe_text_of(r, m[TYPE_OF]);
    if (hd__bpe_is_text(type, "Sequence")) {
        hd__bpe_expect_kind(r, "post_processor.processors", m[PROCESSORS], HD__JSON_ARRAY,
                            "an array");
        for (hd__bpe_each_begin(r, &w, m[PROCESSORS]); hd__bpe_each_next(r, &w);) {
            read_processor(r, w.item);
        }
    } else if (hd__bpe_is_text(type, "TemplateProcessing") && r->b->before.n + r->b->after.n == 0) {
        read_template(r, m[THE_SINGLE], m[TOKENS]);
    } else if (!hd__bpe_is_text(type, "ByteLevel")) {
        hd__bpe_value_fail(r, "post_processor.type", m[TYPE_OF],
                           "ByteLevel, one TemplateProcessing, or a Sequence of both");
    }
}

void hd__bpe_post_processor_read(hd__bpe_reader *r, hd__bpe_value v)
{
    if (v.kind != HD__JSON_NULL) {
        read_processor(r, v);
    }
}
