/* safetensors_index.c - reads an index of several safetensors files, and opens the files.
 *
 * An index is a JSON object. Its member weight_map maps the name of each tensor to the name of its
 * file, a shard, in the directory of the index. transformers saves a model in this way if it is too
 * large for one file. As in transformers, other members, and tensors that weight_map does not name,
 * are ignored. */
#include <errno.h>

#include "base/system/system.h"
#include "io/safetensors_parser.h"

/* Adds to `to` the strings of `from` whose keys `to` lacks. Returns false with an error if memory
 * runs out. */
static bool add_metadata(hd_dict *to, const hd_dict *from)
{
    for (int64_t i = 0; i < hd_dict_len(from); i++) {
        const char *key = hd_dict_name(from, i);
        if (hd_dict_kind_of(to, key) == HD_DICT_MISSING &&
            !hd_dict_set_string(to, key, hd_dict_get_string(from, key))) {
            return false;
        }
    }
    return true;
}

/* Opens the shard with the name p->text in the directory of the index, and adds it to p->f->shards
 * and p->shards. p->name is the first tensor for which weight_map names this shard. Returns false
 * with an error if the shard cannot be opened. */
static bool open_shard(hd__safetensors_parser *p)
{
    HD__SCOPE_OR(false);
    hd_safetensors *f = p->f;
    const char *path = hd__io_path_beside(f->path, p->text.s);
    if (!path || !hd__text_grow(&f->shards, &f->shards_room, f->n_shards + 1, sizeof *f->shards) ||
        !hd_dict_set_int(p->shards, p->text.s, f->n_shards)) {
        return false;
    }
    const int fd = hd__sys_open(HD__SYS_HERE, path);
    if (fd < 0) {
        return hd_fail(HD_IO, "'%.*s': tensor '%.*s': cannot open its file '%.*s': %s",
                       HD__CUT(f->path), HD__CUT(p->name.s), HD__CUT(path), HD__WHY(errno));
    }
    hd_safetensors *shard = hd__safetensors_open(path, fd, &p->f->o);
    if (!shard) {
        return false;
    }
    f->shards[f->n_shards++] = shard;
    return add_metadata(f->metadata, shard->metadata);
}

/* Reads the name of a shard into p->text. Returns false with an error if the next value is not the
 * name of a file in the directory of the index. */
static bool parse_file_name(hd__safetensors_parser *p)
{
    const hd__json_kind kind = hd__json_next(&p->json);
    if (kind == HD__JSON_BAD) {
        return hd__safetensors_parser_unexpected(p, NULL);
    }
    if (kind != HD__JSON_STRING) {
        return bad(p, "tensor", p->name.s, "%s in weight_map: expected the name of a file",
                   hd__json_kind_name(kind));
    }
    if (!hd__safetensors_parser_text(p, &p->text, "tensor")) {
        return false;
    }
    const char *s = p->text.s;
    return (*s && !strpbrk(s, "/\\") && strcmp(s, ".") != 0 && strcmp(s, "..") != 0) ||
           bad(p, "tensor", p->name.s,
               "the file '%.*s' in weight_map: expected the name of a file beside the index",
               HD__CUT(s));
}

/* Reads a member of weight_map, and opens its shard if it is not open yet. Adds the tensor's entry
 * in this shard to the entries of the index. Returns false with an error if one of these steps
 * fails. */
static bool parse_place(hd__safetensors_parser *p)
{
    hd_safetensors *f = p->f;
    int64_t shard = f->n_shards;
    if (!hd__safetensors_parser_new_name(p, "tensor", f->names) || !parse_file_name(p) ||
        !(hd_dict_kind_of(p->shards, p->text.s) == HD_DICT_MISSING
              ? open_shard(p)
              : hd_dict_get_int(p->shards, p->text.s, &shard))) {
        return false;
    }
    const hd_safetensors *from = f->shards[shard];
    const int64_t i = hd_safetensors_find(from, p->name.s);
    if (i < 0) {
        return bad(p, "tensor", p->name.s,
                   "'%.*s' has no tensor of this name: expected one, as weight_map says",
                   HD__CUT(from->path));
    }
    if (!hd__text_grow(&f->entries, &f->room, f->n + 1, sizeof *f->entries) ||
        !hd_dict_set_int(f->names, p->name.s, f->n)) {
        return false;
    }
    f->entries[f->n++] = from->entries[i];
    return true;
}

static bool parse_weight_map(hd__safetensors_parser *p)
{
    if (p->shards) {
        return bad(p, p->part, "weight_map", "%s", "comes twice: expected it once");
    }
    p->shards = hd_dict_new();
    if (!p->shards || !hd__safetensors_parser_expect(p, HD__JSON_OBJECT)) {
        return false;
    }
    while (hd__safetensors_parser_next(p)) {
        if (!parse_place(p)) {
            return false;
        }
    }
    return at_end(p);
}

/* Skips the value that follows the last name. Returns false with an error if the value is
 * malformed. */
static bool pass_over(hd__safetensors_parser *p)
{
    const int depth = p->json.depth;
    do {
        if (hd__json_next(&p->json) == HD__JSON_BAD) {
            return hd__safetensors_parser_unexpected(p, NULL);
        }
    } while (p->json.depth > depth);
    return true;
}

static bool parse_index(hd__safetensors_parser *p)
{
    if (!hd__safetensors_parser_expect(p, HD__JSON_OBJECT)) {
        return false;
    }
    while (hd__safetensors_parser_next(p)) {
        if (!(is_name(p, "weight_map") ? parse_weight_map(p) : pass_over(p))) {
            return false;
        }
    }
    return at_end(p) && hd__safetensors_parser_expect(p, HD__JSON_END) &&
           (p->shards || bad(p, p->part, "weight_map", "%s",
                             "is missing: expected an object with the file of each tensor"));
}

bool hd__safetensors_index(hd_safetensors *f)
{
    size_t n;
    f->metadata = hd_dict_new();
    char *text = f->metadata ? hd__file_whole_read(f->path, HD__LONGEST_HEADER, &n) : NULL;
    return text && hd__safetensors_parser_run(&(hd__safetensors_parser){.f = f, .part = "index"},
                                              text, n, parse_index);
}
