"""Reads include/heed/*.h: topics, declarations, and the plain comments that describe them.

A header is read from top to bottom. These are the rules that lead from a comment to a name
(docs/recipes.md states them for whoever writes a header):

1. A banner, /* ------- topic */, begins a topic.
2. A comment after a declaration, on its line, describes this declaration.
3. A comment on lines of its own describes all declarations below it, up to an empty line or to the
   next comment on lines of its own. Together they are a group.
4. If an empty line follows such a comment, it describes the topic.
5. The same holds inside a struct or an enum; there the comment of the whole may also describe a
   field by naming it.
6. A macro over a function (hd_view over hd_view_n) belongs to the function, wherever it is.
"""
import os
import re

# In this order they are shown. c11.h and cxx.h have no names of their own, and heed.h only the contract.
ORDER = ["base.h", "tensor.h", "autograd.h", "nn.h", "optim.h", "io.h", "data.h", "viz.h",
         "hf.h", "config.h", "mpi.h"]
BANNER = re.compile(r"/\* -{20,} (.+?) \*/$")
INTERNAL = re.compile(r"hd__|hdk_|HD__|HD_\w+?__|HEED_(?:\w+_)?H$|HD_API$")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
PUBLIC = re.compile(r"\b(?:hd|HD)_\w+")


class Block:
    """A piece of a comment: kind is "text", "code" (C), "literal" or "rule" (1. title, text)."""

    def __init__(self, kind, text, title=""):
        self.kind, self.text, self.title = kind, text, title


class Decl:
    """A declaration. kind: function, macro, type, struct, enum, constant or variable."""

    def __init__(self, kind, name, code, line):
        self.kind, self.name, self.code, self.line = kind, name, code, line
        self.comment = []       # the blocks of the comment on its line
        self.result = ""        # of a function or a macro over one
        self.params = []        # of these: pairs (type, name) as in C; a list macro has ("int64_t", "sizes...")
        self.macros = []        # of a function: the macros over it
        self.members = []       # of a struct or an enum: Member
        self.shown = True       # a macro that only makes a function take any number of arguments is not shown

    def names(self):
        """All names that stand for it: its own, its macros', and the values of an enum."""
        values = [m.name for m in self.members] if self.kind == "enum" else []
        return [n for n in [m.name for m in self.macros if m.shown] + [self.name] + values if n]


class Member:
    """A line of a struct or an enum: the names that it declares, and its comment."""

    def __init__(self, names, comment, line):
        self.names, self.comment, self.line = names, comment, line
        self.name = names[0]


class Group:
    """Declarations under one comment (or none). Without declarations: a comment on the topic."""

    def __init__(self, comment, line):
        self.comment, self.line, self.decls = comment, line, []


class Topic:
    def __init__(self, header, title, line):
        self.header, self.title, self.line, self.groups = header, title, line, []

    def decls(self):
        return [d for g in self.groups for d in g.decls]

    def names(self):
        return [n for d in self.decls() for n in d.names()]

    def heading(self):
        return self.title[0].upper() + self.title[1:]

    def slug(self):
        words = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")
        return f"{self.header.name[:-2]}-{words}"


class Header:
    """name: "tensor.h"; summary: the first sentence of its comment; about: the rest, as blocks."""

    def __init__(self, name):
        self.name, self.summary, self.about, self.topics = name, "", [], []
        self.strays = []        # declarations before the first banner: they belong to no topic


# ---- comments

def comment_lines(text):
    """The lines of a comment without /*, * and */; indentation beyond the text's stays."""
    lines = text.strip()[2:-2].rstrip().split("\n")
    lines = [lines[0].strip()] + [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines[1:]]
    return lines


