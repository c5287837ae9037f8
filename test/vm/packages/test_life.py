"""The life of an installation, in the order of the tests: packages of the release before, munge, jobs, the upgrade and the way back
while jobs run, logins by ssh, removal and purge. `test/vm/run --packages --before BUILD` says which release was before."""
import glob
import os
import re
import threading

import pytest

from guest import HOME, LOGS, TREE, UNITS, group, in_state, job, ok, pids_in, read, root, run, sbatch, spawn, unit, until, wait_idle, wait_job, write

DAEMONS = UNITS[1:]
# What a host with every role installs, and in which order an administrator upgrades: the database first, then the controller, then nodes.
ORDER = ("common", "slurmdbd", "slurmctld", "slurmd", "client")
CONF = """ClusterName=vm
SlurmctldHost=vm
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SelectTypeParameters=CR_Core_Memory
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=vm
ReturnToService=2
KillWait=5
DefMemPerCPU=50
NodeName=vm Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=vm Default=YES MaxTime=60 State=UP
"""
DBD = """DbdHost=vm
SlurmUser=slurm
AuthType=auth/munge
StorageType=accounting_storage/sqlite
StorageLoc=/var/lib/slurm/slurmdbd/accounting.db
LogFile=/var/log/slurm/slurmdbd.log
"""
CGROUP = "ConstrainCores=yes\nConstrainRAMSpace=yes\n"


def install(release, *roles):
    return root("dpkg", "-i", *(glob.glob("/packages/%s/muster-%s_*.deb" % (release, role))[0] for role in roles), timeout=240).out


def packages(release):
    return sorted(re.search(r"/muster-(\w+)_", path)[1] for path in glob.glob("/packages/%s/*.deb" % release))


def installed():
    return {line.split()[0] for line in root("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", "muster-*").out.splitlines()
            if line.endswith(" installed")}


@pytest.mark.row(28, 135)
def test_the_release_before_is_installed_and_waits_for_its_configuration():
    said = install("before", *ORDER)
    assert "slurmctld starts once /etc/slurm/slurm.conf is there" in said
    assert root("id", "-un", "slurm").out == "slurm\n"
    for name in DAEMONS:
        assert root("systemctl", "is-enabled", name).out == "enabled\n"
        assert unit(name, "FragmentPath")["FragmentPath"].endswith("/lib/systemd/system/%s.service" % name)
        assert run("systemctl", "is-active", name, user="root").out.strip() != "active"


@pytest.mark.row(28, 110, 135)
def test_munge_and_the_daemons_start_and_a_users_job_runs():
    write("/etc/slurm/slurm.conf", CONF)
    write("/etc/slurm/cgroup.conf", CGROUP)
    write("/etc/slurm/slurmdbd.conf", DBD, 0o600)
    root("chown", "slurm:", "/etc/slurm/slurmdbd.conf")
    for name in UNITS:
        root("systemctl", "enable", "--now", name)
    wait_idle()
    number = sbatch("-o", "first", "--wrap", "srun hostname; cat /proc/self/cgroup")
    wait_job(number)
    assert read(HOME + "/first").splitlines()[0] == "vm"
    assert "/job_%d/" % number in read(HOME + "/first")
    recorded(number)


def recorded(number):
    until(lambda: "the record of %d: %s" % (number, run("sacct", "-j", str(number))),
          lambda: ok("sacct", "-nX", "-o", "state", "-j", str(number)).out.split() == ["COMPLETED"], 60)


class Submissions:
    """A user who submits short jobs all the while. Each number that was printed ran once, says `settle`. The command may still be that of
    the release before, which reports a request that the controller had not read when it was restarted: that is refused, and not lost."""

    def __init__(self, name):
        self.ran = "%s/ran-%s" % (HOME, name)
        self.numbers, self.refused, self.over = [], [], threading.Event()
        self.thread = threading.Thread(target=self.submit)
        self.thread.start()

    def submit(self):
        while not self.over.wait(0.5):
            one = run("sbatch", "--parsable", "-n1", "--mem=10", "-o", "/dev/null", "--wrap", "echo $SLURM_JOB_ID >>%s" % self.ran, timeout=120)
            (self.numbers if one.code == 0 else self.refused).append(one.out.strip() or one.err)

    def settle(self):
        self.over.set()
        self.thread.join()
        until(lambda: "an empty queue: %s" % ok("squeue").out, lambda: not ok("squeue", "-h").out, 120)
        assert len(self.numbers) > 3 and len(self.refused) < 3, (self.numbers, self.refused)
        assert all("(receive failure)" in one for one in self.refused), self.refused
        assert sorted(read(self.ran).split()) == sorted(self.numbers)


def lasting(number):
    """The processes of the job that are there until its end: not the short naps of its scripts."""
    def name(pid):
        try:
            return read("/proc/%d/comm" % pid)
        except OSError:
            return "sleep\n"
    return {pid for pid in pids_in(group(number)) if name(pid) != "sleep\n"}


