"""sacctmgr --json and --yaml with a real slurmdbd: every listing as a document of the documented shape, with the rows of the text. sacctmgr(1)."""
import json
import os

import pytest

from accounting import kind, on_both
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite; 22.05 has no sacctmgr --json

SHAPES = os.path.join(os.path.dirname(__file__), "..", "documented")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.fixture
def site(request, make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=2)
    cluster.database = kind(request)(cluster, "PrivateData=users\n")
    cluster.database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    for words in (("account", "all", "description=all of it"), ("account", "one", "parent=all", "GrpTRES=cpu=12,gres/gpu=3"),
                  ("qos", "high", "Flags=DenyOnLimit", "Preempt=normal", "MaxTRESPerUser=cpu=8", "MaxWall=60"),
                  ("user", cluster.user, "account=one", "MaxJobs=5", "qos=normal,high")):
        cluster.ok("sacctmgr", "-i", "add", *words)
    yield cluster
    cluster.database.stop()


def check(value, shape, schemas, where):
    """The value has the described type, with all that is described and nothing else."""
    if "$ref" in shape:
        shape = schemas[shape["$ref"].rsplit("/", 1)[1]]
    type_ = shape.get("type")
    types = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict}
    if type_:
        assert isinstance(value, types[type_]), (where, value)
    if "enum" in shape:
        assert value in shape["enum"], (where, value)
    if type_ == "array":
        for one in value:
            check(one, shape["items"], schemas, where + "[]")
    if "properties" in shape:
        assert set(value) == set(shape["properties"]), (where, set(value) ^ set(shape["properties"]))
        for name, part in shape["properties"].items():
            check(value[name], part, schemas, where + "." + name)


def document(site, *words, shape=None, who=()):
    answer = json.loads(site.ok(*who, "sacctmgr", "--json", *words, cwd="/").out)
    assert answer["meta"]["plugin"]["data_parser"] == "data_parser/v0.0.44" and answer["errors"] == answer["warnings"] == [], answer
    if shape:
        name = "v0.0.44_openapi_%s_resp" % shape
        with open("%s/%s.json" % (SHAPES, name)) as f:
            schemas = json.load(f)["components"]["schemas"]
        check(answer, schemas[name], schemas, "")
    return answer


def texts(site, *words):
    return [line.split("|") for line in site.ok("sacctmgr", "-nP", "show", *words).lines]


@on_both("site")
def test_documents_have_the_shapes_and_rows_of_the_listings(site):
    accounts = document(site, "show", "account", shape="accounts")["accounts"]
    assert {(a["name"], a["description"]) for a in accounts} == {tuple(t) for t in texts(site, "account", "format=account,description")}
    assert all(a["associations"] == [] for a in accounts)
    one, = document(site, "show", "account", "one", "withassoc", shape="accounts")["accounts"]
    assert {a["user"] for a in one["associations"]} == {"", site.user}

    associations = document(site, "list", "associations", shape="assocs")["associations"]
    assert {str(a["id"]) for a in associations} == {t[0] for t in texts(site, "associations", "format=id")}
    mine, = [a for a in associations if a["user"] == site.user and a["account"] == "one"]
    assert mine["max"]["jobs"]["active"] == {"set": True, "infinite": False, "number": 5} and mine["qos"] == ["high", "normal"], mine
    assert mine["max"]["jobs"]["total"] == {"set": False, "infinite": True, "number": 0}
    whole, = [a for a in associations if a["account"] == "one" and not a["user"]]
    tres = {t["type"] + ("/" + t["name"] if t["name"] else ""): t for t in whole["max"]["tres"]["total"]}
    assert {name: t["count"] for name, t in tres.items()} == {"cpu": 12, "gres/gpu": 3}
    assert str(tres["gres/gpu"]["id"]) in {t[0] for t in texts(site, "tres", "format=id,type,name") if t[1:] == ["gres", "gpu"]}
    assert document(site, "list", "associations", "user=nobody-at-all")["associations"] == []

    high, = [q for q in document(site, "show", "qos", shape="slurmdbd_qos")["qos"] if q["name"] == "high"]
    assert high["flags"] == ["DENY_LIMIT"] and high["preempt"]["list"] == ["normal"]
    assert high["limits"]["max"]["wall_clock"]["per"]["job"]["number"] == 60
    cluster, = document(site, "show", "cluster", shape="clusters")["clusters"]
    assert cluster["name"] == "test" and cluster["associations"]["root"]["account"] == "root" and cluster["controller"]["port"]
    user, = [u for u in document(site, "show", "user", shape="users")["users"] if u["name"] == site.user]
    assert user["default"]["account"] == "one" or site.user == "root"
    assert len(document(site, "show", "tres", shape="tres")["TRES"]) == len(texts(site, "tres"))
    assert document(site, "show", "wckeys", shape="wckey")["wckeys"] == []


