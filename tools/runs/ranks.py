"""Starts a program on several ranks, with the mpirun of the MPI that it is linked with, and finds and ends every
process that mpirun started: for run_ranks, kill_train_gpt and mpi_suppressions.

It finds the processes by a variable in their environment, which they inherit from mpirun. Process groups do not
suffice, because some versions of mpirun put their ranks into other groups. Without /proc it knows only the group of
mpirun itself.
"""
import os
import re
import shutil
import signal
import subprocess
import time
import uuid

from patience import PATIENCE

TAG = "HEED_RANKS_RUN"
LAUNCHERS = {
    # the library's name, the possible names of its mpirun, a word of the version that mpirun prints
    "openmpi": (r"libmpi\.so\.[4-9]\d", ("mpirun.openmpi", "mpirun"), "Open MPI"),
    "mpich": (r"libmpich\.so|libmpi\.so\.12", ("mpirun.mpich", "mpiexec.hydra", "mpirun"), "HYDRA"),
}
# For Open MPI: root may start ranks, a machine may have more ranks than cores, ranks of one container
# may not read each other's memory, and no other machine is used.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm_rsh_agent": "false",
    "HEED_THREADS": "1",
}
# The options of valgrind, under which each rank runs. valgrind does not know AVX-512.
VALGRIND = ("--leak-check=full", "--show-leak-kinds=definite,possible", "--num-callers=40",
            "--errors-for-leak-kinds=definite,possible", "--keep-debuginfo=yes")
FOR_VALGRIND = {"HEED_CPU": "baseline", "HEED_CACHE": "0", "HWLOC_COMPONENTS": "-x86"}
RANK_NAMES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK")


def libraries_of(program):
    run = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return run.stdout


def kind_of(program):
    """"openmpi", "mpich", or None for a program with another MPI, or with none."""
    libraries = libraries_of(program)
    for kind, (library, _, _) in LAUNCHERS.items():
        if re.search(library, libraries):
            return kind
    return None


def packages_of(kind):
    """The packages of Debian that have its mpirun; None: those of an MPI to build with."""
    return {"openmpi": "openmpi-bin", "mpich": "mpich"}.get(kind, "libopenmpi-dev openmpi-bin")


def mpirun_of(kind):
    """The path of the mpirun that starts ranks of this kind, or None."""
    _, names, version = LAUNCHERS[kind]
    for name in names:
        path = shutil.which(name)
        if path and version in subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True,
                                              stderr=subprocess.STDOUT).stdout:
            return path
    return None


class Run:
    """The processes of one call of mpirun; kind None: of the command alone, as it is."""

    def __init__(self, kind, ranks, command, environment=None, **more):
        options = ["--oversubscribe", "--bind-to", "none"] if kind == "openmpi" else []
        launcher = [mpirun_of(kind), *options, "-n", str(ranks)] if kind else []
        variables = {**ENVIRONMENT, **os.environ, "HEED_THREADS": "1"} if kind else os.environ
        self.tag = uuid.uuid4().hex
        self.mpirun = subprocess.Popen(
            [*launcher, *command], start_new_session=True, stdin=subprocess.DEVNULL,
            env={**variables, **(environment or {}), TAG: self.tag}, **more)

    def processes(self):
        """{pid: the number of its rank, or None} of all that live."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    variables = dict(v.split("=", 1) for v in f.read().decode("utf-8", "replace").split("\0")
                                     if "=" in v)
            except OSError:
                continue
            if variables.get(TAG) == self.tag:
                rank = next((variables[name] for name in RANK_NAMES if name in variables), None)
                found[int(pid)] = int(rank) if rank is not None else None
        return found

    def left(self, seconds=PATIENCE):
        """The processes that are still alive after at most `seconds`."""
        end = time.monotonic() + seconds
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        return self.processes()

    def kill(self):
        """Ends all processes; also those that begin meanwhile."""
        while True:
            living = self.processes()
            for pid in living:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                os.killpg(self.mpirun.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            self.mpirun.poll()
            if not living:
                return
            time.sleep(0.02)

    def wait(self, seconds=PATIENCE):
        """The status of mpirun; None if it did not end in time."""
        try:
            return self.mpirun.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
