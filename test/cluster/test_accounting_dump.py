"""sacctmgr dump and load, on slurmdbd with SQLite: sacctmgr(1), FLAT FILE DUMP AND LOAD."""
import os
import re
import shutil

import pytest

import harness
from accounting import Database
from conftest import new_folder
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite; Slurm asks for MariaDB

# What Debian's slurm-wlm 22.05 wrote with `sacctmgr dump tux`, without its comments.
OF_SLURM = """\
Cluster - 'tux':Fairshare=3:MaxJobs=7:QOS='high,normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'lab':Description='lab':Organization='lab':Fairshare=1
Account - 'science':Description='science: all it`s':Organization='the org':Fairshare=50:GrpTRESMins=cpu=1000:GrpTRESRunMins=cpu=5:\
GrpTRES=cpu=100,mem=2G:GrpJobs=10:GrpJobsAccrue=4:GrpSubmitJobs=20:GrpWall=1440:MaxTRESMinsPerJob=cpu=9:MaxTRESPerNode=cpu=3:\
MaxJobsAccrue=2:MaxSubmitJobs=8
Parent - 'lab'
User - 'brian':DefaultAccount='lab':DefaultWCKey='w':AdminLevel='Operator':WCKeys='w':Fairshare=1
Parent - 'science'
User - 'adam':Partition='p':DefaultAccount='chem':Coordinator='chem,lab,science':DefaultQOS='low':Fairshare=1:QOS='+low'
Account - 'chem':Description='chem':Organization='science':DefaultQOS='high':Fairshare=2147483647:QOS='high,low'
Parent - 'chem'
User - 'adam':DefaultAccount='chem':Coordinator='chem,lab,science':Fairshare=10:MaxTRESPerJob=cpu=4,mem=3G,node=2:MaxJobs=2:\
MaxWallDurationPerJob=30:Priority=9
User - 'brian':DefaultAccount='lab':DefaultWCKey='w':AdminLevel='Operator':WCKeys='w':Fairshare=1:QOS='-high'
"""
QOS = """\
QOS - 'high':Description='very high':Flags='DenyOnLimit':GrpTRES=cpu=8,mem=1G:MaxTRESPerUser=cpu=4:MaxWallDurationPerJob=1440:\
Priority=100:GraceTime=90:Preempt='low,normal':UsageFactor=2.5
QOS - 'low'
"""


@pytest.fixture
def new_site():
    """Makes a slurmdbd with an empty database; there are no controllers."""
    made = []

    def make():
        site = harness.Cluster(new_folder(), nodes=1)
        site.database = Database(site).start()
        made.append(site)
        until("slurmdbd to answer", lambda: site.run("sacctmgr", "-n", "show", "qos").code == 0)
        return site
    yield make
    for site in made:
        site.database.stop()
        harness.remove(site.folder)


@pytest.fixture
def site(new_site):
    return new_site()


