"""PrologFlags=Serial, and UnkillableStepTimeout: a job that can not be ended (slurm.conf(5))."""
import os
import pwd
import re
import signal
import subprocess

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
    cluster.conf_lines.append("PrologFlags=Alloc,Contain,X11")
    cluster.write_lines()
    cluster.start()
    log = open(os.path.join(cluster.folder, "log", "slurmctld.log")).read()
    assert "PrologFlags: X11 works as Contain alone" in log, log
    assert "PrologFlags: Alloc" not in log and "PrologFlags: Contain" not in log
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
        shown = cluster.ok("scontrol", "show", "node", "n1").out
        assert re.search(r"Reason=Kill task failed: slurmstepd\S* \(%d\) of step %d.batch is stopped" % (stepd, job), shown), shown
        assert re.search(r"step %d.batch: sleep \(\d+\) " % job, cluster.logs()), "every process is in the log"
        until("the program", lambda: cluster.sh("cat told").out == "%d 4294967291\n" % job)
    finally:
        os.kill(stepd, signal.SIGCONT)


# ---- what slurmctld runs around a job
def with_conf(make_cluster, lines, **options):
    cluster = make_cluster(start=False, **{"nodes": 2, "gpus": 0, **options})
    cluster.conf_lines += lines(cluster)
    cluster.write_lines()
    cluster.start()
    return cluster


def test_programs_of_slurmctld_before_and_after_a_job(make_cluster):
    """The job begins when PrologSlurmctld has ended, and is COMPLETING until EpilogSlurmctld has."""
    def lines(cluster):
        program = cluster.script("around", "#!/bin/bash\n/usr/bin/env >%s/$SLURM_SCRIPT_CONTEXT\n"
                                           "until [ -e %s/go_$SLURM_SCRIPT_CONTEXT ]; do /bin/sleep 0.05; done\n" % (cluster.work, cluster.work))
        return ["PrologSlurmctld=" + program, "EpilogSlurmctld=" + program]
    cluster = with_conf(make_cluster, lines)
    job = cluster.sbatch("-N2", "-J", "named", "-o", "/dev/null", "--wrap", "exit 3")
    until("the prolog", lambda: os.path.exists(cluster.work + "/prolog_slurmctld"))
    shown = cluster.job(job)
    assert (shown["JobState"], shown["Reason"]) == ("CONFIGURING", "Prolog"), shown
    assert cluster.ok("squeue", "-ho", "%t %r").out == "CF Prolog\n"
    cluster.file("go_prolog_slurmctld", "")
    until("the epilog", lambda: os.path.exists(cluster.work + "/epilog_slurmctld"))
    assert cluster.ok("squeue", "-ho", "%t").out == "CG\n"
    cluster.file("go_epilog_slurmctld", "")
    until("the end", lambda: cluster.ok("squeue", "-h").out == "")
    said = {}
    for context in ("prolog_slurmctld", "epilog_slurmctld"):
        said[context] = dict(line.split("=", 1) for line in cluster.read(context).splitlines() if "=" in line)
        assert said[context]["SLURM_JOB_ID"] == str(job) and said[context]["SLURM_JOB_NAME"] == "named"
        assert said[context]["SLURM_JOB_NODELIST"] == "n[1-2]" and said[context]["SLURM_JOB_NUM_NODES"] == "2"
        assert said[context]["SLURM_SCRIPT_CONTEXT"] == context and said[context]["SLURM_JOB_PARTITION"] == "main"
    assert said["epilog_slurmctld"]["SLURM_JOB_EXIT_CODE2"] == "3:0"
    assert "SLURM_JOB_EXIT_CODE2" not in said["prolog_slurmctld"]


def test_a_failing_prolog_of_slurmctld(make_cluster):
    """A batch job is queued again, as often as MaxBatchRequeue; an allocation is cancelled."""
    def lines(cluster):
        return ["MaxBatchRequeue=1", "PrologSlurmctld=" + cluster.script("no", "#!/bin/bash\necho the switch is gone\nexit 9\n")]
    cluster = with_conf(make_cluster, lines, nodes=1)
    job = cluster.sbatch("--requeue", "--wrap", "true")
    until("the job to be held", lambda: cluster.job(job)["Reason"] == "JobHoldMaxRequeue")
    assert "PrologSlurmctld of job %d: %s/no: exit code 9: the switch is gone" % (job, cluster.bin) in cluster.logs()
    said = cluster.run("salloc", "true")
    assert said.code == 1 and "revoked" in said.err, said


