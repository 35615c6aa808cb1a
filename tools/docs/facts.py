"""Facts that follow from the contract in heed.h and from the comments of a topic, for man.py and pages.py."""
import re

from headers import PUBLIC, Block, plain


def description(decl, group):
    """The description of a declaration: the comment on its line, else that of its group, as blocks. Three
    kinds of functions do the same everywhere and need no comment."""
    if decl.comment or group.comment:
        return decl.comment or group.comment
    if re.match(r"hd_\w+_defaults$", decl.name):
        return [Block("text", "The options with their defaults.")]
    if re.match(r"hd_\w+_(options|args)$", decl.name) and decl.kind == "struct":
        return [Block("text", "Options. Take the defaults first, then set the fields that differ.")]
    if re.match(r"hd_\w+_free$", decl.name) and len(decl.params) == 1:
        return [Block("text", f"Frees {decl.params[0][1]}, and takes NULL.")]
    return []


def parts(group):
    """(introduction, items) of a group; an item is some declarations and the blocks about them.

    A comment above declarations without comments of their own is about these; above one that has
    its own, it introduces the whole group."""
    own = [bool(d.comment) for d in group.decls]
    if not group.decls or own[0] and len(own) > 1:
        return group.comment, [([d], d.comment) for d in group.decls]
    first = own.index(True) if any(own) else len(own)
    if own[0]:
        return [], [(group.decls, group.comment + group.decls[0].comment)]
    if not group.comment:
        return [], [([d], description(d, group)) for d in group.decls]
    return [], ([(group.decls[:first], group.comment)]
                + [([d], d.comment) for d in group.decls[first:]])


def gaps(text):
    """The places of the spaces that no quotes, parentheses or backticks enclose."""
    depth, quoted = 0, False
    for at, c in enumerate(text):
        quoted ^= c in '"`'
        depth += 0 if quoted else (c in "([{") - (c in ")]}")
        if c == " " and depth <= 0 and not quoted:
            yield at


def first_sentence(text):
    return text[:next((at for at in gaps(text) if text[at - 1] == "."), len(text))]


def summary(name, decl, group):
    """One line of text for a name, for lists and for the search."""
    if decl.kind == "enum" and name != decl.name:
        member = next(m for m in decl.members if m.name == name)
        if member.comment:
            return plain(member.comment)
    text = plain(description(decl, group)[:1])
    if decl.name.endswith("_defaults") and not decl.comment:
        return "The options with their defaults."
    text = first_sentence(text) if len(text) > 90 else text
    if len(text) > 110:
        text = text[:max((at for at in gaps(text) if 0 < at < 108), default=text.rindex(" ", 0, 108))] + " ..."
    return re.sub(r"[:;]$", "", text)


def comments(topic):
    """(names, text) of every comment in a topic; names are the names that it describes."""
    for group in topic.groups:
        yield [d.name for d in group.decls], plain(group.comment)
        for decl in group.decls:
            yield [decl.name], plain(decl.comment)
            for member in decl.members:
                yield [decl.name], plain(member.comment)


def failure_value(decl, group):
    """The value that a function returns on failure: "NULL", "false", "-1" ... or None if no text gives it."""
    own = plain(decl.comment)
    text = own + " " + plain(group.comment)
    kind = decl.result
    if not decl.params and (not kind.endswith("*") or kind == "const char *" and "NULL:" not in text):
        return None
    if kind.endswith("*"):
        if '"NULL"' in text:
            return 'the text "NULL"'
        return None if "never NULL" in own or "sets the error" in text else "NULL"
    if kind == "bool":
        return "false"
    if kind == "double":
        return "NaN"
    if kind in ("int", "int64_t"):
        return "INT64_MIN" if "INT64_MIN" in own else "\N{MINUS SIGN}1"
    return None


def return_values(topic, index):
    """Sentences about what the functions of a topic return; names in them are public."""
    found, owned = {}, []
    for group in topic.groups:
        for decl in group.decls:
            if decl.kind != "function" or decl.name.startswith("hd_scalar_"):
                continue
            value = failure_value(decl, group)
            if value:
                found.setdefault(value, []).append(decl.name)
            m = re.match(r"(hd_\w+) \*$", decl.result)
            free = [f for f in (m.group(1) + "_free", m.group(1) + "_close") if f in index] if m else []
            if free and (m.group(1), free[0]) not in owned:
                owned.append((m.group(1), free[0]))
    sentences = []
    kinds = {"NULL": "that returns a pointer", "false": "that returns a bool", "NaN": "that returns a double",
             "\N{MINUS SIGN}1": "that returns an integer"}
    for value, names in found.items():
        if value in kinds and len(names) > 3:
            sentences.append(f"A function {kinds[value]} returns {value} if it fails.")
        else:
            verb = "returns" if len(names) == 1 else "return"
            sentences.append(f"{joined(names)} {verb} {value} on failure.")
    results = {d.result for d in topic.decls()}
    if results & {"hd_tensor *", "hd_list *", "const char *"} and topic.header.name != "base.h":
        sentences.append("New tensors, lists and texts belong to the innermost scope of the calling "
                         "thread.")
    sentences += [f"The caller frees an {kind} that it has made with {free}." for kind, free in owned]
    return sentences


def joined(names):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def error_codes(topic, codes):
    """(code, its meaning, the names whose comments name it) for each code in a topic's comments."""
    for code, meaning in codes:
        names = []
        for described, text in comments(topic):
            if re.search(rf"\b{code}\b", text):
                names += [n for n in described if n not in names]
        if names and not any(d.kind == "enum" and d.name == "hd_code" for d in topic.decls()):
            yield code, meaning, names


def codes_of(index):
    """(code, meaning) of every error code, from the comments of hd_code."""
    if "hd_code" not in index:
        return []
    return [(m.name, plain(m.comment)) for m in index["hd_code"][1].members if m.name != "HD_OK"]


def mentioned(topic, index):
    """The names of other topics that a topic's comments mention."""
    found = []
    for _, text in comments(topic):
        for name in PUBLIC.findall(text):
            if name in index and index[name][0] is not topic and name not in found:
                found.append(name)
    return found


def examples(topic):
    """(names, code) of the examples in a topic's comments that no sentence leads to with a colon."""
    for group in topic.groups:
        for blocks, names in [(group.comment, [d.name for d in group.decls])]:
            for before, block in zip([None] + blocks, blocks):
                if block.kind == "code" and not (before and before.text.endswith(":")):
                    yield names, block.text
