"""A session: compiles cells, has the host run them, and keeps what they have defined."""
import codecs
import os
import re
import selectors
import signal
import socket
import subprocess
import tempfile

from .cells import between_conditions, file_of
from .find import HERE, CellError, compiler, heed, run

# A compiler's lines about a cell, or about a header beside the notebook
OWN_LINE = re.compile(r"(In\[\d+\]|[^/\s:]+):\d+: ")


class Session:
    def __init__(self):
        self.made = tempfile.TemporaryDirectory(prefix="heed-")
        self.folder, self.known, self.number = self.made.name, {}, 0
        self.control = self.running = None

    def run(self, source, cell, say):
        """Runs a cell, and returns the kind and the text of its value, or None. say(stream, text) gets what it prints.
        A cell that fails or is interrupted is undone, and the CellError says why."""
        try:
            if not self.control:
                self.start(say)
            known, self.number = dict(self.known), self.number + 1
            text, forgotten = file_of(known, source, self.number, cell)
            local = sorted(set(between_conditions(source)))
            if local:
                say("stderr", f"{cell}: later cells do not see the definitions between #if and #endif: "
                              f"{', '.join(local)}\n")
            warnings = self.compile(text).splitlines(keepends=True)
            say("stderr", "".join(line for line in warnings if line.startswith(cell + ":")))
        except KeyboardInterrupt:
            raise CellError(f"{cell}: interrupted") from None
        self.execute(cell, say)
        self.known = known
        if forgotten:
            cells = ", ".join(sorted({f"{d.cell} ({name})" for name, d in forgotten.items()}))
            say("stderr", f"{cell} changes what earlier cells use. Run these cells again: {cells}\n")
        return self.shown()

    def close(self):
        """Ends the session, also while a cell runs."""
        self.end_host()
        self.made.cleanup()

    def end_host(self):
        """Closes the host's standard input, at whose end it kills all processes of the session."""
        if self.control:
            self.host.stdin.close()
            self.host.wait()
        self.control = self.running = None

    def start(self, say):
        """Compiles the host and starts it."""
        headers, libraries = heed(say)
        self.cc = [*compiler(), *headers, "-I" + HERE, "-I."]
        host = f"{self.folder}/host"
        run([*self.cc, f"{HERE}/host.c", "-o", host, "-rdynamic", *libraries, "-lm", "-ldl"])
        control, theirs = socket.socketpair()
        with theirs:
            self.host = subprocess.Popen([host, str(theirs.fileno()), self.folder], stdin=subprocess.PIPE, bufsize=0,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[theirs.fileno()])
        self.control, self.lines, self.known = control, b"", {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)
        for name in ("stdout", "stderr"):
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            self.selector.register(getattr(self.host, name), selectors.EVENT_READ, (name, decode))

    def compile(self, text):
        """Compiles a cell, and returns the warnings, also those of earlier cells."""
        path = f"{self.folder}/cell_{self.number}"
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write('#include "cell.h"\n' + text)
        try:
            return self.tidy(run([*self.cc, "-shared", path + ".c", "-o", path + ".so"]))
        except CellError as error:
            raise CellError(self.tidy(str(error)) or str(error)) from None

    def tidy(self, lines):
        """The compiler's lines about cells, each once. TinyCC puts the folder before the name of the cell."""
        lines = lines.replace(self.folder + "/In[", "In[").splitlines(keepends=True)
        return "".join(dict.fromkeys(line for line in lines if OWN_LINE.match(line) and not re.search(
            "HEED_|each undeclared identifier is reported", line)))

    def execute(self, cell, say):
        """Has the host run the cell that was compiled last. A cell that an interrupt does not end in a second is killed."""
        try:
            self.control.sendall(b"%d\n" % self.number)
        except BrokenPipeError:
            raise self.lost() from None
        interrupted, line = False, ""
        while not line.startswith(("done", "ended")):
            try:
                line = self.listen(say, 1 if interrupted else None)
                if line.startswith("run"):
                    self.running = int(line.split()[1])
                elif not line:
                    self.signal_cell(signal.SIGKILL)
            except KeyboardInterrupt:
                self.signal_cell(signal.SIGKILL if interrupted else signal.SIGINT)
                interrupted = True
        self.running = None
        self.listen(say, 0)
        if line != "done":
            _, status, at = line.split()
            kind, text = self.shown() or ("", "")
            if kind != "error":
                text = ended(int(status), interrupted)
            text = re.sub(r".*undefined symbol: (\w+?)(__\d+)?$", r"no cell and no library defines \1", text)
            raise CellError(f"{cell}{':' + at if at != '0' else ''}: {text}\nThe cell is undone.")

    def listen(self, say, seconds):
        """Passes on what the cell prints, until the host writes a line, or until nothing comes for so many seconds."""
        while b"\n" not in self.lines:
            ready = self.selector.select(seconds)
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if key.data:
                    say(key.data[0], key.data[1](data))
                elif data:
                    self.lines += data
                else:
                    raise self.lost()
            if not ready:
                return ""
        line, _, self.lines = self.lines.partition(b"\n")
        return line.decode()

    def lost(self):
        self.end_host()
        return CellError("The session has ended. Run the cells again, from the first one.")

    def signal_cell(self, number):
        """Sends SIGINT to the whole session, in which only the cell and what it has started do not ignore it, or SIGKILL to
        the cell alone."""
        process = -self.host.pid if number == signal.SIGINT else self.running
        try:
            if process:
                os.kill(process, number)
        except ProcessLookupError:
            pass

    def shown(self):
        """The kind and the text that the cell has shown, or None."""
        try:
            with open(f"{self.folder}/shown", encoding="utf-8", errors="replace") as f:
                kind, _, text = f.read().partition("\n")
        except FileNotFoundError:
            return None
        os.remove(f"{self.folder}/shown")
        return kind, text


def ended(status, interrupted):
    """Why a cell did not come to its end, from the status of its process."""
    if interrupted or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
        return "interrupted"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"the cell was ended by {signal.Signals(number).name} ({signal.strsignal(number)})"
    return f"the cell ended the program, with exit status {os.WEXITSTATUS(status)}"
