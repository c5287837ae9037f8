"""Heterogeneous jobs with real daemons: the examples of the guide, and what the guide says of each command."""
import json
import re

from harness import until

LAYOUT = ("echo P=$SLURM_PROCID N=$SLURM_NTASKS J=$SLURM_JOB_ID L=$SLURM_JOB_NODELIST I=$SLURM_NODEID NN=$SLURM_NNODES "
          "S=$SLURM_STEP_ID T=$SLURM_TASKS_PER_NODE W=$SLURMD_NODENAME")


def fields(line):
    return dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)


def rows(cluster, *args):
    return [line.split() for line in cluster.ok("squeue", "-h", "-o", "%i %T %N %r", *args).lines]


def submit(cluster, *args):
    result = cluster.ok("sbatch", *args)
    return int(re.fullmatch(r"Submitted batch job (\d+)", result.out.strip()).group(1))


def states(cluster, job):
    return {row[0]: row[1] for row in rows(cluster, "-t", "all", "-j", str(job))}


def running(cluster, job):
    until(lambda: "job %d runs: %s" % (job, states(cluster, job)), lambda: set(states(cluster, job).values()) == {"RUNNING"})


def test_the_script_of_the_guide(cluster):
    out = cluster.folder + "/work/new-%j.out"
    script = cluster.script("new.bash", "#!/bin/bash\n#SBATCH --cpus-per-task=4 --mem-per-cpu=16M --ntasks=1 --output=%s\n"
                            "#SBATCH hetjob\n#SBATCH --cpus-per-task=2 --mem-per-cpu=1M --ntasks=8\n"
                            "env | grep ^SLURM | sort\nsleep 60\n" % out)
    job = submit(cluster, script)
    running(cluster, job)
    assert sorted(r[0] for r in rows(cluster)) == ["%d+0" % job, "%d+1" % job]
    path = out.replace("%j", str(job))
    until("the script printed", lambda: "SLURM_TASKS_PER_NODE_HET_GROUP_1" in open(path).read())
    env = dict(line.split("=", 1) for line in open(path).read().splitlines() if "=" in line)
    assert env["SLURM_JOB_ID"] == env["SLURM_JOB_ID_HET_GROUP_0"] == str(job)
    assert env["SLURM_JOB_ID_HET_GROUP_1"] == str(job + 1)
    assert env["SLURM_HET_SIZE"] == "2"
    assert (env["SLURM_NTASKS"], env["SLURM_NTASKS_HET_GROUP_0"], env["SLURM_NTASKS_HET_GROUP_1"]) == ("1", "1", "8")
    assert env["SLURM_CPUS_PER_TASK_HET_GROUP_1"] == "2" and env["SLURM_MEM_PER_CPU_HET_GROUP_1"] == "1"
    assert env["SLURM_JOB_NODELIST"] == env["SLURM_JOB_NODELIST_HET_GROUP_0"]
    shown = cluster.ok("scontrol", "show", "job", str(job)).out
    first, second = shown.strip().split("\n\n")
    assert first.startswith("JobId=%d HetJobId=%d HetJobOffset=0 JobName=new.bash\n   HetJobIdSet=%d-%d\n" % (job, job, job, job + 1))
    assert second.startswith("JobId=%d HetJobId=%d HetJobOffset=1 " % (job + 1, job))
    for name in ("%d+1" % job, str(job + 1)):
        one = cluster.ok("scontrol", "show", "job", name).out
        assert one.startswith("JobId=%d HetJobId=%d HetJobOffset=1 " % (job + 1, job)) and one.count("JobState=") == 1
    cluster.ok("scancel", str(job))
    until("all are cancelled", lambda: set(states(cluster, job).values()) == {"CANCELLED"})


