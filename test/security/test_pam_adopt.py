"""pam_slurm_adopt: who has a job on a node gets in, and is in that job; nobody else is, and nobody puts anything into another's job.

Logins go through the PAM of this host, by a program that does what sshd does: it asks as root, and what it starts as the user descends
from the process that asked.
"""
import os
import signal
import subprocess
import sys

import pytest

import harness
import town as towns
from conftest import new_folder
from harness import until

sys.path.insert(0, os.path.join(harness.REPO, "test", "cluster"))
from test_devices import cgroup_may      # noqa: E402

MODULE = os.path.join(harness.prefix(), "lib", "security", "pam_slurm_adopt.so")
SUCCESS, DENIED, UNKNOWN = 0, 6, 10
REFUSED = "Access denied by pam_slurm_adopt: "
STRICT = "action_adopt_failure=deny action_generic_failure=deny"

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="not root"),
              pytest.mark.skipif(not os.path.exists(MODULE), reason="pam_slurm_adopt.so was not built (libpam0g-dev)"),
              pytest.mark.skipif(not cgroup_may("freezer"), reason="no freezer controller (cgroup v1) that may be written")]

# login SERVICE USER [PROGRAM…]: what PAM says, and then the program as that user.
LOGIN = """
import ctypes, os, pwd, sys
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_void_p, cast, sizeof
class Message(Structure): _fields_ = [("style", c_int), ("text", c_char_p)]
class Response(Structure): _fields_ = [("text", c_void_p), ("code", c_int)]
TALK = CFUNCTYPE(c_int, c_int, POINTER(POINTER(Message)), POINTER(c_void_p), c_void_p)
class Conversation(Structure): _fields_ = [("talk", TALK), ("data", c_void_p)]
pam, libc = ctypes.CDLL("libpam.so.0"), ctypes.CDLL(None)
libc.calloc.restype, libc.calloc.argtypes = c_void_p, [c_size_t, c_size_t]
@TALK
def talk(count, messages, responses, data):
    for i in range(count):
        print("said:", messages[i].contents.text.decode(), flush=True)
    responses[0] = libc.calloc(count, sizeof(Response))
    return 0
service, user, program = sys.argv[1], sys.argv[2], sys.argv[3:]
handle, conversation = c_void_p(), Conversation(talk, None)
pam.pam_acct_mgmt.argtypes = [c_void_p, c_int]
pam.pam_end.argtypes = [c_void_p, c_int]
assert pam.pam_start(service.encode(), user.encode(), byref(conversation), byref(handle)) == 0
def opened():  # asked without /proc, which may be the job's afterwards
    out = []
    for fd in range(256):
        try: os.fstat(fd)
        except OSError: continue
        out.append(fd)
    return out
before = opened()
code = pam.pam_acct_mgmt(handle, 0)
assert opened() == before, "a descriptor was left open"
pam.pam_end(handle, code)
print("code:", code, flush=True)
if code == 0 and program:
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.execv(program[0], program)
"""


