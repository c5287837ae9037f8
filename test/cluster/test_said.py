"""What the commands say beside their answer: -v and its levels, notices, first lines of refusals."""
import os
import re
import signal
import subprocess

import pytest

import harness
from harness import until

ours = pytest.mark.better_than_slurm


@pytest.fixture(scope="module")
def shared():
    import conftest
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, nodes=3, cpus=4, gpus=2, partitions=[
        "PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=closed Nodes=n[1-3] MaxTime=INFINITE State=DOWN",
        "PartitionName=one Nodes=n3 State=UP"], conf="EnforcePartLimits=ALL\nLicenses=lic:4")
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        harness.remove(folder)


def without_plugins(text):
    """Slurm 22.05 names its plugins in between."""
    return [re.sub(r"launch/slurm: \w+: ", "", line) for line in text.splitlines()
            if "select/" not in line and "route/" not in line and "plugin loaded" not in line]


def test_srun_tells_of_options_nodes_and_tasks(cluster):
    result = cluster.ok("srun", "-v", "-n2", "true")
    lines = without_plugins(result.err)
    assert lines[:6] == ["srun: defined options", "srun: -------------------- --------------------",
                         "srun: ntasks              : 2", "srun: verbose             : 1",
                         "srun: -------------------- --------------------", "srun: end of defined options"]
    text = "\n".join(lines)
    for part in (r"srun: jobid (\d+): nodes\(1\):`n\d', cpu counts: 2\(x1\)", r"srun: launching StepId=\d+\.0 on host n\d, 2 tasks: \[0-1\]",
                 r"srun: Node n\d, 2 tasks started", r"srun: Received task exit notification for \d tasks? of StepId=\d+\.0 \(status=0x0000\)\.",
                 r"srun: n\d: tasks? [-,01]+: Completed"):
        assert re.search(part, text), (part, text)
    assert result.out == "" and "debug" not in text
    failed = cluster.run("srun", "-v", "-n1", "sh", "-c", "exit 3")
    assert failed.code == 3 and "(status=0x0300)" in failed.err and "task 0: Exited with exit code 3" in failed.err


def test_levels(cluster):
    assert cluster.ok("srun", "true").err == ""
    for command, variable in (("srun", "SLURM_DEBUG"), ("salloc", "SALLOC_DEBUG")):
        said = cluster.ok(command, "true", env={variable: "1"}).err
        assert "%s: verbose             : 1" % command in said and "debug" not in said
        said = cluster.ok(command, "-vv", "true").err
        assert "%s: verbose             : 2" % command in said
    assert "srun: debug:  propagating UMASK=" in cluster.ok("srun", "-vv", "true").err
    assert "sbatch: verbose             : 2" in cluster.ok("sbatch", "-H", "--wrap", "true", env={"SBATCH_DEBUG": "2"}).err
    said = cluster.ok("sbatch", "-vv", "-H", "--wrap", "true").err
    assert "sbatch: debug:  propagating RLIMIT_" in said and "sbatch: wrap                : true" in said
    assert cluster.run("srun", "-v", "-Q", "true").code != 0
    cluster.cancel_all()


def test_queries_tell_of_settings_and_time_beside_their_lines(cluster):
    for command, setting in ((("squeue",), "verbose     = 1"), (("sinfo",), "summarize   = false")):
        plain, told = cluster.ok(*command), cluster.ok(*command, "-v")
        if not harness.ORACLE:
            assert told.out == plain.out and plain.err == ""
        assert setting in told.out + told.err
    told = cluster.ok("scontrol", "-v", "show", "partition", "one")
    assert re.search(r"last_update_time=\S+, records=\d+", told.out + told.err)


def test_scancel_tells_of_jobs_and_steps(cluster):
    job = cluster.sbatch("-J", "told", "-n2", "--wrap", "srun -n2 --overlap sleep 1000")
    until("its step", lambda: "%d.0" % job in cluster.ok("squeue", "-s", "-h", "-o", "%i").out)
    assert "scancel: Signal 18 to job %d" % job in cluster.ok("scancel", "-v", "-s", "CONT", str(job)).err
    assert "scancel: Signal 18 to batch job %d" % job in cluster.ok("scancel", "-v", "-b", "-s", "CONT", str(job)).err
    assert "scancel: Signal 18 to full job %d" % job in cluster.ok("scancel", "-v", "-f", "-s", "CONT", str(job)).err
    assert "scancel: Signal 18 to step %d.0" % job in cluster.ok("scancel", "-v", "-s", "CONT", "%d.0" % job).err
    assert "scancel: Signal 18 to job %d" % job in cluster.ok("scancel", "-v", "-n", "told", "-s", "CONT").err
    assert "No active jobs match ALL job filters, including: job_name=nobody " in cluster.run("scancel", "-v", "-n", "nobody").err
    assert cluster.run("scancel", "-n", "nobody").err == ""
    assert re.search(r"scancel: job_id\[0\] +: %d" % job, cluster.ok("scancel", "-vvv", "-s", "CONT", str(job)).err)
    assert "scancel: Terminating step %d.0" % job in cluster.ok("scancel", "-v", "%d.0" % job).err
    assert "scancel: Terminating job %d" % job in cluster.run("scancel", "-v", str(job)).err


