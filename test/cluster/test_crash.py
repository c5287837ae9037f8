"""Promise 2: a job whose id was printed is never lost and never runs twice, whatever ends the controller."""
import collections
import os
import random
import subprocess
import time

import pytest

from harness import until


def ran(cluster):
    if not os.path.exists(cluster.work + "/ran"):
        return collections.Counter()
    return collections.Counter(cluster.read("ran").split())


@pytest.mark.better_than_slurm
def test_kill_9_while_a_thousand_jobs_are_submitted(make_cluster):
    cluster = make_cluster(nodes=2, cpus=32, gpus=0)
    clients, each, kills = 8, 125, 10
    seed = int(os.environ.get("MUSTER_TEST_SEED", random.randrange(1 << 30)))
    print("MUSTER_TEST_SEED=%d" % seed)
    choose = random.Random(seed)
    cluster.file("client.sh", "for i in $(seq %d); do sbatch --parsable -o /dev/null --wrap 'echo $SLURM_JOB_ID >>ran' "
                 ">>ids.$1 2>>errors.$1 || echo failed >>failed.$1; done\n" % each)
    running = [subprocess.Popen(["bash", "client.sh", str(i)], env=cluster.env, cwd=cluster.work,
                                stdin=subprocess.DEVNULL) for i in range(clients)]

    def words(name):
        files = ["%s.%d" % (name, i) for i in range(clients)]
        return [word for f in files if os.path.exists(os.path.join(cluster.work, f)) for word in cluster.read(f).split()]

    def printed():
        return words("ids")
    try:
        killed = 0
        for step in range(kills):
            # An instant somewhere in the tenth of the work that is next.
            mark = int((step + choose.random()) * clients * each / kills)
            until("%d ids" % mark, lambda: len(printed()) + len(words("failed")) >= mark, 60)
            time.sleep(choose.random() * 0.02)      # not a wait for anything: the instant of the kill is what varies
            cluster.kill_ctld()
            killed += 1
            cluster.start_ctld()
            cluster.wait_ctld()
        for process in running:
            process.wait(120)
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
    ids = printed()
    # Each submission has an end of its own: an id, or an error. A controller that is away for an instant is waited for.
    failed = len(words("failed"))
    said = [cluster.read("errors.%d" % i) for i in range(clients)]
    assert killed == kills and len(ids) + failed == clients * each, (len(ids), failed, said)
    # What a controller had when it was killed may have been carried out: that alone is an error, at most one a client and kill.
    assert failed <= kills * clients and "".join(said).count("(receive failure)") == failed, (failed, said)
    assert len(set(ids)) == len(ids), "an id was given twice"
    until(lambda: "the queue to drain: %d of %d ran; %s" % (len(ran(cluster)), len(ids), cluster.logs()),
          lambda: not cluster.queue(), 120)
    counts = ran(cluster)
    lost = [one for one in ids if not counts[one]]
    twice = [one for one in counts if counts[one] > 1]
    assert not lost and not twice, "seed %d: lost %s, ran twice %s" % (seed, lost[:10], twice[:10])


def test_restart_of_the_controller_leaves_jobs_running(cluster):
    cluster.file("long.sh", "#!/bin/bash\n#SBATCH -N2\n#SBATCH -o long.out\n"
                 "echo start $$; srun bash -c 'until [ -e finish ]; do sleep 0.05; done; echo step $SLURM_PROCID'; echo end $$\n")
    job = cluster.sbatch("long.sh")
    before = cluster.wait_job(job, "RUNNING")
    pending = cluster.sbatch("--hold", "--wrap", "true")
    until("the first line", lambda: os.path.exists(cluster.work + "/long.out") and cluster.read("long.out"))
    assert cluster.stop_ctld() == 0
    cluster.start_ctld()
    cluster.wait_ctld()
    after = cluster.job(job)
    assert after["JobState"] == "RUNNING" and after["StartTime"] == before["StartTime"]
    assert cluster.job(pending)["Reason"] == "JobHeldUser"
    cluster.kill_ctld()
    cluster.file("finish", "")                # it ends while there is no controller
    cluster.start_ctld()
    cluster.wait_ctld()
    assert cluster.wait_job(job)["Restarts"] == "0"
    lines = cluster.read("long.out").splitlines()
    assert sorted(lines[1:3]) == ["step 0", "step 1"] and lines[0].replace("start", "end") == lines[3], lines


def test_restart_of_a_node_daemon_leaves_its_jobs_running(cluster):
    job = cluster.sbatch("-w", "n2", "-o", "kept.out", "--wrap", "until [ -e go ]; do sleep 0.05; done; echo same $$")
    before = cluster.wait_job(job, "RUNNING")
    process = cluster.slurmds["n2"]
    process.kill()
    process.wait()
    cluster.start_slurmd("n2")
    cluster.wait_nodes("mixed", ["n2"])
    assert cluster.job(job)["StartTime"] == before["StartTime"]
    cluster.file("go", "")
    assert cluster.wait_job(job)["Restarts"] == "0"
    assert cluster.read("kept.out").startswith("same ")


@pytest.mark.better_than_slurm
def test_the_next_job_id_survives_a_kill(cluster):
    last = cluster.sbatch("--hold", "--wrap", "true")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert cluster.sbatch("--hold", "--wrap", "true") > last
