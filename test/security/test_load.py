"""What one user may take of a daemon's memory, connections, disk and log: a share, and the others are served meanwhile."""
import os
import resource
import socket
import subprocess
import time

import pytest

import conftest
import harness
import letters
from harness import until
from town import Town, resident_mib

FILES = (resource.RLIMIT_NOFILE, 20000)

# Of so many descriptors of a daemon users have a quarter, one alone half of that, and who has not proved who he is an eighth
# (docs: src/net/README.md).
DESCRIPTORS = 1024
OF_ONE_USER, UNPROVED = DESCRIPTORS // 8, DESCRIPTORS // 8


@pytest.fixture(scope="module")
def tight():
    """A town whose daemons may open few files, so that what holds connections meets the bounds."""
    one = Town(conftest.new_folder(), conf="SlurmctldDebug=verbose")     # strangers are no error of this site
    one.wrapper = ["prlimit", "--nofile=%d:%d" % (DESCRIPTORS, DESCRIPTORS)]
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def told(town, name, words, since):
    """What is refused again and again is one line of the log, and one more each minute."""
    lines = [line for line in town.log(name).splitlines() if words in line]
    assert 1 <= len(lines) <= 1 + (time.monotonic() - since) // 60, "%d lines: %s" % (len(lines), lines[:3])


def served(town, timeout=20):
    """A's commands work: one that asks, one that submits, one that runs something."""
    town.a.ok("squeue", timeout=timeout)
    job = int(town.a.ok("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true", timeout=timeout).out)
    town.wait_job(job)
    assert town.a.ok("srun", "echo", "fine", timeout=timeout).out == "fine\n"


def grown(before, after):
    return {name: after[name] - before.get(name, 0) for name in after}


IDLE = """
import os, select, socket, sys, time
kept, kind, place, count, payload = [], sys.argv[1], sys.argv[2], int(sys.argv[3]), bytes.fromhex(sys.argv[4])
refused = 0
while len(kept) < count and refused < 200:
    try:
        if kind == "unix":
            s = socket.socket(socket.AF_UNIX)
        else:
            s = socket.socket()
        s.settimeout(0.2)
        s.connect(place if kind == "unix" else ("127.0.0.1", int(place)))
        kept.append(s)
    except OSError:
        refused += 1
        continue
    try:
        s.send(payload)
    except OSError:
        pass        # turned away before that
made = len(kept)
while True:     # what the daemon ended, as long as it ends any: it has something to read, or its end
    poll = select.poll()
    for s in kept:
        poll.register(s, select.POLLIN)
    gone = {fd for fd, _ in poll.poll(1000)}
    if not gone:
        break
    kept = [s for s in kept if s.fileno() not in gone]
print(made, len(kept), flush=True)
sys.stdin.read()
"""


def hold_connections(town, kind, place, count, payload=b""):
    """The program that holds them, and how many of the `count` that it made are left to it."""
    import threading
    process = town.b.python(IDLE, kind, place, count, payload.hex(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, limits=[FILES])
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.readline()), daemon=True)
    reader.start()
    reader.join(60)
    assert said and said[0], "no connections were made"
    made, left = map(int, said[0].split())
    assert made == count, "only %d of %d connections were made" % (made, count)
    return process, left


def let_go(process):
    process.kill()
    process.communicate()


def test_thousands_of_idle_connections(tight):
    town, began = tight, time.monotonic()
    before = town.memory()
    for name, agent in (("slurmctld", town.agent), ("slurmd-n1", town.node_agent())):
        process, left = hold_connections(town, "unix", agent, 4000)
        try:
            assert OF_ONE_USER - 2 <= left <= OF_ONE_USER, left
            told(town, name, "uid %d is turned away" % town.b.uid, began)
            served(town)
            assert max(grown(before, town.memory()).values()) < 100, grown(before, town.memory())
        finally:
            let_go(process)
    served(town)


def test_thousands_of_half_frames(tight):
    """Each says that 1 MiB follows, and sends little of it."""
    town = tight
    before = town.memory()
    half = letters.frame(letters.REQUEST, 1, b"")[:15]
    half = letters.MOST_TEXTS.to_bytes(4, "little") + half[4:] + b"x" * 1000
    for agent in (town.agent, town.node_agent()):
        process, left = hold_connections(town, "unix", agent, 2000, half)
        try:
            assert OF_ONE_USER - 2 <= left <= OF_ONE_USER, left
            served(town)
            assert max(grown(before, town.memory()).values()) < 100, grown(before, town.memory())
        finally:
            let_go(process)


