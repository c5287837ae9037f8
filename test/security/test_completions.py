"""JobCompType: what a user calls a job, and what is in its environment, is data to the file, the program and the server that are told of its end:
no line, key, variable or document of its own, and the program runs as SlurmUser with the variables of the manual and nothing else."""
import json
import os
import re
import shutil

import pytest

import conftest
import harness
import town as towns
from harness import until

# What reads like an end of a value, a line, a key, a string, a variable, a command.
NAMES = ["x\nJobId=1 UserId=root(0) JobState=COMPLETED ExitCode=0:0", "x JobState=COMPLETED ExitCode=0:0", "x\tJobState=COMPLETED", "x\rJobId=2", "\x1b[2J\x1b]0;x\x07",
         "x\u2028JobId=3", "x\u00a0ExitCode=0:0", "x\x85JobId=4", '","state":"COMPLETED","x":"', "\\\",\\u0022state", "x\x0bJobId=5", "$(touch owned)", "`touch owned`",
         "() { :;}; touch owned", "a=b\nLD_PRELOAD=/tmp/owned.so", "-e", "%n%s%n", "x" * 1000, "|1|0|root|COMPLETED", "x\x1cJobId=6", "</script>"]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u2028\u2029]")


def a_town(kind, place, more="", prepare=None):
    one = towns.Town(conftest.new_folder(), nodes=1, conf="JobCompType=jobcomp/%s\nJobCompLoc=%s\n%s" % (kind, place, more))
    folder = os.path.join(one.folder, "told")
    os.makedirs(folder)
    os.chown(folder, one.slurm.pw_uid, one.slurm.pw_gid)
    one.conf_lines = [line.replace("TOLD", folder) for line in one.conf_lines]
    one.write_lines()
    if prepare:
        prepare(one, folder)
    return one.start()


def ended(town, count):
    until("the jobs to be over", lambda: not town.queue(), 120)


def submit_all(town):
    """{id: name} of a job by each name, all of which fail with 3."""
    jobs = {}
    for name in NAMES:
        folder = os.path.join(town.b.home, "x JobState=COMPLETED %d" % len(jobs))
        os.makedirs(folder, exist_ok=True)
        shutil.chown(folder, town.b.name)
        jobs[town.b.sbatch("-J", name, "-D", folder, "-o", "/dev/null", "--comment", name, "--export=ALL,LD_PRELOAD=,JOBSTATE=COMPLETED,BASH_ENV=/tmp/x",
                           "--wrap", "exit 3")] = name
    ended(town, len(jobs))
    return jobs


def test_no_name_makes_a_line_or_a_key():
    town = a_town("filetxt", "TOLD/comp.txt")
    path = os.path.join(town.folder, "told", "comp.txt")
    try:
        jobs = submit_all(town)
        # Nor do the texts of a message that no command would send.
        sent = town.b.send("SubmitJob", {**town.b.request(name="x\nJobId=9 JobState=COMPLETED", std_out="/dev/null", comment="y\nJobId=9"),
                                         "script": "#!/bin/sh\nexit 3\n"})
        if sent:
            jobs[int(sent.fields["job"])] = None
            ended(town, len(jobs))
        lines = until("all lines", lambda: (lambda t: t.split("\n") if t.count("\n") >= len(jobs) else None)(open(path, newline="").read()), 60)
        assert lines.pop() == "" and len(lines) == len(jobs), lines
        for line in lines:
            assert not CONTROL.search(line), repr(line)
            found = re.match(r"JobId=(\d+) UserId=%s\(%d\) " % (town.b.name, town.b.uid), line)
            assert found and int(found[1]) in jobs, line
            for key in ("JobId", "UserId", "JobState", "Partition", "ExitCode", "WorkDir"):
                assert len(re.findall(r"(?:^| )%s=" % key, line)) == 1, (key, line)
            assert " JobState=FAILED " in line and line.endswith(" ExitCode=3:0 "), line
        shown = town.ok("sacct", "-cnP", "-f", path, "-o", "jobid,state,exitcode,uid").lines
        assert sorted(shown) == sorted("%d|FAILED|3:0|%d" % (job, town.b.uid) for job in jobs), shown
        # The file is SlurmUser's, and no user may change it or what stands beside it.
        assert town.b.run("sh", "-c", "echo JobId=1 >> %s || rm %s" % (path, path)).code != 0
        assert os.stat(path).st_uid == town.slurm.pw_uid
        town.must_run()
    finally:
        town.stop()
        harness.remove(town.folder)


