"""Named power actions (slurm.conf(5) PowerAction): who runs them, where, and what they are told. scontrol(1) power, reboot."""
import os
import re

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # Slurm looks every ten seconds


def with_actions(make_cluster, conf):
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    for name in ("up", "halt", "bmc", "plain"):
        cluster.script(name, '#!/bin/sh\necho "%s $* node=$SLURM_NODE_NAME uid=$(id -u)" >> %s/did\n' % (name, cluster.folder))
    conf = conf.replace("BIN", cluster.bin)
    cluster.conf_lines += ["SuspendTimeout=1", "ResumeTimeout=120", "SuspendTime=INFINITE",
                           'PowerAction=up Location=slurmctld Program="%s/up -v"' % cluster.bin,
                           'PowerAction=halt Location=slurmd Program="%s/halt -h now"' % cluster.bin,
                           "PowerAction=bmc Location=slurmctld Program=%s/bmc" % cluster.bin] + conf.split("\n")
    cluster.write_lines()
    return cluster.start()


def did(cluster):
    path = os.path.join(cluster.folder, "did")
    return sorted(open(path).read().split("\n")[:-1]) if os.path.exists(path) else []


def state(cluster, node):
    return re.search(r" State=(\S+)", cluster.ok("scontrol", "-o", "show", "node", node).out).group(1).split("+")


def come_back(cluster, name):
    end_process(cluster.slurmds[name])
    cluster.slurmds[name] = cluster.spawn("slurmd", "-D", "-b", "-N", name, "-f", cluster.conf_path)


def said(lines, *parts):
    return all(any(line.startswith(part) for line in lines) for part in parts) and len(lines) == len(parts)


def test_names_in_place_of_programs(make_cluster):
    cluster = with_actions(make_cluster, "ResumeProgram=up\nSuspendProgram=halt\nRebootProgram=bmc")
    cluster.ok("scontrol", "power", "down", "n[1-2]")
    until(lambda: "each node to do it: %s" % did(cluster),
          lambda: said(did(cluster), "halt -h now n1 node=n1", "halt -h now n2 node=n2"))
    until("them to be down", lambda: "POWERED_DOWN" in state(cluster, "n1") and "POWERED_DOWN" in state(cluster, "n2"))
    cluster.ok("scontrol", "power", "up", "n[1-2]")
    until("the controller to bring them up", lambda: [line for line in did(cluster) if line.startswith("up -v n[1-2] node= ")])
    for node in ("n1", "n2"):
        come_back(cluster, node)
    cluster.wait_nodes("idle")
    cluster.ok("scontrol", "reboot", "n[1-2]")
    until("the controller to reboot them", lambda: [line for line in did(cluster) if line.startswith("bmc n[1-2] node= ")])
    assert len(did(cluster)) == 4, did(cluster)


def test_an_action_for_one_request(make_cluster):
    cluster = with_actions(make_cluster, "ResumeProgram=up\nSuspendProgram=BIN/plain\nRebootProgram=BIN/plain")
    cluster.ok("scontrol", "reboot", "action=halt", "n1")
    until("the node to do it", lambda: said(did(cluster), "halt -h now n1 node=n1"))
    come_back(cluster, "n1")
    cluster.wait_nodes("idle")
    job = cluster.sbatch("-w", "n2", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "power", "down", "asap", "n2", "Action=bmc", "Reason=heat")
    cluster.kill_ctld()                        # what was asked for outlives the controller
    cluster.start_ctld()
    cluster.wait_ctld()
    assert len(did(cluster)) == 1
    cluster.ok("scancel", str(job))
    until("the controller to do it", lambda: [line for line in did(cluster) if line.startswith("bmc n2 ")])
    until("n2 to be down", lambda: "POWERED_DOWN" in state(cluster, "n2"))
    assert not [line for line in did(cluster) if line.startswith("plain")], did(cluster)


def test_reboot_from_controller(make_cluster):
    cluster = with_actions(make_cluster, "RebootProgram=BIN/plain\nSlurmctldParameters=reboot_from_controller")
    cluster.ok("scontrol", "reboot", "n[1-2]")
    until(lambda: "one program for both: %s" % did(cluster), lambda: said(did(cluster), "plain n1,n2 node= "))


def test_what_is_refused(make_cluster):
    cluster = with_actions(make_cluster, "ResumeProgram=up\nSuspendProgram=halt")
    for words, rule in ((("power", "down", "n1", "action=hlat"), "did you mean halt?"),
                        (("power", "up", "n1", "action=halt"), "Location=slurmd"),
                        (("reboot", "n1"), "RebootProgram")):
        refused = cluster.run("scontrol", *words)
        assert refused.code == 1 and rule in refused.err + refused.out, refused
    assert did(cluster) == [] and state(cluster, "n1") == ["IDLE"]
    cluster.conf_lines = [line.replace("ResumeProgram=up", "ResumeProgram=halt") for line in cluster.conf_lines]
    cluster.write_lines()
    refused = cluster.run("scontrol", "reconfigure")
    assert refused.code == 1 and "ResumeProgram" in cluster.logs(), refused


def test_slurmd_ends_with_the_reboot(make_cluster):
    cluster = with_actions(make_cluster, "RebootProgram=BIN/plain\nSlurmdParameters=config_overrides,shutdown_on_reboot")
    slurmd = cluster.slurmds["n1"]
    cluster.ok("scontrol", "reboot", "action=bmc", "n2")      # not by its slurmd
    cluster.ok("scontrol", "reboot", "n1")
    assert slurmd.wait(20) == 0
    assert said(did(cluster), "bmc n2 ", "plain  node=n1"), did(cluster)
    assert cluster.slurmds["n2"].poll() is None and "REBOOT_ISSUED" in state(cluster, "n1")
    cluster.slurmds["n1"] = cluster.spawn("slurmd", "-D", "-b", "-N", "n1", "-f", cluster.conf_path)
    until("n1 to be back", lambda: state(cluster, "n1") == ["IDLE"])
