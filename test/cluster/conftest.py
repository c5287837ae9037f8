"""Fixtures: `cluster` is one shared by a test file and empty at the start of each test; `make_cluster` makes more."""
import os
import signal
import tempfile

import pytest

import harness


def pytest_configure(config):
    # An end by SIGTERM (a time limit) takes the daemons along like Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


def pytest_addoption(parser):
    parser.addoption("--soak", type=float, default=8, metavar="SECONDS", help="how long test_soak.py goes on")
    parser.addoption("--soak-seed", type=int, default=0, metavar="NUMBER", help="its random seed; 0: another one each time")


def pytest_collection_modifyitems(items):
    if harness.ORACLE:
        for item in items:
            if item.get_closest_marker("better_than_slurm"):
                item.add_marker(pytest.mark.skip(reason="more than Slurm does"))


@pytest.fixture(scope="session", autouse=True)
def programs():
    for name in ("sbin/slurmctld", "sbin/slurmd", "bin/sbatch"):
        path = os.path.join(harness.prefix(), name)
        if not os.path.exists(path):
            pytest.exit("no %s: build first (./check), or set MUSTER_PREFIX" % path, returncode=1)


def new_folder():
    # Short: a unix socket's path has at most 107 characters.
    folder = tempfile.mkdtemp(prefix="mt-")
    os.chmod(folder, 0o755)
    return folder


@pytest.fixture(scope="module")
def shared():
    folder = new_folder()
    cluster = harness.Cluster(folder)
    try:
        yield cluster.start()
    finally:
        cluster.stop()
        harness.remove(folder)


@pytest.fixture
def cluster(shared):
    shared.must_run()       # a test before this one may have ended it: say so at once
    yield shared
    shared.must_run()
    shared.cancel_all()
    shared.wait_nodes("idle")


@pytest.fixture
def make_cluster():
    made = []

    def make(start=True, **kw):
        made.append(harness.Cluster(new_folder(), **kw))
        return made[-1].start() if start else made[-1]
    yield make
    for one in made:
        one.stop()
        harness.remove(one.folder)
