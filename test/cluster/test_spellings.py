"""Spellings and combinations that scripts use: of options, of jobs, of scontrol's keys; and what steps are laid out by."""
import re
import signal
import subprocess

import pytest

import harness
from harness import until


@pytest.fixture(scope="module")
def shared():
    import conftest
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, nodes=3, cpus=4, gpus=2, conf="Licenses=lic:4")
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        harness.remove(folder)


NODES = ("-l", "printenv", "SLURMD_NODENAME")


def by_rank(text):
    return [line.split(": ")[1] for line in sorted(text.splitlines())]


def test_tasks_follow_the_host_file(cluster):
    hosts = {"SLURM_HOSTFILE": cluster.file("hosts", "n3\nn1\nn3\nn2\n")}
    assert by_rank(cluster.ok("srun", "-n4", *NODES, env=hosts).out) == ["n3", "n1", "n3", "n2"]
    assert by_rank(cluster.ok("srun", "-n3", *NODES, env=hosts).out) == ["n3", "n1", "n3"]
    assert by_rank(cluster.ok("srun", *NODES, env=hosts).out) == ["n3", "n1", "n3", "n2"]
    assert by_rank(cluster.ok("srun", "-w", "n1,n2", "-n2", *NODES, env=hosts).out) == ["n1", "n2"]
    many = cluster.run("srun", "-n5", "true", env=hosts)
    assert many.code != 0 and "Too few NodeNames in Slurm Hostfile" in many.err
    assert cluster.run("srun", "-n2", "true", env={"SLURM_HOSTFILE": "/no/such/file"}).code != 0
    job = cluster.sbatch("-n4", "-m", "arbitrary", "-o", "hosts.out", "--wrap", "srun -l printenv SLURMD_NODENAME", env=hosts)
    cluster.wait_job(job)
    assert by_rank(cluster.read("hosts.out")) == ["n3", "n1", "n3", "n2"]


def test_lists_of_nodes_in_files(cluster):
    cluster.file("hosts", "n3\nn1\n")
    assert by_rank(cluster.ok("srun", "-w", "./hosts", "-n2", *NODES).out) == ["n1", "n3"]
    job = cluster.sbatch("-w", "./hosts", "--wrap", "true")
    assert cluster.wait_job(job)["NodeList"] == "n[1,3]"
    assert cluster.ok("srun", "-x", "./hosts", "printenv", "SLURMD_NODENAME").out == "n2\n"
    listed = cluster.ok("srun", "-w", "n2,n2,n1", "-m", "arbitrary", "-n3", *NODES)
    assert by_rank(listed.out) == ["n2", "n2", "n1"]
    if not harness.ORACLE:      # newer than 22.05
        assert by_rank(cluster.ok("srun", "-w", "n2*2,n1", "-m", "arbitrary", "-n3", *NODES).out) == ["n2", "n2", "n1"]
    assert cluster.run("srun", "-w", "/no/such/file", "true").code != 0


def test_a_program_in_the_working_directory(cluster):
    path = cluster.file("only-here.sh", "#!/bin/sh\necho ran $#\n")
    cluster.sh("chmod +x only-here.sh")
    assert cluster.ok("srun", "only-here.sh", "a", "b").out == "ran 2\n"
    assert cluster.ok("srun", "-D", cluster.work, "only-here.sh", cwd="/").out == "ran 0\n"
    assert cluster.run("srun", "only-here.sh", cwd="/").code != 0
    assert path


