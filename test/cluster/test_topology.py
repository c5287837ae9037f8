"""Checklist rows 74, 84, 94 and 95: gangs under as few leaf switches as can be, and what jobs and commands are told of it."""
import os

import conftest
import harness
import pytest
from test_devices import fake_nvml  # noqa: F401: a fixture

TREE = ("SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\nSwitchName=leaf3 Nodes=n[5-6]\n"
        "SwitchName=spine Switches=leaf[1-3]\n")


def with_topology(cluster, text):
    with open(os.path.join(cluster.folder, "etc", "topology.conf"), "w") as f:
        f.write(text)
    return cluster.start()


def six_nodes(plugin):
    return dict(nodes=6, gpus=0, cpus=2, conf="TopologyPlugin=topology/" + plugin)


@pytest.fixture(scope="module")
def tree():
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, **six_nodes("tree"))
    try:
        yield with_topology(cluster, TREE)
    finally:
        cluster.stop()
        harness.remove(folder)


def hold(cluster, *options):
    job = cluster.sbatch("--exclusive", *options, "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    return cluster.job(job)["NodeList"]


@pytest.fixture
def free_tree(tree):
    yield tree
    tree.cancel_all()
    tree.wait_nodes("idle")


@pytest.mark.row(94)
def test_a_gang_stands_under_one_leaf(free_tree):
    hold(free_tree, "-w", "n1")
    assert hold(free_tree, "-N2") == "n[3-4]"       # n2 is free before them, but alone
    assert hold(free_tree, "-N1") == "n2"           # the leaf that is broken already
    assert hold(free_tree, "-N2") == "n[5-6]"


@pytest.mark.row(94)
def test_a_larger_gang_takes_whole_leaves(free_tree):
    hold(free_tree, "-w", "n1")
    assert hold(free_tree, "-N4") == "n[3-6]"


def test_tasks_know_their_switches(free_tree):
    free_tree.file("where.sh", "#!/bin/bash\n#SBATCH -N2 -w n[3-4]\necho batch $SLURM_TOPOLOGY_ADDR "
                   "$SLURM_TOPOLOGY_ADDR_PATTERN\nsrun sh -c 'echo task $SLURM_TOPOLOGY_ADDR'\n")
    job = free_tree.sbatch("where.sh")
    free_tree.wait_job(job)
    lines = free_tree.read("slurm-%d.out" % job).splitlines()
    assert lines[0] == "batch spine.leaf2.n3 switch.switch.node"
    assert sorted(lines[1:]) == ["task spine.leaf2.n3", "task spine.leaf2.n4"]


@pytest.mark.better_than_slurm
def test_the_placement_is_reported(free_tree):
    """One word in `show job -d`, after Slurm's own lines; in words, with the reason, by muster explain."""
    hold(free_tree, "-w", "n1")
    assert hold(free_tree, "-N4") == "n[3-6]"
    (job,) = free_tree.queue("-w", "n3", "-o", "%i")
    shown = free_tree.ok("scontrol", "show", "job", "-d", job).lines
    at = next(i for i, line in enumerate(shown) if line.startswith("     Nodes="))
    assert shown[at:at + 2] == ["     Nodes=n[3-6] CPU_IDs=0-1 Mem=20 GRES=",
                                "   Placement=kind=tree,switches=2,within=spine,leaf2=n[3-4],leaf3=n[5-6]"], shown
    assert "Placement=" not in free_tree.ok("scontrol", "show", "job", job).out
    assert free_tree.job(job)["NodeList"] == "n[3-6]"
    said = free_tree.ok("muster", "explain", job).out
    assert "Placed by topology default (tree): 2 leaf switches, all within spine\n" in said, said
    assert "Why these nodes:\n  2 leaf switches, the fewest that hold so many nodes\n" in said, said


def test_show_topology(free_tree):
    assert free_tree.ok("scontrol", "show", "topology").out.splitlines() == [
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]",
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]",
        "SwitchName=leaf3 Level=0 LinkSpeed=1 Nodes=n[5-6]",
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=leaf[1-3]"]


