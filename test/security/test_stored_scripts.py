"""Scripts and environments in the database: who sees them, and what a script can do to accounting and to whoever reads it."""
import pytest

import town as towns
from harness import until

SECRET = "known-to-a-alone-7213"
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def site():
    from conftest import new_folder
    import harness
    folder = new_folder()
    town = towns.Town(folder, nodes=1, conf="AccountingStoreFlags=job_script,job_env\nSchedulerParameters=max_script_size=33554432")
    database = None
    try:
        town.database = database = towns.start_database(town)
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


@pytest.fixture(scope="module")
def secret(site):
    script = site.a.file("secret.sh", "#!/bin/sh\n# %s\n" % SECRET)
    job = str(site.a.sbatch("-H", script, env={"A_SECRET": SECRET}))
    assert SECRET in site.a.ok("sacct", "-B", "-j", job).out
    assert SECRET in site.a.ok("sacct", "--env-vars", "-j", job).out
    return job


def refused(user, job):
    for option in ("-B", "--env-vars"):
        said = user.run("sacct", option, "-j", job)
        assert said.code == 1 and "denied: job " + job in said.err and said.out == "", said
        assert SECRET not in said.out + said.err
    return True


def test_another_user_asks_for_a_script(site, secret):
    assert refused(site.b, secret)
    # Nor is its hash anywhere that one who guesses a script could compare.
    everything = site.b.run("sacct", "-a", "--json").out + site.b.run("sacct", "-aP", "-o", "all").out
    assert SECRET not in everything and "script_hash" not in everything
    for words in (["QueryContent", "kind=0"], ["StoreContent", "hash=" + "0" * 64, "size=1", "bytes=x"], ["QueryDatabaseStatistics"]):
        said = site.b.run(towns.hostile_program(), "send", "%s/run/slurmdbd.%d.sock" % (site.folder, site.database.port), *words)
        assert said.code == 1 and said.out.startswith("error:"), said


def test_coordinators_and_operators_see_it_until_that_is_taken_back(site, secret):
    site.ok("sacctmgr", "-i", "add", "coordinator", "account=lab", "names=" + site.b.name)
    assert SECRET in site.b.ok("sacct", "-B", "-j", secret).out
    site.ok("sacctmgr", "-i", "delete", "coordinator", "account=lab", "names=" + site.b.name)
    assert refused(site.b, secret)
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=operator")
    assert SECRET in site.b.ok("sacct", "-B", "-j", secret).out
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=none")
    assert refused(site.b, secret)


def test_a_script_of_16_mebibytes_holds_no_record_up(site):
    huge = site.b.file("huge.sh", "#!/bin/sh\n#" + "x" * (16 * MEBIBYTE) + "\n")
    jobs = [str(site.b.sbatch("-H", huge)) for _ in range(3)]
    small = str(site.a.sbatch("-H", "--wrap", "true"))
    until("A's next job to be recorded", lambda: "true" in site.a.run("sacct", "-B", "-j", small).out)
    for job in jobs:
        said = site.b.ok("sacct", "-B", "-j", job).out
        assert "TOO LONG: it has %d bytes" % (16 * MEBIBYTE + 12) in said and len(said) < 1000, said
    assert site.database.rows("SELECT SUM(LENGTH(bytes)) FROM muster_content_pieces")[0][0] < MEBIBYTE
    # One that just fits comes whole.
    large = "#!/bin/sh\n#" + "y" * (8 * MEBIBYTE - 12) + "\n"
    job = str(site.b.sbatch("-H", site.b.file("large.sh", large)))
    said = site.b.ok("sacct", "-B", "-j", job).out
    assert said.endswith(large + "\n") and len(large) == 8 * MEBIBYTE


def test_names_and_scripts_with_escape_sequences(site):
    hostile = "\033]0;owned\007\033[2J\u009b2J"
    job = str(site.b.sbatch("-H", "-J", "x" + hostile, site.b.file("escape.sh", "#!/bin/sh\n# %s\n" % hostile)))
    assert hostile in site.ok("sacct", "-B", "-j", job).out, "a pipe gets what was submitted"
    shown, code = site.terminal("sacct", "-B", "-j", job)
    assert code == 0 and "\033" not in shown and "\u009b" not in shown and "\\x1b]0;owned\\x07" in shown, shown
