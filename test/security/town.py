"""A cluster as a site has it: slurmd runs as root, slurmctld as SlurmUser, and two ordinary users use it.

The users are ones that every Debian has and nobody logs in as, so nothing is added to this machine. `a` is whoever must
come to no harm, `b` does the worst an ordinary user can. Everything else is test/cluster/harness.py.
"""
import fcntl
import os
import pwd
import re
import resource
import signal
import sqlite3
import subprocess
import time

import harness
from harness import until

A, B, SLURM = "games", "news", "uucp"


def take_the_users():
    """The two users are this host's, and some attacks reach every process of theirs: one run at a time. Kept until the end."""
    lock = open("/tmp/muster-security-users.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def hostile_program():
    """The client that speaks the protocol itself; built beside the tests, never installed."""
    for folder in (harness.prefix(), os.path.join(harness.REPO, "build/dev")):
        path = os.path.join(folder, "test", "security", "hostile")
        if os.path.exists(path):
            return path
    raise AssertionError("no test/security/hostile in %s: build the target `hostile`" % harness.prefix())


class Answer:
    """What came back for one message: its fields, a list for a name that came several times."""

    def __init__(self, result):
        self.result, self.fields = result, {}
        self.error = result.out[len("error: "):].strip() if result.code == 1 else ""
        for line in result.lines if result.code == 0 else ():
            name, _, value = line.partition("=")
            self.fields[name] = value

    def __bool__(self):
        return self.result.code == 0

    def __repr__(self):
        return repr(self.result)


class User:
    """An ordinary user of the town: runs commands as a login of his would, in a home of his own."""

    def __init__(self, town, name, letter):
        entry = pwd.getpwnam(name)
        self.town, self.name, self.uid, self.gid = town, name, entry.pw_uid, entry.pw_gid
        self.home = os.path.join(town.folder, "home", letter)
        os.makedirs(self.home, mode=0o700)
        os.chown(self.home, self.uid, self.gid)
        self.env = {**town.env, "USER": name, "LOGNAME": name, "HOME": self.home}

    def popen(self, *args, env=None, limits=(), **kw):
        """limits: (resource, value) pairs, as the site's pam_limits sets them."""
        def bounded():
            for what, value in limits:
                hard = resource.getrlimit(what)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(what, (value, value))
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(args, env={**self.env, **(env or {})}, cwd=self.home, user=self.uid, group=self.gid,
                                extra_groups=[], preexec_fn=bounded if limits else None, start_new_session=True, **kw)

    def run(self, *args, env=None, stdin=None, timeout=30):
        began = time.monotonic()
        process = self.popen(*args, env=env, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            out, err = process.communicate(stdin, timeout=timeout * harness.SLOW)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            code, err = 124, err + "\n(no end after %.0f s)" % (timeout * harness.SLOW)
        return harness.Result(args, code, out, err, time.monotonic() - began)

    def ok(self, *args, **kw):
        result = self.run(*args, **kw)
        assert result.code == 0, result
        return result

    def sbatch(self, *args, **kw):
        out = self.ok("sbatch", "--parsable", *args, **kw).out.strip()
        assert re.fullmatch(r"\d+", out), "sbatch --parsable printed %r" % out
        return int(out)

    def send(self, message, fields, socket=None, relay=None, known=False):
        """One message of the protocol, as his own program could send it. fields: {"request.uid": 0, ...}. relay: the node to
        which the slurmd at the socket is to pass it on. known: a SubmitJob or an Allocate with what only the controller knows in it."""
        words = []
        for i, (name, value) in enumerate(fields.items()):
            value = str(int(value)) if isinstance(value, bool) else str(value)
            if "\n" in value or len(value) > 100000 or value.startswith("@"):
                value = "@" + self.file("field-%d" % i, value)
            words.append("%s=%s" % (name, value))
        how = ["send-known" if known else "send", socket or self.town.agent]
        if relay is not None:
            how = ["relay", socket or self.town.node_agent(), relay]
        result = self.run(hostile_program(), *how, message, *words)
        assert result.code != 2, "nothing was sent: %s" % result
        return Answer(result)

    def request(self, **more):
        """The fields of a plain submission of his."""
        fields = {"uid": self.uid, "gid": self.gid, "name": "letter", "num_tasks": 1, "min_nodes": 1, "max_nodes": 1,
                  "work_dir": self.home, "argv.0": "letter"}
        return {"request." + name: value for name, value in {**fields, **more}.items()}

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        with open(path, "w") as f:
            f.write(text)
        os.chown(path, self.uid, self.gid)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.home, name), errors="replace") as f:
            return f.read()

    def python(self, program, *args, **kw):
        """A program of his, started: a watcher, a listening socket, a flood."""
        path = self.file("program-%d.py" % time.monotonic_ns(), program)
        return self.popen("/usr/bin/python3", "-u", path, *map(str, args), **kw)


