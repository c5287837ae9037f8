"""PrologFlags=Contain: the external step of each job (slurm.conf(5), the job_launch and prolog_epilog guides). RunInJob. Logins that are
adopted into it: test/security/test_pam_adopt.py."""
import os
import re
import signal
import subprocess

import pytest

from accounting import Database
from harness import until
from test_devices import cgroup_may, isolated, needs_root

pytestmark = pytest.mark.better_than_slurm


def contained(cluster, flags="Contain"):
    cluster.conf_lines = [line.replace("jobacct_gather/none", "jobacct_gather/linux") for line in cluster.conf_lines]
    cluster.conf_lines.append("PrologFlags=" + flags)
    cluster.write_lines()
    return cluster


def processes(cluster, job, step="extern"):
    """The processes of the step on all nodes, as scontrol shows them."""
    lines = cluster.run("scontrol", "listpids", str(job)).lines
    return [int(line.split()[0]) for line in lines[1:] if line.split()[2] == step]


def records(cluster, job, fields="JobID,State,ExitCode"):
    return cluster.ok("sacct", "-n", "-P", "-j", str(job), "-o", fields).lines


def stepd_of(process):
    """The slurmstepd above a process of a step."""
    with open("/proc/%d/stat" % process) as f:
        return int(f.read().rpartition(")")[2].split()[1])


def test_each_node_has_one_and_accounting_has_it_once(make_cluster):
    """Whatever is killed meanwhile."""
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    database = Database(cluster)
    contained(cluster)
    database.start()
    try:
        cluster.start()
        job = cluster.sbatch("-N2", "-o", "/dev/null", "--wrap", "until [ -e go ]; do sleep 0.1; done; exit 3")
        cluster.wait_job(job, "RUNNING")
        found = until("a process of it on each node", lambda: (lambda p: len(p) == 2 and p)(processes(cluster, job)))
        for process in found:
            assert open("/proc/%d/cmdline" % process).read().startswith("/bin/sleep\0"), process
        name = "%d.extern" % job
        until("it to be shown", lambda: name in cluster.ok("squeue", "-h", "-s", "-o", "%i").lines)
        shown = cluster.ok("scontrol", "show", "step", name).out
        assert "StepId=%s " % name in shown and "NodeList=n[1-2]" in shown and "Name=extern" in shown, shown
        assert name in cluster.ok("sstat", "-n", "-P", "-a", "-j", str(job), "-o", "JobID").out
        used = cluster.ok("sstat", "-n", "-P", "-j", name, "-o", "JobID,NTasks,Pids").out
        assert used.startswith("%s|2|" % name), used
        assert [line for line in records(cluster, job) if "extern" in line] in ([], ["%s|RUNNING|0:0" % name])
        for node in cluster.names:
            cluster.slurmds[node].kill()
            cluster.slurmds[node].wait()
        cluster.kill_ctld()
        cluster.start_ctld()
        for node in cluster.names:
            cluster.start_slurmd(node)
        cluster.wait_ctld()
        cluster.wait_nodes("allocated|mixed")
        until("the same processes", lambda: sorted(processes(cluster, job)) == sorted(found))
        cluster.file("go", "")
        cluster.wait_job(job, "FAILED")
        cluster.wait_nodes("idle")
        assert not any(os.path.exists("/proc/%d" % process) for process in found)
        told = "SELECT COUNT(*) FROM muster_steps WHERE job = ? AND step = ?"
        database.wait_for("the step to be recorded", lambda: database.rows(told, job, 0xfffffffc) == [(1,)])
        until("its end", lambda: records(cluster, job) == ["%d|FAILED|3:0" % job, "%d.batch|FAILED|3:0" % job, "%s|COMPLETED|0:0" % name])
        until("its use on both nodes", lambda: records(cluster, name, "NTasks,MaxRSS")[0].split("|")[1] not in ("", "0"))
        assert database.rows(told, job, 0xfffffffc) == [(1,)]
    finally:
        database.stop()


