"""Checklist row 28: the units that an installation has, under a real systemd."""
import os
import re

import pytest

from guest import (ETC, HOME, UNITS, group, group_of, job, journal, main_pid, ok, pids_in, read, root, run, sbatch, spawn, unit, until,
                   wait_idle, wait_job, write)

pytestmark = pytest.mark.row(28)
DAEMONS = UNITS[1:]


@pytest.fixture
def gate():
    """A file that jobs wait for."""
    path = HOME + "/gate"
    yield path
    if os.path.exists(path):
        os.unlink(path)


def waiting(gate):
    return "until [ -e %s ]; do sleep 0.2; done; echo through" % gate


def test_enabled_and_active():
    for name in UNITS:
        assert root("systemctl", "is-active", name).out == "active\n"
        assert root("systemctl", "is-enabled", name).out == "enabled\n"
    for name in DAEMONS:
        about = unit(name, "FragmentPath", "MainPID")
        assert about["FragmentPath"] == "/usr/local/lib/systemd/system/%s.service" % name
        assert os.readlink("/proc/%s/exe" % about["MainPID"]) == "/usr/local/sbin/" + name
        assert group_of(about["MainPID"]) == "system.slice/%s.service" % name


def test_a_job_runs_and_is_accounted():
    number = sbatch("-o", "first", "--wrap", "srun hostname")
    wait_job(number)
    assert read(HOME + "/first") == "vm\n"
    until(lambda: "its record: %s" % run("sacct", "-j", str(number)),
          lambda: "COMPLETED" in ok("sacct", "-nX", "-o", "state", "-j", str(number)).out, 60)


def test_a_restart_of_slurmd_leaves_jobs_alive(gate):
    """KillMode=process and the scope: batch job, its step, and an srun that waits in front."""
    number = sbatch("-o", "out", "--wrap", "srun bash -c '%s'" % waiting(gate))
    wait_job(number, "RUNNING")
    attached = spawn("srun", "-n1", "bash", "-c", waiting(gate))
    until("the steps of both jobs", lambda: pids_in(group(number, 0)) and pids_in(group(number + 1, 0)), 60)
    before = pids_in(group(number)) + pids_in(group(number + 1))
    for again in range(2):      # systemd must find slurmd's own group usable each time
        old = main_pid("slurmd")
        root("systemctl", "restart", "slurmd")
        assert main_pid("slurmd") not in (old, 0)
        assert "left-over process" not in journal("slurmd")
        assert set(before) <= set(pids_in(group(number)) + pids_in(group(number + 1)))
    root("systemctl", "stop", "slurmd")
    assert set(before) <= set(pids_in(group(number)) + pids_in(group(number + 1)))
    root("systemctl", "start", "slurmd")
    write(gate, "")
    wait_job(number)
    out, err = attached.communicate(timeout=120)
    assert (attached.returncode, out) == (0, "through\n"), err
    assert read(HOME + "/out") == "through\n"


def test_reload_and_reconfigure(gate):
    was = {name: main_pid(name) for name in DAEMONS}
    conf = read(ETC + "/slurm.conf")
    try:
        for limit, command in (("01:10:00", ["systemctl", "reload", "slurmctld", "slurmd", "slurmdbd"]), ("01:20:00", ["scontrol", "reconfigure"])):
            minutes = 60 + int(limit[3:5])
            write(ETC + "/slurm.conf", conf.replace("MaxTime=60", "MaxTime=%d" % minutes))
            root(*command)
            until(lambda: "MaxTime=%s: %s" % (limit, ok("scontrol", "show", "partition", "main").out),
                  lambda: "MaxTime=" + limit in ok("scontrol", "show", "partition", "main").out)
        assert {name: main_pid(name) for name in DAEMONS} == was
        wait_job(sbatch("--wrap", "true"))
    finally:
        write(ETC + "/slurm.conf", conf)
        root("scontrol", "reconfigure")


def test_slurmctld_comes_back_with_its_state(gate):
    """Stopped as for a reboot, and killed: systemd starts it again by itself."""
    running = sbatch("-o", "out", "-N1", "--exclusive", "--wrap", waiting(gate))
    wait_job(running, "RUNNING")
    until("its process", lambda: pids_in(group(running, "batch")))
    pending = sbatch("-N1", "--exclusive", "--comment=kept", "--wrap", "true")
    root("systemctl", "stop", "slurmctld")
    assert run("systemctl", "is-active", "slurmctld").out == "inactive\n"
    assert pids_in(group(running, "batch"))
    root("systemctl", "start", "slurmctld")
    assert job(running)["JobState"] == "RUNNING"
    assert (job(pending)["JobState"], job(pending)["Comment"]) == ("PENDING", "kept")
    old = main_pid("slurmctld")
    root("systemctl", "kill", "-s", "KILL", "slurmctld")
    until("another slurmctld", lambda: main_pid("slurmctld") not in (0, old) and unit("slurmctld", "ActiveState")["ActiveState"] == "active", 60)
    assert job(running)["JobState"] == "RUNNING"
    write(gate, "")
    wait_job(running)
    wait_job(pending)
    assert read(HOME + "/out") == "through\n"


@pytest.mark.parametrize("name, path, line, told", [
    ("slurmctld", "/slurm.conf", "NoSuchKey=1\n", "NoSuchKey"),
    ("slurmd", "/slurm.conf", "TaskPlugin=task/none,\nPartitionName=p Nodes=other\n", "other"),
    ("slurmdbd", "/slurmdbd.conf", "DebugLevel=loud\n", "DebugLevel: is no debug level"),
])
def test_a_start_that_fails_shows(name, path, line, told):
    path = ETC + path
    conf = read(path)
    try:
        with open(path, "a") as f:
            f.write(line)
        failed = run("systemctl", "restart", name, user="root")
        assert failed.code != 0 and "systemctl status %s" % name in failed.err, failed
        status = run("systemctl", "status", "--no-pager", name, user="root")
        assert status.code != 0 and re.search(r"Active: (failed|activating)", status.out), status
        assert re.search(r"%s: fatal: .*%s" % (name, told), journal(name), re.S), journal(name)[-2000:]
    finally:
        with open(path, "w") as f:
            f.write(conf)
        root("systemctl", "reset-failed", name)
        root("systemctl", "restart", name)
    wait_idle()


def test_stop_and_start_of_all():
    root("systemctl", "stop", *DAEMONS)
    for name in DAEMONS:
        assert run("systemctl", "is-active", name).out == "inactive\n"
        assert unit(name, "Result")["Result"] == "success"
    root("systemctl", "start", *DAEMONS)
    wait_idle()
    wait_job(sbatch("--wrap", "true"))
