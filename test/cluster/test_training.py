"""Checklist row 119: a real training over four nodes with `srun torchrun`, the very example that ./quickstart runs."""
import os
import re
import shutil
import subprocess

import pytest

import harness

has_torch = subprocess.run(["/usr/bin/python3", "-c", "import torch, sklearn"], capture_output=True).returncode == 0
pytestmark = pytest.mark.skipif(not has_torch, reason="python3-torch and python3-sklearn are not installed")


@pytest.mark.row(6, 64, 119)
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


def test_the_training_of_the_readme(cluster):
    """Its lines as they stand there, typed in a clone."""
    with open(os.path.join(harness.REPO, "README.md")) as f:
        lines = f.read().split("```")[3].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("cd examples"))
    last = next(i for i, line in enumerate(lines) if "--dependency=afterok" in line)
    shutil.copytree(os.path.join(harness.REPO, "examples"), cluster.work + "/examples")
    ids = cluster.ok("bash", "-ec", "\n".join(lines[first:last + 1] + ["echo $jid"])).out.split()
    assert cluster.wait_job(int(ids[-1]), seconds=120)["JobState"] == "COMPLETED", cluster.read("examples/train_%s.log" % ids[-1])
    cluster.wait_job(int(ids[-2]))
    assert cluster.read("examples/slurm-%s.out" % ids[-2]) == "evaluated\n"
    elsewhere = cluster.ok("bash", "-c", "mkdir -p apart && cd apart && sbatch --parsable ../examples/train.sh").out.strip()
    cluster.wait_job(int(elsewhere), "FAILED")
    assert "submit this script from the folder that holds it" in cluster.read("apart/train_%s.log" % elsewhere)
