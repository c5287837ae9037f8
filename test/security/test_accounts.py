"""Rights that slurmdbd gives: what operators, administrators and coordinators may do to the jobs of others, and what they still may not."""
import os
import re

import pytest

import town as towns
from harness import until


@pytest.fixture(scope="module")
def site():
    from conftest import new_folder
    import harness
    folder = new_folder()
    town = towns.Town(folder, nodes=1, conf="AccountingStorageEnforce=associations")
    database = None
    try:
        database = towns.start_database(town)
        town.ok("sacctmgr", "-i", "add", "account", "lab,elsewhere")
        town.ok("sacctmgr", "-i", "add", "user", town.a.name, "account=lab")
        town.ok("sacctmgr", "-i", "add", "user", town.b.name, "account=elsewhere")
        until("both accounts to be known", lambda: all(u.run("sbatch", "-H", "--wrap", "true").code == 0 for u in (town.a, town.b)))
        yield town
    finally:
        town.stop()
        if database:
            database.stop()
        harness.remove(folder)


def waiting(town):
    """One that does not start when it is released."""
    return str(town.a.sbatch("-H", "--begin=now+1day", "-o", "/dev/null", "--wrap", "true"))


@pytest.fixture(scope="module")
def running(site):
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "srun sleep 100000")
    until("its step", lambda: "%d.0" % job in site.run("squeue", "-h", "-s", "-o", "%i").lines)
    for args in in_the_job(site, str(job)).values():
        site.a.ok(*args)        # so that it is who asks that is refused
    return str(job)


def in_the_job(town, running):
    """What its owner may do in it. sattach would not end: it begins with this credential."""
    return {"step": ["srun", "--overlap", "--jobid=" + running, "true"],
            "credential": [towns.hostile_program(), "send", town.agent, "AskCredential", "job=" + running, "has_step=1", "step=0", "purpose=1"]}


def of_everybody(town, job, running):
    """What B may do to A's jobs, by command."""
    commands = {
        "hold": ["scontrol", "uhold", job], "release": ["scontrol", "release", job], "comment": ["scontrol", "update", "job", job, "comment=x"],
        "nice": ["scontrol", "update", "job", job, "nice=-5"], "output": ["scontrol", "update", "job", job, "stdout=/tmp/x"],
        "workdir": ["scontrol", "update", "job", job, "workdir=/tmp"], "script": ["scontrol", "write", "batch_script", job, "-"],
        "notify": ["scontrol", "notify", running, "x"], "node": ["scontrol", "update", "nodename=n1", "weight=7"],
        "partition": ["scontrol", "update", "partitionname=main", "state=up"], "reconfigure": ["scontrol", "reconfigure"],
        "without a job": ["srun", "--no-allocate", "-w", "n1", "true"], "as A": ["sbatch", "--uid=" + town.a.name, "--wrap", "true"],
        **in_the_job(town, running),
    }
    town.run("scontrol", "uhold", job)
    return {name for name, args in commands.items() if town.b.run(*args).code == 0}


def until_it_may(town, job, running, what, wanted):
    seen = []

    def there():
        seen[:] = [of_everybody(town, job, running)]
        return seen[0] == wanted
    until(lambda: "B, %s, to be able to %s; it is %s\n%s" % (what, sorted(wanted), sorted(seen[0]), town.logs()), there)


MANAGES = {"hold", "release", "comment"}


def test_an_ordinary_user_may_nothing(site, running):
    assert of_everybody(site, waiting(site), running) == set()


def test_a_coordinator_manages_jobs_and_runs_nothing_in_them(site, running):
    job = waiting(site)
    site.ok("sacctmgr", "-i", "add", "coordinator", "account=lab", "names=" + site.b.name)
    until_it_may(site, job, running, "a coordinator", MANAGES)
    assert site.b.run("scancel", job).code == 0
    job = waiting(site)
    site.ok("sacctmgr", "-i", "delete", "coordinator", "account=lab", "names=" + site.b.name)
    until_it_may(site, job, running, "no coordinator any more", set())
    assert site.b.run("scancel", job).code != 0


def test_an_operator_manages_all_jobs_and_no_node(site, running):
    job = waiting(site)
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=operator")
    until_it_may(site, job, running, "an operator", MANAGES | {"nice", "script"})
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=administrator")
    until_it_may(site, job, running, "an administrator", MANAGES | {"nice", "script", "node", "partition", "reconfigure"})
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=none")
    until_it_may(site, job, running, "nobody any more", set())


def test_where_an_association_is_enforced_its_end_is_the_end(site):
    """docs/security.md: taken back by the association."""
    site.ok("scancel", "-u", site.b.name)   # none goes whose jobs are there
    until("B's association to go", lambda: site.run("sacctmgr", "-i", "delete", "user", site.b.name, "account=elsewhere").code == 0)
    until("B to be refused", lambda: re.search("Invalid account", site.b.run("sbatch", "-H", "--wrap", "true").err))
    assert site.a.run("sbatch", "-H", "--wrap", "true").code == 0
