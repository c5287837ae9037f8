"""The checklist's lines about accounting (rows 18-25 of checklist.txt), in the shape written there, and what is around them."""
import json
import os
import re
import time

import harness
import pytest
from accounting import Database
from conftest import new_folder
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite, and AllocGRES, which Slurm has removed

TODAY = {"SLURM_TIME_FORMAT": "standard"}
CHARGEBACK = ("sacct --allocations --starttime=$(date -d \"1 month ago\" +%Y-%m-%d) --format=User,AllocGRES,ElapsedRaw "
              "--state=COMPLETED | awk '/h100/ {split($2,a,\":\"); gpuhours[$1] += (a[3] * $3/3600)} "
              "END {for (u in gpuhours) printf \"%s %.4f\\n\", u, gpuhours[u]}'")


@pytest.fixture(scope="module")
def shared():
    folder = new_folder()
    cluster = harness.Cluster(folder, nodes=2, gpus=8)
    cluster.database = Database(cluster).start()
    try:
        cluster.start()
        until("sacctmgr to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-nP", "show", "cluster").out)
        yield cluster
    finally:
        cluster.stop()
        cluster.database.stop()
        harness.remove(folder)


@pytest.fixture
def finished(cluster):
    """A job of eight GPUs that took two seconds or more, as the database has it; its id."""
    script = cluster.file("train.sh", "#!/bin/bash\nsrun true\nwhile [ $SECONDS -lt 3 ]; do sleep 0.1; done\n")
    job = cluster.sbatch("--gres=gpu:8", "-J", "train", script)
    cluster.wait_job(job)
    cluster.database.wait_state(job, "COMPLETED")
    return job


def records(cluster, *args):
    """Lines of sacct -nP as lists."""
    return [line.split("|") for line in cluster.ok("sacct", "-nP", *args).lines]


# ---- rows 18-21
@pytest.mark.row(18)
def test_sacct_of_a_job(cluster, finished):
    said = cluster.sh("sacct -j $JOBID", env={"JOBID": str(finished)})
    assert said.code == 0 and said.err == "", said
    assert said.lines[0] == "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode "
    assert said.lines[1] == "------------ ---------- ---------- ---------- ---------- ---------- -------- "
    lines = [line.split() for line in said.lines[2:]]
    assert [line[0] for line in lines] == ["%d%s" % (finished, part) for part in ("", ".batch", ".0")], said
    assert lines[0][1:3] == ["train", "main"] and all(line[-2:] == ["COMPLETED", "0:0"] for line in lines), said


@pytest.mark.row(19)
def test_sacct_with_the_gres_column_that_slurm_removed(cluster, finished):
    said = cluster.sh("sacct -j $JOBID --format=JobID,Elapsed,CPUTime,NCPUS,AllocGRES,State", env={"JOBID": str(finished)})
    assert said.code == 0 and said.err == "", said
    assert said.lines[0].split() == ["JobID", "Elapsed", "CPUTime", "NCPUS", "AllocGRES", "State"]
    job = said.lines[2].split()
    assert job[0] == str(finished) and job[3:] == [job[3], "gpu:h100:8", "COMPLETED"], said
    assert re.fullmatch(r"00:00:0[2-9]", job[1]) and re.fullmatch(r"00:00:\d\d", job[2]), said


@pytest.mark.row(19)
def test_gres_are_those_of_all_nodes(cluster):
    job = cluster.sbatch("-N2", "--gres=gpu:8", "--wrap", "true")
    cluster.wait_job(job)
    cluster.database.wait_state(job, "COMPLETED")
    assert records(cluster, "-X", "-j", str(job), "-o", "allocgres,nnodes") == [["gpu:h100:16", "2"]]


@pytest.mark.row(20)
def test_sacct_between_two_days(cluster, finished):
    line = "sacct --format=JobID,User,Partition,AllocGRES,Elapsed,State --starttime=%s --endtime=%s"
    said = cluster.sh(line % ("2026-01-01", "2026-03-01"))
    now = time.time()
    if not 1767225600 <= now < 1772323200:       # else they are among them
        assert said.code == 0 and said.err == "" and len(said.lines) == 2, said
    assert said.lines[0] == "JobID             User  Partition    AllocGRES    Elapsed      State "
    here = cluster.sh(line % ("$(date -d yesterday +%Y-%m-%d)", "$(date -d tomorrow +%Y-%m-%d)"))
    assert here.code == 0, here
    job = [l.split() for l in here.lines if l.split()[0] == str(finished)]
    assert len(job) == 1 and job[0][1:4] == [cluster.user, "main", "gpu:h100:8"] and job[0][5] == "COMPLETED", here


