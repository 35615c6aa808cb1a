"""Facts that all pages need: the names, the version, the date, and the list of input files."""
import os
import time

from headers import index_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Info:
    def __init__(self, root, headers, version):
        self.root, self.version, self.index = root, version, index_of(headers)
        self.wrong = []  # links that lead nowhere, which check_docs reports
        include = os.path.join(root, "include", "heed")
        self.read = [os.path.join(include, n) for n in sorted(os.listdir(include))]
        # The time of a reproducible build, or else that of the newest header.
        when = os.environ.get("SOURCE_DATE_EPOCH") or max(os.path.getmtime(p) for p in self.read)
        self.date = time.strftime("%B %d, %Y", time.gmtime(int(when))).replace(" 0", " ")

    def text(self, path):
        """The text of a file below the root."""
        full = os.path.join(self.root, path)
        self.read.append(full)
        with open(full, encoding="utf-8") as f:
            return f.read()
