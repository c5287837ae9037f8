"""The checklist's configuration (rows 67-85 of checklist.txt) and what sites rely on (90-98, 125, 134), in the words written
there. Devices come from the stand-in for NVIDIA's library where a row is about finding them (see test_devices.py)."""
import os
import re
import subprocess

import conftest
import harness
import pytest
import sites
from harness import REPO, until
from sites import h100  # noqa: F401: a fixture

pytestmark = pytest.mark.better_than_slurm
row = pytest.mark.row


@pytest.fixture
def make_site():
    made = []

    def make(names, text, gres="", topology=None, start=True, **more):
        made.append(sites.Site(conftest.new_folder(), names, text, gres, topology, **more))
        return made[-1].start() if start else made[-1]
    yield make
    for one in made:
        one.stop()
        harness.remove(one.folder)


def hold(cluster, *options):
    return cluster.wait_job(cluster.sbatch(*options, "--wrap", "sleep 600"), "RUNNING")


def waits_for_the_limit(cluster, *options):
    """EnforcePartLimits=NO, as by default: a job beyond the partition's limit is taken and waits."""
    job = cluster.sbatch(*options, "--wrap", "true")
    until("the reason", lambda: cluster.job(job)["Reason"] == "PartitionTimeLimit")


def refused_by_slurmctld(site):
    """What slurmctld says when it will not start with these files."""
    site.start_ctld()
    assert site.ctld.wait(20) == 1, site.logs()
    return open(os.path.join(site.folder, "log", "slurmctld.out")).read()


def checked(site):
    return site.run("muster", "check-config", os.path.dirname(site.conf_path))


# ---- slurm.conf
@row(67, 68, 81)
def test_nodes_over_several_lines(cluster):
    for name in sites.H100_NODES[:4]:
        record = cluster.ok("scontrol", "show", "node", name).out
        assert re.search(r"^   Gres=gpu:h100:8$", record, re.M) and "CPUTot=128 " in record and "RealMemory=2048000 " in record
        assert "CfgTRES=cpu=128,mem=2000G,billing=128,gres/gpu=8,gres/gpu:h100=8" in record and "State=IDLE " in record
    assert re.search(r"^GresTypes +=  ?gpu$", cluster.ok("scontrol", "show", "config").out, re.M)


@row(69, 71)
def test_nodes_on_one_line(make_site):
    site = make_site(sites.A100_NODES, sites.A100_CONF, sites.A100_GRES)
    assert site.ok("sinfo").out == ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                                    "training*    up 3-00:00:00      8   idle gpu-node[01-08]\n")
    assert site.ok("sinfo", "-h", "-o", "%c %m %G").out == "128 1024000 gpu:a100:8\n"
    waits_for_the_limit(site, "--time=72:01:00")


@row(70)
def test_the_default_partition(cluster):
    shown = cluster.ok("scontrol", "show", "partition", "train").out
    assert " Default=YES " in shown and " MaxTime=7-00:00:00 " in shown and "State=UP " in shown
    assert "Nodes=gpu-node-[001-004]\n" in shown
    assert cluster.job(cluster.sbatch("--hold", "--wrap", "true"))["Partition"] == "train"
    waits_for_the_limit(cluster, "--time=168:01:00")
    cluster.wait_job(cluster.sbatch("--time=168:00:00", "--wrap", "true"))


@row(72)
def test_cpus_of_a_user_in_a_partition(cluster):
    """The key is a QOS's in Slurm, which does not start with it: the log says which was meant, and the limit is kept."""
    log = open(os.path.join(cluster.folder, "log", "slurmctld.log")).read()
    assert re.search(r"slurm\.conf:\d+: MaxCPUsPerUser: .*QOS \(MaxTRESPerUser=cpu=8\)", log), log
    assert "MaxTRESPerUser=cpu=8" in checked(cluster).out + checked(cluster).err
    hold(cluster, "-p", "debug", "-n8")
    over = cluster.sbatch("-p", "debug", "-n1", "--wrap", "true")
    until("its reason", lambda: cluster.job(over)["Reason"] == "QOSMaxCpuPerUserLimit")
    hold(cluster, "-p", "train", "-n8")     # the limit is the partition's
    assert "MaxTime=02:00:00" in cluster.ok("scontrol", "show", "partition", "debug").out
    waits_for_the_limit(cluster, "-p", "debug", "--time=02:01:00")


