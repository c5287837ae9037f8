"""The walk-through's cluster as the checklist writes it (rows 65, 66, 75-78, 86, 87, 89, 106 of checklist.txt): its names are
names of hosts, its files lie in /etc/slurm, its accounting is in SQLite and in MariaDB."""
import os
import re
import shutil
import time

import pytest

import conftest
import harness
import hosts
import sites
from accounting import BOTH
from harness import until
from test_limits import heard
from test_spank import plugins  # noqa: F401: a fixture

pytestmark = [pytest.mark.better_than_slurm, pytest.mark.skipif(hosts.CANNOT != "", reason="needs root, to have a /etc of its own")]
row = pytest.mark.row

NAMES = sites.H100_NODES[:4]
# The rows' lines. Below the empty line is what they leave to the site.
CONF = """
ClusterName=gpu-cluster
SlurmctldHost=controller-node
GresTypes=gpu
""" + sites.H100_TRAIN + """\
TopologyPlugin=topology/tree
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=slurmdb01
JobAcctGatherType=jobacct_gather/linux
PriorityType=priority/multifactor
PriorityWeightFairshare=50000
PriorityWeightAge=1000
PriorityWeightJobSize=1000

AccountingStorageEnforce=limits,safe,qos
JobAcctGatherFrequency=1
PriorityCalcPeriod=1
PriorityMaxAge=1
"""
GRES = "".join(sites.H100_GRES.splitlines(True)[:4])
TOPOLOGY = "SwitchName=spine1 Switches=leaf1,leaf2\nSwitchName=leaf1  Nodes=gpu-node-[001-002]\nSwitchName=leaf2  Nodes=gpu-node-[003-004]\n"


@pytest.fixture(scope="module", params=BOTH)
def shared(request, plugins):  # noqa: F811
    folder = conftest.new_folder()
    site = hosts.Machine(folder, "controller-node", NAMES, CONF, GRES, TOPOLOGY, others=["slurmdb01"])
    site.database = request.param(site)
    site.conf_lines = [line for line in site.conf_lines if line != "AccountingStorageHost=127.0.0.1"]
    site.write_lines()
    shutil.copy(plugins + "/container.so", folder)
    site.hosts.sh("cp %s/container.so /usr/local/lib/slurm/spank_pyxis.so" % folder)
    site.hosts.write("/etc/slurm/plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so\n")
    try:
        site.database.start()
        site.start()
        until("slurmdbd to know the cluster", lambda: "gpu-cluster" in site.run("sacctmgr", "-nP", "show", "cluster").out)
        for account in ("team-a", "team-b"):
            site.ok("sacctmgr", "-i", "add", "account", account)
            site.ok("sacctmgr", "-i", "add", "user", site.user, "Account=" + account)
        heard(site)
        yield site
    finally:
        site.stop()
        site.database.stop()
        harness.remove(folder)


def configured(cluster, key):
    return re.search(r"^%s +=  ?(.*)$" % re.escape(key), cluster.ok("scontrol", "show", "config").out, re.M)[1]


def sleeper(cluster, *options):
    return cluster.sbatch("-o", "/dev/null", *options, "--wrap", "exec sleep 600")


@row(65, 66, 87)
def test_the_cluster_and_its_controller(cluster):
    assert configured(cluster, "ClusterName") == "gpu-cluster"
    assert configured(cluster, "SlurmctldHost[0]") == "controller-node"
    assert cluster.ok("scontrol", "ping").out == "Slurmctld(primary) at controller-node is UP\n"
    assert cluster.ok("sacctmgr", "-nP", "show", "cluster", "format=cluster").out == "gpu-cluster\n"
    out, _ = cluster.run_script("#!/bin/bash\necho $SLURM_CLUSTER_NAME $SLURM_JOB_NODELIST\n")
    assert out == "gpu-cluster gpu-node-001\n"


@row(87)
def test_files_are_found_in_etc_slurm(cluster):
    assert "SLURM_CONF" not in cluster.env
    assert configured(cluster, "SLURM_CONF") == "/etc/slurm/slurm.conf"
    assert cluster.ok("sinfo", "-h", "-o", "%N %G").out == "gpu-node-[001-004] gpu:h100:8\n"
    # gres.conf and topology.conf are read, too: which devices there are, and which nodes are close.
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH --gres=gpu:2\nsrun nvidia-smi\n")
    assert re.fullmatch(r"GPU 0: .*\nGPU 1: .*\n", out), out
    assert "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu-node-[003-004]" in cluster.ok("scontrol", "show", "topology").lines
    checked = cluster.ok("muster", "check-config")
    assert "/etc/slurm" in checked.out + checked.err, checked


