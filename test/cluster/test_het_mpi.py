"""MPI over the components of a heterogeneous job: one MPI_COMM_WORLD with task ids that go on from component to component (guide
heterogeneous_jobs). `srun --mpi=pmix` and `--mpi=pmi2`."""
import re
import shutil
import subprocess

import pytest

import harness
from conftest import new_folder
from mpi import PROGRAMS, nothing_left
from test_pmi2 import PMI1, PMI2
from test_pmix import OPEN_MPI, PMIX

pytestmark = pytest.mark.better_than_slurm

# Ranks 0-1 on one node, 2-5 on two others.
JOB = ("-w", "n1", "-n2", ":", "-w", "n[2-3]", "-N2", "--ntasks-per-node=2")


def over_both(cluster, how, *program, env=None):
    """One step over both components of a heterogeneous job."""
    return cluster.run("salloc", "-Q", *JOB, "srun", "--mpi=" + how, "--het-group=0,1", *program, env=env or {}, timeout=90)


def test_pmi1(cluster):
    cluster.file("pmi1.py", PMI1)
    said = over_both(cluster, "pmi2", "/usr/bin/python3", "pmi1.py")
    assert said.code == 0 and len(said.lines) == 6, said
    names = set()
    for rank, line in enumerate(sorted(said.lines)):
        found = re.fullmatch(r"rank %d of 6 in (slurm\.pmi\.\d+\.0) read 12: (\S*)" % rank, line)
        assert found, said
        names.add(found.groups())
    assert len(names) == 1, names       # one space, and one mapping of processes to nodes
    nothing_left(cluster)


def test_one_node_for_two_components_is_refused(cluster):
    said = cluster.run("salloc", "-Q", "-w", "n1", "-n1", ":", "-w", "n1", "-n1", "srun", "--mpi=pmi2", "--het-group=0,1", "true", timeout=90)
    assert said.code != 0 and "--mpi over components needs each on nodes of its own" in said.err, said


def test_pmi2(cluster):
    cluster.file("pmi2.py", PMI2)
    said = over_both(cluster, "pmi2", "/usr/bin/python3", "pmi2.py")
    assert said.code == 0 and sorted(said.lines) == ["rank %d of 6 read 6" % rank for rank in range(6)], said
    nothing_left(cluster)


def test_pmi_abort_ends_all_components(cluster):
    cluster.file("pmi1.py", PMI1)
    said = over_both(cluster, "pmi2", "/usr/bin/python3", "pmi1.py", "abort", "5")
    assert said.code != 0 and said.out == "", said
    assert "PMI_Abort by task 5, status 7" in said.err, said
    nothing_left(cluster)


@pytest.mark.skipif(not PMIX or not shutil.which("mpicc"), reason="libpmix-dev or libopenmpi-dev is not installed")
def test_open_mpi(cluster):
    folder = new_folder()
    try:
        subprocess.run(["mpicc", "-o", folder + "/ring", PROGRAMS + "/ring.c"], check=True)
        said = over_both(cluster, "pmix", folder + "/ring", env=OPEN_MPI)
    finally:
        harness.remove(folder)
    ranks = sorted(line for line in said.lines if line.startswith("rank"))
    assert said.code == 0 and len(ranks) == 6, said
    nodes = []
    for rank, line in enumerate(ranks):
        found = re.match(r"rank %d of 6 on (n\d): token %d sum 15 " % (rank, rank + 1 if rank else 6), line)
        assert found, said
        nodes.append(found.group(1))
    assert nodes == ["n1", "n1", "n2", "n2", "n3", "n3"], nodes
    nothing_left(cluster)
