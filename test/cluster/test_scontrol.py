"""scontrol(1): verbs on jobs, what it shows, what it writes, and what it says when something is wrong."""
import json
import os
import re

import pytest

from harness import ORACLE, until


def refused(cluster, *args, code=1):
    result = cluster.run("scontrol", *args)
    assert result.code == code, result
    return (result.err or result.out).splitlines()[0]


def running(cluster, *args):
    job = cluster.sbatch(*args, "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    return job


# ---- what there is not
@pytest.mark.parametrize("words, line", [
    (("show", "job", "999"), "slurm_load_jobs error: Invalid job id specified"),
    (("show", "job", "abc"), "scontrol_print_job error: Invalid job id specified"),
    (("show", "node", "zz"), "Node zz not found"),
    (("show", "partition", "zz"), "Partition zz not found"),
    (("show", "reservation", "x"), "Reservation x not found"),
    (("show", "step", "5.0"), "Job step 5.0 not found"),
    (("show", "foo"), "invalid entity:foo for keyword:show"),
    (("show", "job", "1", "2"), "too many arguments for keyword:show"),
    (("show",), "too few arguments for keyword:show"),
    (("foo",), "invalid keyword: foo"),
    (("hold", "999"), "Invalid job id specified for job 999"),
    (("release", "999"), "Invalid job id specified for job 999"),
    (("requeue", "999"), "Invalid job id specified for job 999"),
    (("top", "999"), "Invalid job id specified for job 999"),
    (("suspend", "abc"), "Invalid job id specified for job abc"),
    (("notify", "999", "x"), "job notify failure: Invalid job id specified"),
    (("wait_job", "999"), "scontrol: Problem running job 999"),
    (("listpids", "x"), '"x" does not look like a jobid'),
    (("pidinfo", "1"), "Failed to locate job for requested pid"),
    (("setdebug", "loud"), "invalid debug level: loud"),
    (("setdebugflags", "backfill"), "invalid debug flag: backfill"),
    (("schedloglevel", "1"), "slurm_set_schedlog_level error: Requested operation is presently disabled"),
    (("schedloglevel", "2"), "invalid schedlog level: 2"),
    (("takeover",), "slurm_takeover error: Unable to contact slurm controller (connect failure)"),
    (("takeover", "1"), "takeover: invalid backup controller index (1)"),
    (("token",), "Error fetching token"),
    (("write", "foo"), "invalid write argument:foo"),
    (("reboot",), "Missing node list. Specify ALL|<NodeList>"),
    (("cancel_reboot", "zz"), "slurm_update error: Invalid node name specified"),
    (("cancel_reboot", "n1"), "slurm_update error: Invalid node state specified"),
    (("errnumstr", "abc"), "numeric arguments required for keyword:errnumstr"),
    (("shutdown", "foo"), "invalid shutdown argument:foo"),
    (("update",), "too few arguments for update keyword"),
    (("update", "foo=bar"), "No valid entity in update command"),
    (("update", "JobId=999", "Comment=x"), "Invalid job id specified for job 999"),
    (("update", "JobId=999"), "No changes specified"),
    (("update", "JobName=nosuch", "Comment=x"), "scontrol: error: No jobs with name 'nosuch'"),
    (("update", "StepId=999.0", "TimeLimit=5"), "slurm_update error: Invalid job id specified"),
    (("update", "StepId=x", "TimeLimit=5"), "Invalid StepID parameter: StepId=x"),
    (("update", "NodeName=zz", "State=idle"), "slurm_update error: Invalid node name specified"),
    (("update", "NodeName=n1", "State=foo"), "Invalid input: State=foo"),
    (("update", "NodeName=n1", "State=drain"),
     "You must specify a reason when DOWNING or DRAINING a node. Request denied"),
    (("update", "NodeName=n1", "foo=bar"), "Update of this parameter is not supported: foo=bar"),
    (("update", "NodeName=n1", "ActiveFeatures=a"), "slurm_update error: Active features not subset of available features"),
    (("update", "NodeName=n1", "State=POWER_DOWN"), "slurm_update error: Invalid node state specified"),
    (("update", "PartitionName=zz", "State=UP"), "slurm_update error: Invalid partition name specified"),
    (("create", "PartitionName=main", "Nodes=n1"), "Error creating the partition: Invalid partition name specified"),
    (("create", "PartitionName=new", "Nodes=zz"), "Error creating the partition: Invalid node name specified"),
    (("delete", "PartitionName=zz"), "delete_partition PartitionName=zz: Invalid partition name specified"),
    (("delete", "NodeName=zz"), "delete_node NodeName=zz: Invalid node name specified"),
    (("delete", "foo=bar"), "Invalid deletion entity: foo=bar"),
])
def test_first_lines_that_scripts_look_for(cluster, words, line):
    if ORACLE and words[0] in ("wait_job", "takeover", "token", "delete", "pidinfo", "update", "create"):
        pytest.skip("22.05 words it otherwise or never answers")
    assert refused(cluster, *words) == line


@pytest.mark.better_than_slurm
def test_what_is_refused_says_why(cluster):
    for words, why in [(("show", "bbstat"), "burst buffer"),
                       (("--json", "show", "topology"), "data_parser"), (("update", "NodeName=n1", "CpuBind=core"), "slurm.conf"),
                       (("reboot", "n1"), "RebootProgram"), (("power", "down", "n1"), "SuspendProgram")]:
        result = cluster.run("scontrol", *words)
        assert result.code == 1 and why in result.err, result


def test_nothing_to_show(cluster):
    assert cluster.ok("scontrol", "show", "reservation").out == "No reservations in the system\n"
    assert cluster.ok("scontrol", "show", "steps").out == "No job steps in the system\n"
    assert cluster.ok("scontrol", "show", "licenses").out == "No licenses configured in Slurm.\n"
    assert cluster.ok("scontrol", "show", "burstbuffer").out == ""
    assert cluster.ok("scontrol", "show", "federation").out == ""
    assert "No users currently cached in Slurm." in cluster.ok("scontrol", "show", "assoc_mgr", "flags=users").out
    assert cluster.ok("scontrol", "completing").out == ""
    assert cluster.ok("scontrol", "show", "daemons").out == "slurmctld slurmd\n"
    assert cluster.ok("scontrol", "show", "aliases").out == "n1 n2 n3 n4\n"
    assert cluster.ok("scontrol", "errnumstr", "2017").out == "Invalid job id specified\n"
    assert cluster.ok("scontrol", "errnumstr", "2").out == "No such file or directory\n"


def test_a_list_with_an_unknown_node_shows_the_others(cluster):
    result = cluster.run("scontrol", "-o", "show", "node", "n1,zz,n3")
    assert result.code == 1, result
    assert [line.split()[0] for line in result.lines] == ["NodeName=n1", "NodeName=n3", "Node"]


@pytest.mark.better_than_slurm      # 22.05 takes one id
def test_several_jobs_in_a_list(cluster):
    one, two = cluster.sbatch("--hold", "--wrap", "true"), cluster.sbatch("--hold", "--wrap", "true")
    out = cluster.ok("scontrol", "-o", "show", "job=%d,%d" % (one, two)).lines
    assert [line.split()[0] for line in out] == ["JobId=%d" % one, "JobId=%d" % two]


@pytest.mark.better_than_slurm      # --json came later
def test_json_of_other_kinds(cluster):
    for words, key in [(("show", "licenses"), "licenses"), (("show", "reservation"), "reservations"), (("ping",), "pings")]:
        document = json.loads(cluster.ok("scontrol", "--json", *words).out)
        assert isinstance(document[key], list) and "meta" in document
    assert json.loads(cluster.ok("scontrol", "--json", "ping").out)["pings"][0]["responding"] is True


def test_quiet_prints_nothing_but_fails(cluster):
    result = cluster.run("scontrol", "-Q", "show", "job", "999")
    assert (result.code, result.out, result.err) == (1, "", ""), result


# ---- verbs on jobs
def test_suspend_and_resume(cluster):
    job = running(cluster)
    cluster.ok("scontrol", "suspend", str(job))
    assert cluster.job(job)["JobState"] == "SUSPENDED"
    cluster.ok("scontrol", "resume", str(job))
    assert cluster.job(job)["JobState"] == "RUNNING"
    assert refused(cluster, "resume", str(job)) == "Job is not suspended for job %d" % job


def test_hold_of_a_running_job_and_release(cluster):
    job = running(cluster)
    cluster.ok("scontrol", "hold", str(job))
    record = cluster.job(job)
    assert (record["JobState"], record["Priority"]) == ("RUNNING", "0"), record
    cluster.ok("scontrol", "release", str(job))
    assert cluster.job(job)["Priority"] != "0"


def test_uhold_and_hold_by_name(cluster):
    job = cluster.sbatch("-J", "mine", "--begin=now+1hour", "--wrap", "true")
    cluster.ok("scontrol", "uhold", "jobname=mine")
    assert cluster.job(job)["Reason"] == "JobHeldUser"
    cluster.ok("scontrol", "release", "jobname=mine")
    cluster.ok("scontrol", "hold", str(job))
    assert cluster.job(job)["Reason"] == "JobHeldAdmin"
    cluster.ok("scontrol", "hold", "jobname=nosuch")


def test_requeuehold_with_special_exit(cluster):
    job = running(cluster, "--requeue")
    cluster.ok("scontrol", "requeuehold", "State=SpecialExit", str(job))
    until("the job to be held", lambda: cluster.job(job)["JobState"] == "SPECIAL_EXIT")
    assert refused(cluster, "requeue", str(job)) == "Job is pending execution for job %d" % job
    cluster.ok("scontrol", "requeue", "Incomplete", str(job))


def test_top_reorders_by_nice(cluster):
    held = [cluster.sbatch("--begin=now+1hour", "--wrap", "true") for _ in range(3)]
    cluster.ok("scontrol", "top", str(held[2]))
    priority = [int(cluster.job(job)["Priority"]) for job in held]
    assert priority[2] > max(priority[:2]), priority


def test_wait_job_returns_when_the_nodes_are_ready(cluster):
    job = cluster.sbatch("--wrap", "sleep 600")
    result = cluster.ok("scontrol", "wait_job", str(job))
    assert "Nodes are ready for job %d" % job in result.err, result
    assert cluster.job(job)["JobState"] == "RUNNING"
    cluster.ok("scancel", str(job))
    cluster.wait_job(job, "CANCELLED")
    assert "no longer running" in refused(cluster, "wait_job", str(job))


def test_notify_writes_on_the_jobs_standard_error(cluster):
    job = cluster.sbatch("-o", "notify.out", "--wrap", "touch there; sleep 600")
    until("the job to run", lambda: cluster.sh("test -e there").code == 0)
    cluster.ok("scontrol", "notify", str(job), "hello", "you")
    until("the line", lambda: "error: hello you" in cluster.read("notify.out"))
    held = cluster.sbatch("--hold", "--wrap", "true")
    assert refused(cluster, "notify", str(held), "x") == "job notify failure: Requested operation is presently disabled"


def test_update_of_jobs_and_steps(cluster):
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "srun sleep 600")
    until("the step", lambda: "StepId=%d.0" % job in cluster.run("scontrol", "show", "step", "%d.0" % job).out)
    cluster.ok("scontrol", "update", "StepId=%d.0" % job, "TimeLimit=7")
    assert "TimeLimit=00:07:00" in cluster.ok("scontrol", "show", "step", "%d.0" % job).out
    assert refused(cluster, "update", "JobId=%d" % job, "NumCPUs=4") == "Job is no longer pending execution for job %d" % job
    assert refused(cluster, "update", "JobId=%d" % job, "foo=bar") == "Update of this parameter is not supported: foo=bar"
    pending = cluster.sbatch("--hold", "-J", "batch-of-mine", "--wrap", "true")
    cluster.ok("scontrol", "update", "JobId=%d" % pending, "MailType=END", "Nice=5", "Partition=gpu", "NumNodes=2")
    record = cluster.job(pending)
    assert (record["Partition"], record["Nice"]) == ("gpu", "5"), record
    assert refused(cluster, "update", "job", str(pending), "MailType=zz") == "Invalid MailType: zz"
    assert refused(cluster, "update", "JobId=%d" % pending, "Partition=zz").startswith("Invalid partition name specified for job %d" % pending)