@row(86, 113)
@pytest.mark.parametrize("command", ["srun", "sbatch"])
def test_plugstack_conf_loads_pyxis_by_its_path(cluster, command):
    """The stand-in of test_spank.py for Pyxis, where a site has Pyxis."""
    assert re.search(r"--container-image=\S+\s+\[pyxis\] the image to use", cluster.ok(command, "--help").out), cluster.ok(command, "--help")
    rest = ["true"] if command == "srun" else ["--hold", "--wrap", "true"]
    said = cluster.run(command, "--container-image=", *rest)
    assert said.code == 255 and "%s: error: pyxis: --container-image: argument required" % command in said.err, said
    cluster.hosts.write("/etc/slurm/plugstack.conf", "required /usr/local/lib/slurm/spank_pixis.so\n")
    try:
        wrong = cluster.run(command, *rest)
        assert wrong.code == 1 and "plugstack.conf:1: required plugin /usr/local/lib/slurm/spank_pixis.so: there is no such file" in wrong.err, wrong
    finally:
        cluster.hosts.write("/etc/slurm/plugstack.conf", "required /usr/local/lib/slurm/spank_pyxis.so\n")


@row(86, 113)
def test_pyxis_is_loaded_on_the_node(cluster):
    said = cluster.run("srun", "--container-image=gone", "true")
    assert said.code == 1 and "slurmstepd: error: pyxis: no such image: gone" in said.err, said


@row(75, 76, 77, 103, 128)
def test_jobs_and_what_their_steps_use_are_recorded(cluster):
    assert configured(cluster, "AccountingStorageType") == "accounting_storage/slurmdbd"
    assert configured(cluster, "AccountingStorageHost") == "slurmdb01"
    assert configured(cluster, "JobAcctGatherType") == "jobacct_gather/linux"
    assert cluster.ok("sacctmgr", "ping").out == "slurmdbd(primary) at slurmdb01 is UP\n"
    cluster.file("hold.py", "import os, time\nheld = bytearray(b'x' * (100 << 20))\nwhile not os.path.exists('go'):\n    time.sleep(0.05)\n")
    job = cluster.sbatch("--gres=gpu:8", "-o", "/dev/null", "--mem=1000", "--wrap", "srun python3 hold.py")

    def most():
        return int(cluster.run("sstat", "-nP", "--noconvert", "-j", "%d.0" % job, "-o", "maxrss").out.strip() or 0)
    until(lambda: "100 MB to be seen in use\n" + cluster.logs(), lambda: most() >= 100 << 20)
    cluster.file("go", "")
    cluster.wait_job(job)
    cluster.database.wait_state(job, "COMPLETED")
    os.unlink(cluster.work + "/go")
    shown = cluster.ok("sacct", "-nP", "-j", str(job), "--noconvert", "-o", "jobid,cluster,state,allocgres,maxrss").lines
    assert shown[0] == "%d|gpu-cluster|COMPLETED|gpu:h100:8|" % job, shown
    step, = [line.split("|") for line in shown if line.startswith("%d.0|" % job)]
    assert int(step[4]) >= 100 << 20, shown


@row(78, 92, 103)
def test_priority_is_made_of_the_weights(cluster):
    assert [configured(cluster, key) for key in ("PriorityType", "PriorityWeightFairShare", "PriorityWeightAge", "PriorityWeightJobSize")] \
        == ["priority/multifactor", "50000", "1000", "1000"]
    used = sleeper(cluster, "-N4", "--exclusive", "-A", "team-a")
    cluster.wait_job(used, "RUNNING")
    until("usage", lambda: " team-a" in (said := cluster.ok("sshare", "-nP", "-A", "team-a", "-o", "account,rawusage").out)
          and int(said.splitlines()[0].split("|")[1]) > 0)
    jobs = {name: sleeper(cluster, *options) for name, options in {
        "of a": ("-N1", "--exclusive", "-A", "team-a"), "of b": ("-N1", "--exclusive", "-A", "team-b"),
        "large of b": ("-N4", "--exclusive", "-A", "team-b")}.items()}
    submitted = time.monotonic()

    def factors():
        rows = (line.split() for line in cluster.ok("sprio", "-h", "-o", "%i %F %A %J %Y").lines)
        found = {int(row[0]): dict(zip(("share", "age", "size", "all"), map(int, row[1:]))) for row in rows}
        return {name: found[job] for name, job in jobs.items() if job in found}

    def all_seen():
        now = factors()
        return len(now) == 3 and now["of a"]["share"] < now["of b"]["share"] and min(f["age"] for f in now.values()) > 0 and now
    until("the last one to have an age that counts", lambda: time.monotonic() - submitted > 2)
    cluster.ok("scontrol", "reconfigure")       # priorities are worked out now, not in a PriorityCalcPeriod
    now = until(lambda: "factors: %s" % factors(), all_seen, 150)
    assert now["of b"]["share"] <= 50000 and now["of b"]["share"] == now["large of b"]["share"]
    assert 0 < now["of b"]["size"] < now["large of b"]["size"] <= 1000
    assert all(f["age"] <= 1000 and abs(f["all"] - f["share"] - f["age"] - f["size"]) <= 1 for f in now.values()), now
    # Who used less comes first, and of two of the same account the larger.
    order = cluster.queue("-t", "PD", "-o", "%i", "-S", "-p", "-j", ",".join(map(str, jobs.values())))
    assert order == [str(jobs[name]) for name in ("large of b", "of b", "of a")]
    cluster.ok("scancel", str(used), str(jobs["large of b"]))
    cluster.wait_job(jobs["of b"], "RUNNING")


