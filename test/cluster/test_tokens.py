"""Nodes and login hosts that join with a token in place of the cluster key: muster token, slurmd --token-file (docs/adr/0019)."""
import json
import os
import re
import shutil

import pytest

from harness import end_process, free_ports, until

pytestmark = pytest.mark.better_than_slurm


class Site:
    """n1 has the cluster key; the others join with a token, and their folder has no key."""

    def __init__(self, make_cluster, nodes=2, conf="SlurmctldParameters=enable_configless", **kw):
        self.cluster = make_cluster(start=False, nodes=nodes, conf=conf, **kw)
        self.hosts = os.path.join(self.cluster.folder, "hosts")
        os.mkdir(self.hosts)

    def start(self):
        self.cluster.start_ctld()
        self.cluster.wait_ctld()
        self.cluster.start_slurmd("n1")
        self.cluster.wait_nodes("idle", ["n1"])
        return self.cluster

    def token(self, *args, role="--nodes"):
        return self.cluster.ok("muster", "token", "create", role, *args).out.strip()

    def file(self, node, token=None):
        folder = os.path.join(self.hosts, node)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "token")
        if token is not None:
            with open(path, "w") as f:
                f.write(token + "\n")
            os.chmod(path, 0o600)
        return path

    def spawn(self, program, node, *args):
        folder = os.path.join(self.hosts, node)
        kept = self.cluster.env
        self.cluster.env = {**kept, "SLURM_CONF": folder + "/slurm.conf", "RUNTIME_DIRECTORY": folder}
        try:
            return self.cluster.spawn(program, *args)
        finally:
            self.cluster.env = kept

    def begin(self, node, *args):
        self.cluster.slurmds[node] = self.spawn("slurmd", node, "-D", "-N", node, "--conf-server", "127.0.0.1:%d" % self.cluster.port,
                                                "--token-file", self.file(node), *args)

    def join(self, node):
        self.file(node, self.token(node))
        self.begin(node)
        self.cluster.wait_nodes("idle", [node])

    def ends(self, node, text):
        assert self.cluster.slurmds.pop(node).wait(20) == 1
        with open(os.path.join(self.cluster.folder, "log", "slurmd.out")) as f:
            said = f.read()
        assert text in said, said[-2000:]


def test_a_node_joins_with_a_token_and_works_with_one_that_has_the_key(make_cluster):
    site = Site(make_cluster, nodes=3)
    cluster = site.start()
    for node in ("n2", "n3"):
        site.join(node)
    assert not os.path.exists(os.path.join(cluster.folder, "spool/n2/conf-cache/slurm.key"))
    # Steps over nodes with the key and without it, from here and from inside jobs of either.
    assert sorted(cluster.ok("srun", "-N3", "bash", "-c", "echo $SLURMD_NODENAME").out.split()) == ["n1", "n2", "n3"]
    for first in ("n1", "n2"):
        script = cluster.file("steps.sh", "#!/bin/bash\nsrun bash -c 'echo $SLURMD_NODENAME' | sort\nsqueue -h -j $SLURM_JOB_ID -o %T\n")
        job = cluster.sbatch("-w", "%s,%s" % (first, "n3"), "-N2", "-o", "out-" + first, script)
        cluster.wait_job(job)
        assert cluster.read("out-" + first).split() == [first, "n3", "RUNNING"]
    # A script that submits the next one, as workflows do.
    nested = cluster.sbatch("-w", "n2", "-o", "nested", "--wrap", "sbatch --parsable -w n1 -o second --wrap 'echo second'")
    cluster.wait_job(nested)
    cluster.wait_job(int(cluster.read("nested")))
    assert cluster.read("second") == "second\n"
    # The first node manages the steps of such a job, and the others tell it.
    for first in ("n1", "n2"):
        job = cluster.sbatch("--stepmgr", "-w", "%s,n3" % first, "-N2", "-o", "managed-" + first, "--wrap", "srun -N2 hostname; srun -N2 true && echo done")
        cluster.wait_job(job)
        assert cluster.read("managed-" + first).endswith("done\n")
    # A file for the nodes of a job. Root's goes to each of them from a host with the key; nodes with a certificate pass it on to nobody.
    path = cluster.file("data", "x" * 100000)
    words = ("sbcast -f %s /tmp/muster-tokens-$SLURM_JOB_ID && srun -N%%d sh -c 'wc -c < /tmp/muster-tokens-'$SLURM_JOB_ID"
             "; srun -N%%d rm -f /tmp/muster-tokens-$SLURM_JOB_ID" % path)
    for nodes, first in (("n1,n2,n3", "100000"), ("n2,n3", "")):
        count = nodes.count(",") + 1
        job = cluster.sbatch("-w", nodes, "-N%d" % count, "-o", "bcast", "--wrap", words % (count, count))
        cluster.wait_job(job)
        said = cluster.read("bcast")
        assert said.split()[:count] == ["100000"] * count if first else "node:n2 has no cluster key" in said, said
    # The files are read again, and the certificate stays.
    with open(cluster.conf_path, "a") as f:
        f.write("# second\n")
    cluster.ok("scontrol", "reconfigure")
    until("n2 to have the files", lambda: "# second" in open(os.path.join(cluster.folder, "spool/n2/conf-cache/slurm.conf")).read())
    assert sorted(cluster.ok("srun", "-N3", "bash", "-c", "echo $SLURMD_NODENAME").out.split()) == ["n1", "n2", "n3"]
    cluster.must_run()


