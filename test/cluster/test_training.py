"""Checklist row 119: a real training over four nodes with `srun torchrun`, the very example that ./quickstart runs."""
import os
import re
import shutil
import subprocess

import pytest

import harness

has_torch = subprocess.run(["/usr/bin/python3", "-c", "import torch, sklearn"], capture_output=True).returncode == 0
pytestmark = pytest.mark.skipif(not has_torch, reason="python3-torch and python3-sklearn are not installed")


@pytest.mark.row(6, 64)
def test_four_nodes_learn_together(cluster):
    for name in ("train.sh", "train.py", "bin/torchrun"):
        shutil.copy(os.path.join(harness.REPO, "examples", name), cluster.work)
    os.rename(cluster.work + "/torchrun", cluster.bin + "/torchrun")
    job = cluster.sbatch("train.sh", "--epochs", "8")
    record = cluster.wait_job(job, seconds=120)
    text = cluster.read("train_%d.log" % job)
    assert record["NodeList"] == "n[1-4]" and record["JobName"] == "digits-ddp"
    assert {node for _, node in re.findall(r"rank (\d) of 4 on node n(\d)", text)} == set("1234"), text
    losses = [float(x) for x in re.findall(r"^epoch +\d+ +loss ([\d.]+)", text, re.M)]
    assert len(losses) == 8 and losses[-1] < losses[0] / 2, text
    assert float(re.search(r"accuracy on unseen digits: ([\d.]+)", text).group(1)) > 80
