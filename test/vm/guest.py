"""What the tests in the machine share: commands as root and as a user, units, groups of the unified hierarchy."""
import os
import re
import subprocess
import sys
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPO, "test", "cluster"))
from harness import SLOW, Result, until  # noqa: E402,F401

USER, UID, HOME = "alice", 4711, "/home/alice"
ETC, LOGS = "/etc/slurm", "/var/log/slurm"
UNITS = ("munge", "slurmdbd", "slurmctld", "slurmd")
TREE = "/sys/fs/cgroup"
SCOPE = "system.slice/slurmstepd.scope"
PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL")


def spawn(*args, user=USER, **kw):
    who = {"user": UID, "group": UID, "extra_groups": []} if user == USER else {}
    return subprocess.Popen(args, cwd=HOME, env={"PATH": PATH, "HOME": HOME, "USER": user, "LANG": "C.UTF-8", "TERM": "dumb"},
                            text=True, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **who, **kw})


def run(*args, user=USER, timeout=60):
    began = time.monotonic()
    process = spawn(*args, user=user)
    try:
        out, err = process.communicate(timeout=timeout * SLOW)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += "\n(no end after %.0f s)" % (timeout * SLOW)
    return Result(args, process.returncode, out, err, time.monotonic() - began)


def ok(*args, **kw):
    result = run(*args, **kw)
    assert result.code == 0, result
    return result


def root(*args, **kw):
    return ok(*args, user="root", **kw)


def unit(name, *properties):
    """{property: value} as systemd has them."""
    out = root("systemctl", "show", name, *("-p" + p for p in properties)).out
    return dict(line.split("=", 1) for line in out.splitlines())


def main_pid(name):
    return int(unit(name, "MainPID")["MainPID"])


def journal(name):
    return root("journalctl", "--no-pager", "-u", name).out


def write(path, text, mode=0o644, owner=None):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    if owner:
        os.chown(path, owner, owner)
    return path


def read(path):
    with open(path) as f:
        return f.read()


# ---- jobs
def sbatch(*args):
    return int(ok("sbatch", "--parsable", *args).out)


def job(number):
    return dict(re.findall(r"(\S+?)=(\S*)", ok("scontrol", "-o", "show", "job", str(number)).out))


def wait_job(number, state="COMPLETED"):
    def there():
        now = job(number)
        assert now["JobState"] == state or now["JobState"] not in ENDED, now
        return now["JobState"] == state and now
    return until(lambda: "job %s to be %s: %s" % (number, state, job(number)), there, 60)


def in_state(number, state):
    return until(lambda: "job %s to be %s: %s" % (number, state, job(number)), lambda: job(number)["JobState"] == state, 60)


def wait_idle():
    until(lambda: "an idle node: %s" % ok("scontrol", "show", "node", "vm").out,
          lambda: ok("sinfo", "-h", "-o", "%T").out.strip() == "idle", 90)


# ---- groups
def group_of(pid):
    return re.fullmatch(r"0::/(.*)\n", read("/proc/%s/cgroup" % pid))[1]


def group(number, step=None):
    return "%s/%s/job_%d%s" % (TREE, SCOPE, number, "" if step is None else "/step_%s" % step)


def pids_in(path):
    """Of the group and those below it; none where there is no such group."""
    return [int(p) for folder, _, _ in os.walk(path) for p in read(folder + "/cgroup.procs").split()]
