"""The commands agree with each other while jobs of all shapes come and go: `pytest test/cluster/test_soak.py --soak 600`
does so for ten minutes; the seed of a failure is printed, --soak-seed takes it again."""
import random
import time

import agreement
import conftest
import harness
import pytest

pytestmark = pytest.mark.better_than_slurm

NODES = {"n1": "Gres=gpu:h100:8", "n2": "Gres=gpu:h100:8", "n3": "Gres=gpu:a100:2,gpu:l4:2,nic:2", "n4": ""}
GRES = ("NodeName=n[1-2] Name=gpu Type=h100 File={0}/dev/nvidia[0-7]\nNodeName=n3 Name=gpu Type=a100 File={0}/dev/nvidia[0-1]\n"
        "NodeName=n3 Name=gpu Type=l4 File={0}/dev/nvidia[2-3]\nNodeName=n3 Name=nic Count=2\n")
SHAPES = ["-n1", "-n3", "-c4", "-N2", "-N2 -n6", "-N1-3 -n4 -c2", "--exclusive", "--mem=5000", "--mem-per-cpu=300 -c3", "-n5 --mem-per-gpu=100 --gpus=2",
          "--gres=gpu:1", "--gres=gpu:h100:3", "-N2 --gres=gpu:4", "--gpus=5", "-n2 --gpus-per-task=1", "--gpus-per-node=h100:2 -N2", "--gres=gpu:a100:1,nic:1",
          "--gres=gpu:l4:2 --exclusive", "-n4 --ntasks-per-node=2 --gpus-per-task=1", "--array=0-3 --gres=gpu:1", "--array=1-5%2 -c2", "-s --gres=gpu:2"]


@pytest.fixture
def busy_cluster():
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, nodes=4, gpus=0, memory=20000, node_line=NODES, gres_conf=GRES.format(folder))
    for i in range(8):
        open("%s/dev/nvidia%d" % (folder, i), "w").close()
    cluster.conf_lines = [line.replace("GresTypes=gpu", "GresTypes=gpu,nic") for line in cluster.conf_lines] + ["MaxJobCount=100000"]
    cluster.write_lines()
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        harness.remove(folder)


class Users:
    """People who do not wait for each other."""

    def __init__(self, cluster, rng):
        self.cluster, self.rng, self.submitted, self.suspended = cluster, rng, [], []

    def one(self):
        """Any live job."""
        live = self.cluster.queue("-o", "%A")
        return self.rng.choice(live) if live else "1"

    def act(self):
        c, rng = self.cluster, self.rng
        what = rng.random()
        if what < 0.55:
            said = c.run("sbatch", "--parsable", "-t", "5", "-o", "/dev/null", *rng.choice(SHAPES).split(), "--wrap",
                         rng.choice(["sleep 0.2", "sleep 1", "sleep 2", "srun -n1 --overlap sleep 0.3", "exit 1"]))
            if said.code == 0:
                self.submitted.append(said.out.strip())
        elif what < 0.70:
            c.run("scancel", self.one())
        elif what < 0.78:
            c.run("srun", "--jobid=" + self.one(), "--overlap", "--immediate=1", "-n1", "true", timeout=10)
        elif what < 0.84:
            job = self.one()
            self.suspended.append(job)
            c.run("scontrol", "suspend", job)
            c.run("scontrol", "resume", job)
        elif what < 0.90:
            c.run("scontrol", "requeue", self.one())
        elif what < 0.95:
            job = self.one()
            c.run("scontrol", "hold", job)
            c.run("scontrol", "release", job)
        else:
            node = rng.choice(c.names)
            c.run("scontrol", "update", "NodeName=" + node, "State=DRAIN", "Reason=soak")
            c.run("scontrol", "update", "NodeName=" + node, "State=RESUME")


def test_commands_agree_while_jobs_come_and_go(busy_cluster, pytestconfig):
    seconds, seed = pytestconfig.getoption("--soak"), pytestconfig.getoption("--soak-seed") or random.randrange(1 << 30)
    rng = random.Random(seed)
    users, end, compared, looks, busiest = Users(busy_cluster, rng), time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end or compared < 5:
        for _ in range(rng.randrange(1, 8)):
            users.act()
        # Until one look finds the cluster still: jobs end all the time.
        for _ in range(20):
            look = agreement.Look(busy_cluster)
            looks += 1
            if look.still():
                break
        else:
            continue
        compared += 1
        wrong = look.disagreements(users.suspended)
        busiest = max(busiest, look.jobs.count("JobState=RUNNING"))
        assert not wrong, "seed %d, look %d:\n%s\n%s\n%s" % (seed, looks, "\n".join(wrong), look.nodes, look.jobs)
    print("%d looks, %d compared, up to %d jobs at once, %d submitted, seed %d" % (looks, compared, busiest, len(users.submitted), seed))
    assert busiest >= 3
