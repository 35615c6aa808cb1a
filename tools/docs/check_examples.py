"""The part of check_docs that checks examples: every block of C in the headers' comments and in the documents
compiles, and the defaults stated in comments are the real ones.
"""
import os
import re
import subprocess
import tempfile

from check_headers_docs import default_of, is_options
from markdown import Document

# Declarations for names that examples use without declaring them.
PRELUDE = """
#include <heed/heed.h>
#include <heed/hf.h>
#include <heed/viz.h>
#include <heed/config.h>
#include <heed/mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
NAMES = """hd_tensor *x, *y, *w, *b, *q, *k, *v, *loss, *inputs, *mask, *words, *keys, *queries, *values;
hd_module *model, *m, *attention;
hd_optim *opt, *o;
hd_ddp *ddp;
hd_list *parameters;
hd_dict *names, *weights, *state;
hd_tokens *tokens;
hd_dataset *dataset;
hd_loader_options options;
const hd_config_source *from;
const char *text;
float *array;
int steps, step, n, n_heads, emb_dim, n_sets, argc;
char **argv;
const char *const *sets;
"""
RESULTS = ("void", "hd_tensor *", "bool", "int", "hd_module *")


def compiles(text, compiler, include, folder):
    """None, or the compiler's first complaint."""
    path = os.path.join(folder, "example.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    run = subprocess.run([*compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Wno-unused", "-Werror", "-I", include,
                          "-I", os.path.join(include, "..", "examples"), path],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode == 0:
        return None
    errors = re.findall(r"error: (.*)", run.stdout)
    return errors[0] if errors else run.stdout.strip()[:200]


def check_example(code, compiler, include, folder):
    """None if the code compiles: as a file, or as the body of some function."""
    names = ('#include "gpt.h"\n' if "gpt_" in code else "") + NAMES
    if re.search(r"^#include|^int main", code, re.M):
        return compiles(PRELUDE + code, compiler, include, folder)
    if re.search(r"^(static |struct |typedef |HD_API |[a-z].*\)\n\{)", code, re.M):
        first = compiles(PRELUDE + names + code, compiler, include, folder)
        if not first:
            return None
    first = None
    for result in RESULTS:
        text = f"{PRELUDE}{names}{result} example_(void);\n{result} example_(void)\n{{\n{{\n{code}\n}}\n}}\n"
        wrong = compiles(text, compiler, include, folder)
        if not wrong:
            return None
        first = first or wrong
    return first


def header_examples(headers):
    """(place, code) of every example in the comments."""
    for header in headers:
        for block in header.about:
            if block.kind == "code":
                yield f"include/heed/{header.name}:1", block.text
        for topic in header.topics:
            for group in topic.groups:
                for blocks in [group.comment] + [d.comment for d in group.decls]:
                    for block in blocks:
                        if block.kind == "code":
                            yield f"include/heed/{header.name}:{group.line}", block.text


def document_examples(root, paths):
    """(place, code) of every block of C in the documents, except the pieces of programs, which the build compiles."""
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        document = Document(path, text, lambda name: None, lambda href, line: None)
        lines = text.split("\n")
        for language, code, line in document.code:
            before = [s for s in lines[:line - 1] if s.strip()][-1:]
            if language == "c" and not (before and "<!-- piece of" in before[0]):
                yield f"{path}:{line}", code


def check_examples(examples, root, compiler):
    """A line for each example that does not compile."""
    include = os.path.join(root, "include")
    with tempfile.TemporaryDirectory() as folder:
        for place, code in examples:
            wrong = check_example(code, compiler, include, folder)
            if wrong:
                yield f"{place}: the example does not compile: {wrong}"


BESIDE = ("viz", "hf", "config", "mpi")  # headers of libraries of their own, which may not have been built


def is_built(header, libraries):
    stem = header.name.removesuffix(".h")
    return stem not in BESIDE or any(f"libheed-{stem}." in name for name in libraries)


def defaults_program(headers, index, libraries):
    """A C program that prints each default whose comment states another value."""
    lines = []
    for header in (h for h in headers if is_built(h, libraries)):
        for topic in header.topics:
            for decl in topic.decls():
                maker = next((f for f in index if f.endswith("_defaults") and index[f][1].result == decl.name),
                             None)
                if not is_options(decl) or not maker:
                    continue
                for member in decl.members:
                    for name, value in zip(member.names, default_of(member) or []):
                        if value == "must be set" or value.endswith("()"):  # another struct's defaults
                            continue
                        first = "[0]" if f" {name}[" in decl.code else ""  # of an array
                        test = (f"isnan(o.{name})" if value == "NAN" else
                                f"strcmp(o.{name}[0], {value[1:-1]}) == 0" if value[0] == "{" else
                                f"o.{name} && strcmp(o.{name}, {value}) == 0" if value[0] == '"' else
                                f"o.{name}{first} == {value}")
                        quoted = value.replace('"', '\\"')
                        lines.append(f'    {{ {decl.name} o = {maker}(); if (!({test})) puts("include/heed/{header.name}'
                                     f':{member.line}: {decl.name}.{name} is not {quoted} by default"); }}')
    return PRELUDE + "int main(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n"


def check_defaults(headers, index, root, compiler, libraries):
    """Builds the program with heed's libraries and gives its lines."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "defaults.c"), os.path.join(folder, "defaults")
        with open(source, "w", encoding="utf-8") as f:
            f.write(defaults_program(headers, index, libraries))
        paths = {"-Wl,-rpath," + os.path.dirname(name) for name in libraries if ".so" in os.path.basename(name)}
        subprocess.run([*compiler, "-std=gnu11", "-I", os.path.join(root, "include"), source, *libraries,
                        *sorted(paths), "-lm", "-o", program], check=True)
        yield from subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
