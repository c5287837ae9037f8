"""scrontab: a user's file of jobs that recur."""
import os
import re
import time

import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm      # Debian's package has no scrontab


@pytest.fixture(scope="module")
def site(request):
    import conftest
    import harness
    folder = conftest.new_folder()
    one = harness.Cluster(folder, nodes=1, conf="ScronParameters=enable,explicit_scancel")
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(folder)


@pytest.fixture
def cron(site):
    site.must_run()
    yield site
    site.run("scrontab", "-r")
    site.run("scancel", "--cron", "-u", site.user)
    until("an empty queue", lambda: not site.queue())


def install(site, text):
    return site.ok("scrontab", "-v", "-", stdin=text)


def jobs_of(result):
    return [int(job) for job in re.findall(r"line \d+: job (\d+)", result.err)]


def field(site, job, name):
    return re.search(r"(?:^| )%s=(\S*)" % name, site.ok("scontrol", "show", "job", str(job)).out, re.M)[1]


def test_it_is_off_unless_the_site_wants_it(cluster):
    r = cluster.run("scrontab", "-l")
    assert r.code == 1 and r.err.startswith("scrontab: fatal: scrontab is disabled on this cluster")


def test_install_list_and_remove(cron):
    assert cron.run("scrontab", "-l").err == "scrontab: error: no crontab for %s\n" % cron.user
    assert cron.run("scrontab", "-r").code == 1
    text = "# mine\nDIR=/opt/x\n#SCRON -t 5 -J nightly\n#SCRON --mem=100M\n30 3 * * * $DIR/run --all\n\n@weekly echo $HOME\n"
    jobs = jobs_of(install(cron, text))
    assert len(jobs) == 2
    assert cron.ok("scrontab", "-l").out == text
    assert cron.queue("-O", "jobid:10,cronjob:10,name:20,reason:20") == [
        "%-10d%-10s%-20s%-20s" % (jobs[0], "Yes", "nightly", "BeginTime"),
        "%-10d%-10s%-20s%-20s" % (jobs[1], "Yes", "echo", "BeginTime")]
    assert field(cron, jobs[0], "CronJob") == "Yes" and field(cron, jobs[0], "EligibleTime").endswith("T03:30:00")
    assert field(cron, jobs[0], "WorkDir") == os.path.expanduser("~" + cron.user)
    assert cron.ok("scontrol", "write", "batch_script", str(jobs[0]), "-").out.endswith("\n/opt/x/run --all\n")
    cron.ok("scrontab", "-r")
    assert cron.queue() == [] and cron.run("scrontab", "-l").code == 1


def test_a_job_runs_at_its_time_and_waits_for_the_next(cron):
    out = os.path.join(cron.work, "ticks")
    script = cron.file("tick.sh", "#!/bin/sh\necho \"$SLURM_JOB_ID $PWD ${CALLER:-clean}\" >>%s\n" % out)
    os.chmod(script, 0o755)
    job, = jobs_of(cron.ok("scrontab", "-v", "-", stdin="* * * * * %s\n" % script, env={"CALLER": "leaks"}))
    first = field(cron, job, "EligibleTime")
    until("the first run", lambda: os.path.exists(out), seconds=90)
    until("the job to wait again", lambda: field(cron, job, "JobState") == "PENDING" and field(cron, job, "EligibleTime") > first, seconds=60)
    assert cron.read("ticks").splitlines()[0] == "%d %s clean" % (job, os.path.expanduser("~" + cron.user))
    assert cron.queue("-o", "%i %T %r") == ["%d PENDING BeginTime" % job]


def test_jobs_and_text_survive_a_crash(cron):
    job, = jobs_of(install(cron, "@yearly echo\n"))
    cron.kill_ctld()
    cron.start_ctld()
    cron.wait_ctld()
    assert cron.ok("scrontab", "-l").out == "@yearly echo\n"
    cron.ok("scontrol", "requeue", str(job))        # it is still a job of a crontab: the next run is left out
    assert field(cron, job, "EligibleTime").startswith(str(time.gmtime().tm_year + 2) + "-01-01")


