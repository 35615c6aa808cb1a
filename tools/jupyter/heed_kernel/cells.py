"""Makes a C file of each cell of a notebook.

A cell is split at its top level. Directives, types and declarations go to the head of the file, functions below it, and
everything else into a function that runs the cell. In[7] with these lines

    hd_tensor *x = hd_rand(HD_FLOAT32, 3);
    x

becomes

    extern hd_tensor *x __asm__("x__7");
    __typeof__(x) x;
    void cell_7(void)
    {
        x = hd_rand(HD_FLOAT32, 3);
        HEED_SHOW(x);
    }

The head of a later file declares what earlier cells have defined. The linker's name of x has the number of its cell, so
that a later cell may define x again with another type.
"""
import re
from collections import namedtuple

TOKEN = re.compile(r"""(?P<skipped> \s+ | //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<directive> \#(?:\\\n|[^\n])* )
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|[\w.])* | -> | .
    """, re.S | re.X)
NAME = re.compile(r"[A-Za-z_]\w*$")
STATEMENTS = {"if", "for", "while", "switch", "do", "else", "return", "goto", "break", "continue", "case", "default"}
TAGGED = {"struct", "union", "enum"}
STORAGE = {"static", "inline", "register", "_Thread_local"}
QUALIFIERS = {"const", "volatile", "restrict"}

# What a name stands for: text compares it with a later definition, head declares it, uses are the names in it.
Definition = namedtuple("Definition", "text head uses cell")


class Piece:
    """A part of a cell: its tokens, their words, its text, and the number of its first line."""

    def __init__(self, source, tokens, ended=True):
        self.source, self.tokens, self.ended = source, tokens, ended
        self.words = [token[0] for token in tokens]

    @property
    def line(self):
        return self.source.count("\n", 0, self.tokens[0].start()) + 1

    @property
    def text(self):
        return self.source[self.tokens[0].start():self.tokens[-1].end()]

    def part(self, first, last=None):
        return Piece(self.source, self.tokens[first:last])


def nesting(word):
    """By how much a word changes the depth: a bracket, or a condition of the preprocessor."""
    if word[0] == "#":
        return bool(re.match(r"#\s*if", word)) - bool(re.match(r"#\s*endif", word))
    return (word in "([{") - (word in ")]}")


def depths(words):
    """The depth after each word."""
    depth = 0
    for word in words:
        depth += nesting(word)
        yield depth


def closing(words, at):
    """The place of the bracket that closes the one at `at`, or the last place."""
    return next((at + i for i, depth in enumerate(depths(words[at:])) if depth == 0), len(words) - 1)


def opens_body(words):
    """Whether a brace after these words opens the body of a function or of a statement, which no semicolon ends."""
    outer = [word for word, depth in zip(words, depths(words)) if depth == 0]
    return not words or words[-1] == "else" or (
        words[-1] == ")" and "=" not in outer and NAME.match(words[0]) and words[0] not in ("do", "return"))


def pieces(source):
    """The pieces of a cell's top level."""
    found, tokens, depth, body = [], [], 0, False
    for token in TOKEN.finditer(source):
        if token["skipped"]:
            continue
        if depth == 0 and token[0] == "{":
            body = opens_body([t[0] for t in tokens])
        tokens.append(token)
        depth += nesting(token[0])
        if depth == 0 and (token[0] == ";" or token[0] == "}" and body or tokens[0]["directive"]):
            if tokens[0][0] == "else" and found:
                found[-1] += tokens
            else:
                found.append(tokens)
            tokens = []
    return [Piece(source, part) for part in found] + ([Piece(source, tokens, False)] if tokens else [])


def lead(words):
    """The number of words of a declaration up to its first name: specifiers, stars, the name."""
    at = 0
    while at < len(words) and (NAME.match(words[at]) or at > 0 and words[at] == "*"):
        at += 1
        if words[at:at + 1] == ["{"] and TAGGED & set(words[max(0, at - 2):at]):
            at = closing(words, at) + 1
    return at


