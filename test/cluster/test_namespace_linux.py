"""NamespaceType=namespace/linux (namespace.yaml, the namespace guide): what each job has for itself beyond directories. Those are test_job_container.py's;
two users, and what users try: test/security/test_namespace_linux.py. At the end, the scores of slurmd and slurmstepd (the FAQ)."""
import os
import re
import subprocess

import pytest

from harness import until
from test_devices import needs_root
from test_job_container import may_mount, place  # noqa: F401 (a fixture)

pytestmark = [pytest.mark.better_than_slurm, needs_root]
DEFAULTS = "defaults: {auto_base_path: true, base_path: %s/%%n, dirs: [%s, /dev/shm], %s}\n"
PROCESSES = "clone_ns_flags: [CLONE_NEWPID]"


def linux(cluster, place, keys=PROCESSES, more="", whole=None):
    cluster.conf_lines += ["NamespaceType=namespace/linux", "PrologFlags=Contain"]
    cluster.write_lines()
    with open(os.path.join(cluster.folder, "etc", "namespace.yaml"), "w") as f:
        f.write(whole or DEFAULTS % (place.folder, place.scratch, keys) + more)
    return cluster


def firsts(job):
    """The first processes of that job's namespaces, by their numbers on the node."""
    out = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[0]) for line in out if line.strip().split(None, 1)[1] == "slurmstepd: [%d.namespace]" % job]


def test_a_job_sees_its_own_processes_only(make_cluster, place):
    cluster = linux(make_cluster(start=False, nodes=2, gpus=0), place).start()
    script = cluster.file("script", """#!/bin/bash
ps -p 1 -o args= >> out.1
srun -N2 -n2 bash -c 'ps -p 1 -o args=' >> out.1
sleep 1000 & echo $! > sleeper
srun -w $SLURMD_NODENAME -N1 -n1 --overlap bash -c 'kill -0 $(cat sleeper) && echo seen' >> out.1
[ $SLURM_TASK_PID = $$ ] && echo itself >> out.1
until [ -e go ]; do sleep 0.1; done
""")
    job = cluster.sbatch("-N2", "-o", cluster.work + "/out", script)
    title = "slurmstepd: [%d.namespace]" % job
    until("its output", lambda: os.path.exists(cluster.work + "/out.1") and cluster.read("out.1").count("\n") == 5)
    assert cluster.read("out.1").splitlines() == [title] * 3 + ["seen", "itself"], cluster.read("out")
    # Another job does not see it; the node does, and knows it by other numbers.
    other = cluster.ok("srun", "-n1", "-w", "n1", "ps", "-eo", "args=")
    assert "sleep 1000\n" not in other.out and title not in other.out and "slurmd" not in other.out.replace("slurmstepd: [", ""), other.out
    assert len(firsts(job)) == 2
    listed = cluster.ok("scontrol", "listpids", str(job), "n1").lines[1:]
    assert listed and all(os.path.exists("/proc/%s" % line.split()[0]) for line in listed)
    cluster.ok("scancel", str(job))
    cluster.wait_job(job, "CANCELLED")
    until("its namespaces to be gone", lambda: firsts(job) == [] and place.jobs("n1") == place.jobs("n2") == [])


def test_the_end_of_the_job_ends_all_that_it_left(make_cluster, place):
    cluster = linux(make_cluster(start=False, nodes=1, gpus=0), place).start()
    mark = "%d" % (100000 + os.getpid())
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "setsid bash -c 'trap \"\" TERM; env -i sleep %s & env -i sleep %s & wait' & sleep 1; touch up"
                         % (mark, mark))
    until("it to be over", lambda: os.path.exists(cluster.work + "/up"))
    cluster.wait_job(job)
    until("what it left to be gone", lambda: subprocess.run(["pgrep", "-f", "sleep " + mark], capture_output=True).returncode == 1)
    until("its namespace to be gone", lambda: firsts(job) == [] and place.jobs() == [])