@pytest.mark.better_than_slurm      # newer than 22.05
def test_a_task_of_an_array_is_a_job(cluster):
    job = cluster.sbatch("-a", "0-1", "--wrap", "sleep 1000")
    until("both tasks", lambda: len(cluster.queue("-t", "R", "-j", str(job))) == 2)
    seen = cluster.ok("srun", "--jobid=%d_1" % job, "--overlap", "printenv", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_ID").lines
    assert seen[0] == "1" and seen[1] == cluster.queue("-h", "-j", "%d_1" % job, "-o", "%A")[0].strip()
    missing = cluster.run("srun", "--jobid=%d_7" % job, "true")
    assert missing.code != 0 and "Invalid job id specified" in missing.err
    cluster.cancel_all()


@pytest.mark.better_than_slurm      # 22.05 looks at a new job
def test_when_a_waiting_job_will_start(cluster):
    cluster.sbatch("-N3", "--exclusive", "-t", "10", "--wrap", "sleep 1000")
    job = cluster.sbatch("-N3", "--exclusive", "-t", "5", "--wrap", "true")
    until("a look at the queue", lambda: cluster.job(job)["Reason"] == "Resources")
    told = cluster.ok("srun", "--test-only", "--jobid=%d" % job)
    assert re.search(r"srun: Job %d to start at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d on nodes n\[1-3\] in partition main" % job, told.err)
    assert cluster.run("srun", "--test-only", "--jobid=99999").code == 1
    assert "to start at" in cluster.ok("srun", "--test-only").err
    cluster.cancel_all()


def test_variables_of_a_step(cluster):
    env = cluster.ok("srun", "-n1", "env").out
    assert re.search(r"^SLURM_SRUN_COMM_PORT=\d+$", env, re.M) and re.search(r"^SLURM_STEP_LAUNCHER_PORT=\d+$", env, re.M)
    assert cluster.ok("srun", "-n2", "-m", "*", "printenv", "SLURM_DISTRIBUTION").lines == ["block"] * 2
    seen = cluster.ok("salloc", "-Q", "-N3", "srun", "-N2", "-n2", "printenv", "SLURM_NODELIST", "SLURM_STEP_NODELIST", "SLURM_DISTRIBUTION")
    assert seen.lines == ["n[1-3]", "n[1-2]", "cyclic"] * 2
    assert cluster.ok("salloc", "-Q", "-n4", "srun", "-n2", "printenv", "SLURM_DISTRIBUTION").lines == ["block"] * 2
    gpus = cluster.ok("srun", "-n4", "--ntasks-per-gpu=2", "printenv", "SLURM_NTASKS_PER_TRES", "SLURM_GPUS_ON_NODE")
    assert gpus.lines == ["2", "2"] * 4


def test_tasks_fill_whole_nodes(cluster):
    assert len(cluster.ok("srun", "-c1", "--exclusive", "hostname").lines) == 4
    assert len(cluster.ok("srun", "-c2", "--exclusive", "-N2", "hostname").lines) == 4
    assert len(cluster.ok("srun", "-c2", "hostname").lines) == 1


def test_the_end_of_a_wait_is_a_kill(cluster):
    result = cluster.run("srun", "--wait=1", "-n3", "sh", "-c", "if [ $SLURM_PROCID = 2 ]; then trap '' TERM; while :; do sleep 0.1; done; fi")
    assert "task 2: Killed" in result.err and result.code == 137


def test_names_of_steps_are_names_of_jobs(cluster):
    job = cluster.sbatch("-J", "jobname", "--wrap", "srun -J stepname sleep 1000")
    until("its step", lambda: "%d.0" % job in cluster.ok("squeue", "-s", "-h", "-o", "%i").out)
    assert "%d.0" % job in cluster.ok("squeue", "-s", "-h", "--name=jobname", "-o", "%i").out
    if not harness.ORACLE:      # 22.05 shows all steps whatever is named
        assert cluster.ok("squeue", "-s", "-h", "--name=stepname", "-o", "%i").out == ""
    cluster.ok("scancel", "-b", "-f", str(job))
    until("its end", lambda: not cluster.queue("-j", str(job)))


def test_words_and_keys_of_scontrol(cluster):
    def shown(entity, key):
        return re.search(r"\b%s=(\S*)" % key, cluster.ok("scontrol", "show", *entity.split()).out).group(1)
    assert "PartitionName=main" in cluster.ok("scontrol", "show", "partitionname=main").out
    assert "PartitionName=main" in cluster.ok("scontrol", "show", "partitionname", "main").out
    assert "Reservation r not found" in cluster.run("scontrol", "show", "ReservationName=r").out
    cluster.ok("scontrol", "update", "partitionname=gpu", "AllowAccount=good")
    assert shown("partition gpu", "AllowAccounts") == "good"
    cluster.ok("scontrol", "update", "partitionname=gpu", "AllowAc=ALL", "MaxT=60")
    assert shown("partition gpu", "AllowAccounts") == "ALL" and shown("partition gpu", "MaxTime") == "01:00:00"
    assert cluster.run("scontrol", "update", "partitionname=gpu", "Max=1").code != 0      # of several
    cluster.ok("scontrol", "create", "partitionname=made", "nodes=n1", "priority=12")
    assert shown("partition made", "PriorityJobFactor") == "12" and shown("partition made", "PriorityTier") == "12"
    cluster.ok("scontrol", "delete", "partitionname=made")
    job = cluster.sbatch("-H", "-a", "1-5", "--wrap", "true")
    cluster.ok("scontrol", "update", "jobid=%d" % job, "arraytaskthrottle", "2", "timel=7", "nice=4")
    assert [shown("job %d" % job, key) for key in ("ArrayTaskThrottle", "TimeLimit", "Nice")] == ["2", "00:07:00", "4"]
    assert cluster.run("scontrol", "update", "jobid=%d" % job, "bogus", "2").code != 0
    assert cluster.run("scontrol", "update", "jobid=%d" % job, "timelimit").code != 0
    cluster.cancel_all()


def test_licenses_of_a_step_are_the_jobs(cluster):
    if harness.ORACLE:
        pytest.skip("22.05 has no --tres-per-task")
    told = cluster.ok("salloc", "-Q", "-n1", "srun", "--tres-per-task=license/lic=99", "-n1", "echo", "ran")
    assert told.out == "ran\n" and "Ignoring --tres-per-task license specification" in told.err
    assert cluster.run("salloc", "-Q", "-n1", "srun", "--tres-per-task=license/lic::1", "true").code != 0


def test_the_first_interrupt_is_the_tasks_affair_alone(cluster):
    script = "trap 'echo heard' INT; echo ready; while [ ! -e heard-enough ]; do sleep 0.05; done; echo over"
    process = subprocess.Popen(["srun", "-X", "-n1", "bash", "-c", script], env=cluster.env, cwd=cluster.work,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "heard\n"
    cluster.file("heard-enough", "")
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("over\n", 0) and "aborted" not in err


def test_a_resource_ends_with_its_count(cluster):
    for option in ("--gres=gpu:", "--gres=gpu:h100:", "--gpus=h100:"):
        refused = cluster.run("srun", option, "true")
        assert refused.code != 0 and "Invalid generic resource (gres) specification" in refused.err
