"""What a site may get wrong, and what stands between its users and its listings: a daemon refuses to start with secrets that
others can read, and no name of a job begins a line or moves a cursor."""
import json
import os
import re
import subprocess
import sys

import pytest

import harness
from harness import until


def test_what_slurmd_starts_is_no_program_of_its_users(town):
    """`slurmstepd serve`, which slurmd copies for each step: a user gets nothing from it, by starting it or by reaching slurmd's."""
    for words in ((), ("serve",), ("serve", "x"), ("nonsense",)):
        said = town.b.run("slurmstepd", *words)
        assert said.code == 1 and "started by slurmd only" in said.err, said
    town.a.ok("srun", "-n1", "true")
    for pid in subprocess.run(["pgrep", "-x", "slurmstepd"], capture_output=True, text=True, check=True).stdout.split():
        for attack in ("ls /proc/%s/fd", "echo x >/proc/%s/fd/3", "kill -9 %s"):
            assert town.b.run("sh", "-c", attack % pid).code != 0, attack
    town.a.ok("srun", "-n1", "true")


# ---- files that others could read or change
@pytest.fixture
def stopped(make_town):
    """A town that was never started, and a way to see a daemon refuse."""
    return make_town(start=False, nodes=1)


def refuses(town, name, *args):
    """The daemon ends by itself with a complaint; its text."""
    process = town.spawn(name, "-D", *args)
    try:
        code = process.wait(20 * harness.SLOW)
    except subprocess.TimeoutExpired:
        harness.end_process(process)
        raise AssertionError("%s started\n%s" % (name, town.logs()))
    assert code != 0
    with open(os.path.join(town.folder, "log", name + ".out"), errors="replace") as f:
        return f.read()


DAEMONS = [("slurmctld", ()), ("slurmd", ("-N", "n1"))]


@pytest.mark.row(112)
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
@pytest.mark.parametrize("daemon", DAEMONS, ids=lambda d: d[0])
def test_a_cluster_key_that_others_can_read(stopped, daemon, mode):
    key = os.path.join(stopped.folder, "etc", "slurm.key")
    os.chmod(key, mode)
    said = refuses(stopped, daemon[0], *daemon[1])
    assert key in said and "0600" in said, said


@pytest.mark.parametrize("daemon", DAEMONS, ids=lambda d: d[0])
def test_a_cluster_key_of_a_user(stopped, daemon):
    key = os.path.join(stopped.folder, "etc", "slurm.key")
    os.chown(key, stopped.b.uid, stopped.b.gid)
    os.chmod(key, 0o600)
    said = refuses(stopped, daemon[0], *daemon[1])
    assert key in said and "SlurmUser" in said, said


def test_a_readable_key_serves_no_command_either(make_town):
    """A key that became readable: no command of a user proves itself with it."""
    town = make_town(nodes=1)
    os.chmod(os.path.join(town.folder, "etc", "slurm.key"), 0o644)
    os.rename(town.agent, town.agent + ".away")
    os.rename(town.node_agent(), town.node_agent() + ".away")
    result = town.b.run("scontrol", "update", "nodename=n1", "state=drain", "reason=x", timeout=60)
    assert result.code != 0
    os.rename(town.agent + ".away", town.agent)
    os.rename(town.node_agent() + ".away", town.node_agent())
    assert town.drained() == []


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_state_folder_that_others_can_write(stopped, mode):
    os.chmod(stopped.state_folder, mode)
    said = refuses(stopped, "slurmctld")
    assert stopped.state_folder in said and "StateSaveLocation" in said and "0755" in said, said


def test_a_state_that_others_can_read(make_town):
    town = make_town(nodes=1)
    assert town.stop_ctld() == 0
    os.chmod(town.state_folder + "/muster.db", 0o644)
    assert "muster.db" in refuses(town, "slurmctld")
    os.chmod(town.state_folder + "/muster.db", 0o600)
    town.start_ctld()
    town.wait_ctld()


