"""What `docker compose up` makes of a compose.yaml, as far as no image and no docker is needed: for each container namespaces of its own
(mounts, network, host name, processes) in a Root that has the packages, the volumes, the secrets, the variables, the command, and no more
rights than docker gives by default. mariadb's image is played by this host's mariadbd."""
import os
import re
import shlex
import time

import yaml

# What docker leaves to root in a container.
RIGHTS = ("chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap").split()
# Folders that are a container's own.
OWN = ("/run", "/tmp", "/etc/slurm", "/var/lib/slurm", "/var/lib/muster", "/var/lib/mysql", "/var/spool/slurmd", "/var/log/slurm", "/home")
# docker-init (`init: true`): passes signals on, reaps, ends with its child's status.
INIT = """trap 'kill -TERM $p' TERM; "$@" & p=$!; while :; do wait $p; s=$?; kill -0 $p 2>/dev/null || exit $s; done"""
MARIADB = """mkdir -p /run/mysqld; cat >/run/init.sql <<END
CREATE DATABASE IF NOT EXISTS $MARIADB_DATABASE;
CREATE USER IF NOT EXISTS $MARIADB_USER@'%' IDENTIFIED BY '$(cat $MARIADB_PASSWORD_FILE)';
GRANT ALL ON $MARIADB_DATABASE.* TO $MARIADB_USER@'%';
END
mariadb-install-db --no-defaults --skip-test-db --datadir=/var/lib/mysql --user=root
exec mariadbd --no-defaults --skip-name-resolve --datadir=/var/lib/mysql --user=root --socket=/run/mysqld/s --pid-file=/run/mysqld/pid --init-file=/run/init.sql"""


def bounded(command):
    return "setpriv --bounding-set -all,%s --inh-caps -all %s" % (",".join("+" + right for right in RIGHTS), command)


class Container:
    def __init__(self, containers, service, name, number):
        self.all, self.root, self.name, self.service, self.number = containers, containers.root, name, service, number
        self.spec = containers.services[service]
        self.host = self.spec.get("hostname", "%012x" % (0x5e0c0de00000 + number))
        self.address = containers.addresses.get(service) if service != "node" else "10.77.0.%d" % (100 + number)
        self.log = "/srv/containers/%s.log" % name

    def _setup(self):
        lines = ["hostname " + self.host, "mount -t proc proc /proc", "mount -t sysfs -o ro sysfs /sys"]
        lines += ["mkdir -p {0} && mount -t tmpfs -o mode={1} none {0}".format(folder, "1777" if folder == "/tmp" else "755") for folder in OWN]
        for volume in self.spec.get("volumes", []):
            source, target, *options = volume.split(":")
            lines.append("mount --bind /srv/volumes/%s %s" % (source, target))
            if options == ["ro"]:
                lines.append("mount -o remount,bind,ro " + target)
        for secret in self.spec.get("secrets", []):
            lines.append("mkdir -p /run/secrets && cp /srv/secrets/%s /run/secrets/" % secret)
        hosts = ["127.0.0.1 localhost", "%s %s" % (self.address, self.host)]
        hosts += ["%s %s" % (address, name) for name, address in self.all.addresses.items() if name != self.host]
        lines.append("printf '%%s\\n' %s >/run/hosts && mount --bind /run/hosts /etc/hosts" % " ".join(map(shlex.quote, hosts)))
        return lines

    def start(self, *command, **environment):
        given = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "HOSTNAME": self.host,
                 **self.all.environment(self.service), **environment}
        variables = "env -i " + " ".join(shlex.quote("%s=%s" % row) for row in given.items())
        if self.service == "mariadb":
            run = "%s sh -ec %s" % (variables, shlex.quote(MARIADB))
        else:
            words = ["/usr/local/bin/muster-entrypoint", *(command or self.spec["command"])]
            if self.spec.get("init"):
                words = ["sh", "-c", INIT, "init", *words]
            run = bounded(variables + " " + " ".join(map(shlex.quote, words)))
        script = "set -e; %s; exec %s" % ("; ".join(self._setup()), run)
        self.root.ok("mkdir -p /srv/containers; ip netns add {0} && ip link add v{1} type veth peer name eth0 netns {0} && ip link set v{1} master br0 up && "
                     "nsenter --net=/run/netns/{0} sh -c 'ip link set lo up; ip addr add {2}/24 dev eth0; ip link set eth0 up'".format(
                         self.name, self.number, self.address))
        pid = "/srv/containers/%s.pid" % self.name
        self.root.start("sh -c " + shlex.quote("echo $$ >%s; exec nsenter --net=/run/netns/%s unshare --mount --uts --pid --fork --kill-child sh -c %s >>%s 2>&1" % (
            pid, self.name, shlex.quote(script), self.log)))
        self.process = self.root.started[-1]
        self.first = "$(cat /proc/$(cat {0})/task/$(cat {0})/children)".format(pid)
        return self

    def run(self, command, timeout=60, user=None):
        """`docker compose exec`."""
        inside = "env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -c " + shlex.quote(command)
        if user:
            inside = "setpriv --reuid %s --regid %s --init-groups %s" % (user, user, inside)
        return self.root.run("nsenter -t %s -m -u -p -n -r -w %s" % (self.first, bounded(inside)), timeout)

    def ok(self, command, user=None):
        done = self.run(command, user=user)
        assert done.returncode == 0, "%s: %s\n%s%s\n%s" % (self.name, command, done.stdout, done.stderr, self.said())
        return done.stdout

    def said(self):
        return self.root.run("cat " + self.log).stdout[-4000:]

    def healthy(self):
        test = self.spec["healthcheck"]["test"]
        command = test.replace("$$", "$") if type(test) is str else " ".join(map(shlex.quote, test[1:]))
        if self.service == "mariadb":
            command = "mariadb --no-defaults -S /run/mysqld/s -e 'SELECT 1'"
        done = self.run(command)
        self.unhealthy = "" if done.returncode == 0 else done.stdout + done.stderr
        return done.returncode == 0

    def stop(self, seconds=20):
        """`docker compose stop`: the exit status, and nothing is left of it."""
        self.root.ok("kill -TERM " + self.first)
        code = self.process.wait(timeout=seconds)
        self.root.ok("ip netns del %s; for i in 1 2 3 4 5 6 7 8 9; do ip link show v%d >/dev/null 2>&1 || break; sleep 0.3; done" % (self.name, self.number))
        return code


class Containers:
    def __init__(self, root, folder):
        self.root = root
        self.file = yaml.safe_load(open(os.path.join(folder, "compose.yaml")))
        self.services = self.file["services"]
        self.addresses = {name: "10.77.0.%d" % (10 + i) for i, name in enumerate(self.services) if name != "node"}
        self.numbers = 0
        root.copy(folder, "/usr/local/bin", "entrypoint")
        root.ok("mv /usr/local/bin/entrypoint /usr/local/bin/muster-entrypoint; ip link add br0 type bridge && ip link set br0 up; mkdir -p /srv/secrets; "
                + "; ".join("install -d /srv/volumes/" + volume for volume in self.file["volumes"]))

    def environment(self, service):
        """Its variables, without an .env file."""
        return {name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value) for name, value in self.services[service].get("environment", {}).items()}

    def up(self, service, name=None, **environment):
        """Starts one once what it depends on is healthy, and waits until it is."""
        self.numbers += 1
        container = Container(self, service, name or service, self.numbers).start(**environment)
        end = time.monotonic() + 45
        while not container.healthy():
            assert container.process.poll() is None and time.monotonic() < end, container.said() + container.unhealthy
            time.sleep(0.3)
        return container
