"""Finds the compiler of the cells, and heed: by HEED_PATH, by pkg-config, or in the file heed.c beside this one."""
import glob
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = ("heed", "heed-viz", "heed-hf", "heed-config")


class CellError(Exception):
    """Why a cell did not run to its end, in a sentence or in the compiler's lines."""


def compiler():
    """The compiler that CC names, or TinyCC, which is the fastest, or cc, and its options."""
    command = shlex.split(os.environ.get("CC", "")) or [shutil.which("tcc") or shutil.which("cc") or ""]
    if not shutil.which(command[0]):
        raise CellError(f"CC names {command[0]}, which is not there." if command[0] else
                        "There is no C compiler. Install the package tcc or gcc, for example: apt install tcc")
    if os.path.basename(command[0]) == "tcc":
        return [*command, "-Wall"]
    return [*command, "-std=gnu11", "-g", "-O1", "-fPIC", "-Wall", "-Wl,--no-as-needed", "-fno-show-column",
            "-Werror=implicit-function-declaration"]


def heed(say):
    """The compiler's options for heed: those of the headers, and those of the libraries."""
    path = os.environ.get("HEED_PATH")
    if path:
        return from_folder(path, say)
    modules = [name for name in LIBRARIES if asked("--exists", name) is not None]
    if "heed" in modules:
        words = shlex.split(asked("--cflags", "--libs", *modules))
        return options([word for word in words if word.startswith("-I")],
                       [word for word in words if not word.startswith("-I")], "heed-viz" in modules)
    if os.path.exists(os.path.join(HERE, "heed.c")):
        return from_folder(HERE, say)
    raise CellError("heed is not found. Install it so that pkg-config knows it, or set HEED_PATH to its folder.")


def asked(*question):
    """What pkg-config says, or None."""
    try:
        done = subprocess.run(["pkg-config", *question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def from_folder(path, say):
    """heed in a prefix, in its source tree with the build in `build`, or in the files heed.c and heed.h."""
    path = os.path.abspath(path)
    built = os.path.exists(os.path.join(path, "build", "src", "libheed.so"))
    two_files = not built and os.path.exists(os.path.join(path, "heed.c"))
    if two_files:
        path = compiled(path, say)
    found = {}
    for folder in ("build/src", "build/libs/*", "lib", "lib64", "lib/*"):
        for file in glob.glob(f"{glob.escape(path)}/{folder}/libheed*.so"):
            if os.path.exists(file):
                found.setdefault(os.path.basename(file)[3:-3], os.path.dirname(file))
    if "heed" not in found:
        raise CellError(f"HEED_PATH is {path}. It has no libheed.so in build/src or lib, and no heed.c.")
    libraries = [word for name in LIBRARIES if name in found for word in ("-L" + found[name], "-l" + name)]
    return options([f"-I{path}/include"], libraries, two_files or "heed-viz" in found)


def options(headers, libraries, viz):
    paths = ["-Wl,-rpath," + word[2:] for word in libraries if word.startswith("-L")]
    return headers + ["-DHEED_HAVE_VIZ"] * viz, paths + libraries


def compiled(folder, say):
    """The prefix, in the user's cache, of the library that is compiled from heed.c. It is compiled once."""
    with open(os.path.join(folder, "heed.c"), "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:16]
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "heed")
    prefix = os.path.join(cache, version)
    if os.path.isdir(prefix):
        return prefix
    cc = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if not cc:
        raise CellError("heed.c needs GCC or Clang. Install the package gcc, for example: apt install gcc")
    say("stderr", "heed.c is compiled, which takes about a minute. Later sessions find the library.\n")
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as made:
        os.makedirs(f"{made}/new/include/heed")
        os.makedirs(f"{made}/new/lib")
        shutil.copy(f"{folder}/heed.h", f"{made}/new/include/heed")
        for header in ("viz", "hf"):
            with open(f"{made}/new/include/heed/{header}.h", "w", encoding="utf-8") as f:
                f.write("#include <heed/heed.h>\n")
        run([cc, "-O2", "-fPIC", "-shared", f"{folder}/heed.c", "-o", f"{made}/new/lib/libheed.so", "-lm", "-pthread"])
        try:
            os.rename(f"{made}/new", prefix)
        except OSError:
            pass  # another kernel was faster
    return prefix


def run(command):
    """Runs a compiler, and returns what it printed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if done.returncode:
        raise CellError(done.stdout or f"{command[0]} ended with status {done.returncode}")
    return done.stdout
