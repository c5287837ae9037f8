"""task/affinity and task/cgroup on two sockets of two cores with two threads; each socket is a NUMA node."""
import re

import pytest

from guest import ok, run

ALLOWED = ["bash", "-c", "grep -h Cpus_allowed_list /proc/self/status | cut -f2"]
# Allocates, and says on which NUMA nodes the pages are.
WHERE = ["python3", "-c", r"""import re
held = bytearray(b'x') * (30 << 20)
largest = max((line for line in open('/proc/self/numa_maps') if 'anon=' in line), key=lambda line: int(re.search(r'anon=(\d+)', line)[1]))
print(re.findall(r'N(\d)=', largest), largest.split()[1])"""]


def bound(*options):
    """The CPUs of each task, by rank; the job has the whole node."""
    out = ok("salloc", "-Q", "-N1", "--exclusive", "srun", "-l", *options, *ALLOWED).lines
    return [line.split(": ")[1] for line in sorted(out)]


def test_the_machine_is_what_slurmd_found():
    line = ok("slurmd", "-C").out
    assert re.search(r"CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=2 ThreadsPerCore=2 ", line), line


@pytest.mark.parametrize("options, expected", [
    (["-n4", "--cpu-bind=cores"], ["0-1", "4-5", "2-3", "6-7"]),
    (["-n4", "--cpu-bind=cores", "-m", "block:block"], ["0-1", "2-3", "4-5", "6-7"]),
    (["-n2", "--cpu-bind=sockets"], ["0-3", "4-7"]),
    (["-n2", "--cpu-bind=ldoms"], ["0-3", "4-7"]),
    (["-n4", "--cpu-bind=map_cpu:7,0,5,2"], ["7", "0", "5", "2"]),
    (["-n2", "--cpu-bind=mask_cpu:0x3,0xf0"], ["0-1", "4-7"]),
    (["-n2", "--cpu-bind=map_ldom:1,0"], ["4-7", "0-3"]),
    (["-n2", "--cpu-bind=none"], ["0-7", "0-7"]),
])
def test_cpu_bind(options, expected):
    assert bound(*options) == expected


@pytest.mark.parametrize("options, nodes, policy", [
    (["--mem-bind=map_mem:1"], ["1"], "bind:1"),
    (["--mem-bind=map_mem:0"], ["0"], "bind:0"),
    (["--cpu-bind=map_cpu:6", "--mem-bind=local"], ["1"], "local"),
    (["--mem-bind=mask_mem:0x3"], None, "bind:0-1"),
])
def test_mem_bind(options, nodes, policy):
    out = ok("salloc", "-Q", "-N1", "--exclusive", "srun", "-n1", *options, *WHERE).out
    found, name = re.fullmatch(r"(\[.*\]) (\S+)\n", out).groups()
    assert name == policy and (nodes is None or eval(found) == nodes), out


def test_a_node_that_is_not_there_is_refused():
    result = run("srun", "-n1", "--mem-bind=map_mem:2", "true")
    assert result.code != 0 and "NUMA node 2 does not exist" in result.err, result
