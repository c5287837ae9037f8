"""What steps use: sampled while they run (sstat), recorded when they end (sacct, seff), and watched against their limits."""
import json
import os
import time

import pytest

from accounting import BOTH, Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite

GATHER = "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"

# Takes 80 MB more for each rank, burns CPU time, writes 3 MB, and waits for a file.
EATER = """\
import os, sys, time
rank = int(os.environ.get("SLURM_PROCID", "0"))
size = (80 + 80 * rank) << 20
held = bytearray(size)
for i in range(0, size, 4096):
    held[i] = 1
began = time.process_time()
while time.process_time() - began < 0.4:
    pass
with open("/dev/null", "wb") as f:
    f.write(held[:3 << 20])
open("ready.%d" % rank, "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
"""
MB = 1 << 20


@pytest.fixture
def gathering(make_cluster):
    made = []

    def make(conf=GATHER, kind=Database, **kw):
        cluster = make_cluster(start=False, nodes=2, conf=conf, **kw)
        cluster.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
        cluster.database = kind(cluster)
        cluster.database.start()
        made.append(cluster.database)
        cluster.start()
        cluster.file("eat.py", EATER)
        return cluster
    yield make
    for database in made:
        database.stop()


def size(text):
    """Bytes of "1234K"."""
    return int(text[:-1]) * 1024 ** (1 + "KMGTP".index(text[-1])) if text[-1:] in "KMGTP" else int(text or 0)


def seconds(text):
    hours, minutes, rest = ("00:" + text if text.count(":") == 1 else text).split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def table(cluster, command, *args):
    """The lines of a parsable listing by JobID, each a dict."""
    lines = cluster.ok(command, "-P", *args).lines
    names = lines[0].split("|")
    rows = [dict(zip(names, line.split("|"))) for line in lines[1:]]
    return {row["JobID"]: row for row in rows}


def ready(cluster, ranks):
    return all(os.path.exists(os.path.join(cluster.work, "ready.%d" % r)) for r in range(ranks))


def start_eaters(cluster, tasks=2, nodes=2, *args, then="true"):
    job = cluster.sbatch("-N%d" % nodes, "-n%d" % tasks, "--mem=1000", *args, "--wrap", "srun python3 eat.py; " + then)
    until("the tasks to hold their memory", lambda: ready(cluster, tasks))
    return job


def sampled(cluster, job, least):
    return until("sstat to show it", lambda: next((row for row in table(cluster, "sstat", "-j", "%d.0" % job).values()
                                                   if size(row["MaxRSS"]) >= least), None))


def recorded(cluster, job, step, node=""):
    """The lines of a job, once the database has what a step of it used; `node`: once that has told it, too, which used the most."""
    def look():
        rows = table(cluster, "sacct", "-j", str(job), "--format=ALL")
        row = rows.get("%d.%s" % (job, step))
        return rows if row and row["MaxRSS"] and row["MaxRSSNode"].startswith(node) and row["State"] != "RUNNING" else None
    return until("sacct to have what %d.%s used" % (job, step), look)


def eaten(gathering, kind=Database):
    """A cluster whose database has what one job used: 4 CPUs and 1000 MB asked for, one CPU and 80 MB used."""
    cluster = gathering(kind=kind)
    job = start_eaters(cluster, 1, 1, "-c4")
    time.sleep(1.5)  # one that began and ended in the same second has held nothing
    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")
    recorded(cluster, job, "0")
    recorded(cluster, job, "batch")
    until("the job's end to be in the database", lambda: table(cluster, "sacct", "-j", str(job), "-X", "-o", "jobid,state")[str(job)]["State"] == "COMPLETED")
    return cluster, job