PROGRAM = """#!/bin/sh
out=FOLDER/job.$JOBID
{ id -u; id -g; pwd; readlink /proc/$$/fd/0; for f in /proc/$$/fd/*; do echo "${f##*/}:$(readlink $f)"; done | tr '\\n' ' '; echo; grep CapEff /proc/$$/status; } > $out.tmp
cat /proc/$$/environ > $out.env
mv $out.tmp $out
"""
DOCUMENTED = {"JOBID", "ARRAYJOBID", "ARRAYTASKID", "UID", "GID", "USERNAME", "GROUPNAME", "JOBNAME", "JOBSTATE", "STATEREASONPREV", "PARTITION", "ACCOUNT", "QOS",
              "WCKEY", "CLUSTER", "RESERVATION", "CONSTRAINTS", "DEPENDENCY", "BATCH", "LIMIT", "SUBMIT", "START", "END", "NODES", "NODECNT", "PROCS", "TRES",
              "EXITCODE", "DERIVED_EC", "WORK_DIR", "STDIN", "STDOUT", "STDERR", "PATH"}


def test_the_program_is_slurm_user_s_and_has_no_more_than_its_variables():
    def prepare(town, folder):
        path = os.path.join(folder, "program")
        with open(path, "w") as f:
            f.write(PROGRAM.replace("FOLDER", folder))
        os.chmod(path, 0o755)
    town = a_town("script", "TOLD/program", prepare=prepare)
    folder = os.path.join(town.folder, "told")
    try:
        jobs = submit_all(town)
        for job, name in jobs.items():
            until("job %d to be told" % job, lambda: os.path.exists(folder + "/job.%d" % job), 120)
            with open(folder + "/job.%d" % job) as f:
                uid, gid, cwd, stdin, fds, capabilities = f.read().splitlines()
            assert (int(uid), int(gid)) == (town.slurm.pw_uid, town.slurm.pw_gid)
            assert int(capabilities.split()[1], 16) == 0, capabilities
            assert not cwd.startswith(town.b.home) and stdin == "/dev/null", (cwd, stdin)
            with open(folder + "/job.%d.env" % job, "rb") as f:
                entries = f.read().rstrip(b"\x00").split(b"\x00")
            have = dict(e.split(b"=", 1) for e in entries)
            assert len(have) == len(entries) and {k.decode() for k in have} == DOCUMENTED, sorted(have)
            assert have[b"JOBSTATE"] == b"FAILED" and have[b"EXITCODE"] == b"3:0" and have[b"USERNAME"] == town.b.name.encode()
            assert have[b"JOBNAME"].decode() == name and have[b"PATH"] == b"/usr/bin:/bin:/usr/sbin:/sbin", have
            # Nothing of what the controller has open: no socket, no database, no file but those that the program opened itself.
            places = {fd.split(":", 1)[1] for fd in fds.split()} - {""}      # gone while they were listed
            assert all(p == "/dev/null" or p.startswith((folder + "/", "pipe:")) for p in places) and sum(p.startswith("pipe:") for p in places) <= 1, fds
        found = [name for place in (folder, town.b.home, town.folder) for name in os.listdir(place) if "owned" in name]
        assert not found, found
        town.must_run()
    finally:
        town.stop()
        harness.remove(town.folder)


def test_each_job_is_one_document():
    import sys
    sys.path.insert(0, os.path.join(harness.REPO, "test", "cluster"))
    from test_job_completion import Server
    server = Server()
    town = a_town("elasticsearch", "127.0.0.1:%d/jobs/_doc" % server.server_port, "JobCompParams=send_comment,send_script\n")
    try:
        jobs = submit_all(town)
        until("all documents", lambda: set(server.ids()) >= set(map(str, jobs)), 120)
        assert len(server.documents) == len(jobs)
        assert set(server.asked) == {("/jobs/_doc", "application/json")}
        for document in server.documents:
            name = jobs[document["jobid"]]
            assert document["job_name"] == name and document["comment"] == name, document
            assert document["state"] == "FAILED" and document["exit_code"] == "3:0" and document["username"] == town.b.name
            json.dumps(document)
        town.must_run()
    finally:
        town.stop()
        server.end()
        harness.remove(town.folder)
