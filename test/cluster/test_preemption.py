"""Preemption with real daemons: who makes room for whom, how jobs end or come back, and jobs that take turns on the same CPUs."""
import re

import pytest

from accounting import Database
from harness import until
from test_limits import heard

pytestmark = pytest.mark.better_than_slurm      # harness and texts of our own beside Slurm's behaviour

TIERS = ["PartitionName=low Nodes=n[1-2] Default=YES MaxTime=60 PriorityTier=1 %s",
         "PartitionName=high Nodes=n[1-2] MaxTime=60 PriorityTier=10 %s"]


def tiers(low="", high=""):
    return [TIERS[0] % low, TIERS[1] % high]


def make(make_cluster, mode, low="", high="", more="", **kw):
    return make_cluster(nodes=2, gpus=0, cpus=4, partitions=tiers(low, high),
                        conf="PreemptType=preempt/partition_prio\nPreemptMode=%s\n%s" % (mode, more), **kw)


# A job that remembers how far it came: what a training run does with its checkpoints.
TRAINING = """#!/bin/bash
step=0
[ -f checkpoint ] && step=$(cat checkpoint)
echo "run ${SLURM_RESTART_COUNT:-0} from step $step because ${MUSTER_RESTART_REASON:-nothing}" >> training.log
trap 'exit 0' TERM
while [ $step -lt 1000000 ]; do
  step=$((step + 1))
  echo $step > checkpoint.new && mv checkpoint.new checkpoint
  [ -f finish ] && exit 0
  sleep 0.05
done
"""


def whole(cluster, *args, command="sleep 600"):
    return cluster.sbatch("--exclusive", *args, "--wrap", command)


@pytest.mark.row(79, 93, 107, 133)
def test_a_preempted_job_restarts_from_its_checkpoint(make_cluster):
    cluster = make(make_cluster, "REQUEUE")
    cluster.file("train.sh", TRAINING)
    low = cluster.sbatch("-N2", "--exclusive", "--requeue", "--open-mode=append", "train.sh")
    cluster.wait_job(low, "RUNNING")
    until("two steps", lambda: cluster.run("cat", cluster.work + "/checkpoint").out.strip() not in ("", "1"))
    high = whole(cluster, "-p", "high", "-N2", command="true")
    cluster.wait_job(high, "COMPLETED")
    cluster.wait_job(low, "RUNNING")
    until("its second run", lambda: len(cluster.read("training.log").splitlines()) == 2)
    first, second = cluster.read("training.log").splitlines()
    assert first == "run 0 from step 0 because nothing"
    found = re.fullmatch(r"run 1 from step (\d+) because preempted by job %d" % high, second)
    assert found and int(found.group(1)) >= 2, second
    record = cluster.job(low)
    assert record["Restarts"] == "1"
    assert cluster.ok("squeue", "-h", "-j", str(low), "-O", "system_comment:60").out.strip() == "preempted by job %d" % high
    cluster.file("finish", "")
    cluster.wait_job(low, "COMPLETED")


def test_cancel_and_what_is_said_of_it(make_cluster):
    cluster = make(make_cluster, "CANCEL")
    low = [whole(cluster, "-N1"), whole(cluster, "-N1")]
    for job in low:
        cluster.wait_job(job, "RUNNING")
    high = whole(cluster, "-p", "high", "-N1")
    cluster.wait_job(high, "RUNNING")
    states = {job: cluster.job(job)["JobState"] for job in low}
    assert sorted(states.values()) == ["PREEMPTED", "RUNNING"], states
    victim = next(job for job, state in states.items() if state == "PREEMPTED")
    told = cluster.ok("muster", "explain", str(victim)).out
    assert "It made room for job %d." % high in told, told


def test_no_requeue_is_cancelled(make_cluster):
    cluster = make(make_cluster, "REQUEUE")
    low = whole(cluster, "-N2", "--no-requeue")
    cluster.wait_job(low, "RUNNING")
    cluster.wait_job(whole(cluster, "-p", "high", "-N1"), "RUNNING")
    cluster.wait_job(low, "PREEMPTED")


