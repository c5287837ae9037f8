"""MCS labels keep nodes apart and open what PrivateData hides. Guide mcs; slurm.conf(5) MCSPlugin, PrivateData."""
import os
import shutil
import subprocess

import pytest

from harness import ORACLE

pytestmark = pytest.mark.skipif(ORACLE, reason="22.05 takes labels without a plugin, too")


def test_a_label_keeps_its_nodes(make_cluster):
    cluster = make_cluster(nodes=2, gpus=0, conf="MCSPlugin=mcs/label\nMCSParameters=ondemand,ondemandselect")
    red = cluster.sbatch("-n1", "-w", "n1", "--mcs-label=red", "--exclusive=mcs", "--wrap", "sleep 600")
    cluster.wait_job(red, "RUNNING")
    shown = cluster.ok("scontrol", "show", "node", "n1").out
    assert "Owner=N/A MCS_label=red" in shown, shown
    assert cluster.job(red)["MCS_label"] == "red"
    beside = cluster.sbatch("-n1", "-w", "n1", "--mcs-label=red", "--wrap", "sleep 600")
    cluster.wait_job(beside, "RUNNING")
    blue = cluster.sbatch("-n1", "-w", "n1", "--mcs-label=blue", "--wrap", "true")
    assert "another MCS label" in cluster.ok("muster", "explain", str(blue)).out
    assert cluster.job(blue)["JobState"] == "PENDING"
    assert sorted(cluster.queue("-t", "R", "-O", "MCSLabel")) == [line for line in sorted(cluster.queue("-t", "R", "-O", "MCSLabel")) if line.startswith("red")]
    refused = cluster.run("scontrol", "update", "JobId=%d" % red, "MCSLabel=blue")
    assert refused.code == 1, refused          # it runs
    cluster.ok("scontrol", "update", "JobId=%d" % blue, "MCSLabel=red")
    assert cluster.wait_job(blue)["MCS_label"] == "red"
    cluster.ok("scancel", str(red), str(beside))
    cluster.wait_nodes("idle")
    assert "MCS_label=N/A" in cluster.ok("scontrol", "show", "node", "n1").out


def test_a_user_keeps_its_nodes_and_is_named(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0)
    job = cluster.sbatch("-n1", "--exclusive=user", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    assert "Owner=%s(%d)" % (cluster.user, os.geteuid()) in cluster.ok("scontrol", "show", "node", "n1").out


def test_private_data(make_cluster):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become nobody")
    cluster = make_cluster(nodes=1, gpus=0, conf="PrivateData=jobs,nodes,partitions")

    def as_nobody(*args):
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *args], cwd="/", env=cluster.env,
                              capture_output=True, text=True, timeout=30)
    mine = cluster.sbatch("-n1", "--wrap", "sleep 600")
    cluster.wait_job(mine, "RUNNING")
    assert cluster.queue() and as_nobody("squeue", "-h").stdout == ""
    hidden = as_nobody("scontrol", "show", "job", str(mine))
    assert hidden.returncode == 1 and "Invalid job id" in hidden.stderr + hidden.stdout, hidden
    for words in (("sinfo",), ("scontrol", "show", "node"), ("scontrol", "show", "partition")):
        answer = as_nobody(*words)
        assert answer.returncode == 1 and "denied" in answer.stderr + answer.stdout, answer
    theirs = as_nobody("sbatch", "--parsable", "-n1", "-o", "/dev/null", "--wrap", "sleep 600")
    assert theirs.returncode == 0, theirs
    assert [line.split()[0] for line in as_nobody("squeue", "-h").stdout.splitlines()] == [theirs.stdout.strip()]
    assert len(cluster.queue()) == 2
