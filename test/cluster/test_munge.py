"""AuthType=auth/munge: the same cluster, with the site's munge instead of a key file."""
import os

import pytest

pytestmark = pytest.mark.skipif(not os.path.exists("/usr/sbin/munged"), reason="no munged")


def test_jobs_and_steps(make_cluster):
    cluster = make_cluster(nodes=2, auth="munge")
    out, record = cluster.run_script("#!/bin/bash\n#SBATCH -N2\nsrun -l hostname >/dev/null && echo fine\n")
    assert out == "fine\n" and record["NodeList"] == "n[1-2]"
    assert cluster.ok("srun", "-n2", "id", "-un").lines == [cluster.user] * 2
