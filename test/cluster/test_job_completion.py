"""JobCompType with a real slurmctld: each ended job once in a file, to a program or to an HTTP server, over kill -9 and over receivers that are away. slurm.conf(5)."""
import http.server
import json
import os
import re
import stat
import threading

import pytest

import harness
from harness import until

pytestmark = pytest.mark.better_than_slurm      # its own rules of once each, and texts that cannot forge lines


def a_cluster(make_cluster, kind, place, more=""):
    return make_cluster(nodes=2, gpus=0, cpus=4, conf="JobCompType=jobcomp/%s\nJobCompLoc=%s\n%s" % (kind, place, more))


def lines_of(path):
    with open(path) as f:
        return f.read().splitlines()


def job_of(line):
    return re.match(r"JobId=(\d+) ", line).group(1)


def told(path, job):
    return until("job %s in %s" % (job, path), lambda: [l for l in lines_of(path) if l.startswith("JobId=%s " % job)])


def submit(cluster, *args, script="exit 0"):
    return str(cluster.sbatch("-o", "/dev/null", *args, "--wrap", script))


def run(cluster, *args, script="exit 0"):
    job = submit(cluster, *args, script=script)
    until("job %s to end" % job, lambda: cluster.job(job)["JobState"] in ("COMPLETED", "FAILED"))
    return job


@pytest.fixture
def filed(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=0, cpus=4)
    cluster.completions = cluster.folder + "/comp.txt"
    cluster.conf_lines += ["JobCompType=jobcomp/filetxt", "JobCompLoc=" + cluster.completions]
    cluster.write_lines()
    return cluster.start()


def test_a_line_for_each_job_and_sacct_reads_them(filed):
    good = run(filed, "-J", "my job", "-n2", "-t5")
    bad = run(filed, script="exit 3")
    held = submit(filed, "-H")
    filed.ok("scancel", held)
    array = submit(filed, "--array=1-2")
    line, = told(filed.completions, good)
    assert re.fullmatch(r"JobId=%s UserId=\S+\(\d+\) GroupId=\S+\(\d+\) Name=my job JobState=COMPLETED Partition=main TimeLimit=5 StartTime=\S+T\S+ "
                        r"EndTime=\S+T\S+ NodeList=n1 NodeCnt=1 ProcCnt=2 WorkDir=\S+ ReservationName= Tres=cpu=2,\S+ Account=\S* QOS=\S* WcKey= "
                        r"Cluster=test SubmitTime=\S+ EligibleTime=\S+ DerivedExitCode=0:0 ExitCode=0:0 " % good, line), line
    assert " ExitCode=3:0 " in told(filed.completions, bad)[0]
    assert "JobState=CANCELLED" in told(filed.completions, held)[0]
    until("both tasks", lambda: len([l for l in lines_of(filed.completions) if "ArrayJobId=%s " % array in l]) == 2)
    shown = [l.split("|") for l in filed.ok("sacct", "-cnP", "-o", "jobid,jobname,state,exitcode,ncpus").lines]
    assert [good, "my job", "COMPLETED", "0:0", "2"] in shown and [bad, "wrap", "FAILED", "3:0", "1"] in shown, shown
    assert {s[0] for s in shown} >= {array + "_1", array + "_2"}, shown
    head = filed.ok("sacct", "--completion", "-j", good).lines
    assert head[0].split() == ["JobID", "UID", "JobName", "Partition", "NNodes", "NodeList", "State", "End"] and len(head) == 3, head
    assert filed.ok("sacct", "-cnP", "-s", "FAILED", "-o", "jobid").lines == [bad]
    assert filed.ok("sacct", "-cnP", "-S", "now+1hour", "-E", "now+2hours", "-o", "jobid").lines == []
    wrong = filed.run("sacct", "-f", "/nowhere/at/all")
    assert wrong.code == 1 and "/nowhere/at/all is not a valid file" in wrong.err, wrong
    assert filed.run("sacct", "-c", "--json").code == 1
    assert stat.S_IMODE(os.stat(filed.completions).st_mode) & 0o022 == 0


def test_hostile_names_make_neither_lines_nor_keys(filed):
    name = "x\nJobId=99 UserId=root(0) JobState=COMPLETED \x1b[2J ExitCode=0:0"
    job = submit(filed, "-J", name, script="exit 3")
    line, = told(filed.completions, job)
    assert all(re.match(r"JobId=\d+ UserId=%s\(" % filed.user, l) for l in lines_of(filed.completions)), lines_of(filed.completions)
    assert "99" not in map(job_of, lines_of(filed.completions)) and "\x1b" not in line
    assert line.count(" JobState=") == 1 and " ExitCode=3:0 " in line, line
    assert filed.ok("sacct", "-cnP", "-j", job, "-o", "state,exitcode").lines == ["FAILED|3:0"]


def test_each_once_over_kills_of_the_controller(filed):
    jobs = []
    for _ in range(4):
        jobs += [submit(filed) for _ in range(10)]
        filed.kill_ctld()
        filed.start_ctld()
        filed.wait_ctld()
    requeued = submit(filed, script="sleep 60")
    filed.wait_job(requeued, "RUNNING")
    filed.ok("scontrol", "requeuehold", requeued)
    for job in jobs:
        told(filed.completions, job)
    told(filed.completions, requeued)
    filed.kill_ctld()
    filed.start_ctld()
    filed.wait_ctld()
    last = run(filed)
    told(filed.completions, last)
    seen = list(map(job_of, lines_of(filed.completions)))
    assert sorted(seen, key=int) == sorted(jobs + [requeued, last], key=int), filed.logs()


