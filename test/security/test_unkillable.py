"""Whatever a user does to his own step, it ends when it is cancelled, and its node stays in service."""
import os

import pytest

from harness import until
from steps import allocation, credential, launch_in_background

GRACE = 25      # seconds within which a cancelled job is over: KillWait is 2


def cancelled(town, job, user=None):
    """Cancels by root, and sees the job and everything of it gone and the node in service."""
    town.ok("scancel", str(job))
    town.wait_job(job, "CANCELLED|FAILED|COMPLETED", GRACE)
    until(lambda: "job %s to leave its node: %s\n%s" % (job, town.run("squeue", "-a").out, town.logs()),
          lambda: str(job) not in town.run("squeue", "-h", "-o", "%A").out.split(), GRACE)
    until(lambda: "the step daemons of job %s to end: %s" % (job, town.stepds(job)), lambda: not town.stepds(job), GRACE)
    assert town.drained() == []


def running(town, job):
    until(lambda: "job %s to start: %s" % (job, town.logs()), lambda: town.job(job)["JobState"] != "PENDING", 20)


FULL_SOCKET = """
import socket, sys, time
kept = []
kind, place = sys.argv[1:]
if kind == "unix":
    s = socket.socket(socket.AF_UNIX); s.bind(place); where = place
else:
    s = socket.socket(); s.bind(("127.0.0.1", 0)); where = s.getsockname()
    open(place, "w").write(str(where[1]))
s.listen(0)
while True:
    c = socket.socket(s.family); c.settimeout(0.3)
    try:
        c.connect(where); kept.append(c)
    except (OSError, socket.timeout):
        break
open(place + ".full", "w").close()
time.sleep(600)
"""


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_srun_whose_socket_takes_nobody(town, kind):
    place = os.path.join(town.b.home, "full-" + kind)
    listener = town.b.python(FULL_SOCKET, kind, place)
    try:
        until("a full backlog", lambda: os.path.exists(place + ".full"))
        job = allocation(town, town.b)
        step = credential(town.b, job)
        io = {"io.path": place} if kind == "unix" else {"io.host": "127.0.0.1", "io.port": open(place).read()}
        launcher = launch_in_background(town.b, step, io)      # the answer may come late or never: what counts is the end
        until("the step daemon", lambda: town.stepds(job))
        cancelled(town, job)
        launcher.kill()
        launcher.wait()
    finally:
        listener.kill()
        listener.wait()
    assert town.a.run("srun", "-w", "n1", "echo", "fine").out == "fine\n"


def test_sattach_whose_socket_takes_nobody(town):
    place = os.path.join(town.b.home, "full-attach")
    listener = town.b.python(FULL_SOCKET, "unix", place)
    srun = town.b.popen("srun", "-w", "n1", "sleep", "600")
    try:
        until("a full backlog", lambda: os.path.exists(place + ".full"))
        line = until("the step", lambda: town.b.run("squeue", "-h", "-s", "-o", "%i", "-u", town.b.name).out.split())
        job, step = line[0].split(".")
        until("the step daemon", lambda: town.stepds())
        asked = town.b.send("AskCredential", {"job": job, "has_step": 1, "step": step, "purpose": 1})
        assert asked, asked
        for _ in range(20):
            town.b.send("AttachTasks", {"node": "n1", "credential": asked.fields["credential"], "io.path": place, "io.key": "k"},
                        socket=town.node_agent())
        cancelled(town, job)
    finally:
        for process in (srun, listener):
            process.kill()
            process.wait()


STOPPER = """
import os, signal
while True:
    try:
        os.kill(-1, signal.SIGSTOP)
    except ProcessLookupError:
        pass
"""


def test_a_watcher_that_stops_every_process_of_its_user(town):
    """SIGSTOP between the change of user and the program's start, or any time later."""
    watcher = town.b.python(STOPPER)
    try:
        jobs = []
        for _ in range(12):     # by root: the user's own sbatch would be stopped, too
            jobs.append(int(town.ok("sbatch", "--parsable", "--uid=" + town.b.name, "--gid=%d" % town.b.gid, "-D", town.b.home,
                                    "-o", "/dev/null", "--wrap", "sleep 600").out))
        for job in jobs:
            running(town, job)
        for job in jobs:
            town.ok("scancel", str(job))
        for job in jobs:
            cancelled_already(town, job)
    finally:
        watcher.kill()
        watcher.wait()
    assert town.drained() == []


def cancelled_already(town, job):
    town.wait_job(job, "CANCELLED|FAILED|COMPLETED", GRACE)
    until(lambda: "job %s to leave its node\n%s" % (job, town.logs()), lambda: str(job) not in town.run("squeue", "-h", "-o", "%A").out.split(), GRACE)
    until(lambda: "the step daemons of job %s to end: %s" % (job, town.stepds(job)), lambda: not town.stepds(job), GRACE)


