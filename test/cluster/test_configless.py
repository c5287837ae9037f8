"""Hosts without slurm.conf: slurmd --conf-server, what scontrol reconfigure does there, sackd on login hosts, DNS. slurmd(8), sackd(8), guide
configless_slurm."""
import os
import shutil
import subprocess
import sys

import pytest

from harness import HOST, end_process, free_ports, until

pytestmark = pytest.mark.better_than_slurm      # a released Slurm needs a port of its own for each slurmd of a host

ENABLED = "SlurmctldParameters=enable_configless"


class Site:
    """A cluster whose slurmds have the key and no slurm.conf."""

    def __init__(self, make_cluster, conf=ENABLED, nodes=1, **kw):
        self.cluster = make_cluster(start=False, nodes=nodes, conf=conf, **kw)
        self.etc = os.path.join(self.cluster.folder, "etc")
        self.node = os.path.join(self.cluster.folder, "node")     # where a slurm.conf would be, on a node
        self.run = os.path.join(self.cluster.folder, "rt")
        os.mkdir(self.node)
        os.mkdir(self.run)
        shutil.copy(os.path.join(self.etc, "slurm.key"), self.node)
        self.server = "127.0.0.1:%d" % self.cluster.port

    def env(self, **more):
        return {**self.cluster.env, "SLURM_CONF": os.path.join(self.node, "slurm.conf"), "RUNTIME_DIRECTORY": self.run, **more}

    def spawn(self, program, *args, **env):
        kept, self.cluster.env = self.cluster.env, self.env(**env)
        try:
            return self.cluster.spawn(program, *args)
        finally:
            self.cluster.env = kept

    def begin(self, name="n1", *args):
        self.cluster.slurmds[name] = self.spawn("slurmd", "-D", "-N", name, "--conf-server", self.server, *args)

    def start(self):
        self.cluster.start_ctld()
        self.cluster.wait_ctld()
        for name in self.cluster.names:
            self.begin(name)
        self.cluster.wait_nodes("idle")
        return self.cluster

    def conf(self, name, text, mode=0o644):
        with open(os.path.join(self.etc, name), "w") as f:
            f.write(text)
        os.chmod(os.path.join(self.etc, name), mode)

    def add(self, line):
        with open(self.cluster.conf_path, "a") as f:
            f.write(line + "\n")

    def cached(self, name, node="n1"):
        with open(os.path.join(self.cluster.folder, "spool", node, "conf-cache", name)) as f:
            return f.read()

    def has(self, name, text, node="n1"):
        until("%s of %s to be there" % (name, node), lambda: text in self.cached(name, node))


def test_a_node_without_slurm_conf(make_cluster):
    site = Site(make_cluster, nodes=2)
    cluster = site.start()
    for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
        with open(os.path.join(site.etc, name)) as f:
            assert site.cached(name) == f.read()
    cache = os.path.join(cluster.folder, "spool/n1/conf-cache")
    assert sorted(os.listdir(cache)) == ["cgroup.conf", "gres.conf", "slurm.conf", "slurm.key"]
    assert os.path.realpath(os.path.join(cache, "slurm.key")) == os.path.join(site.node, "slurm.key")
    assert "gpu:h100:8" in cluster.ok("scontrol", "show", "node", "n1").out
    assert cluster.ok("srun", "-w", "n1", "--gres=gpu:1", "bash", "-c", "echo $SLURMD_NODENAME $SLURM_CONF").out == "n1 %s/slurm.conf\n" % cache
    job = cluster.sbatch("-N2", "-o", "out", cluster.file("both.sh", "#!/bin/bash\nsrun bash -c 'echo $SLURMD_NODENAME' | sort\nsqueue -h -j $SLURM_JOB_ID -o %T\n"))
    cluster.wait_job(job)
    assert cluster.read("out").split() == ["n1", "n2", "RUNNING"]
    # Commands of the host find the files by the link.
    assert os.path.islink(os.path.join(site.run, "conf"))
    assert cluster.ok("sinfo", "-h", "-o", "%D", "-p", "main", env={"SLURM_CONF": site.run + "/conf/slurm.conf"}).out.strip() == "2"
    # slurmd -C, which needs no file, asks nobody; -G has the node's own.
    assert cluster.run("slurmd", "-C", "--conf-server", "127.0.0.1:1").code == 0
    assert "gpu" in cluster.ok("slurmd", "-G", "-N", "n1", "--conf-server", site.server, env=site.env()).out + cluster.logs()


