"""Writes the site: the start, the rules, the guides, a page for each topic, the index and the search."""
import json
import os
import re
import shutil
import subprocess
import sys
from html import escape, unescape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import markdown
from functions.calls import Functions
from facts import codes_of, error_codes, joined, mentioned, parts, return_values, summary
from headers import PUBLIC
from man import calls, header_page, page_name, variable
from markdown import Document, code_span, highlight, linked

MISSING = "what-heed-does-not-have"     # the anchor of the section about missing features and their alternatives
DOCUMENT = re.compile(r"\bdocs/[\w/]+\.md\b")

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="description" content="{about}">
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M3 1v14M3 8h7v7' fill='none' stroke='%230a7d63' stroke-width='3'/%3E%3C/svg%3E">
<link rel="stylesheet" href="style.css">
<script>try {{ document.documentElement.dataset.theme = localStorage.getItem("heed-theme") || ""; }} catch (e) {{ }}</script>
<script src="names.js" defer></script>
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#site-main">Skip to the text</a>
<header class="top">
<a class="home" href="index.html">heed <span>{version}</span></a>
<a class="menu" href="#site-pages">All pages</a>
<div id="site-tools"></div>
</header>
<div class="columns">
<main id="site-main">
{body}
</main>
<nav id="site-pages" aria-label="All pages">
{nav}
</nav>
</div>
<footer>heed {version}. This page was made from {source}. No page of this site asks the network for anything.</footer>
</body>
</html>
"""


class Site:
    def __init__(self, headers, info, live=()):
        self.live = live        # paths of the pages that run a program
        self.headers = [h for h in headers if h.topics]
        self.heed = next((h for h in headers if h.name == "heed.h"), None)
        self.info, self.index = info, info.index
        self.codes = codes_of(info.index)
        self.documents = []     # (section, path, Document, page)
        self.sources = {}       # path of a source file: its page
        self.search = []        # [name, address, text, other words, words of its section (only of a guide)]
        self.torch = {}         # name: its names in PyTorch
        self.contents = read_contents(info)

    # ---- addresses

    def address(self, name):
        entry = self.index.get(name)
        return f"{entry[0].slug()}.html#{name}" if entry else None

    def page_of(self, path):
        """The page of a document of the site."""
        name = os.path.splitext(os.path.basename(path))[0].lower()
        if name == "readme":
            name = os.path.basename(os.path.dirname(path)) or "readme"
        return ("guide-" if "/guides/" in path else "") + name.replace("_", "-") + ".html"

    def target(self, path):
        """A function that turns the links of the document at `path` into addresses on the site."""
        def address(href, line):
            if re.match(r"https?://|mailto:", href):
                return href
            file, _, anchor = href.partition("#")
            if not file:
                return href
            found = os.path.normpath(os.path.join(os.path.dirname(path), file))
            full = os.path.join(self.info.root, found)
            if "/" not in file and file.endswith(".html") and path == "docs/index.md":
                return href
            if not os.path.exists(full):
                self.info.wrong.append(f"{path}:{line + 1}: there is no {found}")
                return None
            anchor = "#" + anchor if anchor else ""
            if any(found == p for _, p in self.contents):
                return self.page_of(found) + anchor
            if found == "include/heed/heed.h":
                return "rules.html" + anchor
            if found.startswith("include/heed/"):
                return found[len("include/heed/"):-2] + ".html"
            if re.search(r"\.svg$", found):
                self.sources[found] = os.path.basename(found)
                return os.path.basename(found)
            if re.search(r"\.(c|h|cc|py|md|json|txt)$", found):
                self.sources[found] = "source-" + found.replace("/", "-") + ".html"
                return self.sources[found]
            return None
        return address

    # ---- pieces

    def prose(self, text):
        pieces = re.split(r"(`[^`]+`)", text)
        return "".join(code_span(p[1:-1], self.address) if p.startswith("`") else
                       DOCUMENT.sub(self.document_link, PUBLIC.sub(lambda m: linked(m.group(0), self.address),
                                                                   escape(p, quote=False)))
                       for p in pieces)

    def document_link(self, path):
        """The path of a document in a comment (a match), as a link if the site has the document."""
        name = path.group(0)
        return f'<a href="{self.page_of(name)}">{name}</a>' if any(name == p for _, p in self.contents) else name

    def code(self, code, language="c"):
        return f'<pre tabindex="0" class="lang-{language}"><code>{highlight(code, language, self.address)}</code></pre>'

    def comment(self, blocks):
        out = []
        for block in blocks:
            if block.kind == "text":
                out.append(f"<p>{self.prose(block.text)}</p>")
            elif block.kind == "rule":
                text = "".join(f"<p>{self.prose(t)}</p>" for t in block.text)
                anchor = markdown.slug(block.title.split(":")[0].rstrip("."))
                out.append(f'<h2 id="{anchor}">{self.prose(block.title.rstrip("."))}</h2>\n{text}')
            else:
                out.append(self.code(block.text, "c" if block.kind == "code" else "text"))
        return "\n".join(out)

    def navigation(self, page):
        """The list of all pages; the topics of the header at hand are shown."""
        def item(href, text, below=""):
            here = ' aria-current="page"' if href == page else ""
            return f'<li><a href="{href}"{here}>{text}</a>{below}</li>'
        out = ['<h2>heed</h2><ul>', item("index.html", "Start"), item("rules.html", "The four rules"), "</ul>"]
        section = None
        for title, path, document, href in self.documents:
            if title != section:
                if section is None and title != "Guides":
                    out.append(self.reference_navigation(item, page))
                out.append(("</ul>" if section else "") + f"<h2>{title}</h2><ul>")
                if section == "Guides":
                    out[-1:] = ["</ul>", self.reference_navigation(item, page), f"<h2>{title}</h2><ul>"]
                section = title
            out.append(item(href, escape(document.title)))
        out.append("</ul>" if section else "")
        if section in (None, "Guides"):
            out.append(self.reference_navigation(item, page))
        return "\n".join(out)

    def reference_navigation(self, item, page):
        out = ["<h2>Reference</h2><ul>", item("reference.html", "All topics")]
        for header in self.headers:
            href = header.name[:-2] + ".html"
            topics = [t for t in header.topics if t.names()]
            below = ""
            if page == href or any(t.slug() + ".html" == page for t in topics):
                below = "<ul>" + "".join(item(t.slug() + ".html", escape(t.heading())) for t in topics) + "</ul>"
            out.append(item(href, header.name, below))
        return "\n".join(out + [item("names.html", "All names"), item("pytorch.html", "PyTorch to heed"), "</ul>"])

    def write(self, page, title, body, source, about=""):
        text = PAGE.format(title=escape(title) + ("" if page == "index.html" else " - heed"), body=body,
                           nav=self.navigation(page), version=self.info.version,
                           source=f"<code>{escape(source)}</code>", about=escape(about or title))
        with open(os.path.join(self.folder, page), "w", encoding="utf-8") as f:
            f.write(text)

    # ---- the reference

    def form(self, decl):
        """A line of C for the head of a declaration, with its name marked."""
        if decl.kind == "function" or decl.kind == "macro" and decl.result:
            inside = ", ".join(kind if name and f"(*{name})" in kind else (kind + ("" if kind.endswith("*") else " ")
                               + name).strip() for kind, name in decl.params)
            text = f"{decl.result}{'' if decl.result.endswith('*') else ' '}{decl.name}({inside or 'void'})"
        elif decl.kind == "macro":
            text = f"#define {decl.name}" + (f"({', '.join(n for _, n in decl.params)})" if decl.params else "")
        elif decl.kind == "variable":
            text = variable(decl)
        elif decl.kind == "type":
            text = decl.code.rstrip(";")
        else:
            text = f"{decl.kind} {decl.name}".strip()
        html = highlight(text, "c", self.address)
        if not decl.name:
            return html
        head, _, tail = html.rpartition(f">{decl.name}</a>") if decl.kind == "type" else html.partition(f">{decl.name}</a>")
        return re.sub(r'<a href="[^"]*"$', "<b", head) + f">{decl.name}</b>" + tail

    def heads(self, decl):
        out = []
        for form in calls(decl) if decl.kind == "function" else [decl]:
            label = f' id="{form.name}"' if form.name else ""
            out.append(f"<dt{label}><code>{self.form(form)}</code></dt>")
        return "\n".join(out)

    def body_of(self, decl):
        if decl.kind not in ("struct", "enum"):
            return ""
        html = self.code(decl.code)
        if decl.kind == "enum":
            for member in decl.members:
                html = re.sub(rf'<a href="[^"]*">{member.name}</a>', f'<b id="{member.name}">{member.name}</b>', html,
                              count=1)
        return html

    def group(self, group):
        introduction, items = parts(group)
        out = [self.comment(introduction)]
        if items:
            out.append('<dl class="api">')
            for decls, blocks in items:
                out += [self.heads(d) for d in decls]
                text = "\n".join([self.body_of(d) for d in decls] + [self.comment(blocks)]).strip()
                out.append(f"<dd>{text}</dd>" if text else "<dd></dd>")
            out.append("</dl>")
        return "<section>\n" + "\n".join(x for x in out if x) + "\n</section>"

    def topic(self, topic, before, after):
        names = topic.names()
        lead = (f'<p class="where"><a href="{topic.header.name[:-2]}.html">{topic.header.name}</a> &middot; '
                f"<code>#include &lt;heed/{topic.header.name}&gt;</code> &middot; "
                f"<code>man {page_name(topic)}</code></p>")
        listed = "".join(f'<li><a href="#{n}">{n}</a></li>' for n in names)
        body = [f"<h1>{escape(topic.heading())}</h1>", lead,
                f'<nav class="names" aria-label="Names on this page"><ul>{listed}</ul></nav>']
        body += [self.group(g) for g in topic.groups]
        if any("hd_scalar" == kind for d in topic.decls() for kind, _ in d.params):
            body.append(f"<p>{self.prose('Where a parameter is an hd_scalar, the call takes any number of C.')}</p>")
        sentences = return_values(topic, self.index)
        if sentences:
            body.append('<h2 id="return-values">Return values</h2>\n<p>' + self.prose(" ".join(sentences)) + "</p>")
        found = list(error_codes(topic, self.codes))
        if any(d.kind == "function" for d in topic.decls()):
            body.append('<h2 id="errors">Errors</h2>\n<p>' + self.prose(
                "A call that fails sets the error of the calling thread: hd_error_code gives its code, and "
                "hd_error_message a text that names the function, the values and what was expected.") + "</p>")
        if found:
            body.append("<ul>" + "".join(f"<li>{self.prose(f'{code}: {meaning} ({joined(who)})')}</li>"
                                         for code, meaning, who in found) + "</ul>")
        others = mentioned(topic, self.index)
        if others:
            body.append('<h2 id="see-also">See also</h2>\n<p>' + ", ".join(linked(n, self.address) for n in others)
                        + "</p>")
        body.append(self.turn(before, after))
        self.write(topic.slug() + ".html", topic.heading(), "\n".join(body), "include/heed/" + topic.header.name,
                   ", ".join(names[:12]))

    def turn(self, before, after):
        """Links to the page before and the page after; each is (address, title) or None."""
        out = [f'<a href="{page[0]}" rel="{rel}">{word} {escape(page[1])}</a>' for page, rel, word in
               ((before, "prev", "&larr;"), (after, "next", "&rarr;")) if page]
        return f'<nav class="turn" aria-label="Next and previous page">{"".join(out)}</nav>'

    def reference(self):
        topics = [t for h in self.headers for t in h.topics if t.names()]
        order = [(t.slug() + ".html", t.heading()) for t in topics]
        for i, topic in enumerate(topics):
            self.topic(topic, order[i - 1] if i else None, order[i + 1] if i + 1 < len(order) else None)
        body = ["<h1>Reference</h1>", "<p>Every public name is in a topic, and every topic belongs to a header. "
                "The same text is in the manual pages: <code>man hd_softmax</code>.</p>"]
        for header in self.headers:
            page = header.name[:-2] + ".html"
            listed = self.topic_list(header)
            body.append(f'<h2 id="{header.name[:-2]}"><a href="{page}">{header.name}</a></h2>\n'
                        f"<p>{self.prose(capital(header.summary))}.</p>\n{listed}")
            self.write(page, header.name, f"<h1>{header.name}</h1>\n<p class=\"where\"><code>#include &lt;heed/"
                       f"{header.name}&gt;</code> &middot; <code>man {header_page(header)}</code></p>\n"
                       f"<p>{self.prose(capital(header.summary))}.</p>\n{self.comment(header.about)}\n"
                       f'<h2 id="topics">Topics</h2>\n{listed}', "include/heed/" + header.name, header.summary)
        self.write("reference.html", "Reference", "\n".join(body), "include/heed", "Every public name, by topic")

    def topic_list(self, header):
        out = []
        for topic in header.topics:
            names = topic.names()
            if names:
                first = ", ".join(f'<a href="{topic.slug()}.html#{n}">{n}</a>' for n in names)
                out.append(f'<dt><a href="{topic.slug()}.html">{escape(topic.heading())}</a></dt><dd>{first}</dd>')
        return '<dl class="topics">' + "\n".join(out) + "</dl>"

    def names(self):
        out, letter = ["<h1>All names</h1>"], None
        ordered = sorted(self.index, key=lambda n: (n[3:].lower().strip("_"), n))
        letters = sorted({n[3].upper() for n in ordered})
        out.append('<nav class="names" aria-label="Letters"><ul>' +
                   "".join(f'<li><a href="#{x}">{x}</a></li>' for x in letters) + "</ul></nav>")
        for name in ordered:
            topic, decl, group = self.index[name]
            if name[3].upper() != letter:
                out.append("</dl>" if letter else "")
                letter = name[3].upper()
                out.append(f'<h2 id="{letter}">{letter}</h2>\n<dl class="index">')
            text = summary(name, decl, group)
            out.append(f"<dt>{linked(name, self.address)}</dt><dd>{self.prose(text)}</dd>")
            self.search.append([name, self.address(name), text, self.torch.get(name, "")])
        out.append("</dl>")
        self.write("names.html", "All names", "\n".join(out), "include/heed", "Every public name of heed, from A to Z")

    def rules(self):
        body = "<h1>The four rules</h1>\n" + self.comment(self.heed.about if self.heed else [])
        self.write("rules.html", "The four rules", body, "include/heed/heed.h",
                   "Ownership, errors, threads, determinism")
        for block in self.heed.about if self.heed else []:
            if block.kind == "rule":
                title = block.title.rstrip(".")
                self.search.append([title, "rules.html#" + markdown.slug(title.split(":")[0]), "the four rules", ""])

    def pytorch(self):
        rows = read_torch(self.info)
        body = ["<h1>PyTorch to heed</h1>", "<p>What a PyTorch program calls, and what takes its place. "
                "<code>x</code> is a tensor, <code>m</code> a module, <code>o</code> an optimizer.</p>"]
        for topic in dict.fromkeys(r.topic for r in rows if r.torch):
            anchor = markdown.slug(topic)
            body.append(f'<h2 id="{anchor}">{escape(topic)}</h2>\n<div class="table" tabindex="0"><table>\n<thead><tr>'
                        '<th scope="col">PyTorch</th><th scope="col">heed</th><th scope="col">To know</th></tr></thead>'
                        "<tbody>")
            for row in rows:
                if row.torch and row.topic == topic:
                    body.append(f"<tr><td><code>{escape(row.torch)}</code></td><td>{code_span(row.heed, self.address)}"
                                f"</td><td>{self.prose(row.note)}</td></tr>")
                    for name in PUBLIC.findall(row.heed):
                        self.torch[name] = (self.torch.get(name, "") + " " + row.torch).strip()
            body.append("</tbody></table></div>")
        self.write("pytorch.html", "PyTorch to heed", "\n".join(body), "docs/pytorch.tsv",
                   "A table from PyTorch's names to heed's")

    # ---- documents

    def read_documents(self):
        for section, path in self.contents:
            text = self.info.text(path)
            if path.endswith(".1"):
                document = ProgramPage(path, os.path.join(self.info.root, path))
            else:
                document = Document(path, text, self.address, self.target(path))
            self.documents.append((section, path, document, self.page_of(path)))

    def write_documents(self):
        pages = [(page, d.title) for _, _, d, page in self.documents]
        for i, (section, path, document, page) in enumerate(self.documents):
            inside = [h for h in document.headings if h[0] == 2]
            listed = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>' for _, text, anchor in inside)
            toc = f'<nav class="toc" aria-label="On this page"><ul>{listed}</ul></nav>' if len(inside) > 2 else ""
            html = document.html.replace("</h1>", "</h1>\n" + toc, 1)
            if path.endswith(".1"):
                html = self.linked_pages(html, page)
            html += self.turn(pages[i - 1] if i else None, pages[i + 1] if i + 1 < len(pages) else None)
            self.write(page, document.title, html, path)
            self.search.append([document.title, page, section, ""])
            if section == "Guides":
                self.search += list(guide_search(document, page))
            else:
                self.search += [[text, f"{page}#{anchor}", document.title, ""] for _, text, anchor in inside]
            if path == "docs/differences.md":
                self.search += list(missing_search(document, page))

    def linked_pages(self, html, own):
        """A manual page's html, in which train_gpt(1) leads to the page of train_gpt."""
        pages = {os.path.basename(path): page for _, path, _, page in self.documents if path.endswith(".1")}

        def link(m):
            page = pages.get(f"{m.group(2)}.{m.group(3)}")
            return f'<a href="{page}">{m.group(0)}</a>' if page and page != own else m.group(0)

        return re.sub(r"<(b|i)>([\w-]+)</\1>\((\d)\)", link, html)

    def write_sources(self):
        for path, page in sorted(self.sources.items()):
            if not page.endswith(".html"):
                self.info.read.append(os.path.join(self.info.root, path))
                shutil.copy(os.path.join(self.info.root, path), os.path.join(self.folder, page))
                continue
            language = {".c": "c", ".h": "c", ".cc": "c", ".py": "python"}.get(os.path.splitext(path)[1], "text")
            self.write(page, path, f"<h1>{escape(path)}</h1>\n{self.code(self.info.text(path), language)}", path)

    def start(self):
        document = Document("docs/index.md", self.info.text("docs/index.md"), self.address, self.target("docs/index.md"))
        cards = [f'<li><a href="{page}">{escape(d.title)}</a></li>' for s, _, d, page in self.documents if s == "Guides"]
        html = document.html.replace("<p>GUIDES</p>", "<ol>" + "".join(cards) + "</ol>")
        topics = "".join(f'<dt><a href="{h.name[:-2]}.html">{h.name}</a></dt><dd>{self.prose(capital(h.summary))}.</dd>'
                         for h in self.headers)
        html = html.replace("<p>PAGES</p>", self.live_pages())
        html = html.replace("<p>HEADERS</p>", f'<dl class="index">{topics}</dl>')
        self.write("index.html", document.title, html, "docs/index.md", "Attention in C: a small tensor library with autograd")

    def live_pages(self):
        """Takes over the pages that run a program, and lists them."""
        listed = []
        for path in self.live:
            with open(path, encoding="utf-8") as f:
                title = unescape(re.search("<title>(.*?) - heed</title>", f.read())[1])
            page = os.path.basename(path)
            shutil.copy(path, self.folder)
            listed.append(f'<li><a href="{page}">{escape(title)}</a></li>')
            self.search.append([title, page, "runs in your browser", ""])
        return ('<h2 id="in-your-browser">In your browser</h2>\n<p>These pages run heed where you read them: the cells of '
                f'two notebooks, and a training.</p>\n<ul>{"".join(listed)}</ul>' if listed else "")

    def write_all(self, folder):
        self.folder = folder
        self.read_documents()
        self.start()
        self.rules()
        self.write_documents()
        self.pytorch()
        self.reference()
        self.names()
        self.write_sources()
        for name in ("style.css", "site.js"):
            path = os.path.join(self.info.root, "tools", "docs", name)
            self.info.read.append(path)
            shutil.copy(path, folder)
        with open(os.path.join(folder, "names.js"), "w", encoding="utf-8") as f:
            f.write("window.HEED_NAMES = " + json.dumps(self.search, separators=(",", ":")) + ";\n")


