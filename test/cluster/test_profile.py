"""Profiles (--profile): nodes record time series of steps, sh5util makes one HDF5 file of them and reads it. And clock rates (AveCPUFreq)."""
import csv
import io
import os
import re

import pytest

from accounting import Database
from harness import until
from test_gpu_energy import counter

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.better_than_slurm      # SQLite; files of nodes are no HDF5 (docs/adr/0022)

CONF = ("AcctGatherProfileType=acct_gather_profile/hdf5\nJobAcctGatherType=jobacct_gather/linux\n"
        "JobAcctGatherFrequency=task=1,energy=1\n")
COLUMNS = ["ElapsedTime", "EpochTime", "CPUFrequency", "CPUTime", "CPUUtilization", "RSS", "VMSize", "Pages", "ReadMB", "WriteMB"]

# Holds memory, burns CPU time and writes for as long as it is not told to go.
TASK = """\
import os, time
rank = int(os.environ.get("SLURM_PROCID", "0"))
held = bytearray((50 + 50 * rank) << 20)
for i in range(0, len(held), 4096):
    held[i] = 1
with open("/dev/null", "wb") as f:
    f.write(held[:4 << 20])
open("ready.%d" % rank, "w").close()
end = time.time() + 60
while not os.path.exists("go") and time.time() < end:
    began = time.process_time()
    while time.process_time() - began < 0.05:
        pass
    time.sleep(0.05)
"""


@pytest.fixture
def profiled(make_cluster):
    def make(conf=CONF, side="", before=lambda c: None, start=True, **kw):
        c = make_cluster(start=False, conf=conf, **{"nodes": 2, **kw})
        c.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
        c.write_lines()
        c.profiles = os.path.join(c.folder, "profiles")
        with open(os.path.join(c.folder, "etc", "acct_gather.conf"), "w") as f:
            f.write("ProfileHDF5Dir=%s\n%s" % (c.profiles, side))
        c.mine = os.path.join(c.profiles, c.user)
        before(c)
        c.file("task.py", TASK)
        return c.start() if start else c
    return make


def recorded(c, name, size):
    """Whether a node's file has come to so many bytes."""
    return os.path.getsize(os.path.join(c.mine, name)) >= size


def run_tasks(c, *options, batch=()):
    """A job of two tasks on two nodes, ended after a few samples of each."""
    job = c.sbatch(*options, "-N2", "-n2", "--wrap", "srun python3 task.py", *batch)
    until("tasks", lambda: all(os.path.exists(os.path.join(c.work, "ready.%d" % i)) for i in (0, 1)))
    until("some samples", lambda: all(recorded(c, "%d_0_n%d.samples" % (job, i), 350) for i in (1, 2)))
    c.file("go", "")
    c.wait_job(job)
    return job


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_job_is_recorded_merged_and_read(profiled):
    c = profiled()
    job = run_tasks(c, "--profile=task")
    assert sorted(os.listdir(c.mine)) == ["%d_%s.samples" % (job, name) for name in ("0_n1", "0_n2", "batch_n1")]
    assert os.stat(c.mine).st_mode & 0o777 == 0o700
    done = c.ok("sh5util", "-j", str(job), cwd=c.work)
    assert done.err == "sh5util: Merging node-step files into ./job_%d.h5\n" % job
    assert os.listdir(c.mine) == []
    with h5py.File(os.path.join(c.work, "job_%d.h5" % job), "r") as f:
        assert sorted(f["Steps"]) == ["0", "batch"] and f.attrs["Number of Steps"][0] == 2
        assert sorted(f["Steps/0/Nodes"]) == ["n1", "n2"] and f["Steps/0"].attrs["Number of Nodes"][0] == 2
        node = f["Steps/0/Nodes/n2"]
        assert node.attrs["Node Name"][0] == b"n2" and node.attrs["Node Index"][0] == 1 and node.attrs["Number of Tasks"][0] == 1
        table = node["Tasks/1"][:]
        assert list(table.dtype.names) == COLUMNS
        assert len(table) >= 3
        assert max(table["RSS"]) > 100 << 10 and max(table["VMSize"]) > max(table["RSS"])
        assert 0.2 < sum(table["CPUTime"]) < 60 and 0 < max(table["CPUUtilization"]) < 300
        assert 4 <= sum(table["WriteMB"]) < 5
        assert list(table["ElapsedTime"]) == sorted(table["ElapsedTime"])
        assert "Energy" not in node
        assert max(f["Steps/0/Nodes/n1/Tasks/0"]["RSS"]) < max(table["RSS"])

    c.ok("sh5util", "-j", str(job), "-E", "-s", "Task", "-l", "Node:TimeSeries", cwd=c.work)
    series = rows(c.read("extract_%d.csv" % job))
    assert list(series[0]) == ["Step", "Node", "Series"] + COLUMNS
    assert {(r["Step"], r["Node"], r["Series"]) for r in series} == {("0", "n1", "0"), ("0", "n2", "1"), ("batch", "n1", "0")}
    c.ok("sh5util", "-j", "%d.0" % job, "-E", "-s", "Task_1", "-o", "totals.csv", cwd=c.work)
    totals = rows(c.read("totals.csv"))
    assert len(totals) == 1 and int(totals[0]["Max_RSS"]) == max(int(r["RSS"]) for r in series if r["Series"] == "1")
    said = c.ok("sh5util", "-j", "%d.0" % job, "-I", "-s", "Task", "-d", "Write_Megabytes", cwd=c.work).out
    assert re.search(r"Step 0 Maximum accumulated WriteMB Value \([\d.]+\) occurred at Time=\d+", said)
    item = rows(c.read("Task_Write_Megabytes_%d.csv" % job))
    assert list(item[0])[-2:] == ["Task_0 n1", "Task_1 n2"] and item[0]["NumNodes"] == "2"
    assert c.ok("sh5util", "-j", str(job), "-L", "-s", "Task", cwd=c.work).lines == COLUMNS


