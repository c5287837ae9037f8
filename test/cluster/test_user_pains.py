"""What users of other re-implementations of Slurm had to report as bugs: one test, or a few, for each.

Where the feature behind a report waits (accounting, SPANK), the test holds what a user gets meanwhile: a clear answer and an
exit status that scripts notice, never silence.
"""
import os
import re
import shutil
import subprocess

import pytest

from harness import ORACLE, until

better = pytest.mark.better_than_slurm


# ---- batch script
def test_batch_script_runs_once_on_the_first_node(cluster):
    out, job = cluster.run_script(
        '#!/bin/bash\n# the word srun in a comment means nothing\necho "$SLURMD_NODENAME $SLURM_PROCID" >>ran\nsrun -l true\n',
        "-N3", "--ntasks-per-node=2")
    first = cluster.ok("scontrol", "show", "hostnames", job["NodeList"]).lines[0]
    assert cluster.read("ran") == first + " 0\n"


# ---- srun options used by others
HELLO_MPI = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d on %s: sum %d\n", rank, size, getenv("SLURMD_NODENAME"), sum);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.row(123)
@pytest.mark.skipif(not shutil.which("mpirun") or not shutil.which("mpicc"), reason="Open MPI is not installed")
def test_mpirun_of_open_mpi_starts_its_daemons_with_srun(cluster):
    cluster.file("hello.c", HELLO_MPI)
    cluster.ok("mpicc", "-o", "hello", "hello.c", timeout=60)
    script = cluster.file("mpi.sh", "#!/bin/bash\n#SBATCH -N3 --ntasks-per-node=2 -o mpi.out\n"
                          "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                          "mpirun --mca oob_tcp_if_include lo --mca btl tcp,self --mca btl_tcp_if_include lo ./hello\n")
    cluster.wait_job(cluster.sbatch(script), seconds=90)
    lines = [line for line in cluster.read("mpi.out").splitlines() if line.startswith("rank ")]
    assert sorted(lines) == ["rank %d of 6 on n%d: sum 15" % (rank, rank // 2 + 1) for rank in range(6)], lines


@pytest.mark.row(123)
def test_the_options_of_open_mpi_and_others(cluster):
    out, _ = cluster.run_script(
        "#!/bin/bash\nsrun --ntasks-per-node=1 --kill-on-bad-exit --mpi=none --cpu-bind=none --nodes=2 --ntasks=2 "
        "bash -c 'echo $SLURM_PROCID $SLURMD_NODENAME' 2>err | sort\n", "-N2")
    assert re.fullmatch(r"0 n\d\n1 n\d\n", out) and len(set(re.findall(r"n\d", out))) == 2, out


# ---- reasons
def test_begin_time_is_named_as_the_reason(cluster):
    job = cluster.sbatch("--begin=now+1hour", "--wrap", "true")
    assert cluster.job(job)["Reason"] == "BeginTime"
    assert cluster.queue("-j", str(job), "-o", "%r|%R") == ["BeginTime|(BeginTime)"]


# ---- sdiag
SDIAG = """Server thread count
Agent queue size
Agent count
Agent thread count
DBD Agent queue size
Jobs submitted
Jobs started
Jobs completed
Jobs canceled
Jobs failed
Job states ts
Jobs pending
Jobs running
Main schedule statistics (microseconds)
\tLast cycle
\tMax cycle
\tTotal cycles
\tMean cycle
\tMean depth cycle
\tLast queue length
Backfilling stats
\tTotal backfilled jobs (since last slurm start)
\tTotal backfilled jobs (since last stats cycle start)
\tTotal backfilled heterogeneous job components
\tTotal cycles
\tLast cycle when
\tLast cycle
\tMax cycle
\tLast depth cycle
\tLast depth cycle (try sched)
\tLast queue length
\tLast table size
Latency for 1000 calls to gettimeofday()
Remote Procedure Call statistics by message type
Remote Procedure Call statistics by user
Pending RPC statistics""".split("\n")


def sdiag(cluster):
    """(section, key) → value, as exporters read it."""
    values, section = {}, ""
    for line in cluster.ok("sdiag").lines:
        found = re.match(r"(\t?[^\t:].*?):\s*(.*)$", line)
        if not found or (not line.startswith("\t") and not found[2]):
            section = line.rstrip(":").split(" (")[0] if line.strip() else section
        elif found:
            values[section if line.startswith("\t") else "", found[1].strip()] = found[2]
    return values


def test_sdiag_has_the_layout_that_exporters_read(cluster):
    keys = [re.match(r"\t?[^\t].*?(?=:|$)", line)[0].rstrip() for line in cluster.ok("sdiag").lines
            if line.strip("*\t ")]
    at = -1
    for wanted in SDIAG:
        at = keys.index(wanted, at + 1)


def test_sdiag_counts_what_happened(cluster):
    before = sdiag(cluster)
    good = cluster.sbatch("--wrap", "true")
    cluster.wait_job(good)
    held = cluster.sbatch("-H", "--wrap", "true")
    bad = cluster.sbatch("--wrap", "exit 3")
    cluster.wait_job(bad, "FAILED")
    cluster.ok("scancel", str(held))
    waiting = cluster.sbatch("-H", "--wrap", "true")

    def gained(key):
        return int(sdiag(cluster)["", key]) - int(before["", key])
    assert (gained("Jobs submitted"), gained("Jobs started")) == (4, 2)
    assert gained("Jobs canceled") == 1
    # Not failed: Slurm counts there what went wrong with nodes or the system.
    until("completed jobs", lambda: gained("Jobs completed") == 2)
    if not ORACLE:      # counted afresh each minute there
        assert int(sdiag(cluster)["", "Jobs pending"]) == 1
    assert "REQUEST_SUBMIT_BATCH_JOB" in cluster.ok("sdiag").out
    cluster.ok("scancel", str(waiting))


def test_sdiag_reset_and_sort(cluster):
    cluster.wait_job(cluster.sbatch("--wrap", "true"))
    assert "Reset" in cluster.ok("sdiag", "--reset").out
    assert sdiag(cluster)["", "Jobs submitted"] == "0"
    cluster.sbatch("-H", "--wrap", "true")

    def column(option, pattern):
        text = cluster.ok("sdiag", option).out.split("by message type")[1].split("Remote")[0]
        return [int(x) for x in re.findall(pattern, text)]
    for option, pattern in (("-i", r"\(\s*(\d+)\)"), ("-t", r"total_time:(\d+)"), ("-T", r"ave_time:(\d+)")):
        seen = column(option, pattern)
        assert len(seen) > 1 and seen == sorted(seen, reverse=option != "-i"), (option, seen)


# ---- --reservation, --qos on srun and salloc, --ntasks-per-node on srun
@pytest.mark.parametrize("command", [["srun"], ["salloc"], ["sbatch", "--wrap", "true"]], ids=lambda c: c[0])
def test_a_reservation_that_is_not_there_is_refused(cluster, command):
    result = cluster.run(command[0], "--reservation=maint", *(command[1:] or ["true"]))
    assert result.code != 0 and "Requested reservation is invalid" in result.err, result


@pytest.mark.parametrize("command", ["srun", "salloc"])
def test_qos_without_accounting_is_recorded(cluster, command):
    shown = cluster.ok(command, "--qos=normal", "bash", "-c", "scontrol show job $SLURM_JOB_ID").out
    assert re.search(r" QOS=(normal|\(null\)|N/A)\s", shown), shown


def test_ntasks_per_node_on_srun(cluster):
    lines = cluster.ok("srun", "-N2", "--ntasks-per-node=3", "bash", "-c", "echo $SLURMD_NODENAME").lines
    assert sorted(lines.count(n) for n in set(lines)) == [3, 3], lines


# ---- squeue
def test_squeue_sort_order(cluster):
    running = cluster.sbatch("-J", "r", "--wrap", "sleep 60")
    cluster.wait_job(running, "RUNNING")
    jobs = {name: cluster.sbatch("-b", "now+1hour", "-J", name, "--wrap", "true") for name in ("b", "c", "a")}
    ids = [str(jobs[n]) for n in ("b", "c", "a")]
    # By partition, state, and falling priority: those that wait first, in the order in which they will start.
    assert cluster.queue("-o", "%i") == ids + [str(running)]
    assert cluster.queue("-o", "%j", "-S", "j") == ["a", "b", "c", "r"]
    assert cluster.queue("-o", "%j", "-S", "-j") == ["r", "c", "b", "a"]
    assert cluster.queue("-t", "PD", "-o", "%i", "-S", "-i") == ids[::-1]


def test_squeue_fields_and_filter_by_name(cluster):
    job = cluster.sbatch("-J", "train", "--gres=gpu:2", "-t", "10", "--wrap", "sleep 60")
    other = cluster.sbatch("-J", "other", "-H", "--wrap", "true")
    cluster.wait_job(job, "RUNNING")
    (line,) = cluster.queue("--name=train", "-o", "%i|%b|%L|%l")
    assert re.fullmatch(r"%d\|gres[:/]gpu:2\|(10:00|9:\d\d)\|10:00" % job, line), line
    assert cluster.queue("--name=other,nobody", "-o", "%i|%L") == ["%d|UNLIMITED" % other]
    assert sorted(cluster.queue("--name=train,other", "-o", "%i")) == sorted([str(job), str(other)])


# ---- sinfo
def test_sinfo_compresses_hosts_and_filters_states(cluster):
    job = cluster.sbatch("-w", "n2", "--exclusive", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    assert sorted(cluster.ok("sinfo", "-h", "-p", "main", "-o", "%t %D %N").lines) == ["alloc 1 n2", "idle 3 n[1,3-4]"]
    assert cluster.ok("sinfo", "-h", "-p", "main", "--states=idle", "-o", "%N").out.strip() == "n[1,3-4]"
    assert cluster.ok("sinfo", "-h", "-p", "main", "--states=alloc", "-o", "%N").out.strip() == "n2"


def test_sinfo_does_not_call_unregistered_nodes_idle(make_cluster):
    cluster = make_cluster(start=False, nodes=2)
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.start_slurmd("n1")
    cluster.wait_nodes("idle", ["n1"])
    assert re.fullmatch(r"(unk|down|idle)\w*\*|unknown", cluster.node_states()["n2"]), cluster.node_states()
    assert cluster.ok("sinfo", "-h", "-p", "main", "-r", "-o", "%N").out.strip() == "n1"
    # Nothing starts there, either.
    job = cluster.sbatch("-w", "n2", "--wrap", "true")
    until("a reason", lambda: cluster.job(job)["Reason"] not in ("None", "Priority"))
    assert cluster.job(job)["JobState"] == "PENDING"


# ---- accounting: meanwhile a clear no
@better
@pytest.mark.parametrize("command", [
    ["sacct", "-j", "1"], ["sacct", "--format=JobID,ReqMem"], ["sacctmgr", "show", "assoc", "format=user,account"],
    ["sacctmgr", "-i", "modify", "user", "x", "set", "fairshare=2"], ["sacctmgr", "-i", "delete", "user", "x"],
    ["sreport", "cluster", "utilization"], ["sshare", "-a"]], ids=" ".join)
def test_accounting_commands_say_that_accounting_is_off(cluster, command):
    result = cluster.run(*command)
    assert result.code == 1 and re.search("accounting", result.err + result.out), result


@better
def test_a_limit_by_qos_is_never_taken_in_silence(make_cluster):
    """GPU limits and fair-share need accounting: a configuration that asks for them is told so in the log."""
    cluster = make_cluster(nodes=1, conf="AccountingStorageEnforce=limits,qos\nPriorityType=priority/multifactor\n"
                                         "PriorityWeightFairshare=1000")
    log = open(os.path.join(cluster.folder, "log", "slurmctld.log")).read()
    assert re.search(r"AccountingStorageEnforce.*(accounting|no effect|not available)", log), log
    cluster.wait_job(cluster.sbatch("--gres=gpu:1", "--wrap", "true"))


# ---- scancel
def test_scancel_of_array_elements(cluster):
    job = cluster.sbatch("--array=1-6", "-H", "--wrap", "sleep 60")
    cluster.ok("scancel", "%d_4" % job)
    assert cluster.queue("-j", str(job), "-o", "%i") == ["%d_[1-3,5-6]" % job]
    cluster.ok("scancel", "%d_[1-2,6]" % job)
    assert cluster.queue("-j", str(job), "-o", "%i") == ["%d_[3,5]" % job]
    cluster.ok("scontrol", "release", str(job))
    until("both to run", lambda: sorted(cluster.queue("-j", str(job), "-t", "R", "-o", "%i")) == ["%d_3" % job, "%d_5" % job])
    cluster.ok("scancel", "%d_3" % job)
    until("one to be left", lambda: cluster.queue("-j", str(job), "-t", "R", "-o", "%i") == ["%d_5" % job])


def test_scancel_touches_only_jobs_that_still_run(cluster):
    done = cluster.sbatch("-J", "sweep", "--wrap", "true")
    cluster.wait_job(done)
    live = cluster.sbatch("-J", "sweep", "--wrap", "sleep 60")
    cluster.wait_job(live, "RUNNING")
    cluster.ok("scancel", "--name=sweep")
    cluster.wait_job(live, "CANCELLED")
    assert cluster.job(done)["JobState"] == "COMPLETED"


# ---- defaults
def test_one_task_a_node_by_default(cluster):
    out, _ = cluster.run_script("#!/bin/bash\nsrun bash -c 'echo $SLURMD_NODENAME $SLURM_NTASKS'\n", "-N3")
    assert sorted(out.splitlines()) == ["n1 3", "n2 3", "n3 3"]


def memlock(cluster, shell_limit, *options):
    """`ulimit -l` in a job submitted from a shell with this limit."""
    job = int(cluster.sh("ulimit -S -l %s; sbatch --parsable %s --wrap 'ulimit -S -l; srun bash -c \"ulimit -S -l\"'"
                         % (shell_limit, " ".join(options))).out)
    cluster.wait_job(job)
    return cluster.read("slurm-%d.out" % job).split()


def may_raise_memlock():
    return subprocess.run(["bash", "-c", "ulimit -l unlimited"], capture_output=True).returncode == 0


@pytest.mark.row(124)
def test_memory_lock_limit_travels_with_the_job(cluster):
    assert memlock(cluster, "64") == ["64", "64"]
    assert memlock(cluster, "64", "--propagate=NOFILE")[0] != "64"


@pytest.mark.row(124)
@better
@pytest.mark.skipif(not may_raise_memlock(), reason="needs the right to raise limits")
def test_memory_lock_is_unlimited_where_it_is_not_propagated(make_cluster):
    """What RDMA needs: slurmd has no limit itself, and PropagateResourceLimitsExcept keeps the login node's out."""
    cluster = make_cluster(nodes=1, conf="PropagateResourceLimitsExcept=MEMLOCK")
    assert memlock(cluster, "64") == ["unlimited", "unlimited"]
    assert memlock(cluster, "64", "--propagate=MEMLOCK") == ["64", "64"]


# ---- prolog failure
def test_prolog_failure_requeues_holds_and_drains(make_cluster):
    cluster = make_cluster(start=False, nodes=2)
    prolog = cluster.script("prolog", '#!/bin/sh\n[ "$SLURMD_NODENAME" != n1 ] || { echo no scratch >&2; exit 1; }\n')
    cluster.conf_lines.append("Prolog=" + prolog)
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("-w", "n1", "--wrap", "true")
    until("the hold", lambda: cluster.job(job)["Reason"] == "launch_failed_requeued_held")
    record = cluster.job(job)
    assert (record["JobState"], record["Priority"], record["Restarts"]) == ("PENDING", "0", "1"), record
    cluster.wait_nodes(r"drained\*?", ["n1"])
    shown = cluster.ok("scontrol", "show", "node", "n1").out
    assert re.search(r"Reason=.*[Pp]rolog", shown), shown
    # Others go where the prolog succeeds.
    cluster.wait_job(cluster.sbatch("--wrap", "true"))
    cluster.ok("scancel", str(job))


@better
def test_prolog_failure_without_hold(make_cluster):
    cluster = make_cluster(start=False, nodes=2)
    prolog = cluster.script("prolog", '#!/bin/sh\n[ "$SLURMD_NODENAME" != n1 ]\n')
    cluster.conf_lines += ["Prolog=" + prolog, "SchedulerParameters=nohold_on_prolog_fail"]
    cluster.write_lines()
    cluster.start()
    job = cluster.sbatch("--wrap", "true")
    record = cluster.wait_job(job)
    assert (record["NodeList"], record["Restarts"]) == ("n2", "1"), record


# ---- wall time
@pytest.mark.parametrize("command,code", [("sleep 600", "0:15"), ("trap '' TERM; while :; do sleep 1; done", "0:9")],
                         ids=["ends", "ignores it"])
def test_a_job_over_its_limit_is_timeout(cluster, command, code):
    job = cluster.sbatch("-t", "1", "-o", "time.out", "--wrap", command)
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "update", "job", str(job), "EndTime=now+1")
    record = cluster.wait_job(job, "TIMEOUT", seconds=90)
    assert record["Reason"] == "TimeLimit", record
    # The exit code is that of the script: 15 where it ended at SIGTERM, 9 where it had to be killed.
    until("the signal", lambda: cluster.job(job)["ExitCode"] == code)
    until("the line", lambda: "DUE TO TIME LIMIT" in cluster.read("time.out"))


# ---- SPANK
@pytest.mark.row(86)
@better
def test_a_spank_plugin_is_never_passed_over_in_silence(make_cluster):
    cluster = make_cluster(nodes=1)
    with open(os.path.join(cluster.folder, "etc", "plugstack.conf"), "w") as f:
        f.write("required /usr/lib/pyxis.so\n")
    result = cluster.run("srun", "true")
    assert result.code == 1 and "plugstack.conf:1: required plugin /usr/lib/pyxis.so: there is no such file" in result.err, result


# ---- options that a wrapper took and dropped
def test_options_that_others_ignored_have_their_effect(cluster):
    cluster.file("in.txt", "from the file\n")
    job = cluster.ok("sbatch", "--parsable", "-N2", "--ntasks-per-node=2", "--gpus-per-node=2", "--mem-per-cpu=100", "--input=in.txt",
                     "--distribution=cyclic", "--wrap",
                     "cat; srun bash -c 'echo $SLURM_PROCID $SLURM_NODEID' | sort -n").out.strip()
    record = cluster.wait_job(job)
    assert re.search(r"mem=400M,node=2", record["TRES"] if "TRES" in record else record["AllocTRES"]), record
    if not ORACLE:      # 22.05 counts no GPUs there without accounting
        assert "gres/gpu=4," in record["AllocTRES"], record
    out = cluster.read("slurm-%s.out" % job)
    assert out == "from the file\n0 0\n1 1\n2 0\n3 1\n", out


# ---- slurm.conf
def test_slurm_conf_is_read_as_it_is(make_cluster):
    """Include, continuation, DEFAULT lines, ranges and comments, as a site has them."""
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    with open(os.path.join(cluster.folder, "etc", "parts.conf"), "w") as f:
        f.write("# partitions\nPartitionName=DEFAULT MaxTime=2-0 \\\n  State=UP\nPartitionName=batch Nodes=ALL # all\n")
    cluster.conf_lines += ["include parts.conf", "killwait=3"]
    cluster.conf_lines = [line for line in cluster.conf_lines if line != "KillWait=2"]
    cluster.write_lines()
    cluster.start()
    shown = cluster.ok("scontrol", "show", "partition", "batch").out
    assert "MaxTime=2-00:00:00" in shown and "Nodes=n[1-2]" in shown, shown
    assert re.search(r"^KillWait\s+= 3 sec$", cluster.ok("scontrol", "show", "config").out, re.M)