def test_signals_and_exit_codes_reach_through(make_cluster, place):
    cluster = linux(make_cluster(start=False, nodes=1, gpus=0), place).start()
    assert cluster.run("srun", "-n1", "bash", "-c", "exit 7").code == 7
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "trap 'echo USR1 caught' USR1; touch up; until [ -e go ]; do sleep 0.1; done")
    until("it to be up", lambda: os.path.exists(cluster.work + "/up"))
    cluster.ok("scancel", "-b", "-s", "USR1", str(job))
    until("the signal", lambda: "USR1 caught" in cluster.read("out"))
    terminal = cluster.ok("srun", "-n1", "--overlap", "--pty", "bash", "-c", "tty > /dev/null && ps -p 1 -o args=")
    assert re.match(r"slurmstepd: \[\d+\.namespace\]", terminal.out)
    cluster.file("go", "")
    cluster.wait_job(job)


def test_a_namespace_is_found_again_by_the_next_slurmd(make_cluster, place):
    cluster = linux(make_cluster(start=False, nodes=1, gpus=0), place).start()
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "sleep 1000 & echo $! > number; until [ -e go ]; do sleep 0.1; done; "
                         "srun bash -c 'kill -0 $(cat number) && echo the same'")
    until("it to be up", lambda: os.path.exists(cluster.work + "/number"))
    before = firsts(job)
    cluster.slurmds["n1"].kill()
    cluster.slurmds["n1"].wait()
    cluster.start_slurmd("n1")
    until("the next slurmd", lambda: cluster.logs(20000).count("] registered with slurmctld as n1") == 2)  # a node without one stays mixed
    assert firsts(job) == before and len(before) == 1
    cluster.file("go", "")
    cluster.wait_job(job)
    assert cluster.read("out") == "the same\n"
    until("its namespace to be gone", lambda: firsts(job) == [] and place.jobs() == [])


def test_users_of_its_own(make_cluster, place):
    keys = "clone_ns_flags: [CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWNS]"
    cluster = linux(make_cluster(start=False, nodes=1, gpus=0), place, keys).start()
    ours = os.readlink("/proc/self/ns/user")
    out = cluster.ok("srun", "-n1", "bash", "-c", "readlink /proc/self/ns/user; id -u; cat /proc/self/uid_map; touch %s/x; stat -c %%u %s/x" %
                     (place.scratch, place.scratch)).lines
    assert out[0] != ours and out[1] == str(os.getuid()) and out[2].split() == ["0", "0", "4294967295"] and out[3] == str(os.getuid())
    # Files of a step, and what sbcast sends, are its user's.
    cluster.file("file", "sent\n")
    sent = cluster.ok("salloc", "-n1", "bash", "-c", "sbcast file %s/cast && srun -o %s/out.%%t cat %s/cast && srun cat %s/out.0" % ((place.scratch,) * 4))
    assert "sent\n" in sent.out


def test_the_script_that_maps_users(make_cluster, place):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    script = cluster.script("users", "#!/bin/bash\necho \"$SLURM_JOB_ID ${SLURM_NS:-none}\" > %s/said\n[ -e %s/bad ] && exit 0\n"
                            "for map in uid_map gid_map; do echo '0 0 1000' > /proc/$SLURM_NS_PID/$map; done\n" % (cluster.work, cluster.work))
    linux(cluster, place, "clone_ns_flags: CLONE_NEWUSER, user_ns_script: " + script).start()
    out = cluster.ok("srun", "-n1", "cat", "/proc/self/uid_map").out.split()
    assert out == ["0", "0", "1000"]
    assert re.match(r"\d+ none\n", cluster.read("said"))
    cluster.file("bad", "")
    cluster.sbatch("-o", cluster.work + "/never", "--wrap", "true")
    cluster.wait_nodes(r"drain(ed|ing)\*?")
    assert "has no user" in cluster.ok("scontrol", "show", "node", "n1").out
    assert not os.path.exists(cluster.work + "/never"), "nothing runs outside"