@pytest.mark.better_than_slurm
def test_show_one_unit_or_those_of_a_node(free_tree):
    assert free_tree.ok("scontrol", "show", "topology", "unit=leaf3").out == \
        "SwitchName=leaf3 Level=0 LinkSpeed=1 Nodes=n[5-6]\n"
    assert [line.split()[0] for line in free_tree.ok("scontrol", "show", "topology", "node=n1").lines] == [
        "SwitchName=leaf1", "SwitchName=spine"]
    assert "  tree:" in free_tree.ok("scontrol", "show", "topoconf").lines


@pytest.mark.better_than_slurm
def test_functions_of_node_lists(free_tree):
    """Guide topology: switch{…} and switchwith{…} in place of or beside names, for commands that ask the controller."""
    assert hold(free_tree, "--nodelist=switchwith{n4}") == "n[3-4]"
    free_tree.cancel_all()
    free_tree.wait_nodes("idle")
    job = free_tree.sbatch("-H", "-w", "n1,switch{leaf3}", "-x", "switch{leaf2}", "--wrap", "true")
    record = free_tree.job(job)
    assert (record["ReqNodeList"], record["ExcNodeList"]) == ("n[1,5-6]", "n[3-4]") and record["NumNodes"].startswith("3")
    free_tree.ok("scontrol", "update", "node=switch{leaf1}", "state=drain", "reason=cabling")
    assert [line for line in free_tree.ok("scontrol", "-o", "show", "node", "switch{leaf1}").lines if "State=IDLE+DRAIN" in line
            ] == free_tree.ok("scontrol", "-o", "show", "node", "switch{leaf1}").lines
    free_tree.ok("scontrol", "update", "node=switch{leaf1}", "state=resume")
    for text, why in (("switch{leaf9}", "means no node here"), ("rack{r1}", "no function of node lists"), ("switchwith{n99}", "no such node")):
        said = free_tree.run("sbatch", "-w", text, "--wrap", "true")
        assert said.code == 1 and "Invalid node name specified" in said.err and why in said.err, said


@pytest.mark.row(74)
@pytest.mark.better_than_slurm
def test_blocks_and_a_node_that_moves(make_cluster):
    cluster = with_topology(make_cluster(start=False, **six_nodes("block")),
                            "BlockName=b1 Nodes=n[1-3]\nBlockName=b2 Nodes=n[4-6]\nBlockSizes=2,4\n")
    assert cluster.ok("scontrol", "show", "topology").lines == [
        "BlockName=b1 BlockIndex=0 Nodes=n[1-3] BlockSize=2", "BlockName=b2 BlockIndex=1 Nodes=n[4-6] BlockSize=2",
        "AggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[1-6] BlockSize=4"]
    hold(cluster, "-w", "n[1-2]", "-N2")
    assert hold(cluster, "-N2") == "n[4-5]"
    cluster.ok("scontrol", "update", "nodename=n6", "topology=default:b1")
    assert "BlockName=b1 BlockIndex=0 Nodes=n[1-3,6] BlockSize=2" in cluster.ok("scontrol", "show", "topology").lines
    assert hold(cluster, "-N2") == "n[3,6]"


RACK = "2f9c1d3e00aa4bcd8e010242ac120002"
CLIQUE = "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.%d"


@pytest.fixture
def racks(make_cluster, fake_nvml):  # noqa: F811
    """Nodes with eight H100 each (src/os/node/testdata/fake_nvml.c), whose driver has them in these cliques of a rack; 0: in none."""
    def make(cliques, topology):
        c = make_cluster(start=False, nodes=len(cliques), cpus=16, gpus=0, gres_conf="AutoDetect=nvml\n", memory=1000, real_hardware=True,
                         node_line="Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:h100:8", conf="TopologyPlugin=topology/block")
        c.env.update(MUSTER_NVML_LIBRARY=fake_nvml, MUSTER_FAKE_NVML="h100", MUSTER_DEVICE_ROOT=c.folder,
                     HWLOC_SYNTHETIC="pack:2 core:4 pu:2")
        write_topology(c, "topology.conf", topology)
        c.start_ctld()
        c.wait_ctld()
        for name, clique in zip(c.names, cliques):
            fabric = "fabric -1 %s %d 3 0\n" % (RACK, clique) if clique else ""
            c.env["MUSTER_FAKE_NVML_FABRIC"] = c.file("fabric-" + name, fabric)
            c.start_slurmd(name)
        c.wait_nodes("idle")
        return c
    return make


