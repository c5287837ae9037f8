"""What a site does around the daemons (rows 66, 76, 88, 102, 103, 106, 109e, 110, 112, 132 of checklist.txt): keys, nodes that come at
their boot or go to another pool, names that do not resolve, daemons that are not there."""
import os
import re
import shutil
import subprocess

import pytest

import harness
from harness import until

pytestmark = pytest.mark.better_than_slurm
row = pytest.mark.row


def log_of(cluster, name):
    path = os.path.join(cluster.folder, "log", name)
    return open(path, errors="replace").read() if os.path.exists(path) else ""


def ended(process):
    """Its exit status, once it has ended by itself."""
    try:
        return process.wait(20 * harness.SLOW)
    except subprocess.TimeoutExpired:
        harness.end_process(process)
        raise AssertionError("it started")


def elsewhere(cluster):
    """What a daemon is started by that is on another host: it does not see the controller's sockets, and talks to its port."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', cluster.folder + "/run"]


def start_elsewhere(cluster, name, conf):
    cluster.wrapper = elsewhere(cluster)
    try:
        return cluster.spawn("slurmd", "-D", "-N", name, "-f", conf)
    finally:
        cluster.wrapper = []


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to hide the controller's sockets from a node")


# ---- keys
def munge_key(folder, name):
    """As the checklist makes one, here in a file of the test's."""
    path = os.path.join(folder, name)
    subprocess.run(["mungekey", "--create", "--keyfile=" + path], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, check=True, capture_output=True)
    os.chmod(path, 0o400)
    return path


@row(110)
@needs_root
@pytest.mark.skipif(not os.path.exists("/usr/sbin/mungekey"), reason="no mungekey")
def test_a_munge_key_is_the_same_on_all_nodes(make_cluster):
    """Two hosts with a munged each: one key, byte for byte, and they are a cluster; another, and the node stays outside."""
    cluster = make_cluster(start=False, nodes=2, auth="munge")
    cluster.munge.stop()
    key, other = munge_key(cluster.folder, "munge.key"), munge_key(cluster.folder, "other.key")
    copy = shutil.copy2(key, cluster.folder + "/copy.key")
    assert open(key, "rb").read() == open(copy, "rb").read() != open(other, "rb").read()
    assert os.stat(copy).st_mode & 0o777 == 0o400
    cluster.munge = harness.Munge(cluster.folder + "/munge", key)
    # The second host's slurm.conf names its own munged.
    away, conf = cluster.folder + "/munge2", cluster.folder + "/etc/second.conf"
    with open(cluster.conf_path) as f:
        text = f.read()
    with open(conf, "w") as f:
        f.write(text.replace(cluster.munge.socket, away + "/m.sock"))
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.start_slurmd("n1")
    cluster.wait_nodes("idle", ["n1"])
    munged = harness.Munge(away, other)
    try:
        stranger = start_elsewhere(cluster, "n2", conf)
        until(cluster.logs, lambda: "munge: Invalid credential" in log_of(cluster, "slurmd-n2.log"))
        assert cluster.node_states()["n2"] != "idle"
        harness.end_process(stranger)
        munged.stop()
        munged = harness.Munge(away, copy)
        cluster.slurmds["n2"] = start_elsewhere(cluster, "n2", conf)
        cluster.wait_nodes("idle")
        assert sorted(cluster.ok("srun", "-N2", "bash", "-c", "echo $SLURMD_NODENAME").lines) == ["n1", "n2"]
        harness.end_process(cluster.slurmds["n2"])
    finally:
        munged.stop()


VAULT = '#!/bin/sh\n[ "$*" = "kv get -field=key secret/slurm" ] || exit 2\ncat %s\n'
# The lines of a boot script, with where the node's files are.
FETCH = "umask 077; vault kv get -field=key secret/slurm | base64 -d >%s/slurm.key"


@row(112)
@needs_root
def test_the_key_comes_from_a_secrets_manager_at_boot(make_cluster):
    """`vault` is a stand-in that prints the secret. Until the key is there the node says which file it lacks; then it joins."""
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    secret = cluster.folder + "/secret"
    with open(cluster.folder + "/etc/slurm.key", "rb") as f:
        right = f.read()
    cluster.script("vault", VAULT % secret)
    cluster.start_ctld()
    cluster.wait_ctld()
    node = cluster.folder + "/node"
    os.mkdir(node)
    for name in ("slurm.conf", "cgroup.conf"):
        shutil.copy(cluster.folder + "/etc/" + name, node)

    def boot(fetch=True):
        if fetch:
            cluster.ok("sh", "-ec", FETCH % node)
        return start_elsewhere(cluster, "n1", node + "/slurm.conf")

    def store(key):
        with open(secret, "w") as f:
            f.write(subprocess.run(["base64"], input=key, capture_output=True, check=True).stdout.decode())
    assert ended(boot(fetch=False)) == 1
    assert node + "/slurm.key" in log_of(cluster, "slurmd.out"), log_of(cluster, "slurmd.out")
    store(os.urandom(1024))         # one that is not the cluster's, or not any more
    stranger = boot()
    until(cluster.logs, lambda: re.search("cluster key", log_of(cluster, "slurmd-n1.log")))
    assert cluster.node_states()["n1"] != "idle"
    harness.end_process(stranger)
    store(right)
    cluster.slurmds["n1"] = boot()
    cluster.wait_nodes("idle")
    assert os.stat(node + "/slurm.key").st_mode & 0o777 == 0o600
    assert cluster.ok("srun", "-n1", "echo", "joined").out == "joined\n"