class Town(harness.Cluster):
    def __init__(self, folder, nodes=2, cpus=16, conf="", slurm_user=SLURM, **kw):
        self.slurm = pwd.getpwnam(slurm_user)
        os.makedirs(os.path.join(folder, "home"))
        kw.setdefault("partitions", ["PartitionName=main Nodes=n[1-%d] Default=YES MaxTime=INFINITE State=UP" % nodes])
        super().__init__(folder, nodes=nodes, cpus=cpus, gpus=0, conf=conf, **kw)
        self.work = os.path.join(folder, "work")
        self.a, self.b = User(self, A, "a"), User(self, B, "b")
        self.agent = "%s/run/slurmctld.%d.sock" % (folder, self.port)
        os.chmod(folder, 0o755)
        for path in (self.state_folder, os.path.join(folder, "etc", "slurm.key")):
            if os.path.exists(path):        # there is no key with munge
                os.chown(path, self.slurm.pw_uid, self.slurm.pw_gid)
        os.chmod(self.state_folder, 0o700)
        log = os.path.join(folder, "log", "slurmctld.log")
        open(log, "a").close()
        os.chown(log, self.slurm.pw_uid, self.slurm.pw_gid)

    def house_lines(self, real_hardware):
        user = ["SlurmUser=" + self.slurm.pw_name, "SlurmdUser=root"]
        return [line for line in super().house_lines(real_hardware) if not line.startswith(("SlurmUser=", "SlurmdUser="))] + user

    def spawn(self, name, *args):
        # What the daemons alone have in their environment: no user may ever see it.
        kept = self.env
        self.env = {**kept, "MUSTER_DAEMONS_OWN": "the secret of daemons"}
        try:
            return super().spawn(name, *args)
        finally:
            self.env = kept

    def node_agent(self, name="n1"):
        return "%s/run/slurmd.%s.sock" % (self.folder, name)

    def log(self, name="slurmctld"):
        with open(os.path.join(self.folder, "log", name + ".log"), errors="replace") as f:
            return f.read()

    def stored(self):
        """The controller's log, read as slurmctld reads it at its start: {"job/7": {"request.nice": "5", ...}, "node/0": ...}."""
        folder = os.path.join(self.folder, "copy")
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        with sqlite3.connect("file:%s/muster.db?mode=ro" % self.state_folder, uri=True) as source:
            with sqlite3.connect(folder + "/muster.db") as copy:
                source.backup(copy)
        os.chmod(folder + "/muster.db", 0o600)
        done = subprocess.run([hostile_program(), "dump", folder], capture_output=True, text=True, errors="replace", timeout=60)
        assert done.returncode == 0, done.stderr
        things = {}
        for line in done.stdout.splitlines():
            path, _, value = line.partition("=")
            thing, _, field = path.partition(".")
            things.setdefault(thing, {})[field] = value
        return things

    def drained(self):
        """Nodes that do not serve jobs any more, as sinfo says."""
        return [n for n, state in self.node_states().items() if not re.match(r"(idle|mixed|allocated|completing)\b[*+]?$", state)]

    def stepds(self, job=None):
        """(pid, socket) of the step daemons of this cluster, of all jobs or of one: known by where they listen."""
        ours = {}
        with open("/proc/net/unix") as f:
            for line in f:
                found = re.search(r"(\d+) (%s/spool/\S+/step\.(\d+)\.\S+)$" % re.escape(self.folder), line)
                if found and (job is None or int(found[3]) == job):
                    ours["socket:[%s]" % found[1]] = found[2]
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")) if ours else ():
            try:
                with open("/proc/%s/comm" % pid) as f:
                    if f.read().strip() != "slurmstepd":
                        continue
                held = {os.readlink("/proc/%s/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%s/fd" % pid)}
            except OSError:
                continue
            found += [(int(pid), path) for inode, path in ours.items() if inode in held]
        return found

    def stop(self):
        left = self.stepds()
        super().stop()
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def memory(self):
        """Resident MiB of each daemon."""
        pids = {"slurmctld": self.ctld.pid, **{"slurmd-" + n: p.pid for n, p in self.slurmds.items()}}
        return {name: resident_mib(pid) for name, pid in pids.items()}

    def leave_no_job(self, seconds=30):
        self.run("scancel", "--full", "-u", A + "," + B + ",root")
        for user in (A, B):
            self.run("scancel", "-u", user)
        until(lambda: "an empty queue: %s\n%s" % (self.queue(), self.logs()), lambda: not self.queue(), seconds)


def start_database(town, more="", far=False):
    """slurmdbd of this town, run by SlurmUser as sites do; `more`: lines of slurmdbd.conf. The town is started, too. `far`: users do not find
    its socket, as on another host; they may not read slurmdbd.conf."""
    import accounting
    database = accounting.Database(town)
    path = town.folder + "/etc/slurmdbd.conf"
    with open(path) as f:
        text = f.read().replace("SlurmUser=root", "SlurmUser=" + SLURM) + more
    if far:
        folder = town.folder + "/far"
        os.makedirs(folder)
        os.chown(folder, town.slurm.pw_uid, town.slurm.pw_gid)
        text = text.replace("PidFile=" + database.pid_file, "PidFile=%s/slurmdbd.pid" % folder)
    with open(path, "w") as f:
        f.write(text)
    for name in (path, town.folder + "/log/slurmdbd.log"):
        open(name, "a").close()
        os.chown(name, town.slurm.pw_uid, town.slurm.pw_gid)
    database.start()
    try:
        town.start()
        until("the cluster's record", lambda: town.run("sacctmgr", "-n", "show", "cluster").out.strip())
    except BaseException:
        database.stop()
        raise
    return database


def resident_mib(pid):
    try:
        with open("/proc/%d/status" % pid) as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024
    except (OSError, TypeError):
        return 0.0
