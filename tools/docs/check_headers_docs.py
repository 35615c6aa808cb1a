"""The part of check_docs that checks the headers: every name has a description, and every option a default."""
import re

from facts import description
from headers import plain

# How a default is written: a number, a name, a pointer, a list of one text; a list of them where a line has several fields.
VALUE = r'(?:-?[\d.]+(?:e-?\d+)?|true|false|NULL|NAN|HD_\w+|hd_\w+_defaults\(\)|"[^"]*"|\{"[^"]*"\})'
DEFAULT = re.compile(rf"(?:default ({VALUE}(?:, {VALUE})*)|(must be set))(?=[:;]|$)")

# Texts that do not suffice as a description: values on failure, and references to other descriptions.
FAILURE = r"(?:-1|0|NULL|NaN|false|true|INT64_MIN|HD_[A-Z_0-9]+)"
EMPTY = re.compile(rf"{FAILURE},? (?:on|after|in case of) (?:an )?(?:error|failure)|{FAILURE} (?:if it fails|too)|"
                   rf"takes {FAILURE}|NULL: (?:the )?defaults|{FAILURE}: (?:no such|no error)|"
                   r"\b(?:likewise|as (?:above|below|before)|the same|see above|ditto|as \w+ says|TODO|FIXME|XXX)\b",
                   re.I)
# Endings and beginnings that name no function.
ENDINGS = {"hd", "n", "new", "with", "defaults", "options", "as", "of", "list", "set", "get"}


def is_options(decl):
    return decl.kind == "struct" and re.search(r"_(options|args|config)$", decl.name)


def default_of(member):
    """The defaults with which a field's comment begins ("default 0.9, 0.999; ..."), one for each name of its line,
    or None."""
    text = plain(member.comment)
    m = DEFAULT.match(text)
    if not m:
        return None
    values = (m.group(1) or m.group(2)).split(", ")
    return values * len(member.names) if len(values) == 1 else values


def names(text, word):
    return re.search(rf"\b{word}\b", text) is not None


def says_nothing(text):
    """True if the text has only values on failure and references to other texts."""
    left = EMPTY.sub("", text)
    return bool(text) and not re.search(r"\w", left)


def words(name):
    """The words of a name that distinguish it from others."""
    return set(name.lower().strip("_").split("_")) - ENDINGS


def left_out(decl, group):
    """True if decl follows the described declaration of its group, and has no description itself.

    The comment describes it if it has the name, or the words of the name that the first name lacks.
    Names that differ in one word are one family, as hd_zeros_like and hd_ones_like are."""
    first = group.decls[0]
    if decl is first or decl.comment or not group.comment or not decl.name:
        return False
    text = plain(group.comment)
    own, others = words(decl.name), words(first.name)
    family = own & others and len(own - others) <= 1 and len(others - own) <= 1
    said = all(re.search(rf"(?<![a-z]){re.escape(w)}", text.lower()) for w in own - others)
    return not (family or said or any(names(text, name) for name in decl.names()))


def field_said(decl, name, text):
    """Does the comment of the struct name a field? One letter is also a word, as in "a name": it needs a
    comment on its line, or one of another field that writes v.i or `v`."""
    if len(name) > 1:
        return names(text, name)
    return any(re.search(rf"`{name}`|\b{name}\.\w", plain(m.comment)) for m in decl.members)


def undescribed(decl, group):
    """(line, message) for each name of a declaration that no comment describes."""
    text = plain(description(decl, group))
    if not text and decl.name:
        yield decl.line, f"{decl.name} has no description"
    elif says_nothing(text):
        yield decl.line, f"the description of {decl.name} does not say what it is: {text!r}"
    elif left_out(decl, group):
        yield decl.line, (f"{decl.name} has no description: the comment above {group.decls[0].name} "
                          "does not name it")
    if decl.kind == "enum":
        for member in decl.members:
            one_line = "\n" not in decl.code
            if not member.comment and not (one_line and text):
                yield member.line, f"{member.name} has no description"
    if decl.kind == "struct":
        for member in decl.members:
            for name in member.names:
                if not member.comment and name != "size" and not field_said(decl, name, text):
                    yield member.line, f"{decl.name}.{name} has no description"


def without_default(decl):
    for member in decl.members:
        if member.name == "size":
            continue
        values = default_of(member)
        if not values or len(values) != len(member.names):
            found = ", ".join(member.names)
            yield member.line, (f"{decl.name}.{found}: the comment does not begin with the default "
                                f"({plain(member.comment)[:40]!r})")


def check_headers(headers):
    """A line for each thing that is missing."""
    for header in headers:
        for decl in header.strays:
            yield (f"include/heed/{header.name}:{decl.line}: {decl.name} is before the first banner, so "
                   "the reference has no page for it")
        for topic in header.topics:
            for group in topic.groups:
                for decl in group.decls:
                    found = list(undescribed(decl, group))
                    if is_options(decl):
                        found += without_default(decl)
                    for line, message in found:
                        yield f"include/heed/{header.name}:{line}: {message}"