# ---- this host
@pytest.mark.better_than_slurm      # 22.05 wants the node's name with several slurmd on a host
def test_what_slurmd_knows(cluster):
    job = cluster.sbatch("-w", "n2", "-o", "/dev/null", "--wrap", "srun sleep 600")
    until("the step", lambda: "%d.0" % job in cluster.run("scontrol", "liststeps").out)
    assert cluster.ok("scontrol", "listjobs", "n2").lines == ["JOBID", str(job)]
    assert cluster.ok("scontrol", "listjobs", "n1").lines == ["JOBID"]
    lines = cluster.ok("scontrol", "listpids", "%d.0" % job).lines
    assert lines[0] == "PID      JOBID    STEPID   LOCALID GLOBALID"
    pid, of_job, step, local, rank = lines[1].split()
    assert (of_job, step, local, rank) == (str(job), "0", "0", "0"), lines
    with open("/proc/%s/comm" % pid) as f:
        assert f.read().strip() == "sleep"
    assert len(cluster.ok("scontrol", "listpids", str(job)).lines) > 3      # the script, srun …
    assert cluster.ok("scontrol", "pidinfo", pid).out.startswith("Slurm JobId=%d ends at " % job)
    assert "JobId=%d.0:\nUser:\n%s:" % (job, cluster.user) in cluster.ok("scontrol", "getent", "n2").out
    assert "StepId=%d.9 does not exist on node n2." % job in refused(cluster, "listpids", "%d.9" % job, "n2")
    assert "%d.batch" % job in cluster.ok("scontrol", "show", "slurmd", "n2").lines[0]
    assert "No slurmd found" in refused(cluster, "listjobs", "zz")


