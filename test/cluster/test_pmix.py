"""Checklist row 10: `srun --mpi=pmix` starts MPI programs across nodes. Real Open MPI and the PMIx API itself, on several
slurmds of this host; what they do when a task, a node or the module's library goes; and that nothing is left behind."""
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess

import pytest

import harness
from conftest import new_folder
from harness import until
from mpi import PROGRAMS, is_module, modules, nothing_left

PMIX = next(iter(glob.glob("/usr/lib/*/pmix2")), "")
# All nodes are one host: what is between them goes over loopback, which Open MPI would leave out by itself.
OPEN_MPI = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "lo"}

pytestmark = [pytest.mark.better_than_slurm,
              pytest.mark.skipif(not PMIX or not shutil.which("mpicc"), reason="libpmix-dev or libopenmpi-dev is not installed")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """ring (Open MPI) and pmix_client (the PMIx API), compiled once."""
    folder = new_folder()
    subprocess.run(["mpicc", "-o", folder + "/ring", PROGRAMS + "/ring.c"], check=True)
    subprocess.run(["gcc", "-I%s/include" % PMIX, "-o", folder + "/pmix_client", PROGRAMS + "/pmix_client.c",
                    "-L%s/lib" % PMIX, "-lpmix"], check=True)
    yield folder
    harness.remove(folder)


@pytest.fixture
def run(cluster, programs):
    def one(program, *options, conf=None, **kw):
        name, *arguments = program.split()
        return cluster.run("srun", "--mpi=pmix", *options, "%s/%s" % (programs, name), *arguments, env=OPEN_MPI,
                           timeout=60, **kw)
    yield one
    nothing_left(cluster)


def with_mpi_conf(cluster, text):
    with open(cluster.folder + "/etc/mpi.conf", "w") as f:
        f.write(text)


# ---- MPI programs
@pytest.mark.row(10, 123)
@pytest.mark.parametrize("nodes, tasks", [(1, 2), (2, 4), (4, 4)])
def test_open_mpi_over_nodes(run, nodes, tasks):
    each = tasks // nodes
    said = run("ring", "-N%d" % nodes, "--ntasks-per-node=%d" % each)
    assert said.code == 0 and said.err == "", said
    assert sorted(said.lines) == ["rank %d of %d on n%d: token %d sum %d app 0 universe %d"
                                  % (r, tasks, r // each + 1, r + 1 if r else tasks, sum(range(tasks)), tasks) for r in range(tasks)], said


@pytest.mark.row(10, 123)
def test_a_batch_job_with_two_steps_at_once(cluster, programs):
    exports = "".join("export %s=%s\n" % pair for pair in OPEN_MPI.items())
    text, record = cluster.run_script(
        "#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=4\n" + exports +
        "for i in 1 2; do srun -N2 -n4 --exact --mpi=pmix %s/ring & done\nwait\n" % programs, seconds=60)
    ranks = [line for line in text.splitlines() if line.startswith("rank")]
    assert len(ranks) == 8 and all(re.match(r"rank \d of 4 on n\d: token \d sum 6 ", line) for line in ranks), text
    assert sorted(re.findall(r"rank (\d)", text)) == list("00112233"), text
    assert record["ExitCode"] == "0:0"
    nothing_left(cluster)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become nobody")
def test_as_another_user(cluster, programs):
    nobody = pwd.getpwnam("nobody")
    said = cluster.run("setpriv", "--reuid=%d" % nobody.pw_uid, "--regid=%d" % nobody.pw_gid, "--clear-groups",
                       "srun", "--mpi=pmix", "-N2", "-n2", "-D/", programs + "/pmix_client", "job", timeout=60)
    assert said.code == 0, said
    assert re.search(r"^rank 1 size 2 universe 2 nodes 2 local 1 peers 1 app 0 node 1 on n2 localrank 0$", said.out, re.M), said
    nothing_left(cluster)


@pytest.mark.row(10)
def test_rootless(programs):
    folder = new_folder()
    prefix = []
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("no setpriv to become nobody")
        nobody = pwd.getpwnam("nobody")
        prefix = ["setpriv", "--reuid=%d" % nobody.pw_uid, "--regid=%d" % nobody.pw_gid, "--clear-groups"]
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    env = {"HOME": folder, "PATH": harness.prefix() + "/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "SHELL": "/bin/bash", **OPEN_MPI}

    def run(*args, **more):
        return subprocess.run([*prefix, *args], env={**env, **more}, cwd=folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
    try:
        up = run("muster", "up", "--nodes", "2")
        assert up.returncode == 0, up
        conf = re.search(r"export SLURM_CONF=(\S+)", up.stdout).group(1)
        said = run("srun", "--mpi=pmix", "-N2", "-n2", programs + "/ring", SLURM_CONF=conf)
        assert said.returncode == 0 and len(re.findall(r"rank \d of 2 .*sum 1 ", said.stdout)) == 2, said
    finally:
        run("muster", "down")
        harness.remove(folder)


# ---- the PMIx API
@pytest.mark.parametrize("mode", ["fence", "direct", "group", "big"])
def test_data_of_all_reaches_all(run, mode):
    said = run("pmix_client " + mode, "-N4", "--ntasks-per-node=2")
    count = 4 if mode == "group" else 8
    assert said.code == 0 and sorted(said.lines) == ["rank %d read %d of %d" % (r, count, count) for r in range(8)], said


def test_what_a_task_is_told_of_its_job(run, cluster):
    said = run("pmix_client job", "-N2", "--ntasks-per-node=2")
    assert said.code == 0, said
    about = sorted(line for line in said.lines if line.startswith("rank"))
    assert about == ["rank %d size 4 universe 4 nodes 2 local 2 peers %s app 0 node %d on n%d localrank %d"
                     % (r, "0,1" if r < 2 else "2,3", r // 2, r // 2 + 1, r % 2) for r in range(4)], said
    places = {line for line in said.lines if line.startswith("space")}
    assert len(places) == 2, said      # one directory a node
    for place in places:
        assert re.fullmatch(r"space slurm\.pmix\.\d+\.0 dir %s/spool/n[12]/mpi\.\d+\.0\.0" % cluster.folder, place), said


def test_the_tasks_order_over_nodes_is_pmix_order(run):
    said = run("pmix_client job", "-N2", "--ntasks-per-node=2", "--distribution=cyclic")
    assert said.code == 0, said
    for rank, peers in ((0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")):
        assert re.search(r"^rank %d .* peers %s .*node %d " % (rank, peers, rank % 2), said.out, re.M), said


def test_services_that_are_not_there_are_refused(run):
    said = run("pmix_client refused", "-n1")
    assert said.code == 0 and len(said.lines) == 3, said
    assert all(re.fullmatch(r"(publish|lookup|spawn) \S*NOT[-_]SUPPORTED", line) for line in said.lines), said


# ---- ends
def test_abort_ends_the_step_everywhere(run):
    said = run("ring abort 1", "-N2", "--ntasks-per-node=2")
    assert said.code != 0 and said.out == "" and said.seconds < 20, said
    assert re.search(r"^slurmstepd-n1: error: PMIx_Abort by task 1, status 7", said.err, re.M), said
    assert "srun: Job step aborted: Waiting up to 4 seconds for job step to finish." in said.err, said
    assert re.search(r"^srun: error: n1: tasks? [\d,-]*1.*: Exited with exit code 7", said.err, re.M), said


def test_a_killed_task_ends_the_step_when_asked(run):
    said = run("ring kill 2", "-N2", "--ntasks-per-node=2", "-K")
    assert said.code == 143 and said.out == "", said
    assert re.search(r"^srun: error: n2: task 2: Killed", said.err, re.M), said


def client(cluster, programs, *options, rank):
    """pmix_client, all but `rank` in a fence. The process of srun, and that of the task that waits."""
    process = subprocess.Popen(["srun", "--mpi=pmix", *(options or ["-N2", "-n2"]), programs + "/pmix_client", "wait", str(rank)],
                               env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    said = re.fullmatch(r"rank %d waits as (\d+)\n" % rank, process.stdout.readline())
    return process, int(said.group(1))


def test_a_restart_of_slurmd_is_not_noticed(cluster, programs):
    process, waiting = client(cluster, programs, rank=1)
    for name in ("n1", "n2"):
        cluster.slurmds[name].kill()
        cluster.slurmds[name].wait()
    stale = cluster.folder + "/spool/n1/mpi.999.0.0"     # of a step whose slurmstepd died with slurmd
    os.makedirs(stale + "/some/where")
    for name in ("n1", "n2"):
        cluster.start_slurmd(name)
    until("the stale directory to go", lambda: not os.path.exists(stale))
    cluster.wait_nodes("(allocated|mixed|idle)", ["n1", "n2"])
    os.kill(waiting, signal.SIGUSR1)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and sorted(out.splitlines()) == ["rank 0: SUCCESS", "rank 1: SUCCESS"], (out, err)
    nothing_left(cluster)


@pytest.mark.parametrize("rank", [1, 0])
def test_a_node_that_goes_ends_the_fence_by_name(cluster, programs, rank):
    process, _ = client(cluster, programs, rank=rank)
    node = "n%d" % (rank + 1)
    spool = "%s/spool/%s" % (cluster.folder, node)
    stepd = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if parent_of_module(pid, spool)]
    assert len(stepd) == 1, stepd
    os.kill(stepd[0], signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "srun: error: Node failure on " + node in err, (out, err)
    assert "error: mpi/pmix: fence: node %s is gone" % node in err, (out, err)
    assert re.search(r"rank %d: \S*LOST[-_]CONNECTION" % (1 - rank), out), (out, err)
    nothing_left(cluster)


def parent_of_module(pid, spool):
    """Whether this is the slurmstepd whose module works in `spool`."""
    try:
        with open("/proc/%s/task/%s/children" % (pid, pid)) as f:
            children = f.read().split()
        with open("/proc/%s/cmdline" % pid) as f:
            return f.read().startswith("slurmstepd") and any(is_module(child, spool) for child in children)
    except OSError:
        return False


def test_a_module_that_dies_ends_the_step(cluster, programs):
    process, _ = client(cluster, programs, rank=1)
    there = modules(cluster.folder + "/spool/n2")   # of the task that waits: the other may notice, and end by itself
    assert len(there) == 1
    os.kill(there[0], signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert process.returncode != 0 and "slurmstepd-n2: error: mpi/pmix: the module is gone" in err, (out, err)
    nothing_left(cluster)


def test_a_cancelled_step_leaves_nothing(cluster, programs):
    process, _ = client(cluster, programs, rank=0)
    cluster.cancel_all()
    out, err = process.communicate(timeout=30)
    assert process.returncode != 0, (out, err)
    nothing_left(cluster)


# ---- settings
def test_what_there_is(cluster):
    said = cluster.ok("srun", "--mpi=list")
    assert said.err == "" and re.fullmatch(
        r"MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin versions available: pmix_v\d\n", said.out), said
    version = re.search(r"pmix_v\d", said.out).group(0)
    for name in (version, "pmix", "mpi/pmix"):
        said = cluster.ok("srun", "--mpi=" + name, "-n1", "printenv", "PMIX_NAMESPACE")
        assert re.fullmatch(r"slurm\.pmix\.\d+\.0\n", said.out), said
    assert cluster.run("srun", "--mpi=none", "-n1", "printenv", "PMIX_NAMESPACE").code == 1
    assert cluster.run("srun", "-n1", "printenv", "PMIX_NAMESPACE", env={"SLURM_MPI_TYPE": "pmix"}).code == 0


def test_an_unknown_kind_is_refused(cluster):
    said = cluster.run("srun", "--mpi=teleport", "true")
    assert said.code == 1 and said.out == "", said
    assert "srun: error: Invalid MPI type 'teleport', --mpi=list for acceptable types" in said.err, said


def test_mpi_default_and_mpi_conf(make_cluster, programs):
    cluster = make_cluster(start=False, nodes=2, gpus=0, conf="MpiDefault=pmix")
    base = cluster.folder + "/tasks-tmp"
    os.mkdir(base)
    with_mpi_conf(cluster, "PMIxTimeout=1\nPMIxDebug=1\nPMIxEnv=\"MUSTER_A=1;MUSTER_B=two words\"\nPMIxCliTmpDirBase=%s\n" % base)
    cluster.start()
    said = cluster.run("srun", "-N2", "-n2", "bash", "-c", "echo $PMIX_NAMESPACE,$MUSTER_A,$MUSTER_B")
    assert said.code == 0 and re.fullmatch(r"(slurm\.pmix\.\d+\.0,1,two words\n){2}", said.out), said
    assert re.search(r"^slurmstepd-n1: debug: mpi/pmix: \S*PMIx \S+.* is ready for 1 processes$", said.err, re.M), said
    said = cluster.run("srun", "-N2", "-n2", programs + "/pmix_client", "job")
    assert len(re.findall(r"^space \S+ dir %s/pmix\.\d+\.0\.n[12]\.\w+$" % base, said.out, re.M)) == 2, said
    nothing_left(cluster)
    assert os.listdir(base) == []
    # Who is missing when the time is over.
    process, _ = client(cluster, programs, rank=1)
    assert re.fullmatch(r"rank 0: \S*TIMEOUT\n", process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert "slurmstepd-n1: error: mpi/pmix: fence: node n2 did not enter in time" in err, (out, err)
    nothing_left(cluster)
    assert os.listdir(base) == []


def test_a_task_may_begin_when_another_has_ended(make_cluster, programs):
    """libpmix's server must not take the new connection, with the descriptor of the old one, for the old one."""
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    with_mpi_conf(cluster, "PMIxDebug=1\n")
    cluster.start()
    process = subprocess.Popen(["srun", "--mpi=pmix", "-n2", programs + "/pmix_client", "late"], env=cluster.env, cwd=cluster.work,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    late = int(re.fullmatch(r"rank 1 waits as (\d+)\n", process.stdout.readline()).group(1))
    for line in process.stderr:
        if "process 0 ended with status 0" in line:
            break
    os.kill(late, signal.SIGUSR1)
    try:
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0 and out == "rank 1 of 2\n", (out, err)
    nothing_left(cluster)


def test_a_node_without_the_library_says_so(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    broken = cluster.folder + "/broken"
    os.mkdir(broken)
    cluster.file(broken + "/libpmix.so.2", "no library")
    with_mpi_conf(cluster, "PMIxEnv=LD_LIBRARY_PATH=%s\n" % broken)
    cluster.start()
    said = cluster.run("srun", "--mpi=pmix", "-n1", "echo", "ran")
    assert said.code != 0 and said.out == "", said
    assert re.search(r"mpi/pmix: PMIx is not on this node: \S*libpmix\.so\.2: .* \(Debian: libpmix2\)", said.err), said
    assert cluster.ok("srun", "-n1", "echo", "ran").out == "ran\n"
    nothing_left(cluster)


def test_several_nodes_need_srun_to_stay(cluster):
    said = cluster.run("salloc", "-N2", "srun", "--async", "--mpi=pmix", "-N2", "true")
    assert said.code != 0 and "--mpi=pmix on several nodes needs srun to stay" in said.err, said
