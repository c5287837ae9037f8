"""SlurmdParameters=gpu_checks: slurmd looks at its cards, and a broken one drains the node. The vendors' libraries are stand-ins, and the files
of AMD's and Intel's drivers are in a folder of the test."""
import os
import subprocess

import pytest

from harness import REPO, until
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


class Sysfs:
    """The kernel's files of cards, below the folder that slurmd puts before /sys and /dev."""
    def __init__(self, cluster, vendor, cards):
        self.root = cluster.folder
        self.lanes = 0
        for i in range(cards):
            self.put(i, "vendor", vendor)
            self.link(i)

    def put(self, card, name, text):
        path = "%s/sys/class/drm/renderD%d/device/%s" % (self.root, 128 + card, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w") as f:
            f.write(text + "\n")
        os.rename(path + ".new", path)

    def link(self, card):
        os.makedirs("%s/sys/bus/pci/devices/%s/drm/renderD%d" % (self.root, self.address(card), 128 + card))

    def address(self, card):
        return "0000:%02x:00.0" % (0xe0 - card)

    def log(self, *records):
        """The kernel's log: of each record its driver's words about a card."""
        os.makedirs(self.root + "/dev", exist_ok=True)
        with open(self.root + "/dev/kmsg.new", "w") as f:
            for number, (driver, card, text) in enumerate(records):
                f.write("3,%d,1,-;%s %s: %s\n" % (100 + number, driver, self.address(card), text))
        os.rename(self.root + "/dev/kmsg.new", self.root + "/dev/kmsg")


@pytest.fixture(scope="module")
def fake_rocm_smi(tmp_path_factory):
    library = str(tmp_path_factory.mktemp("rocm") / "librocm_smi64.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, REPO + "/src/os/node/testdata/fake_rocm_smi.c"], check=True)
    return library


@pytest.fixture
def amd(box, fake_rocm_smi):  # noqa: F811
    c = box("none", "gpu:mi300x:4", gres_conf="AutoDetect=rsmi\n", start=False)
    c.conf_lines += ["SlurmdParameters=gpu_checks", "HealthCheckInterval=1"]
    c.write_lines()
    c.env.update(MUSTER_ROCM_SMI_LIBRARY=fake_rocm_smi, MUSTER_FAKE_ROCM_SMI="mi300")
    sysfs = Sysfs(c, "0x1002", 4)
    sysfs.log(("amdgpu", 0, "amdgpu: SE 4, SH per SE 1, CU per SH 10, active_cu_number 304"))
    return c.start(), sysfs


def resume(c, sysfs):
    """Returns a node whose card is well again, after slurmd has looked: it reads the first card first, whose link tells that."""
    sysfs.lanes += 1
    sysfs.put(0, "max_link_width", "99")
    sysfs.put(0, "current_link_width", str(sysfs.lanes))
    until("a look", lambda: "has %d of 99 lanes" % sysfs.lanes in slurmd_log(c))
    c.ok("scontrol", "update", "nodename=n1", "state=resume")
    c.wait_nodes("idle")


def test_amds_cards(amd):
    c, sysfs = amd
    assert c.ok("srun", "--gres=gpu:1", "echo", "here").out == "here\n"
    assert reason(c, "n1") == ""
    sysfs.put(1, "ras/umc_err_count", "ue: 2\nce: 9")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD129: 2 uncorrectable ECC errors")
    sysfs.put(1, "ras/umc_err_count", "ue: 0\nce: 9")
    resume(c, sysfs)
    sysfs.put(3, "ras/gpu_vram_bad_pages", "0x00000003 : 0x00001000 : F")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD131: a page of its memory could not be retired")
    sysfs.put(3, "ras/gpu_vram_bad_pages", "0x00000003 : 0x00001000 : R")
    resume(c, sysfs)
    # The log: a reset that is begun is told, one that fails drains, and once only.
    begun = ("amdgpu", 2, "amdgpu: GPU reset begin!")
    sysfs.log(begun, begun)
    until("the warning", lambda: "gpu_checks: GPU renderD130: the kernel's log: it is reset" in slurmd_log(c))
    assert reason(c, "n1") == ""
    sysfs.log(begun, begun, ("amdgpu", 2, "amdgpu: GPU reset end with ret = -62"))
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD130: the kernel's log: a reset has failed")
    resume(c, sysfs)
    # A card that the kernel has removed.
    os.rename(sysfs.root + "/sys/class/drm/renderD128", sysfs.root + "/sys/class/drm/gone")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD128: the driver does not have it any more")
    assert c.node_states()["n1"] == "drained"


def test_intels_cards_without_any_library(box):  # noqa: F811
    c = box("none", "gpu:max:2", gres_conf="", start=False)
    c.conf_lines += ["SlurmdParameters=gpu_checks", "HealthCheckInterval=1"]
    c.write_lines()
    sysfs = Sysfs(c, "0x8086", 2)
    os.makedirs(c.folder + "/dev/dri")
    for card in (128, 129):
        open("%s/dev/dri/renderD%d" % (c.folder, card), "w").close()
    with open(os.path.join(os.path.dirname(c.conf_path), "gres.conf"), "w") as f:
        f.write("Name=gpu Type=max File=%s/dev/dri/renderD[128-129]\n" % c.folder)
    sysfs.log(("i915", 0, "[drm] Initialized i915"))
    c.start()
    counters = "drm/card1/gt/gt0/error_counter/"
    sysfs.put(1, counters + "correctable_eu_grf", "7")
    sysfs.put(1, "max_link_width", "16")
    sysfs.put(1, "current_link_width", "8")
    until("the warning", lambda: "gpu_checks: GPU renderD129: its PCI Express link has 8 of 16 lanes" in slurmd_log(c))
    assert reason(c, "n1") == ""
    sysfs.put(1, counters + "soc_fatal_hbm_ss0_0", "3")
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD129: 3 uncorrectable ECC errors")
    sysfs.put(1, counters + "soc_fatal_hbm_ss0_0", "0")
    resume(c, sysfs)
    sysfs.log(("i915", 0, "[drm] Initialized i915"),
              ("xe", 1, "[drm] *ERROR* CRITICAL: Xe has declared device %s as wedged." % sysfs.address(1)))
    until("the drain", lambda: reason(c, "n1") == "gpu_checks: GPU renderD129: the kernel's log: its driver has given it up (wedged)")
