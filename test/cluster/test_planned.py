"""PLANNED: nodes that backfill keeps for a job of higher priority (sinfo(1), scontrol(1), guide sched_config)."""
import json

from harness import until

STATES = "%N %t %T"


def states(cluster, *args):
    """{node: (short, long)}"""
    return {word[0]: tuple(word[1:]) for word in (line.split() for line in cluster.ok("sinfo", "-h", "-N", "-o", STATES, *args).lines)}


def test_a_node_that_is_kept_is_planned(make_cluster):
    cluster = make_cluster(nodes=3, gpus=0, cpus=4)
    half = cluster.sbatch("-w", "n1", "-n2", "-t10", "--wrap", "sleep 300")
    cluster.wait_job(half, "RUNNING")
    assert {state for state, _ in states(cluster).values()} == {"idle", "mix"}
    wide = cluster.sbatch("-N3", "--exclusive", "-t10", "--wrap", "true")
    until("a promise", lambda: states(cluster)["n2"] == ("plnd", "planned"))
    assert states(cluster) == {"n1": ("mix-", "mixed-"), "n2": ("plnd", "planned"), "n3": ("plnd", "planned")}
    assert sorted(states(cluster, "-t", "planned")) == ["n1", "n2", "n3"] and states(cluster, "-t", "drain") == {}
    assert "n[2-3]" in cluster.ok("sinfo", "-h", "-t", "plnd", "-o", "%t %N").out and "plnd" in cluster.ok("sinfo").out
    assert "State=IDLE+PLANNED " in cluster.ok("scontrol", "show", "node", "n3").out
    assert "State=MIXED+PLANNED " in cluster.ok("scontrol", "show", "node", "n1").out
    shown = json.loads(cluster.ok("scontrol", "show", "node", "n3", "--json").out)["nodes"][0]
    assert shown["state"] == ["IDLE", "PLANNED"]
    assert cluster.job(wide)["Reason"] == "Resources"
    said = cluster.ok("muster", "explain", "n2").out
    assert "Node n2 is IDLE+PLANNED" in said and f"Planned for job {wide} of {cluster.user}, which is expected to start" in said
    # A short job goes where the promise lets it, and a quick pass takes nothing away.
    quick = cluster.sbatch("-w", "n2", "-n1", "-t1", "--wrap", "sleep 300")
    cluster.wait_job(quick, "RUNNING")
    assert states(cluster)["n2"] == ("mix-", "mixed-") and states(cluster)["n3"] == ("plnd", "planned")
    cluster.ok("scancel", str(wide))
    assert states(cluster) == {"n1": ("mix", "mixed"), "n2": ("mix", "mixed"), "n3": ("idle", "idle")}