class Site(towns.Town):
    def __init__(self, folder):
        super().__init__(folder, nodes=1, cpus=os.cpu_count(), conf="PrologFlags=Contain")
        self.conf_lines = [line.replace("proctrack/linuxproc", "proctrack/cgroup") for line in self.conf_lines]
        self.write_lines()
        with open(os.path.join(folder, "etc", "cgroup.conf"), "w") as f:
            f.write("CgroupPlugin=cgroup/v1\n")
        self.program = os.path.join(folder, "login.py")
        with open(self.program, "w") as f:
            f.write(LOGIN)
        self.services = []

    def service(self, options=STRICT, where="", then=""):
        """A service of PAM that has the module as this site would."""
        name = "muster-test-%d-%d" % (os.getpid(), len(self.services))
        where = where or "service=* nodename=n1 socket=" + self.node_agent()
        path = "/etc/pam.d/" + name
        self.services.append(path)
        with open(path, "w") as f:
            f.write("auth required pam_permit.so\naccount required %s %s %s\n%s" % (MODULE, where, options, then))
        return name

    def login(self, user, service, *program):
        return subprocess.Popen(["/usr/bin/python3", self.program, service, user, *program], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def verdict(self, user, service):
        """The code, and what the user was told."""
        out, _ = self.login(user, service).communicate(timeout=30 * harness.SLOW)
        lines = out.splitlines()
        assert lines and lines[-1].startswith("code: "), out
        return int(lines[-1].split()[1]), "\n".join(lines[:-1])

    def enter(self, user, service):
        """A login that stays; its process, once it runs as the user."""
        process = self.login(user, service, "/bin/sleep", "600")
        said = process.stdout.readline()
        assert said == "code: 0\n", said + process.stdout.read()
        until("the user's process", lambda: os.readlink("/proc/%d/exe" % process.pid).endswith("sleep"))
        return process

    def contained(self, user):
        job = user.sbatch("-o", "/dev/null", "--mem=10", "--wrap", "sleep 600")
        until("its external step", lambda: "extern" in self.run("scontrol", "listpids", "%d.extern" % job).out)
        return job

    def nothing_runs(self):
        self.run("scancel", "-u", self.a.name)
        self.run("scancel", "-u", self.b.name)
        self.wait_nodes("idle")


def job_of(pid):
    """Of the control group that the process is in."""
    with open("/proc/%d/cgroup" % pid) as f:
        groups = [line.split(":")[2] for line in f.read().splitlines() if ":freezer:" in line]
    return groups[0][groups[0].index("/job_"):] if "/job_" in groups[0] else None


@pytest.fixture(scope="module")
def site():
    one = Site(new_folder())
    try:
        yield one.start()
    finally:
        for path in one.services:
            os.unlink(path)
        one.stop()
        harness.remove(one.folder)


@pytest.fixture
def empty(site):
    site.nothing_runs()
    return site


def test_who_has_no_job_is_refused_and_root_never(empty):
    service = empty.service()
    assert empty.verdict(empty.a.name, service) == (DENIED, "said: %syou have no active jobs on this node" % REFUSED)
    assert empty.verdict("root", service) == (SUCCESS, "")
    assert empty.verdict("no-such-user", service)[0] == UNKNOWN
    ignored = empty.service("action_no_jobs=ignore", then="account required pam_permit.so\n")
    assert empty.verdict(empty.a.name, ignored) == (SUCCESS, "")


def test_a_login_is_in_the_job_and_ends_with_it(empty):
    service = empty.service()
    job = empty.contained(empty.a)
    process = empty.enter(empty.a.name, service)
    try:
        assert job_of(process.pid) == "/job_%d/step_extern/task_0" % job
        listed = empty.ok("scontrol", "listpids", "%d.extern" % job).out
        assert "\n%d " % process.pid in listed, listed
        # Somebody else's job lets nobody in, and his login is in nobody's job.
        assert empty.verdict(empty.b.name, service)[0] == DENIED
        # slurmd is killed and started again: it is still the job's.
        empty.slurmds["n1"].kill()
        empty.slurmds["n1"].wait()
        empty.start_slurmd("n1")
        empty.wait_nodes("allocated|mixed")
        again = empty.enter(empty.a.name, service)
        assert job_of(again.pid) == job_of(process.pid)
        empty.ok("scancel", str(job))
        for login in (process, again):
            assert login.wait(30) in (-signal.SIGTERM, -signal.SIGKILL)
        until("no job to get in by", lambda: empty.verdict(empty.a.name, service)[0] == DENIED)
        empty.wait_nodes("idle")
    finally:
        if process.poll() is None:
            process.kill()


def test_one_that_minds_no_signal_ends_with_it_too(empty):
    job = empty.contained(empty.a)
    process = empty.login(empty.a.name, empty.service(), "/bin/bash", "-c", "trap '' TERM HUP; setsid sleep 601 & echo $!; wait")
    try:
        assert process.stdout.readline() == "code: 0\n"
        away = int(process.stdout.readline())
        assert job_of(away) == job_of(process.pid)
        empty.ok("scancel", str(job))
        assert process.wait(30) == -signal.SIGKILL
        until("what left its session", lambda: not os.path.exists("/proc/%d" % away))
        empty.wait_nodes("idle")
    finally:
        if process.poll() is None:
            process.kill()


def test_of_several_jobs_the_newest_or_none(empty):
    first, second = empty.contained(empty.a), empty.contained(empty.a)
    process = empty.enter(empty.a.name, empty.service())
    assert job_of(process.pid).startswith("/job_%d/" % second)
    process.kill()
    process.wait()
    code, said = empty.verdict(empty.a.name, empty.service(STRICT + " action_unknown=deny"))
    assert code == DENIED and "several jobs" in said
    assert empty.verdict(empty.a.name, empty.service(STRICT + " action_unknown=allow")) == (SUCCESS, "")
    empty.ok("scancel", str(second))
    empty.wait_job(second, "CANCELLED")
    process = empty.enter(empty.a.name, empty.service(STRICT + " action_unknown=deny"))
    assert job_of(process.pid).startswith("/job_%d/" % first)
    process.kill()
    process.wait()


def test_where_nobody_can_be_asked_the_options_say_what_is_done(empty):
    nowhere = "service=* socket=/nonexistent/slurmd.sock"
    then = "account required pam_permit.so\n"
    a = empty.a.name
    assert empty.verdict(a, empty.service("", nowhere, then)) == (SUCCESS, "")         # ignore is the default
    assert empty.verdict(a, empty.service("action_generic_failure=allow", nowhere)) == (SUCCESS, "")
    for options in (STRICT, "action_generic_failure=denied"):
        assert empty.verdict(a, empty.service(options, nowhere, then)) == (DENIED, "said: %sthe node's slurmd cannot be asked" % REFUSED)
    assert empty.verdict("root", empty.service(STRICT, nowhere)) == (SUCCESS, "")
    # It is made for sshd: another service has to be named.
    assert empty.verdict(a, empty.service(STRICT, "socket=/nonexistent/slurmd.sock", then)) == (SUCCESS, "")


def test_a_socket_of_somebody_else_is_not_believed(empty):
    """A user who makes a socket where one is looked for opens no door."""
    path = os.path.join(empty.b.home, "slurmd.sock")
    server = empty.b.python("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen(9)\nprint(1)\n"
                            "while True:\n  c, _ = s.accept()\n  c.recv(4096)\n"
                            "  c.sendall(bytes([11 + 2, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 220, 0, 16, 7]))\n", path, stdout=subprocess.PIPE)
    try:
        server.stdout.readline()
        code, said = empty.verdict(empty.b.name, empty.service(STRICT, "service=* socket=" + path))
        assert code == DENIED and "slurmd cannot be asked" in said
    finally:
        server.kill()
        server.wait()


def test_nobody_but_root_has_a_process_adopted(empty):
    """Neither into another's job nor into one of his own, where limits and the end of a login would be for him to choose."""
    job = empty.contained(empty.a)
    for user in (empty.a, empty.b):
        for uid in (empty.a.uid, empty.b.uid, 0):
            answer = user.send("AdoptProcess", {"uid": uid}, socket=empty.node_agent())
            assert not answer and "denied" in answer.error.lower(), answer
    slurm = subprocess.run([towns.hostile_program(), "send", empty.node_agent(), "AdoptProcess", "uid=%d" % empty.a.uid],
                           user=empty.slurm.pw_uid, group=empty.slurm.pw_gid, extra_groups=[], capture_output=True, text=True)
    assert slurm.returncode == 1 and "denied" in slurm.stdout.lower(), slurm
    listed = empty.ok("scontrol", "listpids", "%d.extern" % job).lines
    assert len(listed) == 2, listed


def test_pamtester_is_told_the_same(empty):
    if not os.path.exists("/usr/bin/pamtester"):
        pytest.skip("no pamtester")
    service = empty.service()
    refused = empty.run("pamtester", service, empty.a.name, "acct_mgmt")
    assert refused.code != 0 and "you have no active jobs on this node" in refused.out + refused.err, refused
    empty.contained(empty.a)
    assert empty.run("pamtester", service, empty.a.name, "acct_mgmt").code == 0
