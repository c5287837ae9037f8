"""Rolling maintenance (muster maintenance, docs/operating.md): nodes are drained, rebooted and returned to service a few at a time."""
import json
import os
import re
import shutil
import subprocess

import pytest

import harness
from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm


class House:
    """A cluster whose nodes are told to reboot by a program that writes their names down; the test boots them again."""

    def __init__(self, make_cluster, nodes=3, conf=""):
        self.cluster = make_cluster(start=False, nodes=nodes, gpus=0)
        self.cluster.script("reboot", "#!/bin/sh\necho $SLURM_NODE_NAME >> %s/reboots\n" % self.cluster.folder)
        self.cluster.script("firmware", "#!/bin/sh\necho firmware $SLURM_NODE_NAME >> %s/firmware\n" % self.cluster.folder)
        self.cluster.conf_lines += ["RebootProgram=%s/reboot" % self.cluster.bin, "ResumeTimeout=120",
                                    "PowerAction=firmware Location=slurmd Program=%s/firmware" % self.cluster.bin]
        self.cluster.conf_lines += conf.split("\n") if conf else []
        self.cluster.write_lines()
        self.cluster.start()

    def lines(self, name="reboots"):
        path = os.path.join(self.cluster.folder, name)
        return open(path).read().split() if os.path.exists(path) else []

    def boot(self, node):
        end_process(self.cluster.slurmds[node])
        self.cluster.slurmds[node] = self.cluster.spawn("slurmd", "-D", "-b", "-N", node, "-f", self.cluster.conf_path)

    def ask(self, *words):
        return self.cluster.run("muster", "maintenance", *words)

    def show(self, name="fw"):
        return json.loads(self.cluster.ok("muster", "maintenance", "show", name, "--json").out)["maintenances"][0]

    def nodes(self, step, name="fw"):
        return [n["name"] for n in self.show(name)["nodes"] if n["step"] == step]

    def held(self):
        """What the cluster itself says of it."""
        out = self.cluster.ok("scontrol", "-o", "show", "node").out
        return re.findall(r"^NodeName=(\S+) .*Reason=maintenance fw", out, re.M)

    def working(self, count):
        return until("%d nodes to be told: %s" % (count, self.lines()), lambda: len(self.lines()) >= count and self.lines())


@pytest.fixture
def house(make_cluster):
    return House(make_cluster)


def test_all_nodes_reboot_and_never_more_than_said_are_away(house):
    cluster = house.cluster
    job = cluster.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "until [ -e go ]; do sleep 0.05; done")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("muster", "maintenance", "start", "fw", "--nodes=n[1-3]", "--reboot", "--at-once=1", "--reason=kernel 6.12")
    for count in (1, 2):                   # the empty ones first
        node = house.working(count)[-1]
        assert node in ("n2", "n3") and len(house.lines()) == count
        assert house.nodes("working") == [node] and house.held() == [node]
        said = cluster.ok("muster", "explain", node).out
        assert "Part of maintenance fw (active; %d of 3 nodes are over): it reboots" % (count - 1) in said, said
        cluster.kill_ctld()                # what is under way is on the disk
        cluster.start_ctld()
        cluster.wait_ctld()
        house.boot(node)
        until("%s to be back" % node, lambda: node in house.nodes("done"))
    until("n1 to be drained", lambda: house.nodes("draining") == ["n1"])
    assert "when its jobs have ended" in cluster.ok("muster", "explain", "n1").out
    assert cluster.job(job)["JobState"] == "RUNNING" and len(house.lines()) == 2
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.file("go", "")
    cluster.wait_job(job)
    assert house.working(3)[-1] == "n1"
    house.boot("n1")
    until("the end", lambda: house.show()["state"] == "finished")
    cluster.wait_nodes("idle")
    assert house.held() == [] and house.show()["done"] == 3
    assert "finished" in cluster.ok("muster", "maintenance", "show").out
    assert "Part of" not in cluster.ok("muster", "explain", "n1").out


def test_two_at_once_by_a_named_action(house):
    house.cluster.ok("muster", "maintenance", "start", "fw", "--nodes", "ALL", "--run", "firmware", "--at-once", "2")
    until("two nodes to be told", lambda: house.lines("firmware").count("firmware") == 2)
    first = sorted(house.nodes("working"))
    assert len(first) == 2 and sorted(house.held()) == first and house.lines() == []
    house.boot(first[0])
    until("the third to be told", lambda: house.lines("firmware").count("firmware") == 3)
    assert len(house.held()) == 2
    for node in house.nodes("working"):
        house.boot(node)
    until("the end", lambda: house.show()["state"] == "finished")
    house.cluster.wait_nodes("idle")