def test_cancelling_disables_the_lines(cron):
    jobs = jobs_of(install(cron, "# a remark\n#SCRON -t 1\n@daily one\n@daily two\n"))
    r = cron.run("scancel", str(jobs[0]))
    assert r.code == 1 and "Cannot cancel scrontab jobs without --cron flag." in r.err
    cron.ok("scancel", "--cron", str(jobs[0]))
    assert cron.ok("scrontab", "-l").out == "# a remark\n#DISABLED: #SCRON -t 1\n#DISABLED: @daily one\n@daily two\n"
    assert cron.queue("-o", "%i") == [str(jobs[1])]


def test_scontrol_update_is_refused(cron):
    job, = jobs_of(install(cron, "@daily one\n"))
    r = cron.run("scontrol", "update", "job", str(job), "timelimit=1")
    assert r.code == 1 and "Cannot modify scrontab jobs through scontrol" in r.err


@pytest.mark.parametrize("text, said", [
    ("61 * * * * x\n", 'line 1: Invalid minute "61" in a crontab entry'),
    ("\n@daily\n", "line 2: the command is missing"),
    ("#SCRON -p nowhere\n@daily x\n", "line 2: invalid partition specified: nowhere"),
    ("#SCRON --array=1-3\n@daily x\n", "line 2: --array has no meaning"),
    ("#SCRON --nosuch=3\n@daily x\n", "line 2: unrecognized option '--nosuch=3'"),
    ("@daily good\n0 0 31 2 * x\n", "line 2: "),
])
def test_a_mistake_refuses_the_whole_file(cron, text, said):
    before = jobs_of(install(cron, "@daily before\n"))
    r = cron.run("scrontab", "-", stdin=text)
    assert r.code == 1 and said in r.err, r
    assert cron.ok("scrontab", "-l").out == "@daily before\n"
    assert cron.queue("-o", "%i") == [str(before[0])]


def test_the_editor_gets_the_file_and_only_a_change_installs(cron):
    env = {"EDITOR": "false"}
    assert cron.run("scrontab", "-e", env=env).code == 1
    env = {"EDITOR": "true", "VISUAL": ""}
    r = cron.ok("scrontab", "-e", env=env)
    assert "no changes" in r.err and cron.run("scrontab", "-l").code == 1
    script = cron.file("ed.sh", "#!/bin/sh\nstat -c %a \"$(dirname $1)\" >mode\ngrep -c '^[^#]' $1 >entries\necho '@daily edited' >>$1\n")
    os.chmod(script, 0o755)
    cron.ok("scrontab", "-e", env={"VISUAL": script, "EDITOR": "false", "TMPDIR": cron.work}, cwd=cron.work)
    assert cron.ok("scrontab", "-l").lines[-1] == "@daily edited"
    assert cron.read("mode") == "700\n" and cron.read("entries") == "0\n"      # the example has no entries
    assert [name for name in os.listdir(cron.work) if name.startswith("scrontab.")] == []
    wrong = cron.file("wrong.sh", "#!/bin/sh\necho nonsense >>$1\n")
    os.chmod(wrong, 0o755)
    r = cron.run("scrontab", "-e", env={"EDITOR": wrong})
    assert r.code == 1 and "the crontab stays as it was" in r.err
    assert cron.ok("scrontab", "-l").lines[-1] == "@daily edited"


def test_wrong_options(cron):
    assert cron.run("scrontab").code == 1
    assert cron.run("scrontab", "-e", "-l").code == 1
    assert cron.run("scrontab", "-l", "file").code == 1
    assert cron.run("scrontab", "/no/such/file").code == 1
    assert "Invalid user" in cron.run("scrontab", "-u", "nobody-of-this-name", "-l").err
    assert cron.ok("scrontab", "--version").out.startswith("slurm")
