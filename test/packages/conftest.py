"""The packages of the build, and a root in which they can be installed; each file of tests has its own root."""
import glob
import os
import re
import subprocess

import pytest

from root import ROLES, Root

PREFIX = os.environ["MUSTER_PREFIX"]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Role → the file of its package."""
    folder = tmp_path_factory.mktemp("packages")
    made = subprocess.run(["cpack", "-G", "DEB", "-B", str(folder)], cwd=PREFIX, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    found = {re.match(r"muster-(\w+)_", os.path.basename(f)).group(1): f for f in glob.glob(str(folder / "*.deb"))}
    assert sorted(found) == sorted(ROLES)
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory, packages):
    if os.getuid() != 0:
        pytest.skip("only root can have a root of its own")
    r = Root(str(tmp_path_factory.mktemp("root")))
    if not r.works:
        pytest.skip("no overlay can be mounted here: " + r.why)
    theirs = r.run("dpkg-query -W -f '${Package}\\n' | grep -E '^(slurm|libslurm)'").stdout.split()
    if theirs:
        # With what depends on them: apt installs nothing where something is missing.
        r.ok("apt-get purge -y " + " ".join(theirs), 300)
    r.copy(os.path.dirname(packages["common"]), "/tmp/packages", *(os.path.basename(f) for f in packages.values()))
    yield r
    r.end()
