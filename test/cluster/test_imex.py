"""SwitchType=switch/nvidia_imex: each job has an IMEX channel of its own on all of its nodes, whose device file is its user's alone while
the job is there. slurm.conf(5) SwitchParameters, srun(1) --network.

The driver is a stand-in: its number is that of /dev/null's, and each node has a folder of its own before /proc and /dev. Nobody opens
these files here but to see whether he may.
"""
import os
import re
import subprocess

import pytest

from harness import until


def makes_devices():
    return subprocess.run("f=$(mktemp -u) && mknod $f c 1 3 && rm $f", shell=True, capture_output=True).returncode == 0


pytestmark = [pytest.mark.better_than_slurm, pytest.mark.skipif(not makes_devices(), reason="device files are root's to make")]

BLOCKS = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n"


def root_of(c, node):
    return os.path.join(c.folder, "machine-" + node)


def start_slurmd(c, name):
    c.env["MUSTER_DEVICE_ROOT"] = root_of(c, name)
    c.start_slurmd(name)


def with_imex(c, channels, driver="  1 nvidia-caps-imex-channels\n"):
    c.conf_lines = [line for line in c.conf_lines if not line.startswith("SwitchType=")]
    c.conf_lines += ["SwitchType=switch/nvidia_imex", "SwitchParameters=imex_channel_count=%d" % channels]
    c.write_lines()
    for name in c.names:
        os.makedirs(root_of(c, name) + "/proc")
        with open(root_of(c, name) + "/proc/devices", "w") as f:
            f.write("Character devices:\n  4 tty\n" + driver)
    c.start_ctld()
    c.wait_ctld()
    for name in c.names:
        start_slurmd(c, name)
    c.wait_nodes("idle")
    return c


@pytest.fixture
def imex(make_cluster):
    def make(channels, nodes=2, driver="  1 nvidia-caps-imex-channels\n", **kw):
        return with_imex(make_cluster(start=False, nodes=nodes, cpus=4, gpus=0, **kw), channels, driver)
    return make


def files(c, node):
    folder = root_of(c, node) + "/dev/nvidia-caps-imex-channels"
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def channels_of(c, job):
    """Node → channel, as scontrol shows them."""
    out = {}
    for nodes, channel in re.findall(r"Nodes=(\S+) CPU_IDs=.*Channel=(\d+)", c.ok("scontrol", "show", "job", "-d", str(job)).out):
        for name in c.ok("scontrol", "show", "hostnames", nodes).lines:
            out[name] = int(channel)
    return out


def all_gone(c):
    c.cancel_all()
    until("no file of a channel to be left", lambda: not any(files(c, name) for name in c.names))


def test_a_job_has_one_on_all_of_its_nodes_while_it_is_there(imex):
    c = imex(8)
    job = c.sbatch("-N2", "-n2", "--wrap", "srun sleep 600")
    c.wait_job(job, "RUNNING")
    until("the step on both nodes", lambda: all(files(c, name) for name in c.names))
    held = channels_of(c, job)
    assert set(held) == {"n1", "n2"} and len(set(held.values())) == 1, held
    channel = held["n1"]
    for name in c.names:
        assert files(c, name) == ["channel%d" % channel]
        status = os.stat("%s/dev/nvidia-caps-imex-channels/channel%d" % (root_of(c, name), channel))
        assert status.st_mode & 0o7777 == 0o600 and (os.major(status.st_rdev), os.minor(status.st_rdev)) == (1, channel)
    other = c.sbatch("-N1", "--wrap", "sleep 600")
    c.wait_job(other, "RUNNING")
    assert set(channels_of(c, other).values()).isdisjoint(held.values())
    all_gone(c)


def test_a_job_waits_for_one(imex):
    c = imex(1)
    first = c.sbatch("--wrap", "sleep 600")
    c.wait_job(first, "RUNNING")
    second = c.sbatch("--wrap", "true")
    until("the reason", lambda: c.job(second).get("Reason") == "Resources")
    c.ok("scancel", str(first))
    c.wait_job(second, "COMPLETED")
    all_gone(c)


def test_each_segment_has_its_own(make_cluster):
    c = make_cluster(start=False, nodes=4, cpus=4, gpus=0, conf="TopologyPlugin=topology/block")
    with open(os.path.join(c.folder, "etc", "topology.conf"), "w") as f:
        f.write(BLOCKS)
    with_imex(c, 2)
    job = c.sbatch("-N4", "-n4", "--segment=2", "--network=unique-channel-per-segment", "--wrap", "srun sleep 600")
    c.wait_job(job, "RUNNING")
    held = channels_of(c, job)
    assert held["n1"] == held["n2"] and held["n3"] == held["n4"] and held["n1"] != held["n3"], held
    until("the step", lambda: all(files(c, name) == ["channel%d" % held[name]] for name in c.names))
    refused = c.run("sbatch", "-N4", "-n4", "--segment=1", "--network=unique-channel-per-segment", "--wrap", "true")
    assert refused.code != 0 and "4 segments that want a channel each, and there are 2" in refused.err, refused
    all_gone(c)


def test_words_of_network(imex):
    c = imex(4)
    for args in (["sbatch", "--network=job_vni", "--wrap", "true"], ["srun", "--network=no_vni", "true"]):
        refused = c.run(*args)
        assert refused.code != 0 and "is not known to switch/nvidia_imex, which takes unique-channel-per-segment" in refused.err, refused
    assert c.ok("srun", "--network=unique-channel-per-segment", "echo", "runs").out == "runs\n"
    for how in ([], ["--stepmgr"]):     # a step's, whoever manages the steps
        job = c.sbatch(*how, "-o", "steps-%j", "--wrap", "srun true && echo plain; srun --network=tcs=BULK_DATA true || echo refused")
        c.wait_job(job, "COMPLETED")
        out = c.read("steps-%d" % job)
        assert "plain" in out and "refused" in out and "tcs=BULK_DATA" in out, out


def test_a_heterogeneous_job_has_one(imex):
    c = imex(1)
    job = c.sbatch("-n1", "-w", "n1", ":", "-n1", "-w", "n2", "--wrap", "srun --het-group=0,1 sleep 600")
    c.wait_job(job, "RUNNING")
    until("the step", lambda: files(c, "n1") == files(c, "n2") == ["channel0"])
    all_gone(c)


def test_a_crash_gives_none_away_and_leaves_none_behind(imex):
    c = imex(8)
    job = c.sbatch("-N2", "-n2", "--wrap", "srun sleep 600")
    c.wait_job(job, "RUNNING")
    until("the step on both nodes", lambda: all(files(c, name) for name in c.names))
    held = channels_of(c, job)
    c.kill_ctld()
    for name in c.names:
        c.slurmds[name].kill()
        c.slurmds[name].wait()
    c.start_ctld()
    c.wait_ctld()
    for name in c.names:
        start_slurmd(c, name)
    until("the nodes", lambda: all("not_resp" not in s and "down" not in s for s in c.node_states().values()))
    assert channels_of(c, job) == held
    other = c.sbatch("--wrap", "sleep 600")
    c.wait_job(other, "RUNNING")
    assert set(channels_of(c, other).values()).isdisjoint(held.values())
    all_gone(c)


def test_a_node_without_the_driver_runs_jobs(imex):
    c = imex(4, nodes=1, driver="")
    assert c.ok("srun", "echo", "runs").out == "runs\n"
    assert files(c, "n1") == []
