"""IMEX channels (SwitchType=switch/nvidia_imex): whoever opens one shares memory with all who may, so it is its job's user's, and nobody
says which one he gets."""
import os
import re
import subprocess

import pytest

import town as towns
from conftest import new_folder
from harness import remove, until

pytestmark = pytest.mark.skipif(subprocess.run("f=$(mktemp -u) && mknod $f c 1 3 && rm $f", shell=True, capture_output=True).returncode != 0,
                                reason="no device files can be made here")
CHANNELS = 4


class Site(towns.Town):
    def __init__(self, folder):
        super().__init__(folder, nodes=1, conf="SwitchParameters=imex_channel_count=%d" % CHANNELS)
        self.conf_lines = [line for line in self.conf_lines if not line.startswith("SwitchType=")] + ["SwitchType=switch/nvidia_imex"]
        self.write_lines()
        self.machine = folder + "/machine"
        self.devices = self.machine + "/dev/nvidia-caps-imex-channels"
        os.makedirs(self.machine + "/proc")
        with open(self.machine + "/proc/devices", "w") as f:
            f.write("Character devices:\n  1 nvidia-caps-imex-channels\n")
        self.env["MUSTER_DEVICE_ROOT"] = self.machine

    def channel(self, job):
        return int(re.search(r"Channel=(\d+)", self.ok("scontrol", "show", "job", "-d", str(job)).out).group(1))


@pytest.fixture(scope="module")
def site():
    one = Site(new_folder())
    try:
        yield one.start()
    finally:
        one.stop()
        remove(one.folder)


@pytest.fixture
def job(site):
    """A job of A that runs, and the file of its channel."""
    number = site.a.sbatch("-o", "/dev/null", "--wrap", "sleep 3600")
    site.wait_job(number, "RUNNING")
    path = "%s/channel%d" % (site.devices, site.channel(number))
    until("its file", lambda: os.path.exists(path))
    yield number, path
    site.leave_no_job()
    until("the file to go", lambda: not os.path.exists(path))


def test_another_opens_changes_and_removes_none(site, job):
    _, path = job
    assert os.stat(path).st_uid == site.a.uid and os.stat(path).st_mode & 0o7777 == 0o600
    assert site.a.run("test", "-r", path, "-a", "-w", path).code == 0
    tries = ["exec 3<%s" % path, "exec 3<>%s" % path, "chmod 666 %s" % path, "chown %d %s" % (site.b.uid, path), "rm -f %s" % path,
             "mv %s %s/mine" % (path, site.devices), "ln -s /etc/shadow %s/channel0" % site.devices, "touch %s/channel1" % site.devices,
             "mknod %s/mine c 1 3" % site.b.home]
    before = os.stat(path)
    for attempt in tries:
        for result in (site.b.run("bash", "-c", attempt), site.b.run("srun", "-n1", "bash", "-c", attempt)):
            assert result.code != 0, (attempt, result)
    after = os.stat(path)
    assert (after.st_uid, after.st_mode, after.st_ino) == (before.st_uid, before.st_mode, before.st_ino)


def test_nobody_names_a_channel(site, job):
    number, _ = job
    taken = site.channel(number)
    for word in ("channel=%d" % taken, "imex_channel=%d" % taken, "unique-channel-per-segment,channel=%d" % taken):
        assert not site.b.send("SubmitJob", {**site.b.request(network=word), "script": "#!/bin/sh\nsleep 60\n"})
    own = site.b.sbatch("-o", "/dev/null", "--wrap", "sleep 3600")
    site.wait_job(own, "RUNNING")
    assert site.channel(own) != taken
    # The credential of a step names it, as slurmctld signed it.
    made = site.b.send("CreateStep", {"job": own, "request.num_tasks": 1, "request.overlap": 1})
    assert made and "credential" in made.fields, made
    credential = made.fields["credential"]
    launch = {"node": "n1", "request.work_dir": "/", "request.num_tasks": 1, "request.argv.0": "/usr/bin/touch",
              "request.argv.1": site.b.home + "/got-in"}
    for at in range(40, len(credential) - 1, max(1, len(credential) // 25)):
        altered = credential[:at] + ("a" if credential[at] != "a" else "b") + credential[at + 1:]
        assert not site.b.send("LaunchStep", {**launch, "credential": altered}, socket=site.node_agent())
    assert not os.path.exists(site.b.home + "/got-in")


def test_what_is_remembered_is_roots(site, job):
    path = "%s/spool/n1/channels" % site.folder
    assert os.stat(path).st_mode & 0o777 == 0o600
    for who in (site.a, site.b):
        assert who.run("cat", path).code != 0


def test_a_channel_is_not_anothers_while_the_job_is_there(site, job):
    """More jobs than there are channels: no two that run have the same."""
    jobs = [site.b.sbatch("-o", "/dev/null", "--wrap", "sleep 3600") for _ in range(CHANNELS)]
    until("as many to run as there are channels", lambda: len(site.ok("squeue", "-h", "-t", "R", "-o", "%i").lines) == CHANNELS)
    running = [int(n) for n in site.ok("squeue", "-h", "-t", "R", "-o", "%i").lines]
    held = [site.channel(n) for n in running]
    assert sorted(held) == list(range(CHANNELS)), held
    waits = [n for n in jobs if n not in running]
    assert len(waits) == 1 and site.job(waits[0])["Reason"] == "Resources"