def write_topology(cluster, name, text):
    with open(os.path.join(cluster.folder, "etc", name), "w") as f:
        f.write(text)


@pytest.mark.better_than_slurm
def test_blocks_are_what_the_fabric_says(racks):
    c = racks([1, 1, 2, 2, 0], "BlockName=b1 Nodes=n[1-3]\nBlockName=b2 Nodes=n[4-5]\nBlockSizes=2\n")
    as_configured = ["BlockName=b1 BlockIndex=0 Nodes=n[1-3] BlockSize=2", "BlockName=b2 BlockIndex=1 Nodes=n[4-5] BlockSize=2"]
    assert c.ok("scontrol", "show", "topology").lines == as_configured     # what nodes tell moves nothing
    said = c.run("muster", "topology", "--check")
    hint = "    jobs "
    assert said.code == 1 and [line for line in said.lines if not line.startswith(hint)] == [
        "topology default: warning: block b1: spans 2 NVLink cliques: n[1-2] in %s, n3 in %s" % (CLIQUE % 1, CLIQUE % 2),
        "topology default: warning: NVLink clique %s: is not in one block: n3 in block b1, n4 in block b2" % (CLIQUE % 2),
        "2 warnings in topology default"], said
    conf = c.ok("muster", "topology", "--conf").lines
    assert conf == ["# Proposed by muster topology: a block for each NVLink clique that nodes tell of.",
                    "#   %s: 2 nodes" % (CLIQUE % 1), "#   %s: 2 nodes" % (CLIQUE % 2),
                    "# 1 node without, left where they are: n5",
                    "BlockName=b1 Nodes=n[1-2]", "BlockName=b2 Nodes=n[3-5]", "BlockSizes=2"]
    # It is known after a restart of slurmctld, of nodes that are away, too.
    harness.end_process(c.slurmds.pop("n4"))
    c.kill_ctld()
    c.start_ctld()
    c.wait_ctld()
    assert c.ok("muster", "topology", "--conf").lines == conf
    # The proposed file is taken, and nothing contradicts it.
    write_topology(c, "topology.yaml", c.ok("muster", "topology").out)
    c.ok("scontrol", "reconfigure")
    harness.until("the new blocks", lambda: "BlockName=b2 BlockIndex=1 Nodes=n[3-5] BlockSize=2" in c.ok("scontrol", "show", "topology").lines)
    assert c.ok("muster", "topology", "--check").out == "topology default: no findings\n"


@pytest.mark.better_than_slurm
def test_a_node_that_cannot_say_its_fabric_says_nothing(racks):
    c = racks([1, 1], "BlockName=b1 Nodes=n[1-2]\n")
    harness.end_process(c.slurmds["n2"])
    c.env["MUSTER_FAKE_NVML_FABRIC"] = c.file("fabric-n2", "fabric -1 %s 1 3 0\nfabric 4 %s 2 3 0\n" % (RACK, RACK))
    printed = c.ok("slurmd", "-G", "-N", "n2", "-f", c.conf_path)
    assert "the GPUs are not of one NVLink fabric: GPU 0000:20:00.0 is of %s, GPU 0000:50:00.0 of %s" % (CLIQUE % 1, CLIQUE % 2) in printed.err
    assert "slurmd: NVLink fabric" not in printed.out
    c.start_slurmd("n2")
    harness.until("n2 to say so", lambda: "# 1 node without, left where they are: n2" in c.ok("muster", "topology").lines)
    assert c.node_states()["n2"] == "idle"
    c.env["MUSTER_FAKE_NVML_FABRIC"] = os.path.join(c.work, "fabric-n1")
    assert "slurmd: NVLink fabric " + CLIQUE % 1 in c.ok("slurmd", "-G", "-N", "n1", "-f", c.conf_path).lines


@pytest.mark.better_than_slurm
def test_without_a_fabric_nothing_is_proposed(free_tree):
    for words, why in (([], "topology: no node tells of an NVLink fabric"), (["--check"], "topology: no node tells of an NVLink fabric"),
                       (["--json"], "topology: --json goes with --check"), (["--conf", "--check"], "topology: --conf does not go with --check"),
                       (["--chek"], "did you mean --check?")):
        said = free_tree.run("muster", "topology", *words)
        assert said.code == 1 and why in said.err and said.out == "", said
