"""packaging/container for real: the image is built and compose.yaml is run, by each engine."""
import json
import re

import pytest

from conftest import PAGE
from engines import until

SERVICES = ("mariadb", "slurmdbd", "slurmctld", "node", "login")


def page_commands():
    """The page's commands in containers: user, service, command."""
    for line in re.search(r"```\n(docker compose exec.*?)```", PAGE, re.S)[1].splitlines():
        yield re.fullmatch(r"docker compose exec (?:-u (\w+) )?(\w+) (.*)", line).groups()


class Cluster:
    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder

    def names(self):
        """Host names of the nodes' containers."""
        return [self.inside(c, "uname", "-n").strip() for c in self.engine.containers("node")]

    def inside(self, container, *command, user=None):
        done = self.engine.inside(container, *command, user=user)
        assert done.returncode == 0, "%s\n%s%s" % (command, done.stdout, done.stderr)
        return done.stdout

    def ok(self, *command, user=None):
        """On the login host."""
        return self.inside(*self.engine.containers("login"), *command, user=user)

    def said(self, *command):
        """There, whether or not the command fails."""
        return self.engine.inside(*self.engine.containers("login"), *command).stdout

    def healthy(self):
        return all(self.engine.healthy(c) for s in SERVICES for c in self.engine.containers(s))

    def until_idle(self, nodes):
        until(lambda: self.said("sinfo", "-h", "-o", "%D %t") == "%d idle\n" % nodes)


@pytest.fixture(scope="module")
def cluster(engine, context):
    engine.compose_ok(context, "up", "-d", timeout=300, MUSTER_NODES="2")
    yield Cluster(engine, context)
    engine.compose_ok(context, "down", "-v")


def test_the_image_has_the_programs_and_nothing_of_the_build(engine, context):
    [image] = json.loads(engine.ok("image", "inspect", "muster"))
    assert set(image["Config"]["ExposedPorts"]) == {"6817/tcp", "6818/tcp", "6819/tcp"}
    assert set(image["Config"]["Volumes"]) == {"/var/lib/muster", "/var/lib/slurm"}
    script = "slurmctld -V && id -u user slurm && find /packages /var/lib/apt/lists /etc/slurm /var/lib/muster -type f"
    lines = engine.run("run", "--rm", "--network", "none", "--entrypoint", "sh", "muster", "-c", script).stdout.splitlines()
    assert lines[0].startswith("slurm ") and lines[1:] == ["1000", "64030"]


def test_a_wrong_role_ends_the_container(engine, context):
    done = engine.run("run", "--rm", "--network", "none", "muster", "slurmctl")
    assert done.returncode == 2 and "slurmctl: a container is slurmctld, slurmdbd, slurmd or login" in done.stderr


def test_the_cluster_comes_up_and_does_what_the_page_says(cluster):
    until(cluster.healthy)
    cluster.until_idle(2)
    said = {}
    for user, service, command in page_commands():
        as_user = ("-u", user) if user else ()
        said[command] = cluster.engine.compose_ok(cluster.folder, "exec", "-T", *as_user, service, *command.split())
        until(lambda: cluster.said("squeue", "-h") == "")
    assert set(cluster.names()) <= set(said["srun -N2 hostname"].split()), "podman-compose prints lines of its own, too"
    assert re.search(r"ClusterName\s*= muster\n", said["scontrol show config"])
    until(lambda: re.search(r"^2 .*COMPLETED", cluster.said("sacct", "-X", "-a", "-n"), re.M))
    assert cluster.ok("cat", "/home/user/slurm-2.out").strip() in cluster.names()


def test_users_are_users_in_every_container(cluster):
    assert cluster.ok("srun", "-D", "/home/user", "-N2", "id", "-un", user="user").split() == ["user", "user"]
    [login], [controller] = cluster.engine.containers("login"), cluster.engine.containers("slurmctld")
    for container in (login, controller, *cluster.engine.containers("node")):
        assert cluster.engine.inside(container, "cat", "/var/lib/muster/slurm.key", user="user").returncode != 0
    for container in (login, *cluster.engine.containers("node")):
        assert cluster.engine.inside(container, "touch", "/var/lib/muster/x").returncode != 0, "only to read"
    done = cluster.engine.inside(login, "scontrol", "update", "partitionname=main", "state=down", user="user")
    assert done.returncode != 0 and "denied" in done.stderr, done.stderr


def test_containers_have_no_more_than_the_usual_rights(cluster):
    for container in cluster.engine.containers("node"):
        status = cluster.inside(container, "cat", "/proc/self/status")
        assert int(re.search(r"^CapBnd:\s*(\w+)", status, re.M)[1], 16) & ~0xa80425fb == 0


def test_a_lost_host_comes_back_with_its_jobs_in_any_order(cluster):
    """All are killed at once, as a host that loses its power, and started without anybody waiting for another, as after its return."""
    ran = cluster.ok("sbatch", "--parsable", "-o", "/home/x", "-N2", "-W", "--wrap", "srun hostname").strip()
    waits = cluster.ok("sbatch", "--parsable", "-o", "/home/y", "--begin", "now+1day", "--wrap", "hostname").strip()
    all_of_them = [c for s in SERVICES for c in cluster.engine.containers(s)]
    cluster.engine.ok("kill", "-s", "KILL", *all_of_them)
    for container in reversed(all_of_them):
        cluster.engine.ok("start", container)
    until(cluster.healthy, 90)
    cluster.until_idle(2)
    assert cluster.ok("squeue", "-h", "-o", "%i %t") == waits + " PD\n"
    assert re.search("^%s .*COMPLETED" % ran, cluster.ok("sacct", "-X", "-a", "-n"), re.M)
    cluster.ok("scancel", waits)
    assert sorted(cluster.ok("srun", "-N2", "hostname").split()) == sorted(cluster.names())


def test_a_controller_that_dies_is_started_again(cluster):
    [controller] = cluster.engine.containers("slurmctld")
    find = "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = slurmctld ] && echo ${p#/proc/}; done"
    def started():
        return cluster.engine.ok("inspect", "-f", "{{.State.StartedAt}}", controller)
    before = started()
    cluster.engine.inside(controller, "sh", "-c", "kill -9 $(%s)" % find)
    until(lambda: started() != before and "is UP" in cluster.said("scontrol", "ping"))
    cluster.until_idle(2)
    assert len(cluster.ok("srun", "-N2", "hostname").split()) == 2


def test_what_is_stopped_ends_well_and_nodes_leave(cluster):
    *others, last = cluster.engine.containers("node")
    name = cluster.inside(last, "uname", "-n").strip()
    cluster.engine.ok("stop", last)
    assert name not in cluster.ok("sinfo", "-h", "-N", "-o", "%N").split()
    cluster.until_idle(1)
    cluster.engine.ok("start", last)
    cluster.until_idle(2)
    rest = [c for s in reversed(SERVICES) for c in cluster.engine.containers(s)]
    for container in rest:
        cluster.engine.ok("stop", container)
        assert cluster.engine.ok("inspect", "-f", "{{.State.ExitCode}}", container) == "0\n", container