HOLD_FIFO = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
open(sys.argv[1] + ".held", "w").close()
time.sleep(600)
"""


@pytest.mark.parametrize("option", ["--output", "--error"])
def test_output_into_a_fifo_that_nobody_reads(town, option):
    fifo = os.path.join(town.b.home, "fifo" + option)
    os.mkfifo(fifo)
    os.chown(fifo, town.b.uid, town.b.gid)
    holder = town.b.python(HOLD_FIFO, fifo)
    try:
        until("the fifo to be held", lambda: os.path.exists(fifo + ".held"))
        other = "--error" if option == "--output" else "--output"
        job = town.b.sbatch(option, fifo, other, "/dev/null", "--wrap", "yes | tee /dev/stderr")
        running(town, job)
        until("a full pipe", lambda: full(fifo))
        cancelled(town, job)
    finally:
        holder.kill()
        holder.wait()


def full(fifo):
    """Nothing more can be written."""
    try:
        fd = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        os.write(fd, b"x" * 65536)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def test_the_notice_of_a_cancel_into_a_full_fifo(town):
    """The job itself writes nothing any more; what slurmstepd would say of its end finds the pipe full."""
    fifo = os.path.join(town.b.home, "fifo-notice")
    os.mkfifo(fifo)
    os.chown(fifo, town.b.uid, town.b.gid)
    holder = town.b.python(HOLD_FIFO, fifo)
    try:
        until("the fifo to be held", lambda: os.path.exists(fifo + ".held"))
        job = town.b.sbatch("--output", fifo, "--wrap", "head -c 200000 /dev/zero & exec sleep 600")
        until("a full pipe", lambda: full(fifo))
        town.ok("scontrol", "notify", str(job), "x" * 900)
        cancelled(town, job)
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.parametrize("option", ["--input", "--output"])
def test_a_fifo_without_another_end(town, option):
    fifo = os.path.join(town.b.home, "lonely" + option)
    os.mkfifo(fifo)
    os.chown(fifo, town.b.uid, town.b.gid)
    job = town.b.sbatch(option, fifo, "--wrap", "cat; sleep 600")
    running(town, job)
    cancelled(town, job)


class HungMount:
    """A file system of the user's whose server never answers, as fusermount would mount it for him."""

    def __init__(self, user, folder):
        import ctypes
        self.folder = folder
        os.makedirs(folder)
        os.chown(folder, user.uid, user.gid)
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other" % (self.fd, user.uid, user.gid)
        if self.libc.mount(b"hung", folder.encode(), b"fuse", 0, options.encode()) != 0:
            number = ctypes.get_errno()
            os.close(self.fd)
            raise OSError(number, os.strerror(number))

    def close(self):
        os.close(self.fd)       # the kernel ends what waits for an answer
        self.libc.umount2(self.folder.encode(), 2)


def test_a_work_folder_whose_server_does_not_answer(town):
    folder = os.path.join(town.folder, "hung")
    try:
        mount = HungMount(town.b, folder)
    except OSError as error:
        pytest.skip("no FUSE on this host: %s" % error)
    try:
        jobs = [town.b.sbatch("--chdir", "/tmp", "--output", folder + "/out", "--wrap", "sleep 600"),
                town.b.sbatch("--chdir", folder, "--output", "/dev/null", "--wrap", "sleep 600"),
                town.b.sbatch("--chdir", folder, "--wrap", "sleep 600"),
                town.b.sbatch("--input", folder + "/in", "--output", "/dev/null", "--wrap", "sleep 600")]
        for job in jobs:
            running(town, job)
        # Others are served meanwhile, on the same node.
        assert town.a.run("srun", "-w", "n1", "echo", "fine", timeout=15).out == "fine\n"
        for job in jobs:
            town.ok("scancel", str(job))
        for job in jobs:
            cancelled_already(town, job)
    finally:
        mount.close()
    assert town.drained() == []


def test_a_program_in_a_folder_whose_server_does_not_answer(town):
    folder = os.path.join(town.folder, "hung2")
    try:
        mount = HungMount(town.b, folder)
    except OSError as error:
        pytest.skip("no FUSE on this host: %s" % error)
    srun = town.b.popen("srun", "-D", "/tmp", folder + "/program")
    try:
        job = until("the job", lambda: town.b.run("squeue", "-h", "-o", "%A", "-u", town.b.name).out.split())[0]
        running(town, job)
        assert town.a.run("srun", "-w", "n1", "echo", "fine", timeout=15).out == "fine\n"
        cancelled(town, job)
    finally:
        mount.close()
        srun.kill()
        srun.wait()


def test_tasks_that_ignore_every_signal_and_fork(town):
    text = """#!/usr/bin/python3
import os, signal, time
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
end, first = time.time() + 600, os.getpid()
most = 40               # and each of these ten: the machine is for others, too, if the cancel comes late
while time.time() < end:
    if most > 0:
        most -= 1
        if os.fork() == 0:
            os.setsid(); most = 10 if os.getppid() == first else 0
    time.sleep(0.01)
"""
    job = town.b.sbatch("-o", "/dev/null", town.b.file("fork.py", text, 0o755), "--", "x")
    running(town, job)
    cancelled(town, job)