HALF_FULL = """
import os, select, socket, sys, time
place, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
head = (27 << 20).to_bytes(4, "little") + bytes([1]) + (1).to_bytes(8, "little") + (1).to_bytes(2, "little")
open_, sent = [], {}
for i in range(count):
    try:
        s = socket.socket(socket.AF_UNIX); s.settimeout(0.3); s.connect(place); s.setblocking(False)
        open_.append(s); sent[s] = 0
    except OSError:
        pass
data = b"x" * (1 << 20)
end = time.time() + float(sys.argv[4])
while time.time() < end and open_:
    ready = select.select([], open_, [], 0.2)[1]
    for s in ready:
        try:
            sent[s] += s.send(head if sent[s] == 0 else data)
        except BlockingIOError:
            continue
        except OSError:
            open_.remove(s)
            continue
        if sent[s] >= size:
            open_.remove(s)
print(sum(sent.values()) >> 20, flush=True)
sys.stdin.read()
"""


def test_frames_that_stay_nearly_whole(town):
    """40 connections, each with 26 of the 27 MiB of a frame whose end never comes: 1 GiB, if one let him."""
    before = town.memory()
    process = town.b.python(HALF_FULL, town.agent, 40, 26 << 20, 5, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        sent = int(process.stdout.readline())
        assert sent >= 60, "only %d MiB were taken" % sent
        assert grown(before, town.memory())["slurmctld"] < 300, grown(before, town.memory())
        served(town)
    finally:
        let_go(process)


# (message, fields down to a list of messages, more fields that let it be judged)
LISTS = {"jobs to cancel": (9, (1, 13)), "jobs to hold": (10, (2,)), "changes of a job": (11, (2,)), "changes of a partition": (13, (4,)),
         "limits of a submission": (1, (1, 105)), "users to look for": (30, (1, 13)), "limits of a step": (7, (2, 66))}


OF_A_JOB = (1, 7)       # these may have 24 MiB, all others letters.MOST_TEXTS


def test_eight_mebibytes_of_empty_messages(town):
    peak, said = peak_of_senders(town, 8 << 20, 3)
    assert peak < 200, "three messages of 8 MiB at a time cost slurmctld %.0f MiB" % peak
    for number, answers in said.items():
        assert any("longer than the limit" in a for a in answers) == (number not in OF_A_JOB), (number, answers)


def test_as_many_empty_messages_as_a_request_may_have(town):
    """Twenty of them at once, of a length that is read and decoded."""
    peak, said = peak_of_senders(town, letters.MOST_TEXTS, 20)
    assert peak < 200, "twenty messages of 1 MiB at a time cost slurmctld %.0f MiB" % peak
    for number, answers in said.items():
        assert not any("longer than the limit" in a for a in answers), (number, answers)
        assert any(answers), "nobody was answered about message %d: none was read whole" % number


def peak_of_senders(town, size, count):
    """MiB that slurmctld grew by meanwhile, and what the senders of each message were told."""
    before = town.memory()["slurmctld"]
    peak, said = 0, {}
    for number, path in LISTS.values():
        frame = letters.frame(letters.REQUEST, number, letters.empty_messages(path, size))
        name = frame_file(town, frame)
        senders = [town.b.python(FLOOD, town.agent, name, stdout=subprocess.PIPE, text=True, errors="replace") for _ in range(count)]
        while any(p.poll() is None for p in senders):
            peak = max(peak, town.memory()["slurmctld"] - before)
            time.sleep(0.005)
        said.setdefault(number, []).extend(p.communicate()[0] for p in senders)
    served(town)
    return peak, said


# Prints what came of the first answer.
FLOOD = """
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
try:
    s.sendall(open(sys.argv[2], "rb").read())
except OSError:
    pass
try:
    print(s.recv(4096).decode(errors="replace"))
except OSError:
    pass
"""


def frame_file(town, frame):
    path = os.path.join(town.b.home, "frame-%d" % (hash(frame) & 0xffffff))
    with open(path, "wb") as f:
        f.write(frame)
    os.chmod(path, 0o644)
    return path


def test_strangers_on_the_tcp_port(tight):
    """Who proves nothing: idle, with half a greeting, with HTTP, with noise. Daemons still get through."""
    town, began = tight, time.monotonic()
    for payload in (b"", b"\x16\x03\x01\x02", b"GET / HTTP/1.1\r\n", b"\0" + os.urandom(63)):
        process, left = hold_connections(town, "tcp", town.port, 1500, payload)
        try:
            assert left <= UNPROVED, left
            town.a.ok("squeue")
            node = town.slurmds["n2"]
            node.kill()
            node.wait()
            town.start_slurmd("n2")
            until(lambda: "n2 to come back beside strangers: %s" % town.log()[-600:], lambda: "n2" in registered(town), 30)
        finally:
            let_go(process)
    told(town, "slurmctld", "this one has the most connections open that have not proved who they are", began)
    served(town)


def registered(town):
    """Nodes whose slurmd is connected and answers."""
    return [n for n in town.names if town.run("srun", "-w", n, "-t1", "true", timeout=20).code == 0]


WAITERS = """
import socket, struct, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(4); s.connect(sys.argv[1])
number, payload = int(sys.argv[2]), bytes.fromhex(sys.argv[3])
try:
    for ident in range(1, 60001):
        s.sendall(struct.pack("<IBQH", len(payload) + 11, 1, ident, number) + payload)
except OSError:
    pass
print("sent", flush=True)
sys.stdin.read()
"""


def test_sixty_thousand_waiters(town):
    """WaitJob on a held job of one's own is never answered; squeue --watch costs for ever."""
    before = town.memory()
    job = town.b.sbatch("--hold", "--wrap", "true")
    for number, payload in ((4, letters.field(1, job)), (40, letters.field(1, letters.field(2, 0xffffffff)))):
        held = [town.b.python(WAITERS, town.agent, number, payload.hex(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for _ in range(3)]
        try:
            for process in held:
                process.stdout.readline()
            served(town)
            assert grown(before, town.memory())["slurmctld"] < 150, grown(before, town.memory())
        finally:
            for process in held:
                let_go(process)


def test_an_array_of_a_hundred_tasks_with_a_large_script(town):
    before = town.memory()
    script = town.b.file("large.sh", "#!/bin/sh\nexit 0\n" + ("#" + "x" * 99 + "\n") * 40000)
    job = town.b.sbatch("--array=0-99", "-o", "/dev/null", script)
    most = dict(before)

    def over():
        for name, mib in town.memory().items():
            most[name] = max(most[name], mib)
        return not town.run("squeue", "-h", "-j", str(job)).out
    until(lambda: "the array to end: %s %s" % (town.run("squeue").out, town.logs()), over, 120)
    growth = grown(before, most)
    assert growth["slurmctld"] < 100, growth
    # 16 tasks at a time on a node, each script once in slurmd and once on its way to the step's daemon.
    assert max(growth.values()) < 16 * 2 * 4 + 50, growth
    assert town.drained() == []


def test_a_full_disk_and_its_log(make_town, tmp_path):
    """A node reports, a user submits, and the state folder takes nothing: the log tells it, and does not fill as fast."""
    state = "/tmp/ms-small-%d" % os.getpid()
    os.makedirs(state)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=0755", "small", state], check=True)
    try:
        town = make_town(nodes=2, state_folder=state, conf="SlurmctldDebug=info")
        filler = os.open(state + "/filler", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(filler, b"x" * 4096):
                pass
        except OSError:
            os.close(filler)
        before = len(town.log().splitlines()), len(town.log("slurmd-n1").splitlines())
        end = time.monotonic() + 8
        refused = 0
        while time.monotonic() < end:
            refused += town.b.run("sbatch", "--hold", "--wrap", "x" * 3000).code != 0
        lines = len(town.log().splitlines()) - before[0], len(town.log("slurmd-n1").splitlines()) - before[1]
        assert refused > 0
        assert max(lines) < 120, "%d refused submissions made %s lines of slurmctld's and slurmd's log" % (refused, lines)
        town.must_run()
        os.unlink(state + "/filler")
        until(lambda: "submissions to be taken again: " + town.log()[-500:],
              lambda: town.a.run("sbatch", "-o", "/dev/null", "--wrap", "true").code == 0, 30)
        town.wait_nodes("idle|mixed|allocated")
        town.leave_no_job()
        town.stop()
    finally:
        subprocess.run(["umount", "-l", state])
        os.rmdir(state)


def test_one_user_does_not_fill_the_queue(make_town):
    town = make_town(nodes=1, conf="MaxJobCount=1000")
    for _ in range(12):
        town.b.run("sbatch", "--hold", "--array=0-99", "--wrap", "true")
        town.b.run("scancel", "-u", town.b.name)
    served(town)


def test_many_jobs_of_one_user_do_not_hide_the_others(town):
    """Thousands of B's that wait: A's next job starts as if there were none of them."""
    town.b.ok("bash", "-c", "for i in $(seq 30); do sbatch -Q --hold --array=0-999 --wrap true & done; wait", timeout=120)
    served(town)
    assert resident_mib(town.ctld.pid) < 300
