"""sbatch --dependency=aftercorr: a task of an array waits for the task of the same number in another array, and for no other. sbatch(1)."""
from harness import ORACLE, until

# Task 3 fails; each ends once there is a file with its number.
FIRST = "#!/bin/sh\nwhile ! [ -e go$SLURM_ARRAY_TASK_ID ]; do sleep 0.1; done; [ $SLURM_ARRAY_TASK_ID != 3 ]\n"


def stands(cluster, job):
    """{task: "STATE reason"} of the tasks that are in the queue."""
    lines = cluster.queue("-r", "-a", "-j", str(job), "-o", "%K %T %r")
    return {int(number): state if state == "RUNNING" else state + " " + reason
            for number, state, reason in (line.split() for line in lines)}


def test_each_task_follows_the_one_of_its_number(cluster):
    first = cluster.sbatch("-a", "1-3", cluster.file("first.sh", FIRST))
    second = cluster.sbatch("-a", "1-4", "-d", "aftercorr:%d" % first, cluster.file("second.sh", "#!/bin/sh\nsleep 1000\n"))
    until("the first array to run", lambda: set(stands(cluster, first).values()) == {"RUNNING"})
    waits = "PENDING Dependency"
    assert stands(cluster, second) == {1: waits, 2: waits, 3: waits, 4: waits}
    cluster.file("go1", "")
    until("task 1 to follow", lambda: stands(cluster, second) == {1: "RUNNING", 2: waits, 3: waits, 4: waits})
    if not ORACLE:
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
    cluster.file("go3", "")
    never = "PENDING DependencyNeverSatisfied"
    until("task 3 to be let down", lambda: stands(cluster, second) == {1: "RUNNING", 2: waits, 3: never, 4: waits})
    cluster.file("go2", "")
    # There is no fourth one: it waited for the whole array.
    until("task 2 to follow", lambda: stands(cluster, second) == {1: "RUNNING", 2: "RUNNING", 3: never, 4: never})
    cluster.cancel_all()