def test_listings_without_a_described_shape(site):
    transactions = document(site, "show", "transactions")["transactions"]
    assert {str(t["id"]) for t in transactions} == {t[0] for t in texts(site, "transactions", "format=id")}
    assert "one" in {a for t in transactions for a in t["accounts"]}
    site.ok("sacctmgr", "-i", "add", "resource", "matlab", "server=flex", "count=40", "cluster=test", "allowed=50")
    resource, = document(site, "show", "resource")["resources"]
    assert resource["count"] == 40 and resource["clusters"] == [{"cluster": "test", "allowed": 50}]
    site.ok("scontrol", "update", "nodename=n1", "state=down", "reason=power")
    until("the event", lambda: any(e["node_name"] == "n1" and e["reason"] == "power" and e["state"][0] == "DOWN"
                                   for e in document(site, "show", "events", "start=now-1hour")["events"]))
    site.ok("scontrol", "create", "reservation", "reservationname=hold", "users=root", "nodes=n2", "start=now", "duration=60")
    until("the reservation", lambda: [r["name"] for r in document(site, "show", "reservations")["reservations"]] == ["hold"])
    site.ok("sacctmgr", "-i", "add", "user", "nobody-at-all", "account=one")      # a user without a uid is a problem
    problems = [[p["cluster"], p["account"], p["user"], p["problem"]] for p in document(site, "show", "problems")["problems"]]
    assert problems == texts(site, "problems", "format=cluster,account,user,problem")
    assert document(site, "show", "runawayjobs")["jobs"] == []
    lines = document(site, "show", "configuration")["configuration"]
    assert {"of": "client", "key": "AccountingStorageHost", "value": "127.0.0.1"} in lines and any(l["of"] == "slurmdbd" for l in lines)


def test_what_slurmdbd_says_of_itself(site):
    statistics = document(site, "show", "stats", shape="slurmdbd_stats")["statistics"]
    assert sum(r["count"] for r in statistics["RPCs"]) > 0
    ping, = document(site, "ping", shape="slurmdbd_ping")["pings"]
    assert ping["responding"] is True
    site.database.stop()
    said = site.run("sacctmgr", "--json", "ping")
    ping, = json.loads(said.out)["pings"]
    assert said.code == 1 and ping["responding"] is False, said
    site.database.start()


def test_a_user_sees_in_documents_what_the_text_shows(site):
    text = site.ok(*NOBODY, "sacctmgr", "-nP", "show", "user", "format=user", cwd="/").lines
    assert [u["name"] for u in document(site, "show", "user", who=NOBODY)["users"]] == text
    assert site.user not in text or site.user == "nobody"


def test_yaml_versions_and_refusals(site):
    assert site.ok("sacctmgr", "--yaml", "show", "account").lines[0] == "accounts:"
    assert "data_parser/v0.0.44" in site.ok("sacctmgr", "--json=list", "show", "account").out
    document(site, "show", "account")
    json.loads(site.ok("sacctmgr", "--json=v0.0.44", "show", "account", "format=nonsense").out)
    wrong = site.run("sacctmgr", "--json=v0.0.42", "show", "account")
    assert wrong.code == 1 and "data_parser/v0.0.42" in wrong.err, wrong
    for words in (("-i", "add", "account", "two"), ("-i", "modify", "account", "one", "set", "description=x"), ("dump", "test")):
        said = site.run("sacctmgr", "--json", *words)
        assert said.code == 1 and "--json and --yaml are of list, show and ping" in said.err and not said.out, said
    assert "two" not in {t[0] for t in texts(site, "account", "format=account")}
    said = site.run("sacctmgr", "--json", "show", "instances")
    assert said.code == 1 and "instances" in said.err and not said.out, said