@pytest.mark.parametrize("kind", BOTH)
def test_the_report_of_what_jobs_used(gathering, kind):
    cluster, job = eaten(gathering, kind)
    page = json.loads(cluster.ok("muster", "report", "efficiency", "--by", "job", "--json").out)
    row, = page["rows"]
    whole = table(cluster, "sacct", "-j", str(job), "--format=ALL")
    told = whole[str(job)]
    assert (row["job"], row["user"], page["jobs_unknown"]) == (str(job), cluster.user, 0)
    assert abs(row["cpu_used_hours"] * 3600 - seconds(told["TotalCPU"])) < 0.01
    assert abs(row["cpu_held_hours"] * 3600 - int(told["CPUTimeRAW"])) < 4, "sacct has whole seconds"
    most = max(size(line["MaxRSS"]) for name, line in whole.items() if "." in name)
    used = row["memory_used_gb_hours"] / row["memory_held_gb_hours"]
    assert abs(used - most / (1000 * MB)) < 0.001
    advice, = [line for line in cluster.ok("seff", str(job)).lines if line.startswith("Next time")]
    assert row["next_time"] and row["next_time"] in advice

    lines = cluster.ok("muster", "report", "efficiency", "--csv").lines
    assert lines[0].startswith("user,jobs,cpu_held_hours,") and lines[1].startswith(cluster.user + ",1,") and len(lines) == 2
    assert "of the memory" in cluster.ok("muster", "report", "efficiency", "--by=account").out
    before = cluster.ok("muster", "report", "efficiency", "--csv", "--start", "2020-01-01", "--end", "2020-02-01")
    assert before.lines == lines[:1]
    wrong = cluster.run("muster", "report", "efficiency", "--by", "colour")
    assert wrong.code == 1 and "--by colour: user, account or job" in wrong.err


def test_a_step_on_two_nodes_while_it_runs_and_afterwards(gathering):
    cluster = gathering()
    job = start_eaters(cluster)
    live = sampled(cluster, job, 160 * MB)
    assert (live["MaxRSSTask"], live["MaxRSSNode"], live["NTasks"]) == ("1", "n2", "2")
    assert 120 * MB <= size(live["AveRSS"]) < 200 * MB and size(live["MaxVMSize"]) > 160 * MB
    assert live["TRESUsageInMaxNode"].split(",")[3] == "mem=n2"
    assert live["MinCPUNode"] in ("n1", "n2")
    pids = cluster.ok("sstat", "-i", "-n", "-P", "-j", "%d.0" % job).lines
    assert [line.split("|")[:2] for line in pids] == [["%d.0" % job, "n1"], ["%d.0" % job, "n2"]]
    assert all(os.path.exists("/proc/" + line.split("|")[2].split(",")[0]) for line in pids)
    every = table(cluster, "sstat", "-a", "-j", str(job))
    assert list(every) == ["%d.batch" % job, "%d.0" % job]

    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")
    rows = recorded(cluster, job, "0", "n2")
    step, batch = rows["%d.0" % job], rows["%d.batch" % job]
    assert (step["MaxRSSTask"], step["MaxRSSNode"]) == ("1", "n2")
    assert size(step["MaxRSS"]) >= 160 * MB and size(step["TRESUsageInTot"].split("mem=")[1].split(",")[0]) >= 240 * MB
    assert size(step["MaxDiskWrite"]) >= 3 * MB and size(step["AveDiskWrite"]) >= 3 * MB
    assert seconds(step["TotalCPU"]) >= 0.8 and seconds(step["UserCPU"]) > 0
    assert recorded(cluster, job, "batch") and batch["NTasks"] == "1"
    whole = recorded(cluster, job, "batch")
    of_job = seconds(whole[str(job)]["TotalCPU"])
    of_steps = sum(seconds(row["TotalCPU"]) for name, row in whole.items() if "." in name)
    assert abs(of_job - of_steps) < 0.01 and of_job >= 0.8
    alone = cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "TotalCPU").out.strip()
    assert seconds(alone) == of_job     # also where no step is shown

    document = json.loads(cluster.ok("sacct", "--json", "-j", str(job)).out)["jobs"][0]
    used = document["steps"][1]["tres"]["requested"]
    assert next(t["count"] for t in used["max"] if t["type"] == "mem") == size(step["MaxRSS"])
    assert document["time"]["total"]["seconds"] == int(of_job)

    report = cluster.ok("seff", str(job)).out
    assert "Memory Efficiency: " in report and " of 1.95 GB (1000.00 MB/node)\n" in report
    assert "Memory Utilized: 2" in report and "(estimated maximum)" in report
    assert "Next time, ask for" in report


def test_a_step_that_is_cancelled_has_what_it_used(gathering):
    cluster = gathering()
    job = start_eaters(cluster)
    sampled(cluster, job, 160 * MB)
    cluster.ok("scancel", str(job))
    cluster.wait_job(job, "CANCELLED")
    step = recorded(cluster, job, "0", "n2")["%d.0" % job]
    assert step["State"].startswith("CANCELLED") and size(step["MaxRSS"]) >= 160 * MB and step["MaxRSSNode"] == "n2"
    assert size(recorded(cluster, job, "batch")["%d.batch" % job]["MaxRSS"]) > 0


