"""podman and docker, each with files, processes and networks of its own, which end with the test; and a base image made of Debian's packages,
by the sources that this host's apt has."""
import os
import resource
import shlex
import shutil
import subprocess
import time

SUITE = "bookworm"  # of the Dockerfile, and of the packages that go into it
BASE = "debian:%s-slim" % SUITE


class CannotRun(Exception):
    """What this host lacks."""


def needs(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise CannotRun("no %s: tools/install-packages --only container" % ", ".join(missing))


def needs_file(*paths):
    missing = [os.path.basename(path) for path in paths if not os.path.exists(path)]
    if missing:
        raise CannotRun("no %s: tools/install-packages --only container" % ", ".join(missing))


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.3)
    assert what()


class Place:
    """Mounts and processes of their own. Files are in memory. `cluster` is a network that leads nowhere; without it a command has the host's,
    to fetch packages."""
    def __init__(self, folder):
        if os.getuid() != 0:
            raise CannotRun("only root can have namespaces and images of its own")
        needs("unshare", "nsenter", "ip")
        self.path = folder
        # /run is empty: no daemon of this host is there to be asked or told. The file with the name servers may be a link into it.
        script = """set -e
            cat /etc/resolv.conf >{0}/resolv; names=$(realpath /etc/resolv.conf)
            mount --make-rprivate /; mount -t tmpfs none /run; mount -t proc proc /proc
            mkdir -p $(dirname $names); [ -e $names ] || cp {0}/resolv $names
            mount -t tmpfs none {0}; mkdir {0}/tmp
            ip netns add cluster; ip -n cluster link set lo up
            echo ready; exec sleep infinity""".format(folder)
        self.keeper = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            raise CannotRun("no namespaces here: " + self.keeper.stderr.read().strip())
        self.started = []

    def _inside(self, command, network, env):
        # The keeper's child is the first process of the namespaces.
        first = open("/proc/%d/task/%d/children" % (self.keeper.pid, self.keeper.pid)).read().split()[0]
        enter = ["nsenter", "-t", first, "--mount", "--pid"] + (["nsenter", "--net=/run/netns/cluster"] if network == "cluster" else [])
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", "HOME": self.path, "TMPDIR": self.path + "/tmp", **env}
        return [*enter, "env", "-i", *("%s=%s" % row for row in variables.items()), *command]

    def run(self, *command, network="cluster", timeout=120, folder="/", **env):
        return subprocess.run(self._inside(["env", "-C", folder, *map(str, command)], network, env), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout)

    def ok(self, *command, **how):
        done = self.run(*command, **how)
        assert done.returncode == 0, "%s\n%s%s" % (shlex.join(map(str, command)), done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def start(self, *command, network="cluster"):
        self.started.append(subprocess.Popen(self._inside(command, network, {}), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))
        return self.started[-1]

    def write(self, name, text, mode=0o644):
        done = subprocess.run(self._inside(["sh", "-c", "cat >%s/%s && chmod %o %s/%s" % (self.path, name, mode, self.path, name)], "host", {}),
                              input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        return self.path + "/" + name

    def end(self):
        """The first process of the namespaces goes, and with it all others, the mounts and the networks."""
        self.keeper.kill()
        self.keeper.wait(timeout=30)
        for process in self.started:
            process.wait(timeout=30)


def base(place, cache):
    """A base image's files as an archive, which is kept for a week."""
    if os.path.exists(cache) and time.time() - os.path.getmtime(cache) < 7 * 86400:
        return cache
    needs("mmdebstrap")
    rows = subprocess.run(["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages",
                           "Origin: Debian"], capture_output=True, text=True, check=True).stdout
    sources = [row for row in rows.splitlines() if row.split()[2].startswith(SUITE)]
    if not sources:
        raise CannotRun("apt has no sources of " + SUITE)
    archive = place.path + "/base.tar"
    place.ok("mmdebstrap", "--variant=minbase", SUITE, archive, place.write("sources", "\n".join(sources) + "\n"), network="host", timeout=600)
    os.makedirs(os.path.dirname(cache), exist_ok=True)
    place.ok("sh", "-c", "cp {0} {1}.new && mv {1}.new {1}".format(archive, shlex.quote(cache)))
    return cache


class Engine:
    """What both have: the command `self.program` for images and containers, and `self.compose` for compose files."""
    def __init__(self, place):
        self.place = place

    def ok(self, *words, **how):
        return self.place.ok(*self.program, *words, **how)

    def run(self, *words, **how):
        return self.place.run(*self.program, *words, **how)

    def inside(self, container, *command, user=None, **how):
        return self.run("exec", *(("-u", user) if user else ()), container, *command, **how)

    def compose_ok(self, folder, *words, **how):
        return self.place.ok(*self.compose, *words, folder=folder, **{**self.variables, **how})

    def containers(self, service):
        """Their numbers, sorted by their names."""
        rows = self.ok("ps", "-a", "--filter", "label=com.docker.compose.service=" + service, "--format", "{{.Names}} {{.ID}}").splitlines()
        return [row.split()[1] for row in sorted(rows)]


class Podman(Engine):
    """Timers of health checks are systemd's, which is not there: a check is run when its result is asked for."""
    def __init__(self, place):
        needs("podman", "podman-compose", "runc", "conmon", "catatonit", "iptables")
        needs_file("/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns")
        super().__init__(place)
        # podman asks for more than it may have where even root is bounded.
        files, processes = (min(resource.getrlimit(what)[1], most) for what, most in ((resource.RLIMIT_NOFILE, 1 << 20), (resource.RLIMIT_NPROC, 1 << 15)))
        # runc as docker has it; crun refuses a host with control groups of both versions.
        configuration = place.write("containers.conf", """[containers]
default_ulimits = ["nofile=%d:%d", "nproc=%d:%d"]
[network]
network_backend = "netavark"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
""" % (files, files, processes, processes))
        options = "--root {0}/images --runroot {0}/run --tmpdir {0}/libpod --network-config-dir {0}/networks --storage-driver overlay".format(place.path)
        script = "#!/bin/sh\nexport CONTAINERS_CONF=%s\nexec podman %s \"$@\"\n" % (configuration, options)
        self.program = [place.write("podman", script, 0o755)]
        self.compose = ["podman-compose", "--podman-path", *self.program]
        self.variables = {}

    def build(self, folder, name):
        self.ok("build", "--network", "host", "-t", name, folder, network="host", timeout=300)

    def ready(self):
        pass

    def healthy(self, container):
        return self.run("healthcheck", "run", container).returncode == 0

    def end(self):
        pass


class Docker(Engine):
    """Its daemon runs in the host's network, without a bridge, while images are built, and then in `cluster`."""
    def __init__(self, place):
        needs("docker", "dockerd", "containerd", "runc", "docker-init", "docker-proxy", "iptables")
        super().__init__(place)
        socket = "unix://%s/docker.sock" % place.path
        self.program = ["docker", "--host", socket]
        self.variables = {"DOCKER_HOST": socket}
        self.compose = ["docker", "compose"] if place.run("docker", "compose", "version").returncode == 0 else ["docker-compose"]
        needs(self.compose[0])
        self._start("--iptables=false", "--bridge=none", network="host")

    def _start(self, *options, network="cluster"):
        configuration = self.place.write("docker.json", "{}")
        folders = [word.format(self.place.path) for word in ("--data-root={0}/docker", "--exec-root={0}/exec", "--pidfile={0}/docker.pid")]
        self.daemon = self.place.start("dockerd", *folders, "--host", self.variables["DOCKER_HOST"], "--config-file", configuration, *options,
                                       network=network)
        until(lambda: self.run("info").returncode == 0 or self.daemon.poll() is not None)
        if self.daemon.poll() is not None:
            raise CannotRun("dockerd does not start here")

    def build(self, folder, name):
        self.ok("build", "--network", "host", "-t", name, folder, network="host", timeout=300, DOCKER_BUILDKIT="1")

    def ready(self):
        self.end()
        self._start()

    def healthy(self, container):
        return self.ok("inspect", "-f", "{{.State.Health.Status}}", container) == "healthy\n"

    def end(self):
        self.place.run("sh", "-c", "kill $(cat %s/docker.pid)" % self.place.path)
        self.daemon.wait(timeout=60)


ENGINES = {"podman": Podman, "docker": Docker}
