"""NamespaceType=namespace/tmpfs: a /tmp of its own for each job on each of its nodes (job_container.conf(5), the namespace guide). Two users, and
what users leave: test/security/test_job_container.py.

The directory that is private here is not /tmp, where these tests live.
"""
import os
import shutil
import signal
import subprocess
import tempfile

import pytest

from harness import until
from test_devices import needs_root

pytestmark = [pytest.mark.better_than_slurm, needs_root]


def may_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class Place:
    """Folders that root alone changes: where the private directories are kept, and the one that is private."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mt-", dir="/run")
        os.chmod(self.folder, 0o755)
        self.scratch = self.folder + "/scratch"
        os.mkdir(self.scratch)
        os.chmod(self.scratch, 0o1777)
        with open(self.scratch + "/of-the-node", "w"):
            pass

    def base(self, node="n1"):
        return self.folder + "/" + node

    def jobs(self, node="n1"):
        """What is in BasePath; a job's directory until it is gone, and what is still to be removed."""
        return sorted(os.listdir(self.base(node)))

    def kept(self, job, node="n1"):
        return "%s/%d/%s" % (self.base(node), job, self.scratch.replace("/", "_"))

    def remove(self):
        for name in os.listdir(self.folder):
            for sub in os.listdir(self.folder + "/" + name) if os.path.isdir(self.folder + "/" + name) else []:
                for end in ("", ".pid", ".user"):
                    subprocess.run(["umount", "-l", "%s/%s/%s/.ns%s" % (self.folder, name, sub, end)], capture_output=True)
            subprocess.run(["umount", "-l", self.folder + "/" + name], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def place():
    if not may_mount():
        pytest.skip("root may not mount here")
    one = Place()
    yield one
    one.remove()


def private(cluster, place, more="", keys=""):
    cluster.conf_lines += ["NamespaceType=namespace/tmpfs", "PrologFlags=Contain"]
    cluster.write_lines()
    with open(os.path.join(cluster.folder, "etc", "job_container.conf"), "w") as f:
        f.write("AutoBasePath=true BasePath=%s/%%n Dirs=%s,/dev/shm %s\n%s" % (place.folder, place.scratch, keys, more))
    return cluster


def test_each_job_has_its_own_on_each_node(make_cluster, place):
    cluster = private(make_cluster(start=False, nodes=2, gpus=0), place).start()
    cluster.file("file", "broadcast\n")
    script = cluster.file("script", """#!/bin/bash
stat -c '%%a %%U' %(scratch)s /dev/shm
ls -A %(scratch)s /dev/shm/ | grep -c .
echo script > %(scratch)s/by-script; echo shm > /dev/shm/by-script
srun -N2 -n2 bash -c 'echo $SLURMD_NODENAME > %(scratch)s/by-step; ls %(scratch)s | xargs echo $SLURMD_NODENAME' | sort
srun -w $SLURMD_NODENAME -N1 -n1 bash -c 'cat %(scratch)s/by-script /dev/shm/by-script'
sbcast file %(scratch)s/cast && srun -N2 -n2 cat %(scratch)s/cast
srun -N1 -n1 --chdir=%(scratch)s pwd
until [ -e go ]; do sleep 0.1; done
""" % vars(place))
    job = cluster.sbatch("-N2", "-o", cluster.work + "/out", script)
    until("its files", lambda: cluster.read("out").count("\n") == 10 if os.path.exists(cluster.work + "/out") else False)
    assert cluster.read("out").splitlines() == ["700 root", "700 root", "2", "n1 by-script by-step", "n2 by-step", "script", "shm",
                                                "broadcast", "broadcast", place.scratch], cluster.read("out")
    other = cluster.ok("srun", "-n1", "-w", "n1", "bash", "-c", "ls -A %s /dev/shm" % place.scratch)
    assert "by-" not in other.out and "of-the-node" not in other.out
    assert os.listdir(place.scratch) == ["of-the-node"] and not os.path.exists("/dev/shm/by-script")
    for node in cluster.names:
        assert sorted(os.listdir(place.kept(job, node)))[-1] in ("by-step", "cast")
        assert os.stat("%s/%d" % (place.base(node), job)).st_mode & 0o777 == 0o700
    cluster.file("go", "")
    cluster.wait_job(job)
    for node in cluster.names:
        until("nothing to be left on " + node, lambda: place.jobs(node) == [])
    assert os.listdir(place.scratch) == ["of-the-node"]


def test_files_and_terminals_of_steps_are_in_it(make_cluster, place):
    for keys in ("", "EntireStepInNS=true"):
        cluster = private(make_cluster(start=False, nodes=1, gpus=0), place, keys=keys).start()
        job = cluster.sbatch("-o", place.scratch + "/out", "--wrap", "echo to the file; cp %s/out %s/copy; until [ -e go ]; do "
                             "sleep 0.1; done" % (place.scratch, cluster.work))
        until("the output", lambda: cluster.read("copy") == "to the file\n")
        assert os.listdir(place.kept(job)) == ["out"] and os.listdir(place.scratch) == ["of-the-node"]
        terminal = cluster.ok("srun", "-n1", "--pty", "bash", "-c", "tty >/dev/null && ls -A " + place.scratch)
        assert terminal.out.strip() == ""
        inside = cluster.ok("salloc", "-n1", "srun", "bash", "-c", "echo > %s/x; ls %s" % (place.scratch, place.scratch))
        assert inside.out == "x\n"
        # srun's own socket: in the node's directory, and in that of a job.
        outside = cluster.ok("env", "TMPDIR=" + place.scratch, "srun", "-n1", "echo", "reached")
        assert outside.out == "reached\n"
        inside = cluster.ok("salloc", "-n1", "srun", "-n1", "bash", "-c", "export TMPDIR=%s; srun --overlap -n1 echo reached; ls -A $TMPDIR" %
                            place.scratch)
        assert inside.out == "reached\n"
        cluster.file("go", "")
        cluster.wait_job(job)
        until("nothing to be left", lambda: place.jobs() == [])
        cluster.stop()
        os.unlink(cluster.work + "/go")


def test_it_outlives_slurmd_and_goes_though_nobody_was_there(make_cluster, place):
    cluster = private(make_cluster(start=False, nodes=1, gpus=0), place).start()

    def restart(meanwhile=lambda: None):
        cluster.slurmds["n1"].kill()
        cluster.slurmds["n1"].wait()
        meanwhile()
        cluster.start_slurmd("n1")
        cluster.wait_nodes("idle|mixed|allocated")

    stays = cluster.sbatch("-n1", "-o", cluster.work + "/out", "--wrap", "echo mine > %s/mine; touch up; until [ -e go ]; do sleep 0.1; done; "
                           "srun cat %s/mine" % (place.scratch, place.scratch))
    dies = cluster.sbatch("-n1", "-o", "/dev/null", "--no-requeue", "--wrap", "touch %s/x; sleep 600" % place.scratch)
    until("both", lambda: os.path.exists(cluster.work + "/up") and os.path.exists(place.kept(dies) + "/x"))

    def end_the_other():
        for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
            pid, _, args = line.strip().partition(" ")
            if args.strip() in ("slurmstepd: [%d.batch]" % dies, "slurmstepd: [%d.extern]" % dies):
                os.kill(int(pid), signal.SIGKILL)
    restart(end_the_other)
    until("the other's to be gone", lambda: place.jobs() == [str(stays)])
    cluster.file("go", "")
    cluster.wait_job(stays)
    assert cluster.read("out") == "mine\n"
    until("nothing to be left", lambda: place.jobs() == [])


def test_the_scripts_of_the_site(make_cluster, place):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    say = "echo $0 $SLURM_JOB_ID ${SLURM_NS:-none} >> %s/said\n" % cluster.work
    init = cluster.script("init", "#!/bin/bash\n[ -e %s/bad ] && { echo no room; exit 3; }\n%s" % (cluster.work, say))
    after = cluster.script("after", "#!/bin/bash\n%s/usr/bin/nsenter --mount=$SLURM_NS touch %s/by-site\n" % (say, place.scratch))
    epilog = cluster.script("epilog", "#!/bin/bash\n%s/usr/bin/nsenter --mount=$SLURM_NS ls %s >> %s/said\n" %
                            (say, place.scratch, cluster.work))
    private(cluster, place, keys="InitScript=%s CloneNSScript=%s CloneNSEpilog=%s CloneNSScript_Wait=5" % (init, after, epilog)).start()
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "ls %s; touch %s/by-job" % (place.scratch, place.scratch))
    cluster.wait_job(job)
    assert cluster.read("out") == "by-site\n"
    until("nothing to be left", lambda: place.jobs() == [])
    held = "%s/%d/.ns" % (place.base(), job)
    assert cluster.read("said").splitlines() == ["%s %d none" % (init, job), "%s %d %s" % (after, job, held), "%s %d %s" % (epilog, job, held),
                                                 "by-job", "by-site"]
    cluster.file("bad", "")
    job = cluster.sbatch("-o", cluster.work + "/never", "--wrap", "true")
    cluster.wait_nodes(r"drain(ed|ing)\*?")
    assert "InitScript %s: exit code 3: no room" % init in cluster.ok("scontrol", "show", "node", "n1").out
    assert not os.path.exists(cluster.work + "/never"), "nothing runs outside"


