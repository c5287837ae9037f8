"""Checklist rows 13-17 and 26: what is in the queue, on the nodes; ending jobs."""
import json
import re

import pytest

from harness import ORACLE, until


@pytest.mark.row(13, 14)
def test_squeue_of_a_user(cluster):
    job = cluster.sbatch("--wrap", "sleep 60")
    mine = cluster.sh("squeue -u $USER").lines
    assert mine[0].split() == ["JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)"]
    assert [line.split()[0] for line in mine[1:]] == [str(job)]
    assert cluster.ok("squeue", "-u", "nobody", "-h").out == ""


def test_squeue_shows_state_and_node(cluster):
    job = cluster.sbatch("-J", "hello", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    line = cluster.ok("squeue").lines[1]
    assert re.fullmatch(r" +%d +main +hello +%s +R +0:0\d +1 n1" % (job, cluster.user[:8]), line), line


@pytest.mark.row(14)
def test_squeue_shows_why_a_job_waits(cluster):
    cluster.wait_job(cluster.sbatch("-N4", "--exclusive", "--wrap", "sleep 60"), "RUNNING")
    job = cluster.sbatch("-N1", "--wrap", "true")
    cluster.ok("squeue")
    held = cluster.sbatch("--hold", "--wrap", "true")
    until("reasons in squeue", lambda: dict(line.split(None, 1) for line in cluster.queue("-t", "PD", "-o", "%i %R")) == {
        str(job): "(Resources)", str(held): "(JobHeldUser)"})


def test_squeue_format_of_row_15(cluster):
    job = cluster.sbatch("-N2", "--gres=gpu:h100:8", "-J", "llm-fsdp-train-with-a-long-name", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    out = cluster.ok("squeue", "--format=%.18i %.9P %.30j %.8u %.8T %.10M %.6D %R %b").lines
    assert out[0] == "             JOBID PARTITION                           NAME     USER    STATE       TIME  NODES " \
                     "NODELIST(REASON) TRES_PER_NODE"
    want = r"%18d      main %30s %8s  RUNNING +0:0\d      2 n\[1-2\] gres[:/]gpu:h100:8" % (
        job, "llm-fsdp-train-with-a-long-name"[:30], cluster.user[:8])
    assert re.fullmatch(want, out[1]), out[1]


@pytest.mark.row(16)
def test_scancel_of_a_pending_and_a_running_job(cluster):
    running = cluster.sbatch("--wrap", "sleep 60")
    cluster.wait_job(running, "RUNNING")
    pending = cluster.sbatch("--hold", "--wrap", "true")
    assert cluster.ok("scancel", str(pending), str(running)).out == ""
    cluster.wait_job(pending, "CANCELLED")
    cluster.wait_job(running, "CANCELLED")


@pytest.mark.better_than_slurm      # 22.05 says nothing and exits 0; later releases say so
def test_scancel_of_a_job_that_is_not_there(cluster):
    result = cluster.run("scancel", "999999")
    assert result.code == 1 and "Invalid job id specified" in result.err, result


def test_scancel_with_a_signal(cluster):
    job = cluster.sbatch("-o", "signal.out", cluster.file("trap.sh", "#!/bin/bash\ntrap 'echo got it; exit 0' USR1\n"
                                                          "touch ready\nwhile :; do sleep 0.05; done\n"))
    until("the trap", lambda: cluster.sh("test -e ready").code == 0)
    cluster.ok("scancel", "--signal=USR1", "--batch", str(job))
    cluster.wait_job(job, "COMPLETED")
    assert cluster.read("signal.out") == "got it\n"


@pytest.mark.row(17)
def test_sinfo(cluster):
    out = cluster.ok("sinfo").lines
    assert out[0].split() == ["PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST"]
    assert out[1].split() == ["main*", "up", "infinite", "4", "idle", "n[1-4]"]
    assert out[2].split() == ["gpu", "up", "7-00:00:00", "4", "idle", "n[1-4]"]
    job = cluster.sbatch("-N1", "-w", "n3", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    assert [line.split()[3:] for line in cluster.ok("sinfo", "-p", "main").lines[1:]] == [
        ["1", "mix", "n3"], ["3", "idle", "n[1-2,4]"]]


def test_sinfo_shows_gres(cluster):
    assert cluster.ok("sinfo", "-h", "-p", "main", "-o", "%D %G").out == "4 gpu:h100:8\n"


def test_show_hostnames_needs_no_controller(cluster):
    nowhere = {"SLURM_CONF": "/nonexistent/slurm.conf", "SLURM_JOB_NODELIST": "gpu-node-[003-004,001]"}
    env = {"SLURM_JOB_NODELIST": "gpu-node-[003-004,001]"} if ORACLE else nowhere
    assert cluster.sh('scontrol show hostnames "$SLURM_JOB_NODELIST"', env=env).out == \
        "gpu-node-003\ngpu-node-004\ngpu-node-001\n"
    assert cluster.sh('scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1', env=env).out == "gpu-node-003\n"
    first = "scontrol show hostnames \"$SLURM_JOB_NODELIST\" | awk '{print $1 \" slots=8\"}' | head -n1"
    assert cluster.sh(first, env=env).out == "gpu-node-003 slots=8\n"


def test_show_job_has_what_the_script_asked_for(cluster):
    job = cluster.sbatch("-N2", "--gres=gpu:8", "-t", "48:00:00", "-J", "big", "--wrap", "sleep 60")
    record = cluster.wait_job(job, "RUNNING")
    assert record["JobName"] == "big" and record["TimeLimit"] == "2-00:00:00" and record["NumNodes"] == "2"
    assert record["NodeList"] == "n[1-2]" and record["BatchHost"] == "n1"
    assert re.fullmatch(r"gres[:/]gpu:8", record["TresPerNode"])


def test_show_job_details(cluster):
    """What -d adds, to the byte: nodes with equal shares on one line, the job's GRES in all."""
    cluster.wait_job(cluster.sbatch("-w", "n1", "-c2", "--gres=gpu:1", "--wrap", "sleep 60"), "RUNNING")
    apart = cluster.sbatch("-w", "n[1-2]", "-N2", "-n2", "-c2", "--gres=gpu:2", "--wrap", "sleep 60")
    alike = cluster.sbatch("-w", "n[3-4]", "-N2", "-n2", "-c2", "--gres=gpu:2", "--wrap", "sleep 60")
    none = cluster.sbatch("-w", "n4", "--wrap", "sleep 60")

    def details(job):
        cluster.wait_job(job, "RUNNING")
        lines = cluster.ok("scontrol", "show", "job", "-d", str(job)).lines
        at = next(i for i, line in enumerate(lines) if line.startswith("   JOB_GRES="))
        # Which CPUs is the scheduler's choice.
        return [re.sub(r"CPU_IDs=\S+", "CPU_IDs=*", line) for line in lines[at:] if re.match("   JOB_GRES|     Nodes", line)]
    # Debian's Slurm gives no numbers for GPUs that are plain files in the jobs' environment, but does so here.
    assert details(apart) == ["   JOB_GRES=gpu:h100:4", "     Nodes=n1 CPU_IDs=* Mem=20 GRES=gpu:h100:2(IDX:1-2)",
                              "     Nodes=n2 CPU_IDs=* Mem=20 GRES=gpu:h100:2(IDX:0-1)"]
    assert details(alike) == ["   JOB_GRES=gpu:h100:4", "     Nodes=n[3-4] CPU_IDs=* Mem=20 GRES=gpu:h100:2(IDX:0-1)"]
    assert details(none) == ["   JOB_GRES=(null)", "     Nodes=n4 CPU_IDs=* Mem=10 GRES="]
    one_line = cluster.ok("scontrol", "-o", "show", "job", "-d", str(alike)).out
    assert "JOB_GRES=gpu:h100:4   Nodes=n[3-4] CPU_IDs=" in one_line and "(IDX:0-1) MinCPUsNode=" in one_line, one_line


def test_an_array_cancelled_while_it_waits_keeps_its_tasks(cluster):
    job = cluster.sbatch("-H", "--array=0-3%2", "--wrap", "true")
    cluster.ok("scancel", str(job))
    until("the end", lambda: cluster.job(job)["JobState"] == "CANCELLED")
    assert cluster.job(job)["ArrayTaskId"] == "0-3%2"
    assert cluster.queue("-t", "all", "-j", str(job), "-o", "%i %t %K %F") == ["%d_[0-3%%2] CA 0-3%%2 %d" % (job, job)]
    assert cluster.queue("-r", "-t", "all", "-j", str(job), "-o", "%i %T") == ["%d_%d CANCELLED" % (job, i) for i in range(4)]
    assert cluster.queue("-t", "all", "-j", "%d_2" % job, "-o", "%T") == ["CANCELLED"]


def test_json_carries_meta(cluster):
    job = cluster.sbatch("-J", "named", "--wrap", "sleep 60")
    document = json.loads(cluster.ok("squeue", "--json").out)
    assert "meta" in document and [one["name"] for one in document["jobs"] if one["job_id"] == job] == ["named"]


def test_squeue_priority_lists_a_job_once_for_each_partition(cluster):
    job = cluster.sbatch("--hold", "-p", "main,gpu", "--wrap", "true")
    assert cluster.queue("-o", "%i %P") == ["%d main,gpu" % job]
    assert sorted(cluster.queue("-P", "-o", "%i %P")) == ["%d gpu" % job, "%d main" % job]


def test_squeue_array_lines(cluster):
    job = cluster.sbatch("--hold", "--array=1-3", "--wrap", "true")
    assert cluster.queue("-o", "%i") == ["%d_[1-3]" % job]
    want = ["%d_%d" % (job, i) for i in (1, 2, 3)]
    assert cluster.queue("-r", "-o", "%i") == want
    assert cluster.queue("--array-unique", "-o", "%i") == want
    assert len(json.loads(cluster.ok("squeue", "-r", "--json").out)["jobs"]) == 3


@pytest.mark.better_than_slurm      # 22.05 does not have it
def test_squeue_only_job_state(cluster):
    job = cluster.sbatch("--hold", "-J", "x", "--wrap", "true")
    assert [line.split() for line in cluster.ok("squeue", "--only-job-state").lines] == [["JOBID", "ST"], [str(job), "PD"]]
    result = cluster.ok("squeue", "--only-job-state", "-h", "-o", "%i %j")
    assert result.out.split() == [str(job)] and "only" in result.err


def test_squeue_of_steps_as_json(cluster):
    job = cluster.sbatch("-N2", "-J", "outer", "--wrap", "srun -J inner -n2 sleep 60")
    until("the step", lambda: any(".0" in line for line in cluster.queue("-s", "-o", "%i")))
    doc = json.loads(cluster.ok("squeue", "-s", "--json").out)
    assert "jobs" not in doc
    steps = {s["step"]["id"]: s for s in doc["steps"]}
    assert set(steps) >= {"%d.0" % job, "%d.batch" % job}
    assert steps["%d.0" % job]["step"]["name"] == "inner" and steps["%d.0" % job]["nodes"]["count"] == 2
    # --name is of jobs, here too.
    assert "%d.0" % job in [line.strip() for line in cluster.queue("-s", "-n", "outer", "-o", "%i")]
    assert cluster.queue("-s", "-n", "inner", "-o", "%i") == []


def test_squeue_start_is_of_pending_jobs(cluster):
    running = cluster.sbatch("--wrap", "sleep 60")
    cluster.wait_job(running, "RUNNING")
    held = cluster.sbatch("--hold", "--wrap", "true")
    assert cluster.queue("--start", "-o", "%i") == [str(held)]
    assert cluster.queue("--start", "-t", "R", "-o", "%i") == [str(running)]


@pytest.mark.better_than_slurm      # needs slurmdbd there
def test_clusters_by_name(cluster):
    for command in ("squeue", "sinfo"):
        assert cluster.ok(command, "-M", "test").lines[0] == "CLUSTER: test"
        assert cluster.ok(command, "-M", "test", "-h", "-o", "%P").out.find("CLUSTER") == -1
        assert cluster.run(command, "-M", "elsewhere").code == 1


def test_there_is_no_federation_and_nobody_minds(cluster):
    for option in ("--federation", "--local"):
        for command in ("squeue", "sinfo"):
            result = cluster.ok(command, option)
            assert result.err == "", result
    assert cluster.ok("squeue", "--sibling").err == ""


def test_squeue_sorts_by_any_field(cluster):
    for name in ("b", "c", "a"):
        cluster.sbatch("--hold", "-J", name, "--wrap", "true")
    assert cluster.queue("-S", "j", "-o", "%j") == ["a", "b", "c"]
    assert cluster.queue("-S", "-j", "-o", "%j") == ["c", "b", "a"]
    assert cluster.queue("-S", "-i", "-o", "%j") == ["a", "c", "b"]
    assert "Invalid sort" in cluster.run("squeue", "-S", "?").err


def test_squeue_leaves_out_mine(cluster):
    cluster.sbatch("--hold", "--wrap", "true")
    assert cluster.queue("--notme") == [] and len(cluster.queue("--me")) == 1


def test_squeue_of_licences_and_nodes(cluster):
    job = cluster.sbatch("-w", "n2", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    assert cluster.queue("-w", "n2", "-o", "%i") == [str(job)]
    assert cluster.queue("-w", "n[3-4]", "-o", "%i") == []


@pytest.mark.better_than_slurm      # 22.05 prints its options
def test_verbose_says_who_is_asked(cluster):
    for command in ("squeue", "sinfo"):
        assert "asking the controller of test" in cluster.ok(command, "-v").err
        assert cluster.ok(command).err == ""


# Lines are printed as they come: what a client holds does not grow with the queue.
@pytest.mark.better_than_slurm
@pytest.mark.plain_build
@pytest.mark.parametrize("options", [["-r"], ["-r", "--json"], ["-r", "-S", "-i"]])
def test_memory_of_a_long_listing(make_cluster, options):
    cluster = make_cluster(nodes=1, conf="MaxArraySize=60001\nMaxJobCount=100000")
    program = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); " \
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"

    def peak_kib():
        return int(cluster.ok("/usr/bin/python3", "-c", program, "squeue", *options).out)
    cluster.sbatch("--hold", "--wrap", "true")
    few = peak_kib()
    cluster.sbatch("--hold", "--array=1-50000", "--wrap", "true")
    assert len(cluster.queue("-r")) == 50001
    assert peak_kib() - few < (12 if "-S" in options else 3) * 1024