def test_options_of_the_command_line_and_of_the_script(cluster):
    script = cluster.script("two.sh", "#!/bin/bash\n#SBATCH -n1 --comment=same\n#SBATCH hetjob\n#SBATCH -n2\nsleep 60\n")
    job = submit(cluster, "--job-name=x", "--time=7", ":", "--time=9", ":", "-n3", script)
    got = [line.split("|") for line in cluster.ok("squeue", "-h", "-j", str(job), "-S", "i", "-O",
                                                  "JobID:|,Name:|,TimeLimit:|,Comment:|,NumTasks:|,HetJobID:|,HetJobOffset:|,HetJobIDSet:").lines]
    assert [[x.strip() for x in row] for row in got] == [
        [str(job), "x", "7:00", "same", "1", str(job), "0", "%d-%d" % (job, job + 2)],
        [str(job + 1), "x", "9:00", "same", "2", str(job), "1", "%d-%d" % (job, job + 2)],
        [str(job + 2), "x", "9:00", "same", "3", str(job), "2", "%d-%d" % (job, job + 2)]]
    cluster.ok("scancel", str(job))


def test_names_of_components(cluster):
    job = submit(cluster, "-n1", ":", "-n1", ":", "-n1", "--wrap", "sleep 60")
    running(cluster, job)
    all_three = ["%d+%d" % (job, i) for i in range(3)]
    assert sorted(r[0] for r in rows(cluster, "-j", str(job))) == all_three
    assert [r[0] for r in rows(cluster, "-j", "%d+1" % job)] == all_three[1:2]
    assert [r[0] for r in rows(cluster, "-j", str(job + 2))] == all_three[2:]
    doc = json.loads(cluster.ok("squeue", "--json", "-j", str(job)).out)
    assert sorted((j["het_job_id"]["number"], j["het_job_offset"]["number"], j["het_job_id_set"]) for j in doc["jobs"]) == [
        (job, i, "%d-%d" % (job, job + 2)) for i in range(3)]
    cluster.ok("scontrol", "update", "jobid=%d+2" % job, "timelimit=60")
    cluster.ok("scontrol", "update", "jobid=%d+1" % job, "comment=one")
    limits = cluster.ok("squeue", "-h", "-S", "i", "-j", str(job), "-o", "%i %l %k").lines
    assert limits[2] == "%d+2 1:00:00 (null)" % job and limits[1].endswith(" one")
    cluster.ok("scontrol", "update", "jobid=%d" % job, "timelimit=50")
    assert [line.split()[1] for line in cluster.ok("squeue", "-h", "-j", str(job), "-o", "%i %l").lines] == ["50:00"] * 3
    # The guide: scancel 93+1 ends that one alone, scancel 93 the rest.
    cluster.ok("scancel", "%d+1" % job)
    until("one is gone", lambda: sorted(r[0] for r in rows(cluster, "-t", "R")) == [all_three[0], all_three[2]])
    cluster.ok("scancel", str(job))
    until("all are gone", lambda: rows(cluster, "-t", "R,CG") == [])


def test_what_is_done_to_the_whole_alone(cluster):
    job = submit(cluster, "-H", "-n1", ":", "-n1", "--wrap", "sleep 60")
    whole = "Operation not permitted on individual component of heterogeneous job"
    for name in ("%d+1" % job, "%d+0" % job, str(job + 1)):
        r = cluster.run("scancel", name)
        assert r.code != 0 and "Kill job error on job id %s: %s" % (name, whole) in r.err
    assert set(states(cluster, job).values()) == {"PENDING"}
    cluster.ok("scontrol", "release", str(job + 1))
    assert rows(cluster, "-j", str(job + 1))[0][1] == "PENDING"    # the other is held
    cluster.ok("scontrol", "release", str(job))
    running(cluster, job)
    r = cluster.run("scontrol", "suspend", str(job + 1))
    assert r.code != 0 and "%s for job %d" % (whole, job + 1) in r.err
    r = cluster.run("scontrol", "requeue", str(job + 1))
    assert r.code != 0 and "Job not heterogeneous job leader for job %d" % (job + 1) in r.err
    cluster.ok("scontrol", "suspend", str(job))
    assert set(states(cluster, job).values()) == {"SUSPENDED"}
    cluster.ok("scontrol", "resume", str(job))
    cluster.ok("scontrol", "requeue", str(job))
    until("it runs again", lambda: cluster.ok("squeue", "-h", "-j", str(job), "-O", "RestartCnt,State").out.split() ==
          ["1", "RUNNING"] * 2)
    cluster.ok("scancel", str(job))


