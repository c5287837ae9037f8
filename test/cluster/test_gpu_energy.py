"""What steps use of GPUs (gres/gpuutil, gres/gpumem) and what nodes take of energy: NVIDIA's library is a stand-in, RAPL's counters are files."""
import os
import re
import time

import pytest

from accounting import Database
from harness import until
from test_devices import box, fake_nvml  # noqa: F401: fixtures

pytestmark = pytest.mark.better_than_slurm      # SQLite

GATHER = "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"
TRACK = "AccountingStorageTRES=gres/gpu\n"

# Each task tells the stand-in what it holds of the card with its number.
TASK = """\
import os, time
rank = int(os.environ.get("SLURM_PROCID", "0"))
with open("use", "a") as f:
    f.write("process %d %d %d %d\\n" % (rank, os.getpid(), (1 + rank) << 30, 60 - 20 * rank))
open("ready.%d" % rank, "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
"""


@pytest.fixture
def gpus(box):  # noqa: F811
    made = []

    def make(conf=GATHER + TRACK, database=False, use=""):
        c = box("h100", "gpu:h100:8", start=False)
        if "JobAcctGatherType=jobacct_gather/none" in c.conf_lines:
            c.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
        c.conf_lines += conf.splitlines()
        c.write_lines()
        c.use = os.path.join(c.work, "use")
        c.env.update(MUSTER_FAKE_NVML_USE=c.use)
        if database:
            c.database = Database(c)
            c.database.start()
            made.append(c.database)
        c.start()
        c.file("use", use)
        os.chmod(c.use, 0o666)
        c.file("task.py", TASK)
        return c
    yield make
    for database in made:
        database.stop()


def log_of(c, name):
    with open(os.path.join(c.folder, "log", name + ".log")) as f:
        return f.read()


def ready(c, ranks):
    until("the tasks to be there", lambda: all(os.path.exists(os.path.join(c.work, "ready.%d" % r)) for r in range(ranks)))


def amounts(text):
    return dict(part.split("=") for part in text.split(",") if part)


def live(c, step, column="tresusageintot"):
    result = c.run("sstat", "-n", "-P", "-j", step, "-o", column)
    return result.out.strip() if result.code == 0 else ""


