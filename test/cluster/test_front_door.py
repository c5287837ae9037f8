"""Help for people: muster explain, lint and check-config, and refusals that name what there is instead."""
import json
import os

import pytest

import harness
from conftest import new_folder
from harness import until

pytestmark = pytest.mark.better_than_slurm


@pytest.fixture(scope="module")
def two_partitions():
    folder = new_folder()
    one = harness.Cluster(folder, partitions=["PartitionName=main Nodes=ALL Default=YES State=UP",
                                              "PartitionName=short Nodes=n4 MaxTime=30 State=UP",
                                              "PartitionName=hidden Nodes=n4 Hidden=YES State=UP"])
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(folder)


def lines_of(result):
    return [line.strip() for line in result.lines]


def test_explain_a_job_that_waits(cluster):
    running = cluster.sbatch("-N3", "--exclusive", "-t", "2:00:00", "-J", "holder", "--wrap", "sleep 600")
    cluster.wait_job(running, "RUNNING")
    waiting = cluster.sbatch("-N4", "--exclusive", "-t", "8:00:00", "-J", "big", "--wrap", "true")
    behind = cluster.sbatch("-N1", "--exclusive", "-t", "8:00:00", "-J", "small", "--wrap", "sleep 600")
    cluster.ok("scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=bad GPU")
    cluster.ok("scontrol", "update", "NodeName=n4", "State=RESUME")
    until("a reason", lambda: cluster.queue("-j", str(behind), "-h", "-o", "%r") == ["Priority"])
    said = cluster.ok("muster", "explain", str(waiting))
    assert said.lines[0] == 'Job %d "big" of %s waits: Resources' % (waiting, cluster.user), said
    assert any(line.startswith("3  not idle, and it wants whole nodes until") for line in lines_of(said)), said
    assert any(line.startswith("%d " % running) and "holder" in line for line in lines_of(said)), said
    assert any(line.startswith("Expected start: ") for line in lines_of(said)), said
    answer = json.loads(cluster.ok("muster", "explain", "--json", str(behind)).out)
    assert answer["job_id"] == behind and answer["reason"] == "Priority"
    assert [b["job_id"] for b in answer["ahead"]] == [waiting]
    causes = {c["cause"]: c["count"] for c in answer["partitions"][0]["causes"]}
    assert causes == {"not_idle": 3, "promised": 1, "free": 0}, causes
    # What it proposes is true: the cheapest change starts it.
    first = answer["alternatives"][0]
    assert first["at_once"] and first["command"].startswith("scontrol update JobId=%d TimeLimit=" % behind), answer
    cluster.sh(first["command"])
    cluster.wait_job(behind, "RUNNING")


def test_explain_a_held_and_a_dependent_job(cluster):
    held = cluster.sbatch("--hold", "--wrap", "true")
    said = cluster.ok("muster", "explain", str(held))
    assert "waits: JobHeldUser" in said.lines[0] and "scontrol release %d" % held in said.out, said
    after = cluster.sbatch("--dependency=afterok:%d" % held, "--wrap", "true")
    said = cluster.ok("muster", "explain", str(after))
    assert "afterok:%d: job %d is PENDING" % (held, held) in lines_of(said), said


def test_explain_how_a_job_ended(cluster):
    failed = cluster.sbatch("--wrap", "exit 3")
    cluster.wait_job(failed, "FAILED")
    assert "Its script: exit code 3." in lines_of(cluster.ok("muster", "explain", str(failed)))
    killed = cluster.sbatch("--wrap", "kill -SEGV $$")
    cluster.wait_job(killed, "FAILED")
    assert "Its script: ended by signal 11 (SIGSEGV)." in lines_of(cluster.ok("muster", "explain", str(killed)))
    cancelled = cluster.sbatch("--wrap", "sleep 600")
    cluster.wait_job(cancelled, "RUNNING")
    cluster.ok("scancel", str(cancelled))
    cluster.wait_job(cancelled, "CANCELLED")
    said = cluster.ok("muster", "explain", str(cancelled))
    assert "It was cancelled by %s." % cluster.user in lines_of(said), said
    missing = cluster.run("muster", "explain", "99999")
    assert missing.code == 1 and missing.err.startswith("muster: Invalid job id specified\n"), missing


