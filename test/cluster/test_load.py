"""Load that one job makes: it flows at the pace of the node."""
import os
import stat

import pytest


@pytest.mark.better_than_slurm
def test_an_array_with_a_large_script_runs(make_cluster):
    c = make_cluster(nodes=1, cpus=64)
    script = c.script("big.sh", "#!/bin/bash\nexit 0\n" + ("#" + "x" * 99 + "\n") * 38_000)   # 3.8 MB, below max_script_size
    c.ok("sbatch", "--wait", "--array=1-100", "-o", "/dev/null", script, timeout=180)
    content = [os.path.join(folder, "content") for folder, names, _ in os.walk(c.folder) if "content" in names]
    assert len(content) == 1, content
    assert stat.S_IMODE(os.stat(content[0]).st_mode) == 0o700
    files = os.listdir(content[0])
    assert len(files) in (1, 2), files   # the script, and the environment where it is long
    assert all(stat.S_IMODE(os.stat(os.path.join(content[0], name)).st_mode) == 0o600 for name in files)