def watchers(c):
    """The processes that look at the GPUs of this cluster's node."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                words = f.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if len(words) > 3 and words[1] == "gpu-watch" and words[3].startswith(c.folder):
            found.append(int(pid))
    return found


def test_gpus_of_two_tasks_while_they_run_and_afterwards(gpus):
    c = gpus(database=True)
    c.ok("srun", "true")
    assert watchers(c) == [], "no step has held a GPU"
    job = c.sbatch("-n2", "--gres=gpu:h100:2", "--wrap", "srun -n2 --gres=gpu:h100:2 python3 task.py")
    ready(c, 2)
    step = "%d.0" % job
    now = until("sstat to show both", lambda: (lambda a: a if a.get("gres/gpuutil") == "100" else None)(amounts(live(c, step))))
    assert now["gres/gpumem"] == "3G", now
    assert amounts(live(c, step, "tresusageinmax"))["gres/gpuutil"] == "60"
    assert amounts(live(c, step, "tresusageinmaxtask"))["gres/gpumem"] == "1"
    assert amounts(live(c, step, "tresusageinminnode"))["gres/gpumem"] == "n1"
    assert len(watchers(c)) == 1
    c.file("go", "")
    c.wait_job(job, "COMPLETED")

    def recorded(column):
        return amounts(c.ok("sacct", "-n", "-P", "-j", step, "-o", column).out.strip())
    done = until("sacct to have it", lambda: (lambda a: a if "gres/gpuutil" in a else None)(recorded("tresusageinave")))
    assert (done["gres/gpuutil"], done["gres/gpumem"]) == ("50", "1536M")
    assert recorded("tresusageinmin")["gres/gpumem"] == "1G"
    told = until("seff to tell of the GPUs", lambda: [l for l in c.ok("seff", str(job)).lines if l.startswith("GPU")])
    assert told == ["GPU Utilization: at its peak 50.00% of 2 GPUs", "GPU Memory Utilized: 3.00 GB"]
    until("the process that looked to end", lambda: not watchers(c))


def test_a_step_without_a_gpu_and_one_that_does_not_use_it(gpus):
    c = gpus()
    plain = c.sbatch("--wrap", "srun python3 task.py")
    ready(c, 1)
    until("sstat", lambda: "mem=" in live(c, "%d.0" % plain))
    assert "gres" not in live(c, "%d.0" % plain) and watchers(c) == []
    c.file("go", "")
    c.wait_job(plain, "COMPLETED")
    idle = c.sbatch("--gres=gpu:1", "--wrap", "srun sleep 600")
    c.wait_job(idle, "RUNNING")
    until("its idle GPU", lambda: amounts(live(c, "%d.0" % idle)).get("gres/gpuutil") == "0")
    c.cancel_all()


@pytest.mark.parametrize("conf", [GATHER + TRACK + "JobAcctGatherParams=DisableGPUAcct\n", GATHER])
def test_nothing_is_asked_where_nobody_wants_to_know(gpus, conf):
    c = gpus(conf)
    job = c.sbatch("--gres=gpu:1", "--wrap", "srun python3 task.py")
    ready(c, 1)
    until("sstat", lambda: "mem=" in live(c, "%d.0" % job))
    assert "gres" not in live(c, "%d.0" % job) and watchers(c) == []
    c.file("go", "")
    c.wait_job(job, "COMPLETED")


@pytest.mark.parametrize("driver", ["hang", "lie", "crowd"])
def test_a_driver_that_is_ill_harms_no_step(gpus, driver):
    c = gpus(use=driver + "\n")
    job = c.sbatch("--gres=gpu:1", "--wrap", "srun python3 task.py")
    ready(c, 1)
    shown = until("sstat", lambda: (lambda a: a if "mem" in a else None)(amounts(live(c, "%d.0" % job))))
    if driver == "hang":
        assert "gres/gpumem" not in shown
    if driver == "lie":
        until("what can be true", lambda: amounts(live(c, "%d.0" % job)).get("gres/gpumem") == "1G")
    c.file("go", "")
    c.wait_job(job, "COMPLETED")
    assert c.ok("srun", "--gres=gpu:1", "echo", "goes on").out == "goes on\n"
    if driver == "crowd":
        until("the log", lambda: "which is too many to look at" in log_of(c, "slurmd-n1"))
    until("the process that looked to end", lambda: not watchers(c), seconds=90)


# ---- energy

def counter(c, joules, zone="intel-rapl:0", name="package-0"):
    folder = os.path.join(c.folder, "sys/class/powercap", zone)
    os.makedirs(folder, exist_ok=True)
    for file, text in (("name", name), ("energy_uj", str(joules * 1000000)), ("max_energy_range_uj", "1000000000")):
        with open(os.path.join(folder, file + ".new"), "w") as f:
            f.write(text + "\n")
        os.rename(os.path.join(folder, file + ".new"), os.path.join(folder, file))


def watts(c):
    return re.search(r"CurrentWatts=(\S+) AveWatts=(\S+)", c.ok("scontrol", "show", "node", "n1").out).groups()


@pytest.fixture
def powered(make_cluster):
    made = []

    def make(conf, before=lambda c: None):
        c = make_cluster(start=False, nodes=1, conf=GATHER + conf)
        if "JobAcctGatherType=jobacct_gather/none" in c.conf_lines:
            c.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
        c.env.update(MUSTER_DEVICE_ROOT=c.folder)
        before(c)
        c.database = Database(c)
        c.database.start()
        made.append(c.database)
        c.start()
        c.file("task.py", TASK)
        return c
    yield make
    for database in made:
        database.stop()


RAPL = "AcctGatherEnergyType=acct_gather_energy/rapl\nAcctGatherNodeFreq=1\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="counters are for root")
def test_energy_of_a_step_over_a_wrap_of_the_counter(powered):
    since = time.strftime("%Y-%m-%dT%H:00:00")
    c = powered(RAPL, lambda c: (counter(c, 900), counter(c, 5, "intel-rapl:0:0", "core")))
    job = c.sbatch("--wrap", "srun python3 task.py; sleep 1.1")    # usage is of whole seconds
    ready(c, 1)
    until("sstat", lambda: live(c, "%d.0" % job))
    counter(c, 990)
    until("90 joules", lambda: live(c, "%d.0" % job, "consumedenergyraw") == "90")
    counter(c, 40)  # 1000 is the range
    until("140 joules", lambda: amounts(live(c, "%d.0" % job))["energy"] == "140")
    c.file("go", "")
    c.wait_job(job, "COMPLETED")

    def recorded():
        line = c.ok("sacct", "-n", "-P", "-j", "%d.0" % job, "-o", "consumedenergyraw,consumedenergy,tresusageoutmaxnode").out.strip()
        return line if not line.startswith("0") else None
    assert until("sacct to have it", recorded) == "140|140|energy=n1,fs/disk=n1"
    # The job's is what its batch step saw of the node; sreport has the same, once.
    whole = c.ok("sacct", "-n", "-P", "-j", str(job), "-o", "consumedenergyraw").lines[0]
    report = ["sreport", "-n", "-P", "-t", "seconds", "user", "top", "start=" + since, "end=now+2hours"]
    until(lambda: "its energy: %s" % c.run(*report), lambda: c.ok(*report, "format=energy").lines == [whole])
    assert int(whole) >= 140 and c.ok(*report, "-T", "energy", "format=tresname,used").lines == ["energy|" + whole]
    joules = [40]

    def more():
        joules[0] += 50
        counter(c, joules[0])
        now, average = watts(c)
        return now not in ("0", "n/s") and average != "0"
    until("the node's watts", more, seconds=40)


def test_a_node_without_counters_says_so(powered):
    c = powered(RAPL)
    until("n/s", lambda: watts(c) == ("n/s", "n/s"), seconds=40)
    assert "no energy counter of a processor" in log_of(c, "slurmd-n1")
    assert c.ok("srun", "echo", "goes on").out == "goes on\n"


def test_energy_that_is_not_sampled_is_zero(powered):
    c = powered("")
    assert watts(c) == ("0", "0")


def test_energy_of_gpus(gpus):
    c = gpus(GATHER + "AcctGatherEnergyType=acct_gather_energy/gpu\nAcctGatherNodeFreq=1\n", use="card 0 250000 1000000\n")
    assert len(until("the process that looks", lambda: watchers(c))) == 1
    samples = os.path.join(c.folder, "spool", "n1", "gpu_samples")
    until("the first sample of the card", lambda: "card 0 250000 1000000\n" in open(samples).read())
    job = c.sbatch("--wrap", "srun python3 task.py")
    ready(c, 1)
    until("sstat", lambda: live(c, "%d.0" % job))
    c.file("use", "card 0 250000 1500000\n")
    until("500 joules", lambda: live(c, "%d.0" % job, "consumedenergyraw") == "500")
    c.file("go", "")
    c.wait_job(job, "COMPLETED")


def test_sources_of_energy_that_are_not_there_are_told(powered):
    c = powered("AcctGatherEnergyType=acct_gather_energy/ipmi\n")
    assert "acct_gather_energy/ipmi needs FreeIPMI" in log_of(c, "slurmctld")
    assert watts(c) == ("0", "0")
