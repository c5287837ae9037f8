"""docs/operating.md and docs/from-slurm.md: each command in a block of `sh`, run as it stands there, in the pages' order.

The paths of the packages become those of a test's cluster; systemctl and apt are what a test does itself."""
import os
import re
import subprocess

import pytest

import accounting
import harness
from harness import until

pytestmark = pytest.mark.better_than_slurm      # the pages are Muster's own


def page(name):
    with open(os.path.join(harness.REPO, "docs", name)) as f:
        return f.read()


def blocks(text):
    """The lines of each block of sh."""
    return [[line.strip() for line in block.splitlines() if line.strip()]
            for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S)]


class Guide:
    """A cluster with accounting. Its nodes are the pages' node1 and node2."""

    def __init__(self, make_cluster):
        self.cluster = make_cluster(nodes=2, gpus=0, start=False)
        self.database = accounting.Database(self.cluster)
        self.backup = self.cluster.folder + "/backup"
        os.makedirs(self.backup)
        self.database.start()
        self.cluster.start()
        until("the cluster's record", lambda: self.cluster.run("sacctmgr", "-n", "show", "cluster").out.strip())
        self.done = 0

    def here(self, line):
        c = self.cluster
        for theirs, ours in (("/var/lib/slurm/slurmctld", c.state_folder), ("/var/lib/slurm/slurmdbd/accounting.db", self.database.file),
                             ("/backup/", self.backup + "/"), ("/etc/slurm", c.folder + "/etc"), ("/var/log/slurm", c.folder + "/log"),
                             ("mycluster", "test"), ("-o slurm -g slurm ", ""), ("node2", "n2")):
            line = line.replace(theirs, ours)
        return line

    def run(self, line):
        """One command of a page; what the test does in its place where that is no command of ours."""
        self.done += 1
        stopped = {"systemctl stop slurmctld": self.cluster.kill_ctld}
        started = {"systemctl start slurmctld": self.start}
        for table in (stopped, started):
            if line in table:
                return table[line]()
        result = self.cluster.sh("umask 077; " + self.here(line))
        assert result.code == 0, (line, result)
        return result

    def start(self):
        self.cluster.start_ctld()
        self.cluster.wait_ctld()


@pytest.fixture
def guide(make_cluster):
    guide = Guide(make_cluster)
    yield guide
    guide.database.stop()


def test_operating(guide):
    cluster = guide.cluster
    backup, restore, *others = blocks(page("operating.md"))
    kept = cluster.sbatch("--hold", "--wrap", "true")
    running = cluster.sbatch("-o", "/dev/null", "--wrap", "until [ -e go ]; do sleep 0.05; done")
    cluster.wait_job(running, "RUNNING")
    for line in backup:
        guide.run(line)
    later = cluster.sbatch("-o", "/dev/null", "--wrap", "echo $$ > later.pid; sleep 1000")
    cluster.wait_job(later, "RUNNING")
    pid = int(until("its process", lambda: cluster.read("later.pid")))
    for line in restore:
        guide.run(line)
    # As the page says: what was in the copy goes on, what started after it ends.
    assert cluster.job(running)["JobState"] == "RUNNING" and cluster.job(kept)["Reason"] == "JobHeldUser"
    assert cluster.run("scontrol", "show", "job", str(later)).code == 1
    until("the end of the job that nobody knows", lambda: not os.path.exists("/proc/%d" % pid))
    cluster.file("go", "")
    cluster.wait_job(running)
    assert "test" in open(guide.backup + "/accounts").read()
    cluster.ok("scontrol", "update", "nodename=n2", "state=drain", "reason=tried")
    for lines in others:
        for line in lines:
            guide.run(line)
    cluster.wait_nodes("idle", ["n1", "n2"])
    assert guide.done >= 20


def test_the_log_lines_are_ones_that_the_daemons_write():
    text = page("operating.md")
    lines = re.findall(r"^\| `([^`]+)` \| (?:slurmctld|slurmd|both) \|", text[text.index("## What the log lines mean"):], re.M)
    assert len(lines) >= 12
    sources = subprocess.run(["git", "-C", harness.REPO, "grep", "-h", "-F", "-e", '"', "--", "src/slurmctld/*.cc", "src/slurmd/*.cc", "src/net/*.cc", "src/config/*.cc"],
                             capture_output=True, text=True, check=True).stdout
    assert [line for line in lines if line not in sources] == []


def test_from_slurm(guide):
    cluster = guide.cluster
    cluster.file("train.sh", "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --time=10\nsrun true\n")
    cluster.wait_job(cluster.sbatch("train.sh"))
    until("its record", lambda: "COMPLETED" in cluster.run("sacct", "-n", "-X", "-o", "state").out)
    # What the page has in blocks of text is for Slurm's own commands; the same ones write the same files here.
    trace = next(line for line in page("from-slurm.md").splitlines() if line.startswith("sacct -a"))
    trace = re.sub(r"-S \S+ -E \S+", "-S now-1day -E now+1day", trace)
    assert cluster.sh(trace).code == 0 and len(cluster.read("month.txt").splitlines()) > 1
    cluster.ok("sacctmgr", "-i", "add", "account", "physics", "fairshare=7")
    cluster.ok("sacctmgr", "dump", "test", "file=accounts")
    cluster.ok("sacctmgr", "-i", "delete", "account", "physics")
    said = [(line, guide.run(line)) for lines in blocks(page("from-slurm.md")) for line in lines]
    assert guide.done >= 10
    by_line = {line: result.out for line, result in said}
    assert "physics" in by_line["sacctmgr -n show account"]
    assert os.path.getsize(cluster.work + "/month.html") > 1000
