"""Adds to pyproject.toml: the version of heed, and heed.c, from which the kernel compiles heed where none is
installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py

HEED = pathlib.Path(__file__).resolve().parents[2]


class WithHeed(build_py):
    def run(self):
        super().run()
        if shutil.which("cc"):
            subprocess.run([sys.executable, HEED / "tools/amalgamate", f"{self.build_lib}/heed_kernel"], check=True)


with tempfile.TemporaryDirectory() as outside: # nothing is built in the tree
    setup(version=re.search(r"^  version: '(.*)',", (HEED / "meson.build").read_text(), re.M)[1],
          cmdclass={"build_py": WithHeed}, options={"build": {"build_base": outside}, "egg_info": {"egg_base": outside}})
