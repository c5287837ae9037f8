"""Fixtures of the security tier: `town` is one cluster with real users, shared by a test file and without jobs at the
start of each test; `make_town` makes more. Needs root, who alone can be others: without it nothing is collected."""
import os
import signal
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cluster")]

import harness  # noqa: E402
import town as towns  # noqa: E402


def pytest_configure(config):
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    if os.geteuid() != 0:
        pytest.exit("test/security acts as several users: run it as root", returncode=1)
    for name in ("sbin/slurmctld", "sbin/slurmd", "bin/sbatch"):
        if not os.path.exists(os.path.join(harness.prefix(), name)):
            pytest.exit("no %s/%s: build first (./check), or set MUSTER_PREFIX" % (harness.prefix(), name), returncode=1)


@pytest.fixture(scope="session", autouse=True)
def the_users():
    with towns.take_the_users():
        yield


def new_folder():
    folder = tempfile.mkdtemp(prefix="ms-")
    os.chmod(folder, 0o755)
    return folder


@pytest.fixture
def make_town():
    made = []

    def make(start=True, **kw):
        made.append(towns.Town(new_folder(), **kw))
        return made[-1].start() if start else made[-1]
    yield make
    for one in made:
        one.stop()
        harness.remove(one.folder)


@pytest.fixture(scope="module")
def auth():
    """How the daemons know each other; a test file may have its own fixture of this name, with parameters."""
    return None


@pytest.fixture(scope="module")
def shared(auth):
    one = towns.Town(new_folder(), auth=auth)
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


@pytest.fixture
def town(shared):
    shared.must_run()
    yield shared
    shared.must_run()
    shared.leave_no_job()
    assert shared.drained() == [], shared.run("sinfo", "-R").out + shared.logs()