def lines(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def dump(site, cluster="tux"):
    site.ok("sacctmgr", "dump", cluster, "file=dumped")
    return lines(site.read("dumped"))


def load(site, text, *words, **kw):
    return site.run("sacctmgr", "-i", "load", "file=" + site.file("to-load", text), *words, **kw)


def filled(site):
    said = load(site, QOS + OF_SLURM)
    assert said.code == 0 and said.err == "", said
    return site


def test_what_slurm_wrote_comes_back_as_it_was(site):
    filled(site)
    back = dump(site)
    assert [line for line in back if not line.startswith("QOS")] == OF_SLURM.splitlines()
    qos = [line for line in back if line.startswith("QOS")]
    assert QOS.splitlines()[0] in qos and len(qos) == 3, qos


def test_a_dump_loaded_into_an_empty_database_dumps_the_same(new_site):
    first, second = filled(new_site()), new_site()
    before = dump(first)
    shutil.copy(first.work + "/dumped", second.work + "/other")
    said = second.ok("sacctmgr", "-i", "load", "other")
    assert said.err == "", said
    assert dump(second) == before
    again = second.ok("sacctmgr", "load", "other")
    assert again.out == "For cluster tux\n Nothing new added.\n", again


def test_the_file_is_named_after_the_cluster(site):
    filled(site)
    said = site.ok("sacctmgr", "dump", "tux")
    assert said.out == " No filename given, using ./tux.cfg.\n"
    assert lines(site.read("tux.cfg")) == dump(site)
    assert site.sh("sacctmgr dump cluster=tux file=/dev/stdout | cat").out == site.read("tux.cfg")


@pytest.mark.parametrize("words, error", [
    ((), " We need a cluster to dump."), (("nosuch",), " Cluster nosuch doesn't exist."),
    (("tux", "tux2"), " Can only do one cluster at a time.  Already doing tux"), (("tux", "bogus=1"), " Unknown option: bogus=1"),
    (("tux", "file=/nosuch/f"), "Can't open file /nosuch/f, ")])
def test_words_of_dump_that_make_no_sense(shared_site, words, error):
    said = shared_site.run("sacctmgr", "dump", *words)
    assert said.code == 1 and said.err.startswith(error), said
    assert not os.path.exists(shared_site.work + "/tux.cfg")


@pytest.fixture(scope="module")
def shared_site():
    site = harness.Cluster(new_folder(), nodes=1)
    site.database = Database(site).start()
    try:
        until("slurmdbd to answer", lambda: site.run("sacctmgr", "-n", "show", "qos").code == 0)
        yield filled(site)
    finally:
        site.database.stop()
        harness.remove(site.folder)


@pytest.mark.parametrize("text, error", [
    ("hello\n", "line 1: want TITLE - 'name'"),
    ("Account - 'x'\n", " You need to specify a cluster name first with 'Cluster - $NAME' in your file"),
    ("Cluster - 'tux'\nGroup - 'x'\n", "line 2: the title Group is none of"),
    ("Cluster - 'tux'\nParent - 'none'\nAccount - 'x'\n", "line 2: Parent: the account none is not there yet"),
    ("Cluster - 'tux'\nAccount - 'x':Fairshare=lots\n", "line 2: Invalid value for FairShare (lots)"),
    ("Cluster - 'tux'\nAccount - 'x'\nAccount - 'y':QOS='nosuch'\n", "line 3: QOS: You gave a bad qos 'nosuch'"),
    ("Cluster - 'tux'\nAccount - 'x'\nAccount - 'y':Colour='red'\n", "line 3: Unknown option: Colour=red"),
    ("Cluster - 'tux'\nAccount - 'x'\nAccount - 'y':GrpTRES=wheel=4\n", "GrpTRES: TRES 'wheel' is not known"),
    ("Cluster - 'tux'\nAccount - 'x'\nAccount - 'a b'\n", "Account 'a b': a name has"),
    ("Cluster - 'tux'\nAccount - 'x'\nUser - 'u':DefaultAccount='lab'\n", "line 3: DefaultAccount=lab: user u is not in that account"),
    ("Cluster - 'tux'\nAccount - 'x':Description='\x1b[2J'\n", "line 2: it holds a control character"),
    ("Cluster - 'tux'\nAccount - '%s'\n" % ("x" * 300), "line 2: the name is missing or longer than 200 bytes"),
    ("Cluster - 'tux'\nAccount - 'x':Description='%s'\n" % ("x" * 100000), "line 2: a line has at most 65536 bytes"),
    ("Cluster - 'tux'\n" + "".join("Account - 'x%d'\n" % i for i in range(1000000)), "line 100001: a file has at most 100000 lines"),
    ("Cluster - 'tux'\n" + "".join("Account - 'x%d'\n" % i for i in range(20000)), "the file makes 20000 edits"),
])
def test_a_broken_file_changes_nothing(shared_site, text, error):
    before = dump(shared_site)
    said = load(shared_site, text)
    assert said.code == 1 and error in said.err, said.err[:500]
    assert dump(shared_site) == before


def test_words_in_a_file_are_no_commands_of_a_database(site):
    evil = "x'); DROP TABLE muster_entities; --"
    said = load(site, "Cluster - 'tux'\nAccount - 'a':Organization=\"%s\"\n" % evil)
    assert said.code == 0, said
    assert "Account - 'a':Description='a':Organization=\"%s\":Fairshare=1" % evil in dump(site)
    assert load(site, "Cluster - 'tux'\nAccount - \"%s\"\n" % evil).code == 1


def test_it_says_what_it_will_do_and_asks(site):
    filled(site)
    before = dump(site)
    text = "Cluster - 'tux':Fairshare=1\nAccount - 'lab':Fairshare=4\nAccount - 'made':MaxJobs=3\nParent - 'made'\nUser - 'zed'\n"
    path = site.file("changes", text)
    said = site.run("sacctmgr", "load", path, stdin="n\n")
    assert said.out.startswith("For cluster tux\n"
                               " Changed fairshare             for Cluster tux               3 -> 1\n"
                               " Changed fairshare             for Account lab               1 -> 4\n"
                               " Adding Account(s)\n  made\n"), said
    assert "U = zed       A = made       C = tux" in said.out and said.out.endswith(" Changes Discarded\n"), said
    assert dump(site) == before
    assert site.run("sacctmgr", "load", path, stdin="y\n").code == 0
    after = dump(site)
    assert "Cluster - 'tux':Fairshare=1:MaxJobs=7:QOS='high,normal'" in after       # MaxJobs is not in the file: it stays
    assert "User - 'zed':DefaultAccount='made':Fairshare=1" in after
    assert len(after) == len(before) + 3       # made, its Parent line and zed
    refused = site.run("sacctmgr", "-r", "load", path)
    assert refused.code == 1 and "readonly" in refused.err, refused


def test_a_file_moves_accounts_and_names_other_clusters(site):
    filled(site)
    assert load(site, "Cluster - 'tux'\nAccount - 'lab'\nParent - 'lab'\nAccount - 'chem'\n").out == (
        "For cluster tux\n Changed Parent                for Account chem        science -> lab\n")
    assert site.ok("sacctmgr", "-nP", "show", "assoc", "account=chem", "user=", "format=parentname").out == "lab\n"
    assert load(site, OF_SLURM, "cluster=other").code == 0
    other = [line for line in dump(site, "other") if not line.startswith("QOS")]
    assert other == OF_SLURM.replace("'tux'", "'other'").splitlines()


def test_clean_begins_anew(site):
    filled(site)
    new = "Cluster - 'tux':Fairshare=2\nAccount - 'only':Fairshare=5\n"
    kept = [line for line in dump(site) if line.startswith("QOS")]
    path = site.file("new", new)
    said = site.run("sacctmgr", "load", path, "clean", stdin="n\n")
    assert "You requested to flush the cluster before adding it again." in said.out and said.out.endswith("Aborted\n"), said
    assert site.ok("sacctmgr", "-i", "load", path, "clean").err == ""
    assert dump(site) == kept + ["Cluster - 'tux':Fairshare=2:QOS='normal'", "Parent - 'root'"] + [
        "User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1", "Account - 'only':Description='only':Organization='only':Fairshare=5"]
    assert "adam" in site.ok("sacctmgr", "-nP", "show", "user", "format=user").lines      # users stay …
    assert site.ok("sacctmgr", "-i", "load", path, "clean=account,qos,user").err == ""
    assert site.ok("sacctmgr", "-nP", "show", "user", "format=user").lines == ["root"]    # … unless they are asked for
    assert sorted(site.ok("sacctmgr", "-nP", "show", "account", "format=account").lines) == ["only", "root"]
    assert site.ok("sacctmgr", "-nP", "show", "qos", "format=name").lines == ["normal"]
    assert site.run("sacctmgr", "-i", "load", path, "clean=world").code == 1


def test_thousands_of_users_are_one_request(site):
    accounts = ["Account - 'a%d'" % i for i in range(20)]
    users = [line for i in range(20) for line in ["Parent - 'a%d'" % i] + ["User - 'u%d-%d':Fairshare=1" % (i, n) for n in range(100)]]
    said = load(site, "\n".join(["Cluster - 'tux'", *accounts, *users]) + "\n", timeout=120)
    assert said.code == 0 and said.err == "", said.err
    assert len(site.ok("sacctmgr", "-nP", "show", "user", "format=user").lines) == 2001


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become another user")
def test_administrators_alone(shared_site):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    path = shared_site.file("theirs", "Cluster - 'tux'\nAccount - 'mine'\n")
    for words in (["dump", "tux", "file=/dev/stdout"], ["-i", "load", path]):
        said = shared_site.run(*nobody, "sacctmgr", *words, cwd="/")
        assert said.code == 1 and said.out == "" and said.err.startswith(" Your user does not have sufficient privileges to "), said
    assert not re.search("mine", "\n".join(dump(shared_site)))