def test_the_state_is_nobody_elses(town):
    town.a.sbatch("--hold", "--wrap", "secret")
    for name in os.listdir(town.state_folder):
        mode = os.stat(os.path.join(town.state_folder, name)).st_mode
        assert not mode & 0o077, (name, oct(mode))
    assert town.b.run("cat", town.state_folder + "/muster.db").code != 0


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_spool_that_others_can_write(stopped, mode):
    spool = stopped.folder + "/spool/n1"
    os.makedirs(spool)
    os.chmod(spool, mode)
    said = refuses(stopped, "slurmd", "-N", "n1")
    assert spool in said and "SlurmdSpoolDir" in said, said


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_a_database_password_that_others_can_read(stopped, mode):
    path = stopped.folder + "/etc/slurmdbd.conf"
    with open(path, "w") as f:
        f.write("DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort=%d\nStorageLoc=%s/accounting.db\nPidFile=%s/run/slurmdbd.pid\n"
                "LogFile=%s/log/slurmdbd.log\nSlurmUser=root\n" % (harness.free_ports(1)[0], stopped.state_folder, stopped.folder, stopped.folder))
    os.chmod(path, mode)
    said = refuses(stopped, "slurmdbd")
    assert path in said and "0600" in said, said


# ---- names
NASTY = "one\nJobId=1 JobState=COMPLETED\x1b[2J\x1b]0;owned\x07\rtwo\ttab\x9b31m\xff"


def nasty_job(town):
    """Its name and its comment are as bad as bytes can be."""
    path = town.b.file("nasty.bin", "")
    with open(path, "wb") as f:
        f.write(NASTY.encode("latin-1"))
    fields = town.b.request(begin=4000000000 * 1000000)
    words = ["%s=%s" % (k, v) for k, v in fields.items() if k != "request.name"]
    import town as towns
    result = town.b.run(towns.hostile_program(), "send", town.agent, "SubmitJob", *words, "script=#!/bin/sh\\nexit 0\\n", "request.name=@" + path,
                        "request.comment=@" + path)
    assert result.code == 0, result
    return int(result.out.split("=")[1])


def unobeyed(data):
    """No terminal and no reader of lines finds anything to obey in these bytes."""
    text = data.decode("utf-8")       # raises where it is none
    bad = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0]
    assert not bad, bad
    return text


