"""packaging/container: the files against what docker and compose know, and the entrypoint of each role in a container that is played
(containers.py). test/container builds the image and runs it."""
import os
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from containers import Container, Containers
from page import until
from root import ROLES
from test_packages import files, install

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../packaging/container")
README = open(os.path.join(FOLDER, "README.md")).read()
PAGE = open(os.path.join(HERE, "../../docs/install.md")).read().split("## In containers")[1]
TEXT = {name: open(os.path.join(FOLDER, name)).read() for name in ("Dockerfile", "entrypoint", "compose.yaml")}
COMPOSE = yaml.safe_load(TEXT["compose.yaml"])
# Of the Compose specification: all keys of the top, of volumes, secrets and health checks; of a service those that have the form tested here.
TOP = {"name", "services", "networks", "volumes", "configs", "secrets", "include", "models"}
SERVICE = {"build": str, "image": str, "init": bool, "restart": str, "command": list, "hostname": str, "environment": dict, "secrets": list,
           "volumes": list, "depends_on": dict, "healthcheck": dict, "deploy": dict}
HEALTH = {"test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"}


def test_the_compose_file_has_the_keys_of_the_specification():
    assert {key for key in COMPOSE if not key.startswith("x-")} <= TOP
    # docker-compose 1.29 refuses the key `name`.
    assert "name" not in COMPOSE and re.fullmatch("COMPOSE_PROJECT_NAME=[a-z0-9][a-z0-9_-]*\n", open(os.path.join(FOLDER, ".env")).read())
    for name, service in COMPOSE["services"].items():
        for key, value in service.items():
            assert type(value) is SERVICE[key], (name, key)
        assert service["restart"] in ("no", "always", "on-failure", "unless-stopped")
        assert all(type(value) is str for value in service["environment"].values()), name
        assert all(type(word) is str for word in service.get("command", [])), name
        for volume in service["volumes"]:
            assert re.fullmatch(r"(\w+):/[\w/]+(:ro)?", volume) and volume.split(":")[0] in COMPOSE["volumes"], volume
        assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
        health = service["healthcheck"]
        assert set(health) <= HEALTH and type(health["retries"]) is int
        # podman-compose 1.0.3 takes a list apart, and has nothing for the second of a service's containers.
        assert type(health["test"]) is str if "deploy" in service else health["test"][0] == "CMD"
        assert set(service.get("deploy", {})) <= {"replicas"}
        assert all(re.fullmatch(r"\d+s", health[key]) for key in ("interval", "timeout"))
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"} and "healthcheck" in COMPOSE["services"][other]
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())
    assert "hostname" not in COMPOSE["services"]["node"], "each node has a name of its own"
    key = {name: [v for v in s["volumes"] if v.startswith("key:")] for name, s in COMPOSE["services"].items() if s["image"] == "muster"}
    assert {name for name, volumes in key.items() if volumes == ["key:/var/lib/muster"]} == {"slurmctld", "slurmdbd"}
    assert {name for name, volumes in key.items() if volumes == ["key:/var/lib/muster:ro"]} == {"node", "login"}


def test_names_of_hosts_are_services():
    for service in COMPOSE["services"].values():
        for name, value in service["environment"].items():
            if name in ("MUSTER_CONTROLLER", "MUSTER_DATABASE", "MUSTER_STORAGE_HOST"):
                assert COMPOSE["services"][value].get("hostname", value) == value


def test_the_image_copies_what_is_there_and_installs_what_it_needs(packages):
    for source in re.findall(r"^COPY (\S+) ", TEXT["Dockerfile"], re.M):
        assert os.path.exists(os.path.join(FOLDER, source)), source
    assert "!packages" in open(os.path.join(FOLDER, ".dockerignore")).read()
    installed = re.findall(r"/packages/muster-(\w+)_\*\.deb", TEXT["Dockerfile"])
    assert set(installed) <= set(ROLES)
    there = {os.path.basename(path) for role in installed for path in files(packages[role]) if re.match("/usr/s?bin/", path)}
    started = re.findall(r"^ *(?:SLURM_CONF=\S+ )?(?:exec )?(\w+) -D ", TEXT["entrypoint"], re.M)
    assert sorted(started) == ["sackd", "slurmctld", "slurmd", "slurmdbd"]
    tests = [s["healthcheck"]["test"] for s in COMPOSE["services"].values() if s["image"] == "muster"]
    healths = [test.split()[0] if type(test) is str else test[1] for test in tests]
    assert set(started + healths + ["scontrol"]) <= there
    ports = re.findall(r"^(?:Slurm\w+|Dbd)Port=(\d+)", TEXT["entrypoint"], re.M)
    assert sorted(re.search(r"^EXPOSE (.*)", TEXT["Dockerfile"], re.M)[1].split()) == sorted(ports)