def test_asking_again_for_a_job_that_is_gone(cluster):
    job = cluster.sbatch("-H", "--wrap", "true")
    assert "Cancel job_id=%d" % job in cluster.ok("scancel", "-i", str(job), stdin="y\n").out
    again = cluster.run("scancel", "-i", str(job), stdin="y\n")
    assert again.code == 1 and again.out == "" and "Kill job error on job id %d: Invalid job id specified" % job in again.err


@ours      # 22.05 needs a second signal at times
def test_a_closed_partition_is_told_of_while_waiting(cluster):
    for command, end in (("srun", ["srun: Job allocation %s has been revoked", "srun: Force Terminated JobId=%s"]),
                         ("salloc", ["salloc: Job allocation %s has been revoked.", "salloc: Job aborted due to signal"])):
        process = subprocess.Popen([command, "-p", "closed", "true"], env=cluster.env, cwd=cluster.work, stderr=subprocess.PIPE, text=True)
        said = []
        while not said or "queued and waiting" not in said[-1]:
            line = process.stderr.readline()
            assert line, said
            said.append(line.rstrip("\n"))
        assert said[0] == "%s: Partition in DOWN state" % command
        job = re.search(r"job (\d+) queued", said[-1]).group(1)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[1].splitlines()
        assert process.returncode == 1 and rest == [line % job if "%s" in line else line for line in end]


def test_first_lines_of_refusals(cluster):
    def refused(*command):
        result = cluster.run(*command)
        assert result.code != 0, result
        return result.err
    assert "More processors requested than permitted" in refused("salloc", "-n13", "true")
    assert "More processors requested than permitted" in refused("sbatch", "-p", "one", "-N5", "--wrap", "true")
    assert "Node count specification invalid" in refused("sbatch", "-N7", "--wrap", "true")
    assert "Requested node configuration is not available" in refused("sbatch", "-c5", "--wrap", "true")
    assert 'Unable to find command "no-such-program"' in refused("salloc", "no-such-program")
    job = cluster.sbatch("--no-requeue", "--wrap", "sleep 1000")
    cluster.wait_job(job, "RUNNING")
    assert "Requested operation is presently disabled for job %d" % job in cluster.run("scontrol", "requeue", str(job)).out + refused("scontrol", "requeue", str(job))
    assert "Could not get job step info: Invalid job id specified" in refused("sattach", "%d.7" % job)
    cluster.cancel_all()
    assert "REQUEST_FILE_BCAST(n" in refused("salloc", "-Q", "sbcast", "/bin/true", "/no-such-folder/x")
    assert "Can't open `/no-such-file`: No such file or directory" in refused("salloc", "-Q", "sbcast", "/no-such-file", "/tmp/x")
    assert "Slurm job 99999 lookup error: Invalid job id specified" in refused("sbcast", "-j", "99999", "/bin/true", "/tmp/x")
    assert "Conflicting options, -a and -p, specified" in refused("sinfo", "-a", "-p", "main")
    assert "--relative and --nodes option incompatible with count of allocated nodes (1+2>2)" in refused("salloc", "-Q", "-N2", "srun", "-r1", "-N2", "true")


def test_pidinfo_tells_the_time_that_is_left(cluster):
    job = cluster.sbatch("-t", "10", "-w", "n1", "--wrap", "echo $$ > shell.pid; sleep 1000")
    until("the shell's pid", lambda: cluster.read("shell.pid").strip())
    out = cluster.ok("scontrol", "pidinfo", cluster.read("shell.pid").strip(), env={"SLURMD_NODENAME": "n1"}).lines
    assert re.fullmatch(r"Slurm JobId=%d ends at \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}" % job, out[0])
    seconds = re.fullmatch(r"Job remaining time is (\d+) seconds", out[1])
    assert seconds and 500 < int(seconds.group(1)) <= 600
    os.remove(os.path.join(cluster.work, "shell.pid"))
    cluster.cancel_all()


def test_gpu_options_that_exclude_each_other(cluster):
    for options, line in (("--cpus-per-gpu=1 -c1", "--cpus-per-gpu is mutually exclusive with --cpus-per-task"),
                          ("--gpus-per-socket=1", "--gpus-per-socket option requires --sockets-per-node specification"),
                          ("--gpus=2 --gpus-per-node=3", "Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket"),
                          ("--gpus=4 --gpus-per-task=1 -n2", "Failed to validate job spec. Based on --gpus and --gpus-per-task"),
                          ("--gpus=h100:1,2", "Invalid GRES specification (with and without type identification)"),
                          ("--gpus-per-task=1 --ntasks-per-gpu=1", "--gpus-per-task is mutually exclusive with --ntasks-per-gpu")):
        result = cluster.run("sbatch", "-H", *options.split(), "--wrap", "true")
        assert result.code != 0 and line in result.err, result