def test_root_with_the_key_reaches_it_by_a_slurmd_of_his_host(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    site.join("n2")
    # As on another host than n2's: its socket is not to be seen, n1's is.
    other = os.path.join(cluster.folder, "other")
    os.makedirs(other + "/run")
    with open(cluster.conf_path) as f:
        text = f.read().replace("SlurmdPidFile=%s/run/" % cluster.folder, "SlurmdPidFile=%s/run/" % other)
    with open(other + "/slurm.conf", "w") as f:
        f.write(text)
    shutil.copy(os.path.join(cluster.folder, "etc", "slurm.key"), other)
    env = {"SLURM_CONF": other + "/slurm.conf", "SLURMD_NODENAME": "n1"}
    result = cluster.run("srun", "-w", "n2", "echo", "there", env=env)
    assert result.code != 0 and "another cluster key" in result.err, result
    os.symlink(cluster.folder + "/run/slurmd.n1.sock", other + "/run/slurmd.n1.sock")
    assert cluster.ok("srun", "-w", "n2", "echo", "there", env=env).out == "there\n"


def test_a_certificate_outlives_restarts_and_a_token_is_used_once(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    site.join("n2")
    job = cluster.sbatch("-w", "n2", "-o", "out", "--wrap", "sleep 2; srun echo still here")
    cluster.wait_job(job, "RUNNING")
    end_process(cluster.slurmds.pop("n2"))
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert os.stat(cluster.state_folder + "/authority").st_mode & 0o777 == 0o600
    assert os.stat(site.file("n2") + ".credential").st_mode & 0o777 == 0o600
    site.begin("n2")        # the token is used up, and not needed
    cluster.wait_job(job)
    assert cluster.read("out") == "still here\n"
    rows = json.loads(cluster.ok("muster", "token", "list", "--json").out)["tokens"]
    assert [(row["id"], row["state"], row["hosts"], [use["host"] for use in row["used"]]) for row in rows] == [(1, "used", "n2", ["n2"])]
    assert rows[0]["used"][0]["address"] == "127.0.0.1"
    assert re.search(r"^1 +nodes +used .* 1/1 +n2$", cluster.ok("muster", "token", "list").out, re.M)
    # Without what it got it would need another token.
    end_process(cluster.slurmds.pop("n2"))
    os.unlink(site.file("n2") + ".credential")
    until("n2 to be gone", lambda: "*" in cluster.node_states()["n2"] or "n2" not in cluster.slurmds)
    site.begin("n2")
    site.ends("n2", "token 1 is used up: n2 joined by it from 127.0.0.1")


def test_what_is_wrong_with_a_token_is_said(make_cluster):
    site = Site(make_cluster)
    cluster = site.start()
    site.file("n2", "muster1-nonsense")
    site.begin("n2")
    site.ends("n2", "this is no token")
    site.file("n2", site.token("n7"))
    site.begin("n2")
    site.ends("n2", "token 1 is not for 'n2', but for n7")
    token = site.token("n2")
    cluster.ok("muster", "token", "revoke", "2")
    site.file("n2", token)
    site.begin("n2")
    site.ends("n2", "token 2 was revoked at")
    other = "muster1-" + "A" * 86
    site.file("n2", other)
    site.begin("n2")
    site.ends("n2", "does not know the token")
    site.file("n2", site.token("n2"))
    os.chmod(site.file("n2"), 0o644)
    site.begin("n2")
    site.ends("n2", "the token wants mode 0600")
    for words, text in ((("create",), "says who may join"), (("create", "--nodes", "n["), "n["), (("create", "--nodes", "n1", "--expires", "2y"), "--expires '2y'"),
                        (("create", "--nodes", "n1", "--uses", "0"), "--uses '0'"), (("revoke", "x"), "a token has a number"), (("revoke", "99"), "no token 99"),
                        (("revoke",), "the ID of a token"), (("mint",), "'mint' is none of")):
        result = cluster.run("muster", "token", *words)
        assert result.code == 1 and text in result.err, result
    result = cluster.run("slurmd", "-D", "-F", "--token-file", "x")
    assert result.code == 1 and "x: No such file" in result.err


def test_a_revoked_node_is_out_at_once_and_comes_back_with_a_new_token(make_cluster):
    site = Site(make_cluster, conf="SlurmctldParameters=enable_configless\nSlurmdTimeout=300")
    cluster = site.start()
    site.join("n2")
    said = cluster.ok("muster", "token", "revoke", "--node", "n2").out
    assert "node:n2 is out" in said and "by which it joined" not in said, "the token is used up"
    until("n2 to be refused", lambda: "the certificate of node:n2 was revoked" in open(cluster.folder + "/log/slurmctld.log").read())
    # Its certificate is of no use any more, after a restart of slurmctld either.
    end_process(cluster.slurmds.pop("n2"))
    cluster.stop_ctld()
    before = open(cluster.folder + "/log/slurmctld.log").read().count("was revoked")
    cluster.start_ctld()
    cluster.wait_ctld()
    site.begin("n2")
    until("n2 to be refused again", lambda: open(cluster.folder + "/log/slurmctld.log").read().count("was revoked") > before)
    end_process(cluster.slurmds.pop("n2"))
    site.join("n2")
    assert cluster.ok("srun", "-w", "n2", "echo", "back").out == "back\n"


def test_a_dynamic_node_joins_by_a_token_as_itself(make_cluster):
    site = Site(make_cluster, nodes=1, conf="SlurmctldParameters=enable_configless\nMaxNodeCount=8\nPartitionName=late Nodes=ALL\nSlurmdPort=%d" % free_ports(1)[0])
    cluster = site.start()
    site.file("d1", site.token("d[1-4]"))
    site.begin("d1", "-Z", "--conf", "CPUs=2 RealMemory=1000")
    until("d1 to have joined", lambda: "d1" in cluster.node_states(), 30)
    cluster.wait_nodes("idle", ["d1"])
    assert cluster.ok("srun", "-p", "late", "-w", "d1", "bash", "-c", "echo $SLURMD_NODENAME").out == "d1\n"
    # The name is its own: with the cluster key alone nobody is d1, while it is there or away; nor d2, while a token lets a machine be it.
    site.token("d2")
    end_process(cluster.slurmds.pop("d1"))
    for node in ("d1", "d2"):
        result = cluster.run("slurmd", "-D", "-Z", "-N", node, "-f", cluster.conf_path, "--conf", "CPUs=2 RealMemory=1000")
        assert result.code == 1 and "the name of node %s is for who joins by a token" % node in result.err, result
    site.begin("d1", "-Z", "--conf", "CPUs=2 RealMemory=1000")
    until("d1 to work again", lambda: cluster.run("srun", "-p", "late", "-w", "d1", "true").code == 0)
    cluster.must_run()


def test_a_future_node_joins_by_a_token_and_stays_that_node(make_cluster):
    """slurmd -F: slurmctld chooses among the token's names, and the certificate is of that node."""
    site = Site(make_cluster, nodes=1)
    cluster = site.cluster
    shape = re.search(r"SocketsPerBoard=\d+ CoresPerSocket=\d+ ThreadsPerCore=\d+", cluster.ok("slurmd", "-C").out).group()
    for name, port in zip(("f1", "f2", "f3"), free_ports(3)):
        cluster.conf_lines.append("NodeName=%s %s RealMemory=100 State=FUTURE Port=%d" % (name, shape, port))
    cluster.conf_lines.append("PartitionName=future Nodes=f[1-3]")
    cluster.write_lines()
    site.start()

    def works(node):
        until("%s to work" % node, lambda: cluster.run("srun", "-p", "future", "-w", node, "bash", "-c", "echo $SLURMD_NODENAME").out == node + "\n")
    token = site.token("f[2-3]", "--uses", "2")
    for host, node in (("a", "f2"), ("b", "f3")):
        site.file(host, token)
        site.begin(host, "-F")
        cluster.wait_nodes("idle", [node])
        works(node)
        record = cluster.ok("scontrol", "-o", "show", "node", node).out
        assert "NodeHostName=%s " % host in record and "DYNAMIC_FUTURE" in record, record
    for wrong, why in ((token, "is used up"), (site.token("f[2-3]", "--uses", "5"), "no FUTURE node is left for this machine"), (site.token("g1"), "no FUTURE node")):
        site.file("c", wrong)
        site.begin("c", "-F")
        site.ends("c", why)
    assert "f1" not in cluster.node_states()
    # It is that node after a restart, without a token, and by another name of its host, too.
    end_process(cluster.slurmds.pop("b"))
    for name in ("token", "token.credential"):
        os.rename(os.path.join(site.hosts, "b", name), os.path.join(os.path.dirname(site.file("d")), name))
    os.unlink(site.file("d"))
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    site.begin("d", "-F")
    until("f3 to be at its new name", lambda: "NodeHostName=d " in cluster.ok("scontrol", "-o", "show", "node", "f3").out)
    works("f3")
    done = cluster.run("slurmd", "-F", "-G")
    assert done.code == 1 and "before slurmctld has said so" in done.err, done
    cluster.must_run()


def test_a_revoked_node_takes_a_new_token(make_cluster):
    site = Site(make_cluster, nodes=3, conf="SlurmctldParameters=enable_configless\nSlurmdTimeout=300")
    cluster = site.start()
    site.file("n2", site.token("n[2-3]", "--uses", "5"))
    site.begin("n2")
    cluster.wait_nodes("idle", ["n2"])
    assert "token 1, by which it joined, still lets other hosts in" in cluster.ok("muster", "token", "revoke", "--node", "n2").out
    end_process(cluster.slurmds.pop("n2"))
    os.unlink(site.file("n2") + ".credential")
    cluster.stop_ctld()         # that is not forgotten
    cluster.start_ctld()
    cluster.wait_ctld()
    site.begin("n2")
    site.ends("n2", "token 1 was made before 'n2' was revoked")
    shutil.copy(site.file("n2"), site.file("n3", ""))
    site.begin("n3")            # the token is good for its other names
    cluster.wait_nodes("idle", ["n3"])
    site.join("n2")
    assert cluster.ok("srun", "-w", "n2", "echo", "back").out == "back\n"


def test_the_folder_of_the_token_is_nobody_elses(make_cluster):
    site = Site(make_cluster)
    site.start()
    os.chmod(os.path.dirname(site.file("n2", site.token("n2"))), 0o777)
    site.begin("n2")
    site.ends("n2", "the folder of --token-file wants mode 0755 or less")
    os.chmod(os.path.dirname(site.file("n2")), 0o755)
    if os.geteuid() == 0:
        os.chown(site.file("n2"), 4242, 4242)
        site.begin("n2")
        site.ends("n2", "belongs to uid 4242")


def test_munge_has_no_tokens(make_cluster):
    if not shutil.which("munged"):
        pytest.skip("munged is not here")
    cluster = make_cluster(nodes=1, auth="munge")
    result = cluster.run("muster", "token", "create", "--nodes", "n1")
    assert result.code == 1 and "tokens are for AuthType=auth/slurm" in result.err
    assert not os.path.exists(cluster.state_folder + "/authority")
    assert cluster.ok("srun", "echo", "steps run").out == "steps run\n"
