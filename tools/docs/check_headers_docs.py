"""What check_docs asks of the headers: a description for every name, a default for every option."""
import re

from facts import description
from headers import plain

# How a default is written: a number, a name, a pointer; a list of them where a line has several fields.
VALUE = r'(?:-?[\d.]+(?:e-?\d+)?|true|false|NULL|NAN|HD_\w+|must be set|"[^"]*")'
DEFAULT = re.compile(rf"({VALUE}(?:, {VALUE})*)(?=[:;]|$)")


def is_options(decl):
    return decl.kind == "struct" and re.search(r"_(options|args)$", decl.name)


def default_of(member):
    """The defaults that a field's comment begins with, one for each name of its line, or None."""
    text = plain(member.comment)
    m = DEFAULT.match(text)
    if not m:
        return None
    values = m.group(1).split(", ")
    return values * len(member.names) if len(values) == 1 else values


def names(text, word):
    return re.search(rf"\b{word}\b", text) is not None


def undescribed(decl, group):
    """(line, message) for each name of a declaration that no comment describes."""
    text = plain(description(decl, group))
    if not text and decl.name:
        yield decl.line, f"{decl.name} has no description"
    if decl.kind == "enum":
        for member in decl.members:
            one_line = "\n" not in decl.code
            if not member.comment and not (one_line and text):
                yield member.line, f"{member.name} has no description"
    if decl.kind == "struct":
        for member in decl.members:
            for name in member.names:
                if not member.comment and name != "size" and not names(text, name):
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
        for topic in header.topics:
            for group in topic.groups:
                for decl in group.decls:
                    found = list(undescribed(decl, group))
                    if is_options(decl):
                        found += without_default(decl)
                    for line, message in found:
                        yield f"include/heed/{header.name}:{line}: {message}"