# ---- the configuration while it runs
def test_setdebug_lasts_until_reconfigure(cluster):
    def level():
        return re.search(r"SlurmctldDebug +=(.*)", cluster.ok("scontrol", "show", "config").out).group(1).strip()
    assert level() == "info"
    cluster.ok("scontrol", "setdebug", "debug")
    assert level() == "debug"
    cluster.ok("scontrol", "setdebugflags", "+Backfill", "+Gres")
    assert "DebugFlags              = Backfill,Gres" in cluster.ok("scontrol", "show", "config").out
    cluster.ok("scontrol", "setdebugflags", "-Gres")
    assert "DebugFlags              = Backfill\n" in cluster.ok("scontrol", "show", "config").out
    cluster.ok("scontrol", "reconfigure")
    assert level() == "info"


@pytest.mark.better_than_slurm
def test_setdebug_of_nodes(cluster):
    cluster.ok("scontrol", "setdebug", "debug", "nodes=n[1-2]")
    log = os.path.join(cluster.folder, "log", "slurmd-n2.log")
    until("slurmd to follow", lambda: "log level debug" in open(log).read())
    assert "Invalid node name" in refused(cluster, "setdebug", "debug", "nodes=zz")


def test_write_config_and_script(cluster):
    out = cluster.ok("scontrol", "write", "config", os.path.join(cluster.work, "saved")).out
    path = re.match(r"Slurm config saved to (.*)\n", out).group(1)
    with open(path) as f:
        text = f.read()
    assert "ClusterName=test" in text and "NodeName=n" in text and "PartitionName=gpu" in text
    job = cluster.sbatch("--hold", "--wrap", "echo some words")
    assert "echo some words" in cluster.ok("scontrol", "write", "batch_script", str(job), "-").out
    assert cluster.ok("scontrol", "write", "batch_script", str(job)).out == \
        "batch script for job %d written to slurm-%d.sh\n" % (job, job)
    assert "echo some words" in cluster.read("slurm-%d.sh" % job)


