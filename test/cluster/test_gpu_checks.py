"""SlurmdParameters=gpu_checks: slurmd looks at its cards, and a broken one drains the node. NVIDIA's library is a stand-in."""
import os

import pytest

from harness import until
from test_devices import box, fake_nvml, node_record  # noqa: F401: fixtures
from test_quarantine import USERS, fail, reason

pytestmark = pytest.mark.better_than_slurm


@pytest.fixture
def gpus(box):  # noqa: F811
    def make(conf="SlurmdParameters=gpu_checks\nHealthCheckInterval=1\n", health=""):
        c = box("h100", "gpu:h100:8", start=False)
        c.conf_lines += conf.splitlines()
        c.write_lines()
        c.env.update(MUSTER_FAKE_NVML_HEALTH=os.path.join(c.work, "health"))
        c.file("health", health)
        return c.start(wait=not health)
    return make


def slurmd_log(c):
    with open(os.path.join(c.folder, "log", "slurmd-n1.log")) as f:
        return f.read()


def says(c, text):
    """Replaces the file at once: a reading sees all of it."""
    os.rename(c.file("health.new", text), os.path.join(c.work, "health"))


def test_a_card_that_breaks_drains_the_node_and_its_jobs_go_on(gpus):
    c = gpus()
    job = c.sbatch("--gres=gpu:1", "-o", "/dev/null", "--wrap", "sleep 600")
    c.wait_job(job, "RUNNING")
    says(c, "throttle 2 64\necc 5 0 7\n")
    until("the warnings", lambda: "gpu_checks: GPU 5: 7 uncorrectable ECC errors in its life" in slurmd_log(c))
    assert "gpu_checks: GPU 2: its clocks are lowered: it is too hot" in slurmd_log(c)
    assert reason(c, "n1") == "" and c.node_states()["n1"] == "mixed"
    says(c, "ecc 3 4 4\n")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU 3: 4 uncorrectable ECC errors")
    assert "[root@" in node_record(c) and c.node_states()["n1"] == "draining"
    assert c.job(job)["JobState"] == "RUNNING"
    assert slurmd_log(c).count("error: gpu_checks: GPU 3: 4 uncorrectable ECC errors") == 1
    # Well again, it is the administrator who returns it.
    says(c, "")
    c.ok("scancel", str(job))
    c.wait_nodes("drained")
    c.ok("scontrol", "update", "nodename=n1", "state=resume")
    assert c.ok("srun", "--gres=gpu:1", "echo", "here").out == "here\n"


@pytest.mark.parametrize("health, text", [
    ("lost 6", "GPU 6: GPU is lost"),
    ("remap 1 1 0", "GPU 1: rows of its memory wait for a reset to be remapped"),
    ("remap 1 0 1", "GPU 1: a row of its memory could not be remapped"),
    ("retired 0", "GPU 0: pages of its memory wait for a reset to be retired"),
    ("down 7 3", "GPU 7: NVLink 3 has gone down"),
    ("gone", "GPUs: health of GPUs: Driver Not Loaded")])
def test_what_drains(gpus, health, text):
    c = gpus()
    says(c, health + "\n")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: " + text)
    assert c.node_states()["n1"] == "drained"


def test_a_driver_that_hangs_holds_nobody_up(gpus):
    c = gpus("SlurmdParameters=gpu_checks\nHealthCheckInterval=1\nHealthCheckTimeout=1\n")
    says(c, "hang\n")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPUs: the driver has not answered for 1 seconds")
    says(c, "")
    c.ok("scontrol", "update", "nodename=n1", "state=resume")
    assert c.ok("srun", "echo", "here").out == "here\n"


def test_it_looks_before_the_node_takes_jobs(gpus):
    c = gpus("SlurmdParameters=gpu_checks\n", health="ecc 0 1 1\n")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU 0: 1 uncorrectable ECC errors")
    assert c.node_states()["n1"] == "drained"


def test_a_reason_of_somebody_else_stays(gpus):
    c = gpus()
    c.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=mine")
    says(c, "ecc 0 1 1\n")
    until("the log", lambda: "gpu_checks: GPU 0: 1 uncorrectable ECC errors" in slurmd_log(c))
    assert reason(c, "n1") == "mine"


def test_without_the_word_nobody_looks(gpus):
    c = gpus("HealthCheckInterval=1\n", health="ecc 0 1 1\n")
    c.wait_nodes("idle")
    assert c.ok("srun", "--gres=gpu:1", "echo", "here").out == "here\n"
    assert "gpu_checks" not in slurmd_log(c)


@pytest.mark.skipif(os.geteuid() != 0, reason="jobs of several users")
def test_they_are_the_test_of_a_node_in_quarantine(gpus):
    c = gpus("SlurmdParameters=gpu_checks\nSlurmctldParameters=quarantine=1\n")
    assert len(USERS) == 2
    fail(c, "n1")
    until("its return", lambda: "node n1 returns from quarantine: its test passed" in open(c.folder + "/log/slurmctld.log").read())
    c.wait_nodes("idle")
