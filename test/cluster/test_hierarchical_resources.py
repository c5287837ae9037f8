"""Hierarchical resources (resources.yaml, guide hres) with real daemons: four nodes, a resource of each mode."""
import json
import os
import re

import conftest
import harness
import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm      # Debian's release has none of it

YAML = """\
---
- resource: flat
  mode: MODE_2
  layers:
    - nodes:
        - "n[1-4]"
      count: 3
    - nodes:
        - "n[1-2]"
      count: 2
    - nodes: ["n[3-4]"]
      count: 2
- resource: natural
  mode: MODE_1
  layers:
    - nodes: ["n[1-4]"]
      count: 1
    - nodes: ["n[1-2]"]
      count: 4
- resource: power
  mode: MODE_3
  variables:
    - name: full_node
      value: 1000
  layers:
    - nodes: ["n[1-2]"]
      count: 2500
      base:
        - name: switch
          value: 500
    - nodes: ["n[3-4]"]
      count: 2000
    - nodes: ["n[1-4]"]
      count: 4000
"""


def put(cluster, text):
    with open(os.path.join(cluster.folder, "etc", "resources.yaml"), "w") as f:
        f.write(text)


def with_resources(cluster, text=YAML):
    put(cluster, text)
    return cluster.start()


@pytest.fixture(scope="module")
def shared_site():
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, nodes=4, gpus=0, cpus=2)
    try:
        yield with_resources(cluster)
    finally:
        cluster.stop()
        harness.remove(folder)


@pytest.fixture
def site(shared_site):
    yield shared_site
    shared_site.must_run()
    shared_site.cancel_all()
    shared_site.wait_nodes("idle")


def used(cluster, name=""):
    """What scontrol shows: {layer: (used, free, reserved)}."""
    out = cluster.ok("scontrol", "show", "license", *([name] if name else [])).out
    return {m[1]: (int(m[2]), m[3], int(m[4])) for m in
            re.finditer(r"LicenseName=(\S+)\n +Total=\S+ Used=(\d+) Free=(\S+) Reserved=(\d+) Remote=no", out)}