@pytest.mark.row(133)
def test_grace_time(make_cluster):
    """The job's tasks are told at once, and it may use the time until GraceTime is over."""
    cluster = make(make_cluster, "REQUEUE", low="GraceTime=60")
    cluster.file("task.sh", "#!/bin/bash\ntrap 'echo told >> told; exit 0' TERM\ntouch ready\nwhile :; do sleep 0.1; done\n")
    low = cluster.sbatch("-N2", "--exclusive", "--wrap", "srun -N1 -n1 bash task.sh; sleep 600")
    until("the task", lambda: cluster.run("ls", cluster.work + "/ready").code == 0)
    high = whole(cluster, "-p", "high", "-N1")
    until("the task to be told", lambda: cluster.run("cat", cluster.work + "/told").out == "told\n")
    record = cluster.job(low)
    assert record["JobState"] == "RUNNING" and record["PreemptTime"] != "None" and record["PreemptEligibleTime"] != "None"
    waits = cluster.job(high)
    assert (waits["JobState"], waits["Reason"]) == ("PENDING", "Resources")
    told = cluster.ok("muster", "explain", str(high)).out
    assert "1 job ends to make room for it:" in told, told
    assert "It makes room for job %d" % high in cluster.ok("muster", "explain", str(low)).out
    # It ends by itself within that time: nobody waits longer.
    cluster.ok("scancel", "--signal=KILL", "--batch", str(low))
    cluster.wait_job(high, "RUNNING")
    assert cluster.job(low)["JobState"] == "PENDING" and cluster.job(low)["Restarts"] == "1"


@pytest.mark.row(133)
def test_send_user_signal(make_cluster):
    cluster = make(make_cluster, "REQUEUE", low="GraceTime=60", more="PreemptParameters=send_user_signal")
    cluster.file("job.sh", "#!/bin/bash\ntrap 'echo saved > saved; exit 0' USR1\ntouch ready\nwhile :; do sleep 0.1; done\n")
    low = cluster.sbatch("-N2", "--exclusive", "--signal=B:USR1@5", "job.sh")
    until("the job", lambda: cluster.run("ls", cluster.work + "/ready").code == 0)
    high = whole(cluster, "-p", "high", "-N1")
    cluster.wait_job(high, "RUNNING")
    assert cluster.read("saved") == "saved\n"
    assert cluster.job(low)["Restarts"] == "1"


def test_exempt_time_holds_off(make_cluster):
    cluster = make(make_cluster, "REQUEUE", more="PreemptExemptTime=00:30:00")
    low = whole(cluster, "-N2")
    cluster.wait_job(low, "RUNNING")
    high = whole(cluster, "-p", "high", "-N1")
    until("a reason", lambda: cluster.job(high)["Reason"] == "Resources")
    assert cluster.job(low)["JobState"] == "RUNNING"
    told = cluster.ok("muster", "explain", str(high)).out
    assert "It may take the place of 1 job at" in told and "(PreemptExemptTime)" in told, told


def test_suspend_and_resume(make_cluster):
    """Guide preempt: the low job is suspended as long as the high one runs, and then goes on where it was."""
    cluster = make(make_cluster, "SUSPEND,GANG", low="OverSubscribe=FORCE:1", high="OverSubscribe=FORCE:1",
                   more="PreemptParameters=suspend_grace_time=0")
    cluster.file("count.sh", "#!/bin/bash\nn=0\nwhile :; do n=$((n+1)); echo $n > count; sleep 0.05; done\n")
    low = cluster.sbatch("-N2", "-n8", "--mem=100", "count.sh")
    cluster.wait_job(low, "RUNNING")

    def count():
        text = cluster.run("cat", cluster.work + "/count").out.strip()
        return int(text) if text else 0
    until("it to count", lambda: count() > 2)
    high = cluster.sbatch("-p", "high", "-N1", "-n4", "--mem=100", "--wrap", "while [ ! -f over ]; do sleep 0.05; done")
    cluster.wait_job(high, "RUNNING")
    cluster.wait_job(low, "SUSPENDED")
    assert "S" in cluster.ok("squeue", "-h", "-j", str(low), "-o", "%t").out

    def stands_still():
        before = count()
        return until("a moment", lambda: True) and cluster.run("sleep", "0.3").code == 0 and count() == before
    until("its processes to stop", stands_still)
    cluster.file("over", "")
    cluster.wait_job(high, "COMPLETED")
    cluster.wait_job(low, "RUNNING")
    then = count()
    until("it to count on", lambda: count() > then)
    assert cluster.job(low)["Restarts"] == "0"


