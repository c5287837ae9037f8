"""Who may make a node: those who have the cluster key, and even they only within what a NodeName line may say."""
import os

import pytest

import conftest
import harness
import town as towns
from town import hostile_program as hostile


@pytest.fixture(scope="module")
def town():
    one = towns.Town(conftest.new_folder(), nodes=1, conf="MaxNodeCount=8\nNodeSet=dynamic Feature=dyn\n"
                     "PartitionName=closed Nodes=dynamic RootOnly=YES")
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def fields(name, **more):
    return {"name": name, "hostname": "there", "port": 7, "boot_id": "x", "definition.0.key": "CPUs", "definition.0.op": "=",
            "definition.0.value": "1", **more}


def nodes(town):
    return set(town.ok("sinfo", "-h", "-N", "-o", "%N").out.split())


@pytest.mark.parametrize("by_node", [False, True])
def test_an_ordinary_user_makes_no_node(town, by_node):
    socket = town.node_agent() if by_node else town.agent
    for name in ("d1", "n1"):
        for as_what in (0, 1):
            answer = town.b.send("JoinNode", fields(name, **{"as": as_what}), socket=socket)
            assert not answer and "denied" in answer.error, answer
    assert nodes(town) == {"n1"}
    town.must_run()


def test_nor_does_a_slurmd_that_he_starts(town):
    result = town.b.run(os.path.join(town.prefix, "sbin", "slurmd"), "-D", "-Z", "-N", "d1", "--conf", "CPUs=1")
    assert result.code == 1, result
    assert nodes(town) == {"n1"}


HOSTILE = [("Feature", "x" * 100000), ("Feature", "a\nNodeName=d2"), ("Feature", "\x1b[2J"), ("Feature", 'a" Weight="1'), ("PartitionName", "main"),
           ("Nodes", "ALL"), ("NodeName", "n1"), ("Port", "22"), ("State", "FUTURE"), ("Gres", "gpu:h100:4294967296"), ("Include", "/etc/shadow"),
           ("Boards", "99999999999999999999"), ("Topology", "no:where")]


def test_a_hostile_definition_of_one_who_has_the_key(town):
    """Root of a node has the key and may speak as any slurmd: what he says is judged, and nothing of what is refused is kept."""
    before = town.stored()
    for key, value in HOSTILE:
        words = {**fields("d1"), "definition.1.key": key, "definition.1.op": "=", "definition.1.value": value}
        answer = towns.Answer(town.run(hostile(), "send", town.agent, "JoinNode", *["%s=%s" % word for word in words.items()]))
        assert not answer, "%s=%r was taken: %r" % (key, value[:40], answer)
    for name in ("", "ALL", "d[1-9]", "d1,d2", "../../etc", "n1", "x" * 5000):
        answer = towns.Answer(town.run(hostile(), "send", town.agent, "JoinNode", *["%s=%s" % word for word in fields(name).items()]))
        assert not answer, "the name %r was taken: %r" % (name[:40], answer)
    assert town.stored() == before and nodes(town) == {"n1"}
    town.must_run()
