"""--extra and the Extra of nodes: SchedulerParameters=extra_constraints. Guide extra_constraints; slurmd(8) --extra."""
import re

import pytest

from harness import ORACLE, end_process, until

pytestmark = pytest.mark.skipif(ORACLE, reason="22.05 has no --extra")

NODE = '{ "a": 1.23, "b": true, "c": 0, "foo": "bar", "zed": 23 }'      # of the guide


def says(cluster, node, text):
    cluster.ok("scontrol", "update", "nodename=" + node, "extra=" + text)


def shown(cluster, node):
    found = re.search(r"^ +Extra=(.*)$", cluster.ok("scontrol", "show", "node", node).out, re.M)
    return found and found[1].strip()


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(nodes=3, cpus=2, gpus=0, conf="SchedulerParameters=extra_constraints")


def test_jobs_go_where_the_load_is_low(cluster):
    for node, load in (("n1", 0.99), ("n2", 0.75), ("n3", 0.45)):
        says(cluster, node, '{ "load": %s }' % load)
    assert shown(cluster, "n2") == '{ "load": 0.75 }'
    assert cluster.ok("sbatch", "--test-only", "-n1", "--extra", "load<0.5", "--wrap", "true").err.split(" on nodes ")[1].startswith("n3 ")
    low = cluster.sbatch("-n1", "--extra", "load<0.5", "--wrap", "sleep 300")
    assert cluster.wait_job(low, "RUNNING")["NodeList"] == "n3"
    assert cluster.job(low)["Extra"] == "load<0.5"
    between = cluster.sbatch("-n1", "--extra", "(load<0.9&load>0.5)", "--wrap", "sleep 300")
    assert cluster.wait_job(between, "RUNNING")["NodeList"] == "n2"
    assert cluster.ok("srun", "-n1", "--extra=load>0.9", "printenv", "SLURMD_NODENAME").lines == ["n1"]
    assert cluster.ok("salloc", "-Q", "-n1", "--extra=load>0.9", "printenv", "SLURM_JOB_NODELIST").lines == ["n1"]


def test_a_job_waits_until_a_node_says_what_it_wants(cluster):
    says(cluster, "n1", NODE)
    job = cluster.sbatch("-n1", "--extra", "((c<=0.0001&a=1.25)|zed=23.0)&(a<1|b=false|c>=0.00001)", "--wrap", "sleep 300")
    until("the job to wait", lambda: cluster.ok("squeue", "-h", "-j", str(job), "-o", "%T %r").out.strip() == "PENDING Resources")
    told = cluster.ok("muster", "explain", str(job)).out
    assert re.search(r"^ +3 +say in their Extra what --extra does not want, or nothing of it +n\[1-3\]$", told, re.M), told
    beside = cluster.sbatch("-n2", "-w", "n1", "--wrap", "true")
    cluster.wait_job(beside)                    # nobody waits for one that waits for this
    says(cluster, "n2", NODE.replace("0,", "0.5,"))
    assert cluster.wait_job(job, "RUNNING")["NodeList"] == "n2"
    says(cluster, "n2", "")
    assert shown(cluster, "n2") is None
    # a change of the job helps as well
    other = cluster.sbatch("-n1", "--extra", "foo=baz", "--wrap", "true")
    until("the other to wait", lambda: cluster.job(other)["Reason"] == "Resources")
    cluster.ok("scontrol", "update", "JobId=%d" % other, "Extra=foo<baz")
    assert cluster.wait_job(other)["NodeList"] == "n1"


def test_what_no_node_can_say_is_refused(cluster):
    for extra, why in (("a,<=6", "has to follow the key 'a'"), ("a=5&()", "nothing inside the parentheses"),
                       ("a=5&b=5|c=5", "cannot be mixed"), (" (a=b)", "has to follow the key ' '")):
        refused = cluster.run("sbatch", "-n1", "--extra", extra, "--wrap", "true")
        assert refused.code == 1 and "Invalid --extra specification" in refused.err and why in refused.err, refused
    assert cluster.run("sbatch", "--test-only", "-n1", "--extra", "a=1=2", "--wrap", "true").code == 1
    job = cluster.sbatch("-n1", "-H", "--extra", "a=1", "--wrap", "true")
    assert cluster.run("scontrol", "update", "JobId=%d" % job, "Extra=a=1=2").code == 1
    assert cluster.job(job)["Extra"] == "a=1"


def test_a_slurmd_says_it_when_it_starts(cluster):
    end_process(cluster.slurmds["n1"])
    cluster.slurmds["n1"] = cluster.spawn("slurmd", "-D", "-N", "n1", "-f", cluster.conf_path, "--extra", NODE)
    until("n1 to say so", lambda: shown(cluster, "n1") == NODE)
    cluster.wait_nodes("idle")
    assert cluster.ok("srun", "-n1", "--extra=b=200", "printenv", "SLURMD_NODENAME").lines == ["n1"]
    says(cluster, "n1", '{"b": false}')
    cluster.stop_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle")
    assert shown(cluster, "n1") == '{"b": false}'       # it has only connected again


def test_a_note_where_the_site_does_not_ask(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0)
    job = cluster.sbatch("-n1", "--extra", "a=1&b=2|c=3: for ann", "--wrap", "true")
    assert cluster.wait_job(job)["Extra"] == "a=1&b=2|c=3: for ann"