@pytest.mark.row(21)
def test_gpu_hours_by_user(cluster, finished):
    failed = cluster.sbatch("--gres=gpu:1", "--wrap", "exit 1")
    cpu_only = cluster.sbatch("--wrap", "true")
    for job, state in ((failed, "FAILED"), (cpu_only, "COMPLETED")):
        cluster.wait_job(job, state)
        cluster.database.wait_state(job, state)
    said = cluster.sh(CHARGEBACK)
    assert said.code == 0 and said.err == "", said
    expected = sum(int(gres.rsplit(":", 1)[1]) * int(seconds) for gres, seconds, state in
                   records(cluster, "-X", "-S", "now-20days", "-o", "allocgres,elapsedraw,state") if gres and state == "COMPLETED")
    assert expected >= 16 and said.out == "%s %.4f\n" % (cluster.user, expected / 3600), said


# ---- rows 22-25
ACCOUNT = 'sacctmgr add account team-a Description="Team A" Organization=research'
USER = "sacctmgr add user alice Account=team-a"
QOS = 'sacctmgr add qos team-a-qos GrpTRESMins="gres/gpu=43200"'
LEVEL = "sacctmgr modify account team-a set QOS=team-a-qos"
ASKED = "Would you like to commit changes? (You have 30 seconds to decide)\n(N/y): \n"


@pytest.fixture
def bare(cluster):
    """Nothing of the lines below is there."""
    for line in ("delete user alice", "delete account team-a", "delete qos team-a-qos"):
        cluster.run("sacctmgr", "-i", *line.split())
    return cluster


@pytest.mark.row(22, 23, 24, 25)
def test_team_a_is_set_up_with_a_yes_to_each(bare):
    lines = {ACCOUNT: " Adding Account(s)\n  team-a\n Settings\n  Description     = team a\n  Organization    = research\n"
                      " Associations\n  A = team-a     C = test      \n Settings\n  Parent        = root\n",
             USER: "There is no uid for user 'alice'\nAre you sure you want to continue? (You have 30 seconds to decide)\n(N/y): \n"
                   " Adding User(s)\n  alice\n Associations =\n  U = alice     A = team-a     C = test      \n Non Default Settings\n",
             QOS: " Adding QOS(s)\n  team-a-qos\n Settings\n  Description    = team-a-qos\n  GrpTRESMins              = gres/gpu=43200\n",
             LEVEL: " Modified account associations...\n  C = test       A = team-a of root\n"}
    for line, text in lines.items():
        said = bare.sh(line, stdin="y\ny\n")
        assert said.code == 0 and said.err == "" and said.out.startswith(text) and said.out.endswith(ASKED), said
    assert bare.ok("sacctmgr", "-nP", "show", "account", "team-a").out.lower() == "team-a|team a|research\n"
    assert bare.ok("sacctmgr", "-nP", "show", "user", "alice").out == "alice|team-a|None\n"
    assert bare.ok("sacctmgr", "-nP", "show", "qos", "team-a-qos", "format=name,grptresmins").out == "team-a-qos|gres/gpu=43200\n"
    got = bare.ok("sacctmgr", "-nP", "show", "assoc", "account=team-a", "format=account,user,qos").lines
    assert got == ["team-a||team-a-qos", "team-a|alice|team-a-qos"]


@pytest.mark.row(22, 23, 24, 25)
def test_what_is_not_confirmed_is_not_done(bare):
    for answer in ("n\n", "\n", ""):
        said = bare.sh(ACCOUNT, stdin=answer)
        assert said.code == 0 and said.out.endswith(ASKED + " Changes Discarded\n"), said
        assert bare.ok("sacctmgr", "-nP", "show", "account", "team-a").out == ""
    again = bare.sh(ACCOUNT, stdin="what\nn\n")
    assert "Y or N please\n(N/y): " in again.out and again.out.endswith(" Changes Discarded\n"), again


