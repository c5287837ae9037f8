"""What an ordinary user's own program may claim in a message: nothing that the controller knows better or that is another's."""
import os
import re
import sqlite3
import threading

import pytest

import harness
import steps
import town as towns
from harness import until
from town import hostile_program as hostile

SECRET = "known-to-a-alone-5309"


def mine(town, user, name="letter"):
    """The user's job of that name, as root sees it; None where there is none."""
    ids = town.run("squeue", "-h", "-o", "%A", "-u", user.name, "-n", name).out.split()
    return town.job(ids[0]) if ids else None


@pytest.fixture
def kept(town):
    """A held job of A whose script and environment nobody else may see."""
    path = town.a.file("secret.sh", "#!/bin/sh\necho %s in the script\n" % SECRET)
    return town.a.sbatch("--hold", path, env={"A_SECRET": SECRET + " in the environment"})


def hashes_of(town):
    """All that the controller keeps, from its own file: what an attacker would have to be told."""
    with sqlite3.connect("file:%s/muster.db?mode=ro" % town.state_folder, uri=True) as database:
        return [row[0] for row in database.execute("SELECT hash FROM blobs")]


@pytest.mark.parametrize("message", ["SubmitJob", "Allocate"])
def test_another_users_script_by_its_hash(town, kept, message):
    found = hashes_of(town)
    assert len(found) >= 2, "the script and the environment of A's job"
    for digest in found:
        for field in ("script_hash", "environment_hash"):
            b = town.b
            # Whoever allocates waits for the job to start, and a held one does not.
            asking = threading.Thread(target=b.send, args=(message, b.request(hold=1, **{field: digest})), kwargs={"known": True})
            asking.start()
            until("the job is there, or refused", lambda: b.run("squeue", "-h", "-o", "%A", "-u", b.name).out.strip() or not asking.is_alive())
            for job in b.run("squeue", "-h", "-o", "%A", "-u", b.name).out.split():
                for subject in ("script", "environment"):
                    answer = b.send("QueryText", {"subject": subject, "job": job})
                    assert SECRET not in answer.result.out, answer
                b.run("scancel", job)
            asking.join()
    text = town.b.send("QueryText", {"subject": "script", "job": kept})
    assert not text and SECRET not in text.result.out
    assert SECRET not in town.b.run("scontrol", "write", "batch_script", str(kept), "-").out


def test_an_ordinary_user_is_not_told_hashes(town, kept):
    answer = town.b.send("QueryJobs", {"parts": 4294967295})
    assert "_hash=" not in "\n".join(n + "=" for n in answer.fields), "what names a script is nobody's but its owner's"


CLAIMS = {"site_factor": "-1000000", "admin_comment": "claimed", "alloc_node": "claimed", "alloc_sid": "77", "user_name": "root",
          "qos_granted": "1", "nice": "-10000", "priority": "4000000000", "reboot": "1", "no_allocate": "1", "mcs_label": "claimed"}
# The controller's own word, whatever a message says: what it stores is what it would have stored.
KNOWN = ("user_name", "site_factor", "admin_comment", "alloc_node", "qos_granted", "kind", "uid", "gid")


@pytest.mark.parametrize("message", ["SubmitJob", "Allocate"])
@pytest.mark.parametrize("field", CLAIMS)
def test_what_a_submission_may_not_say(town, message, field):
    b = town.b
    plain, stored_plain = mine_after(town, message, {})
    claimed, stored = mine_after(town, message, {field: CLAIMS[field]})
    assert plain is not None
    if claimed is None:
        assert field not in KNOWN, "refused as a whole, for a field that an old command may send"
        return
    for name in KNOWN:
        assert stored.get("request." + name) == stored_plain.get("request." + name), (name, stored)
    assert stored["request.alloc_sid"] != CLAIMS["alloc_sid"], stored      # each program's own session
    for key in ("Priority", "Nice", "AdminComment", "SiteFactor", "UserId", "Reboot", "MCS_label"):
        if field == "nice" and key in ("Priority", "Nice"):
            assert int(claimed["Nice"]) >= 0, claimed
            continue
        if field == "reboot" and key == "Reboot" and plain.get(key) == "0":
            assert claimed[key] == "0", claimed
        assert claimed.get(key) == plain.get(key), "%s: %s, not %s" % (key, claimed.get(key), plain.get(key))
    assert claimed["AllocNode:Sid"].split(":")[0] == plain["AllocNode:Sid"].split(":")[0] != "claimed", claimed
    assert b.name in claimed["UserId"]


