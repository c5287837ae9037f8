"""What the tests of `srun --mpi` share: the programs, and what a step must not leave behind."""
import glob
import os

import harness

PROGRAMS = os.path.join(harness.REPO, "test", "cluster", "programs")


def command_line(pid):
    try:
        with open("/proc/%s/cmdline" % pid) as f:
            return f.read()
    except OSError:
        return ""


def is_module(pid, folder):
    """An MPI module whose files are below `folder`."""
    line = command_line(pid)
    return "/mpi_pm" in line and folder in line


def modules(folder):
    return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if is_module(pid, folder)]


def left_behind(cluster):
    """Directories of modules, and modules that run."""
    return glob.glob(cluster.folder + "/spool/*/mpi.*") + [command_line(pid) for pid in modules(cluster.folder)]


def nothing_left(cluster):
    """A step's last word comes before its directory goes."""
    harness.until(lambda: "nothing to be left: %s" % left_behind(cluster), lambda: not left_behind(cluster))
