"""Accounting while slurmdbd, its database, slurmctld and slurmd are killed at random moments: each job and step exactly once, and all sums agree to the second."""
import collections
import random
import signal
import time

import pytest

from accounting import BATCH, OnMariaDb, kind, on_both
from harness import until

pytestmark = pytest.mark.better_than_slurm      # what is looked into here is Muster's; nothing may be missing

CONF = """AccountingStorageEnforce=associations
PriorityType=priority/multifactor
PriorityDecayHalfLife=0
PriorityUsageResetPeriod=YEARLY
PriorityWeightFairshare=1000
PriorityCalcPeriod=1
SlurmdTimeout=300
"""
ACCOUNTS = ("one", "two")
TURNS = 14


@pytest.fixture
def site(request, make_cluster):
    cluster = make_cluster(start=False, nodes=3, gpus=2, cpus=8, conf=CONF)
    cluster.database = kind(request)(cluster)
    cluster.database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    for account in ACCOUNTS:
        cluster.ok("sacctmgr", "-i", "add", "account", account)
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=" + ",".join(ACCOUNTS))
    cluster.since = time.strftime("%Y-%m-%dT%H:00:00")
    yield cluster
    cluster.database.stop()


class Chaos:
    """Submits work and breaks things, as its seed says."""

    def __init__(self, site, seed):
        self.site, self.random = site, random.Random(seed)
        self.jobs = {}      # id: (account, steps beside that of the batch script)
        self.away = False
        self.broken = collections.Counter()

    def submit(self):
        account, steps = self.random.choice(ACCOUNTS), self.random.randrange(3)
        script = self.site.script("job.sh", "#!/bin/sh\n" + "srun -n1 true\n" * steps + "sleep %.1f\nexit %d\n" %
                                  (self.random.uniform(0, 2), self.random.choice((0, 0, 3))))
        job = self.site.sbatch("-A", account, "-n", str(self.random.randint(1, 4)), "--gres=gpu:%d" % self.random.randint(0, 1), "-o", "/dev/null", script)
        self.jobs[job] = (account, steps)

    def dbd(self):
        self.site.database.kill()
        if self.away or self.random.random() < 0.5:
            self.site.database.start()
            self.away = False
        else:
            self.away = True      # until a later turn

    def database(self):
        if not isinstance(self.site.database, OnMariaDb):
            return self.dbd()
        server = self.site.database.server.process
        server.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0, 1.5))
        server.send_signal(signal.SIGCONT)

    def ctld(self):
        self.site.kill_ctld()
        self.site.start_ctld()
        self.site.wait_ctld()

    def slurmd(self):
        name = self.random.choice(self.site.names)
        self.site.slurmds[name].kill()
        self.site.slurmds[name].wait()
        time.sleep(self.random.uniform(0, 0.5))
        self.site.start_slurmd(name)

    def turn(self):
        for _ in range(self.random.randint(1, 4)):
            self.submit()
        time.sleep(self.random.uniform(0, 0.6))
        what = self.random.choice((self.dbd, self.database, self.ctld, self.slurmd))
        self.broken[what.__name__] += 1
        what()

    def mend(self):
        if self.away:
            self.site.database.start()
        self.site.wait_nodes("(idle|mixed|allocated)", seconds=60)


def held(site):
    """CPU-seconds of each account, of the records that sacct shows."""
    out = collections.Counter()
    for line in site.ok("sacct", "-anPX", "-S", site.since, "-o", "account,elapsedraw,alloccpus").lines:
        account, seconds, cpus = line.split("|")
        out[account] += int(seconds) * int(cpus)
    return out


def reported(site):
    """The same, of the roll-ups."""
    out = {}
    for line in site.ok("sreport", "-nP", "-t", "seconds", "cluster", "AccountUtilizationByUser", "start=" + site.since, "end=now+2hours").lines:
        _, account, user, _, used, _ = line.split("|")
        if account in ACCOUNTS and not user:
            out[account] = int(used)
    return out


def shared(site):
    """The same, of what fair share has counted, which knows parts of a second."""
    lines = [line.split("|") for line in site.ok("sshare", "-nP", "-A", ",".join(ACCOUNTS), "-o", "account,user,rawusage").lines]
    return {account.strip(): int(used) for account, user, used in lines if not user.strip()}


@on_both("site")
@pytest.mark.parametrize("seed", (1, 2))
def test_each_job_and_step_once_and_all_sums_agree(site, seed):
    chaos = Chaos(site, seed)
    for _ in range(TURNS):
        chaos.turn()
    chaos.mend()
    database = site.database
    for job in chaos.jobs:
        site.wait_job(job, "(COMPLETED|FAILED)", seconds=90)
    ended = ("COMPLETED", "FAILED")
    database.wait_for("all jobs, ended", lambda: all(database.jobs().get((job, 0)) in ended for job in chaos.jobs), 120)
    assert sorted(database.jobs()) == sorted((job, 0) for job in chaos.jobs), chaos.broken
    steps = lambda: collections.Counter(job for job, step in database.rows("SELECT job, step FROM muster_steps"))
    wanted = {job: count + 1 for job, (_, count) in chaos.jobs.items()}
    database.wait_for("each step once: %s, %s" % (wanted, chaos.broken), lambda: steps() == wanted, 60)
    assert database.rows("SELECT count(*), count(DISTINCT job) FROM muster_steps WHERE step = ?", BATCH) == [(len(chaos.jobs), len(chaos.jobs))]

    sums = held(site)
    assert set(sums) == set(ACCOUNTS) and min(sums.values()) > 0
    until(lambda: "sreport to say what sacct does: %s, %s; %s" % (reported(site), sums, chaos.broken), lambda: reported(site) == sums)
    # A record has whole seconds and is off by less than one at each end.
    most = collections.Counter()
    for line in site.ok("sacct", "-anPX", "-S", site.since, "-o", "account,alloccpus").lines:
        account, cpus = line.split("|")
        most[account] += int(cpus)
    until(lambda: "sshare to say it as well: %s, %s; %s" % (shared(site), sums, chaos.broken),
          lambda: all(abs(shared(site)[account] - sums[account]) <= most[account] for account in ACCOUNTS))