def test_none_is_for_nodes_without(make_cluster, place):
    cluster = private(make_cluster(start=False, nodes=2, gpus=0), place, more="NodeName=n2 BasePath=none\n").start()
    assert cluster.ok("srun", "-n1", "-w", "n1", "ls", place.scratch).out == ""
    assert cluster.ok("srun", "-n1", "-w", "n2", "ls", place.scratch).out == "of-the-node\n"
    assert not os.path.exists(place.base("n2"))


@pytest.mark.parametrize("line, why", [
    ("", "BasePath: is not set for node n1"),
    ("BasePath=%(folder)s/absent Dirs=/dev/shm", "BasePath: %(folder)s/absent: No such file or directory"),
    ("BasePath=%(scratch)s Dirs=/dev/shm", "others may write to it"),
    ("AutoBasePath=true BasePath=%(folder)s/link Dirs=/dev/shm", "goes through a symbolic link"),
    ("AutoBasePath=true BasePath=%(folder)s/n1 Dirs=%(folder)s/link", "Dirs: %(folder)s/link: goes through a symbolic link"),
    ("AutoBasePath=true BasePath=%(folder)s/n1 Dirs=/tmp", "SlurmdSpoolDir"),
])
def test_a_node_that_cannot_have_them_does_not_start(make_cluster, place, line, why):
    os.symlink(place.scratch, place.folder + "/link")
    cluster = private(make_cluster(start=False, nodes=1, gpus=0), place)
    with open(os.path.join(cluster.folder, "etc", "job_container.conf"), "w") as f:
        f.write(line % vars(place) + "\n")
    slurmd = cluster.spawn("slurmd", "-D", "-N", "n1", "-f", cluster.conf_path)
    assert slurmd.wait(20) != 0
    with open(os.path.join(cluster.folder, "log", "slurmd.out")) as f:
        said = f.read()
    assert why % vars(place) in said, said
