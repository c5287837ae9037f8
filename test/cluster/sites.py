"""The sites of the checklist: clusters configured in the words written there, and the stand-ins their scripts run.

Added to those words is only where the daemons are: all on loopback, each with a port of its own.
"""
import contextlib
import os
import re

import pytest

import conftest
import harness

# The walk-through: four nodes of eight H100, three partitions. As many nodes more stand under leaf2 of its topology.
H100_NODES = ["gpu-node-%03d" % i for i in range(1, 9)]
H100_TRAIN = r"""NodeName=gpu-node-[001-004] \
  Gres=gpu:h100:8 \
  CPUs=128 \
  RealMemory=2048000 \
  State=UNKNOWN
PartitionName=train Nodes=gpu-node-[001-004] Default=YES MaxTime=168:00:00 State=UP
"""
H100_CONF = """
GresTypes=gpu
TopologyPlugin=topology/tree
""" + H100_TRAIN + """\
PartitionName=debug  Nodes=gpu-node-001 MaxTime=02:00:00 MaxCPUsPerUser=8 State=UP
PartitionName=priority Nodes=gpu-node-[001-004] MaxTime=720:00:00 PriorityJobFactor=2 State=UP

NodeName=gpu-node-[005-008] Gres=gpu:h100:8 CPUs=128 RealMemory=2048000
PartitionName=gpu Nodes=gpu-node-[001-008]
PartitionName=blackwell Nodes=gpu-node-[005-008]
"""
H100_GRES = "".join("NodeName=%s Name=gpu Type=h100 File=/dev/nvidia[0-7]\n" % name for name in H100_NODES)
H100_TOPOLOGY = """SwitchName=spine1 Switches=leaf1,leaf2
SwitchName=leaf1  Nodes=gpu-node-[001-004]
SwitchName=leaf2  Nodes=gpu-node-[005-008]
"""
H100 = (H100_NODES, H100_CONF, H100_GRES, H100_TOPOLOGY)

# The second one: eight nodes of eight A100, one of them cut in instances.
A100_NODES = ["gpu-node%02d" % i for i in range(1, 9)]
A100_CONF = """
GresTypes=gpu
NodeName=gpu-node[01-08] Gres=gpu:a100:8 CPUs=128 RealMemory=1024000
PartitionName=training Nodes=gpu-node[01-08] Default=YES MaxTime=72:00:00
"""
A100_GRES = "Name=gpu Type=a100 File=/dev/nvidia[0-7]\n"

TORCHRUN = '#!/bin/bash\necho "torchrun on $SLURMD_NODENAME rank $SLURM_PROCID local $SLURM_LOCALID: $*"\n'
PYTHON = '#!/bin/bash\necho "python on $SLURMD_NODENAME rank $SLURM_PROCID local $SLURM_LOCALID: $*"\n'
# As the real one does with -L: a line for each device that the job is to see.
NVIDIA_SMI = r"""#!/bin/bash
for i in ${CUDA_VISIBLE_DEVICES//,/ }; do echo "GPU $i: NVIDIA H100 80GB HBM3 (job $SLURM_JOB_ID on $SLURMD_NODENAME)"; done
"""


def hostlist_size(text):
    """Of name[first-last] or of a plain name."""
    span = re.search(r"\[(\d+)-(\d+)\]", text)
    return int(span[2]) - int(span[1]) + 1 if span else 1


class Site(harness.Cluster):
    """text: lines of slurm.conf as the checklist has them; they win over the house's own for the same key."""

    def __init__(self, folder, names, text, gres="", topology=None, gpus=8, **more):
        self.text = text
        super().__init__(folder, nodes=len(names), names=names, gpus=gpus, gres_conf=gres, **more)
        # Devices named /dev/nvidia0 are looked for below the cluster's own folder.
        self.env["MUSTER_DEVICE_ROOT"] = folder
        for i in range(gpus):
            open(os.path.join(folder, "dev", "nvidia%d" % i), "w").close()
        if topology is not None:
            with open(os.path.join(folder, "etc", "topology.conf"), "w") as f:
                f.write(topology)
        for name, program in (("torchrun", TORCHRUN), ("python", PYTHON), ("nvidia-smi", NVIDIA_SMI)):
            self.script(name, program)

    def write_conf(self, gpu_type, memory, extra, node_line, gres_conf, partitions, real_hardware):
        ports = iter(self.node_ports)
        said = {line.partition("=")[0] for line in self.text.split("\n")}
        lines = [line for line in self.house_lines(real_hardware) if line.partition("=")[0] not in said]
        in_node, wires = False, ""
        for line in self.text.strip("\n").split("\n"):
            in_node = line.startswith("NodeName=") or (in_node and lines[-1].endswith("\\"))
            if line.startswith("NodeName="):
                count = hostlist_size(line.split()[0].partition("=")[2])
                wires = " NodeAddr=127.0.0.1 NodeHostname=%s Port=[%s]" % (
                    harness.HOST, ",".join(str(next(ports)) for _ in range(count)))
            lines.append(line + wires if in_node and not line.endswith("\\") else line)
        self.conf_lines = lines + (extra.split("\n") if extra else [])
        self.write_lines()
        with open(os.path.join(self.folder, "etc", "gres.conf"), "w") as f:
            f.write(gres_conf)

    def node_states(self):
        out = self.run("sinfo", "-h", "-N", "-o", "%N %T").out
        return dict(line.split(None, 1) for line in out.splitlines() if line.strip())


@contextlib.contextmanager
def running(names, text, gres="", topology=None):
    """A site in a folder of its own, for as long as the block lasts."""
    folder = conftest.new_folder()
    site = Site(folder, names, text, gres, topology)
    try:
        yield site.start()
    finally:
        site.stop()
        harness.remove(folder)


@pytest.fixture(scope="module", name="shared")
def h100():
    """The walk-through's site for all tests of a file that imports this, in the place of the cluster of conftest.py."""
    with running(*H100) as site:
        yield site