def blocks_of(text):
    """The blocks of a comment."""
    blocks, paragraph, indented, rule = [], [], [], None

    def end_paragraph():
        if paragraph:
            text = " ".join(paragraph)
            if rule:
                rule.text += [text]
            else:
                blocks.append(Block("text", text))
            paragraph.clear()

    def end_indented():
        while indented and not indented[-1]:
            indented.pop()
        if indented:
            width = min(len(s) - len(s.lstrip()) for s in indented if s)
            lines = [s[width:] for s in indented]
            kind = "code" if re.search(r"[;{}]\s*(//.*)?$", lines[-1]) else "literal"
            blocks.append(Block(kind, "\n".join(lines)))
            indented.clear()

    for line in comment_lines(text) + [""]:
        number = re.match(r"(\d+)\. (.*)", line)
        if number:
            end_indented()
            end_paragraph()
            rule = Block("rule", [], number.group(2))
            blocks.append(rule)
        elif line.startswith("  ") and not rule:
            end_paragraph()
            indented.append(line)
        elif not line:
            end_paragraph()
            if indented:
                indented.append("")
        else:
            end_indented()
            if rule and not line.startswith(" "):
                end_paragraph()
                rule = None
            paragraph.append(line.strip())
    end_indented()
    end_paragraph()
    return blocks


def plain(blocks):
    """All text of the blocks, in one string."""
    return " ".join(b.text if isinstance(b.text, str) else " ".join([b.title] + b.text)
                    for b in blocks)


# ---- declarations

def split_commas(text):
    """text, cut at the commas that no parentheses enclose."""
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


def parameter(text):
    """(type, name) of a parameter; a function pointer has its whole text as type."""
    function = re.search(r"\(\*(\w+)\)\s*\(", text)
    if function:
        return text, function.group(1)
    m = re.match(r"(.*?[\s*&])(\w+)$", text)
    return (m.group(1).strip(), m.group(2)) if m else (text, "")