def test_partitions_come_and_go(cluster):
    cluster.ok("scontrol", "create", "partition=new", "Nodes=n[1-2]", "MaxTime=30")
    assert "Nodes=n[1-2]\n" in cluster.ok("scontrol", "show", "partition", "new").out
    cluster.ok("scontrol", "update", "PartitionName=new", "Nodes+=n4", "State=DOWN")
    record = cluster.ok("scontrol", "-o", "show", "partition", "new").out
    assert "Nodes=n[1-2,4]" in record and "State=DOWN" in record
    job = cluster.sbatch("-p", "new", "-t", "5", "--wrap", "true")
    assert refused(cluster, "delete", "PartitionName=new") == "delete_partition PartitionName=new: Partition is in use"
    cluster.ok("scancel", str(job))
    cluster.ok("scontrol", "delete", "PartitionName=new")
    assert "not found" in refused(cluster, "show", "partition", "new")


@pytest.mark.better_than_slurm      # of 22.05, which has no Exclusive=
@pytest.mark.parametrize("word", ["NODE", "USER", "TOPO"])
def test_a_partition_that_is_exclusive(cluster, word):
    """slurm.conf(5) Exclusive: it implies OverSubscribe=NO, and a job there is shown so."""
    cluster.ok("scontrol", "create", "partition=alone", "Nodes=n[1-2]", "Exclusive=" + word)
    shown = cluster.ok("scontrol", "show", "partition", "alone").out
    assert "Exclusive=" + word in shown and "OverSubscribe=NO" in shown
    job = cluster.sbatch("--hold", "-p", "alone", "--wrap", "true")
    assert {"Exclusive": word, "OverSubscribe": "NO"}.items() <= cluster.job(job).items()
    assert cluster.queue("-j", str(job), "-O", "Exclusive,OverSubscribe")[0].split() == [word, "NO"]
    cluster.ok("scancel", str(job))
    cluster.ok("scontrol", "delete", "PartitionName=alone")


# ---- the prompt
def test_interactive_history_and_exit_code(cluster):
    result = cluster.run("scontrol", stdin="oneliner\nshow partition main\n!!\nshow node zz\nquit\n")
    assert result.code == 1 and result.out.count("PartitionName=main") == 2 and "Node zz not found" in result.out, result
    assert cluster.run("scontrol", stdin="version\n!!\n").code == 0


# ---- what a new reading of the files leaves alone
@pytest.mark.skipif(ORACLE, reason="22.05 answers before it has read the files")
def test_reconfig_flags(make_cluster):
    cluster = make_cluster(nodes=2, gpus=0, conf="ReconfigFlags=KeepPartState,KeepPowerSaveSettings\nSuspendExcNodes=n1")
    cluster.ok("scontrol", "update", "PartitionName=main", "State=DOWN", "MaxTime=5")
    cluster.ok("scontrol", "update", "SuspendExcNodes=n2")
    cluster.ok("scontrol", "reconfigure")

    def main():
        return cluster.ok("scontrol", "show", "partition", "main").out
    until(main, lambda: "MaxTime=UNLIMITED" in main())
    assert "State=DOWN" in main()
    assert re.search(r"SuspendExcNodes += n2", cluster.ok("scontrol", "show", "config").out)
