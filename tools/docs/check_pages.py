"""The part of check_docs that checks the site: links and anchors lead somewhere, headings are in order, no page asks
the network for anything, and the table of PyTorch's names has every operation.
"""
import os
import re
import sys
from html.parser import HTMLParser

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "checks"))
from c_source import WHOLE, sources  # noqa: E402
from headers import COMMENT, PUBLIC
from markdown import slug
from pages import MISSING, read_torch

VOID = {"meta", "link", "img", "br", "hr", "input"}
# The headers whose functions have counterparts in PyTorch.
TORCH_HEADERS = ("tensor.h", "autograd.h", "nn.h", "optim.h", "hf.h")


class Page(HTMLParser):
    """The contents of a page: ids, links, headings, and its faults."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.headings, self.wrong = [], [], [], []
        self.open, self.seen, self.title, self.label = [], set(), "", None
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> does not end" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.wrong.append(f"two elements have the id {attrs['id']}")
            self.ids.append(attrs["id"])
        if tag == "html" and attrs.get("lang") != "en":
            self.wrong.append("no language")
        if tag == "img" and not attrs.get("alt"):
            self.wrong.append("an image without a text in its place")
        if re.match(r"h[1-6]$", tag):
            self.headings.append(int(tag[1]))
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        for source in (attrs.get("src"), attrs.get("href") if tag == "link" else None):
            if source and not source.startswith("data:"):
                self.links.append(source)
                if ":" in source or source.startswith("//"):
                    self.wrong.append(f"asks the network for {source}")
        self.label = tag

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> where </{self.open[-1] if self.open else ''}> is due")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.label == "title" and self.open and self.open[-1] == "title":
            self.title += data


def outline(page):
    """Sentences on the headings of the text; those of the list of all pages come last."""
    if page.headings.count(1) != 1:
        yield f"{page.headings.count(1)} headings of the first level, expected 1"
    for before, level in zip([0] + page.headings, page.headings):
        if level > before + 1:
            yield f"a heading of level {level} after one of level {before}"
    for part in ("main", "nav", "header", "footer", "title"):
        if part not in page.seen:
            yield f"no <{part}>"
    if not page.title.strip():
        yield "no title"


def check_pages(folder):
    """A line for each thing that is wrong with the site in the folder."""
    pages = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".html"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                pages[name] = Page(f.read())
    titles = {}
    for name, page in pages.items():
        titles.setdefault(page.title, []).append(name)
        for what in page.wrong + list(outline(page)):
            yield f"{name}: {what}"
        for link in dict.fromkeys(page.links):
            if re.match(r"https?://|mailto:|data:", link):
                continue
            file, _, anchor = link.partition("#")
            if file and not os.path.exists(os.path.join(folder, file)):
                yield f"{name}: the link {link} leads nowhere"
            elif anchor and (file or name) in pages and anchor not in pages[file or name].ids:
                yield f"{name}: the link {link} leads nowhere: no such anchor"
    for title, names in titles.items():
        if len(names) > 1 and not all(re.match(r"\w+-", n) for n in names):
            yield f"{', '.join(names)}: all have the title {title}"


# Names that people search for and that heed lacks, or has in another form.
LOOKED_FOR = ("Conv2d", "BatchNorm2d", "GPU", "Windows", "Mac", "LSTM", "float16", "create_graph", "datasets", "ONNX",
              "torch.compile", "attention_mask", "early stopping")


def check_search(site):
    """Yields the names for which the search has no entry with an alternative."""
    names = [entry[0] for entry in site.search if entry[1].endswith("#" + MISSING) and entry[2]]
    for words in LOOKED_FOR if any(path == "docs/differences.md" for _, path in site.contents) else ():
        if not any(re.search(rf"\b{re.escape(words)}\b", name) for name in names):
            yield f"docs/differences.md:1: the search for {words} does not say what to do instead"


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def refusal_names(root):
    """The names that a compiler prints for a wrong type: the structs of c11.h."""
    return {name for header in sources(["include/heed"], ".h", root)
            for name in re.findall(r"^struct (hd_\w+)", read(root, header), re.MULTILINE)}


def unknown_names(text, known):
    """(place, name) of each public name in a text that does not exist. hd_dict_... stands for several."""
    for m in PUBLIC.finditer(text):
        name, rest = m.group(0), text[m.end():m.end() + 3]
        begins = (name.endswith("_") or rest == "...") and any(n.startswith(name) for n in known)
        if not (name in known or name.startswith(("hd__", "HD__")) or begins):
            yield m.start(), name


def check_comments(index, root):
    """Names in the comments of all headers that do not exist."""
    known = set(index) | refusal_names(root) | {"hd_gradcheck"}  # the beginning of a message
    for header in sources(["include/heed"], ".h", root):
        text = read(root, header)
        for comment in COMMENT.finditer(text):
            for at, name in unknown_names(comment.group(0), known):
                line = text.count("\n", 0, comment.start() + at) + 1
                yield f"{header}:{line}: there is no {name}"


def prose(text):
    """The text without code, with its lines."""
    text = re.sub(r"^( *)(```+).*?^ *\2 *$", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    return re.sub(r"(`+)[^`]+?\1(?!`)", lambda m: "\n" * m.group(0).count("\n"), text)


def anchors_of(path):
    """The anchors of a document's headings, as GitHub makes them."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^( *)(```+).*?^ *\2 *$", "", f.read(), flags=re.M | re.S)
    found = []
    for heading in re.findall(r"^#{1,6} (.*)$", text, re.M):
        base = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        found.append(next(a for a in [base] + [f"{base}-{n}" for n in range(1, 100)] if a not in found))
    return found


