"""Checklist rows 36, 60, 81-83, 98, 125, 134: GPUs from detection to CUDA_VISIBLE_DEVICES; binding of tasks to CPUs, memory and
devices; isolation by control groups.

The GPUs are those of a stand-in for NVIDIA's library (src/os/node/testdata/fake_nvml.c), the 16 CPUs those of an hwloc
description: no hardware is needed. Isolation is tested with the control groups of this machine, where they may be written.
"""
import os
import re
import subprocess

import pytest

from harness import REPO, until

pytestmark = pytest.mark.better_than_slurm


@pytest.fixture(scope="module")
def fake_nvml(tmp_path_factory):
    library = str(tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, REPO + "/src/os/node/testdata/fake_nvml.c"], check=True)
    return library


@pytest.fixture
def box(make_cluster, fake_nvml):
    """A node with 2 sockets x 4 cores x 2 threads and the GPUs of a machine of fake_nvml.c."""
    def make(machine, gres, gres_conf="AutoDetect=nvml\n", start=True, files=()):
        c = make_cluster(start=False, nodes=1, cpus=16, gpus=0, gres_conf=gres_conf, memory=1000, real_hardware=True,
                         node_line="Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 Gres=" + gres)
        c.env.update(MUSTER_NVML_LIBRARY=fake_nvml, MUSTER_FAKE_NVML=machine, MUSTER_DEVICE_ROOT=c.folder,
                     HWLOC_SYNTHETIC="pack:2 core:4 pu:2")
        for path, text in files:
            os.makedirs(os.path.dirname(c.folder + path), exist_ok=True)
            with open(c.folder + path, "w") as f:
                f.write(text)
        return c.start() if start else c
    return make


def node_record(c):
    return c.ok("scontrol", "show", "node", "n1").out


@pytest.mark.row(82, 134)
def test_eight_h100_from_detection_to_the_job(box):
    c = box("h100", "gpu:h100:8")
    record = node_record(c)
    assert "Gres=gpu:h100:8" in record and "State=IDLE" in record, record
    printed = c.ok("slurmd", "-G", "-N", "n1", "-f", c.conf_path)
    lines = (printed.out + printed.err).splitlines()
    assert len(lines) == 8, printed
    assert re.search(r"Gres Name=gpu Type=h100 Count=1 File=\S+/dev/nvidia7 Cores=0-3 Links=-1,17,17,17,17,17,17,17$", lines[0])
    assert "Gres=gpu:nvidia_h100_80gb_hbm3:8" in c.ok("slurmd", "-C").out
    out = c.ok("srun", "--gres=gpu:h100:2", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS $SLURM_GPUS_ON_NODE "
               "${ROCR_VISIBLE_DEVICES-none}").out
    assert out == "0,1 0,1 2 none\n"


@pytest.mark.row(39, 41, 60)
def test_gpus_go_to_tasks(box):
    c = box("h100", "gpu:h100:8")

    def shown(*args):
        return sorted(c.ok("srun", "-l", *args, "bash", "-c", "echo $CUDA_VISIBLE_DEVICES").lines)
    assert shown("-n4", "--gpus-per-task=1") == ["0: 0", "1: 1", "2: 2", "3: 3"]
    assert shown("-n2", "--gpus-per-task=2") == ["0: 0,1", "1: 2,3"]
    assert shown("-n2", "--gres=gpu:4", "--gpu-bind=map:3,1") == ["0: 3", "1: 1"]
    assert shown("-n2", "--gres=gpu:4", "--gpu-bind=mask_gpu:0x3,0xc") == ["0: 0,1", "1: 2,3"]
    assert shown("-n2", "--gres=gpu:2", "--gpu-bind=none") == ["0: 0,1", "1: 0,1"]
    result = c.ok("srun", "-n2", "--gres=gpu:2", "--gpu-bind=verbose,per_task:1", "true")
    assert "gpu-bind: usable_gres=0x1; bit_alloc=0x3; local_inx=2" in result.err, result