def test_scripts_includes_and_plugins_travel_too(make_cluster):
    site = Site(make_cluster, conf=ENABLED + "\nInclude more.conf\nProlog=prolog.sh\nTaskProlog=task.sh")
    site.conf("more.conf", "Epilog=epilog.sh\n")
    marks = site.cluster.work
    site.conf("prolog.sh", "#!/bin/sh\necho one $SLURM_JOB_ID >> %s/prolog\n" % marks, 0o755)
    site.conf("epilog.sh", "#!/bin/sh\necho $SLURM_JOB_ID >> %s/epilog\n" % marks, 0o755)
    site.conf("task.sh", "#!/bin/sh\necho export FROM_TASK=yes\n", 0o755)
    site.conf("plugstack.conf", "include deep.conf\n")
    site.conf("deep.conf", "# no plugin\n")
    site.conf("stays.conf", "nobody names this\n")
    cluster = site.start()
    cache = os.path.join(cluster.folder, "spool/n1/conf-cache")
    assert sorted(os.listdir(cache)) == sorted("cgroup.conf deep.conf epilog.sh gres.conf more.conf plugstack.conf prolog.sh slurm.conf slurm.key task.sh".split())
    assert os.stat(cache + "/prolog.sh").st_mode & 0o777 == 0o755
    # The controller's own folder may go: the node has its own.
    for name in ("prolog.sh", "epilog.sh", "task.sh"):
        os.rename(os.path.join(site.etc, name), os.path.join(site.etc, name + ".away"))
    assert cluster.ok("srun", "bash", "-c", "echo $FROM_TASK").out == "yes\n"
    assert cluster.read("prolog").startswith("one ")
    until("the epilog", lambda: cluster.read("epilog").strip())


def test_scontrol_reconfigure_brings_what_changed(make_cluster):
    site = Site(make_cluster, nodes=3, conf=ENABLED + "\nProlog=prolog.sh")
    say = "#!/bin/sh\necho %s >> %s/prolog\n"
    site.conf("prolog.sh", say % ("one", site.cluster.work), 0o755)
    cluster = site.start()
    cluster.ok("srun", "-w", "n1", "true")
    site.conf("prolog.sh", say % ("two", cluster.work), 0o755)
    site.add("# a remark\nTaskProlog=task.sh")
    site.conf("task.sh", "#!/bin/sh\necho export FROM_TASK=yes\n", 0o755)
    cluster.ok("scontrol", "reconfigure")
    for node in cluster.names:
        site.has("slurm.conf", "# a remark", node)
        site.has("prolog.sh", "echo two", node)
    until("the new prolog to run", lambda: cluster.ok("srun", "-w", "n1", "bash", "-c", "echo $FROM_TASK").out == "yes\n")
    assert cluster.read("prolog").split()[-1] == "two"
    # A file that is no longer named goes.
    cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith("Prolog=")]
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    until("prolog.sh to go", lambda: not os.path.exists(os.path.join(cluster.folder, "spool/n1/conf-cache/prolog.sh")))
    cluster.must_run()