@pytest.mark.row(22, 23, 24, 25)
def test_immediate_asks_nobody_and_says_when_nothing_is_new(bare):
    for line in (ACCOUNT, USER, QOS):
        said = bare.sh(line.replace("sacctmgr", "sacctmgr -i", 1))
        assert said.code == 0 and "Would you like" not in said.out and said.out.startswith(" Adding "), said
        twice = bare.sh(line.replace("sacctmgr", "sacctmgr -i", 1))
        assert (twice.code, twice.out) == (1, " Nothing new added.\n"), twice
    said = bare.sh(LEVEL.replace("sacctmgr", "sacctmgr -i", 1))
    assert said.code == 0 and said.out.startswith(" Modified account associations...\n"), said
    gone = bare.ok("sacctmgr", "-i", "delete", "user", "alice", "account=team-a")
    assert gone.out.startswith(" Deleting user"), gone


@pytest.mark.row(23, 25)
@pytest.mark.parametrize("line, text", [
    ("add user bob Account=no-such", "no-such"),
    ("add user bob", " Need name of account to add user to."),
    ("modify account root set QOS=no-such", "no-such"),
    ("modify account root set GrpTREZMins=cpu=1", "did you mean GrpTRESMins?"),
    ("modify account root set grptres=gres/nope=1", "gres/nope"),
    ("modify account root set fairshare=abc", "Invalid value for FairShare (abc)"),
    ("add account b parent=no-such", "no-such"),
    ("modify account root", " You didn't give me anything to set"),
    ("delete account", " No conditions given to remove, not executing."),
    ("show account foo=bar", " Unknown condition: foo=bar\n Use keyword 'set' to modify value"),
    ("show account format=foo", "Unknown field 'foo'"),
    ("show acount", "did you mean accounts?"),
    ("modfy account root set fairshare=1", "did you mean modify?"),
    ("archive dump PurgeJobAfter=soon", " Bad PurgeJobAfter value: soon"),
    ("archive load Insert=DROP", "Insert= is not available in this version of Muster"),
])
def test_what_cannot_be_is_refused_with_the_reason(cluster, line, text):
    said = cluster.run("sacctmgr", "-i", *line.split(" "))
    assert said.code == 1 and text in said.err and said.out == "", said


# ---- around them
def test_filters_and_forms(cluster, finished):
    me = cluster.user
    assert records(cluster, "-j", "%d.batch" % finished, "-o", "jobid,jobname") == [["%d.batch" % finished, "batch"]]
    for yes in (["-u", me], ["--name", "train"], ["-r", "main"], ["-i", "1"], ["-s", "cd", "-S", "now-1hours", "-E", "now+1hours"], ["-N", "n[1-2]"]):
        assert [str(finished)] in records(cluster, "-X", "-o", "jobid", *yes), yes
    for no in (["-u", "nobody"], ["--name", "other"], ["-r", "gpu"], ["-i", "2-4"], ["-s", "f", "-S", "now-1hours"], ["-E", "now-1days", "-S", "now-2days"]):
        assert [str(finished)] not in records(cluster, "-X", "-o", "jobid", *no), no
    said = cluster.ok("sacct", "-p", "-X", "-j", str(finished), "--delimiter=;", "-o", "jobid,jobname%2")
    assert said.out == "JobID;JobName;\n%d;train;\n" % finished
    short = cluster.ok("sacct", "-n", "-X", "-j", str(finished), "-o", "jobname%-3,state%5")
    assert short.out == "tr+ COMP+ \n"


def test_records_as_json_and_yaml(cluster, finished):
    document = json.loads(cluster.ok("sacct", "-j", str(finished), "--json").out)
    job, = document["jobs"]
    assert job["job_id"] == finished and job["state"]["current"] == ["COMPLETED"] and job["used_gres"] == "gpu:h100:8"
    assert [s["step"]["id"] for s in job["steps"]] == ["%d.batch" % finished, "%d.0" % finished]
    assert "last_update" not in document and document["errors"] == []
    assert ("job_id: %d\n" % finished) in cluster.ok("sacct", "-X", "-j", str(finished), "--yaml").out


def test_a_requeued_job_is_one_line_and_each_run_with_duplicates(cluster):
    job = cluster.sbatch("--wrap", "[ -e again ] || { touch again; scontrol requeue $SLURM_JOB_ID; sleep 60; }", cwd=cluster.work)
    cluster.database.wait_state(job, "COMPLETED", run=1)
    assert records(cluster, "-X", "-j", str(job), "-o", "restarts,state") == [["1", "COMPLETED"]]
    runs = records(cluster, "-X", "-D", "-j", str(job), "-o", "restarts,state")
    assert len(runs) == 2 and runs[1] == ["1", "COMPLETED"] and runs[0][0] == "0", runs


