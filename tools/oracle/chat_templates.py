#!/usr/bin/env python3
"""Compares hd_chat with transformers' apply_chat_template (5.23.0).

usage: python tools/oracle/chat_templates.py --build build [--random N] FOLDER|FILE.jinja|DIRECTORY...

A FOLDER is a model's folder, whose tokenizer transformers loads. Of a DIRECTORY the script takes all files NAME.jinja,
each with the tokens <s> and </s>. Each template gets conversations with and without a system message, of one to five
turns, with blanks at the ends of texts, umlauts, line breaks, marks of thinking, roles that alternate or not, with and
without the start of a reply, and with variables. Then it gets N (200) conversations of random parts.

A line for each template counts: equal (the same text, or both refuse it), refused (heed alone refuses it, by an error
that names the missing feature), and different, which must be 0. At the end the reasons are counted.
"""
import argparse
import collections
import contextlib
import ctypes
import datetime
import io
import json
import os
import random
import sys
import tempfile

from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.utils import chat_template_utils, logging

import binding

NOW = 1722003323  # 2024-07-26 14:15:23 in UTC
FORMAT = 10
BOS, EOS = "<s>", "</s>"
TEXTS = ["Hello!", "  two blanks before, one after ", "\n\tlines\n\nof text\n", "Gr\u00FC\u00DFe, \u00C4\u00D6\u00DC \U0001F600",
         "", "<think>\nwell\n</think>\n\nYes.", "a </think> b", "'quotes' \"and\" \\n {{ braces }} {% if %}", "\u00A0\u3000wide\u2003",
         "<|im_end|>\n<|im_start|>", "[INST] x [/INST]", "x" * 3000]
VARIABLES = [{}, {"enable_thinking": False}, {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
             {"date_string": "1 May 2025", "tools_in_user_message": False}]


class Heed:
    def __init__(self, build):
        self.lib = binding.of_build(build)

    def text(self, folder, messages, reply, variables):
        """The text, or an error's code and message."""
        o = self.lib.hd_chat_defaults()
        o.variables, o.now = json.dumps(variables).encode(), NOW
        c = self.lib.hd_chat_new(folder.encode(), ctypes.byref(o))
        text = None
        if c:
            for m in messages:
                self.lib.hd_chat_add(c, m["role"].encode(), m["content"].encode())
            text = self.lib.hd_chat_text(c, reply)
        result = (0, text.decode()) if text is not None else (self.lib.hd_error_code(), self.lib.hd_error_message().decode())
        self.lib.hd_error_clear()
        self.lib.hd_chat_free(c)
        return result


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, datetime.timezone.utc)


chat_template_utils.datetime = Clock


def expected(tokenizer, messages, reply, variables):
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=reply, **variables)
        return (0, text) if "\0" not in text else (1, "a zero byte")
    except Exception as e:  # whatever a template raises
        return 1, f"{type(e).__name__}: {e}"


def conversations(random_ones):
    """Messages, whether they are for a reply, and variables"""
    for system in [None, *TEXTS[:5]]:
        for turns in 1, 2, 3, 4, 5:
            for shift in 0, 1, 5:
                messages = [{"role": "system", "content": system}] if system is not None else []
                messages += [{"role": ("user", "assistant")[i % 2], "content": TEXTS[(i + shift) % len(TEXTS)]}
                             for i in range(turns)]
                for reply in True, False:
                    yield messages, reply, VARIABLES[(turns + shift) % len(VARIABLES)]
    yield [], True, {}
    for _ in range(random_ones):
        messages = [{"role": random.choice(["user", "assistant", "user", "assistant", "system", "tool"]),
                     "content": "".join(random.choices(TEXTS[:-1], k=random.randrange(3)))}
                    for _ in range(random.randrange(1, 8))]
        yield messages, random.random() < 0.5, random.choice(VARIABLES)


def compare(heed, folder, name, random_ones, reasons):
    with contextlib.redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(folder)
    counts = collections.Counter()
    for messages, reply, variables in conversations(random_ones):
        (failed, right), (code, text) = expected(tokenizer, messages, reply, variables), heed.text(
            folder, messages, reply, variables)
        kind = ("equal" if (failed and code) or (not failed and not code and right == text)
                else "refused" if code == FORMAT else "different")
        counts[kind] += 1
        if kind == "refused":
            reasons[f"{name}: {text.split(', line ', 1)[-1]}"] += 1
        elif kind == "different" and counts[kind] <= 3:
            print("DIFFERENT:", name, messages, reply, variables, f"\n  expected {right!r}\n  found    {text!r}")
    print(f"{name:56}" + "".join(f"{counts[kind]:6} {kind}" for kind in ("equal", "refused", "different")), flush=True)
    return counts


def folder_of(file, work):
    """A folder with a template and a vocabulary without words"""
    folder = os.path.join(work, os.path.basename(file))
    with open(file, encoding="utf-8", newline="") as f:
        template = f.read()
    t = PreTrainedTokenizerFast(tokenizer_object=EMPTY, bos_token=BOS, eos_token=EOS)
    t.save_pretrained(folder)
    with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8", newline="") as f:
        f.write(template)
    return folder


def main():
    global EMPTY
    from tokenizers import Tokenizer, models
    EMPTY = Tokenizer(models.BPE())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("paths", nargs="+")
    a = parser.parse_args()
    logging.set_verbosity_error()
    heed, all_counts, reasons = Heed(a.build), collections.Counter(), collections.Counter()
    templates = 0
    with tempfile.TemporaryDirectory() as work:
        for path in a.paths:
            random.seed(1)
            inside = sorted(n for n in os.listdir(path) if n.endswith(".jinja")) if os.path.isdir(path) else []
            files = [path] if path.endswith(".jinja") else [os.path.join(path, n) for n in inside]
            if os.path.isfile(os.path.join(path, "tokenizer.json")):
                folders = [(path, path)]
            else:
                folders = [(folder_of(f, work), os.path.basename(f)) for f in files]
            for folder, name in folders:
                all_counts += compare(heed, folder, name, a.random, reasons)
                templates += 1
    for reason, n in reasons.most_common():
        print(f"{n:6} refused: {reason}")
    print(f"{templates} templates: " + ", ".join(f"{all_counts[k]} {k}" for k in ("equal", "refused", "different")))
    return all_counts["different"] > 0


if __name__ == "__main__":
    sys.exit(main())
