"""Isolation by control groups of version 2, on a machine whose tree belongs to systemd. Checklist row 125 among them."""
import os
import re
import signal

import pytest

from guest import (HOME, LOGS, SCOPE, TREE, group, group_of, in_state, main_pid, ok, pids_in, read, root, run, sbatch, unit, until, wait_idle,
                   wait_job, write)

LOOK = """#!/usr/bin/python3
# Which devices the caller may open: nvidia-smi -L of the checklist.
import os
for name in ("nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidiactl"):
    try:
        os.close(os.open("/dev/" + name, os.O_RDWR | os.O_NOCTTY))
        print(name)
    except PermissionError as e:
        assert e.errno == 1, e
"""
# Holds on to as many MiB as it is told to; with a second number, that many more once half of the first are on
# the swap disk: how slow it is must not decide.
HOLD = """#!/usr/bin/python3
import mmap, os, sys, time
PAGEOUT = 21
def hold(mib):
    pages = mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for _ in range(mib):
        pages.write(b"x" * (1 << 20))
    return pages
def swapped():
    # In MiB; 0 while pages are on their way to the disk.
    with open("/proc/self/cgroup") as f, open("/sys/fs/cgroup" + f.read()[3:].strip() + "/memory.swap.current") as g, \\
            open("/proc/meminfo") as h:
        writing = "Writeback:             0 kB" not in h.read()
        return 0 if writing else int(g.read()) >> 20
first = hold(int(sys.argv[1]))
end = time.monotonic() + 60
while sys.argv[2:] and swapped() < int(sys.argv[1]) // 2:
    assert time.monotonic() < end, "%d MiB are on the disk" % swapped()
    first.madvise(PAGEOUT)
    time.sleep(0.05)
second = [hold(int(text)) for text in sys.argv[2:]]
print("holding", flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module", autouse=True)
def programs():
    write("/usr/local/bin/look", LOOK, 0o755)
    write("/usr/local/bin/hold", HOLD, 0o755)


def running(*args):
    """A batch job that stays; its number and the pid of its script."""
    number = sbatch("-o", "out", *args, "--wrap", "exec sleep 1000")
    wait_job(number, "RUNNING")
    return number, until("its process", lambda: pids_in(group(number, "batch")))[0]


# ---- where things are
def test_steps_live_in_a_scope_of_their_own():
    number, pid = running()
    assert group_of(pid) == "%s/job_%d/step_batch" % (SCOPE, number)
    stepd = int(re.search(r"PPid:\t(\d+)", read("/proc/%d/status" % pid))[1])
    assert group_of(stepd) == SCOPE + "/system"
    assert group_of(main_pid("slurmd")) == "system.slice/slurmd.service"
    assert unit("slurmstepd.scope", "Delegate", "ActiveState", "Slice", "TasksMax") == {
        "Delegate": "yes", "ActiveState": "active", "Slice": "system.slice", "TasksMax": "infinity"}
    limit = read(group(number) + "/memory.max")
    root("systemctl", "daemon-reload")      # systemd looks through its tree, and leaves ours
    assert read(group(number) + "/memory.max") == limit and group_of(pid).endswith("step_batch")


# ---- devices
@pytest.mark.row(125)
def test_a_job_opens_its_own_devices_only():
    assert ok("look").lines == ["nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidiactl"]
    assert ok("srun", "-n1", "look").lines == ["nvidiactl"]
    first, _ = running("-n1", "--gres=gpu:1")
    assert "IDX:0" in ok("scontrol", "show", "job", "-d", str(first)).out
    number = sbatch("-n1", "--gres=gpu:2", "-o", "out", "--wrap", "look; echo --; srun --gres=gpu:1 look")
    wait_job(number)
    assert read(HOME + "/out").split() == ["nvidia1", "nvidia2", "nvidiactl", "--", "nvidia1", "nvidiactl"]
    assert ok("srun", "-n1", "--gres=gpu:3", "look").lines == ["nvidia1", "nvidia2", "nvidia3", "nvidiactl"]


@pytest.mark.row(125)
def test_an_interactive_step_is_confined_too():
    inside = ok("salloc", "-n1", "--gres=gpu:1", "srun", "--pty", "look").out
    assert inside.split() == ["nvidia0", "nvidiactl"]


# ---- cores
def test_a_job_stays_on_its_cores():
    escape = "taskset -pc 0-7 $$ >/dev/null; grep Cpus_allowed_list /proc/self/status"
    first, pid = running("-n1", "-c2")
    taken = read(group(first) + "/cpuset.cpus.effective").strip()
    lines = ok("srun", "-n1", "-c2", "--cpu-bind=none", "bash", "-c", escape).lines
    mine = lines[0].split("\t")[1]
    assert taken == "0-1" and mine == "2-3", (taken, mine)
    assert read("/proc/%d/status" % pid).count("Cpus_allowed_list:\t0-1\n") == 1


# ---- memory
def test_memory_limits_of_job_and_step():
    number = sbatch("--mem=200", "-o", "out", "--wrap", "srun --mem=100 sleep 1000")
    wait_job(number, "RUNNING")
    until("its step", lambda: os.path.isdir(group(number, 0)) and pids_in(group(number, 0)))
    mib = 1 << 20
    assert int(read(group(number) + "/memory.max")) == 200 * mib
    assert int(read(group(number) + "/memory.swap.max")) == 100 * mib
    assert int(read(group(number, 0) + "/memory.max")) == 100 * mib
    assert int(read(group(number, 0) + "/memory.swap.max")) == 50 * mib


def test_too_much_memory_ends_the_job_as_out_of_memory():
    number = sbatch("--mem=40", "-o", "out", "--wrap", "hold 100")
    in_state(number, "OUT_OF_MEMORY")
    assert re.search(r"slurmstepd: error: Detected 1 oom_kill event in StepId=%d\.batch\." % number, read(HOME + "/out"))
    result = run("srun", "-n1", "--mem=40", "hold", "100")
    assert result.code != 0 and "Out Of Memory" in result.err, result
    assert ok("srun", "-n1", "--mem=60", "hold", "20").out == "holding\n"


def test_swap_is_used_as_far_as_it_is_allowed():
    root("mkswap", "/dev/vda")
    root("swapon", "/dev/vda")
    try:
        assert ok("srun", "-n1", "--mem=100", "hold", "45", "70").out == "holding\n"
        result = run("srun", "-n1", "--mem=100", "hold", "45", "150")
        assert result.code != 0 and "Out Of Memory" in result.err, result
    finally:
        root("swapoff", "/dev/vda")


# ---- processes
def test_nothing_survives_a_job():
    """A daemon with a session and parents of its own, and an empty environment, is in the group all the same."""
    number = sbatch("-o", "out", "--wrap", "(env -i setsid setsid sleep 4321 </dev/null >/dev/null 2>&1 &); srun true")
    wait_job(number)
    until("the end of the stray", lambda: run("pgrep", "-f", "sleep 4321", user="root").code == 1)
    until("its groups to be gone", lambda: not os.path.exists(group(number)))


def test_a_killed_slurmstepd_leaves_nothing_behind():
    number = sbatch("-o", "out", "--no-requeue", "--wrap", "(env -i setsid setsid sleep 4322 </dev/null >/dev/null 2>&1 &); sleep 1000")
    wait_job(number, "RUNNING")
    pids = until("three processes", lambda: len(p := pids_in(group(number, "batch"))) >= 3 and p)
    script = min(pids)
    os.kill(int(re.search(r"PPid:\t(\d+)", read("/proc/%d/status" % script))[1]), signal.SIGKILL)
    until("the end of all", lambda: not [p for p in pids if os.path.exists("/proc/%d" % p)], 30)
    until("its groups to be gone", lambda: not os.path.exists(group(number)), 30)


def test_what_it_left_ends_although_slurmd_was_down_too():
    number = sbatch("-o", "out", "--no-requeue", "--wrap", "(env -i setsid setsid sleep 4323 </dev/null >/dev/null 2>&1 &); sleep 1000")
    wait_job(number, "RUNNING")
    pids = until("three processes", lambda: len(p := pids_in(group(number, "batch"))) >= 3 and p)
    stepd = int(re.search(r"PPid:\t(\d+)", read("/proc/%d/status" % min(pids)))[1])
    root("systemctl", "stop", "slurmd")
    os.kill(stepd, signal.SIGKILL)
    root("systemctl", "start", "slurmd")
    until("the end of all", lambda: not [p for p in pids if os.path.exists("/proc/%d" % p)], 60)
    until("its groups to be gone", lambda: not os.path.exists(group(number)), 30)


def test_a_scope_that_went_with_its_keeper_is_made_again():
    wait_idle()
    keeper, = until("nobody but the keeper", lambda: len(p := pids_in(TREE + "/" + SCOPE)) == 1 and p)
    os.kill(keeper, signal.SIGKILL)
    until("the end of the scope", lambda: not os.path.exists(TREE + "/" + SCOPE))
    number, pid = running()
    assert group_of(pid) == "%s/job_%d/step_batch" % (SCOPE, number)
    assert unit("slurmstepd.scope", "Delegate", "ActiveState") == {"Delegate": "yes", "ActiveState": "active"}
    assert "the scope slurmstepd.scope was gone; it is made again" in read(LOGS + "/slurmd.log")


def state(pid):
    return re.search(r"State:\t(\S)", read("/proc/%d/status" % pid))[1]


def test_suspend_stops_every_process_of_the_job():
    number = sbatch("-o", "out", "--wrap", "setsid sleep 1000 & exec sleep 1000")
    wait_job(number, "RUNNING")
    pids = until("both processes", lambda: len(p := pids_in(group(number))) == 2 and p)
    root("scontrol", "suspend", str(number))
    in_state(number, "SUSPENDED")
    until("all stopped", lambda: {state(p) for p in pids} == {"T"})
    root("scontrol", "resume", str(number))
    in_state(number, "RUNNING")
    until("all going on", lambda: {state(p) for p in pids} == {"S"})


def test_a_step_is_found_again_after_slurmd_was_killed():
    number, pid = running("--gres=gpu:1")
    old = main_pid("slurmd")
    root("systemctl", "kill", "--kill-whom=main", "-s", "KILL", "slurmd")
    until("another slurmd", lambda: main_pid("slurmd") not in (0, old) and unit("slurmd", "ActiveState")["ActiveState"] == "active", 60)
    assert group_of(pid) == "%s/job_%d/step_batch" % (SCOPE, number)
    ok("scancel", str(number))
    in_state(number, "CANCELLED")
    assert not os.path.exists("/proc/%d" % pid)