def carried_over(release, name):
    """One daemon after the other becomes this release's while jobs run, wait and are submitted."""
    gate = HOME + "/gate-" + name
    waiting = "until [ -e %s ]; do sleep 0.2; done; echo through" % gate
    runs = sbatch("-n1", "--mem=50", "-o", "out-" + name, "--wrap", "srun bash -c '%s'" % waiting)
    wait_job(runs, "RUNNING")
    attached = spawn("srun", "-n1", "--mem=50", "bash", "-c", waiting)
    until("the scripts of both jobs", lambda: len(lasting(runs)) >= 3 and lasting(runs + 1), 60)
    queued = sbatch("--exclusive", "--dependency=afterok:%d" % runs, "-o", "queued-" + name, "--wrap", "echo then")
    held = sbatch("--hold", "-o", "/dev/null", "--wrap", "true")
    before = lasting(runs) | lasting(runs + 1)
    load = Submissions(name)
    try:
        for role in ORDER:
            install(release, role)
            if role in DAEMONS:
                until("%s to be active" % role, lambda: root("systemctl", "show", "-pActiveState", role).out == "ActiveState=active\n", 60)
            assert before <= lasting(runs) | lasting(runs + 1), role
            until(lambda: "an answer after %s" % role, lambda: run("squeue", "-h").code == 0, 60)
            assert job(runs)["JobState"] == "RUNNING" and job(held)["JobState"] == "PENDING", role
        assert job(queued)["Dependency"] == "afterok:%d(unfulfilled)" % runs
        write(gate, "")
        out, err = attached.communicate(timeout=240)
        assert (attached.returncode, out) == (0, "through\n"), err
        wait_job(runs)
        wait_job(queued)
        root("scontrol", "release", str(held))
        wait_job(held)
    finally:
        write(gate, "")
        load.over.set()
    load.settle()
    assert read(HOME + "/out-" + name) == "through\n" and read(HOME + "/queued-" + name) == "then\n"
    for number in (runs, runs + 1, queued, held):
        recorded(number)
    assert job(runs)["Restarts"] == "0"
    return runs


@pytest.mark.row(135)
def test_upgraded_while_jobs_run():
    carried_over("now", "up")
    for role in set(packages("now")) - set(ORDER) - {"sackd"}:      # a host has slurmd or sackd
        install("now", role)
    assert {"muster-pam", "muster-slurmd"} <= installed()


def test_and_back():
    root("dpkg", "--remove", *("muster-" + role for role in set(packages("now")) - set(packages("before"))), timeout=120)
    carried_over("before", "back")
    install("now", *ORDER, "pam")
    wait_idle()


@pytest.mark.row(135)
def test_logins_by_ssh_are_part_of_a_job():
    conf = read("/etc/slurm/slurm.conf")
    write("/etc/slurm/slurm.conf", conf + "PrologFlags=Contain\n")
    root("systemctl", "restart", "slurmctld", "slurmd")
    wait_idle()
    pam = read("/etc/pam.d/sshd")
    pam = "".join(line for line in pam.splitlines(True) if "pam_systemd" not in line and "common-session" not in line)
    write("/etc/pam.d/sshd", pam + "account required pam_slurm_adopt.so action_adopt_failure=deny action_generic_failure=deny\n")
    root("sh", "-c", "test -e /etc/ssh/ssh_host_ed25519_key || ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key")
    ok("mkdir", "-p", "-m", "700", HOME + "/.ssh")
    ok("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", HOME + "/.ssh/id_ed25519")
    ok("cp", HOME + "/.ssh/id_ed25519.pub", HOME + "/.ssh/authorized_keys")
    os.makedirs("/run/sshd", exist_ok=True)
    root("systemctl", "start", "systemd-user-sessions")     # until then nobody but root may log in (pam_nologin)
    root("/usr/sbin/sshd", "-p", "2222", "-o", "UsePAM=yes", "-o", "ListenAddress=127.0.0.1", "-o", "PidFile=/run/sshd-test.pid",
         "-o", "HostKey=/etc/ssh/ssh_host_ed25519_key", "-o", "LogLevel=DEBUG1", "-E", LOGS + "/sshd.log")
    ssh = ("ssh", "-p", "2222", "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", "alice@127.0.0.1")
    try:
        refused = run(*ssh, "true")
        assert refused.code == 255 and "no active jobs" in refused.err, refused
        number = sbatch("--mem=50", "-n1", "-o", "/dev/null", "--wrap", "sleep 1000")
        wait_job(number, "RUNNING")
        into = ok(*ssh, "cat /proc/self/cgroup").out
        assert "/job_%d/step_extern" % number in into, into
        stays = spawn(*ssh, "sleep 1000")
        until("the login in the group", lambda: len(pids_in(group(number, "extern"))) > 1, 60)
        ok("scancel", str(number))
        stays.communicate(timeout=120)
        assert stays.returncode != 0, "the login has ended with its job"
        until("its group to go", lambda: not os.path.exists(group(number)), 60)
    finally:
        root("kill", read("/run/sshd-test.pid").strip())
        write("/etc/slurm/slurm.conf", conf)
        root("systemctl", "restart", "slurmctld", "slurmd")
    wait_idle()


@pytest.mark.row(28, 135)
def test_removed_and_purged():
    root("dpkg", "--remove", *sorted(installed()), timeout=120)
    for name in DAEMONS:
        assert unit(name, "ActiveState")["ActiveState"] in ("inactive", "failed"), name
    assert run("sh", "-c", "command -v sbatch slurmctld").code != 0
    assert os.path.exists("/etc/slurm/slurm.conf") and os.listdir("/var/lib/slurm/slurmctld"), "configuration and state are there until they are purged"
    root("dpkg", "--purge", *("muster-" + role for role in packages("now")), timeout=120)
    assert sorted(os.listdir("/etc/slurm")) == ["cgroup.conf", "slurm.conf", "slurmdbd.conf"], "what the administrator wrote stays"
    left = [f for p in ("/var/lib/slurm", "/var/spool/slurmd", "/etc/logrotate.d/muster-*", LOGS + "/slurm*.log*") for f in glob.glob(p)]
    assert not left, left
    assert not glob.glob(TREE + "/system.slice/slurmstepd.scope/job_*"), "no group of a job is left"