def bytes_of(user, *args):
    process = user.popen(*args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.communicate(timeout=30)[0]


LISTINGS = [("squeue",), ("squeue", "-h", "-o", "%all"), ("squeue", "-O", "name:200,comment:200"), ("squeue", "-h", "-o", "%i|%j|%k"),
            ("scontrol", "show", "job"), ("scontrol", "-o", "show", "job"), ("scontrol", "-d", "show", "job")]


@pytest.mark.parametrize("args", LISTINGS, ids=" ".join)
def test_a_listing_of_a_job_with_a_nasty_name(town, args):
    before = unobeyed(bytes_of(town.a, *args)).count("\n")
    first = town.a.sbatch("--begin=now+1000days", "--wrap", "true")
    plain = unobeyed(bytes_of(town.a, *args)).count("\n")
    town.a.ok("scancel", str(first))
    until("one job less", lambda: unobeyed(bytes_of(town.a, "squeue", "-h")) == "")
    nasty_job(town)
    text = unobeyed(bytes_of(town.a, *args))
    if args[0] == "squeue":
        assert text.count("\n") - before == plain - before, text
    else:
        assert not [line for line in text.splitlines() if re.match(r"\s*JobId=1 JobState=COMPLETED", line)], text


def test_the_name_is_whole_in_json(town):
    job = nasty_job(town)
    for args in (("squeue", "--json"), ("scontrol", "show", "job", str(job), "--json")):
        data = bytes_of(town.a, *args)
        found = [j for j in json.loads(data)["jobs"] if j["job_id"] == job]
        assert found[0]["name"].startswith("one\nJobId=1 JobState=COMPLETED\x1b[2J"), found


def test_the_log_keeps_its_lines(town):
    job = nasty_job(town)
    town.b.ok("scontrol", "update", "jobid=%d" % job, "name=" + NASTY[:40])
    town.ok("scancel", str(job))
    for name in ("slurmctld", "slurmd-n1"):
        with open(town.folder + "/log/%s.log" % name, "rb") as f:
            for line in unobeyed(f.read()).splitlines():
                assert line.startswith("["), line


def test_accounting_shows_it_quoted(make_town):
    sys.path.append(os.path.join(harness.REPO, "test", "cluster"))
    import accounting
    import town as towns
    town = towns.Town(__import__("conftest").new_folder(), nodes=1)
    database = accounting.Database(town)
    path = town.folder + "/etc/slurmdbd.conf"
    os.chmod(path, 0o600)
    text = open(path).read().replace("SlurmUser=root", "SlurmUser=" + towns.SLURM)
    open(path, "w").write(text)
    os.chown(path, town.slurm.pw_uid, town.slurm.pw_gid)
    try:
        open(town.folder + "/log/slurmdbd.log", "w").close()
        os.chown(town.folder + "/log/slurmdbd.log", town.slurm.pw_uid, town.slurm.pw_gid)
        database.start()
        town.start()
        job = nasty_job(town)
        town.ok("scancel", str(job))
        until(town.logs, lambda: town.b.run("sacct", "-n", "-X", "-j", str(job), "-o", "state").out.strip().startswith("CANCELLED"))
        for args in (("sacct", "-P", "-j", str(job), "-o", "jobid,jobname,comment,state"), ("sacct", "-j", str(job), "-o", "jobid,jobname%200"),
                     ("sacct", "-p", "-l", "-j", str(job))):
            text = unobeyed(bytes_of(town.b, *args))
            assert text.count("\n") <= 4, text
        assert "one\nJobId" in json.loads(bytes_of(town.b, "sacct", "--json", "-j", str(job)))["jobs"][0]["name"]
    finally:
        town.stop()
        database.stop()
        harness.remove(town.folder)


# ---- muster up
def test_muster_up_listens_on_loopback_only(tmp_path):
    """A laptop's cluster is nobody's but the laptop's."""
    import pwd
    import town as towns
    user = pwd.getpwnam(towns.B)
    home = "/tmp/ms-up-%d" % os.getpid()
    os.makedirs(home, mode=0o700)
    os.chown(home, user.pw_uid, user.pw_gid)
    env = {"HOME": home, "PATH": harness.prefix() + "/bin:/usr/bin:/bin", "USER": towns.B, "LOGNAME": towns.B, "XDG_STATE_HOME": home + "/s",
           "XDG_RUNTIME_DIR": home}

    def as_user(*args):
        return subprocess.run(args, env=env, cwd=home, user=user.pw_uid, group=user.pw_gid, extra_groups=[], capture_output=True, text=True,
                              timeout=120 * harness.SLOW, stdin=subprocess.DEVNULL)
    try:
        up = as_user(harness.prefix() + "/bin/muster", "up", "--nodes=2")
        assert up.returncode == 0, up
        mine = {int(p) for p in os.listdir("/proc") if p.isdigit() and of_home(p, home)}
        assert len(mine) >= 3, mine
        inodes = {os.readlink("/proc/%d/fd/%s" % (pid, fd)) for pid in mine for fd in fds(pid)}
        ports = []
        for name, own in (("tcp", ("0100007F",)), ("tcp6", ("00000000000000000000000001000000", "0000000000000000FFFF00000100007F"))):
            with open("/proc/net/" + name) as f:
                for line in f.readlines()[1:]:
                    words = line.split()
                    if words[3] == "0A" and "socket:[%s]" % words[9] in inodes:
                        ports.append(words[1])
                        assert words[1].split(":")[0] in own, "listens on %s: %s" % (words[1], line)
        assert len(ports) >= 3, ports
    finally:
        as_user(harness.prefix() + "/bin/muster", "down")
        harness.remove(home)


def of_home(pid, home):
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            text = f.read()
        with open("/proc/%s/cmdline" % pid, "rb") as f:
            return (home.encode() in text or home.encode() in f.read()) and os.stat("/proc/" + pid).st_uid != 0
    except OSError:
        return False


def fds(pid):
    try:
        return [fd for fd in os.listdir("/proc/%d/fd" % pid) if os.path.lexists("/proc/%d/fd/%s" % (pid, fd))]
    except OSError:
        return []