def guide_search(document, page):
    """The search's entries of a guide: each of its headings, found by the words of its section too, and each
    environment variable of a table. Code is left out, and so are heed's names, which have entries of their own."""
    parts = re.split(r'<h[23] id="([^"]*)">.*?</h[23]>', document.html, flags=re.S)
    sections = dict(zip(parts[1::2], parts[2::2]))
    for _, text, anchor in document.headings:
        html = sections.get(anchor, "")
        words = re.findall(r"[\w-]{3,}", re.sub(r"<[^>]*>", " ", re.sub(r"<pre.*?</pre>", "", html, flags=re.S)).lower())
        yield [text, f"{page}#{anchor}", document.title, "", " ".join(sorted(w for w in set(words) if w[:3] != "hd_"))]
        for name, meaning in re.findall(r"<td><code>(HEED_\w+)[^<]*</code></td><td>(.*?)</td>", html):
            yield [name, f"{page}#{anchor}", re.sub(r"<[^>]*>", "", re.split(r"[;(]", meaning)[0]).strip(), ""]


def missing_search(document, page):
    """The search's entries of missing features: each row of that section's table, with the alternative."""
    section = document.html.partition(f'id="{MISSING}"')[2]
    for what, to_do in re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td></tr>", section, re.S):
        yield [plain(what), f"{page}#{MISSING}", plain(to_do), ""]


