"""The cluster of the tests in the machine: one node, configured as an administrator would, started by `systemctl enable --now`."""
import os
import secrets
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import guest  # noqa: E402
from guest import ETC, LOGS, TREE, ok, root, run, until, wait_idle, write  # noqa: E402

SLURM = 4700    # the uid of slurm, as `init` has it
# Files that are there for every job; what they are is of no matter: unused virtual terminals.
GPUS = 4
FIRST_MINOR = 56
CONF = """ClusterName=vm
SlurmctldHost=vm
SlurmUser=slurm
AuthType=auth/slurm
CredType=cred/slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldDebug=debug
SlurmdDebug=debug
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=vm
ReturnToService=2
KillWait=5
DefMemPerNode=100
GresTypes=gpu
NodeName=vm Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:%d State=UNKNOWN
PartitionName=main Nodes=vm Default=YES MaxTime=60 State=UP
""" % GPUS
CGROUP = """ConstrainCores=yes
ConstrainDevices=yes
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedSwapSpace=50
SystemdTimeout=60000
"""
DBD = """DbdHost=vm
SlurmUser=slurm
StorageType=accounting_storage/sqlite
StorageLoc=/var/lib/slurmdbd/accounting.db
LogFile=/var/log/slurm/slurmdbd.log
"""


def pytest_configure(config):
    config.addinivalue_line("markers", "row(number, ...): proves these rows of checklist.txt; see tools/checklist")


def make_devices():
    for i in range(GPUS):
        os.mknod("/dev/nvidia%d" % i, 0o020666, os.makedev(4, FIRST_MINOR + i))
        os.chmod("/dev/nvidia%d" % i, 0o666)
    os.mknod("/dev/nvidiactl", 0o020666, os.makedev(4, FIRST_MINOR + GPUS))
    os.chmod("/dev/nvidiactl", 0o666)


def configure():
    os.makedirs(ETC, exist_ok=True)
    for folder in ("/var/spool/slurmctld", "/var/lib/slurmdbd", LOGS):
        os.makedirs(folder, exist_ok=True)
        os.chown(folder, SLURM, SLURM)
    write(ETC + "/slurm.conf", CONF)
    write(ETC + "/cgroup.conf", CGROUP)
    write(ETC + "/gres.conf", "Name=gpu File=/dev/nvidia[0-%d]\n" % (GPUS - 1))
    write(ETC + "/slurmdbd.conf", DBD, 0o600, SLURM)
    with open(ETC + "/slurm.key", "wb") as f:
        f.write(secrets.token_bytes(1024))
    os.chmod(ETC + "/slurm.key", 0o600)
    os.chown(ETC + "/slurm.key", SLURM, SLURM)
    owner = os.stat("/etc/munge").st_uid
    with open("/etc/munge/munge.key", "wb") as f:
        f.write(secrets.token_bytes(128))
    os.chmod("/etc/munge/munge.key", 0o400)
    os.chown("/etc/munge/munge.key", owner, owner)


@pytest.fixture(scope="session", autouse=True)
def services():
    """Checklist row 28, in its words."""
    make_devices()
    configure()
    root("systemctl", "enable", "--now", "munge")
    root("systemctl", "enable", "--now", "slurmctld", "slurmdbd")
    root("systemctl", "enable", "--now", "slurmd")
    wait_idle()
    yield
    root("systemctl", "stop", "slurmd", "slurmctld", "slurmdbd")


@pytest.fixture(autouse=True)
def quiet():
    """Each test finds and leaves an idle node and no group of a job."""
    yield
    run("scancel", "-u", guest.USER)
    until(lambda: "an empty queue: %s" % ok("squeue").out, lambda: not ok("squeue", "-h").out, 60)
    wait_idle()
    until(lambda: "no groups of jobs: %s" % os.listdir(TREE + "/" + guest.SCOPE),
          lambda: not [name for name in os.listdir(TREE + "/" + guest.SCOPE) if name.startswith("job_")], 30)
