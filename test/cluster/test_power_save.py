"""Power saving: nodes that nobody needs are powered down by SuspendProgram and come back for a job by ResumeProgram. slurm.conf(5) Suspend*."""
import json
import os
import re

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # Slurm looks every ten seconds


class Machines:
    """A cluster whose programs about power write down what they are told; this test is the power switch."""

    def __init__(self, make_cluster, conf, nodes=2):
        self.cluster = c = make_cluster(nodes=nodes, gpus=0, start=False)
        for program in ("suspend", "resume", "failed"):
            c.script(program, "#!/bin/bash\n[ -z \"$SLURM_RESUME_FILE\" ] || cp $SLURM_RESUME_FILE %s/resume.json\necho %s $1 >>%s/power\n"
                     % (c.work, program, c.work))
        c.conf_lines.append("SuspendProgram={0}/suspend\nResumeProgram={0}/resume\nResumeFailProgram={0}/failed\nSlurmctldParameters="
                            "power_save_interval=1\nSuspendTimeout=1\nResumeTimeout=60\n{1}".format(c.bin, conf))
        c.write_lines()
        c.start()

    def told(self):
        path = self.cluster.work + "/power"
        return open(path).read().split("\n")[:-1] if os.path.exists(path) else []

    def off(self, *nodes):
        for node in nodes:
            assert end_process(self.cluster.slurmds.pop(node)) == 0

    def on(self, *nodes):
        for node in nodes:
            self.cluster.start_slurmd(node)

    def states(self):
        return dict(line.split() for line in self.cluster.ok("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").lines)


@pytest.mark.row(80, 130, 133)
def test_idle_nodes_go_down_and_come_back_for_a_job(make_cluster):
    m = Machines(make_cluster, "SuspendTime=2")
    until("both nodes to go down", lambda: m.told() == ["suspend n[1-2]"])
    m.off("n1", "n2")
    until(lambda: "nodes that are powered down: %s" % m.states(), lambda: set(m.states().values()) == {"idle~"})
    job = m.cluster.sbatch("-N1", "-o", "out", "--wrap", "echo here")
    until("the order to come up", lambda: m.told()[1:] and m.told()[1].startswith("resume n"))
    node = m.told()[1].split()[1]
    assert m.states()[node] in ("alloc#", "mix#") and m.cluster.job(job)["JobState"] == "CONFIGURING", m.states()
    file = json.loads(m.cluster.read("resume.json"))
    assert file["all_nodes_resume"] == node and [(j["job_id"], j["nodes_alloc"]) for j in file["jobs"]] == [(job, node)], file
    until("the file to go", lambda: not [name for name in os.listdir(m.cluster.state_folder) if name.startswith("resume.")])
    m.on(node)
    m.cluster.wait_job(job)
    assert m.cluster.read("out") == "here\n"
    until("the node to go down again", lambda: m.told()[2:] == ["suspend " + node])
    m.off(node)


def test_those_that_are_excluded_stay(make_cluster):
    m = Machines(make_cluster, "SuspendTime=1\nSuspendExcNodes=n[1-3]:2", nodes=4)
    until("two nodes to go down", lambda: len(m.told()) >= 1)
    assert sorted(set(m.states().values())) in (["idle", "idle%"], ["idle", "idle~"])
    assert list(m.states().values()).count("idle") == 2 and m.states()["n4"] != "idle"
    m.cluster.ok("scontrol", "update", "SuspendExcNodes=")
    until("the others as well", lambda: all(state != "idle" for state in m.states().values()))


@pytest.mark.row(80)
def test_one_that_does_not_come_up_is_told(make_cluster):
    m = Machines(make_cluster, "SuspendTime=1", nodes=1)
    m.cluster.conf_lines = [line.replace("ResumeTimeout=60", "ResumeTimeout=2") for line in m.cluster.conf_lines]
    m.cluster.write_lines()
    m.cluster.ok("scontrol", "reconfigure")
    until("the node to go down", lambda: m.told() == ["suspend n1"])
    m.off("n1")
    until("it to be off", lambda: m.states() == {"n1": "idle~"})
    job = m.cluster.sbatch("--requeue", "--wrap", "true")
    until("the failure to be told", lambda: "failed n1" in m.told())
    assert "ResumeTimeout reached" in m.cluster.ok("scontrol", "show", "node", "n1").out
    until("the job to wait again", lambda: m.cluster.job(job)["JobState"] == "PENDING")