def test_an_allocation_without_srun_has_it_and_so_has_each_component(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    database = Database(cluster)
    contained(cluster)
    database.start()
    try:
        cluster.start()
        inside = cluster.ok("salloc", "-N2", "bash", "-c", "squeue -h -s -o '%i %N'; scontrol listpids $SLURM_JOB_ID | grep -c extern")
        assert re.fullmatch(r"\d+\.extern n\[1-2\]\n2\n", inside.out), inside
        job = int(inside.out.split(".")[0])
        until("its record", lambda: "%d.extern|COMPLETED|0:0" % job in records(cluster, job))
        until("it to be gone", lambda: not processes(cluster, job))
        het = cluster.sbatch("-n1", "-w", "n1", ":", "-n1", "-w", "n2", "-o", "/dev/null", "--wrap", "true")
        until("a record of each component", lambda: {line.split("|")[0] for line in records(cluster, het) if "extern" in line}
              == {"%d+0.extern" % het, "%d+1.extern" % het})
    finally:
        database.stop()


def test_it_ends_with_a_job_that_is_cancelled_and_a_job_does_not_end_with_it(make_cluster):
    cluster = contained(make_cluster(start=False, nodes=1, gpus=0)).start()
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    task, = until("its process", lambda: processes(cluster, job))
    stepd = stepd_of(task)
    os.kill(task, signal.SIGKILL)       # it is the user's, who may
    until("the process to be gone", lambda: not processes(cluster, job))
    until("it to be shown", lambda: "%d.extern" % job in cluster.ok("squeue", "-h", "-s", "-o", "%i").out)
    assert os.path.exists("/proc/%d" % stepd)
    cluster.ok("scancel", str(job))
    cluster.wait_job(job, "CANCELLED")
    until("its slurmstepd to be gone", lambda: not os.path.exists("/proc/%d" % stepd))
    cluster.wait_nodes("idle")
    # Its slurmstepd is killed: the job goes on.
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "until [ -e go ]; do sleep 0.1; done; echo done")
    task, = until("its process", lambda: processes(cluster, job))
    os.kill(stepd_of(task), signal.SIGKILL)
    until("what it left to be killed", lambda: not os.path.exists("/proc/%d" % task))
    cluster.file("go", "")
    cluster.wait_job(job)
    assert cluster.read("out") == "done\n"
    cluster.wait_nodes("idle")


def test_a_signal_for_the_steps_is_not_for_it(make_cluster):
    cluster = contained(make_cluster(start=False, nodes=1, gpus=0)).start()
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "srun sleep 600; touch over; sleep 600")
    task, = until("its process", lambda: processes(cluster, job))
    until("the step", lambda: processes(cluster, job, "0"))
    cluster.ok("scancel", "-s", "USR1", str(job))
    until("the step's end", lambda: os.path.exists(cluster.work + "/over"))
    assert processes(cluster, job) == [task]


def test_no_other_job_has_one(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    cluster.conf_lines.append("PrologFlags=Alloc")
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "sleep 600")
    until("the script", lambda: processes(cluster, job, "batch"))
    assert not processes(cluster, job) and "extern" not in cluster.ok("squeue", "-h", "-s", "-o", "%i").out
    assert cluster.run("sstat", "-n", "-j", "%d.extern" % job).out == ""


# ---- in the job's control group
needs_groups = pytest.mark.skipif(not cgroup_may("freezer"), reason="no freezer controller (cgroup v1) that may be written")


@needs_root
@needs_groups
def test_prolog_and_epilog_of_run_in_job_are_in_its_group(make_cluster):
    cluster = isolated(make_cluster, "")
    program = cluster.script("around", "#!/bin/bash\n/bin/grep freezer /proc/self/cgroup >%s/$SLURM_SCRIPT_CONTEXT\n" % cluster.work)
    cluster.conf_lines += ["Prolog=" + program, "Epilog=" + program, "PrologFlags=RunInJob"]
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("-o", cluster.work + "/out", "--wrap", "grep freezer /proc/self/cgroup")
    cluster.wait_job(job)
    cluster.wait_nodes("idle")
    for name in ("prolog_slurmd", "epilog_slurmd"):
        assert "/job_%d/step_extern" % job in cluster.read(name), name
    assert "/job_%d/step_batch" % job in cluster.read("out")
    left = subprocess.run(["find", "/sys/fs/cgroup/freezer", "-name", "job_%d" % job, "-path", "*%s*" % os.path.basename(cluster.folder)],
                          capture_output=True, text=True).stdout
    assert left == "", "the group is gone with its job"


@needs_root
@needs_groups
def test_without_run_in_job_they_are_not(make_cluster):
    cluster = isolated(make_cluster, "")
    program = cluster.script("around", "#!/bin/bash\n/bin/grep freezer /proc/self/cgroup >%s/$SLURM_SCRIPT_CONTEXT\n" % cluster.work)
    cluster.conf_lines += ["Prolog=" + program, "Epilog=" + program, "PrologFlags=Contain"]
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
    cluster.wait_job(job)
    cluster.wait_nodes("idle")
    for name in ("prolog_slurmd", "epilog_slurmd"):
        assert "job_" not in cluster.read(name)


def test_a_prolog_that_fails_before_it_and_one_that_fails_in_it(make_cluster):
    for flags in ("Contain", "RunInJob"):
        cluster = make_cluster(start=False, nodes=1, gpus=0)
        cluster.conf_lines += ["Prolog=" + cluster.script("no", "#!/bin/bash\necho the disk is full\nexit 3\n"), "PrologFlags=" + flags]
        cluster.write_lines()
        cluster.start()
        job = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
        cluster.wait_nodes(r"drained\*?")
        assert "Prolog error: %s/no: exit code 3: the disk is full" % cluster.bin in cluster.ok("scontrol", "show", "node", "n1").out
        until("it to be gone", lambda: not processes(cluster, job))
        cluster.stop()
