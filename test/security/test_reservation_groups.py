"""Who is in the groups of a reservation is what the controller's host says, whatever the command that made it had said. scontrol(1) Groups=."""
import pytest

import conftest
import harness
import town as towns
from harness import until


@pytest.fixture(scope="module")
def town():
    one = towns.Town(conftest.new_folder(), nodes=1)
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def admitted(town, user):
    said = user.run("sbatch", "--parsable", "-o", "/dev/null", "--reservation=g", "-t", "1", "--wrap", "true")
    assert said.code == 0 or "Access denied to requested reservation" in said.err, said
    return said.code == 0


def test_members_are_found_out_again(town):
    """b's own login group is named, and a told as its member: so it was, or so whoever ran the command would have it."""
    fields = {"create": 1, "name": "g", "group_members.0": town.a.name}
    words = {"StartTime": "now", "Duration": "60", "Nodes": "n1", "Groups": town.b.name}
    for index, (key, value) in enumerate(words.items()):
        fields.update({"changes.%d.key" % index: key, "changes.%d.op" % index: "=", "changes.%d.value" % index: value})
    answer = towns.Answer(town.run(towns.hostile_program(), "send", town.agent, "UpdateReservation", *["%s=%s" % f for f in fields.items()]))
    assert answer, answer
    assert admitted(town, town.a) and not admitted(town, town.b)
    town.ok("scontrol", "reconfigure")
    until("b to be let in", lambda: admitted(town, town.b))
    assert not admitted(town, town.a)
    town.leave_no_job()
    town.must_run()
