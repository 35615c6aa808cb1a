"""Builds heed with one planted mistake, and runs the unit tests that run its line: one of them should fail.

A unit is one suite of a test program, or a program without suites. A build that counts lines (gcov) measures each unit
once: its time, and the lines of src and libs that it runs.
"""
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

FLAGS = ["-Dassert=true", "-Dtests=enabled", "-Dexamples=disabled", "-Ddocs=disabled", "-Ddefault_library=static",
         "-Dbuildtype=plain", "-Dc_args=-O1 -w", "-Db_staticpic=false"]
KINDS = {
    "plain": [],
    "unasserted": ["-Dassert=false"],
    "sanitized": ["-Db_sanitize=address,undefined", "-Db_lundef=false"],
    "counted": ["-Db_coverage=true"],
}
SANITIZER = {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=0",
             "UBSAN_OPTIONS": "halt_on_error=1"}
SLOWEST = 900  # seconds that a unit may take, on a busy machine
SLOW = 0.5     # a unit that takes more seconds of the CPU judges after those that do not
ENDLESS = 5    # seconds of the CPU that a mistake may cost more, and times; else it is an endless loop

# suite is "" for a program without suites. path: of the program, relative to the build.
Unit = namedtuple("Unit", "test suite path")


def end_session(leader):
    """Kills what is left of a command: a test of Check is a process group of its own."""
    subprocess.run(["pkill", "-KILL", "-s", str(leader)], check=False)


def run(command, cwd=None, env=None, cpu=resource.RLIM_INFINITY, limit=SLOWEST):
    """(status, output) of the command, which may use `cpu` seconds of the CPU and `limit` seconds of time."""
    def limit_cpu():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))

    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, errors="replace", start_new_session=True,
                               preexec_fn=limit_cpu)
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


def files_of(tree):
    names = subprocess.run(["git", "-C", tree, "ls-files", "-z"], capture_output=True, text=True,
                           check=True).stdout.split("\0")
    return [name for name in names if name]


class Copy:
    """A copy of the tree with a build of its own, of everything or of some targets. A folder that is there
    already is brought up to date."""

    def __init__(self, tree, folder, kind, targets=()):
        self.folder = Path(folder).resolve()
        self.build = self.folder / "build"
        for name in files_of(tree):
            old, new = self.folder / name, (Path(tree) / name).read_bytes()
            if not old.exists() or old.read_bytes() != new:
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_bytes(new)
                shutil.copymode(Path(tree) / name, old)
        if not (self.build / "build.ninja").exists():
            status, output = run(["meson", "setup", self.build, self.folder, *FLAGS, *KINDS[kind]])
            if status != 0:
                fail("meson setup failed", output)
        status, output = run(["ninja", "-C", self.build, *targets], limit=None)
        if status != 0:
            fail("the tree does not build", output)
        self.tests = self.unit_tests()
        self.hashes = {path: self.hash(path) for path in {t[2] for t in self.tests.values()}
                       if (self.build / path).exists()}

    def unit_tests(self):
        """The tests of the suite `unit` that are built, by name: command, environment, path of the program."""
        status, output = run(["meson", "introspect", "--tests", self.build])
        if status != 0:
            fail("meson introspect failed", output)
        found = {}
        for test in json.loads(output):
            if any(s.endswith(":unit") or s == "unit" for s in test["suite"]):
                programs = [c for c in test["cmd"] if os.access(self.build / c, os.X_OK)
                            and (self.build / c).is_relative_to(self.build)]
                if programs:
                    path = os.path.relpath(self.build / programs[0], self.build)
                    found[test["name"]] = (test["cmd"], test["env"], path)
        return found

    def make(self, paths):
        """Builds programs. Returns whether that went well."""
        return run(["ninja", "-C", self.build, *paths])[0] == 0

    def hash(self, path):
        return hashlib.sha256((self.build / path).read_bytes()).digest()

    def changed(self, path):
        return self.hash(path) != self.hashes[path]

    def judge(self, unit, cpu=resource.RLIM_INFINITY, **more):
        """(status, output) of a unit."""
        command, env, _ = self.tests[unit.test]
        env = {**SANITIZER, **os.environ, **env, **more}
        if unit.suite:
            env["CK_RUN_SUITE"] = unit.suite
        return run(command, self.build, env, cpu)

    def write(self, path, text):
        (self.folder / path).write_text(text)


# ---------------------------------------------------------------- measuring

