"""The packages of the build, and a root in which they can be installed; each file of tests has its own root."""
import os
import shutil

import pytest

from formats import pack_all
from root import Root

PREFIX = os.environ["MUSTER_PREFIX"]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Role → the file of its Debian package."""
    return pack_all(PREFIX, tmp_path_factory.mktemp("packages"), "DEB")


@pytest.fixture(scope="session")
def rpms(tmp_path_factory):
    """Role → the file of its rpm package."""
    if not shutil.which("rpmbuild"):
        pytest.skip("no rpmbuild (tools/install-packages)")
    return pack_all(PREFIX, tmp_path_factory.mktemp("rpms"), "RPM")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A root of its own as this host is, without Slurm of the distribution."""
    if os.getuid() != 0:
        pytest.skip("only root can have a root of its own")
    r = Root(str(tmp_path_factory.mktemp("root")))
    if not r.works:
        pytest.skip("no overlay can be mounted here: " + r.why)
    theirs = r.run("dpkg-query -W -f '${Package}\\n' | grep -E '^(slurm|libslurm)'").stdout.split()
    if theirs:
        # With what depends on them: apt installs nothing where something is missing.
        r.ok("apt-get purge -y " + " ".join(theirs), 300)
    yield r
    r.end()


@pytest.fixture(scope="module")
def root(bare, packages):
    bare.copy(os.path.dirname(packages["common"]), "/tmp/packages", *(os.path.basename(f) for f in packages.values()))
    return bare
