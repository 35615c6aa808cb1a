"""Writes the manual pages, in mdoc(7): heed(3), a page for each header, a page for each topic, and a
file with one line (.so) for every other name of a topic."""
import os
import re

from facts import codes_of, error_codes, examples, joined, mentioned, parts, return_values
from headers import PUBLIC

CLOSING = ".,:;)]?!"
LITERAL = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def literal(text):
    """Text of code: every character as it is."""
    return "".join(LITERAL.get(c, c) for c in text)


def prose(text):
    """Text of a sentence, as part of a line."""
    text = text.replace("\\", "\\e").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    text = re.sub(r"(?<![\w-])-(?=[\w(])", r"\\-", text)
    return text.replace("\N{MINUS SIGN}", "\\-")


def argument(text):
    """An argument of a macro."""
    return '"' + literal(text).replace('"', "\\(dq") + '"'


def line(text):
    """A line of text, which no macro begins."""
    return "\\&" + text if text[:1] in (".", "'") else text


class Page:
    """The lines of one page."""

    def __init__(self, title, about, info):
        self.out = [f".Dd {info.date}", f".Dt {title.upper()} 3", f".Os heed {info.version}"]
        self.about, self.info, self.inside = about, info, False  # inside: of a list, which indents

    def add(self, *lines):
        self.out += lines

    def name(self, word):
        """The macro that shows a public name."""
        entry = self.info.index.get(word)
        if not entry:
            return None
        kind = entry[1].kind
        if word in dict(self.info.codes) or kind == "enum" and word != entry[1].name:
            return f"Dv {word}"
        if kind in ("function", "macro"):
            return f"Fn {word}" if word.startswith("hd_") else f"Dv {word}"
        return f"Dv {word}" if kind == "variable" else f"Vt {word}"

    def text(self, text):
        """A paragraph's sentences, each on a line of its own, with its names marked."""
        for sentence in re.split(r"\.\s+(?=[A-Z*(`<])", text.strip()):
            sentence = sentence if sentence.endswith((".", ":")) or sentence == text.strip() \
                else sentence + "."
            plain_words = []
            for word in sentence.split():
                m = PUBLIC.search(word)
                macro = self.name(m.group(0)) if m else None
                if not macro or re.search(r"[/*&=-]", word[:m.start()]) or word[m.end():][:1] == "(" \
                        and word[m.end():][:2] != "()":
                    plain_words.append(prose(word))
                    continue
                self.words(plain_words)
                plain_words = []
                before, after = word[:m.start()], re.sub(r"^\(\)", "", word[m.end():])
                request = "." + (f"Pf {argument(before)} " if before else "") + macro
                while after and after[0] in CLOSING:
                    request, after = request + " " + after[0], after[1:]
                self.add(request + (f" Ns No {argument(after)}" if after else ""))
            self.words(plain_words)

    def words(self, words):
        if words:
            self.add(line(" ".join(words)))

    def code(self, text):
        self.add(".Bd -literal" + ("" if self.inside else " -offset indent"), *[line(literal(s)) for s in text.split("\n")], ".Ed")

    def blocks(self, blocks, skip=()):
        """A comment; examples in `skip` stand elsewhere."""
        first = True
        for block in blocks:
            if block.kind == "code" and block.text in skip:
                continue
            if block.kind == "text":
                if not first:
                    self.add(".Pp")
                self.text(block.text)
            elif block.kind == "rule":
                self.add(f".Ss {prose(block.title.rstrip('.'))}")
                for i, text in enumerate(block.text):
                    self.add(*[".Pp"] if i else [])
                    self.text(text)
            else:
                self.code(block.text)
            first = False

    def see_also(self, names):
        self.add(".Sh SEE ALSO")
        names = sorted(set(names))
        self.add(*[f".Xr {n} 3" + (" ," if n != names[-1] else "") for n in names])

    def write(self, folder, name):
        write(folder, name, "\n".join(self.out) + "\n")


def write(folder, name, text):
    with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as f:
        f.write(text)


def page_name(topic):
    """The name of a topic's page: its first function or type."""
    decls = topic.decls()
    first = [d for d in decls if d.kind in ("function", "struct", "type")] or decls
    return (first[0].macros[0].name if first[0].macros and first[0].macros[0].shown
            else first[0].names()[0])


def header_page(header):
    return "heed_" + header.name[:-2]


def calls(decl):
    """The forms of a function, the list macros first."""
    return [m for m in decl.macros if m.shown] + [decl]


def synopsis(page, topic):
    page.add(".Sh SYNOPSIS", f".In heed/{topic.header.name}")
    for decl in topic.decls():
        if decl.kind == "function":
            for form in calls(decl):
                page.add(f".Ft {argument(form.result)}" if form.result else ".Ft void", f".Fo {form.name}")
                for kind, name in form.params or [("void", "")]:
                    text = kind if f"(*{name})" in kind else f"{kind} {name}".strip()
                    page.add(f".Fa {argument(text.replace('* ', '*'))}")
                page.add(".Fc")
        elif decl.kind == "macro":
            inside = f"({', '.join(n for _, n in decl.params)})" if decl.params else ""
            page.add(f".Fd #define {decl.name}{inside}")
        elif decl.kind == "variable":
            page.add(f".Vt {argument(variable(decl))} ;")
        elif decl.kind in ("struct", "enum") and decl.name:
            page.add(f".Vt {argument(f'{decl.kind} {decl.name}')} ;")
        elif decl.kind == "type":
            page.add(f".Vt {argument(decl.code.rstrip(';'))} ;" if "(" not in decl.code
                     else f".Vt {decl.name} ;")