def plain(html):
    """The text of a piece of html."""
    return unescape(re.sub(r"<[^>]*>", "", html)).strip()


class ProgramPage:
    """The manual page of a program, as mandoc renders it."""

    def __init__(self, path, full):
        self.title = os.path.basename(path)[:-2]
        run = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", full], stdout=subprocess.PIPE, text=True,
                             check=True)
        html = re.sub(r'<table class="(head|foot)">.*?</table>', "", run.stdout, flags=re.S)
        html = re.sub(r'<a class="permalink" href="#[^"]*">(.*?)</a>', r"\1", html, flags=re.S)
        html = re.sub(r"<(/?)h2", r"<\1h3", html)
        html = re.sub(r"<(/?)h1", r"<\1h2", html)
        self.html = f"<h1>{self.title}</h1>\n" + html.replace("<pre>", '<pre tabindex="0">')
        self.headings = []


def capital(text):
    return text[:1].upper() + text[1:]


class Row:
    """A line of docs/pytorch.tsv. torch is "" for names without a counterpart."""

    def __init__(self, number, topic, torch, heed, note):
        self.number, self.topic, self.torch, self.heed, self.note = number, topic, torch, heed, note


def read_torch(info):
    """The lines of docs/pytorch.tsv, and after them the rows of tools/functions whose functions no line names: a
    function stands in the topic of the row before it."""
    rows = read_torch_lines(info)
    topics = {name: row.topic for row in rows for name in PUBLIC.findall(row.heed)}
    functions = Functions(folder=os.path.join(info.root, "include", "heed"))
    return rows + [Row(0, topic, torch, heed, "") for topic, torch, heed in functions.pytorch_names(topics)]


def read_torch_lines(info):
    rows = []
    for number, line in enumerate(info.text("docs/pytorch.tsv").split("\n"), 1):
        if line and not line.startswith("#"):
            cells = (line.split("\t") + ["", "", ""])[:4]
            rows.append(Row(number, cells[0], "" if cells[1] == "-" else cells[1], cells[2], cells[3]))
    return rows


def read_contents(info):
    """(section, path) of each document, from docs/contents. A path that is not there is left out, and so
    are the pages of programs where mandoc is not installed."""
    found, section = [], ""
    for line in info.text("docs/contents").split("\n"):
        if line.endswith(".1") and not shutil.which("mandoc"):
            continue
        if line.startswith("  ") and os.path.exists(os.path.join(info.root, line.strip())):
            found.append((section, line.strip()))
        elif line and not line.startswith(("#", " ")):
            section = line
    return found