def test_explain_a_node(cluster):
    job = cluster.sbatch("-N1", "-w", "n2", "--gres=gpu:h100:3", "-t", "60", "-J", "here", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=bad GPU")
    said = cluster.ok("muster", "explain", "n2")
    assert said.lines[0] == "Node n2 is MIXED+DRAIN: no job starts there.", said
    assert any(line.startswith("Reason: bad GPU, set by %s " % cluster.user) for line in lines_of(said)), said
    assert any("gpu:h100:5 of gpu:h100:8" in line for line in lines_of(said)), said
    assert any(line.startswith("%d " % job) for line in lines_of(said)), said
    cluster.ok("scontrol", "update", "NodeName=n2", "State=RESUME")
    assert cluster.ok("muster", "explain", "n2").lines[0].endswith("jobs may start there.")
    wrong = cluster.run("muster", "explain", "m2")
    assert wrong.code == 1 and wrong.err == "muster: Invalid node name specified\nmuster: did you mean n2?\n", wrong


def test_lint_asks_the_cluster(cluster):
    good = cluster.script("good.sh", "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --time=1:00:00\nsrun hostname\n")
    said = cluster.ok("muster", "lint", good)
    assert ": note: would start at " in said.lines[0] and said.lines[-1].endswith("good.sh: no findings"), said
    bad = cluster.script("bad.sh", "#!/bin/bash\n#SBATCH --partition=nowhere\nsrun hostname\n")
    said = cluster.run("muster", "lint", bad)
    assert said.code == 1 and "bad.sh:2: error: --partition: the cluster would refuse it: " in said.out, said
    assert "partitions here: main" in said.out, said
    assert cluster.ok("muster", "lint", "--offline", bad).lines[-1].endswith("no findings")
    stdin = cluster.run("muster", "lint", "--json", stdin="#SBATCH --mem=4G --mem-per-cpu=1G\nsrun x\n")
    answer = json.loads(stdin.out)
    assert stdin.code == 1 and answer["errors"] == 2, answer
    assert answer["findings"][1]["message"].endswith("(--mem in line 1, --mem-per-cpu in line 1)"), answer


def test_check_config_of_a_running_cluster(cluster):
    said = cluster.ok("muster", "check-config")
    assert " error: " not in said.out, said


def test_check_config_of_a_directory(cluster):
    os.makedirs(os.path.join(cluster.work, "site"), exist_ok=True)
    cluster.file("site/slurm.conf", "ClusterName=c\nSlurmctldHost=h\nTopologyPlugin=topology/tree\nNodeName=n[1-2] CPUs=2\n"
                 "PartitionName=debug Nodes=n1 MaxCPUsPerUser=8\n")
    cluster.file("site/topology.conf", "SwitchName=s Switches=leaf1:leaf2\nSwitchName=leaf1 Nodes=n1\nSwitchName=leaf2 Nodes=n2\n")
    folder = os.path.join(cluster.work, "site")
    said = cluster.run("muster", "check-config", folder)
    assert said.code == 1
    assert "topology.conf:1: error: Switches: \"leaf1:leaf2\" is not a switch\n    did you mean leaf1,leaf2?\n" in said.out, said
    assert "slurm.conf:5: warning: MaxCPUsPerUser: is a key of a QOS " in said.out, said
    # The controller refuses the file in the same words.
    refused = cluster.run("slurmctld", "-D", "-f", os.path.join(folder, "slurm.conf"))
    assert refused.code == 1 and "topology.conf:1: Switches: \"leaf1:leaf2\" is not a switch (did you mean leaf1,leaf2?)" in \
        refused.err, refused
    answer = json.loads(cluster.run("muster", "check-config", "--json", folder).out)
    assert (answer["errors"], answer["warnings"]) == (1, 1), answer


REFUSALS = [
    (["-p", "shrot"], "Batch job submission failed: Invalid partition name specified",
     "did you mean short? partitions here: main, short"),
    (["-C", "a100"], "Batch job submission failed: Invalid feature specification", 'no node has the feature "a100"'),
    (["--gres=gpu:a100:1"], "Batch job submission failed: Invalid generic resource (gres) specification",
     "no node has gres/gpu:a100; did you mean gpu:h100?; there are: gpu:h100"),
    (["-p", "short", "-N", "3"], "Batch job submission failed: Node count specification invalid",
     "partition main allows it"),
    (["-w", "n9"], "Batch job submission failed: Invalid node name specified", "no node is called 'n9'; did you mean n"),
]


@pytest.mark.parametrize("options,first,second", REFUSALS, ids=[" ".join(r[0]) for r in REFUSALS])
def test_refusals_name_what_there_is(two_partitions, options, first, second):
    for command in (["sbatch", *options, "--wrap", "true"], ["srun", *options, "true"], ["salloc", *options, "true"]):
        said = two_partitions.run(*command)
        assert said.code != 0, said
        if command[0] == "sbatch":
            assert any(first in line for line in said.err.splitlines()), said
        assert second in said.err, said
        assert "hidden" not in said.err, said


def test_an_unknown_option_has_a_suggestion(cluster):
    for command in ("sbatch", "srun", "salloc"):
        said = cluster.run(command, "--gpu-per-node=2", "true")
        assert said.err.splitlines()[:2] == ["%s: unrecognized option '--gpu-per-node=2'" % command,
                                             'Try "%s --help" for more information' % command], said
        assert said.err.splitlines()[2].endswith("did you mean --gpus-per-node?"), said
    said = cluster.run("squeue", "--stats=R")
    assert said.err.splitlines()[-1].endswith("did you mean --states?"), said
