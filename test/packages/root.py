"""A root of its own to install packages in: this host's files below, an empty layer above, no network but loopback."""
import os
import subprocess

DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "sackd")
ROLES = ("common", "client", "slurmctld", "slurmd", "slurmdbd", "sackd", "mpi", "hdf5", "pam", "wlm", "dev")


class Root:
    def __init__(self, folder):
        self.path = os.path.join(folder, "root")
        script = """
            set -e
            mount -t tmpfs none {0}
            mkdir {0}/upper {0}/work {1}
            mount -t overlay -o lowerdir=/,upperdir={0}/upper,workdir={0}/work overlay {1}
            mount -t proc none {1}/proc
            mount --rbind /dev {1}/dev
            mount -t tmpfs none {1}/run
            mount -t tmpfs none {1}/tmp
            ip link set lo up
            echo ready
            exec sleep infinity""".format(folder, self.path)
        self.keeper = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.works = self.keeper.stdout.readline() == "ready\n"
        self.why = "" if self.works else self.keeper.stderr.read()
        self.started = []

    def _inside(self, command):
        # The keeper's child is the first process of the namespaces.
        first = open("/proc/%d/task/%d/children" % (self.keeper.pid, self.keeper.pid)).read().split()[0]
        return ["nsenter", "-t", first, "--mount", "--net", "--pid", "chroot", self.path,
                "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", command]

    def run(self, command, timeout=120):
        return subprocess.run(self._inside("cd /tmp; " + command), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def ok(self, command, timeout=120):
        done = self.run(command, timeout)
        assert done.returncode == 0, "%s\n%s%s" % (command, done.stdout, done.stderr)
        return done.stdout

    def write(self, path, text, mode=0o644):
        done = subprocess.run(self._inside("umask 077; cat > %s && chmod %o %s" % (path, mode, path)), input=text, text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stderr

    def copy(self, folder, to, *names):
        """These files of a folder out here, or all of them, into a folder inside."""
        pack = subprocess.Popen(["tar", "-C", folder, "-c", *(names or ["."])], stdout=subprocess.PIPE)
        done = subprocess.run(self._inside("mkdir -p %s && tar -C %s --no-same-owner -x" % (to, to)), stdin=pack.stdout, capture_output=True, text=True)
        assert pack.wait() == 0 and done.returncode == 0, done.stderr

    def start(self, command):
        self.started.append(subprocess.Popen(self._inside("exec " + command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def end(self):
        """The first process of the pid namespace goes, and everything in it with it."""
        self.keeper.kill()
        self.keeper.wait(timeout=30)
        for p in self.started:
            p.wait(timeout=30)