def run(cluster, *options):
    job = cluster.sbatch(*options, "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    return job


def waits(cluster, *options):
    """A job that waits for licences; what it is told."""
    job = cluster.sbatch(*options, "--wrap", "sleep 600")
    until("job %d to wait for licences" % job,
          lambda: cluster.ok("squeue", "-h", "-j", str(job), "-o", "%T %r").out.strip() == "PENDING Licenses")
    return job


def test_each_mode_counts_its_layers(site):
    assert used(site) == {
        "flat(n[1-2])": (0, "2", 0), "flat(n[3-4])": (0, "2", 0), "flat(n[1-4])": (0, "3", 0),
        "natural(n[1-2])": (0, "4", 0), "natural(n[1-4])": (0, "1", 0),
        "power(n[1-2])": (500, "2000", 0), "power(n[3-4])": (0, "2000", 0), "power(n[1-4])": (500, "3500", 0)}
    job = run(site, "-N2", "-w", "n[1-2]", "-L", "flat:2,natural:3", "--resources=power:full_node")
    assert used(site) == {
        "flat(n[1-2])": (2, "0", 0), "flat(n[3-4])": (0, "2", 0), "flat(n[1-4])": (2, "1", 0),
        "natural(n[1-2])": (3, "1", 0), "natural(n[1-4])": (0, "1", 0),
        "power(n[1-2])": (2500, "0", 0), "power(n[3-4])": (0, "2000", 0), "power(n[1-4])": (2500, "1500", 0)}
    assert site.job(job)["Licenses"] == "flat:2,natural:3,power:1000"
    assert site.ok("squeue", "-h", "-j", str(job), "-o", "%W").out.strip() == "flat:2,natural:3,power:1000"
    rows = json.loads(site.ok("scontrol", "show", "license", "natural", "--json").out)["licenses"]
    assert [(r["LicenseName"], r["Nodes"], r["Used"]) for r in rows] == [("natural", "n[1-2]", 3), ("natural", "n[1-4]", 0)]
    assert run(site, "-L", "natural") and used(site, "natural")["natural(n[1-2])"][0] == 4
    site.cancel_all()
    until("everything to be given back", lambda: used(site, "natural") == {"natural(n[1-2])": (0, "4", 0), "natural(n[1-4])": (0, "1", 0)})


def test_a_job_goes_where_there_is_enough_or_waits_and_is_told(site):
    run(site, "-w", "n1", "-L", "flat:2")
    other = run(site, "-L", "flat:1")
    assert site.job(other)["NodeList"] in ("n3", "n4")      # the first two have none left
    job = waits(site, "-L", "flat:1")
    said = site.ok("muster", "explain", str(job)).out
    assert "flat: 1 are asked for; layer n[1-4] has 0 left of 3" in said, said
    site.ok("scontrol", "update", "job", str(job), "Licenses=natural:1")
    site.wait_job(job, "RUNNING")


def test_test_only_and_power_per_node(site):
    assert "to start at" in site.run("sbatch", "--test-only", "-N3", "--exclusive", "--resources=power:1000", "--wrap", "true").err
    job = run(site, "-N3", "--exclusive", "--resources=power:1000")
    assert used(site, "power")["power(n[1-4])"] == (3500, "500", 0)
    assert waits(site, "-N1", "--exclusive", "--resources=power:1000")
    site.ok("scancel", str(job))


def test_a_reservation_keeps_part_of_a_layer(site):
    site.ok("scontrol", "create", "reservation", "reservationname=kept", "starttime=now", "duration=60", "user=root", "flags=license_only",
            "licenses=natural(n[1-2]):4,flat(n[3,4]):2")
    try:
        assert "Licenses=natural(n[1-2]):4,flat(n[3-4]):2" in site.ok("scontrol", "show", "reservation", "kept").out
        assert used(site, "natural")["natural(n[1-2])"] == (0, "0", 4)
        assert run(site, "-L", "natural:1") and used(site, "natural")["natural(n[1-4])"][0] == 1
        assert waits(site, "-L", "natural:1")
        inside = run(site, "-L", "natural:2", "--reservation=kept")
        assert site.job(inside)["NodeList"] in ("n1", "n2")
    finally:
        site.cancel_all()
        site.ok("scontrol", "delete", "reservation", "kept")
    for wrong, said in [("natural:4", "name the layer by its nodes, as in natural(n[1-2])"), ("natural(n[2-3]):1", "has just the nodes n[2-3]"),
                        ("natural(n[1-2]):5", "there are 4 of natural(n[1-2])"), ("power(nx):1", "nx")]:
        refused = site.run("scontrol", "create", "reservation", "starttime=now", "duration=60", "user=root", "flags=license_only",
                           "licenses=" + wrong)
        assert refused.code != 0 and said in refused.err + refused.out, (wrong, refused)


def test_what_can_never_be_is_refused(site):
    for wrong, said in [("flat:4", "flat: 4 are asked for; layer n[1-4] has 3 left of 3"), ("power:half_node", "no such variable"),
                        ("natural(n[1-2]):1", "depends on its nodes"), ("flat|natural", "cannot be one of several"), ("nosuch", "nosuch"),
                        ("flat:2x", "the count is no number")]:
        refused = site.run("sbatch", "-L", wrong, "--wrap", "true")
        assert refused.code != 0 and "Invalid license specification" in refused.err and said in refused.err, (wrong, refused)
    assert site.run("sbatch", "--resources=a|b", "--wrap", "true").code != 0


def test_holders_outlive_kill_9_and_a_count_changes_at_reconfigure(make_cluster):
    cluster = make_cluster(start=False, nodes=4, gpus=0, cpus=2)
    with_resources(cluster)
    jobs = [run(cluster, "-w", "n1", "-L", "natural:4"), run(cluster, "-w", "n1", "-L", "natural:1")]
    before = used(cluster)
    assert before["natural(n[1-2])"][0] == 4 and before["natural(n[1-4])"][0] == 1
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert used(cluster) == before
    waiting = waits(cluster, "-L", "natural:1")
    cluster.stop_ctld()                                      # and an orderly restart, with jobs that hold and one that waits
    cluster.start_ctld()
    cluster.wait_ctld()
    assert used(cluster) == before
    put(cluster, YAML.replace("count: 4\n", "count: 5\n"))
    cluster.ok("scontrol", "reconfigure")
    cluster.wait_job(waiting, "RUNNING", seconds=15)          # at once, not with the next full pass in half a minute
    assert used(cluster, "natural")["natural(n[1-2])"] == (5, "0", 0)
    put(cluster, YAML.replace("count: 4\n", "count: 2\n"))    # fewer than are held: they stay, and nobody gets more
    cluster.ok("scontrol", "reconfigure")
    until("the new count", lambda: used(cluster, "natural")["natural(n[1-2])"] == (5, "0", 0))
    late = waits(cluster, "-L", "natural:2")
    cluster.ok("scancel", *map(str, jobs), str(waiting))
    cluster.wait_job(late, "RUNNING")
    put(cluster, YAML.replace("MODE_3", "MODE_7"))            # a bad file changes nothing
    refused = cluster.run("scontrol", "reconfigure")
    assert refused.code != 0 and "mode" in refused.err + refused.out, refused
    assert used(cluster, "natural")["natural(n[1-2])"][0] == 2
    cluster.stop_ctld()
    cluster.start_ctld()
    assert cluster.ctld.wait(timeout=20) != 0
    with open(os.path.join(cluster.folder, "log", "slurmctld.out")) as f:
        said = f.read() + cluster.logs()
    assert re.search(r'resources.yaml:\d+: mode: "MODE_7" must be MODE_1, MODE_2 or MODE_3', said), said
    put(cluster, YAML)
    cluster.start_ctld()
    cluster.wait_ctld()
