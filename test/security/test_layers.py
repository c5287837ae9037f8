"""Hierarchical resources: whatever a user writes for --resources or -L is refused with its reason or counted as what it says, prints nothing that a
terminal would obey, and takes nothing of what is kept for others. guide hres, resources.yaml(5)."""
import os
import re

import pytest

import conftest
import harness
import town as towns
from harness import until

YAML = """\
---
- resource: flat
  mode: MODE_2
  layers:
    - {nodes: ["n1"], count: 4}
- resource: power
  mode: MODE_3
  variables: [{name: full_node, value: 3}]
  layers:
    - {nodes: ["n1"], count: 4}
"""


@pytest.fixture(scope="module")
def town():
    one = towns.Town(conftest.new_folder(), nodes=1)
    with open(os.path.join(one.folder, "etc", "resources.yaml"), "w") as f:
        f.write(YAML)
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def use(town):
    """What scontrol says is used of each resource, as whoever asks."""
    return dict(re.findall(r"LicenseName=(\w+)\(n1\)\s+Total=4 (Used=\d+ Free=\d+ Reserved=\d+)", town.a.ok("scontrol", "show", "license").out))


CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
NOTHING = {"flat": "Used=0 Free=4 Reserved=0", "power": "Used=0 Free=4 Reserved=0"}

HOSTILE = ["flat:-1", "flat:99999999999999999999999", "flat:4294967297", "flat:18446744073709551615", "flat:1e3", "flat:0x1", "flat:1,flat:-2",
           "nothing:1", "flat:\x1b[2J", "\x1b]0;owned\x07:1", "flat:1\nJobId=7", "x" * 4000 + ":1", ",".join("flat%d:1" % i for i in range(500)),
           "../flat:1", "flat(n1):1", "flat(n[1-999999999]):1", "flat:full_node", "power:switch", "power:full_node\x00", "flat:1|" * 2000, ":1", "flat:",
           "*:1", "flat:$(id)", "FLAT(n1)(n1):1", "ﬂat:1"]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_is_no_amount_of_a_resource_is_refused(town, number):
    text = HOSTILE[number]
    if "\x00" not in text:
        for option in ("--resources=", "-L"):
            said = town.b.run("sbatch", "--parsable", "-o", "/dev/null", option + text, "--wrap", "true")
            assert said.code in (1, 255) and said.err and not said.out, said
            assert len(said.err) < 20000, len(said.err)
    # The same without the commands' own checks.
    answer = town.b.send("SubmitJob", {**town.b.request(licenses=text.replace("\x00", "\\0")), "script": "#!/bin/sh\ntrue\n"})
    assert not answer and answer.error, answer
    assert use(town) == NOTHING and not town.queue()
    assert not CONTROL.search(town.log())
    town.must_run()


def test_a_layer_that_is_kept_for_a_is_not_b_s(town):
    assert "Reservation created" in town.ok("scontrol", "create", "reservation", "reservationname=kept", "starttime=now", "duration=60",
                                            "users=" + town.a.name, "flags=license_only", "licenses=flat(n1):4").out
    try:
        assert use(town)["flat"].endswith("Reserved=4")
        took = town.b.sbatch("-o", "/dev/null", "-t", "5", "-L", "flat:1", "--wrap", "sleep 60")
        for name in ("kept", "KEPT", "kept,"):
            said = town.b.run("sbatch", "-o", "/dev/null", "-t", "5", "-L", "flat:1", "--reservation=" + name, "--wrap", "sleep 60")
            assert said.code == 1, said
        own = town.a.sbatch("-o", "/dev/null", "-t", "5", "-L", "flat:4", "--reservation=kept", "--wrap", "sleep 60")
        town.wait_job(own, "RUNNING")
        assert town.job(took)["JobState"] == "PENDING" and town.job(took)["Reason"] == "Licenses", town.job(took)
        # Nor by naming another amount for a's job, or for what is kept.
        for words in (("jobid=%d" % own, "licenses=flat:0"), ("reservationname=kept", "licenses=flat(n1):1"), ("reservationname=kept", "users=" + town.b.name)):
            assert town.b.run("scontrol", "update", *words).code == 1, words
        assert town.b.run("scontrol", "delete", "reservationname=kept").code == 1
        assert use(town)["flat"].startswith("Used=4 Free=0"), use(town)
    finally:
        town.leave_no_job()
        town.ok("scontrol", "delete", "reservationname=kept")
    assert use(town) == NOTHING


def test_no_update_of_his_own_makes_a_job_hold_more_than_there_is(town):
    job = town.b.sbatch("-o", "/dev/null", "-t", "5", "-H", "-L", "flat:2", "--wrap", "sleep 60")
    try:
        for text in HOSTILE:
            if "\x00" in text or text == ":1":
                continue
            assert town.b.run("scontrol", "update", "jobid=%d" % job, "licenses=" + text).code == 1, text
        town.b.ok("scontrol", "release", str(job))
        town.wait_job(job, "RUNNING")
        assert use(town)["flat"] == "Used=2 Free=2 Reserved=0"
        assert town.b.run("scontrol", "update", "jobid=%d" % job, "licenses=flat:1").code == 1      # it runs
        assert use(town)["flat"] == "Used=2 Free=2 Reserved=0"
    finally:
        town.leave_no_job()
    until("all to be free", lambda: use(town) == NOTHING)


def test_a_file_that_is_no_list_of_resources_changes_nothing(town):
    """It is root's; but a mistake in it, or a file made to hurt its reader, must not end the controller, nor free what is held."""
    path = os.path.join(town.folder, "etc", "resources.yaml")
    bad = ["- resource: \"\x1b[2J\"\n  mode: MODE_2\n  layers:\n    - {nodes: [\"n1\"], count: 1}\n", "[" * 100000, "&a [*a, *a]\n", "- &a [x]\n- *a\n" * 1000,
           YAML.replace("count: 4", "count: -7"), YAML.replace("count: 4", "count: 99999999999999999999"), YAML.replace("n1", "n[1-999999999]"),
           YAML.replace("flat", "x" * 100000), "\x00" * 10, "- resource: flat\n" * 2, YAML.replace("MODE_2", "MODE_9")]
    for text in bad:
        with open(path, "w") as f:
            f.write(text)
        said = town.run("scontrol", "reconfigure")
        assert said.code == 1 and said.err and len(said.err) < 20000, (text[:80], said)
        assert not CONTROL.search(town.log())
        assert use(town) == NOTHING
        town.must_run()
    with open(path, "w") as f:
        f.write(YAML)
    town.ok("scontrol", "reconfigure")