def test_a_restart_of_the_controller_changes_nothing(make_cluster):
    m = Machines(make_cluster, "SuspendTime=2", nodes=1)
    until("the node to go down", lambda: m.told() == ["suspend n1"])
    m.off("n1")
    until("it to be off", lambda: m.states() == {"n1": "idle~"})
    m.cluster.kill_ctld()
    m.cluster.start_ctld()
    m.cluster.wait_ctld()
    assert m.states() == {"n1": "idle~"} and m.told() == ["suspend n1"]


def test_resume_rate_lets_whole_jobs_up_by_the_minute(make_cluster):
    m = Machines(make_cluster, "SuspendTime=100000\nResumeRate=3", nodes=4)
    m.cluster.ok("scontrol", "power", "down", "n[1-4]")
    until("the nodes to go down", lambda: set(m.states().values()) == {"idle~"})
    m.off("n1", "n2", "n3", "n4")
    first, second = (m.cluster.sbatch("-N2", "-w", nodes, "--wrap", "true") for nodes in ("n[1-2]", "n[3-4]"))
    until("the first job's nodes to be told", lambda: "resume n[1-2]" in m.told())
    until("both jobs to have nodes", lambda: {m.cluster.job(j)["JobState"] for j in (first, second)} == {"CONFIGURING"})
    assert set(m.states().values()) == {"alloc#"} or "mix#" in m.states().values(), m.states()
    assert m.told()[-1] == "resume n[1-2]"          # its node that would fit comes with the other one, in a minute
    m.cluster.kill_ctld()                           # a minute begins anew with the controller
    m.cluster.start_ctld()
    until("the second job's nodes to be told", lambda: m.told()[-1] == "resume n[3-4]")


@pytest.mark.row(80)
def test_no_more_nodes_are_powered_up_than_may_be(make_cluster):
    m = Machines(make_cluster, "SuspendTime=1\nSuspendExcNodes=n1", nodes=3)
    c = m.cluster

    def most(number):
        c.conf_lines = [re.sub("power_save_interval=1(,max_powered_nodes=[0-9]+)?", "power_save_interval=1,max_powered_nodes=%d" % number, line)
                        for line in c.conf_lines]
        c.write_lines()
        c.ok("scontrol", "reconfigure")
    until("two nodes to go down", lambda: m.states() != {} and m.states()["n1"] == "idle" and
          all(m.states()[n] in ("idle%", "idle~") for n in ("n2", "n3")))
    m.off("n2", "n3")
    until(lambda: "nodes that are powered down: %s" % m.states(), lambda: m.states() == {"n1": "idle", "n2": "idle~", "n3": "idle~"})
    before = len(m.told())
    most(2)
    large = c.sbatch("-N3", "--wrap", "true")
    until("the job to wait", lambda: c.job(large)["Reason"] == "Resources")
    until("why", lambda: "1 node is powered up, of 2 that may be (max_powered_nodes)" in c.ok("muster", "explain", str(large)).out)
    # Small ones do not take what it waits for.
    small = c.sbatch("-w", "n2", "--nice=100", "--wrap", "true")
    until("a look at it", lambda: c.job(small)["Reason"] in ("Priority", "Resources"))
    assert m.told()[before:] == []
    c.ok("scancel", str(small))
    # An operator may use what room there is, and no more.
    c.ok("scontrol", "power", "up", "n2")
    refused = c.run("scontrol", "power", "up", "n3")
    assert refused.code == 1 and "max_powered_nodes=2: no more nodes may be powered up" in refused.err + refused.out, refused
    until("the order to come up", lambda: m.told()[before:] == ["resume n2"])
    assert m.states()["n3"] == "idle~"
    until("why", lambda: "powered down, and no more nodes may be powered up (max_powered_nodes)" in c.ok("muster", "explain", str(large)).out)
    most(3)
    until("the order to come up", lambda: m.told()[before:] == ["resume n2", "resume n3"])
    m.on("n2", "n3")
    c.wait_job(large)