def squeezed(code):
    """A declaration on one line, without comments, attributes, HD_API and directives."""
    code = re.sub(r"^[ \t]*#.*$", "", COMMENT.sub(" ", code), flags=re.M)
    code = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?\)?(?=\s*[;{])", "", code, flags=re.S)
    code = re.sub(r"\b(HD_API|static|inline)\b", " ", code)
    code = re.sub(r"\s+", " ", code).strip()
    return re.sub(r"\( ", "(", code)


def member_names(text, kind):
    if kind == "enum":
        return [re.match(r"\w+", text).group(0)]
    names = []
    for part in split_commas(text):
        pointer = re.search(r"\(\*(\w+)\)", part)
        names.append((pointer or re.search(r"(\w+)\s*(?:\[.*\])?$", part)).group(1))
    return names


def members_of(code, kind, first):
    """The members in the braces of a struct or an enum; the code begins in line `first`."""
    start = code.index("{") + 1
    body = code[start:code.rindex("}")]
    end = "," if kind == "enum" else ";"
    found, above, text, begins, depth = [], [], "", 0, 0

    def add(comment):
        line = first + code.count("\n", 0, start + begins)
        found.append(Member(member_names(text.strip(), kind), comment or above, line))

    for m in re.finditer(r"/\*.*?\*/|.", body + end, re.S):
        piece = m.group(0)
        if piece.startswith("/*"):
            alone = body[:m.start()].rpartition("\n")[2].strip() == ""
            if text.strip():  # an enum's last member, without a comma
                add(blocks_of(piece))
                text = ""
            elif alone:
                above = blocks_of(piece)
            elif found:
                found[-1].comment = blocks_of(piece)
        elif piece == end and depth == 0:
            if text.strip():
                add(None)
            text = ""
        elif text or piece.strip():
            begins = begins if text else m.start()
            depth += (piece in "({") - (piece in ")}")
            text += piece
        elif piece == "\n" and body[:m.start()].endswith("\n"):
            above = []
    return found


# Declarations other than functions, with their kind; one without a kind has members.
FORMS = (
    (r"typedef (?P<kind>struct|enum|union)\s*\w*\s*\{.*\}\s*(?P<name>\w+)\s*;$", None),
    (r"(?P<kind>struct|enum)\s*(?P<name>\w+)?\s*\{.*\}\s*;$", None),
    (r"typedef .*?\(\*(?P<name>\w+)\)\s*\(.*\)\s*;$", "type"),
    (r"typedef .*?(?P<name>\w+)\s*;$", "type"),
    (r"extern .*?(?P<name>\w+)(\[.*\])?\s*;$", "variable"),
)


def declaration(code, line):
    """The Decl of a piece of C, or None if it declares nothing public."""
    one = squeezed(code)
    for form, kind in FORMS:
        m = re.match(form, one)
        if m:
            decl = Decl(kind or m.group("kind").replace("union", "struct"), m.group("name") or "", code, line)
            if not kind:
                decl.members = members_of(code, decl.kind, line)
            return decl
    head = re.match(r"(.*?)\(?\b(hd_\w+)\)?\s*\(", one)
    if not head:
        return None
    depth, start = 1, head.end()
    for end in range(start, len(one)):
        depth += (one[end] == "(") - (one[end] == ")")
        if depth == 0:
            break
    decl = Decl("function", head.group(2), code, line)
    decl.result = head.group(1).strip()
    inside = one[start:end].strip()
    decl.params = [] if inside in ("", "void") else [parameter(p) for p in split_commas(inside)]
    return decl


def macro(code, line):
    """The Decl of a #define, or None."""
    m = re.match(r"#\s*define\s+(\w+)(\(([^)]*)\))?[ \t]*(.*)", code, re.S)
    if not m or INTERNAL.match(m.group(1)):
        return None
    if m.group(2) is None and re.search(r"\b%s\b" % m.group(1), re.sub('"[^"]*"', "", m.group(4))):
        return None     # over the enumerator of that name, which is shown
    decl = Decl("macro", m.group(1), code, line)
    if m.group(2) is not None:
        decl.params = [("", p) for p in split_commas(m.group(3))]
    decl.body = m.group(4)
    return decl


# ---- a header

class Reader:
    """Reads one header into topics, groups and declarations, by position in its text."""

    def __init__(self, path):
        self.header = Header(os.path.basename(path))
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.at, self.taking = 0, []
        self.topic = self.group = None
        self.pending = None     # the group of a comment with nothing below it so far

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def rest_of_line(self):
        end = self.text.find("\n", self.at)
        return self.text[self.at:] if end < 0 else self.text[self.at:end]

    def read(self):
        while self.at < len(self.text):
            rest = self.rest_of_line()
            if not rest.strip():
                self.group = self.pending = None
                self.at += len(rest) + 1
            elif rest.startswith("#"):
                self.directive()
            elif self.taking and not all(self.taking) or rest.strip() in ("}", 'extern "C" {'):
                self.at += len(rest) + 1
            elif rest.startswith("/*"):
                self.comment()
            else:
                self.declare()
        return self.header

    def directive(self):
        start = self.at
        m = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*").match(self.text, start)
        code = m.group(0)
        self.at = m.end() + 1
        word = re.match(r"#\s*(\w+)", code).group(1)
        if word in ("if", "ifdef", "ifndef"):
            self.taking.append(not re.match(r"#\s*ifdef\s+__cplusplus|#\s*if\s+defined\(__cplusplus",
                                            code))
        elif word in ("else", "elif"):
            self.taking[-1] = not self.taking[-1]
        elif word == "endif":
            self.taking.pop()
        elif word == "define" and all(self.taking):
            comment = COMMENT.search(code)
            decl = macro(COMMENT.sub("", code).rstrip(), self.line(start))
            if decl:
                if comment:
                    decl.comment = blocks_of(comment.group(0))
                self.add(decl)

    def comment(self):
        start = self.at
        end = self.text.index("*/", start) + 2
        text = self.text[start:end]
        self.at = end + 1
        banner = BANNER.match(text)
        if banner:
            self.topic = Topic(self.header, banner.group(1), self.line(start))
            self.header.topics.append(self.topic)
            self.group = None
            return
        blocks = blocks_of(text)
        if not self.topic:
            if not self.header.summary:
                name, _, rest = blocks[0].text.partition(" - ")
                self.header.summary, _, rest = rest.partition(". ")
                self.header.summary = self.header.summary.rstrip(".")
                self.header.about = ([Block("text", rest)] if rest else []) + blocks[1:]
            return
        self.group = Group(blocks, self.line(start))
        self.topic.groups.append(self.group)

    def declare(self):
        start, depth = self.at, 0
        for m in re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|#(?:[^\n]*\\\n)*[^\n]*|.',
                            re.S).finditer(self.text, start):
            piece = m.group(0)
            depth += (piece in ("(", "{")) - (piece in (")", "}"))
            body = piece == "}" and re.match(r"static|HD_API static", self.text[start:m.start()])
            if depth == 0 and (piece == ";" or body):
                break
        self.at = m.end()
        code = self.text[start:self.at]
        trailing = re.compile(r"[ \t]*(/\*.*?\*/)?[ \t]*\n", re.S).match(self.text, self.at)
        self.at = trailing.end() if trailing else self.at
        decl = declaration(code, self.line(start))
        if decl and not INTERNAL.match(decl.name or "hd_"):
            if trailing and trailing.group(1):
                decl.comment = blocks_of(trailing.group(1))
            self.add(decl)

    def add(self, decl):
        if not self.topic:
            self.header.strays.append(decl)
            return
        if self.group is None:
            self.group = Group([], decl.line)
            self.topic.groups.append(self.group)
        self.group.decls.append(decl)


