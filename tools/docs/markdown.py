"""Renders the Markdown that heed's documents use, and refuses any other.

Known: headings, paragraphs, lists (nested too), tables, fenced and indented code, block quotes, HTML comments (left
out), and in a line: code, links, images, emphasis, <https://...>. Anything else is an error with its line number, so
that no text is rendered wrongly without a message.
"""
import re
from html import escape

KEYWORDS = ("auto|bool|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|"
            "inline|int|long|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|"
            "volatile|while|size_t|u?int(?:8|16|32|64)_t|true|false|NULL|FILE")
C_TOKEN = re.compile(r"(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')|"
                     r"(?P<directive>(?m:^)[ \t]*#[ \t]*\w+)|(?P<name>\b(?:hd|HD)_\w+)|"
                     rf"(?P<keyword>\b(?:{KEYWORDS})\b)|(?P<number>\b\d[\w.]*)", re.S)
PYTHON_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<keyword>\b(?:and|as|class|"
    r"def|elif|else|False|for|from|if|import|in|is|lambda|None|not|or|return|True|while|with)\b)|"
    r"(?P<number>\b\d[\w.]*)|(?P<name>\b(?:hd|HD)_\w+)", re.S)
CLASSES = {"comment": "c", "string": "s", "directive": "k", "keyword": "k", "number": "n"}
ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
INLINE = re.compile(r"(?P<code>`+)(?P<inner>.+?)(?P=code)(?!`)|!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)\)|"
                    r"\[(?P<label>(?:[^\[\]]|`[^`]*`)+)\]\((?P<target>[^)\s]+)\)|<(?P<auto>https?://[^>\s]+)>|"
                    r"\*\*(?P<strong>[^*\n]+?)\*\*|\*(?P<em>[^*\s][^*]*?)\*|(?P<tag></?[A-Za-z][^>]*>|<!--)|"
                    r"(?P<reference>\]\[)", re.S)
LEFT = re.compile(r"`+|\*\*|\]\(")  # the remains of inline marks that are not closed


class MarkdownError(Exception):
    """path:line: what is wrong"""