def suites_of(copy, test):
    """The names of a program's suites, or "" alone."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.xml"
        status, output = copy.judge(Unit(test, "", ""), CK_XML_LOG_FILE_NAME=str(log))
        if status != 0:
            fail(f"test {test} fails without a mistake", output)
        text = log.read_text(errors="replace") if log.exists() else ""
    return re.findall(r"<title>(.*?)</title>", text) or [""]


def lines_run(copy, folder):
    """The lines of src and libs that were run, {file: lines}, from the counters in the folder."""
    counters = [str(p) for p in Path(folder).rglob("*.gcda") if re.search("/(src|libs)/", str(p))]
    for p in counters:  # gcov looks for the notes beside the counters
        notes = Path(p).with_suffix(".gcno")
        notes.symlink_to("/" / notes.relative_to(folder))
    output = subprocess.run(["gcov", "--json-format", "--stdout", *counters], cwd=folder,
                            capture_output=True, text=True, check=True).stdout if counters else ""
    ran = {}
    for line in output.splitlines():
        for file in json.loads(line)["files"]:
            name = os.path.relpath(os.path.join(copy.build, file["file"]), copy.folder)
            if name.startswith(("src/", "libs/")):
                ran.setdefault(name, set()).update(
                    x["line_number"] for x in file["lines"] if x["count"])
    return ran


class Measured:
    """The lines that each unit runs, and its time. A file keeps them for the same tree."""

    def __init__(self, tree, work):
        work.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        for name in files_of(tree):
            if name.startswith(("src/", "libs/", "tests/", "include/")):
                digest.update(name.encode() + (Path(tree) / name).read_bytes())
        self.file = work / "measured.json"
        self.data = json.loads(self.file.read_text()) if self.file.exists() else {}
        if self.data.get("tree") != digest.hexdigest():
            self.data = {"tree": digest.hexdigest(), "suites": {}, "units": [], "seconds": [],
                         "ran": {}}
        copy = Copy(tree, work / "counted", "counted")
        for test, (_, _, path) in copy.tests.items():
            suites = self.data["suites"]
            suites[test] = suites.get(test) or suites_of(copy, test)
            for suite in suites[test]:
                if [test, suite, path] not in self.data["units"]:
                    self.measure(copy, Unit(test, suite, path))
        self.units = [Unit(*u) for u in self.data["units"]]
        self.seconds = dict(zip(self.units, self.data["seconds"]))

    def measure(self, copy, unit):
        with tempfile.TemporaryDirectory() as folder:
            before = os.times()
            status, output = copy.judge(unit, GCOV_PREFIX=folder)
            after = os.times()
            if status != 0:
                fail(f"{unit} fails without a mistake", output)
            ran = lines_run(copy, folder)
        seconds = (after.children_user + after.children_system
                   - before.children_user - before.children_system)
        for name, lines in ran.items():
            for line in lines:
                every = self.data["ran"].setdefault(name, {})
                every.setdefault(str(line), []).append(len(self.data["units"]))
        self.data["units"].append(list(unit))
        self.data["seconds"].append(seconds)
        self.file.write_text(json.dumps(self.data))
        print(f"measured {unit.test} {unit.suite}: {seconds:.2f} s", flush=True)

    def order(self, path, line, near):
        """The units that run the line, or all if none is known to: quick ones first, then near ones."""
        of_line = self.data["ran"].get(path, {}).get(str(line))
        units = [self.units[i] for i in of_line] if of_line else self.units
        return sorted(units, key=lambda u: (self.seconds[u] > SLOW,
                                            near.index(u.test) if u.test in near else len(near),
                                            self.seconds[u]))


# ---------------------------------------------------------------- judging

def first_failure(output):
    """The first line of Check's that names a test that failed."""
    m = re.search(r"^\S+:\d+:[FE]:\S+?:(\w+):\d+: (.*)$", output, re.M)
    return f"{m.group(1)}: {m.group(2)[:80]}" if m else output.strip()[-80:]


def try_mistake(copy, path, before, after, units, seconds):
    """(verdict, by, what): verdict is refused, same, caught or survived."""
    copy.write(path, after)
    verdict, made = "same", set()
    try:
        for unit in units:
            if unit.path not in made:  # the nearest program alone, then the others together
                paths = {u.path for u in units} if made else {unit.path}
                if not copy.make(paths):
                    return "refused", "", ""
                made |= paths
            if not copy.changed(unit.path):
                continue
            verdict = "survived"
            status, output = copy.judge(unit, int(ENDLESS + ENDLESS * seconds[unit]),
                                        CK_DEFAULT_TIMEOUT=str(int(60 + 20 * seconds[unit])))
            if status != 0:
                return "caught", " ".join(filter(None, [unit.test, unit.suite])), \
                    first_failure(output)
        return verdict, "", ""
    finally:
        copy.write(path, before)