def test_what_sh5util_says(profiled):
    c = profiled()
    c.ok("srun", "--profile=task", "sleep", "0.1")
    job = c.ok("srun", "--profile=task", "sh", "-c", "echo $SLURM_JOB_ID").out.strip()

    def refused(code, *words):
        result = c.run("sh5util", *words, cwd=c.work)
        assert result.code == code, result
        return result.err
    assert refused(255) == "sh5util: error: JobID must be specified.\n"
    assert "unrecognized option '--foo'" in refused(255, "--foo")
    assert 'Bad value for --series="Foo"' in refused(255, "-j", job, "-E", "-s", "Foo")
    assert 'Bad value for --level="Foo"' in refused(255, "-j", job, "-E", "-l", "Foo")
    assert "fatal: Must specify series option --series" in refused(1, "-j", job, "-I", "-d", "RSS")
    assert "fatal: Must specify data option --data" in refused(1, "-j", job, "-I", "-s", "Task")
    assert "Only one of --extract" in refused(255, "-j", job, "-I", "-E", "-s", "Task", "-d", "RSS")
    assert "Invalid job id: x" in refused(255, "-j", "x")
    assert "Steps of several jobs" in refused(255, "-j", "1,2")
    assert "Unrecognized option: more" in refused(255, "-j", job, "more")
    assert "Failed to open ./job_%s.h5" % job in refused(1, "-j", job, "-L", "-s", "Task")
    assert "job profile directory: No such file or directory" in refused(255, "-j", job, "-p", "/nonexistent")
    assert 'No such user --uid="nouser_"' in refused(255, "-j", job, "--user=nouser_")
    assert "No node-step files found for jobid 9999" in refused(0, "-j", "9999")
    assert not os.path.exists(os.path.join(c.work, "job_9999.h5"))
    assert "No such file or directory" in refused(1, "-j", job, "-o", "no/such.h5")
    assert "Merging" in refused(0, "-j", job, "-S") and os.listdir(c.mine)
    assert "Series Energy not found" in refused(237, "-j", job, "-E", "-s", "Energy")
    assert "Item Power not found" in refused(237, "-j", job, "-I", "-s", "Task", "-d", "Power")
    assert not os.path.exists(os.path.join(c.work, "extract_%s.csv" % job))
    assert c.ok("sh5util", "--help").out.startswith("Usage: sh5util") and c.ok("sh5util", "--usage").out
    with open(os.path.join(c.mine, "%s_7_n1.samples" % job), "w") as f:
        f.write("junk")
    assert "%s_7_n1.samples: it is no recording of a step's profile; it is kept" % job in refused(1, "-j", job)
    left = os.listdir(c.mine)
    assert len(left) == 2 and "%s_7_n1.samples" % job in left and "%s_0_n1.samples" % job not in left     # the other is the first srun's