def test_a_file_that_cannot_be_written_holds_nothing_up(filed):
    told(filed.completions, run(filed))
    os.rename(filed.completions, filed.completions + ".1")      # logrotate
    os.mkdir(filed.completions)
    first = run(filed)
    until("the log to say so", lambda: "JobCompLoc: " in filed.logs(100000))
    filed.kill_ctld()
    filed.start_ctld()
    filed.wait_ctld()
    os.rmdir(filed.completions)
    second = run(filed)
    told(filed.completions, second)
    assert list(map(job_of, lines_of(filed.completions))) == [first, second]


def test_a_program_gets_each_job_in_its_environment(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=0, cpus=4)
    program = cluster.script("completed", "#!/bin/sh\nenv > %s/job.$JOBID.tmp && id -un >> %s/job.$JOBID.tmp && mv %s/job.$JOBID.tmp %s/job.$JOBID\n"
                             "echo $JOBID >> %s/order\nexit 7\n" % ((cluster.work,) * 5))
    cluster.conf_lines += ["JobCompType=jobcomp/script", "JobCompLoc=" + program]
    cluster.write_lines()
    cluster.start()
    jobs = [submit(cluster, "-J", "a\nJOBSTATE=COMPLETED", "-t5", script="exit 3")]
    until("the first", lambda: cluster.read("order"))
    jobs.append(run(cluster))
    until("both", lambda: cluster.read("order").split() == jobs)
    text = cluster.read("job." + jobs[0])
    for line in ("JOBID=" + jobs[0], "JOBSTATE=FAILED", "EXITCODE=3:0", "LIMIT=00:05:00", "PARTITION=main", "NODES=n1", "NODECNT=1", "BATCH=yes",
                 "CLUSTER=test", "USERNAME=" + cluster.user, "PATH=/usr/bin:/bin:/usr/sbin:/sbin"):
        assert "\n%s\n" % line in "\n" + text, (line, text)
    assert text.splitlines()[-1] == cluster.user
    until("its failure in the log", lambda: "exit code 7" in cluster.logs(100000))
    assert "SLURM_CONF=" not in text


class Server(http.server.ThreadingHTTPServer):
    """An Elasticsearch that answers as it is told."""

    def __init__(self, port=0, status=201):
        self.documents, self.asked, self.status = [], [], status

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(this):
                body = this.rfile.read(int(this.headers["Content-Length"]))
                self.asked.append((this.path, this.headers["Content-Type"]))
                status = self.status(json.loads(body)) if callable(self.status) else self.status
                if status < 300:
                    self.documents.append(json.loads(body))
                this.send_response(status)
                this.send_header("Content-Length", "2")
                this.end_headers()
                this.wfile.write(b"{}")

            def log_message(this, *args):
                pass
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def ids(self):
        return [str(d["jobid"]) for d in self.documents]

    def end(self):
        self.shutdown()
        self.server_close()


def test_documents_are_posted_and_kept_until_they_are_taken(make_cluster):
    port = harness.free_ports(1)[0]
    cluster = a_cluster(make_cluster, "elasticsearch", "127.0.0.1:%d/jobs/_doc" % port, "JobCompParams=send_comment,send_script\n")
    away = [run(cluster, "--comment=a \"comment\"", "-J", "näme\n"), run(cluster)]
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    server = Server(port, status=503)
    try:
        until("it to be asked", lambda: server.asked, 90)
        server.status = 201
        until("what waited", lambda: sorted(server.ids()) == sorted(away), 90)
        first = next(d for d in server.documents if str(d["jobid"]) == away[0])
        assert server.asked[0] == ("/jobs/_doc", "application/json")
        assert first["comment"] == 'a "comment"' and first["job_name"] == "näme\n" and first["state"] == "COMPLETED"
        assert "exit 0" in first["script"] and first["cluster"] == "test" and first["@end_time"].startswith("20")
        server.status = lambda document: 400 if document["job_name"] == "bad" else 201
        bad, good = run(cluster, "-J", "bad"), run(cluster)
        until("the next", lambda: good in server.ids())
        assert bad not in server.ids() and "is refused and left out: status 400" in cluster.logs(100000)
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
        last = run(cluster)
        until("the last", lambda: last in server.ids())
        assert sorted(server.ids()) == sorted(away + [good, last])
    finally:
        server.end()


def test_what_is_not_there_is_told(make_cluster):
    cluster = a_cluster(make_cluster, "lua", "/etc/jobcomp.lua")
    assert "JobCompType: jobcomp/lua needs Lua" in cluster.logs(100000)
    said = cluster.run("sacct", "-c")
    assert said.code == 1 and "jobcomp/lua writes no file" in said.err, said
    cluster.conf_lines = [l for l in cluster.conf_lines if not l.startswith("JobComp")] + ["JobCompType=jobcomp/script"]
    cluster.write_lines()
    said = cluster.run("scontrol", "reconfigure")
    assert said.code == 1 and "JobCompLoc" in said.err, said
    cluster.conf_lines = [l for l in cluster.conf_lines if not l.startswith("JobComp")]
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    said = cluster.run("sacct", "-c")
    assert said.code == 1 and said.err == "Slurm job completion is disabled\n", said