def test_a_running_job_and_a_refused_file_keep_what_was(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    job = cluster.sbatch("-o", "out", "--wrap", "sleep 3; cat $SLURM_CONF | tail -1")
    cluster.wait_job(job, "RUNNING")
    site.add("NoSuchKey=1")
    refused = cluster.run("scontrol", "reconfigure")
    assert refused.code == 1 and "NoSuchKey" in refused.err, refused
    assert "NoSuchKey" not in site.cached("slurm.conf")
    cluster.write_lines()
    site.add("# the last")
    cluster.ok("scontrol", "reconfigure")
    cluster.wait_job(job)
    assert cluster.read("out") == "# the last\n"


def test_a_node_that_was_away_gets_them_when_it_comes(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    # slurmctld was away: its new start has other files.
    cluster.kill_ctld()
    site.add("# second")
    cluster.start_ctld()
    cluster.wait_ctld()
    site.has("slurm.conf", "# second")
    cluster.wait_nodes("idle")
    # The node was away.
    assert end_process(cluster.slurmds.pop("n1")) == 0
    site.add("# third")
    cluster.ok("scontrol", "reconfigure")
    assert "# third" not in site.cached("slurm.conf")
    site.begin("n1")
    cluster.wait_nodes("idle")
    assert "# third" in site.cached("slurm.conf")
    # slurmd waits for slurmctld, which has the configuration.
    assert end_process(cluster.slurmds.pop("n1")) == 0
    cluster.kill_ctld()
    site.begin("n1")
    until("slurmd to say so", lambda: "is waited for" in cluster.logs(20000))
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle")


def test_who_gets_nothing(make_cluster):
    site = Site(make_cluster, conf="")
    cluster = site.cluster
    cluster.start_ctld()
    cluster.wait_ctld()

    def refused(*args, **env):
        result = cluster.run("slurmd", "-D", "-N", "n1", *args, env=site.env(**env))
        assert result.code == 1, result
        return result.err
    said = refused("--conf-server", site.server)
    assert "ConfigLess mode is disabled in slurm configuration." in said and "SlurmctldParameters=enable_configless" in said
    for wrong, why in (("127.0.0.1:0", "a port is a number from 1 to 65535"), ("::1", "brackets"), (",", "names no server"), ("a b", "this is no host")):
        assert why in refused("--conf-server", wrong)
    assert "or with --token-file the token does" in refused("--ca-cert-file", "/x", "--conf-server", site.server)
    with open(os.path.join(site.node, "slurm.key"), "wb") as f:
        f.write(os.urandom(1024))
    assert "key" in refused("--conf-server", site.server)
    assert not os.path.exists(os.path.join(cluster.folder, "spool/n1/conf-cache"))


def test_a_dynamic_node(make_cluster):
    site = Site(make_cluster, conf=ENABLED + "\nMaxNodeCount=4\nNodeSet=dynamic Feature=dyn\nPartitionName=late Nodes=dynamic\nSlurmdPort=%d" % free_ports(1)[0])
    cluster = site.start()
    cluster.slurmds["d1"] = site.spawn("slurmd", "-D", "-N", "d1", "-Z", "--conf", "CPUs=2 RealMemory=100 Feature=dyn", "--conf-server", site.server)
    cluster.wait_nodes("idle", ["d1"])
    assert cluster.ok("srun", "-p", "late", "bash", "-c", "echo $SLURM_CONF").out == "%s/spool/d1/conf-cache/slurm.conf\n" % cluster.folder
    site.add("# news")
    cluster.ok("scontrol", "reconfigure")
    site.has("slurm.conf", "# news", "d1")
    cluster.wait_nodes("idle", ["d1"])


def test_the_first_server_that_answers(make_cluster):
    site = Site(make_cluster)
    site.server = "127.0.0.1:%d,127.0.0.1:%d" % (free_ports(1)[0], site.cluster.port)
    site.start()
    assert "ClusterName=test" in site.cached("slurm.conf")


class Login:
    """A login host: sackd, and no other socket to be found. slurmctld's is moved away, as if it were on another host."""

    def __init__(self, site, *args, **env):
        self.site, self.cluster = site, site.cluster
        self.env = {"SLURM_CONF": site.run + "/conf/slurm.conf"}
        self.sackd = site.spawn("sackd", "-D", "--conf-server", site.server, *args, **env)
        until("sackd to listen", lambda: os.path.exists(site.run + "/sack.socket"))
        until("the files", lambda: os.path.exists(site.run + "/conf/slurm.conf"))

    def alone(self):
        for name in os.listdir(os.path.join(self.cluster.folder, "run")):
            if name.endswith(".sock"):
                path = os.path.join(self.cluster.folder, "run", name)
                os.rename(path, path + ".away")
        os.rename(os.path.join(self.site.node, "slurm.key"), os.path.join(self.site.node, "slurm.key.away"))    # nor a key

    def end(self):
        folder = os.path.join(self.cluster.folder, "run")
        for name in os.listdir(folder):
            if name.endswith(".away") and not os.path.exists(os.path.join(folder, name[:-len(".away")])):
                os.rename(os.path.join(folder, name), os.path.join(folder, name[:-len(".away")]))
        assert end_process(self.sackd) == 0


def test_commands_of_a_login_host_with_sackd(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    os.unlink(site.run + "/conf")    # slurmd's, on this same host
    login = Login(site)
    login.alone()
    env = login.env
    until("sackd to reach slurmctld", lambda: cluster.run("sinfo", env=env).code == 0)
    assert cluster.ok("sinfo", "-h", "-o", "%N", env=env).out.split()[0] == "n1"
    job = cluster.sbatch("-o", "out", "--wrap", "echo $SLURM_SUBMIT_HOST", env=env)
    until("the job to end", lambda: "COMPLETED" in cluster.ok("scontrol", "show", "job", str(job), env=env).out)
    assert cluster.read("out") == HOST + "\n"
    waits = cluster.ok("sbatch", "--wait", "-o", "/dev/null", "--wrap", "true", env=env)
    assert "Submitted batch job" in waits.out
    assert cluster.ok("squeue", "-h", env=env).out == ""
    # What changes comes by itself.
    site.add("# for the login host")
    cluster.ok("scontrol", "reconfigure", env=env)
    until("the files to change", lambda: "# for the login host" in open(site.run + "/conf/slurm.conf").read())
    # slurmctld goes and comes.
    cluster.kill_ctld()
    said = cluster.run("sinfo", "-h", env=env)
    assert said.code == 1, said
    cluster.start_ctld()
    until("sinfo to answer again", lambda: cluster.run("sinfo", "-h", env=env).code == 0)
    login.end()
    assert cluster.run("sinfo", "-h", env=env).code == 0     # by slurmctld's own socket again


def test_steps_of_a_login_host_with_sackd(make_cluster):
    """srun's launch goes to the nodes by way of sackd; tasks' streams come to srun's own port."""
    site = Site(make_cluster, nodes=2)
    cluster = site.start()
    os.unlink(site.run + "/conf")
    login = Login(site)
    login.alone()
    env = login.env
    until("a step", lambda: cluster.run("srun", "true", env=env).code == 0)
    name = ("bash", "-c", "echo $SLURMD_NODENAME")
    assert sorted(cluster.ok("srun", "-N2", *name, env=env).out.split()) == ["n1", "n2"]
    assert cluster.ok("srun", "-w", "n2", "cat", stdin="to the node\n", env=env).out == "to the node\n"
    assert cluster.run("srun", "-w", "n2", "bash", "-c", "exit 7", env=env).code == 7
    assert sorted(cluster.ok("salloc", "-N2", "srun", *name, env=env).out.split()) == ["n1", "n2"]
    source, copy = cluster.file("what", "for the node\n"), os.path.join(cluster.work, "copy")
    words = "sbcast %s %s && srun cat %s" % (source, copy, copy)
    assert cluster.ok("salloc", "-w", "n1", "bash", "-c", words, env=env).out == "for the node\n"
    # A step that runs is ended from there, too.
    runs = subprocess.Popen(["srun", "-J", "long", "sleep", "1000"], env={**cluster.env, **env}, cwd=cluster.work, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    job = until("it to run", lambda: cluster.run("squeue", "-h", "-n", "long", "-t", "running", "-o", "%i", env=env).out.strip())
    cluster.ok("scancel", job, env=env)
    assert runs.wait(30) != 0
    login.end()
    cluster.must_run()


def test_sackd_that_follows_no_changes_and_one_with_a_file(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    os.unlink(site.run + "/conf")
    login = Login(site, "--disable-reconfig", "--port", "7")
    site.add("# unseen")
    cluster.ok("scontrol", "reconfigure")
    site.has("slurm.conf", "# unseen")    # the node has it
    assert "# unseen" not in open(site.run + "/conf/slurm.conf").read()
    assert end_process(login.sackd) == 0
    for args, why in ((("--port", "x"), "a port is a number"), (("--jwks-file", "/x"), "not supported yet"), (("--ca-cert-file", "/x"), "the token does"), (("--token-file", "x", "--key-file", "y"), "either a token or the cluster key")):
        done = cluster.run("sackd", "-D", *args, env=site.env())
        assert done.code == 1 and why in done.err, done
    done = cluster.run("sackd", "-D", env=site.env(SACKD_DEBUG="loud"))
    assert done.code == 1 and "SACKD_DEBUG='loud'" in done.err, done
    # With a local file, and in the background.
    shutil.rmtree(site.run + "/conf")
    done = cluster.run("sackd", "-f", cluster.conf_path, env=site.env())
    assert done.code == 0, done
    assert os.path.exists(site.run + "/sack.socket") and not os.path.exists(site.run + "/conf")
    pids = [p for p in filter(str.isdigit, os.listdir("/proc")) if _is_sackd(p, cluster.conf_path)]
    assert len(pids) == 1
    os.kill(int(pids[0]), 15)
    until("sackd to end", lambda: not os.path.exists(site.run + "/sack.socket"))


def _is_sackd(pid, conf):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as f:
            words = f.read().split(b"\0")
    except OSError:
        return False
    return words[0].endswith(b"sackd") and conf.encode() in words


DNS = '''
import socket, struct, sys
port, server = int(sys.argv[1]), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
def name(text):
    return b"".join(bytes([len(x)]) + x.encode() for x in text.split(".")) + b"\\0"
def srv(priority, port):
    data = struct.pack(">HHH", priority, 0, port) + name("localhost")
    return b"\\xc0\\x0c" + struct.pack(">HHIH", 33, 1, 60, len(data)) + data
print("listening", flush=True)
while True:
    query, who = server.recvfrom(512)
    end = query.index(b"\\0", 12) + 5
    known = query[12:end].startswith(name("_slurmctld._tcp.cluster.test"))
    answers = [srv(10, 1), srv(0, port)] if known else []     # of the two only the first in order answers
    server.sendto(query[:2] + struct.pack(">HHHHH", 0x8580 if known else 0x8583, 1, len(answers), 0, 0) + query[12:end] + b"".join(answers), who)
'''


def test_records_of_the_domain_name_system(make_cluster, tmp_path):
    """In a network of its own, with a name server of its own."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "-m", "true"]).returncode != 0:
        pytest.skip("no network namespace can be made here")
    site = Site(make_cluster)
    cluster = site.cluster
    resolv = tmp_path / "resolv.conf"
    resolv.write_text("search cluster.test\nnameserver 127.0.0.1\n")
    (tmp_path / "dns.py").write_text(DNS)
    # The programs have a prefix of their own, whose etc has the key and no slurm.conf.
    own = os.path.join(cluster.folder, "prefix")
    os.makedirs(own + "/sbin")
    os.makedirs(own + "/etc")
    for name in ("slurmd", "slurmstepd"):
        shutil.copy(os.path.join(cluster.prefix, "sbin", name), own + "/sbin")
    shutil.copy(os.path.join(site.etc, "slurm.key"), own + "/etc")
    script = "ip link set lo up && mount --bind %s /etc/resolv.conf && exec %s %s %d" % (resolv, sys.executable, tmp_path / "dns.py", cluster.port)
    world = subprocess.Popen(["unshare", "-n", "-m", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    slurmd = None
    try:
        assert world.stdout.readline() == "listening\n"
        enter = ["nsenter", "-t", str(world.pid), "-n", "-m"]
        cluster.wrapper = enter
        cluster.start_ctld()
        until("slurmctld", lambda: cluster.run(*enter, "sinfo", "-h").code == 0)
        env = {key: value for key, value in site.env().items() if key != "SLURM_CONF"}
        with open(cluster.folder + "/log/slurmd.out", "ab") as out:
            slurmd = subprocess.Popen([*enter, own + "/sbin/slurmd", "-D", "-N", "n1"], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                      start_new_session=True)
        until("n1 to be idle\n" + cluster.logs(), lambda: "idle" in cluster.run(*enter, "sinfo", "-h", "-o", "%T").out)
        assert "ClusterName=test" in site.cached("slurm.conf")
    finally:
        end_process(slurmd)
        end_process(cluster.ctld)
        end_process(world)