@pytest.mark.row(40, 82)
def test_gpus_near_the_cores(box):
    """Cores that were only found (AutoDetect) count when GPUs are chosen, and for --gpu-bind=closest."""
    c = box("h100", "gpu:h100:8", start=False)
    c.conf_lines = [line.replace("CR_CPU_Memory", "CR_Core_Memory") for line in c.conf_lines]
    c.write_lines()
    c.start()
    c.wait_job(c.sbatch("-c8", "--wrap", "sleep 600"), "RUNNING")      # all of socket 0, whose GPUs are 0-3
    for count, index in ((1, "4"), (2, "5-6")):
        job = c.sbatch("-c2", "--gres=gpu:%d" % count, "--wrap", "sleep 600")
        c.wait_job(job, "RUNNING")
        assert "GRES=gpu:h100:%d(IDX:%s)" % (count, index) in c.ok("scontrol", "show", "job", "-d", str(job)).out
    c.cancel_all()
    step = c.ok("srun", "-l", "-n2", "-c4", "--ntasks-per-socket=1", "--gres=gpu:8", "--gpu-bind=closest", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES")
    assert sorted(step.lines) == ["0: 0,1,2,3", "1: 4,5,6,7"], step


def test_clocks_of_gpus(box, tmp_path):
    """--gpu-freq and GpuFreqDef set the clocks of the step's GPUs; when it ends, or slurmd comes back, they are the highest."""
    c = box("h100", "gpu:h100:8", start=False)
    clocks = tmp_path / "clocks"
    c.env.update(MUSTER_FAKE_NVML_CLOCKS=str(clocks))
    c.start()

    def changes():
        lines = clocks.read_text().splitlines() if clocks.exists() else []
        clocks.write_text("")
        return lines
    c.ok("srun", "--gres=gpu:1", "true")
    assert changes() == []
    step = c.ok("srun", "--gres=gpu:2", "--gpu-freq=1100,verbose", "cat", str(clocks))
    assert step.lines == ["set 7 2619 1200", "set 6 2619 1200"]
    assert re.search(r"gpu-freq: \S+/dev/nvidia7: graphics 1200 MHz, memory 2619 MHz", step.err), step
    until("the clocks to be put back", lambda: "set 6 2619 1980" in clocks.read_text())
    assert changes() == ["set 7 2619 1200", "set 6 2619 1200", "set 7 2619 1980", "set 6 2619 1980"]
    assert "holds no GPU of its own" in c.ok("srun", "--gpu-freq=low", "true").err
    wrong = c.run("srun", "--gres=gpu:1", "--gpu-freq=fast", "true")
    assert wrong.code and "Invalid --gpu-freq argument: gpu:fast" in wrong.err, wrong
    assert changes() == []
    job = c.sbatch("--gres=gpu:1", "--gpu-freq=low,memory=low", "--wrap", "sleep 600")
    c.wait_job(job, "RUNNING")
    until("the clocks of the job", lambda: clocks.read_text() == "set 7 1593 345\n")
    c.slurmds["n1"].kill()
    c.slurmds["n1"].wait()
    c.start_slurmd("n1")
    c.cancel_all()
    until("the clocks to be put back", lambda: clocks.read_text() == "set 7 1593 345\nset 7 2619 1980\n")
    # a step that ends while slurmd is away
    changes()
    began, go, ended = tmp_path / "began", tmp_path / "go", tmp_path / "ended"
    c.sbatch("--gres=gpu:1", "--gpu-freq=low,memory=low", "--wrap", f"touch {began}; until test -e {go}; do sleep 0.1; done; touch {ended}")
    until("the script to begin", began.exists)
    assert clocks.read_text() == "set 7 1593 345\n"
    c.slurmds["n1"].kill()
    c.slurmds["n1"].wait()
    go.touch()
    until("the script to end", ended.exists)
    c.start_slurmd("n1")
    until("the clocks to be put back", lambda: clocks.read_text() == "set 7 1593 345\nset 7 2619 1980\n")


def test_uuids_by_flag(box):
    c = box("h100", "gpu:h100:8", "AutoDetect=nvml\nName=gpu Type=h100 Count=8 Flags=env_uuid\n")
    assert c.ok("srun", "--gres=gpu:1", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES").out == "GPU-00000007\n"


CAPS = "/proc/driver/nvidia/capabilities/gpu0/mig/"
MIG_FILES = [(CAPS + "gi1/access", "DeviceFileMinor: 12\n"), (CAPS + "gi1/ci0/access", "DeviceFileMinor: 13\n"),
             (CAPS + "gi2/access", "DeviceFileMinor: 21\n"), (CAPS + "gi2/ci0/access", "DeviceFileMinor: 22\n")]


@pytest.mark.row(36)
def test_mig_instances_are_types(box):
    c = box("mig", "gpu:a100_3g.20gb:1,gpu:a100_1c.3g.20gb:1,gpu:a100:1", files=MIG_FILES)
    assert "Gres=gpu:a100_3g.20gb:1,gpu:a100_1c.3g.20gb:1,gpu:a100:1" in node_record(c)
    show = ["bash", "-c", "echo $CUDA_VISIBLE_DEVICES"]
    assert c.ok("srun", "--gres=gpu:a100_3g.20gb:1", *show).out == "MIG-00000000-0000\n"
    assert c.ok("srun", "--gres=gpu:a100:1", *show).out == "2\n"


@pytest.mark.row(98)
def test_a_dead_card_and_both_counts(box):
    c = box("dead", "gpu:h100:4", start=False)
    c.start(wait=False)
    until(lambda: node_record(c), lambda: "INVAL" in node_record(c))
    assert "gres/gpu count reported lower than configured (3 < 4)" in node_record(c)
    printed = c.ok("slurmd", "-G", "-N", "n1", "-f", c.conf_path)
    assert "GPU 2: GPU is lost" in printed.err and "4 configured, 3 found" in printed.err, printed
    assert c.run("srun", "--immediate", "--gres=gpu:1", "true").code != 0


@pytest.mark.row(98)
def test_what_is_configured_and_there_is_kept(box):
    c = box("dead", "gpu:h100:3")
    assert c.ok("srun", "--gres=gpu:3", "bash", "-c", "echo $CUDA_VISIBLE_DEVICES").out == "0,1,2\n"


@pytest.mark.row(98)
def test_a_wrong_type_is_not_registered(box):
    c = box("h100", "gpu:a100:8", start=False)
    c.start(wait=False)
    until(lambda: node_record(c), lambda: "gres/gpu count reported lower than configured (0 < 8)" in node_record(c))


# ---- binding of this machine's own CPUs
@pytest.fixture
def bound(make_cluster):
    c = make_cluster(start=False, nodes=1, cpus=os.cpu_count(), gpus=0, gres_conf="", memory=1000, real_hardware=True)
    c.conf_lines = [line.replace("TaskPlugin=task/none", "TaskPlugin=task/affinity") for line in c.conf_lines]
    c.write_lines()
    return c.start()


ALLOWED = ["bash", "-c", "echo $(grep Cpus_allowed_list /proc/self/status | cut -f2) $SLURM_CPU_BIND_TYPE"]


def test_tasks_run_on_their_cpus(bound):
    if os.cpu_count() < 2:
        pytest.skip("one CPU: nothing to tell apart")
    result = bound.ok("srun", "-n1", "-c2", "--cpu-bind=verbose,threads", *ALLOWED)
    assert re.fullmatch(r"\d+[-,]\d+ mask_cpu:\n", result.out), result
    assert re.search(r"^cpu-bind=MASK - n1, task  0  0 \[\d+\]: mask 0x[0-9A-F]+ set$", result.err, re.M), result
    out = bound.ok("srun", "-n1", "-c2", "--cpu-bind=map_cpu:1", *ALLOWED).out
    assert out == "1 map_cpu:\n"
    out = bound.ok("srun", "-n1", "--cpu-bind=none", *ALLOWED).out
    assert out.split()[1] == "none", out


def test_a_mask_beyond_the_step_is_refused(bound):
    result = bound.run("srun", "-n1", "--cpu-bind=map_cpu:4000", "true")
    assert result.code != 0
    assert "Unable to satisfy cpu bind request" in result.err and "allocated CPUs are: 0x" in result.err, result


def test_memory_policies(bound):
    result = bound.run("srun", "-n1", "--mem-bind=verbose,local", "bash", "-c", "echo $SLURM_MEM_BIND; grep -c . /proc/self/numa_maps")
    if "NUMA memory policy" in result.err:
        pytest.skip("the kernel has no NUMA policies here: " + result.err)
    assert result.code == 0 and result.lines[0] == "verbose,local", result
    assert re.search(r"^mem-bind=LOC - n1, task  0  0 \[\d+\]: mask 0x1 set$", result.err, re.M), result
    result = bound.run("srun", "-n1", "--mem-bind=map_mem:9", "true")
    assert result.code != 0 and "NUMA node 9 does not exist; cannot bind local task 0 to it" in result.err, result


# ---- isolation
def cgroup_may(controller):
    folder = "/sys/fs/cgroup/%s/mt_probe_%d" % (controller, os.getpid())
    try:
        os.mkdir(folder)
        os.rmdir(folder)
        return True
    except OSError:
        return False


def isolated(make_cluster, cgroup_conf, gres_conf="", gpus=0, node_line=""):
    c = make_cluster(start=False, nodes=1, cpus=os.cpu_count(), gpus=gpus, gres_conf=gres_conf, node_line=node_line,
                     memory=1000, real_hardware=True)
    c.conf_lines = [line.replace("TaskPlugin=task/none", "TaskPlugin=task/affinity,task/cgroup")
                    .replace("proctrack/linuxproc", "proctrack/cgroup") for line in c.conf_lines]
    c.write_lines()
    with open(os.path.join(c.folder, "etc", "cgroup.conf"), "w") as f:
        f.write("CgroupPlugin=cgroup/v1\n" + cgroup_conf)
    return c


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root")


@pytest.mark.row(125)
@needs_root
@pytest.mark.skipif(not cgroup_may("devices"), reason="no devices controller (cgroup v1) that may be written")
def test_a_job_opens_its_own_devices_only(make_cluster):
    """nvidia-smi -L of the checklist: what it can open is what it lists. Devices that are no GPUs stay open to all."""
    c = isolated(make_cluster, "ConstrainDevices=yes\n", gres_conf="# below", node_line="Gres=gpu:2")
    files = [c.folder + "/dev/gpu0", c.folder + "/dev/gpu1"]
    try:
        for file, minor in zip(files, (8, 9)):      # what they are is of no matter: random and urandom
            os.mknod(file, 0o666 | 0o020000, os.makedev(1, minor))
            os.chmod(file, 0o666)
        open(files[0]).close()
    except OSError as e:
        pytest.skip("no device files can be made: %s" % e)
    with open(os.path.join(c.folder, "etc", "gres.conf"), "w") as f:
        f.write("Name=gpu File=%s/dev/gpu[0-1]\n" % c.folder)
    c.start()
    c.script("nvidia-smi", "#!/bin/bash\nfor i in 0 1; do head -c1 %s/dev/gpu$i >/dev/null 2>&1 && echo GPU $i:; done\ntrue\n" % c.folder)
    c.script("ibstat", "#!/bin/bash\nhead -c1 /dev/zero >/dev/null && echo CA type: MT4129\n")
    assert c.ok("srun", "--gres=gpu:1", "nvidia-smi", "-L").out == "GPU 0:\n"
    assert c.ok("srun", "--gres=gpu:2", "nvidia-smi", "-L").out == "GPU 0:\nGPU 1:\n"
    assert c.ok("srun", "-n1", "nvidia-smi", "-L").out == ""
    assert c.ok("srun", "-n1", "ibstat").out == "CA type: MT4129\n"
    # A task that is bound opens its own GPU alone, and counts from it; unless they are to share.
    show = ["bash", "-c", "echo $CUDA_VISIBLE_DEVICES $(nvidia-smi -L)"]
    bound = ["srun", "-l", "-n2", "--gres=gpu:2", "--gpu-bind=per_task:1"]
    assert sorted(c.ok(*bound, *show).lines) == ["0: 0 GPU 0:", "1: 0 GPU 1:"]
    assert sorted(c.ok(*bound, "--gres-flags=allow-task-sharing", *show).lines) == ["0: 0 GPU 0: GPU 1:", "1: 1 GPU 0: GPU 1:"]
    assert c.ok("srun", "-n1", "--gres=gpu:2", "--gpu-bind=map:1", *show).out == "0 GPU 1:\n"
    # Two jobs at once: the second sees the other one, by the same number.
    first = c.sbatch("--gres=gpu:1", "--wrap", "sleep 600")
    c.wait_job(first, "RUNNING")
    second = c.ok("srun", "--gres=gpu:1", "bash", "-c", "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES").lines
    assert second == ["GPU 1:", "0"], second


@needs_root
@pytest.mark.skipif(not cgroup_may("memory"), reason="no memory controller (cgroup v1) that may be written")
def test_too_much_memory_ends_the_job_as_out_of_memory(make_cluster):
    c = isolated(make_cluster, "ConstrainRAMSpace=yes\nMinRAMSpace=8\n").start()
    job = c.sbatch("--mem=40", "-o", "out", "--wrap", "tail /dev/zero")
    c.wait_job(job, "OUT_OF_MEMORY")
    assert re.search(r"slurmstepd: error: Detected 1 oom_kill event in StepId=%s\.batch\." % job, c.read("out"))
    result = c.run("srun", "-n1", "--mem=40", "tail", "/dev/zero")
    assert result.code != 0 and "Out Of Memory" in result.err, result


@needs_root
@pytest.mark.skipif(not cgroup_may("cpuset"), reason="no cpuset controller (cgroup v1) that may be written")
def test_cores_are_confined(make_cluster):
    if os.cpu_count() < 2:
        pytest.skip("one CPU: nothing to confine")
    c = isolated(make_cluster, "ConstrainCores=yes\n").start()
    ask = "grep Cpus_allowed_list /proc/self/status | cut -f2; taskset -pc 0-4095 $$ >/dev/null; " + \
          "grep Cpus_allowed_list /proc/self/status | cut -f2"
    lines = c.ok("srun", "-n1", "--cpu-bind=none", "bash", "-c", ask).lines
    assert len(lines) == 2 and lines[0] == lines[1] and re.fullmatch(r"\d+", lines[0]), lines