def test_slurmctld_is_killed_while_it_runs_a_prolog(make_cluster):
    """The program dies with it and is started anew; the job runs once."""
    def lines(cluster):
        program = cluster.script("slow", "#!/bin/bash\necho $$ >>%s/runs\nuntil [ -e %s/go ]; do /bin/sleep 0.05; done\n" % (cluster.work, cluster.work))
        return ["PrologSlurmctld=" + program]
    cluster = with_conf(make_cluster, lines, nodes=1)
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "echo ran")
    runs = lambda: cluster.sh("cat runs").out.split()
    until("the prolog", lambda: len(runs()) == 1)
    cluster.kill_ctld()
    until("its program to be gone", lambda: not os.path.exists("/proc/" + runs()[0]))
    cluster.start_ctld()
    cluster.wait_ctld()
    until("the prolog again, and not by the repetition after 15 s", lambda: len(runs()) == 2, seconds=10)
    cluster.file("go", "")
    cluster.wait_job(job)
    assert cluster.read("out") == "ran\n" and len(runs()) == 2


def test_an_epilog_of_slurmctld_queues_its_job_again(make_cluster):
    """As guides/faq has it: by the exit code, with scontrol requeuehold."""
    def lines(cluster):
        program = cluster.script("look", "#!/bin/bash\n[ $SLURM_JOB_EXIT_CODE2 = 8:0 ] || exit 0\n"
                                         "PATH=%s SLURM_CONF=%s scontrol requeuehold state=SpecialExit $SLURM_JOB_ID >%s/said 2>&1\n"
                                         % (cluster.env["PATH"], cluster.conf_path, cluster.work))
        return ["EpilogSlurmctld=" + program]
    cluster = with_conf(make_cluster, lines, nodes=1)
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "[ -e again ] || exit 8")
    until("it to be held", lambda: cluster.job(job)["JobState"] == "SPECIAL_EXIT")
    assert cluster.read("said") == ""
    cluster.file("again", "")
    cluster.ok("scontrol", "release", str(job))
    cluster.wait_job(job)
    assert cluster.job(job)["JobState"] == "COMPLETED"


def test_the_epilog_runs_on_a_node_whose_slurmd_was_restarted(make_cluster):
    """Nothing of the allocation came there but its prolog, and slurmd has forgotten that."""
    def lines(cluster):
        program = cluster.script("epilog", "#!/bin/bash\necho $SLURM_JOB_ID $SLURM_JOB_USER $SLURM_JOB_UID $SLURM_JOB_PARTITION $SLURM_JOB_NODELIST "
                                           ">>%s/epilog_$SLURMD_NODENAME\n" % cluster.work)
        return ["Prolog=" + cluster.script("prolog", "#!/bin/bash\n"), "Epilog=" + program, "PrologFlags=Alloc"]
    cluster = with_conf(make_cluster, lines)
    command = subprocess.Popen(["salloc", "-N2", "bash", "-c", "touch in; until [ -e end ]; do sleep 0.05; done"], env=cluster.env, cwd=cluster.work)
    until("the allocation", lambda: os.path.exists(cluster.work + "/in"))
    job = cluster.ok("squeue", "-ho", "%i").out.strip()
    cluster.slurmds["n2"].kill()
    cluster.slurmds["n2"].wait()
    cluster.start_slurmd("n2")
    cluster.file("end", "")
    assert command.wait(30) == 0
    cluster.wait_nodes("idle")
    user = pwd.getpwuid(os.getuid()).pw_name
    for node in ("n1", "n2"):
        assert cluster.read("epilog_" + node) == "%s %s %d main n[1-2]\n" % (job, user, os.getuid()), node


# ---- PrologFlags
def prolog_that_waits(cluster):
    return cluster.script("prolog", "#!/bin/bash\n/usr/bin/touch %s/begun_$SLURMD_NODENAME\n"
                                    "until [ -e %s/go_$SLURMD_NODENAME ]; do /bin/sleep 0.05; done\n" % (cluster.work, cluster.work))


def begun(cluster, *nodes):
    return all(os.path.exists("%s/begun_%s" % (cluster.work, node)) for node in nodes)


def test_alloc_runs_the_prolog_on_every_node_at_once(make_cluster):
    cluster = with_conf(make_cluster, lambda c: ["Prolog=" + prolog_that_waits(c), "PrologFlags=Alloc"])
    job = cluster.sbatch("-N2", "-o", cluster.work + "/out", "--wrap", "echo ran; until [ -e end ]; do sleep 0.05; done")
    until("the prologs", lambda: begun(cluster, "n1", "n2"))
    cluster.file("go_n1", "")
    until("the script, which waits for its own node alone", lambda: cluster.sh("cat out").out == "ran\n")
    cluster.file("go_n2", "")
    cluster.file("end", "")
    cluster.wait_job(job)