@row(24, 25, 89)
def test_720_gpu_hours_are_the_most(cluster):
    for line in ('sacctmgr -i add qos team-a-qos GrpTRESMins="gres/gpu=43200"', "sacctmgr -i modify account team-a set QOS=team-a-qos"):
        assert cluster.sh(line).code == 0
    heard(cluster)
    team_a = ["-A", "team-a", "--qos=team-a-qos"]
    assert re.search(r"QOS=team-a-qos\(\d+\)[\s\S]*?GrpTRESMins=\S*gres/gpu=43200\(0\)",
                     cluster.ok("scontrol", "show", "assoc_mgr", "flags=qos", "qos=team-a-qos").out)

    def reason(job):
        return cluster.ok("squeue", "-h", "-j", str(job), "-o", "%T %r").out.strip()
    too_much = sleeper(cluster, *team_a, "--gres=gpu:8", "--time=90:01:00")     # eight GPUs for a minute more than 90 hours
    until(lambda: "its reason: " + reason(too_much), lambda: reason(too_much).startswith("PENDING QOSGrpGRES"))
    told = cluster.ok("muster", "explain", str(too_much)).out
    assert "GrpTRESMins=gres/gpu of QOS team-a-qos" in told and "43200" in told, told
    fits = sleeper(cluster, *team_a, "--gres=gpu:8", "--time=90:00:00")
    cluster.wait_job(fits, "RUNNING")
    another = sleeper(cluster, *team_a, "--gres=gpu:1", "--time=00:01:00")      # all minutes are promised
    until(lambda: "its reason: " + reason(another), lambda: reason(another).startswith("PENDING QOSGrpGRES"))
    cluster.wait_job(sleeper(cluster, "-A", "team-b", "--gres=gpu:8", "--time=168:00:00"), "RUNNING")
    cluster.ok("scancel", str(too_much))
    cluster.ok("scancel", str(fits))
    cluster.wait_job(another, "RUNNING")
    # The cluster is that of the other tests, which may come later: team-a is what it was.
    cluster.ok("scancel", "-u", "root")
    until("an empty queue", lambda: not cluster.queue())
    cluster.ok("sacctmgr", "-i", "modify", "account", "team-a", "set", "QOS=normal")
    heard(cluster)


@row(25)
def test_a_job_without_a_qos_has_the_only_one_of_its_account(cluster):
    for line in ("add account team-c", "add user %s Account=team-c" % cluster.user, "add qos team-c-qos,team-c-spare",
                 "modify account team-c set QOS=team-c-qos"):
        cluster.ok("sacctmgr", "-i", *line.split())
    heard(cluster)
    job = cluster.sbatch("-A", "team-c", "--wrap", "true")
    assert cluster.job(job)["QOS"] == "team-c-qos"
    cluster.wait_job(job)
    cluster.ok("sacctmgr", "-i", "modify", "account", "team-c", "set", "QOS+=team-c-spare")
    heard(cluster)
    said = cluster.run("sbatch", "-A", "team-c", "--wrap", "true")
    assert said.code == 1 and "Invalid qos specification" in said.err and "it may use: team-c-qos, team-c-spare" in said.err, said
    cluster.wait_job(cluster.sbatch("-A", "team-c", "--qos=team-c-spare", "--wrap", "true"))