def check_links(root, path):
    """Relative links and anchors of a document that lead nowhere."""
    with open(os.path.join(root, path), encoding="utf-8") as f:
        text = prose(f.read())
    for m in re.finditer(r"\]\(([^)\s]+)\)|\b(?:href|src)=\"([^\"]+)\"", text):
        target = m.group(1) or m.group(2)
        if re.match(r"[a-z]+:", target):
            continue
        line = text.count("\n", 0, m.start()) + 1
        name, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(root, os.path.dirname(path), name)) if name else os.path.join(root, path)
        if not os.path.exists(full):
            yield f"{path}:{line}: the link {target} leads nowhere"
        elif anchor and full.endswith(".md") and anchor not in anchors_of(full):
            yield f"{path}:{line}: the link {target} leads nowhere: no such anchor"


def check_documents(site, root):
    """Names in the documents that the headers do not have, and documents that the site leaves out. Old
    names may stand in the changelog. The site's own documents have their links checked as pages."""
    listed = [path for _, path in site.contents]
    known = set(site.index) | refusal_names(root)
    others = [path for path in sources(WHOLE, ".md", root) if path not in listed]
    for path in others:
        if path.startswith("docs/guides/"):
            yield f"{path}:1: docs/contents does not list it"
    for path in listed + others:
        full = os.path.join(root, path)
        if not os.path.exists(full) or path == "CHANGELOG.md":
            continue
        if path in others and path != "docs/index.md":
            yield from check_links(root, path)
        text = read(root, path)
        own = set(re.findall(r"#define (\w+)", text)) | {"hd_f", "hd_f_dim", "HD_API"}  # hd_f stands for any function
        for at, name in unknown_names(text, known | own):
            yield f"{path}:{text.count(chr(10), 0, at) + 1}: there is no {name}"


def check_torch(info):
    """Names of the table that do not exist, and functions that it leaves out."""
    rows = read_torch(info)
    named = set()
    for row in rows:
        for name in PUBLIC.findall(row.heed):
            named.add(name)
            if name not in info.index:
                yield f"docs/pytorch.tsv:{row.number}: there is no {name}"
    for name, (topic, decl, _) in info.index.items():
        if (decl.kind == "function" and name == decl.name and topic.header.name in TORCH_HEADERS
                and not named & set(decl.names()) and not re.search(r"_(free|defaults)$", name)):
            yield f"docs/pytorch.tsv: {name} has no row (give it a row with - if PyTorch has nothing like it)"