def test_names_that_nothing_has_are_told(cluster, finished):
    """An empty table alone would not say which word was misspelled."""
    for option, noun in (("-A", "account"), ("-W", "wckey")):
        said = cluster.run("sacct", "-nP", option, "no-such")
        assert (said.code, said.out, said.err) == (0, "", "sacct: warning: no %s no-such is known to the database\n" % noun), said
    said = cluster.run("sacct", "-nP", "-q", "no-such")
    assert said.code == 1 and said.out == "" and "sacct: error: You gave a bad qos 'no-such'. Valid QOS's are normal" in said.err, said
    said = cluster.run("sacct", "-M", "other")
    assert said.code == 1 and said.out == "" and "sacct: error: 'other' can't be reached now, or it is an invalid entry for --cluster." in said.err, said
    assert cluster.run("sacct", "-nP", "-M", "test", "-A", "root").err == ""
    job = cluster.sbatch("-A", "unheard-of", "-o", "/dev/null", "--wrap", "true")   # nothing is enforced
    cluster.database.wait_state(job, "COMPLETED")
    assert cluster.run("sacct", "-nP", "-A", "unheard-of", "-j", str(job)).err == ""


def test_waiting_tasks_are_found_by_a_list(cluster):
    job = cluster.sbatch("-H", "--array=0-3", "--wrap", "true")
    until("the record", lambda: records(cluster, "-j", str(job), "-o", "jobid") == [["%d_[0-3]" % job]])
    assert records(cluster, "-j", "%d_[2-5]" % job, "-o", "jobid") == [["%d_[0-3]" % job]]
    assert records(cluster, "-j", "%d_[4-5]" % job, "-o", "jobid") == []
    cluster.ok("scancel", str(job))


def test_arrays_and_cancelled_jobs(cluster):
    array = cluster.sbatch("--hold", "--array=1-3%2", "--wrap", "true")
    cluster.database.wait_state(array, "PENDING")
    assert records(cluster, "-X", "-j", str(array), "-o", "jobid,state,start") == [["%d_[1-3%%2]" % array, "PENDING", "Unknown"]]
    assert [r[0] for r in records(cluster, "-X", "--array", "-j", str(array), "-o", "jobid")] == ["%d_%d" % (array, i) for i in (1, 2, 3)]
    held = cluster.sbatch("--hold", "--wrap", "true")
    cluster.database.wait_state(held, "PENDING")
    cluster.ok("scancel", str(held), str(array))
    cluster.database.wait_state(held, "CANCELLED")
    uid = os.getuid()
    assert records(cluster, "-X", "-j", str(held), "-o", "state,nodelist,elapsed") == [["CANCELLED by %d" % uid, "None assigned", "00:00:00"]]


def test_the_record_of_an_ended_job_is_changed(cluster, finished):
    where = ["where", "jobid=%d" % finished, "set"]
    asked = cluster.run("sacctmgr", "modify", "job", *where, "comment=checked", "derivedexitcode=49", stdin="y\n")
    assert asked.code == 0 and re.match(r" Modified jobs\.\.\.\n  %d submitted at \d{4}-\d\d-\d\dT" % finished, asked.out), asked
    assert records(cluster, "-X", "-j", str(finished), "-o", "comment,derivedexitcode,exitcode") == [["checked", "49:0", "0:0"]]
    again = cluster.run("sacctmgr", "-i", "modify", "job", *where, "comment=checked")
    assert (again.code, again.out) == (1, " Nothing modified\n"), again
    wrong = cluster.run("sacctmgr", "-i", "modify", "job", *where, "derivedexitcode=abc")
    assert wrong.code == 1 and "Invalid value for DerivedExitCode (abc)" in wrong.err, wrong
    assert cluster.run("sacctmgr", "-i", "modify", "job", "set", "comment=x").code == 1


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_another_user_sees_the_own_jobs_and_changes_nothing(cluster, finished):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    def jobs(*args):
        return cluster.ok(*nobody, "sacct", "-nPX", "-o", "jobid", *args, cwd="/").lines
    assert jobs() == []
    assert str(finished) in jobs("-a") and jobs("-j", str(finished)) == [str(finished)]
    said = cluster.run(*nobody, "sacctmgr", "-i", "add", "account", "mine", cwd="/")
    assert said.code == 1 and said.out == "" and "Access/permission denied" in said.err and "neither an operator" in said.err, said
    assert cluster.run(*nobody, "sacctmgr", "-nP", "show", "account", "mine", cwd="/").out == ""