@row(73)
def test_a_partition_with_more_priority(make_site):
    site = make_site(sites.H100_NODES, sites.H100_CONF + "PriorityType=priority/multifactor\nPriorityWeightPartition=1000\n",
                     sites.H100_GRES, sites.H100_TOPOLOGY)
    shown = site.ok("scontrol", "show", "partition", "priority").out
    assert " MaxTime=30-00:00:00 " in shown and "PriorityJobFactor=2 " in shown
    hold(site, "-N4", "--exclusive")
    jobs = {name: site.sbatch("-N4", "--exclusive", "-p", name, "--wrap", "true") for name in ("train", "priority")}
    assert site.queue("-t", "PD", "-o", "%i") == [str(jobs["priority"]), str(jobs["train"])]
    assert int(site.job(jobs["priority"])["Priority"]) > int(site.job(jobs["train"])["Priority"])


@row(74)
@pytest.mark.parametrize("plugin,topology,shown", [
    ("tree", sites.H100_TOPOLOGY, "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu-node-[001-004]"),
    ("flat", None, None),
    ("block", "BlockName=b1 Nodes=gpu-node-[001-004]\nBlockName=b2 Nodes=gpu-node-[005-008]\nBlockSizes=4\n",
     "BlockName=b1 BlockIndex=0 Nodes=gpu-node-[001-004] BlockSize=4")])
def test_topology_plugins(make_site, plugin, topology, shown):
    site = make_site(sites.H100_NODES, sites.H100_CONF.replace("topology/tree", "topology/" + plugin), sites.H100_GRES, topology)
    assert re.search(r"^TopologyPlugin +=  ?topology/%s$" % plugin, site.ok("scontrol", "show", "config").out, re.M)
    if shown:
        assert shown in site.ok("scontrol", "show", "topology").lines
    hold(site, "-p", "gpu", "-w", "gpu-node-001", "--exclusive")
    together = hold(site, "-p", "gpu", "-N4", "--exclusive")["NodeList"]
    assert together == ("gpu-node-[002-005]" if plugin == "flat" else "gpu-node-[005-008]")


# ---- gres.conf
@pytest.fixture(scope="module")
def fake_nvml(tmp_path_factory):
    library = str(tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, REPO + "/src/os/node/testdata/fake_nvml.c"], check=True)
    return library


def with_nvml(site, library, machine):
    site.env.update(MUSTER_NVML_LIBRARY=library, MUSTER_FAKE_NVML=machine, HWLOC_SYNTHETIC="pack:2 core:4 pu:2")
    return site


ONE_BOX = ("GresTypes=gpu\nNodeName=gpu-node01 Gres=gpu:%s CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=1000\n"
           "PartitionName=training Nodes=gpu-node01 Default=YES MaxTime=72:00:00\n")


def box_with_nvml(make_site, library, kind, gres):
    """A node whose library finds eight H100. Devices stand below the site's folder, so that is where File= points."""
    site = make_site(["gpu-node01"], ONE_BOX % (kind + ":8"), start=False, real_hardware=True)
    with open(site.folder + "/etc/gres.conf", "w") as f:
        f.write(gres.replace("/dev/", site.folder + "/dev/"))
    return with_nvml(site, library, "h100")


