"""`srun --mpi=pmi2`: PMI-1 and PMI-2 over PMI_FD. The words themselves, and MPICH's own programs where it is installed."""
import re
import shutil
import subprocess

import pytest

import harness
from conftest import new_folder
from mpi import PROGRAMS, nothing_left

pytestmark = pytest.mark.better_than_slurm

# PMI-1: puts its rank, meets the others, reads all; with "abort N", rank N aborts.
PMI1 = r"""
import os, sys
pmi = os.fdopen(int(os.environ["PMI_FD"]), "r+b", buffering=0)
rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
def ask(line):
    pmi.write(line.encode() + b"\n")
    answer = b""
    while not answer.endswith(b"\n"):
        answer += pmi.read(1)
    return answer.decode().strip()
assert ask("cmd=init pmi_version=1 pmi_subversion=1").endswith("rc=0")
space = ask("cmd=get_my_kvsname").partition("kvsname=")[2]
if sys.argv[1:] == ["abort", str(rank)]:
    pmi.write(b"cmd=abort exitcode=7\n")
    sys.exit(7)
for turn in range(2):
    assert "rc=0" in ask("cmd=put kvsname=%s key=k%d.%d value=of %d" % (space, turn, rank, rank))
    assert ask("cmd=barrier_in") == "cmd=barrier_out"
got = [ask("cmd=get kvsname=%s key=k%d.%d" % (space, turn, r)).partition("value=")[2] for turn in range(2) for r in range(size)]
right = sum(value == "of %d" % (i % size) for i, value in enumerate(got))
print("rank %d of %d in %s read %d: %s" % (rank, size, space, right, ask("cmd=get kvsname=%s key=PMI_process_mapping" % space).partition("value=")[2]))
assert ask("cmd=finalize") == "cmd=finalize_ack"
"""
# PMI-2: the same in blocks.
PMI2 = r"""
import os
pmi = os.fdopen(int(os.environ["PMI_FD"]), "r+b", buffering=0)
def take(count):
    data = b""
    while len(data) < count:
        data += pmi.read(count - len(data))
    return data.decode()
def ask(text):
    pmi.write(b"%6d%s" % (len(text), text.encode()))
    return take(int(take(6)))
pmi.write(b"cmd=init pmi_version=2 pmi_subversion=0\n")
assert take(len("cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n")).endswith("rc=0\n")
about = dict(word.split("=") for word in ask("cmd=fullinit;pmirank=0;threaded=FALSE;").split(";") if word)
rank, size = int(about["rank"]), int(about["size"])
assert "rc=0;" in ask("cmd=kvs-put;key=k%d;value=of;;%d;" % (rank, rank))
assert "rc=0;" in ask("cmd=kvs-fence;")
right = sum("value=of;;%d;" % r in ask("cmd=kvs-get;key=k%d;" % r) for r in range(size))
assert "rc=0;" in ask("cmd=finalize;")
print("rank %d of %d read %d" % (rank, size, right))
"""


def test_pmi1_over_nodes(cluster):
    cluster.file("pmi1.py", PMI1)
    said = cluster.run("srun", "--mpi=pmi2", "-N3", "--ntasks-per-node=2", "/usr/bin/python3", "pmi1.py")
    assert said.code == 0 and len(said.lines) == 6, said
    for rank, line in enumerate(sorted(said.lines)):
        assert re.fullmatch(r"rank %d of 6 in slurm\.pmi\.\d+\.0 read 12: \(vector,\(0,3,2\)\)" % rank, line), said
    nothing_left(cluster)


def test_pmi2_over_nodes(cluster):
    cluster.file("pmi2.py", PMI2)
    said = cluster.run("srun", "--mpi=pmi2", "-N2", "--ntasks-per-node=2", "/usr/bin/python3", "pmi2.py")
    assert said.code == 0 and sorted(said.lines) == ["rank %d of 4 read 4" % rank for rank in range(4)], said
    nothing_left(cluster)


def test_pmi_abort_ends_the_step(cluster):
    cluster.file("pmi1.py", PMI1)
    said = cluster.run("srun", "--mpi=pmi2", "-N2", "-n2", "/usr/bin/python3", "pmi1.py", "abort", "1")
    assert said.code != 0 and said.out == "", said
    assert "slurmstepd-n2: error: PMI_Abort by task 1, status 7" in said.err and "Job step aborted" in said.err, said
    nothing_left(cluster)


@pytest.mark.skipif(not shutil.which("mpicc.mpich"), reason="libmpich-dev is not installed")
def test_mpich_over_nodes(cluster):
    # All nodes are this host, so UCX may use its memory. Over its tcp, MPICH 4.0.2 now and then spins in MPI_Finalize.
    folder = new_folder()
    try:
        subprocess.run(["mpicc.mpich", "-o", folder + "/ring", PROGRAMS + "/ring.c"], check=True)
        said = cluster.run("srun", "--mpi=pmi2", "-N2", "--ntasks-per-node=2", folder + "/ring",
                           env={"UCX_TLS": "sm,self"}, timeout=60)
    finally:
        harness.remove(folder)
    ranks = [line for line in said.lines if line.startswith("rank")]
    assert said.code == 0 and sorted(ranks) == [
        "rank %d of 4 on n%d: token %d sum 6 app 0 universe 4" % (r, r // 2 + 1, r + 1 if r else 4) for r in range(4)], said
    nothing_left(cluster)