def test_every_variable_is_documented_with_its_role():
    roles = {"controller": "slurmctld", "database": "slurmdbd", "node": "slurmd", "login": "login"}
    known = {}
    for function, names in re.findall(r"^(\w+)\(\) \{\n  known (.*)$", TEXT["entrypoint"], re.M):
        for name in names.split():
            known.setdefault(name, []).append(roles[function])
    assert dict(re.findall(r"^\| `(MUSTER_\w+)` \| ([\w, ]+) \|", README, re.M)) == {name: ", ".join(r) for name, r in known.items()}
    for name, service in COMPOSE["services"].items():
        for variable in service["environment"]:
            assert name == "mariadb" or service["command"][0] in known[variable], variable


def test_the_entrypoint_is_a_posix_script():
    done = subprocess.run(["sh", "-n", os.path.join(FOLDER, "entrypoint")], capture_output=True, text=True)
    assert done.returncode == 0 and TEXT["entrypoint"].startswith("#!/bin/sh\n"), done.stderr
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", os.path.join(FOLDER, "entrypoint")], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def containers(root):
    install(root)
    root.ok("id user 2>/dev/null || useradd -s /bin/bash user; mkdir -p /var/lib/muster")
    return Containers(root, FOLDER)


WRONG = [("", {}, "nothing: a container is slurmctld, slurmdbd, slurmd or login"),
         ("slurmctl", {}, "slurmctl: a container is slurmctld, slurmdbd, slurmd or login"),
         ("slurmctld", {"MUSTER_CLUSTR": "a"}, "MUSTER_CLUSTR: slurmctld has no such variable; it has MUSTER_CLUSTER MUSTER_DATABASE"),
         ("login", {"MUSTER_NODE": "CPUs=1"}, "MUSTER_NODE: login has no such variable"),
         ("slurmctld", {"MUSTER_CLUSTER": "Big Cluster"}, "MUSTER_CLUSTER=Big Cluster: small letters"),
         ("slurmctld", {"MUSTER_CLUSTER": "a\nSlurmUser=root"}, "MUSTER_CLUSTER=a"),
         ("slurmctld", {"MUSTER_CLUSTER": "a" * 41}, "40 characters at most"),
         ("slurmctld", {"MUSTER_DATABASE": "db\nSlurmUser=root"}, "MUSTER_DATABASE=db"),
         ("slurmdbd", {"MUSTER_STORAGE_USER": "me"}, "MUSTER_STORAGE_HOST is missing"),
         ("slurmdbd", {"MUSTER_STORAGE_HOST": "-db", "MUSTER_STORAGE_PASSWORD_FILE": "/tmp/word"}, "a host's name has"),
         ("slurmdbd", {"MUSTER_STORAGE_HOST": "db"}, "MUSTER_STORAGE_PASSWORD_FILE is missing"),
         ("slurmdbd", {"MUSTER_STORAGE_HOST": "db", "MUSTER_STORAGE_PASSWORD_FILE": "/tmp/none"}, "/tmp/none: it cannot be read"),
         ("slurmdbd", {"MUSTER_STORAGE_HOST": "db", "MUSTER_STORAGE_PASSWORD_FILE": "/dev/null"}, "/dev/null: it is empty"),
         ("slurmdbd", {"MUSTER_STORAGE_HOST": "db", "MUSTER_STORAGE_PASSWORD_FILE": "/tmp/word"}, "the password in MUSTER_STORAGE_PASSWORD_FILE: a value is one line"),
         ("slurmd", {"MUSTER_NODE": "CPUs=1 # RealMemory=5"}, "MUSTER_NODE: a value is one line"),
         ("slurmd", {"MUSTER_CONTROLLER": "a,b"}, "MUSTER_CONTROLLER=a,b: a host's name has")]


@pytest.mark.parametrize("role,variables,said", WRONG)
def test_what_is_wrong_is_said_and_nothing_is_written(containers, role, variables, said):
    containers.root.write("/tmp/word", "wicked\nSlurmUser=root\n")
    given = " ".join(shlex.quote("%s=%s" % row) for row in variables.items())
    done = containers.root.run("%s /usr/local/bin/muster-entrypoint %s" % ("env " + given if given else "", role), 20)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "wicked" not in done.stderr
    assert containers.root.ok("ls /etc/slurm /var/lib/muster").split() == ["/etc/slurm:", "/var/lib/muster:"]


def test_those_that_start_at_once_agree_on_a_key(containers):
    """In place of slurmdbd is what reads its key; dd takes its time, so that each makes a key before the first one is there."""
    root = containers.root
    root.write("/tmp/slurmdbd", "#!/bin/sh\nsha256sum </etc/slurm/slurm.key\n", 0o755)
    root.write("/tmp/dd", '#!/bin/sh\nsleep "0.$(($$ % 8 + 1))"\nexec /usr/bin/dd "$@"\n', 0o755)
    sums = root.ok("export PATH=/tmp:$PATH; for i in 1 2 3 4 5 6 7 8; do unshare --mount sh -c 'mount -t tmpfs none /etc/slurm; /usr/local/bin/muster-entrypoint slurmdbd' & done; wait")
    assert len(sums.splitlines()) == 8 and len(set(sums.splitlines())) == 1
    assert root.ok("ls -A /var/lib/muster; rm /var/lib/muster/slurm.key /tmp/slurmdbd /tmp/dd") == "slurm.key\n"