def mine_after(town, message, more):
    """The job that such a submission makes, as root sees it and as it is stored; None when it is refused."""
    b = town.b
    b.run("scancel", "-u", b.name)
    until("no job of b's", lambda: not b.run("squeue", "-h", "-u", b.name).out)
    fields = {**b.request(begin=4000000000 * 1000000, **more)}
    if message == "SubmitJob":
        fields["script"] = "#!/bin/sh\nexit 0\n"
    process = b.popen(hostile(), "send-known", town.agent, message, *["%s=%s" % (k, unescaped(v)) for k, v in fields.items()],
                      stdout=-1, stderr=-1, text=True)
    try:
        found = {}

        def there():
            found["job"] = mine(town, b)
            return found["job"] or process.poll() not in (None, 0)
        until("the job, or a refusal", there)
        assert process.poll() in (None, 0, 1), "nothing was sent: %s" % process.communicate()[1]
        return found["job"], town.stored()["job/" + found["job"]["JobId"]] if found["job"] else None
    finally:
        process.kill()
        process.communicate()


def unescaped(value):
    return str(value).replace("\n", "\\n")


@pytest.mark.parametrize("message", ["SubmitJob", "Allocate", "WillRun"])
@pytest.mark.parametrize("field", ["uid", "gid"])
@pytest.mark.parametrize("whose", ["root", "a", "slurm"])
def test_a_submission_for_another(town, message, field, whose):
    other = {"root": 0, "a": town.a.uid if field == "uid" else town.a.gid,
             "slurm": town.slurm.pw_uid if field == "uid" else town.slurm.pw_gid}[whose]
    fields = {**town.b.request(begin=4000000000 * 1000000), "request." + field: other}
    if message == "SubmitJob":
        fields["script"] = "#!/bin/sh\nid\n"
    if message == "Allocate":
        fields.pop("request.begin")
        fields["request.hold"] = 0
    town.b.send(message, fields)
    for line in town.run("squeue", "-h", "-o", "%A %u").lines:
        job, user = line.split()
        record = town.job(job)
        assert user in (town.b.name, town.a.name), line
        if user == town.a.name:
            assert record["JobName"] == "secret.sh", "a job in the name of A: %s" % record
        else:
            assert re.search(r"\((\d+)\)", record["GroupId"])[1] == str(town.b.gid), record


def test_the_options_that_say_the_same(town):
    for words in (["--uid=root"], ["--gid=root"], ["--uid=" + town.a.name]):
        result = town.b.run("sbatch", "--hold", *words, "--wrap", "id")
        if result.code == 0:
            job = town.job(re.search(r"\d+", result.out)[0])
            assert town.b.name in job["UserId"] and "(%d)" % town.b.gid in job["GroupId"], job


def test_a_user_may_not_speak_for_others(town, kept):
    for socket in (town.agent, town.node_agent()):
        answer = town.b.send("Relay", {"uid": 0, "gid": 0, "host": "n1", "message": 9}, socket=socket)
        assert not answer, answer
    assert town.job(kept)["JobState"] == "PENDING"


# ---- partitions with a door
CLOSED = {"rootonly": "RootOnly=YES", "groups": "AllowGroups=root", "accounts": "AllowAccounts=friends", "qos": "AllowQos=friends",
          "hosts": "AllocNodes=elsewhere"}


@pytest.fixture(scope="module")
def doors():
    import conftest
    lines = ["PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE State=UP"]
    lines += ["PartitionName=%s Nodes=n1 MaxTime=INFINITE %s" % pair for pair in CLOSED.items()]
    one = towns.Town(conftest.new_folder(), nodes=1, partitions=lines)
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


# Whom lists of accounts and QOS keep out waits there (EnforcePartLimits=NO), and never starts.
LISTS = {"accounts": "AccountNotAllowed", "qos": "QOSNotAllowed"}


@pytest.mark.parametrize("partition", LISTS)
def test_whom_a_list_keeps_out_waits(doors, partition):
    b = doors.b
    asked = b.sbatch("-p", partition, "--wrap", "id")
    moved = b.sbatch("--hold", "--wrap", "id")
    b.ok("scontrol", "update", "jobid=%d" % moved, "partition=" + partition)
    b.ok("scontrol", "release", str(moved))
    for job in (asked, moved):
        until("the reason", lambda: doors.job(job)["Reason"] == LISTS[partition])
        assert doors.job(job)["JobState"] == "PENDING"
    doors.leave_no_job()


