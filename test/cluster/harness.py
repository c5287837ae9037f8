"""One private cluster: real slurmctld and slurmd processes on loopback, in a directory of their own.

Takes the programs from MUSTER_PREFIX (a folder with bin/ and sbin/; default build/dev, else an installed build/prefix).
With MUSTER_ORACLE=1 the prefix is Debian's own slurm-wlm 22.05 (MUSTER_PREFIX=/usr): the same tests then say what Slurm
does, and `better_than_slurm` tests are left out.

Everything it starts it ends again, by process id. It waits for facts, never for time to pass: until() asks again and again,
quickly, and fails with what it saw last. No port is fixed.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import time

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORACLE = os.environ.get("MUSTER_ORACLE") == "1"
HOST = socket.gethostname().split(".")[0]
COMMANDS = ("sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol scrontab sdiag sinfo sprio squeue sreport srun sshare "
            "sstat strigger swait").split()
SLOW = float(os.environ.get("MUSTER_TEST_PATIENCE", "1"))   # multiply every deadline, for loaded machines


def prefix():
    given = os.environ.get("MUSTER_PREFIX")
    if given:
        return os.path.join(REPO, given)
    for folder in ("build/dev", "build/prefix"):
        if os.path.exists(os.path.join(REPO, folder, "sbin", "slurmctld")):
            return os.path.join(REPO, folder)
    return os.path.join(REPO, "build/dev")


class Result:
    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds

    @property
    def lines(self):
        return self.out.splitlines()

    def __repr__(self):
        return "%s\n  exit status %d after %.3f s\n  stdout: %r\n  stderr: %r" % (
            " ".join(self.args), self.code, self.seconds, self.out[-2000:], self.err[-2000:])


_ports = None


def _own_ports():
    """Ports that no other test process takes, and that the kernel gives to no outgoing connection: while a daemon that
    was killed is away, nobody else comes to hold its port. `muster up` takes its own from 20000 on."""
    for block in range(10000, 20000, 200):
        try:
            lock = open("/tmp/muster-test-ports-%d" % block, "a")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:         # another process's, perhaps of another user
            continue
        while True:         # holds `lock` as long as the process lives
            yield from range(block, block + 200)
    raise AssertionError("fifty test processes hold all ports from 10000 to 20000")


def _is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """The next free ports in turn, so that one which a daemon has just left is not taken again at once."""
    global _ports
    _ports = _ports or _own_ports()
    found, looked = [], 0
    while len(found) < count:
        port, looked = next(_ports), looked + 1
        if _is_free(port) and port not in found:
            found.append(port)
        assert looked < 2000, "no free ports"
    return found


def until(what, check, seconds=20.0, longest_pause=0.1):
    """The first true value of check(); AssertionError otherwise. A file that is not there yet is waited for too."""
    end, pause, last = time.monotonic() + seconds * SLOW, 0.005, None
    while True:
        try:
            last = check()
        except FileNotFoundError:
            last = None
        if last:
            return last
        if time.monotonic() > end:
            raise AssertionError("waited %.0f s for %s" % (seconds * SLOW, what() if callable(what) else what))
        time.sleep(pause)
        pause = min(longest_pause, pause * 1.5)


def end_process(process, seconds=10):
    """SIGTERM, then SIGKILL; returns the exit status."""
    if process is None:
        return None
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
    return process.returncode


def without_requeue_delay(lines):
    """A requeued job may start at once, where the lines do not say when (and Slurm 22.05 does not know the word)."""
    if ORACLE or any("requeue_delay" in line for line in lines):
        return lines
    words = [line for line in lines if line.startswith("SchedulerParameters=")]
    if not words:
        return lines + ["SchedulerParameters=requeue_delay=0"]
    return [line + ",requeue_delay=0" if line == words[-1] else line for line in lines]


class Munge:
    """A munged of our own: own socket, and own key where none is given."""

    def __init__(self, folder, key=None):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o755)
        self.socket = os.path.join(folder, "m.sock")
        if key is None:
            key = os.path.join(folder, "key")
            with open(key, "wb") as f:
                f.write(os.urandom(128))
            os.chmod(key, 0o600)
        with open(os.path.join(folder, "out"), "ab") as out:
            self.process = subprocess.Popen(
                ["/usr/sbin/munged", "-F", "--force", "--socket", self.socket, "--key-file", key,
                 "--log-file", folder + "/log", "--pid-file", folder + "/pid", "--seed-file", folder + "/seed"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        until("munged to listen", lambda: os.path.exists(self.socket))

    def stop(self):
        end_process(self.process)


class Cluster:
    """node_line: more of every node's line, or {name: more}. conf: more lines of slurm.conf."""

    def __init__(self, folder, nodes=4, gpus=8, gpu_type="h100", cpus=16, memory=64000, auth=None, conf="",
                 node_line="", gres_conf=None, state_folder=None, partitions=None, real_hardware=False, names=None):
        self.folder, self.count, self.gpus, self.cpus = folder, nodes, gpus, cpus
        self.prefix = prefix()
        self.auth = "munge" if ORACLE else (auth or "slurm")
        self.state_folder = state_folder or os.path.join(folder, "state")
        self.conf_path = os.path.join(folder, "etc", "slurm.conf")
        self.work = os.path.join(folder, "work")
        self.bin = os.path.join(folder, "path")      # stand-ins for nvidia-smi, ray and the like
        for name in ("etc", "run", "log", "spool", "work", "path", "dev"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        os.makedirs(self.state_folder, exist_ok=True)
        self.names = names or ["n%d" % i for i in range(1, nodes + 1)]
        self.port, *self.node_ports = free_ports(nodes + 1)
        self.munge, self.ctld, self.slurmds = None, None, {}
        self.wrapper = []       # what the daemons are started by: ["prlimit", "--nofile=1024:1024"]
        self.user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        self.env = {"PATH": "%s:%s/bin:%s/sbin:/usr/bin:/bin" % (self.bin, self.prefix, self.prefix),
                    "HOME": self.work, "LANG": "C.UTF-8", "SLURM_CONF": self.conf_path, "USER": self.user,
                    "LOGNAME": self.user, "SHELL": "/bin/bash", "TERM": "xterm", "TZ": "UTC"}
        if not ORACLE:      # where Debian's Slurm is installed too, its commands must not stand in for ours
            for name in COMMANDS:
                if not os.path.exists(os.path.join(self.prefix, "bin", name)):
                    self.script(name, "#!/bin/sh\necho '%s: not built in %s' >&2\nexit 127\n" % (name, self.prefix))
        if self.auth == "munge":
            self.munge = Munge(os.path.join(folder, "munge"))
        self.write_conf(gpu_type, memory, conf, node_line, gres_conf, partitions, real_hardware)

    # ---- configuration
    def house_lines(self, real_hardware):
        """What every slurm.conf here has: where the daemons of this cluster are, and how they are told apart."""
        lines = ["ClusterName=test", "SlurmctldHost=%s(127.0.0.1)" % HOST, "SlurmctldPort=%d" % self.port,
                 "SlurmUser=" + self.user, "SlurmdUser=" + self.user,
                 "StateSaveLocation=" + self.state_folder, "SlurmdSpoolDir=%s/spool/%%n" % self.folder,
                 "SlurmctldPidFile=%s/run/slurmctld.pid" % self.folder,
                 "SlurmdPidFile=%s/run/slurmd-%%n.pid" % self.folder,
                 "SlurmctldLogFile=%s/log/slurmctld.log" % self.folder,
                 "SlurmdLogFile=%s/log/slurmd-%%n.log" % self.folder,
                 "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
                 "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=10",
                 "SwitchType=switch/none", "MpiDefault=none", "SchedulerType=sched/backfill",
                 "AccountingStorageType=accounting_storage/none", "ReturnToService=2",
                 "InactiveLimit=0", "KillWait=2", "GresTypes=gpu"]
        if not real_hardware:
            lines.append("SlurmdParameters=config_overrides")
        if self.auth == "munge":
            lines += ["AuthType=auth/munge", "AuthInfo=socket=" + self.munge.socket, "CredType=cred/munge"]
        else:
            lines += ["AuthType=auth/slurm", "CredType=cred/slurm"]
            key = os.path.join(self.folder, "etc", "slurm.key")
            with open(key, "wb") as f:
                f.write(os.urandom(1024))
            os.chmod(key, 0o600)
        return lines

    def write_conf(self, gpu_type, memory, extra, node_line, gres_conf, partitions, real_hardware):
        span = "n[1-%d]" % self.count if self.count > 1 else "n1"
        lines = self.house_lines(real_hardware)
        gres = " Gres=gpu:%s:%d" % (gpu_type, self.gpus) if self.gpus and gres_conf is None else ""
        for name, port in zip(self.names, self.node_ports):
            lines.append("NodeName=%s NodeAddr=127.0.0.1 NodeHostname=%s Port=%d CPUs=%d RealMemory=%d%s State=UNKNOWN %s"
                         % (name, HOST, port, self.cpus, memory, gres,
                            node_line.get(name, "") if isinstance(node_line, dict) else node_line))
        lines += partitions or ["PartitionName=main Nodes=%s Default=YES MaxTime=INFINITE State=UP" % span,
                                "PartitionName=gpu Nodes=%s MaxTime=7-00:00:00 State=UP" % span]
        lines += extra.split("\n") if extra else []
        self.conf_lines = lines
        self.write_lines()
        if gres_conf is None and self.gpus:
            # Files named as devices are; a GPU's number is that of its file.
            for i in range(self.gpus):
                open(os.path.join(self.folder, "dev", "nvidia%d" % i), "w").close()
            gres_conf = "NodeName=%s Name=gpu Type=%s File=%s/dev/nvidia[0-%d]\n" % (
                span, gpu_type, self.folder, self.gpus - 1)
        with open(os.path.join(self.folder, "etc", "gres.conf"), "w") as f:
            f.write(gres_conf or "")
        with open(os.path.join(self.folder, "etc", "cgroup.conf"), "w") as f:
            f.write("CgroupPlugin=%s\n" % ("cgroup/v1" if ORACLE else "disabled"))

    def write_lines(self):
        with open(self.conf_path, "w") as f:
            f.write("\n".join(without_requeue_delay(self.conf_lines)) + "\n")

    def script(self, name, text):
        """A program that jobs find in their PATH."""
        path = os.path.join(self.bin, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def file(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.work, name), errors="replace") as f:
            return f.read()

    # ---- daemons
    def spawn(self, name, *args):
        program = os.path.join(self.prefix, "sbin", name)
        with open(os.path.join(self.folder, "log", name + ".out"), "ab") as out:
            return subprocess.Popen([*self.wrapper, program, *args], env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                    cwd=self.folder, start_new_session=True)

    def start_ctld(self):
        self.ctld = self.spawn("slurmctld", "-D", "-f", self.conf_path)

    def start_slurmd(self, name):
        self.slurmds[name] = self.spawn("slurmd", "-D", "-N", name, "-f", self.conf_path)

    def start(self, wait=True):
        self.start_ctld()
        self.wait_ctld()
        for name in self.names:
            self.start_slurmd(name)
        if wait:
            self.wait_nodes("idle")
        return self

    def wait_ctld(self, seconds=20, longest_pause=0.1):
        def up():
            if self.ctld.poll() is not None:
                raise AssertionError("slurmctld ended with status %s\n%s" % (self.ctld.returncode, self.logs()))
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                return False
            return self.run("sinfo", "-h", "-o", "%P").code == 0
        until(lambda: "slurmctld to answer\n" + self.logs(), up, seconds, longest_pause)

    def node_states(self):
        out = self.run("sinfo", "-h", "-N", "-o", "%N %T").out
        return dict(line.split(None, 1) for line in out.splitlines() if line.strip())

    def wait_nodes(self, state, names=None, seconds=30):
        names = names or self.names
        seen = {}

        def there():
            seen.clear()
            seen.update(self.node_states())
            return all(re.match(state + "$", seen.get(name, "")) for name in names)
        until(lambda: "%s to be %s; they are %s\n%s" % (names, state, seen, self.logs()), there, seconds)

    def must_run(self):
        if self.ctld.poll() is not None:
            raise AssertionError("slurmctld has ended with status %s\n%s" % (self.ctld.returncode, self.logs()))
        for name, process in self.slurmds.items():
            if process.poll() is not None:
                raise AssertionError("slurmd of %s has ended with status %s\n%s" % (name, process.returncode, self.logs()))

    def kill_ctld(self):
        self.ctld.kill()
        self.ctld.wait()

    def stop_ctld(self):
        return end_process(self.ctld)

    def stop(self):
        if self.ctld is not None and self.ctld.poll() is None and self.slurmds:
            try:
                self.cancel_all(10)
            except (AssertionError, subprocess.TimeoutExpired):
                pass
        for process in self.slurmds.values():
            if process.poll() is None:
                process.terminate()
        for process in self.slurmds.values():
            end_process(process)
        end_process(self.ctld)
        self.end_left_over()
        if self.munge:
            self.munge.stop()

    def end_left_over(self):
        """Step daemons and tasks of this cluster that outlived it: known by SLURM_CONF in their environment."""
        mark = ("SLURM_CONF=" + self.conf_path).encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if int(pid) != os.getpid() and mark in f.read().split(b"\0"):
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                continue

    def logs(self, size=1500):
        text = ""
        folder = os.path.join(self.folder, "log")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), errors="replace") as f:
                tail = f.read()[-size:]
            if tail:
                text += "--- %s\n%s\n" % (name, tail)
        return text

    # ---- clients
    def run(self, *args, env=None, stdin=None, timeout=30, cwd=None):
        """One command; never raises for its exit status."""
        began = time.monotonic()
        try:
            done = subprocess.run(args, env={**self.env, **(env or {})}, cwd=cwd or self.work, timeout=timeout * SLOW,
                                  input=stdin, stdin=subprocess.DEVNULL if stdin is None else None,
                                  capture_output=True, text=True, errors="replace")
        except FileNotFoundError as error:
            return Result(args, 127, "", str(error), 0.0)
        except subprocess.TimeoutExpired as error:
            out, err = ((x or b"") if isinstance(x or b"", str) else (x or b"").decode(errors="replace")
                        for x in (error.stdout, error.stderr))
            return Result(args, 124, out, err + "\n(no end after %.0f s)" % (timeout * SLOW), time.monotonic() - began)
        return Result(args, done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def ok(self, *args, **kw):
        result = self.run(*args, **kw)
        assert result.code == 0, result
        return result

    def sh(self, text, **kw):
        return self.run("bash", "-c", text, **kw)

    def sbatch(self, *args, **kw):
        """Submits; the job's id."""
        out = self.ok("sbatch", "--parsable", *args, **kw).out.strip()
        assert re.fullmatch(r"\d+", out), "sbatch --parsable printed %r" % out
        return int(out)

    def jobs(self, job):
        """`scontrol show job`, one dict a record."""
        result = self.run("scontrol", "-o", "show", "job", str(job))
        assert result.code == 0, result
        return [{key: value.strip() for key, value in
                 re.findall(r"(?:^| )([A-Za-z/:_]+)=((?:(?! [A-Za-z/:_]+=).)*)", line)}
                for line in result.lines if line.startswith("JobId=")]

    def job(self, job):
        return self.jobs(job)[0]

    def wait_job(self, job, state="COMPLETED", seconds=30):
        """Until the job is in this state (a regular expression); its record. Ends at once in another final state."""
        seen = {}

        def there():
            seen.update(self.job(job))
            now = seen.get("JobState", "")
            if re.fullmatch(state, now):
                return dict(seen)
            if now in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL"):
                raise AssertionError("job %s ended %s, wanted %s: %s\n%s" % (job, now, state, seen, self.logs(800)))
            return None
        return until(lambda: "job %s to be %s: %s\n%s" % (job, state, seen, self.logs(800)), there, seconds)

    def run_script(self, text, *args, state="COMPLETED", seconds=30, env=None):
        """Submits a script, waits for its end; what it printed, and its record."""
        path = self.file("script.sh", text)
        job = self.sbatch(*args, path, env=env)
        record = self.wait_job(job, state, seconds)
        out = record["StdOut"]
        until("the output " + out, lambda: os.path.exists(out))
        with open(out, errors="replace") as f:
            return f.read(), record

    def queue(self, *args):
        return self.ok("squeue", "-h", *args).lines

    def cancel_all(self, seconds=30):
        self.run("scancel", "-u", self.user)
        until(lambda: "an empty queue: %s" % self.queue(), lambda: not self.queue(), seconds)

    def terminal(self, *args, rows=37, columns=91, send=b"", seconds=20, keys=()):
        """Runs a command on a terminal of its own. keys: (what to wait for, what to type then). Output, exit status."""
        master, slave = pty.openpty()
        import struct
        import termios
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(args, env=self.env, cwd=self.work, stdin=slave, stdout=slave, stderr=slave,
                                   start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        out, end, keys = b"", time.monotonic() + seconds * SLOW, list(keys)
        if send:
            os.write(master, send)
        try:
            while time.monotonic() < end:
                if not select.select([master], [], [], 0.1)[0]:
                    if process.poll() is not None:
                        break
                    continue
                try:
                    data = os.read(master, 65536)
                except OSError:
                    break
                if not data:
                    break
                out += data
                while keys and re.search(keys[0][0], out):
                    os.write(master, keys.pop(0)[1])
            code = process.wait(2) if process.poll() is None and time.monotonic() < end else process.poll()
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end_process(process, 2)
            os.close(master)
        return out.decode(errors="replace"), code


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
