"""A machine on which nothing of Slurm's names is installed yet; munge has a key, and users exist."""
import os
import secrets
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from guest import root, run, write  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "row(number, ...): proves these rows of checklist.txt; see tools/checklist")


@pytest.fixture(scope="session", autouse=True)
def machine():
    theirs = [name for name in root("dpkg-query", "-W", "-f", "${Package}\\n").out.split() if name.startswith(("slurm", "libslurm"))]
    if theirs:
        root("dpkg", "--purge", "--force-depends", *theirs, timeout=120)
    owner = os.stat("/etc/munge").st_uid
    write("/etc/munge/munge.key", secrets.token_hex(64), 0o400, owner)
    assert run("sh", "-c", "command -v sbatch").code != 0