def test_slurmdbd_answers_sacctmgr(cluster):
    ping = cluster.ok("sacctmgr", "ping")
    assert re.fullmatch(r"slurmdbd\(primary\) at (127\.0\.0\.1|localhost) is UP\n", ping.out), ping
    config = cluster.ok("sacctmgr", "show", "configuration")
    assert "AccountingStoragePort  = %d\n" % cluster.database.port in config.out, config
    assert "\nSlurmDBD configuration:\n" in config.out and "\nDbdPort                = %d\n" % cluster.database.port in config.out, config
    tree = cluster.ok("sacctmgr", "-n", "show", "assoc", "tree", "format=account%-10,user%-5")
    assert tree.lines[0] == "root             ", tree
    assert cluster.ok("sacctmgr", "-nP", "list", "tres", "type=cpu").out == "cpu||1\n"
    typed = cluster.run("sacctmgr", "-nP", stdin="show qos normal format=name\n# a comment\n!!\nexit\nshow tres\n")
    assert (typed.code, typed.err) == (0, "") and typed.out == "normal\n" * 2, typed


def test_without_slurmdbd_both_say_so_at_once(make_cluster):
    cluster = make_cluster(start=False, nodes=1)
    Database(cluster)
    for command in (["sacct"], ["sacct", "-j", "1"], ["sacctmgr", "show", "account"]):
        said = cluster.run(*command)
        assert (said.code, said.out) == (1, "") and said.seconds < 2 * harness.SLOW, said
        assert "%s: error: Problem talking to the database: Connection refused" % command[0] in said.err, said
        assert "AccountingStorageHost" in said.err, said


@pytest.mark.parametrize("args, text", [
    (["-o", "jobid,nope"], 'sacct: error: Invalid field requested: "nope"'),
    (["-o", "elapsd"], "did you mean Elapsed?"),
    (["-s", "foo"], "sacct: fatal: unrecognized job state value 'foo'"),
    (["-S", "foo"], "Invalid time specification (pos=0): foo"),
    (["-j", "foo"], "sacct: fatal: Bad job/step specified: foo"),
    (["-u", "no-such-user"], "sacct: error: Invalid user id: no-such-user"),
    (["--units=Q"], "sacct: error: Invalid unit type 'Q'. Possible options are 'KMGTP'"),
    (["-B"], "sacct: fatal: When requesting job scripts you must also request specific jobs with the '-j' option."),
    (["--json=v0.0.30"], "sacct: error: Unable to find plugin: data_parser/v0.0.30"),
    (["-c"], "Slurm job completion is disabled"),
    (["extra"], "sacct: error: Unknown arguments:"),
])
def test_wrong_words_to_sacct(cluster, args, text):
    said = cluster.run("sacct", *args)
    assert said.code == 1 and said.out == "" and text in said.err, said


def test_old_names_and_the_order_of_limits(bare):
    bare.ok("sacctmgr", "-i", "add", "acct", "team-a")
    bare.ok("sacctmgr", "-i", "add", "user", "alice", "Account=team-a", "GrpCPUs=8", "MaxNodes=2")
    bare.ok("sacctmgr", "-i", "modify", "user", "alice", "set", "MaxTRES=cpu=5,mem=100,billing=4")
    shown = bare.ok("sacctmgr", "-nP", "show", "assoc", "user=alice", "format=GrpCPUs,GrpCPU,MaxNodes,MaxTRES,GrpTRES").out
    assert shown == "8|8|2|billing=4,cpu=5,mem=100M,node=2|cpu=8\n"
    assert bare.ok("sacctmgr", "-i", "modify", "user", "alice", "set", "adminlevel=None").out.startswith(" Modified users...")
    bare.ok("sacctmgr", "-i", "remove", "acct", "team-a", "cluster=test")


def test_a_job_that_ended_within_this_second_is_found(cluster):
    cluster.ok("sbatch", "--wait", "-o", "/dev/null", "-J", "thissecond", "--wrap", "true")
    until("the job in the database", lambda: "thissecond" in cluster.ok("sacct", "-nPX", "-S", "now-1hour", "-o", "JobName").out)
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
    cluster.wait_job(job)
    cluster.database.wait_state(job, "COMPLETED")
    index, = cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "DBIndex").lines
    assert int(index) > 0
    now = cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "Submit").out.strip()
    assert str(job) in cluster.ok("sacct", "-nPX", "-S", now, "-E", now, "-o", "JobID").lines
