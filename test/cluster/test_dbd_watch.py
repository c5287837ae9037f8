"""What slurmdbd sees of others: controllers that are away (TrackSlurmctldDown), and its own work (sacctmgr show stats)."""
import re

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=1, cpus=4)
    cluster.database = Database(cluster, "TrackSlurmctldDown=yes\n").start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    yield cluster
    cluster.database.stop()


def away(site):
    lines = site.ok("sacctmgr", "-nP", "show", "event", "format=event,state,end,reason").lines
    return [line.split("|")[1:3] for line in lines if line.endswith("|slurmctld disconnect")]


def test_the_time_that_a_controller_is_away_is_an_event(site):
    assert away(site) == []
    site.stop_ctld()
    until("slurmdbd to see that", lambda: away(site) == [["down", "Unknown"]])
    site.start_ctld()
    until("its return", lambda: away(site) and away(site)[0][1] != "Unknown")
    site.database.stop()
    site.database.start()
    until("slurmdbd to answer", lambda: site.run("sacctmgr", "ping").code == 0)
    assert len(away(site)) == 1, "slurmdbd's own restart is none"


def test_what_slurmdbd_did_for_whom(site):
    for _ in range(3):
        site.ok("sacct", "-j", "1")
    text = site.ok("sacctmgr", "show", "stats").out
    assert re.search(r"^sacctmgr show stats output at \w+ \w+ \d+ [\d:]+ \d+ \(\d+\)$", text, re.M), text
    assert re.search(r"^\tQueryRecords +\( +401\) count:3 +ave_time:\d+ +total_time:\d+$", text, re.M), text
    assert re.search(r"^\t%s +\( +\d+\) count:\d+ +ave_time:\d+ +total_time:\d+$" % site.user, text, re.M), text
    assert re.search(r"^\tTotal cycles: [1-9]", text, re.M), text
    totals = [int(n) for n in re.findall(r"total_time:(\d+)", site.ok("sacctmgr", "show", "stats", "total_time").out.split("by user")[0])]
    assert totals == sorted(totals, reverse=True) and len(totals) > 2, totals
    site.ok("sacctmgr", "clear", "stats")
    assert "QueryRecords" not in site.ok("sacctmgr", "show", "stats").out
    wrong = site.run("sacctmgr", "show", "stats", "name")
    assert wrong.code == 1 and "ave_time or total_time" in wrong.err, wrong