def kind(piece):
    """What a piece is: directive, type, extern, variable, prototype, function, statement or shown."""
    words, at = piece.words, lead(piece.words)
    after = "".join(words[at:at + 1])
    named = at > 1 and NAME.match(words[at - 1])
    if not piece.ended:
        whole = list(depths(words))[-1] == 0
        return "shown" if whole and not (named and after == "=") else "statement"
    if words[0][0] == "#":
        return "directive" if len(words) == 1 else "statement"
    if words[0] in ("extern", "_Static_assert"):
        return "extern"
    if words[0] == "typedef" or words[0] in TAGGED and after == ";" and (at == 2 or words[at - 1] == "}"):
        return "type"
    if words[0] in STATEMENTS:
        return "statement"
    if named and after == "(":
        return "function" if words[-1] == "}" else "prototype"
    pointer = at > 0 and words[at:at + 2] == ["(", "*"] and words[closing(words, at) + 1] in "(["
    if not pointer and not (named and after in ("=", ";", ",", "[")):
        return "statement"
    try:
        return "variable" if list(variables(piece)) else "statement"
    except ValueError:
        return "statement" # which the compiler refuses


def key_of(piece, sort):
    """The name that a piece of the head gives to something, or its text if there is none."""
    words = piece.words
    defines = re.match(r"#\s*define\s+(\w+)", words[0])
    if defines:
        return defines[1]
    if sort == "function":
        return words[lead(words) - 1]
    if words[0] == "typedef":
        outer = [word for word, depth in zip(words, depths(words)) if depth == 0 and NAME.match(word)]
        pointer = [words[i + 2] for i, depth in enumerate(depths(words)) if depth == 1 and words[i:i + 2] == ["(", "*"]]
        return (pointer or outer)[0 if pointer else -1]
    if sort == "type":
        return words[2] if words[1] == "{" else " ".join(words[:2])
    return piece.text


class Variable:
    """One variable of a declaration. It loses its own const, because the cell's function assigns its value."""

    def __init__(self, base, piece):
        words = piece.words
        equals = words.index("=") if "=" in words else len(words)
        shape, value = words[:equals], piece.part(equals + 1) if equals < len(words) else None
        at = next((i for i, word in enumerate(shape) if NAME.match(word) and word not in QUALIFIERS), None)
        if at is None or words[-1] == "=":
            raise ValueError("a variable without a name, or without a value after =")
        star = max((i for i in range(at) if shape[i] == "*"), default=None)
        if star is None:
            base = [word for word in base if word != "const"]
        else:
            shape[star + 1:at] = []
            at = star + 1
        self.name, self.piece, self.array = shape[at], piece, shape[at + 1:at + 2] == ["["]
        if self.array and shape[at + 2] == "]" and value:
            shape.insert(at + 2, length(value))
        self.declaration = " ".join(base + shape)
        self.value = value and ("{" + value.text + "}" if self.array and value.words[0] != "{" else value.text)

    def assignment(self):
        if self.value is None:
            return f"memset(&{self.name}, 0, sizeof {self.name});"
        if self.array:
            return f"memcpy({self.name}, (__typeof__({self.name})){self.value}, sizeof {self.name});"
        cast = f"(__typeof__({self.name}))" if self.value[0] == "{" else ""
        return f"{self.name} = {cast}{self.value};"


def variables(piece):
    """The variables of a declaration."""
    words, at = piece.words, lead(piece.words)
    star = words.index("*") if "*" in words[:at] else at
    ends = star if star < at else at if words[at] == "(" else at - 1
    base = [word for word in words[:ends] if word not in STORAGE]
    first = ends
    for i, depth in enumerate(depths(words)):
        if i >= ends and depth == 0 and words[i] in (",", ";"):
            yield Variable(base, piece.part(first, i))
            first = i + 1