def test_what_a_step_used_outlives_slurmd_and_slurmctld(gathering):
    cluster = gathering()
    job = start_eaters(cluster)
    sampled(cluster, job, 160 * MB)
    cluster.slurmds["n2"].kill()
    cluster.slurmds["n2"].wait()
    cluster.kill_ctld()
    cluster.file("go", "")
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.start_slurmd("n2")
    cluster.wait_job(job, "COMPLETED")
    step = recorded(cluster, job, "0", "n2")["%d.0" % job]
    assert step["MaxRSSNode"] == "n2" and size(step["MaxRSS"]) >= 160 * MB
    # Once: two tasks have at most what both of them hold.
    assert 240 * MB <= size(step["TRESUsageInTot"].split("mem=")[1].split(",")[0]) < 400 * MB


def test_steps_of_a_step_manager(gathering):
    cluster = gathering(GATHER + "SlurmctldParameters=enable_stepmgr\n")
    # The job goes on until the manager has been told: what comes after the end of the job is lost (docs/usage.md).
    job = start_eaters(cluster, then="until [ -e over ]; do sleep 0.1; done")
    live = sampled(cluster, job, 160 * MB)
    assert live["MaxRSSNode"] == "n2"
    cluster.file("go", "")
    step = recorded(cluster, job, "0", "n2")["%d.0" % job]
    assert (step["MaxRSSTask"], step["MaxRSSNode"]) == ("1", "n2") and size(step["AveRSS"]) >= 120 * MB
    cluster.file("over", "")
    cluster.wait_job(job, "COMPLETED")


def test_over_memory_kill(gathering):
    cluster = gathering(GATHER + "JobAcctGatherParams=OverMemoryKill\n")
    cluster.file("go", "")
    hog = "x = bytearray(300 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nimport time\nwhile True: time.sleep(0.1)\n"
    cluster.file("hog.py", hog)
    # A user may not have it watched less often than slurm.conf says.
    job = cluster.sbatch("--mem=100", "--acctg-freq=0", "--wrap", "exec python3 hog.py")
    cluster.wait_job(job, "OUT_OF_MEMORY")
    assert "exceeded memory limit (" in cluster.read("slurm-%d.out" % job)
    step = recorded(cluster, job, "batch")["%d.batch" % job]
    assert step["State"] == "OUT_OF_MEMORY" and size(step["MaxRSS"]) > 100 * MB


def test_no_sampling_still_has_the_end(gathering):
    cluster = gathering()
    job = start_eaters(cluster, 1, 1, "--acctg-freq=task=0")
    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")
    step = recorded(cluster, job, "0")["%d.0" % job]
    assert size(step["MaxRSS"]) >= 80 * MB and seconds(step["TotalCPU"]) >= 0.4 and size(step["MaxDiskWrite"]) >= 3 * MB


def test_nothing_is_gathered_where_slurm_conf_does_not_say_so(gathering):
    cluster = gathering("")
    job = start_eaters(cluster, 1, 1)
    result = cluster.ok("sstat", "-n", "-j", "%d.0" % job)
    assert result.out == "" and "slurm.conf has no JobAcctGatherType" in result.err
    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")
    cluster.database.wait_for("both steps", lambda: len(cluster.database.rows("SELECT step FROM muster_steps WHERE job = ?", job)) == 2)
    assert cluster.ok("sacct", "-nP", "-j", str(job), "-o", "MaxRSS,TotalCPU").lines == ["|00:00:00"] * 3
    assert "Nothing was gathered" in cluster.ok("seff", str(job)).out


def test_what_sstat_refuses(gathering):
    cluster = gathering()
    nobody = cluster.run("sstat")
    assert (nobody.code, nobody.err) == (1, "sstat: error: You didn't give me any jobs to stat.\n")
    assert "sstat: error: couldn't get steps for job 99\n" in cluster.run("sstat", "-j", "99").err
    field = cluster.run("sstat", "-j", "1", "-o", "maxrs,foo")
    assert field.code == 1 and field.err.startswith('sstat: error: Invalid field requested: "foo"\n')
    job = start_eaters(cluster, 1, 1)
    assert cluster.run("sstat", "-j", "%d.7" % job).err == "sstat: error: StepId=%d.7 not found running.\n" % job
    assert cluster.run("seff").code == 1 and cluster.run("seff", "x").code == 1 and cluster.run("seff", "99").code == 1