def test_a_node_that_does_not_come_back_stops_it(make_cluster):
    house = House(make_cluster, conf="ResumeTimeout=4")
    cluster = house.cluster
    cluster.ok("scontrol", "update", "nodename=n3", "state=drain", "reason=fan")
    cluster.ok("muster", "maintenance", "start", "fw", "--nodes=ALL", "--reboot")
    lost = house.working(1)[0]
    end_process(cluster.slurmds.pop(lost))
    until("it to stop", lambda: house.show()["state"] == "paused", seconds=60)
    shown = house.show()
    assert shown["why"].startswith("node %s failed: it is down: maintenance fw" % lost) and shown["failed"] == 1
    assert "it paused: node %s" % lost in cluster.ok("muster", "maintenance", "show", "fw").out
    assert house.lines() == [lost] and house.nodes("waiting")
    cluster.ok("muster", "maintenance", "continue", "fw")
    house.boot(house.working(2)[1])
    until("the end", lambda: house.show()["state"] == "finished")
    shown = house.show()
    assert (shown["done"], shown["failed"], shown["skipped"]) == (1, 1, 1)
    assert {n["why"] for n in shown["nodes"] if n["step"] == "skipped"} == {"it is drained: fan"}
    assert "drain" in cluster.node_states()["n3"] and "State=DOWN+DRAIN" in cluster.ok("scontrol", "show", "node", lost).out


def test_other_hands(house):
    cluster = house.cluster
    cluster.sbatch("-w", "n[1-3]", "-N3", "-o", "/dev/null", "--wrap", "sleep 1000")
    until("it to run", lambda: all(s in ("mixed", "allocated") for s in cluster.node_states().values()))
    cluster.ok("muster", "maintenance", "start", "fw", "--nodes=n[1-3]", "--reboot", "--at-once=2")
    until("two to be drained", lambda: len(house.held()) == 2)
    mine = house.held()[0]
    cluster.ok("scontrol", "update", "nodename=" + mine, "state=resume")        # takes it out
    until("it to be left out", lambda: mine in house.nodes("skipped"))
    until("the third to take its place", lambda: sorted(house.held()) == sorted({"n1", "n2", "n3"} - {mine}))
    cluster.ok("muster", "maintenance", "pause", "fw")
    refused = house.ask("pause", "fw")
    assert refused.code == 1 and "maintenance 'fw' is paused" in refused.err
    refused = house.ask("start", "other", "--nodes=" + house.held()[0], "--reboot")
    assert refused.code == 1 and "is part of maintenance 'fw'" in refused.err
    cluster.ok("muster", "maintenance", "cancel", "fw")
    until("all to be returned", lambda: house.held() == [] and house.show()["state"] == "cancelled")
    cluster.cancel_all()
    cluster.wait_nodes("idle")
    assert house.lines() == []


WRONG = [
    ((), "start, show, pause, continue or cancel"), (("begin", "x"), "'begin' is none of"), (("start",), "the name of the maintenance is missing"),
    (("start", "x", "--reboot"), "--nodes says which"), (("start", "x", "--nodes=n1"), "--reboot, or --run"),
    (("start", "x", "--nodes=n1", "--reboot", "--run=firmware"), "--reboot, or --run"),
    (("start", "x", "--nodes=n1", "--run=/bin/rm"), "the name of a PowerAction"), (("start", "x", "--nodes=n1", "--run=firm"), "no PowerAction \"firm\""),
    (("start", "x", "--nodes=n1", "--reboot", "--at-once=0"), "--at-once '0'"), (("start", "x", "--nodes=n1", "--reboot", "--stop-after", "x"), "--stop-after 'x'"),
    (("start", "x", "--nodes=n9", "--reboot"), "n9"), (("start", "a/b", "--nodes=n1", "--reboot"), "letters, digits"),
    (("start", "x", "--nodes=n1", "--reboot", "--reason=a\nb"), "--reason"), (("start", "x", "--nodes=n1", "--reboot=yes"), "--reboot takes no value"),
    (("pause", "x"), "there is no maintenance 'x'"), (("show", "x"), "there is no maintenance 'x'"), (("cancel", "x", "--color=1"), "unrecognized option '--color'"),
]


def test_what_is_refused_and_to_whom(house):
    for words, text in WRONG:
        done = house.ask(*words)
        assert done.code == 1 and text in done.err, (words, done)
    assert house.cluster.ok("muster", "maintenance", "show", "--json").out.split() == ["{", '"maintenances":', "[]", "}"]
    if os.geteuid() == 0 and shutil.which("setpriv"):
        for words in (["start", "x", "--nodes=n1", "--reboot"], ["show"], ["cancel", "x"]):
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "muster", "maintenance", *words], cwd="/",
                                  env=house.cluster.env, capture_output=True, text=True)
            assert done.returncode == 1 and "Access/permission denied" in done.stderr, done
    assert house.held() == [] and house.lines() == []


def test_the_guide(house):
    """The commands of docs/operating.md, as they stand there."""
    with open(os.path.join(harness.REPO, "docs", "operating.md")) as f:
        section = f.read().partition("\n## Rolling maintenance\n")[2].partition("\n## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    muster ")]
    assert len(lines) >= 5
    for line in lines:
        done = house.cluster.sh(line.replace("node[1-3]", "n[1-3]").replace("node2", "n2"))
        assert done.code == 0, (line, done)
    for node in house.nodes("working"):
        house.boot(node)
    until("the end", lambda: house.show()["state"] == "cancelled" and house.held() == [])
    house.cluster.wait_nodes("idle")