@row(81, 60)
def test_gres_conf_by_node(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH -N4\n#SBATCH --gres=gpu:h100:8\nsrun nvidia-smi\n")
    assert sorted(out.splitlines()) == sorted("GPU %d: NVIDIA H100 80GB HBM3 (job %s on %s)" % (
        i, re.search(r"job (\d+)", out)[1], name) for name in sites.H100_NODES[:4] for i in range(8))


@row(82)
def test_autodetect_with_a_line_beside_it(make_site, fake_nvml):
    site = box_with_nvml(make_site, fake_nvml, "h100", "AutoDetect=nvml\nName=gpu Type=h100 File=/dev/nvidia[0-7]\n").start()
    printed = site.ok("slurmd", "-G", "-N", "gpu-node01", "-f", site.conf_path)
    found = re.findall(r"Gres Name=gpu Type=h100 Count=1 .*Cores=(\S+) Links=([-,\d]+)$", printed.out + printed.err, re.M)
    assert [cores for cores, _ in found].count("0-3") == 4 == [cores for cores, _ in found].count("4-7"), printed
    assert all(sorted(links.split(",")) == ["-1"] + ["17"] * 7 for _, links in found), printed
    out, _ = site.run_script("#!/bin/bash\n#SBATCH --gres=gpu:8\necho $CUDA_VISIBLE_DEVICES\n")
    assert out == "0,1,2,3,4,5,6,7\n"


@row(82, 98)
def test_autodetect_finds_another_type(make_site, fake_nvml):
    """The line as it stands in the row, on a node that has eight H100."""
    site = box_with_nvml(make_site, fake_nvml, "a100", "AutoDetect=nvml\nName=gpu Type=a100 File=/dev/nvidia[0-7]\n")
    site.start(wait=False)
    until(lambda: site.logs(), lambda: "INVAL" in site.ok("scontrol", "show", "node", "gpu-node01").out)
    assert "gres/gpu count reported lower than configured (0 < 8)" in site.ok("scontrol", "show", "node", "gpu-node01").out
    assert "a100" in site.logs(20000) and "h100" in site.logs(20000)


@row(83)
def test_mig_lines_that_name_whole_cards(make_site):
    site = make_site(["gpu-node01"], ONE_BOX % "a100_3g.20gb:8,gpu:a100_1g.5gb:8",
                     "Name=gpu Type=a100_3g.20gb File=/dev/nvidia[0-7] Cores=[0-1]\n"
                     "Name=gpu Type=a100_1g.5gb File=/dev/nvidia[0-7] Cores=[2-3]\n", start=False)
    said = checked(site)
    text = said.out + said.err
    assert re.search(r"gres\.conf:1: warning: Cores: takes numbers without brackets; read as 0-1", text), text
    assert re.search(r"gres\.conf:2: warning: File: /dev/nvidia0 is already given at \S+gres\.conf:1", text), text
    assert "AutoDetect=nvml" in text and "MultipleFiles=" in text, text


@row(36, 83)
def test_mig_instances_that_are_found(make_site, fake_nvml):
    site = make_site(["gpu-node01"], ONE_BOX % "a100_3g.20gb:1,gpu:a100_1c.3g.20gb:1,gpu:a100:1", "AutoDetect=nvml\n", start=False,
                     real_hardware=True, gpus=3)
    caps = "/proc/driver/nvidia/capabilities/gpu0/mig/"
    for path, minor in (("gi1/access", 12), ("gi1/ci0/access", 13), ("gi2/access", 21), ("gi2/ci0/access", 22)):
        os.makedirs(os.path.dirname(site.folder + caps + path), exist_ok=True)
        with open(site.folder + caps + path, "w") as f:
            f.write("DeviceFileMinor: %d\n" % minor)
    with_nvml(site, fake_nvml, "mig").start()
    out, record = site.run_script("#!/bin/bash\n#SBATCH --gres=gpu:a100_3g.20gb:1\necho $CUDA_VISIBLE_DEVICES\n")
    assert out.startswith("MIG-") and record["TresPerNode"] == "gres/gpu:a100_3g.20gb:1"


# ---- topology.conf
@row(84)
def test_a_tree_with_forward_references(cluster):
    assert cluster.ok("scontrol", "show", "topology").lines == [
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu-node-[001-004]",
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu-node-[005-008]",
        "SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=gpu-node-[001-008] Switches=leaf[1-2]"]


@row(84)
def test_a_tree_with_ranges(make_site):
    site = make_site(["gpu%03d" % i for i in range(1, 33)], "TopologyPlugin=topology/tree\nNodeName=gpu[001-032] CPUs=8\n"
                     "PartitionName=gpu Nodes=gpu[001-032] Default=YES\n", gpus=0, start=False,
                     topology="SwitchName=leaf0 Nodes=gpu[001-016]\nSwitchName=leaf1 Nodes=gpu[017-032]\nSwitchName=spine Switches=leaf[0-1]\n")
    site.start_ctld()
    site.wait_ctld()
    assert site.ok("scontrol", "show", "topology").lines == [
        "SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=gpu[001-016]", "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu[017-032]",
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=gpu[001-032] Switches=leaf[0-1]"]


@row(85)
def test_a_colon_between_switches(make_site):
    site = make_site(sites.H100_NODES, sites.H100_CONF, sites.H100_GRES, sites.H100_TOPOLOGY.replace("leaf1,leaf2", "leaf1:leaf2"),
                     start=False)
    for text in (checked(site).out + checked(site).err, refused_by_slurmctld(site)):
        assert re.search(r"topology\.conf:1: .*leaf1:leaf2", text) and "did you mean leaf1,leaf2?" in text, text


# ---- what sites rely on
@row(90)
def test_all_nodes_or_none(cluster):
    blocker = hold(cluster, "-w", "gpu-node-004", "--gres=gpu:1")
    gang = cluster.sbatch("-N4", "--gres=gpu:8", "-o", "gang.out", "--wrap", "srun bash -c 'echo $SLURMD_NODENAME' | sort")
    until("a reason", lambda: cluster.job(gang)["Reason"] == "Resources")
    # It holds nothing while it waits: three nodes are wholly free, and one GPU's worth of work for a minute fits in before it.
    for name in sites.H100_NODES[:3]:
        assert "CPUAlloc=0 " in cluster.ok("scontrol", "show", "node", name).out
    assert cluster.job(gang)["NodeList"] in ("", "(null)") and not os.path.exists(cluster.work + "/gang.out")
    cluster.ok("scancel", blocker["JobId"])
    assert cluster.wait_job(gang)["NodeList"] == "gpu-node-[001-004]"
    assert cluster.read("gang.out") == "".join(name + "\n" for name in sites.H100_NODES[:4])


@row(91)
def test_what_is_given_stays(cluster):
    first = hold(cluster, "-N4", "--gres=gpu:8")
    urgent = cluster.sbatch("-p", "priority", "--gres=gpu:1", "--nice=-1000", "--wrap", "true")
    until("a reason", lambda: cluster.job(urgent)["Reason"] == "Resources")
    now = cluster.job(first["JobId"])
    assert (now["JobState"], now["StartTime"], now["NodeList"], now["Restarts"]) == (
        "RUNNING", first["StartTime"], first["NodeList"], "0")
    cluster.ok("scancel", first["JobId"])
    cluster.wait_job(urgent)


@row(94)
def test_one_leaf_before_two(cluster):
    hold(cluster, "-p", "gpu", "-w", "gpu-node-001", "--exclusive")
    assert hold(cluster, "-p", "gpu", "-N4", "--exclusive")["NodeList"] == "gpu-node-[005-008]"
    # Three are left under leaf1; four would cross, and say so where the user asked not to.
    waits = cluster.sbatch("-p", "gpu", "-N4", "--switches=1", "--exclusive", "--wrap", "true")
    assert hold(cluster, "-p", "gpu", "-N3", "--exclusive")["NodeList"] == "gpu-node-[002-004]"
    assert cluster.job(waits)["JobState"] == "PENDING"


@row(95)
def test_linked_gpus_and_one_leaf(make_site):
    """Two islands of four GPUs each: two GPUs of one job are of one island; two nodes of one job are of one leaf."""
    island = lambda i: ",".join("-1" if i == j else "4" if i // 2 == j // 2 else "0" for j in range(4))
    gres = "".join("Name=gpu Type=a100 File=/dev/nvidia%d Links=%s\n" % (i, island(i)) for i in range(4))
    site = make_site(["b1", "b2", "b3", "b4"], "GresTypes=gpu\nTopologyPlugin=topology/tree\n"
                     "NodeName=b[1-4] Gres=gpu:a100:4 CPUs=8 RealMemory=1000\nPartitionName=gpu Nodes=b[1-4] Default=YES\n", gres,
                     "SwitchName=ib1 Nodes=b[1-2]\nSwitchName=ib2 Nodes=b[3-4]\nSwitchName=core Switches=ib[1-2]\n", gpus=4)
    hold(site, "-w", "b1", "--gres=gpu:1")
    record = hold(site, "-w", "b1", "--gres=gpu:2")
    shown = site.ok("scontrol", "show", "job", "-d", record["JobId"]).out
    assert "GRES=gpu:a100:2(IDX:2-3)" in shown, shown        # 1 and 2 are free as well, and not linked
    assert hold(site, "-N2", "--gres=gpu:4")["NodeList"] == "b[3-4]"


@row(96)
def test_shards_start_as_gpus_free_up(make_cluster):
    """1,000 shards on 10 GPUs: never more than ten at a time, no GPU twice, each shard once."""
    cluster = make_cluster(nodes=2, gpus=5, cpus=10)
    cluster.file("shards.sh", "#!/bin/bash\n#SBATCH --array=0-999          # 1000 shards\n#SBATCH --gres=gpu:1\n#SBATCH -o /dev/null\n"
                 "me=$SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES\nmkdir busy-$me || echo twice on $me >>wrong\n"
                 "echo $SLURM_ARRAY_TASK_ID >>done\nrmdir busy-$me\n")
    job = cluster.sbatch("shards.sh")
    most = 0
    while cluster.queue("-j", str(job)):
        most = max(most, len(cluster.queue("-r", "-j", str(job), "-t", "R")))
    assert sorted(map(int, cluster.read("done").split())) == list(range(1000))
    assert most <= 10 and cluster.sh("cat wrong").out == ""


@row(97)
def test_jobs_share_a_node_but_no_gpu_unless_one_has_it_all(cluster):
    shares = [hold(cluster, "-w", "gpu-node-001", "--gres=gpu:4") for _ in range(2)]
    indexes = [re.search(r"GRES=gpu:h100:4\(IDX:([0-9-]+)\)", cluster.ok("scontrol", "show", "job", "-d", job["JobId"]).out)[1]
               for job in shares]
    assert sorted(indexes) == ["0-3", "4-7"]
    alone = hold(cluster, "-w", "gpu-node-002", "--gres=gpu:1", "--exclusive")
    other = cluster.sbatch("-w", "gpu-node-002", "--gres=gpu:1", "--wrap", "true")
    until("a reason", lambda: cluster.job(other)["Reason"] == "Resources")
    assert alone["NumCPUs"] == "128"


@row(134)
@pytest.mark.parametrize("kind", ["h100", "a100", "b200"])
def test_types_of_gpus(make_site, kind):
    site = make_site(["dgx1"], "GresTypes=gpu\nNodeName=dgx1 Gres=gpu:%s:8 CPUs=8 RealMemory=1000\n"
                     "PartitionName=blackwell Nodes=dgx1 Default=YES\n" % kind, "Name=gpu Type=%s File=/dev/nvidia[0-7]\n" % kind)
    out, record = site.run_script("#!/bin/bash\n#SBATCH --partition=blackwell\n#SBATCH --gres=gpu:%s:2\necho $CUDA_VISIBLE_DEVICES\n" % kind)
    assert out == "0,1\n" and record["AllocTRES"].endswith("gres/gpu=2,gres/gpu:%s=2" % kind), record
    said = site.run("sbatch", "--gres=gpu:v100:1", "--wrap", "true")
    assert said.code == 1 and kind in said.err, said