def test_each_directory_as_it_is_configured(make_cluster, place):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    user, memory = "root", place.folder + "/memory"
    mine = place.folder + "/of-" + user
    for folder in (mine, memory):
        os.mkdir(folder, 0o755)
    linux(cluster, place, whole="""
defaults:
  auto_base_path: true
  base_path: %(folder)s/base
  dir_confs:
    - {path: "%(folder)s/of-%%u", base_path: "%(folder)s/second-%%n", options: "noexec,nosuid"}
    - {path: "%(folder)s/memory", tmpfs: true, options: "size=64k"}
    - {path: /dev/shm}
""" % vars(place)).start()
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "cd %s/of-%s; cp /bin/true .; ./true || echo not run; stat -fc %%T %s /dev/shm; "
                         "head -c 99999 /dev/zero > %s/x || echo full; touch %s/up; until [ -e %s/go ]; do sleep 0.1; done" %
                         (place.folder, user, memory, memory, cluster.work, cluster.work))
    until("it to be up", lambda: os.path.exists(cluster.work + "/up"))
    kept = "%s/second-n1/%d/%s" % (place.folder, job, (place.folder + "/of-" + user).replace("/", "_"))
    assert os.listdir(kept) == ["true"]
    cluster.file("go", "")
    cluster.wait_job(job)
    lines = cluster.read("out").splitlines()
    assert [line for line in lines if line in ("not run", "tmpfs", "full")] == ["not run", "tmpfs", "tmpfs", "full"], lines
    until("nothing to be left", lambda: os.listdir(place.folder + "/second-n1") == os.listdir(place.folder + "/base") == [])
    subprocess.run(["umount", "-l", place.folder + "/second-n1"], capture_output=True)


def test_none_is_for_nodes_without(make_cluster, place):
    more = "node_confs: [{nodes: [n2], options: {base_path: none}}]\n"
    cluster = linux(make_cluster(start=False, nodes=2, gpus=0), place, more=more).start()
    assert cluster.ok("srun", "-n1", "-w", "n1", "ls", place.scratch).out == ""
    assert cluster.ok("srun", "-n1", "-w", "n2", "ls", place.scratch).out == "of-the-node\n"


@pytest.mark.parametrize("whole, why", [
    ("", "namespace.yaml: base_path: is not set for node n1"),
    ("defaults: {base_path: %(folder)s/absent, dirs: /dev/shm}", "namespace.yaml: base_path: %(folder)s/absent: No such file or directory"),
    ("defaults: {base_path: %(folder)s/n1, auto_base_path: true, dirs: %(folder)s/link}", "namespace.yaml: dirs: %(folder)s/link: goes through"),
    ("defaults: {base_path: relative}", "base_path: has to be a directory by its absolute path"),
    ("defaults: {base_path: %(folder)s/n1, auto_base_path: true, dir_confs: [{path: /dev/shm}, {path: %(folder)s/link2, base_path: %(scratch)s}]}",
     "others may write to it"),
])
def test_a_node_that_cannot_have_them_does_not_start(make_cluster, place, whole, why):
    os.symlink(place.scratch, place.folder + "/link")
    cluster = linux(make_cluster(start=False, nodes=1, gpus=0), place, whole=whole % vars(place) + "\n")
    slurmd = cluster.spawn("slurmd", "-D", "-N", "n1", "-f", cluster.conf_path)
    assert slurmd.wait(20) != 0
    with open(os.path.join(cluster.folder, "log", "slurmd.out")) as f:
        said = f.read()
    assert why % vars(place) in said, said


def score(pid):
    with open("/proc/%s/oom_score_adj" % pid) as f:
        return int(f.read())


def test_scores_for_want_of_memory(make_cluster):
    try:
        with open("/proc/self/oom_score_adj", "r+") as f:
            before = f.read()
            f.write("-900")
            f.flush()
            f.seek(0)
            f.write(before)
    except OSError:
        pytest.skip("the score may not be lowered here")
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    cluster.env.update({"SLURMD_OOM_ADJ": "-900", "SLURMSTEPD_OOM_ADJ": "-17"})
    cluster.start()
    assert score(cluster.slurmds["n1"].pid) == -900
    epilog = cluster.script("epilog", "#!/bin/bash\ncat /proc/self/oom_score_adj > %s/epilog.out\n" % cluster.work)
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "cat /proc/self/oom_score_adj; srun -n2 --task-epilog=%s cat /proc/self/oom_score_adj; touch up; "
                         "until [ -e go ]; do sleep 0.1; done" % epilog)
    until("it to be up", lambda: os.path.exists(cluster.work + "/up"))
    assert cluster.read("out").split() == ["0", "0", "0"]
    assert cluster.read("epilog.out") == "0\n"
    title = "slurmstepd: [%d.batch]" % job
    pids = [line.split()[0] for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
            if line.strip().split(None, 1)[1] == title]
    assert [score(pid) for pid in pids] == [-1000]
    cluster.file("go", "")
    cluster.wait_job(job)