# ---- nodes
@row(88)
def test_a_boot_script_registers_its_node(make_cluster):
    """Nodes of the cloud have their lines and no machine: its boot script says where it is, that it is there, and starts slurmd."""
    port, = harness.free_ports(1)
    cluster = make_cluster(nodes=1, gpus=0, conf="NodeName=gpu-node-009 NodeHostname=%s Port=%d CPUs=4 RealMemory=1000 State=FUTURE\n"
                           "PartitionName=cloud Nodes=gpu-node-009 MaxTime=INFINITE State=UP" % (harness.HOST, port))
    assert "gpu-node-009" not in cluster.ok("sinfo", "-h", "-N", "-o", "%N").out
    cluster.script("boot", "#!/bin/sh\nscontrol update NodeName=gpu-node-009 NodeAddr=127.0.0.1 State=IDLE\nexec slurmd -D -N gpu-node-009 -f %s\n"
                   % cluster.conf_path)
    cluster.slurmds["gpu-node-009"] = subprocess.Popen(["boot"], executable=cluster.bin + "/boot", env=cluster.env, cwd=cluster.folder,
                                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cluster.wait_nodes("idle", ["gpu-node-009"])
    assert cluster.ok("srun", "-p", "cloud", "bash", "-c", "echo on $SLURMD_NODENAME").out == "on gpu-node-009\n"
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle", ["gpu-node-009"])
    assert cluster.ok("srun", "-p", "cloud", "bash", "-c", "echo still $SLURMD_NODENAME").out == "still gpu-node-009\n"


@row(88)
def test_a_node_that_slurm_conf_does_not_name_says_so(cluster):
    said = cluster.run("slurmd", "-D", "-N", "gpu-node-010", "-f", cluster.conf_path)
    assert said.code == 1 and said.out == "" and "'gpu-node-010' is not in slurm.conf" in said.err, said


@row(88)
def test_a_job_for_a_partition_without_nodes_waits_for_them(make_cluster):
    conf = "MaxNodeCount=4\nNodeSet=cloud Feature=cloud\nPartitionName=cloud Nodes=cloud MaxTime=INFINITE State=UP"
    cluster = make_cluster(nodes=1, gpus=0, conf=conf)
    job = cluster.sbatch("-p", "cloud", "--wrap", "true")
    until("the reason", lambda: cluster.job(job)["Reason"] == "PartitionConfig")
    never = cluster.run("srun", "--test-only", "-p", "cloud", "true")
    assert never.code == 1 and "Requested node configuration is not available" in never.err, never
    cluster.ok("scontrol", "create", "NodeName=gpu-node-009", "CPUs=4", "RealMemory=1000", "Feature=cloud", "State=CLOUD")
    until("the job to have its node", lambda: cluster.job(job)["JobState"] == "CONFIGURING")
    assert cluster.job(job)["NodeList"] == "gpu-node-009"
    enforced = make_cluster(nodes=1, gpus=0, conf="EnforcePartLimits=ALL\n" + conf)
    said = enforced.run("sbatch", "-p", "cloud", "--wrap", "true")
    assert said.code == 1 and said.out == "" and "More processors requested than permitted" in said.err, said


@row(106)
@needs_root
def test_names_that_do_not_resolve_hold_nobody_up(make_cluster):
    """The names of cloud nodes mean nothing to the controller: it starts, works with the others, and gives such a node batch jobs,
    since the node comes to it. srun goes to the node itself and needs an address, which is told while all runs."""
    port, = harness.free_ports(1)
    node = "cloud-7f3a.invalid"
    cluster = make_cluster(start=False, nodes=1, gpus=0, conf="NodeName=%s Port=%d CPUs=4 RealMemory=1000 State=UNKNOWN\n"
                           "PartitionName=cloud Nodes=%s MaxTime=INFINITE State=UP" % (node, port, node))
    cluster.start(wait=False)
    cluster.wait_nodes("idle", ["n1"])
    assert cluster.ok("srun", "-n1", "echo", "fine").out == "fine\n"
    assert not cluster.node_states()[node].startswith("idle")
    job = cluster.sbatch("-p", "cloud", "-o", "out", "--wrap", "echo on $SLURMD_NODENAME")
    cluster.slurmds[node] = start_elsewhere(cluster, node, cluster.conf_path)
    cluster.wait_job(job, seconds=60)
    assert cluster.read("out") == "on %s\n" % node
    step = ["srun", "-p", "cloud", "bash", "-c", "echo step on $SLURMD_NODENAME"]
    said = cluster.run(*step)
    assert said.code == 1 and said.out == "" and "srun: error: node %s: cannot reach host %s: " % (node, node) in said.err, said
    cluster.ok("scontrol", "update", "NodeName=" + node, "NodeAddr=127.0.0.1")
    assert cluster.ok(*step).out == "step on %s\n" % node
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle", ["n1", node])
    cluster.wait_job(cluster.sbatch("-p", "cloud", "-o", "/dev/null", "--wrap", "true"))


@row("109e", 132)
def test_a_node_is_lent_to_another_pool_and_comes_back(make_cluster):
    """The same GPUs serve two masters in turn: nothing new starts there, what runs ends by itself, then the node can be taken."""
    cluster = make_cluster(nodes=2)
    last = cluster.sbatch("-w", "n2", "--gres=gpu:8", "-o", "/dev/null", "--wrap", "until [ -e trained ]; do sleep 0.05; done")
    cluster.wait_job(last, "RUNNING")
    cluster.ok("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=lent to kubernetes")
    cluster.wait_nodes("draining", ["n2"])
    waits = cluster.sbatch("-w", "n2", "--gres=gpu:8", "-o", "out", "--wrap", "echo $CUDA_VISIBLE_DEVICES")
    until("the reason", lambda: cluster.job(waits)["Reason"] not in ("None", "Priority"))
    cluster.file("trained", "")
    cluster.wait_job(last)
    cluster.wait_nodes("drained", ["n2"])
    assert cluster.ok("sinfo", "-R", "-h", "-o", "%E|%N").out == "lent to kubernetes|n2\n"
    assert harness.end_process(cluster.slurmds.pop("n2")) == 0
    # Whoever asks for it meanwhile waits; the rest of the cluster works, also over a restart of the controller.
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle", ["n1"])
    assert cluster.ok("srun", "-n1", "bash", "-c", "echo $SLURMD_NODENAME").out == "n1\n"
    assert cluster.job(waits)["JobState"] == "PENDING" and cluster.node_states()["n2"].startswith("drained")
    cluster.start_slurmd("n2")
    cluster.ok("scontrol", "update", "NodeName=n2", "State=RESUME")
    cluster.wait_job(waits, seconds=60)
    assert cluster.read("out") == "0,1,2,3,4,5,6,7\n"


# ---- daemons that are not there, or not here
@row(66)
def test_slurmctld_starts_only_on_a_host_that_slurm_conf_names(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    lines = cluster.conf_lines

    def controlled_by(host):
        cluster.conf_lines = ["SlurmctldHost=" + host if line.startswith("SlurmctldHost=") else line for line in lines]
        cluster.write_lines()
    controlled_by("controller-node(192.0.2.7)")
    for how in (["-D"], []):
        said = cluster.run("slurmctld", *how, "-f", cluster.conf_path)
        assert said.code == 1 and "This host (" in said.err and "not a valid controller" in said.err, said
        assert harness.ORACLE or "SlurmctldHost=controller-node(192.0.2.7)" in said.err, said
    for host in ("controller-node(127.0.0.1)", "localhost"):
        controlled_by(host)
        cluster.start_ctld()
        cluster.wait_ctld()
        cluster.kill_ctld()


@row(102)
def test_a_standby_controller_is_told_to_be_down(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, conf="SlurmctldHost=standby(127.0.0.9)")
    said = cluster.run("scontrol", "ping")
    assert (said.code, said.out) == (1, "Slurmctld(primary) at %s is UP\nSlurmctld(backup) at standby is DOWN\n" % harness.HOST), said
    assert "SlurmctldHost: standby is no standby for %s, this is not there yet" % harness.HOST in log_of(cluster, "slurmctld.log")
    refused = cluster.run("strigger", "--set", "--backup_slurmctld_failure", "--program=/bin/true")
    assert refused.code == 1 and "there is no backup slurmctld" in refused.err, refused
    cluster.wait_job(cluster.sbatch("--wrap", "true"))


@row(103)
def test_fair_share_without_slurmdbd_says_what_it_lacks(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, conf="PriorityType=priority/multifactor\nPriorityWeightFairshare=50000")
    said = cluster.run("sshare", "-a")
    assert said.code == 1 and said.out == "" and "accounting" in said.err, said
    assert "PriorityWeightFairshare: can only be used with slurmdbd, and is ignored" in log_of(cluster, "slurmctld.log")
    cluster.wait_job(cluster.sbatch("--wrap", "true"))


@row(76)
def test_a_database_host_without_an_address_holds_no_job_up(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith("AccountingStorageType")] + [
        "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=slurmdb01.invalid"]
    cluster.write_lines()
    cluster.start()
    cluster.wait_job(cluster.sbatch("--wrap", "true"))
    said = cluster.run("sacct")
    assert said.code == 1 and said.out == "" and "slurmdb01.invalid" in said.err, said
    until(cluster.logs, lambda: "slurmdb01.invalid" in log_of(cluster, "slurmctld.log"))