def length(value):
    """The number of elements of an array that is declared as `T x[] = value`."""
    if value.words[0] != "{":
        return f"sizeof({value.text})"
    inner = value.words[1:-1]
    commas = sum(depth == 0 and word == "," for word, depth in zip(inner, depths(inner)))
    return str(commas + (inner[-1:] != [","]))


def names(text):
    """The names that C code mentions, but those of members. The name of a struct is `struct NAME`."""
    words = [token[0] for token in TOKEN.finditer(text.replace("#", " ")) if not token["skipped"]]
    pairs = list(zip([""] + words, words))
    return {word for before, word in pairs if NAME.match(word) and before not in (".", "->")} | {
        f"{before} {word}" for before, word in pairs if before in TAGGED}


def given(piece, sort, label, at, cell):
    """What a piece defines: (name, its Definition, the code below the head)."""
    if sort == "variable":
        for v in variables(piece):
            head = f'{at}extern {v.declaration} __asm__("{label % v.name}");\n'
            code = f"{at}__typeof__({v.name}) {v.name};\n"
            yield v.name, Definition(v.declaration, head, names(v.declaration), cell), code
        return
    name, text, uses, code = key_of(piece, sort), piece.text, names(piece.text), ""
    head = f"{at}{text}\n"
    if sort == "function":
        piece = piece.part(next(i for i, word in enumerate(piece.words) if word not in STORAGE))
        header = piece.part(0, piece.words.index("{"))
        uses -= {word for word, after in zip(header.words, header.words[1:]) if after in (",", ")", "[")} # parameters
        head = f'{at}{header.text} __asm__("{label % name}");\n'
        code = f"{at}{piece.text}\n"
    yield name, Definition(text, head, uses, cell), code


def between_conditions(source, inside=False):
    """What a cell defines between #if and #endif. Only the preprocessor knows which of it there is, so it stays inside the
    function that runs the cell."""
    for piece in pieces(source):
        sort = kind(piece)
        if piece.words[0][0] == "#" and len(piece.words) > 1:
            yield from between_conditions(source[piece.tokens[0].end():piece.tokens[-1].start()], True)
        elif inside and sort not in ("statement", "shown"):
            found = [name for name, _, _ in given(piece, sort, "%s", "", "")]
            yield from (name for name in found if not re.match(r"#(?!\s*include)", name))


def forget(known, changed):
    """Forgets the names in `changed` and all that was compiled with them, and returns their definitions."""
    stale = more = set(changed)
    while more:
        more = {name for name, d in known.items() if name not in stale and d.uses & stale}
        stale = stale | more
    return {name: known.pop(name) for name in stale}


def file_of(known, source, number, cell):
    """The text of a cell's C file. known has all definitions by name. It gets those of the cell, and loses those that
    were compiled with what the cell changes, which are returned as well."""
    parts = [(piece, kind(piece), f'#line {piece.line} "{cell}"\n') for piece in pieces(source)]
    functions = {key_of(piece, sort) for piece, sort, _ in parts if sort == "function"}
    new, body = {}, []
    for piece, sort, at in parts:
        runs = f"*heed_line = {piece.line};\n{at}"
        if sort == "statement":
            body.append(f"{runs}{piece.text}\n")
        elif sort == "shown":
            body.append(f"{runs}HEED_SHOW(({piece.text}));\n")
        elif sort != "prototype" or piece.words[lead(piece.words) - 1] not in functions:
            for name, definition, code in given(piece, sort, f"%s__{number}", at, cell):
                new[name] = definition, code
        if sort == "variable":
            body += [f"{runs}{v.assignment()}\n" for v in variables(piece)]

    forgotten = forget(known, {name for name, (d, _) in new.items() if name in known and known[name].text != d.text})
    code = []
    for name, (definition, lines) in new.items():
        if name not in known:
            known[name] = definition
            code.append(lines)
    head = [definition.head for definition in known.values()]
    return "".join(head + code + [f"void cell_{number}(void)\n{{\n"] + body + ["}\n"]), {
        name: d for name, d in forgotten.items() if name not in known}
