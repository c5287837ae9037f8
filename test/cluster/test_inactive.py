"""InactiveLimit: an allocation whose salloc or srun is gone ends."""
import os
import re
import signal
import subprocess

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # Slurm looks once a minute or more seldom


def begin(cluster, *args):
    process = subprocess.Popen([os.path.join(cluster.prefix, "bin", args[0]), *args[1:]], env=cluster.env, cwd=cluster.work,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    job = int(until("an allocation that runs", lambda: cluster.queue("-t", "R", "-o", "%i"), seconds=30)[0])
    return process, job


@pytest.mark.parametrize("command", [["salloc", "-n1", "sleep", "1000"], ["srun", "-n1", "sleep", "1000"]], ids=["salloc", "srun"])
def test_the_allocation_of_a_killed_command_ends(make_cluster, command):
    cluster = make_cluster(nodes=1, conf="InactiveLimit=3")
    process, job = begin(cluster, *command)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    cluster.wait_job(job, "TIMEOUT", seconds=60)
    assert re.search(r"Reason=InactiveLimit", cluster.ok("scontrol", "show", "job", str(job)).out)


def test_one_whose_command_lives_goes_on_also_over_a_restart(make_cluster):
    cluster = make_cluster(nodes=1, conf="InactiveLimit=3")
    process, job = begin(cluster, "salloc", "-n1", "sleep", "1000")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    # Another one, without a command, that would be over by then: salloc --no-shell is not watched.
    cluster.ok("salloc", "-n1", "--no-shell", "-J", "alone")
    quick = cluster.sbatch("--wrap", "sleep 8")
    cluster.wait_job(quick, "COMPLETED", seconds=60)
    assert sorted(cluster.queue("-o", "%j")) == ["alone", "sleep"]
    end_process(process)