def test_defer_batch_waits_for_all_nodes(make_cluster):
    cluster = with_conf(make_cluster, lambda c: ["Prolog=" + prolog_that_waits(c), "PrologFlags=DeferBatch"])
    job = cluster.sbatch("-N2", "-o", cluster.work + "/out", "--wrap", "[ -e go_n2 ] && echo after all")
    until("the prologs", lambda: begun(cluster, "n1", "n2"))
    assert cluster.job(job)["Reason"] == "Prolog"
    cluster.file("go_n1", "")
    assert cluster.job(job)["JobState"] == "CONFIGURING"
    cluster.file("go_n2", "")
    cluster.wait_job(job)
    assert cluster.read("out") == "after all\n"


@pytest.mark.parametrize("flag", ["Alloc", "NoHold"])
def test_salloc_waits_for_the_prologs_unless_told_not_to(make_cluster, flag):
    cluster = with_conf(make_cluster, lambda c: ["Prolog=" + prolog_that_waits(c), "PrologFlags=" + flag])
    command = subprocess.Popen(["salloc", "-N2", "touch", cluster.work + "/in"], env=cluster.env, cwd=cluster.work, stderr=subprocess.PIPE,
                               text=True)
    until("the prologs", lambda: begun(cluster, "n1", "n2"))
    inside = lambda: os.path.exists(cluster.work + "/in")
    if flag == "NoHold":
        until("the command", inside)
    else:
        assert not inside() and cluster.ok("squeue", "-ho", "%t").out == "CF\n"
    for node in ("n1", "n2"):
        cluster.file("go_" + node, "")
    said = command.communicate(timeout=30)[1]
    assert command.returncode == 0 and inside(), said
    ready = "salloc: Waiting for resource configuration\nsalloc: Nodes n[1-2] are ready for job\n"
    assert said.endswith("salloc: Granted job allocation 1\n%ssalloc: Relinquishing job allocation 1\n" % (ready if flag == "Alloc" else "")), said


def test_srun_waits_for_the_prologs_in_silence(make_cluster):
    cluster = with_conf(make_cluster, lambda c: ["Prolog=" + prolog_that_waits(c), "PrologFlags=Alloc"])
    command = subprocess.Popen(["srun", "-N1", "echo", "in"], env=cluster.env, cwd=cluster.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until("the prolog", lambda: begun(cluster, "n1"))
    cluster.file("go_n1", "")
    said = command.communicate(timeout=30)
    assert command.returncode == 0 and said[0] == "in\n", said
    assert "ready" not in said[1] and "Waiting" not in said[1], said


@pytest.mark.parametrize("verb, words, held", [("requeue", ["hold"], True), ("requeue", ["hold", "release"], False),
                                               ("requeuehold", ["release"], False), ("requeuehold", ["hold"], True)])
def test_hold_and_release_on_the_way_back(make_cluster, verb, words, held):
    """While its epilog runs, a job that was requeued is COMPLETING; what is said of it then is about its next run."""
    def lines(cluster):
        return ["Epilog=" + cluster.script("epilog", "#!/bin/bash\nuntil [ -e %s/go ]; do /bin/sleep 0.05; done\n" % cluster.work)]
    cluster = with_conf(make_cluster, lines)
    job = cluster.sbatch("--requeue", "-o", "/dev/null", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", verb, str(job))
    until("it to complete", lambda: "CG" in cluster.ok("squeue", "-ho", "%t", "-j", str(job)).out or
          cluster.job(job)["JobState"] in ("COMPLETING", "REQUEUED", "REQUEUE_HOLD"))
    for word in words:
        cluster.ok("scontrol", word, str(job))
    cluster.file("go", "")
    until("it to be back", lambda: cluster.job(job)["JobState"] in ("PENDING", "RUNNING") and cluster.job(job)["Restarts"] == "1")
    if held:
        assert cluster.job(job)["JobState"] == "PENDING" and cluster.job(job)["Priority"] == "0", cluster.job(job)
    else:
        cluster.wait_job(job, "RUNNING")


def test_complete_wait_keeps_new_jobs_back(make_cluster):
    """While the epilog of one runs on a node, nothing starts on the other."""
    def lines(cluster):
        return ["CompleteWait=600", "SchedulerParameters=bf_interval=1", "Epilog=" + cluster.script("epilog", "#!/bin/bash\nuntil [ -e %s/go ]; do /bin/sleep 0.05; done\n" % cluster.work)]
    cluster = with_conf(make_cluster, lines)
    first = cluster.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "true")
    until("it to complete", lambda: cluster.ok("squeue", "-ho", "%t", "-j", str(first)).out == "CG\n")
    second = cluster.sbatch("-w", "n2", "-o", "/dev/null", "--wrap", "true")
    def looked_at():
        shown = cluster.job(second)
        return shown["LastSchedEval"] > shown["SubmitTime"]
    until("a pass over it", looked_at)
    assert cluster.job(second)["JobState"] == "PENDING"
    cluster.file("go", "")
    cluster.wait_job(second)
