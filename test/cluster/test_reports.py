"""Reports with real daemons: what sreport, muster report and sacctmgr show event say is what sacct's records add up to."""
import csv
import io
import json
import os
import time

import pytest

from accounting import kind, on_both
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite; the hour that lasts is counted as far as it has come

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.fixture
def site(request, make_cluster):
    """Accounts one and two, below `all`; four nodes of 8 CPUs and 4 GPUs."""
    cluster = make_cluster(start=False, nodes=4, gpus=4, cpus=8)
    cluster.database = kind(request)(cluster, "PrivateData=usage\n")
    cluster.database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "all")
    cluster.ok("sacctmgr", "-i", "add", "account", "one,two", "parent=all")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=one,two")
    cluster.since = time.strftime("%Y-%m-%dT%H:00:00")
    yield cluster
    cluster.database.stop()


def run_jobs(site):
    """Jobs of both accounts, one of which fails; all of them ended and recorded."""
    jobs = [site.sbatch("-A", "one", "-n2", "--gres=gpu:2", "-o", "/dev/null", "--wrap", "sleep 2"),
            site.sbatch("-A", "two", "-n4", "--gres=gpu:1", "-o", "/dev/null", "--wrap", "sleep 1; exit 3"),
            site.sbatch("-A", "two", "-n1", "-o", "/dev/null", "--wrap", "sleep 3")]
    for job, state in zip(jobs, ("COMPLETED", "FAILED", "COMPLETED")):
        site.wait_job(job, state)
        site.database.wait_state(job, state)
    return jobs


def recount(site):
    """CPU-seconds and GPU-seconds by account, as sacct has them."""
    cpus, gpus, failed = {}, {}, 0
    for line in site.ok("sacct", "-anPX", "-S", site.since, "-o", "account,elapsedraw,alloccpus,alloctres,state").lines:
        account, seconds, count, tres, state = line.split("|")
        held = dict(part.split("=") for part in tres.split(",") if part)
        cpus[account] = cpus.get(account, 0) + int(seconds) * int(count)
        gpus[account] = gpus.get(account, 0) + int(seconds) * int(held.get("gres/gpu", 0))
        failed += int(seconds) * int(held.get("gres/gpu", 0)) * (state == "FAILED")
    return cpus, gpus, failed


def report(site, *words, who=(), options=()):
    answer = site.ok(*who, "sreport", "--json", *options, *words, "start=" + site.since, "end=now+2hours", cwd="/")
    return json.loads(answer.out)["reports"]


@pytest.mark.row(100)
@on_both("site")
def test_reports_are_what_sacct_adds_up_to(site):
    run_jobs(site)
    cpus, gpus, failed = recount(site)
    assert set(cpus) == {"one", "two"} and cpus["one"] >= 4 and gpus["one"] >= 4

    rows = report(site, "cluster", "AccountUtilizationByUser")
    used = {(row["account"], row["user"]): row["used_seconds"] for row in rows}
    total = cpus["one"] + cpus["two"]
    assert used == {("root", ""): total, ("all", ""): total, ("one", ""): cpus["one"], ("one", site.user): cpus["one"],
                    ("two", ""): cpus["two"], ("two", site.user): cpus["two"]}
    assert [row["account"] for row in rows if not row["user"]] == ["root", "all", "one", "two"]

    users = report(site, "cluster", "UserUtilizationByAccount", options=["-T", "gres/gpu"])
    assert {row["account"]: row["used_seconds"] for row in users} == gpus
    top = report(site, "user", "TopUsage", "group")
    assert [(row["account"], row["used_seconds"]) for row in top] == [("one, two", total)]
    qos = report(site, "cluster", "AccountUtilizationByQOS", "account=one")
    assert [(row["account"], row["qos"], row["used_seconds"]) for row in qos] == [("one", "", cpus["one"]), ("one", "normal", cpus["one"])]

    sizes = report(site, "job", "SizesByAccount", "FlatView", "grouping=2,4", "PrintJobCount")
    counts = {row["account"]: [size["jobs"] for size in row["sizes"]] for row in sizes}
    assert counts == {"one": [0, 1, 0], "two": [1, 0, 1]}
    sizes = report(site, "job", "SizesByAccount")
    assert [(row["account"], row["used_seconds"]) for row in sizes] == [("root", total)]

    cluster, = report(site, "cluster", "Utilization")
    parts = ("allocated", "down", "planned_down", "idle", "planned")
    assert cluster["allocated_seconds"] == total and cluster["count"] == 32
    assert sum(cluster[part + "_seconds"] for part in parts) == cluster["reported_seconds"] > 0

    lines = site.ok("sreport", "-P", "-t", "seconds", "cluster", "AccountUtilizationByUser", "start=" + site.since, "end=now+2hours").lines
    assert lines[0] == lines[3] == "-" * 80
    assert lines[1].startswith("Cluster/Account/User Utilization %s - " % site.since) and lines[2] == "Usage reported in CPU Seconds"
    assert lines[4] == "Cluster|Account|Login|Proper Name|Used|Energy"
    assert lines[5] == "test|root|||%d|0" % total

    billed = list(csv.DictReader(io.StringIO(site.ok("muster", "report", "gpu-hours", "--by", "account", "--csv").out)))
    assert {row["account"]: row["allocated_hours"] for row in billed} == {a: "%.2f" % (s / 3600) for a, s in gpus.items() if s}
    page = json.loads(site.ok("muster", "report", "gpu-hours", "--by=account", "--json").out)
    assert abs(page["total"]["wasted_hours"] * 3600 - failed) < 0.001
    assert site.ok("muster", "report", "gpu-hours", "--svg").out.startswith("<svg ")
    assert "<table>" in site.ok("muster", "report", "gpu-hours", "--by", "user", "--html").out


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_another_user_does_not_see_the_usage(site):
    run_jobs(site)
    assert report(site, "cluster", "AccountUtilizationByUser", who=NOBODY) == []
    assert report(site, "user", "TopUsage", who=NOBODY) == []
    assert report(site, "job", "SizesByAccount", who=NOBODY) == []
    for name in ("' OR 1=1 --", "x" * 5000, "%", "one"):
        assert report(site, "user", "TopUsage", "user=" + name, who=NOBODY) == []
    assert site.ok(*NOBODY, "muster", "report", "gpu-hours", "--csv", cwd="/").out == "account,allocated_hours,used_hours,wasted_hours\n"
    # The whole cluster's time names nobody.
    assert report(site, "cluster", "Utilization", who=NOBODY)[0]["allocated_seconds"] > 0