def variable(decl):
    return re.sub(r"HD_API ", "", decl.code).rstrip(";")


def item(page, decl):
    """The head of a list's item: each form of the declaration."""
    if decl.kind != "function":
        params = f"({', '.join(n for _, n in decl.params)})" if decl.params else ""
        kind = "Dv" if decl.kind in ("macro", "variable", "enum") else "Vt"
        name = decl.name or ", ".join(decl.names())
        page.add(f".It {kind} {argument(name + params)}")
        return
    for form in calls(decl):
        args = " ".join(argument(n or kind) for kind, n in form.params)
        page.add(f".It Fn {form.name} {args}".rstrip())


def describe(page, topic, skip):
    page.add(".Sh DESCRIPTION")
    listing = False
    for group in topic.groups:
        introduction, items = parts(group)
        if introduction:
            page.add(*[".El", ".Pp"] if listing else [".Pp"] if group is not topic.groups[0] else [])
            page.inside = False
            page.blocks(introduction, skip)
            listing = page.inside = False
        for decls, blocks in items:
            page.add(*[] if listing else [".Bl -tag -width Ds"])
            listing = page.inside = True
            for decl in decls:
                item(page, decl)
                if decl.kind in ("struct", "enum") or decl.kind == "type" and "(" in decl.code:
                    page.code(decl.code)
            page.blocks(blocks, skip)
    page.add(*[".El"] if listing else [])
    page.inside = False
    if any("hd_scalar" == kind for d in topic.decls() for kind, _ in d.params):
        page.add(".Pp")
        page.text("Where a parameter is an hd_scalar, the call takes any number of C.")


def returns(page, topic):
    sentences = return_values(topic, page.info.index)
    if sentences:
        page.add(".Sh RETURN VALUES")
        for sentence in sentences:
            page.text(sentence)


def examples_of(page, found):
    if found:
        page.add(".Sh EXAMPLES")
        for i, (who, code) in enumerate(found):
            page.add(*[".Pp"] if i else [])
            page.text(joined(who) + ":")
            page.code(code)


def errors(page, topic):
    if not any(d.kind == "function" for d in topic.decls()):
        return
    page.add(".Sh ERRORS")
    page.text("A call that fails sets the error of the calling thread: hd_error_code gives its code, and "
              "hd_error_message a text that names the function, the values and what was expected.")
    found = list(error_codes(topic, page.info.codes))
    if found:
        page.text("The comments above name these codes:")
        page.add(".Bl -tag -width Ds")
        for code, meaning, names in found:
            page.add(f".It Dv {code}")
            page.text(f"{meaning[0].upper() + meaning[1:]} ({joined(names)}).")
        page.add(".El")


def topic_page(topic, info):
    name = page_name(topic)
    page = Page(name, topic.title, info)
    names = [name] + [n for n in topic.names() if n != name]
    page.add(".Sh NAME", *[f".Nm {n}" + (" ," if n != names[-1] else "") for n in names])
    page.add(f".Nd {prose(topic.title.lower() if topic.title.islower() else topic.title)}")
    synopsis(page, topic)
    found = list(examples(topic))
    describe(page, topic, [code for _, code in found])
    returns(page, topic)
    examples_of(page, found)
    errors(page, topic)
    others = [page_name(info.index[n][0]) for n in mentioned(topic, info.index)]
    page.see_also(["heed", header_page(topic.header)] + others)
    return name, names[1:], page


def overview(header, info):
    """The page of a header, heed_tensor(3)."""
    name = header_page(header)
    page = Page(name, header.summary, info)
    page.add(".Sh NAME", f".Nm {name}", f".Nd {prose(header.summary)}", ".Sh SYNOPSIS",
             f".In heed/{header.name}", ".Sh DESCRIPTION")
    code = [b for b in header.about if b.kind == "code"]
    page.blocks(header.about, [b.text for b in code])
    page.add(*[".Pp"] if header.about and header.about != code else [])
    page.add("Each topic has a page, which any of its names leads to:", ".Bl -tag -width Ds")
    for topic in header.topics:
        if topic.names():
            page.add(f".It Xr {page_name(topic)} 3", line(prose(topic.title)))
    page.add(".El")
    if code:
        page.add(".Sh EXAMPLES")
        for block in code:
            page.code(block.text)
    page.see_also(["heed"])
    return name, page


def contract(heed, headers, info):
    """heed(3): the four rules, and where everything else stands."""
    page = Page("heed", heed.summary, info)
    page.add(".Sh NAME", ".Nm heed", ".Nd tensors with gradients, and attention, in C", ".Sh SYNOPSIS",
             ".In heed/heed.h", ".Sh DESCRIPTION")
    page.blocks(heed.about)
    page.add(".Ss Pages", "Each header has a page, and so has each of its topics:",
             ".Bl -tag -width Ds")
    for header in headers:
        page.add(f".It Xr {header_page(header)} 3", line(prose(header.summary)))
    page.add(".El")
    page.see_also([header_page(h) for h in headers])
    return page


def write_man(headers, info, folder):
    """Writes all pages into the folder. info: index, codes, version, date."""
    os.makedirs(folder, exist_ok=True)
    info.codes = codes_of(info.index)
    heed = [h for h in headers if h.name == "heed.h"]
    rest = [h for h in headers if h.name != "heed.h" and h.topics]
    if heed:
        contract(heed[0], rest, info).write(folder, "heed")
    for header in rest:
        name, page = overview(header, info)
        page.write(folder, name)
        for topic in header.topics:
            if topic.names():
                name, aliases, page = topic_page(topic, info)
                page.write(folder, name)
                for alias in aliases:
                    write(folder, alias, f".so man3/{name}.3\n")
