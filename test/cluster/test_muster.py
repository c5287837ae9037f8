"""`muster up`: one command to a cluster, as root and as anybody else."""
import contextlib
import os
import pwd
import re
import shutil
import sqlite3
import subprocess

import pytest

import harness
from conftest import new_folder

pytestmark = pytest.mark.better_than_slurm


def listening(folder):
    """The addresses at which the daemons of a cluster listen, in hexadecimal."""
    sockets = set()
    for name in os.listdir(folder):
        if not name.endswith(".pid"):
            continue
        with open(os.path.join(folder, name)) as f:
            descriptors = "/proc/%s/fd" % f.read().strip()
        for number in os.listdir(descriptors):
            with contextlib.suppress(FileNotFoundError):     # closed meanwhile
                target = re.match(r"socket:\[(\d+)\]", os.readlink(os.path.join(descriptors, number)))
                sockets |= {target.group(1)} if target else set()
    rows = [line.split() for table in ("/proc/net/tcp", "/proc/net/tcp6") for line in open(table).readlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


def as_nobody():
    user = pwd.getpwnam("nobody")
    return ["setpriv", "--reuid=%d" % user.pw_uid, "--regid=%d" % user.pw_gid, "--clear-groups"], user


@pytest.mark.parametrize("who", ["me", "nobody"])
def test_up_run_down(who):
    folder = new_folder()
    prefix, name = [], None
    if who == "nobody":
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            pytest.skip("only root can become nobody")
        prefix, user = as_nobody()
        name = user.pw_name
        os.chown(folder, user.pw_uid, user.pw_gid)
    env = {"HOME": folder, "PATH": harness.prefix() + "/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "SHELL": "/bin/bash"}

    def run(*args, **more):
        return subprocess.run([*prefix, *args], env={**env, **more}, cwd=folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
    try:
        up = run("muster", "up", "--nodes", "2", "--gpus-per-node", "4", "--gpu-type", "a100")
        assert up.returncode == 0, up
        conf = re.search(r"export SLURM_CONF=(\S+)", up.stdout).group(1)
        assert listening(os.path.join(os.path.dirname(conf), "run")) == {"0100007F"}   # 127.0.0.1, for all of them
        nodes = run("sinfo", "-h", "-o", "%D %T %G", SLURM_CONF=conf)
        assert nodes.stdout == "2 idle gpu:a100:4\n", nodes
        job = run("sbatch", "--wait", "-N2", "--gpus-per-node=4", "-o", "out", "--wrap",
                  "echo $SLURM_JOB_NODELIST $CUDA_VISIBLE_DEVICES; id -un", SLURM_CONF=conf)
        assert job.returncode == 0, job
        with open(folder + "/out") as f:
            lines = f.read().splitlines()
        assert re.fullmatch(r"\S+\[1-2\] 0,1,2,3", lines[0]), lines
        assert lines[1] == (name or pwd.getpwuid(os.getuid()).pw_name)
        status = run("muster", "status")
        assert status.returncode == 0 and "slurmdbd runs" in status.stdout and "2 of 2 nodes" in status.stdout, status

        def recorded():
            db = sqlite3.connect("file:%s/state/accounting.db?mode=ro" % os.path.dirname(conf), uri=True)
            try:
                return db.execute("SELECT state FROM muster_jobs").fetchall() == [(3,)]      # COMPLETED
            finally:
                db.close()
        harness.until("the job's record", recorded)
        again = run("muster", "up")
        assert again.returncode == 1 and "already up" in again.stderr, again
        down = run("muster", "down")
        assert down.returncode == 0, down
        assert run("muster", "status").returncode == 1
        gone = run("sinfo", SLURM_CONF=conf)
        assert gone.returncode == 1 and "Unable to contact slurm controller (connect failure)" in gone.stderr, gone
    finally:
        run("muster", "down")
        harness.remove(folder)