def test_events_of_nodes_are_shown_and_count_as_down(site):
    site.ok("scontrol", "update", "node=n1", "state=down", "reason=a broken fan")
    until("the event to be recorded", lambda: "broken" in site.run("sacctmgr", "-nP", "show", "event").out)
    site.ok("scontrol", "update", "node=n2", "state=drain", "reason=disk")
    time.sleep(2)
    site.ok("scontrol", "update", "node=n1", "state=resume")

    def rows(*words):
        return [line.split("|") for line in site.ok("sacctmgr", "-nP", "show", "event", *words).lines]
    until("both to be recorded", lambda: len(rows("event=node")) == 2 and rows("nodes=n1")[0][3] != "Unknown")
    first, = rows("nodes=n1")
    assert first[:2] == ["test", "n1"] and first[4:6] == ["down", "a broken fan"] and first[6].endswith("(%d)" % os.getuid())
    assert rows("state=drain", "format=nodename,end,reason") == [["n2", "Unknown", "disk"]]
    assert rows("condflags=open", "format=nodename") == [["n2"]]
    assert rows("reason=disk", "format=nodename") == [["n2"]]
    assert rows("event=cluster", "format=event,clusternodes,tres") == [["Cluster", "n[1-4]", "cpu=32,mem=250G,node=4,billing=32,gres/gpu=16"]]
    down = report(site, "cluster", "Utilization")[0]["down_seconds"]
    assert down >= 8 * 2, "n1 was down for two seconds, with eight CPUs"
    site.database.stop()
    site.database.start()
    until("slurmdbd to answer again", lambda: site.run("sacctmgr", "ping").code == 0)
    assert report(site, "cluster", "Utilization")[0]["down_seconds"] >= down


def test_the_prompt_and_what_is_wrong(site):
    typed = site.run("sreport", "-n", stdin="time hours\nparsable2\nuser top\n!!\nversion\nquit\nuser top\n")
    assert typed.code == 0 and "slurm 26.05" in typed.out and typed.err == "", typed
    for words, said in ((["nonsense"], "invalid keyword: nonsense"), (["user", "x"], "Not valid report x"),
                        (["user", "top", "tree"], " Unknown condition: tree"), (["user", "top", "format=nosuch"], "Unknown field 'nosuch'"),
                        (["-t", "weeks", "user", "top"], "unknown time format weeks"),
                        (["-T", "cpu,mem", "job", "sizesbyaccount"], " Job report only supports a single --tres type.")):
        wrong = site.run("sreport", *words)
        assert wrong.code == 1 and said in wrong.err and wrong.out == "", wrong
    # A thousand years are as harmless as an hour.
    site.ok("sreport", "cluster", "AccountUtilizationByUser", "start=1970-01-02", "end=2969-12-31", "-T", "ALL", timeout=20)