def test_what_is_refused(cluster):
    for args in (("--array=1-2", "-n1", ":", "-n1"), ("-n1", ":", "--array=1-2", "-n1")):
        r = cluster.run("sbatch", *args, "--wrap", "true")
        assert r.code == 1 and "Batch job submission failed: Invalid job array specification" in r.err
    r = cluster.run("sbatch", "-n1", ":", "-L", "foo:1", "--wrap", "true")
    assert r.code == 1 and "Invalid license specification" in r.err
    r = cluster.run("sbatch", "-n1", ":", "-p", "nope", "--wrap", "true")
    assert r.code == 1 and "Invalid partition name specified" in r.err
    r = cluster.run("sbatch", *(["-n1", ":"] * 128), "-n1", "--wrap", "true")
    assert r.code != 0 and "at most 128 components" in r.err
    assert rows(cluster) == []


def test_one_step_over_components(cluster):
    out = cluster.folder + "/work/step-%j.out"
    script = cluster.script("step.sh", "#!/bin/bash\n#SBATCH -n2 -w n1 --output=%s\n#SBATCH hetjob\n#SBATCH -n3 -N2 -w n[2-3]\n"
                            "srun -l --het-group=0,1 bash -c '%s' | sort -n\n"
                            "echo --\nsrun -l --het-group=1 bash -c '%s' | sort -n\n"
                            "echo --\nsrun -l bash -c '%s' | sort -n\n"
                            "echo --\nsrun -n1 -N1 bash -c 'echo first $SLURM_PROCID' : -n1 -N1 bash -c 'echo second $SLURM_PROCID'\n"
                            "echo --\nsrun hostname : date : id\nexit 0\n" % (out, LAYOUT, LAYOUT, LAYOUT))
    job = submit(cluster, script)
    cluster.wait_job(job, seconds=60)
    parts = [part.strip().splitlines() for part in open(out.replace("%j", str(job))).read().split("--\n")]
    both = [fields(line) for line in parts[0]]
    assert [f["P"] for f in both] == list("01234")
    assert {f["N"] for f in both} == {"5"} and {f["J"] for f in both} == {str(job)} and {f["NN"] for f in both} == {"3"}
    assert {f["L"] for f in both} == {"n[1-3]"} and {f["S"] for f in both} == {"0"}
    assert [f["I"] for f in both] == list("00112") and {f["T"] for f in both} == {"2(x2),1"}
    assert [f["W"] for f in both] == ["n1", "n1", "n2", "n2", "n3"]
    second = [fields(line) for line in parts[1]]
    assert [f["P"] for f in second] == list("012") and {f["L"] for f in second} == {"n[2-3]"} and {f["J"] for f in second} == {str(job)}
    first = [fields(line) for line in parts[2]]
    assert [f["P"] for f in first] == list("01") and {f["W"] for f in first} == {"n1"}
    assert sorted(parts[3]) == ["first 0", "second 1"]
    assert parts[4][0].endswith("Attempt to run a job step with het group value of 2, but the job allocation has maximum value of 1")


def test_numbers_of_steps(cluster):
    """The guide: srun --het-group=0,1 makes 1721.0 and 1722.0; --het-group=0 then 1721.1; and 0,1 again 1721.2 and 1722.2."""
    script = cluster.script("numbers.sh", "#!/bin/bash\nfor g in 0,1 0 0,1; do srun --het-group=$g bash -c 'echo $SLURM_STEP_ID'; done\n")
    r = cluster.ok("salloc", "-n1", ":", "-n2", script, timeout=60)
    assert r.lines == ["0"] * 3 + ["1"] + ["2"] * 3


def test_salloc(cluster):
    r = cluster.ok("salloc", "-N1", ":", "-N2", "bash", "-c", "env | grep ^SLURM; srun --het-group=1 printenv SLURM_JOB_ID; "
                   "srun --het-group=1 printenv SLURM_JOB_ID_HET_GROUP_1; squeue -h -o %i | sort", timeout=60)
    env = dict(line.split("=", 1) for line in r.lines if "=" in line)
    job = int(env["SLURM_JOB_ID"])
    assert env["SLURM_HET_SIZE"] == "2"
    assert env["SLURM_JOB_ID_HET_GROUP_0"] == str(job) and env["SLURM_JOB_ID_HET_GROUP_1"] == str(job + 1)
    assert env["SLURM_JOB_NODELIST_HET_GROUP_0"] == "n1"
    assert env["SLURM_JOB_NODELIST_HET_GROUP_1"] == "n[1-2]"    # components may share nodes
    assert env["SLURM_JOB_NODES_HET_GROUP_1"] == "2"
    assert r.lines[-6:] == [str(job)] * 2 + [str(job + 1)] * 2 + ["%d+0" % job, "%d+1" % job]
    until("the whole is given back", lambda: rows(cluster, "-t", "R,CG,PD") == [])


