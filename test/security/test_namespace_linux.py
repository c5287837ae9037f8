"""NamespaceType=namespace/linux: a user's job is all of the machine's processes that he meets in it; he does not get out, and what the site's scripts and
first process have, root's rights, is not his. The directories: test_job_container.py."""
import os
import shutil
import subprocess

import pytest

import test_job_container as directories
from conftest import new_folder
from harness import until

pytestmark = directories.pytestmark


class Site(directories.Site):
    def __init__(self, folder):
        super().__init__(folder)
        os.unlink(os.path.join(folder, "etc", "job_container.conf"))
        self.conf_lines = [line.replace("namespace/tmpfs", "namespace/linux") for line in self.conf_lines]
        self.write_lines()
        with open(os.path.join(folder, "etc", "namespace.yaml"), "w") as f:
            f.write("defaults: {auto_base_path: true, base_path: %s, dirs: [%s, /dev/shm], clone_ns_flags: [CLONE_NEWPID, CLONE_NEWUSER]}\n" %
                    (self.base, self.scratch))


@pytest.fixture(scope="module")
def site():
    folder = new_folder()
    one = Site(folder)
    try:
        yield one.start()
    finally:
        one.stop()
        shutil.rmtree(folder, ignore_errors=True)


def first_of(job):
    title = "slurmstepd: [%d.namespace]" % job
    for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
        if line.strip().split(None, 1)[1] == title:
            return int(line.split()[0])
    return None


def test_nobody_sees_or_signals_what_is_not_his_jobs(site):
    secret = "SECRET%d" % os.getpid()
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "bash -c 'exec -a %s sleep 600'" % secret)
    until("its process", lambda: subprocess.run(["pgrep", "-f", "^" + secret], capture_output=True).returncode == 0)
    pid = int(subprocess.run(["pgrep", "-f", "^" + secret], capture_output=True, text=True).stdout.split()[0])
    for who in (site.a, site.b):
        seen = who.run("srun", "-n1", "bash", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; ls /proc")
        assert seen.code == 0 and secret not in seen.out and str(pid) not in seen.out.split(), who.name
        assert "slurmctld" not in seen.out and "slurmd " not in seen.out
        for attempt in ("kill -9 %d" % pid, "kill -9 1", "cat /proc/%d/environ" % pid, "nsenter -t %d -a true" % pid):
            assert who.run("srun", "-n1", "bash", "-c", attempt).code != 0, attempt
        who.run("srun", "-n1", "bash", "-c", "kill -9 -1")  # himself, at most
    assert os.path.exists("/proc/%d" % pid) and first_of(job)
    site.a.ok("scancel", str(job))
    directories.emptied(site)
    assert first_of(job) is None


OUT = """
nsenter -t 1 -a id
nsenter -t 1 -m id
nsenter -t 1 -p id
nsenter -t 1 -U id
cat /proc/1/environ
ls /proc/1/root/
ls /proc/1/fd
readlink /proc/1/exe
umount /proc
umount -l %(scratch)s
mount -t proc proc /proc
mount --bind / %(scratch)s
mount -o remount,rw /proc
echo 0 0 1 > /proc/self/uid_map
ls %(base)s/$SLURM_JOB_ID
gdb -p 1 -batch
"""


def test_there_is_no_way_out(site):
    for attempt in OUT.strip().splitlines():
        tried = site.b.run("srun", "-n1", "bash", "-c", attempt % vars(site))
        assert tried.code != 0 and "uid=0" not in tried.out, attempt
    # One's own namespaces of users are allowed, as everywhere; in them, what is mounted over the node's own cannot be taken off.
    inner = site.b.run("srun", "-n1", "unshare", "-Urm", "bash", "-c", "umount -l /proc; umount -l %s; ls /proc | grep -c '^[0-9]'; ls -A %s" %
                       (site.scratch, site.scratch))
    if "Operation not permitted" not in inner.err or inner.out:
        assert int(inner.out.split()[0]) < 10, inner
    directories.emptied(site)


def test_rights_are_in_no_process_of_the_users(site):
    caps = site.b.ok("srun", "-n1", "grep", "-E", "^Cap(Inh|Prm|Eff|Amb)|^Uid|^Gid", "/proc/self/status").out
    for line in caps.splitlines():
        name, *values = line.split()
        if name.startswith("Cap"):
            assert int(values[0], 16) == 0, caps
        else:
            assert len(set(values)) == 1 and values[0] != "0", caps
    # Nor on the way to his program: a directory that he may not enter, and one of another's.
    closed = site.place + "/closed"
    os.mkdir(closed, 0o700)
    with open(closed + "/secret", "w") as f:
        f.write("secret")
    for options in (["--chdir=" + closed, "cat", "secret"], ["-i", closed + "/secret", "cat"], ["-o", closed + "/out", "true"], [closed + "/secret"]):
        tried = site.b.run("srun", "-n1", *options)
        assert "secret" not in tried.out.replace(closed, ""), options
    assert os.listdir(closed) == ["secret"]


def test_processes_that_do_not_want_to_end(site):
    """Many, detached, stopped, forking: the end of the job is the end of them all, and its slurmstepd is not kept by any."""
    script = site.b.file("hydra", """#!/bin/bash
for i in 1 2 3 4 5; do
  setsid bash -c 'trap "" TERM INT HUP; while :; do env -i setsid sleep 31.%d & sleep 0.2; done' >/dev/null 2>&1 </dev/null &
done
setsid bash -c 'kill -STOP $$' &
touch hydra.up
sleep 600
""" % (os.getpid() % 1000), 0o755)
    job = site.b.sbatch("-o", "/dev/null", script)
    home = os.path.dirname(script)
    until("it to be up", lambda: os.path.exists(home + "/hydra.up"))
    site.b.ok("scancel", str(job))
    directories.emptied(site)
    until("nothing to be left", lambda: subprocess.run(["pgrep", "-f", "sleep 31.%d" % (os.getpid() % 1000)], capture_output=True).returncode == 1)
    site.wait_nodes("idle")
    assert first_of(job) is None
