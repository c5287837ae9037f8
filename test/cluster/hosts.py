"""A machine's own names and files for one cluster: what the checklist has in /etc and /usr/local is read from there.

The host's are below and stay as they are: /etc and /usr/local get an empty layer above, in a mount namespace that ends
with the test; /etc/slurm is the cluster's own folder of files. Its name and those in its /etc/hosts are all on loopback.
"""
import os
import subprocess

import harness
import sites

CANNOT = "" if os.geteuid() == 0 else "needs root, to have a /etc of its own"


class Hosts:
    """name: what `hostname` says. others: names that resolve, each to an address of the loopback network."""

    def __init__(self, folder, name, others=()):
        layers = os.path.join(folder, "layers")
        os.makedirs(layers, exist_ok=True)
        self.folder = folder
        script = """
            set -e
            mount -t tmpfs none {0}
            for lower in etc usr/local; do
              mkdir -p {0}/upper/$lower {0}/work/$lower
              mount -t overlay -o lowerdir=/$lower,upperdir={0}/upper/$lower,workdir={0}/work/$lower overlay /$lower
            done
            mkdir -p /etc/slurm /usr/local/lib/slurm
            mount --bind {3}/etc /etc/slurm
            mount -t tmpfs none /usr/local/lib/slurm
            hostname {1}
            for name in localhost {1} {2}; do echo "127.0.0.1 $name"; done > /etc/hosts
            echo ready
            exec sleep infinity""".format(layers, name, " ".join(others), folder)
        self.keeper = subprocess.Popen(["unshare", "--mount", "--uts", "sh", "-c", script], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = self.keeper.stdout.readline()
        assert said == "ready\n", self.keeper.stderr.read()
        # What a daemon or a command is started by to be on that machine. It becomes the program, with the same process id.
        self.enter = ["nsenter", "-t", str(self.keeper.pid), "--mount", "--uts"]

    def sh(self, text, stdin=""):
        done = subprocess.run([*self.enter, "sh", "-ec", text], input=stdin, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout

    def write(self, path, text, mode=0o644):
        self.sh("umask 077; cat > %s; chmod %o %s" % (path, mode, path), text)

    def end(self):
        self.keeper.kill()
        self.keeper.wait()


class Machine(sites.Site):
    """A site on a machine of its own. What it starts finds its files in /etc/slurm, without being told where they are."""

    def __init__(self, folder, host, names, text, gres="", topology=None, others=(), **more):
        super().__init__(folder, names, text, gres, topology, **more)
        # The names of nodes are told by /etc/hosts.
        self.conf_lines = [line.replace(" NodeAddr=127.0.0.1 NodeHostname=" + harness.HOST, "") for line in self.conf_lines]
        self.write_lines()
        self.hosts = Hosts(folder, host, [*names, *others])
        self.wrapper = self.hosts.enter
        del self.env["SLURM_CONF"]

    def start_ctld(self):
        self.ctld = self.spawn("slurmctld", "-D")

    def start_slurmd(self, name):
        self.slurmds[name] = self.spawn("slurmd", "-D", "-N", name)

    def run(self, *args, cwd=None, **more):
        # The other mount namespace begins in its root.
        return super().run(*self.hosts.enter, "sh", "-c", 'cd "$0" && exec "$@"', cwd or self.work, *args, **more)

    def stop(self):
        super().stop()
        self.hosts.end()