def page_commands():
    """The page's commands in containers: service, user, command."""
    for line in re.search(r"```\n(docker compose exec.*?)```", PAGE, re.S)[1].splitlines():
        user, service, command = re.fullmatch(r"docker compose exec (?:-u (\w+) )?(\w+) (.*)", line).groups()
        yield service, user, command


@pytest.mark.row(128)
def test_a_cluster_as_the_compose_file_has_it(containers):
    root = containers.root
    [password] = re.findall(r"^\(umask 077; (od .*) > database-password\)$", PAGE, re.M)
    root.ok("cd /srv/secrets && umask 077 && %s >database-password" % password)
    password = root.ok("cat /srv/secrets/database-password")
    assert re.fullmatch("[0-9a-f]{32}", password)
    root.ok("install -d -o user -g user /srv/volumes/home/user")
    early = Container(containers, "node", "node-0", 50).start()  # by hand: nothing that it depends on is there
    until(lambda: "waits for /var/lib/muster/slurm.key" in early.said())
    database, server = containers.up("mariadb"), containers.up("slurmdbd")
    controller = containers.up("slurmctld")
    until(early.healthy)
    nodes = [containers.up("node", "node-%d" % i) for i in (1, 2)]
    login = containers.up("login")
    until(lambda: login.run("sinfo -h -o '%D %t'").stdout == "3 idle\n")

    said = {}
    for service, user, command in page_commands():
        said[command] = {"login": login, "slurmctld": controller}[service].ok(command, user=user)
        until(lambda: login.run("squeue -h").stdout == "")
    assert len(set(said["srun -N2 hostname"].split()) & {n.host for n in (early, *nodes)}) == 2
    assert root.ok("cat /srv/volumes/home/user/slurm-2.out; stat -c %U /srv/volumes/home/user/slurm-2.out").split()[1] == "user"
    until(lambda: re.search(r"^2 .*COMPLETED", login.run("sacct -X -a -n").stdout, re.M))
    assert re.search(r"ClusterName\s*= muster\n", said["scontrol show config"])
    assert controller.ok("scontrol -o show node " + nodes[0].host).count("CPUTot=1 ") == 1

    login.ok("cd /home/user && sbatch -W -N2 -o steps --wrap 'srun id -un'", user="user")
    assert root.ok("cat /srv/volumes/home/user/steps") == "user\nuser\n"
    # A user's step from the login host, where he can read no key: by way of sackd.
    assert login.ok("cd /home/user && srun -N2 id -un", user="user") == "user\nuser\n"

    # Who has what.
    assert server.ok("stat -c '%U %a' /etc/slurm/slurmdbd.conf; grep StoragePass /etc/slurm/slurmdbd.conf") == "slurm 600\nStoragePass=%s\n" % password
    assert root.ok("ls /srv/volumes/configuration /srv/volumes/key; stat -c '%U %a %s' /srv/volumes/key/slurm.key").split() == [
        "/srv/volumes/configuration:", "slurm.conf", "slurm.key", "/srv/volumes/key:", "slurm.key", "slurm", "600", "1024"]
    for c in (early, *nodes, login):
        assert c.ok("find /etc/slurm -mindepth 1").split() == ["/etc/slurm/slurm.key"]
        assert c.run("touch /var/lib/muster/x").returncode != 0
        assert c.run("cat /etc/slurm/slurm.key", user="user").returncode != 0

    # A node that is stopped has left; one with a job stays.
    assert nodes[0].stop() == 0
    assert nodes[0].host not in login.ok("sinfo -h -N -o %N").split()
    assert len(login.ok("sinfo -h -N -o %N").split()) == 2
    login.ok("sbatch -o /dev/null -w %s --wrap 'sleep 1000'" % nodes[1].host)
    until(lambda: login.run("squeue -h -o %t").stdout == "R\n")
    assert nodes[1].stop() == 0
    assert "the node stays in the cluster" in nodes[1].said()
    assert nodes[1].host in login.ok("sinfo -h -N -o %N").split()

    # All others end, too, and the second start keeps what the first has made.
    kept = root.ok("sha256sum /srv/volumes/key/slurm.key /srv/volumes/configuration/slurm.conf")
    for c in (early, login, controller, server, database):
        assert c.stop() == 0, c.said()
    containers.up("mariadb", "mariadb-2")
    containers.up("slurmdbd", "slurmdbd-2")
    controller = containers.up("slurmctld", "slurmctld-2", MUSTER_CLUSTER="other")
    assert "keeps /etc/slurm/slurm.conf" in controller.said()
    assert root.ok("sha256sum /srv/volumes/key/slurm.key /srv/volumes/configuration/slurm.conf") == kept
    node = containers.up("node", "node-3")
    assert node.host in controller.ok("srun -w %s hostname" % node.host)
    assert re.search(r"^2 .*COMPLETED", controller.ok("sacct -X -a -n"), re.M), "the records are there"
