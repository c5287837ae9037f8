"""AuthType=auth/munge: the same cluster, with the site's munge instead of a key file."""
import os
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(not os.path.exists("/usr/sbin/munged"), reason="no munged")


@pytest.mark.row(110)
def test_jobs_and_steps(make_cluster):
    cluster = make_cluster(nodes=2, auth="munge")
    out, record = cluster.run_script("#!/bin/bash\n#SBATCH -N2\nsrun -l hostname >/dev/null && echo fine\n")
    assert out == "fine\n" and record["NodeList"] == "n[1-2]"
    assert cluster.ok("srun", "-n2", "id", "-un").lines == [cluster.user] * 2


def test_steps_of_an_ordinary_user(make_cluster):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become nobody")
    cluster = make_cluster(nodes=2, auth="munge")

    def as_nobody(*args):
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *args], cwd="/", env=cluster.env,
                              capture_output=True, text=True, timeout=30)
    alone = as_nobody("srun", "-N2", "id", "-u")
    assert (alone.stdout, alone.returncode) == ("65534\n65534\n", 0), alone
    allocated = as_nobody("salloc", "-Q", "-N2", "srun", "-l", "id", "-u")
    assert (sorted(allocated.stdout.splitlines()), allocated.returncode) == (["0: 65534", "1: 65534"], 0), allocated