# ---- macros over functions, and the whole

def list_parameter(function):
    """The arguments of a list macro in place of the function's array: ("int64_t", "sizes...")."""
    for kind, name in reversed(function.params):
        element = re.match(r"(?:const (int64_t) \*|(hd_\w+ \*)const \*|const hd_(list) \*)$", kind)
        if element:
            kind = element.group(1) or element.group(2) or "hd_tensor *"
            return kind, name + "..."
    return "", "..."


def function_of(decl, group, functions):
    """The function that a macro is over, by its name, or by its body if no comment describes it."""
    for name in (decl.name, decl.name + "_n", decl.name + "_list"):
        if name in functions:
            return functions[name]
    for name in [] if group.comment else PUBLIC.findall(decl.body):
        if name in functions and not name.startswith("hd_scalar_") and decl.name.startswith("hd_"):
            return functions[name]
    return None


def attach_macros(headers):
    """Takes each macro over a function out of its group and gives it to the function."""
    functions = {d.name: d for h in headers for t in h.topics for d in t.decls()
                 if d.kind == "function"}
    for topic in [t for h in headers for t in h.topics]:
        for group in topic.groups:
            for decl in [d for d in group.decls if d.kind == "macro"]:
                function = function_of(decl, group, functions)
                if not function or not decl.params:
                    continue
                types = {name: kind for kind, name in function.params}
                decl.result = function.result
                decl.params = [list_parameter(function) if name == "..." else
                               (types.get(name, ""), name) for _, name in decl.params]
                decl.shown = decl.name != function.name
                function.macros.append(decl)
                group.decls.remove(decl)
        topic.groups = [g for g in topic.groups if g.decls or g.comment]


def drop_forward_types(headers):
    """A type that is defined later in its header is shown where it is defined."""
    for header in headers:
        defined = {d.name for t in header.topics for d in t.decls() if d.kind in ("struct", "enum")}
        for topic in header.topics:
            for group in topic.groups:
                group.decls = [d for d in group.decls
                               if not (d.kind == "type" and d.name in defined)]
            topic.groups = [g for g in topic.groups if g.decls or g.comment]


def read_headers(folder):
    """The existing headers of include/heed, in their order; heed.h first, without topics."""
    present = set(os.listdir(folder))
    known = ["heed.h"] + ORDER
    order = known + sorted(n for n in present if n.endswith(".h") and n not in known + ["c11.h", "cxx.h"])
    headers = [Reader(os.path.join(folder, name)).read() for name in order if name in present]
    attach_macros(headers)
    drop_forward_types(headers)
    return headers


def index_of(headers):
    """{name: (topic, decl, group)} of every public name."""
    return {name: (topic, decl, group) for header in headers for topic in header.topics
            for group in topic.groups for decl in group.decls for name in decl.names()}
