"""Builds a mistake and lets the unit tests judge it."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

FLAGS = ["-Dtests=enabled", "-Dexamples=disabled", "-Ddocs=disabled", "-Ddefault_library=static",
         "-Dbuildtype=plain", "-Dc_args=-O1 -w", "-Db_staticpic=false"]
SANITIZED = ["-Db_sanitize=address,undefined", "-Db_lundef=false"]
SANITIZER = {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0",
             "UBSAN_OPTIONS": "halt_on_error=1"}
SLOWEST = 120  # seconds that a program may take before it counts as caught in an endless loop


def end_session(leader):
    """Kills what is left of a command: a test of Check is a process group of its own."""
    subprocess.run(["pkill", "-KILL", "-s", str(leader)], check=False)


def run(command, cwd=None, env=None, limit=None):
    """(status, output) of the command; the status of one that takes too long is "late"."""
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, errors="replace", start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        return "late", process.communicate()[0]
    finally:
        end_session(process.pid)


def fail(what, output):
    raise SystemExit(f"mutate: {what}\n{output[-3000:]}")


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, tree, folder, sanitized=False):
        self.tree, self.build = Path(folder), Path(folder) / "build"
        shutil.rmtree(folder, ignore_errors=True)
        files = subprocess.run(["git", "-C", tree, "ls-files", "-z"], capture_output=True, text=True,
                               check=True).stdout.split("\0")
        for name in filter(None, files):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(tree) / name, self.tree / name)
        status, output = run(["meson", "setup", self.build, self.tree, *FLAGS,
                              *(SANITIZED if sanitized else [])])
        if status != 0:
            fail("meson setup failed", output)
        self.programs = self.unit_programs()
        self.hashes, self.seconds = {}, {}
        for name in self.programs:
            self.make(name, "the tree does not build")
            self.hashes[name] = self.hash(name)
            start = time.time()
            status, output = self.judge(name, SLOWEST)
            if status != 0:
                fail(f"test {name} fails without a mistake", output)
            self.seconds[name] = time.time() - start

    def unit_programs(self):
        """The programs of the suite `unit`, by name: command and environment."""
        status, output = run(["meson", "introspect", "--tests", self.build])
        found = {}
        for test in json.loads(output) if status == 0 else []:
            program = Path(test["cmd"][0])
            if any(s.endswith(":unit") or s == "unit" for s in test["suite"]):
                found[test["name"]] = (test["cmd"], test["env"], program)
        return found

    def make(self, name, why=None):
        """Builds a test program. Returns whether that went well."""
        program = self.programs[name][2]
        status, output = run(["ninja", "-C", self.build, str(program.relative_to(self.build))])
        if status != 0 and why:
            fail(why, output)
        return status == 0

    def hash(self, name):
        return hashlib.sha256(self.programs[name][2].read_bytes()).digest()

    def judge(self, name, limit):
        """(status, output) of a test program; "late" counts as caught."""
        command, env, _ = self.programs[name]
        # A test in an endless loop must not cost minutes.
        env = {**SANITIZER, **os.environ, **env, "CK_DEFAULT_TIMEOUT": "20"}
        return run(command, self.build, env, limit)

    def write(self, path, text):
        (self.tree / path).write_text(text)


def first_failure(output):
    """The first line of Check's that names a test that failed."""
    m = re.search(r"^\S+:\d+:[FE]:\S+?:(\w+):\d+: (.*)$", output, re.M)
    return f"{m.group(1)}: {m.group(2)[:80]}" if m else output.strip()[-80:]


def try_mistake(copy, path, before, after, order):
    """(verdict, by, what): verdict is refused, same, caught or survived."""
    copy.write(path, after)
    verdict = "same"
    try:
        for name in order:
            if not copy.make(name):
                return "refused", "", ""
            if copy.hash(name) == copy.hashes[name]:
                continue
            verdict = "survived"
            status, output = copy.judge(name, 30 + 6 * copy.seconds[name])
            if status != 0:
                what = "endless" if status == "late" else first_failure(output)
                return "caught", name, what
        return verdict, "", ""
    finally:
        copy.write(path, before)