@pytest.mark.parametrize("partition", [p for p in CLOSED if p not in LISTS])
def test_no_way_into_a_partition_that_is_closed_to_one(doors, partition):
    b = doors.b
    assert b.run("sbatch", "-p", partition, "--wrap", "id").code != 0
    assert not b.send("SubmitJob", {**b.request(**{"partitions.0": partition}), "script": "#!/bin/sh\n"})
    job = b.sbatch("--hold", "--wrap", "id")
    for socket in (doors.agent, doors.node_agent()):
        for value in (partition, "main," + partition, partition + ",main"):
            b.send("UpdateJob", {"job.job": job, "changes.0.key": "Partition", "changes.0.op": "=", "changes.0.value": value}, socket=socket)
            now = doors.job(job)["Partition"]
            assert partition not in now.split(","), "%s let a job of B's in: %s" % (partition, now)
    both = b.run("sbatch", "--parsable", "--hold", "-p", "main," + partition, "--wrap", "id")
    if both.code == 0:      # some doors close only for the partition itself: the job may wait, it must not start behind it
        other = int(both.out)
        b.run("scontrol", "release", str(other))
        record = doors.wait_job(other, "COMPLETED|FAILED|PENDING")
        assert record["Partition"] != partition, record
    doors.leave_no_job()


# ---- sizes
def test_the_controller_measures_scripts_itself(town):
    big = "#!/bin/sh\n#" + "x" * (5 << 20) + "\n"
    answer = town.b.send("SubmitJob", {**town.b.request(hold=1), "script": big})
    assert not answer, "a script of 5 MiB was taken; max_script_size is 4 MiB"


def test_the_controller_measures_texts_itself(town):
    for field in ("name", "comment", "work_dir", "std_out", "account", "extra", "features", "dependency"):
        town.b.send("SubmitJob", {**town.b.request(hold=1, **{field: "/" + "x" * (8 << 20)}), "script": "#!/bin/sh\n"})
    assert town.memory()["slurmctld"] < 300, town.memory()
    # what others read stays small
    assert len(town.a.ok("squeue", "-o", "%all").out) < 4 << 20


# ---- what one may not read
@pytest.fixture(scope="module")
def private():
    import conftest
    conf = ("PrivateData=jobs,users,accounts,usage\nAccountingStoragePass=hunter2\nAccountingStorageTRES=gres/gpu")
    one = towns.Town(conftest.new_folder(), nodes=1, conf=conf)
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def test_no_password_in_any_answer(private):
    for user in (private.a, private.b):
        for args in (("scontrol", "show", "config"), ("scontrol", "write", "config", user.home + "/written")):
            assert "hunter2" not in repr(user.run(*args))
        for subject in ("config", "slurm.conf", "diag"):
            for socket in (private.agent, private.node_agent()):
                answer = user.send("QueryText", {"subject": subject}, socket=socket)
                assert "hunter2" not in answer.result.out, answer
    assert "hunter2" not in private.log() and "hunter2" not in private.log("slurmd-n1")


def test_a_configuration_with_passwords_is_for_who_wrote_it(private):
    said = private.ok("scontrol", "write", "config", private.folder + "/written").out
    path = said.removeprefix("Slurm config saved to ").strip()
    assert "hunter2" in open(path).read()
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert "hunter2" not in private.a.run("cat", path).out


def test_what_is_private_is_nowhere_told(private):
    job = private.a.sbatch("-J", "quiet-name", "--hold", "--wrap", "true")
    ran = private.a.sbatch("-o", "/dev/null", "--wrap", "exit 3")
    private.wait_job(ran, "FAILED")
    b = private.b
    for target in (job, ran):
        for message, fields in (("WaitJob", {"job": target, "ready": 1}), ("WaitJob", {"job": target}), ("AttachAllocation", {"job": target}),
                                ("ExplainJob", {"job.job": target}), ("QueryJobs", {"parts": 4294967295}),
                                ("QueryText", {"subject": "script", "job": target}), ("AskCredential", {"job": target}),
                                ("NotifyJob", {"job": target, "text": "x"}), ("CreateStep", {"job": target})):
            for socket in (private.agent, private.node_agent()):
                process = b.popen(hostile(), "send", socket, message, *["%s=%s" % f for f in fields.items()], stdout=-1, stderr=-1, text=True)
                try:
                    out, _ = process.communicate(timeout=3 if message == "WaitJob" else 20)
                except Exception:
                    process.kill()
                    process.communicate()
                    continue        # no answer is no word about the job: a held job would keep its owner waiting, too
                assert "quiet-name" not in out and "exit_status" not in out and "state=" not in out, "%s said: %s" % (message, out)
    absent = b.send("WaitJob", {"job": 999999})
    there = b.send("WaitJob", {"job": ran})
    assert absent.error == there.error != "", "WaitJob tells that job %d exists: %r, not %r" % (ran, there.error, absent.error)
    for args in (("squeue", "-a"), ("scontrol", "show", "job", str(job)), ("sdiag",), ("muster", "explain", str(job)), ("squeue", "--json"),
                 ("scancel", "-v", "-n", "quiet-name")):
        result = b.run(*args)
        assert "quiet-name" not in result.out.replace("-n quiet-name", ""), result
    private.leave_no_job()


