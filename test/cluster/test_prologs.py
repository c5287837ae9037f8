"""PrologFlags=Serial, and UnkillableStepTimeout: a job that can not be ended (slurm.conf(5))."""
import os
import re
import signal

import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm


def test_serial_runs_one_at_a_time(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    program = cluster.script("prolog", "#!/bin/bash\ncd %s\nmkdir busy || touch twice\nsleep 0.1\nrmdir busy\n" % cluster.work)
    cluster.conf_lines += ["Prolog=" + program, "Epilog=" + program, "PrologFlags=Serial"]
    cluster.write_lines()
    cluster.start()
    jobs = [cluster.sbatch("-n1", "--wrap", "true") for _ in range(4)]
    for job in jobs:
        cluster.wait_job(job)
    cluster.wait_nodes("idle")
    assert not os.path.exists(cluster.work + "/twice")


def test_flags_without_effect_say_so(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    cluster.conf_lines.append("PrologFlags=Alloc,Contain,Serial")
    cluster.write_lines()
    cluster.start()
    log = open(os.path.join(cluster.folder, "log", "slurmctld.log")).read()
    for flag in ("Alloc", "Contain"):
        assert re.search(r"PrologFlags: %s is accepted without effect" % flag, log), log
    assert "Serial is accepted" not in log
    cluster.conf_lines[-1] = "PrologFlags=Contain,NoHold"
    cluster.write_lines()
    said = cluster.run("scontrol", "reconfigure")
    assert said.code == 1 and "NoHold cannot be combined with Contain" in cluster.logs(), said


# ---- UnkillableStepTimeout
def test_a_step_that_can_not_be_killed(make_cluster):
    """Its slurmstepd is stopped: nobody kills the tasks. The job goes, the node is drained, the program is told."""
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    program = cluster.script("unkillable", "#!/bin/bash\necho $SLURM_JOB_ID $SLURM_STEP_ID >%s/told\n" % cluster.work)
    cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith("KillWait=")]
    cluster.conf_lines += ["KillWait=1", "UnkillableStepTimeout=1", "UnkillableStepProgram=" + program]
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "echo $PPID >parent; exec sleep 600")
    until("the script", lambda: cluster.sh("cat parent").out.endswith("\n"))
    stepd = int(cluster.read("parent"))
    assert open("/proc/%d/comm" % stepd).read().startswith("slurmstepd")
    os.kill(stepd, signal.SIGSTOP)
    try:
        cluster.ok("scancel", str(job))
        cluster.wait_nodes(r"drained\*?", ["n1"])
        until("the end", lambda: cluster.job(job)["JobState"] == "CANCELLED")
        assert "Reason=Kill task failed" in cluster.ok("scontrol", "show", "node", "n1").out
        until("the program", lambda: cluster.sh("cat told").out == "%d 4294967291\n" % job)
    finally:
        os.kill(stepd, signal.SIGCONT)