def test_srun_makes_a_job_of_components(cluster):
    r = cluster.ok("srun", "--label", "-n2", ":", "-n1", "bash", "-c", "echo $SLURM_NTASKS", timeout=60)
    assert sorted(r.lines) == ["0: 3", "1: 3", "2: 3"]
    r = cluster.ok("srun", "-n1", "bash", "-c", "echo server", ":", "-n2", "bash", "-c", "echo client", timeout=60)
    assert sorted(r.lines) == ["client", "client", "server"]
    r = cluster.run("srun", "-n1", "bash", "-c", "exit 3", ":", "-n1", "bash", "-c", "exit 4", timeout=60)
    assert r.code == 4
    until("nothing is left", lambda: rows(cluster, "-t", "R,CG,PD") == [])


def test_components_on_one_node(cluster):
    """Two components may have parts of the same node: each rank's output and end is its own."""
    r = cluster.ok("srun", "-l", "-w", "n1", "-n2", "bash", "-c", "echo a$SLURM_PROCID", ":", "-w", "n1", "-n2", "bash", "-c",
                   "echo b$SLURM_PROCID", timeout=60)
    assert sorted(r.lines) == ["0: a0", "1: a1", "2: b2", "3: b3"]


def test_they_start_together_or_not_at_all(cluster):
    blocker = submit(cluster, "-N2", "--exclusive", "--wrap", "sleep 60")
    running(cluster, blocker)
    job = submit(cluster, "-N1", "--exclusive", "-t1", ":", "-N3", "--exclusive", "-t1", "--wrap", "sleep 60")
    until("it says why it waits", lambda: {r[-1] for r in rows(cluster, "-j", str(job))} == {"Resources"})
    assert set(states(cluster, job).values()) == {"PENDING"}
    cluster.ok("scancel", str(blocker))
    running(cluster, job)
    assert sorted(r[2] for r in rows(cluster, "-j", str(job))) == ["n1", "n[2-4]"]
    cluster.ok("scancel", str(job))


def test_the_controller_dies_and_they_go_on(cluster):
    job = submit(cluster, "-n1", ":", "-n1", "--wrap", "sleep 60")
    running(cluster, job)
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    running(cluster, job)
    waiting = submit(cluster, "-H", "-n1", ":", "-n1", "--wrap", "true")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert sorted(states(cluster, waiting)) == ["%d+0" % waiting, "%d+1" % waiting]
    cluster.ok("scancel", str(job), str(waiting))


def test_components_share_a_node_behind_a_promise(make_cluster):
    """Where a plain job of a minute backfills, a heterogeneous one does, although its components have one node between them."""
    cluster = make_cluster(nodes=3, gpus=0, cpus=4)
    busy = [cluster.sbatch("-w", node, "-n4", "-t5", "--wrap", "sleep 300") for node in ("n1", "n2")]
    for job in busy:
        cluster.wait_job(job, "RUNNING")
    wide = cluster.sbatch("-N3", "--exclusive", "-t5", "--wrap", "true")
    until("a promise", lambda: cluster.job(wide)["StartTime"] != "Unknown")
    job = submit(cluster, "-n1", "-t1", ":", "-n1", "-t1", "--wrap", "sleep 60")
    running(cluster, job)
    assert {row[2] for row in rows(cluster, "-j", str(job))} == {"n3"}
    long = submit(cluster, "-n1", "-t30", ":", "-n1", "-t30", "--wrap", "true")
    until("a reason", lambda: {row[-1].strip("()") for row in rows(cluster, "-j", str(long))} == {"Priority"})