def slug(text):
    """A heading's anchor, as GitHub makes it."""
    text = re.sub(r"[`*]", "", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def highlight(code, language, link):
    """Code as HTML. link(name) is the address of a public name, or None."""
    tokens = {"c": C_TOKEN, "python": PYTHON_TOKEN}.get(language)
    if not tokens:
        return escape(code, quote=False)
    out, at = [], 0
    for m in tokens.finditer(code):
        text = escape(m.group(0), quote=False)
        out.append(escape(code[at:m.start()], quote=False))
        at = m.end()
        if m.lastgroup == "name":
            out.append(linked(text, link))
        else:
            if m.lastgroup == "comment":
                text = re.sub(r"\b(?:hd|HD)_\w+", lambda name: linked(name.group(0), link), text)
            out.append(f'<span class="{CLASSES[m.lastgroup]}">{text}</span>')
    return "".join(out) + escape(code[at:], quote=False)


def linked(name, link):
    href = link(name)
    return f'<a href="{href}">{name}</a>' if href else name


def code_span(text, link):
    text = escape(text, quote=False)
    return f"<code>{re.sub(r'(?:hd|HD)_[A-Za-z0-9_]+', lambda m: linked(m.group(0), link), text)}</code>"


class Document:
    """One document: html, title, and headings as (level, text, anchor)."""

    def __init__(self, path, text, link, target):
        """link: see highlight(). target(address, line): the address of a link or an image on the site,
        or None if the site does not have it."""
        self.path, self.link, self.target = path, link, target
        self.lines = text.split("\n")
        self.title, self.headings, self.anchors, self.code = "", [], set(), []
        self.html = self.blocks(0, len(self.lines), 0)

    def fail(self, line, what):
        raise MarkdownError(f"{self.path}:{line + 1}: {what}")

    # ---- in a line

    def inline(self, text, line):
        out, at = [], 0

        def words(end):
            left = LEFT.search(text, at, end)
            if left:
                self.fail(line + text.count("\n", 0, left.start()), f"{left.group(0)!r} begins or ends nothing here")
            return escape(text[at:end], quote=False)

        for m in INLINE.finditer(text):
            out.append(words(m.start()))
            at = m.end()
            if m.group("code"):
                out.append(code_span(m.group("inner").strip(), self.link))
            elif m.group("image"):
                source = self.target(m.group("image"), line)
                out.append(f'<img src="{source}" alt="{escape(m.group("alt"))}">' if source else m.group("alt"))
            elif m.group("target"):
                label, href = self.inline(m.group("label"), line), self.target(m.group("target"), line)
                out.append(f'<a href="{escape(href)}">{label}</a>' if href else label)
                if href:
                    out[-1] = re.sub(r'<a href="[^"]*">((?:hd|HD)_\w+)</a>(?=.*</a>$)', r"\1", out[-1])
            elif m.group("auto"):
                out.append(f'<a href="{m.group("auto")}">{m.group("auto")}</a>')
            elif m.group("strong"):
                out.append(f'<strong>{self.inline(m.group("strong"), line)}</strong>')
            elif m.group("em"):
                out.append(f'<em>{self.inline(m.group("em"), line)}</em>')
            else:
                self.fail(line, f"{m.group(0)!r}: HTML and reference links are not known here")
        return "".join(out) + words(len(text))

    # ---- blocks

    def blocks(self, first, last, indent):
        """The HTML of lines first to last - 1, which are all indented by `indent`."""
        out, i = [], first
        while i < last:
            line = self.lines[i][indent:]
            if not line.strip():
                i += 1
                continue
            for block in (self.comment, self.fence, self.heading, self.table, self.list, self.quote,
                          self.indented, self.paragraph):
                made = block(i, last, indent)
                if made:
                    html, i = made
                    out.append(html)
                    break
        return "\n".join(out)

    def comment(self, i, last, indent):
        if not self.lines[i].strip().startswith("<!--"):
            return None
        while "-->" not in self.lines[i]:
            i += 1
            if i == last:
                self.fail(i - 1, "a comment that does not end")
        return "", i + 1

    def fence(self, i, last, indent):
        m = re.match(r"(```+)\s*(\S*)$", self.lines[i][indent:])
        if not m:
            return None
        end = i + 1
        while end < last and self.lines[end].strip() != m.group(1):
            end += 1
        if end == last:
            self.fail(i, "a code block that does not end")
        code = "\n".join(s[indent:] for s in self.lines[i + 1:end])
        self.code.append((m.group(2), code, i + 1))
        return self.pre(code, m.group(2)), end + 1

    def pre(self, code, language):
        return (f'<pre tabindex="0" class="lang-{language or "text"}"><code>{highlight(code, language, self.link)}'
                f"</code></pre>")

    def heading(self, i, last, indent):
        m = re.match(r"(#{1,4}) (.*)$", self.lines[i][indent:])
        if not m:
            return None
        level, text = len(m.group(1)), m.group(2).strip()
        anchor = base = slug(text)
        for n in range(1, 100):
            if anchor not in self.anchors:
                break
            anchor = f"{base}-{n}"
        self.anchors.add(anchor)
        if level == 1:
            self.title = self.title or re.sub(r"[`*]", "", text)
            return f"<h1>{self.inline(text, i)}</h1>", i + 1
        self.headings.append((level, re.sub(r"[`*]", "", text), anchor))
        return (f'<h{level} id="{anchor}">{self.inline(text, i)} <a class="anchor" href="#{anchor}" '
                f'aria-label="Link to this section">#</a></h{level}>'), i + 1

    def cells(self, i):
        row = self.lines[i].strip()
        parts = re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", lambda m: m.group(0).replace("|", "\0"), row[1:-1]))
        return [p.strip().replace("\0", "|").replace("\\|", "|") for p in parts]

    def table(self, i, last, indent):
        if not self.lines[i].lstrip().startswith("|"):
            return None
        if i + 1 >= last or not re.match(r"\s*\|[\s:|-]+\|\s*$", self.lines[i + 1]):
            self.fail(i, "a line that begins with | and is no table")
        head = self.cells(i)
        rows, end = [], i + 2
        while end < last and self.lines[end].lstrip().startswith("|"):
            rows.append(self.cells(end))
            if len(rows[-1]) != len(head):
                self.fail(end, f"{len(rows[-1])} cells under {len(head)} headings")
            end += 1
        html = "".join(f'<th scope="col">{self.inline(c, i)}</th>' for c in head)
        body = "".join("<tr>" + "".join(f"<td>{self.inline(c, i + 2 + n)}</td>" for c in row) + "</tr>\n"
                       for n, row in enumerate(rows))
        return (f'<div class="table" tabindex="0"><table>\n<thead><tr>{html}</tr></thead>\n'
                f"<tbody>\n{body}</tbody></table></div>"), end

    def list(self, i, last, indent):
        m = ITEM.match(self.lines[i][indent:])
        if not m or m.group(1):
            return None
        ordered = m.group(2)[0].isdigit()
        items, loose = [], False
        while i < last:
            m = ITEM.match(self.lines[i][indent:])
            if not m or m.group(1) or m.group(2)[0].isdigit() != ordered:
                break
            inner = indent + len(m.group(0)) - len(m.group(3))
            end = i + 1
            while end < last and (not self.lines[end].strip() or self.lines[end][:inner].strip() == ""):
                end += 1
            while not self.lines[end - 1].strip():
                end -= 1
            keep, self.lines[i] = self.lines[i], " " * inner + m.group(3)
            html = self.blocks(i, end, inner)
            self.lines[i] = keep
            loose = loose or any(not s.strip() for s in self.lines[i:end])
            items.append(html)
            while end < last and not self.lines[end].strip():
                end += 1
            i = end
        if not loose:
            items = [re.sub(r"^<p>(.*?)</p>", r"\1", html, flags=re.S) for html in items]
        tag = "ol" if ordered else "ul"
        return f"<{tag}>\n" + "".join(f"<li>{html}</li>\n" for html in items) + f"</{tag}>", i

    def quote(self, i, last, indent):
        if not self.lines[i][indent:].startswith(">"):
            return None
        end = i
        while end < last and self.lines[end][indent:].startswith(">"):
            end += 1
        keep = self.lines[i:end]
        self.lines[i:end] = [" " * indent + re.sub(r"^> ?", "", s[indent:]) for s in keep]
        html = self.blocks(i, end, indent)
        self.lines[i:end] = keep
        return f"<blockquote>\n{html}\n</blockquote>", end

    def indented(self, i, last, indent):
        if not self.lines[i][indent:].startswith("    "):
            return None
        end = i
        while end < last and (not self.lines[end].strip() or self.lines[end][indent:].startswith("    ")):
            end += 1
        code = "\n".join(s[indent + 4:] for s in self.lines[i:end]).rstrip()
        return self.pre(code, ""), end

    def paragraph(self, i, last, indent):
        end = i
        while end < last and self.lines[end].strip():
            line = self.lines[end][indent:]
            if end > i and re.match(r"(#{1,4} |```|\||>|<!--)", line):
                break
            if end > i and ITEM.match(line) and not ITEM.match(line).group(1):
                break
            if re.match(r"(=+|-{3,}|\*{3,}|#{5,}.*|\[\^?[^\]]+\]:.*)\s*$", line):
                self.fail(end, f"{line!r}: not known here")
            end += 1
        text = "\n".join(s[indent:] for s in self.lines[i:end])
        return f"<p>{self.inline(text, i)}</p>", end