@pytest.mark.parametrize("node_socket", [False, True])
def test_commands_of_operators(town, node_socket):
    """One by one what the manual gives to operators and administrators alone."""
    socket = town.node_agent() if node_socket else town.agent
    b = town.b
    before = {what: town.ok("scontrol", "show", what).out for what in ("partition", "config")}
    attempts = [("Shutdown", {}), ("Shutdown", {"controller_only": 1}), ("Reconfigure", {}), ("QueryStatistics", {"reset": 1}),
                ("UpdateNode", {"nodes": "n1", "changes.0.key": "State", "changes.0.op": "=", "changes.0.value": "DRAIN",
                                "changes.1.key": "Reason", "changes.1.op": "=", "changes.1.value": "x"}),
                ("UpdateNode", {"nodes": "n1", "remove": 1}), ("UpdatePartition", {"name": "main", "remove": 1}),
                ("UpdatePartition", {"name": "mine", "create": 1}),
                ("UpdatePartition", {"name": "main", "changes.0.key": "State", "changes.0.op": "=", "changes.0.value": "DOWN"}),
                ("UpdateConfig", {"changes.0.key": "SlurmctldDebug", "changes.0.op": "=", "changes.0.value": "debug5"}),
                ("ControlNodes", {"nodes": "ALL"}), ("ControlNodes", {"action": 3, "nodes": "n1"}),
                ("ControlNodes", {"action": 0, "nodes": "n1", "power_action": "halt"})]
    for message, fields in attempts:
        answer = b.send(message, fields, socket=socket)
        assert not answer, "%s was obeyed: %r" % (message, answer)
    time_lines = re.compile(r"(?m)^.*(?:data as of|BOOT_TIME|NEXT_JOB_ID).*$")
    for what, text in before.items():
        assert time_lines.sub("", town.ok("scontrol", "show", what).out) == time_lines.sub("", text)
    town.must_run()


@pytest.mark.parametrize("node_socket", [False, True])
def test_a_run_without_a_job_is_for_root_and_slurmuser(town, node_socket):
    socket = town.node_agent() if node_socket else town.agent
    b, fields = town.b, {"request.required_nodes": "n1", "request.num_tasks": 1}
    result = b.run("srun", "-Z", "-w", "n1", "touch", b.home + "/ran")
    assert result.code == 1 and "Unable to run without an allocation: Access/permission denied" in result.err, result
    answer = b.send("RunWithoutJob", fields, socket=socket)
    assert not answer and "denied" in answer.error, answer
    # Root's credential is no good in his hand; nor is one of a job of his for anything but that job.
    words = ["%s=%s" % field for field in fields.items()]
    given = towns.Answer(town.ok(hostile(), "send", socket, "RunWithoutJob", *words))
    launched = steps.launch(b, given, {}, program=("/bin/touch", b.home + "/ran"))
    assert not launched and "uid" in launched.error, launched
    assert not os.path.exists(b.home + "/ran") and not town.stepds()
    assert town.ok("srun", "-Q", "-Z", "-w", "n[1-2]", "id", "-u").lines == ["0", "0"]
    until("nothing left", lambda: not town.stepds())
    town.must_run()


def test_local_questions_name_no_processes_of_others(town):
    """What slurmd tells about steps on its node is what /proc tells; signals go to one's own steps alone."""
    job = town.a.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "srun sleep 600")
    until("the step", lambda: town.ok("squeue", "-h", "-s", "-o", "%i").out)
    for step in (0, 0xfffffffb):
        until("the step on its node", lambda: town.b.send("SignalStepTasks", {"job": job, "step": step, "signal": 9},
                                                         socket=town.node_agent()).result.code == 1)
    assert town.job(job)["JobState"] == "RUNNING"
    assert town.stepds(job)
