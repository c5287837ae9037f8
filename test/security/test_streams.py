"""What flows between a step and srun is bounded on the node, whoever plays srun."""
import os
import select
import socket
import time

import pytest

import letters
from harness import until
from steps import allocation, credential, launch
from town import resident_mib

IO_DATA, ALL_TASKS = 231, 0xffffffff


def listen(user, name):
    """A socket that slurmstepd finds as srun's: the test plays srun as the user."""
    path = os.path.join(user.home, name)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    os.chown(path, user.uid, user.gid)
    s.listen(5)
    s.settimeout(20)
    return s, path


def the_stepd(town, job):
    return until(lambda: "the step daemon of job %d" % job, lambda: town.stepds(job))[0][0]


@pytest.mark.parametrize("size", [1 << 20, 1], ids=["large-chunks", "single-bytes"])
def test_input_that_no_task_reads(town, size):
    listener, path = listen(town.b, "srun-%d.sock" % size)
    job = allocation(town, town.b, tasks=16)
    step = credential(town.b, job, **{"request.num_tasks": 16})
    asked = launch(town.b, step, {"io.path": path, "io.key": "k"}, **{"request.num_tasks": 16})
    assert asked, asked
    stream, _ = listener.accept()
    stepd = the_stepd(town, job)
    before = resident_mib(stepd)
    data = letters.field(1, ALL_TASKS) + letters.field(4, b"x" * size)
    frame = letters.frame(letters.NOTICE, IO_DATA, data, 0) * max(1, 4096 // size)
    stream.setblocking(False)
    sent, most, left, quiet = 0, before, b"", 0
    while sent < 400 << 20 and quiet < 3:      # until it takes no more
        if not select.select([], [stream], [], 1)[1]:
            quiet += 1
        else:
            quiet, left = 0, left or frame
            try:
                n = stream.send(left)
            except (BrokenPipeError, ConnectionResetError):
                break       # so one is turned away
            sent, left = sent + n, left[n:]
        most = max(most, resident_mib(stepd))
    stream.close()
    listener.close()
    assert sent > len(frame), "not one message of input was taken"
    assert most - before < 64, "slurmstepd grew by %.0f MiB on %d MiB of input" % (most - before, sent >> 20)


def test_output_that_srun_does_not_read(town):
    listener, path = listen(town.b, "srun2.sock")
    job = allocation(town, town.b)
    asked = launch(town.b, credential(town.b, job), {"io.path": path, "io.key": "k"}, program=("/usr/bin/yes",))
    assert asked, asked
    stream, _ = listener.accept()
    stepd = the_stepd(town, job)
    # As long as it takes any more: the socket and the pipe are full, the task waits.
    last, most = -1, 0
    for _ in range(40):
        most = max(most, resident_mib(stepd))
        if most == last:
            break
        last = most
        time.sleep(0.25)
    waiting = stream.recv(1 << 20)
    stream.close()
    listener.close()
    assert b"y\ny\ny\n" in waiting, "the task wrote nothing"
    assert most < 80, "slurmstepd has %.0f MiB of output that nobody takes" % most


def test_many_readers_that_do_not_read(town):
    listener, path = listen(town.b, "srun3.sock")
    job = allocation(town, town.b)
    step = credential(town.b, job)
    asked = launch(town.b, step, {"io.path": path, "io.key": "k"}, program=("/usr/bin/yes",))
    assert asked, asked
    stream, _ = listener.accept()
    stepd = the_stepd(town, job)
    attach = town.b.send("AskCredential", {"job": job, "has_step": 1, "step": step.fields.get("step", 0), "purpose": 1})
    assert attach, attach
    readers, read = [], 0
    for _ in range(30):
        if town.b.send("AttachTasks", {"node": "n1", "credential": attach.fields["credential"], "io.path": path, "io.key": "k"},
                       socket=town.node_agent()):
            try:
                listener.settimeout(0.5)
                readers.append(listener.accept()[0])
            except socket.timeout:
                pass
    most = 0
    end = time.monotonic() + 3
    while time.monotonic() < end:
        if select.select([stream], [], [], 0.1)[0]:
            read += len(stream.recv(1 << 20))
        most = max(most, resident_mib(stepd))
    unread = [select.select([s], [], [], 0)[0] for s in readers]
    for s in [stream, listener, *readers]:
        s.close()
    assert read > 1 << 20 and len(readers) > 10 and all(unread), "read %d bytes beside %d readers, %d with output" % (
        read, len(readers), sum(map(bool, unread)))
    assert most < 160, "slurmstepd has %.0f MiB for readers that do not read" % most