def test_time_slices(make_cluster):
    """Guide gang_scheduling: two jobs on the same CPUs swap every SchedulerTimeSlice."""
    cluster = make_cluster(nodes=1, gpus=0, cpus=4, partitions=["PartitionName=active Nodes=n1 Default=YES OverSubscribe=FORCE:2"],
                           conf="PreemptMode=GANG\nSchedulerTimeSlice=5\nPreemptParameters=suspend_grace_time=0")
    first = cluster.sbatch("-n4", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(first, "RUNNING")
    second = cluster.sbatch("-n4", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(second, "SUSPENDED")

    def states():
        return {int(i): s for i, s in (line.split() for line in cluster.queue("-o", "%i %t"))}
    assert states() == {first: "R", second: "S"}
    until("the swap", lambda: states() == {first: "S", second: "R"})
    until("the swap back", lambda: states() == {first: "R", second: "S"})


def test_components_take_no_turns(make_cluster):
    """Guide gang_scheduling: heterogeneous jobs are excluded. They run all the time, beside whoever has their CPUs."""
    cluster = make_cluster(nodes=2, gpus=0, cpus=4,
                           partitions=["PartitionName=active Nodes=n[1-2] Default=YES OverSubscribe=FORCE:2"],
                           conf="PreemptMode=GANG\nSchedulerTimeSlice=5\nPreemptParameters=suspend_grace_time=0")
    plain = cluster.sbatch("-w", "n1", "-n4", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(plain, "RUNNING")
    whole_job = cluster.sbatch("-w", "n1", "-n4", "--mem=100", ":", "-w", "n2", "-n4", "--mem=100", "--wrap", "sleep 600")

    def states():
        return {i: s for i, s in (line.split() for line in cluster.queue("-t", "R,S", "-o", "%i %t"))}
    both = {"%d+%d" % (whole_job, i): "R" for i in range(2)}
    until(lambda: "all to run: %s" % states(), lambda: states() == {str(plain): "R", **both})
    seen = {cluster.run("sleep", "1").code and "" or str(sorted(states().items())) for _ in range(12)}
    assert seen == {str(sorted({str(plain): "R", **both}.items()))}, "more than two slices later"


def test_scontrol_suspend_gives_the_cpus_away(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, cpus=4, conf="PreemptParameters=suspend_grace_time=0")
    first = cluster.sbatch("-n4", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(first, "RUNNING")
    second = cluster.sbatch("-n4", "--mem=100", "--wrap", "sleep 600")
    until("a reason", lambda: cluster.job(second)["Reason"] == "Resources")
    cluster.ok("scontrol", "suspend", str(first))
    cluster.wait_job(second, "RUNNING")
    cluster.ok("scontrol", "resume", str(first))
    cluster.wait_job(first, "RUNNING")


def test_requeue_exit_ends_in_a_hold(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, cpus=4, conf="RequeueExit=7\nMaxBatchRequeue=2")
    job = cluster.sbatch("-o", "out", "--open-mode=append", "--wrap", "echo ${SLURM_RESTART_COUNT:-0} ${MUSTER_RESTART_REASON:-none}; exit 7")
    until(lambda: "a hold: %s" % cluster.job(job), lambda: cluster.job(job)["Reason"] == "JobHoldMaxRequeue")
    assert cluster.read("out") == "0 none\n1 exit code 7\n2 exit code 7\n"


@pytest.fixture
def with_qos(make_cluster, request):
    mode, partitions = getattr(request, "param", ("REQUEUE", None))
    more = {"partitions": partitions} if partitions else {}
    cluster = make_cluster(start=False, nodes=2, gpus=0, cpus=4,
                           conf="PreemptType=preempt/qos\nPreemptMode=%s\nAccountingStorageEnforce=qos" % mode, **more)
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "qos", "spot,urgent")
    cluster.ok("sacctmgr", "-i", "modify", "qos", "urgent", "set", "preempt=spot")
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team")
    cluster.ok("sacctmgr", "-i", "modify", "user", cluster.user, "set", "qos=normal,spot,urgent")
    cluster.database = database
    heard(cluster)
    yield cluster
    database.stop()


def test_qos_preempts_and_accounting_says_so(with_qos):
    cluster = with_qos
    normal, spot = whole(cluster, "-N1", "-q", "normal"), whole(cluster, "-N1", "-q", "spot")
    for job in normal, spot:
        cluster.wait_job(job, "RUNNING")
    urgent = whole(cluster, "-N1", "-q", "urgent")
    cluster.wait_job(urgent, "RUNNING")
    assert cluster.job(normal)["JobState"] == "RUNNING"
    assert cluster.job(spot)["JobState"] == "PENDING"
    until(lambda: "sacct: %s" % cluster.run("sacct", "-DnPX", "-j", str(spot)).out,
          lambda: cluster.ok("sacct", "-DnPX", "-j", str(spot), "-o", "state,systemcomment").lines[0]
          == "PREEMPTED|preempted by job %d" % urgent)


def by_state(cluster):
    return {int(job): state for job, state in (line.split() for line in cluster.queue("-t", "R,S", "-o", "%i %t"))}


SHARED = "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=60 OverSubscribe=FORCE:1"


@pytest.mark.parametrize("with_qos", [("SUSPEND,GANG\nSchedulerTimeSlice=5\nPreemptParameters=suspend_grace_time=0", [SHARED])],
                         indirect=True)
def test_qos_suspends_within_one_partition(with_qos):
    """Guide preempt: jobs of one partition then share their CPUs by time slices."""
    cluster = with_qos
    spot = cluster.sbatch("-N1", "-n4", "-w", "n1", "-q", "spot", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(spot, "RUNNING")
    beside = cluster.sbatch("-N1", "-n4", "-w", "n2", "-q", "normal", "--mem=100", "--wrap", "sleep 600")
    cluster.wait_job(beside, "RUNNING")
    urgent = cluster.sbatch("-N1", "-n4", "-q", "urgent", "--mem=100", "--wrap", "sleep 600")
    until(lambda: "the urgent job to run in its place: %s" % cluster.queue("-o", "%i %t %r %N"), lambda: by_state(cluster) == {spot: "S", beside: "R", urgent: "R"})
    assert cluster.job(urgent)["NodeList"] == "n1"
    until("the slice of the other", lambda: by_state(cluster) == {spot: "R", beside: "R", urgent: "S"})
    until("its own again", lambda: by_state(cluster) == {spot: "S", beside: "R", urgent: "R"})
    cluster.ok("scancel", str(urgent))
    cluster.wait_job(spot, "RUNNING")
    assert cluster.job(spot)["Restarts"] == "0"


def test_licences_are_reclaimed(make_cluster):
    cluster = make(make_cluster, "REQUEUE", more="PreemptParameters=reclaim_licenses\nLicenses=matlab:3")
    low = cluster.sbatch("-n1", "-L", "matlab:2", "--requeue", "--wrap", "sleep 600")
    beside = cluster.sbatch("-n1", "--wrap", "sleep 600")
    for job in (low, beside):
        cluster.wait_job(job, "RUNNING")
    high = cluster.sbatch("-p", "high", "-n1", "-L", "matlab:2", "--wrap", "sleep 600")
    cluster.wait_job(high, "RUNNING")
    assert "matlab:2" in cluster.job(high)["Licenses"]
    assert cluster.job(beside)["JobState"] == "RUNNING", "there was room for all on the nodes"
    until("the one with the licences to be back in the queue", lambda: cluster.job(low)["JobState"] == "PENDING")
    assert cluster.job(low)["Restarts"] == "1"
    cluster.ok("scancel", str(high))
    cluster.ok("scontrol", "release", str(low))
    cluster.wait_job(low, "RUNNING", 90)
    assert "Used=2" in cluster.ok("scontrol", "show", "lic", "matlab").out, "it has them again"