def test_what_is_asked_for_and_not_gathered_is_said_once(profiled):
    c = profiled()
    said = c.ok("srun", "-n3", "--profile=task,network,lustre", "true").err
    assert said.count("--profile=task,network,lustre: use of networks is not gathered; use of file systems is not gathered") == 1
    assert "energy is not measured here" in c.ok("srun", "--profile=energy", "true").err
    assert c.ok("srun", "--profile=all", "true").err == ""
    assert "tasks are not sampled" in c.ok("srun", "--profile=task", "--acctg-freq=task=0", "true").err
    assert c.ok("srun", "true").err == "" and c.ok("srun", "--profile=none", "true").err == ""
    assert "invalid --profile=x option" in c.run("srun", "--profile=x", "true").err
    shown = c.ok("scontrol", "show", "config").out
    assert "\nAccount Gather Configuration:\nProfileHDF5Default      = None\nProfileHDF5Dir          = %s\n" % c.profiles in shown


def test_without_the_plugin_nothing_is_recorded(profiled):
    c = profiled("JobAcctGatherType=jobacct_gather/linux\n", nodes=1)
    assert "no profiles are recorded here (AcctGatherProfileType)" in c.ok("srun", "--profile=task", "true").err
    assert not os.path.exists(c.profiles)


def test_the_sites_default_and_a_requeue(profiled):
    c = profiled(side="ProfileHDF5Default=Task\n", nodes=1)
    job = c.sbatch("--requeue", "--wrap", "sleep 60")
    until("a recording", lambda: os.listdir(c.mine) == ["%d_batch_n1.samples" % job] and recorded(c, "%d_batch_n1.samples" % job, 100))
    c.ok("scontrol", "requeuehold", str(job))
    until("it to be held", lambda: c.job(job)["JobState"] == "PENDING")
    c.ok("srun", "--profile=none", "true")
    assert len(os.listdir(c.mine)) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="counters are for root")
def test_energy_over_time(profiled):
    c = profiled(CONF + "AcctGatherEnergyType=acct_gather_energy/rapl\n", nodes=1,
                 before=lambda c: (c.env.update(MUSTER_DEVICE_ROOT=c.folder), counter(c, 100)))
    job = c.sbatch("--profile=energy,task", "--wrap", "srun python3 task.py")
    until("its task", lambda: os.path.exists(os.path.join(c.work, "ready.0")))
    joules = [100]

    def enough():
        joules[0] += 20
        counter(c, joules[0])
        return recorded(c, "%d_0_n1.samples" % job, 500)
    until("samples", enough)
    c.file("go", "")
    c.wait_job(job)
    c.ok("sh5util", "-j", "%d.0" % job, cwd=c.work)
    with h5py.File(os.path.join(c.work, "job_%d.h5" % job), "r") as f:
        energy = f["Steps/0/Nodes/n1/Energy"][:]
        assert energy.dtype.names == ("ElapsedTime", "EpochTime", "Power", "CPUFrequency")
        assert len(energy) >= 2 and max(energy["Power"]) > 0


def test_the_clock_that_tasks_ran_at(profiled):
    c = profiled(nodes=1, start=False)
    database = c.database = Database(c)
    database.start()
    try:
        c.start()
        with open("/proc/cpuinfo") as f:
            known = "cpu MHz" in f.read() or os.path.exists("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
        job = c.sbatch("--wrap", "srun python3 task.py")
        clock = r"[\d.]+[MG]" if known else "0"
        until("sstat", lambda: re.fullmatch(clock, c.run("sstat", "-nP", "-j", "%d.0" % job, "-o", "avecpufreq").out.strip()))
        c.file("go", "")
        c.wait_job(job)
        until("sacct", lambda: re.fullmatch(clock, c.run("sacct", "-nP", "-j", "%d.0" % job, "-o", "avecpufreq").out.strip()))
    finally:
        database.stop()
