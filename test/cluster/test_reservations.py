"""Reservations with real daemons: the worked examples of the guide, as far as one machine can show them."""
import json
import os
import re

import pytest

from harness import until


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(nodes=4, gpus=0, cpus=4, conf="Licenses=lustre:1000")
    yield cluster
    cluster.cancel_all()


def create(cluster, *words):
    out = cluster.ok("scontrol", "create", "reservation", *words).out
    found = re.match(r"Reservation created: (\S+)\n", out)
    assert found, out
    return found.group(1)


def show(cluster, name):
    return cluster.ok("scontrol", "show", "reservation", name).out


def field(text, name):
    found = re.search(r"(?:^|\s)%s=(\S*)" % name, text)
    assert found, (name, text)
    return found.group(1)


def sleeper(cluster, *args):
    return cluster.sbatch("-o", "/dev/null", *args, "--wrap", "exec sleep 600")


def shown(cluster, job, what="%T %r"):
    return cluster.ok("squeue", "-h", "-j", str(job), "-o", what).out.strip()


def until_shown(cluster, job, wanted, what="%T %r"):
    until(lambda: "job %s to show %s, not %s\n%s" % (job, wanted, shown(cluster, job, what), cluster.logs()),
          lambda: shown(cluster, job, what) == wanted)


def test_the_whole_system_is_reserved_for_maintenance(site):
    name = create(site, "starttime=now+2hours", "duration=120", "user=root", "flags=maint,ignore_jobs", "nodes=ALL")
    text = show(site, name)
    assert field(text, "Duration") == "02:00:00"
    assert field(text, "Flags") == "MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES"
    assert field(text, "NodeCnt") == "4" and field(text, "State") == "INACTIVE" and field(text, "Users") == "root"
    runs, waits = sleeper(site, "-t", "100"), sleeper(site, "-t", "150")
    until_shown(site, runs, "RUNNING None")
    until_shown(site, waits, "PENDING Resources")
    assert site.ok("scontrol", "update", "ReservationName=" + name, "duration=150").out == "Reservation updated.\n"
    assert field(show(site, name), "Duration") == "02:30:00"
    assert site.ok("scontrol", "delete", "ReservationName=" + name).out.strip() == ""
    assert "not found" in site.run("scontrol", "show", "reservation", name).out
    until_shown(site, waits, "RUNNING None")


def test_licences_of_a_file_system(site):
    create(site, "starttime=now", "duration=120", "user=root", "flags=license_only", "licenses=lustre:1000", "reservationname=fs")
    text = show(site, "fs")
    assert field(text, "Flags") == "ANY_NODES" and field(text, "Licenses") == "lustre:1000" and field(text, "NodeCnt") == "0"
    waits, beside = sleeper(site, "-t", "10", "-L", "lustre:1"), sleeper(site, "-t", "10")
    until_shown(site, beside, "RUNNING None")
    until_shown(site, waits, "PENDING Licenses")


def test_licences_are_not_reserved_twice(site):
    create(site, "starttime=now", "duration=60", "user=root", "flags=license_only", "licenses=lustre:800", "reservationname=one")
    two = ("scontrol", "create", "reservation", "reservationname=two", "starttime=now", "duration=60", "user=root", "flags=license_only")
    said = site.run(*two, "licenses=lustre:201")
    assert said.code == 1 and "overlap" in said.err and "800 of the 1000 licenses of lustre are reserved then (one)" in said.err, said
    site.ok(*two, "licenses=lustre:200")
    said = site.run("scontrol", "update", "reservation=one", "licenses=lustre:801")
    assert said.code == 1 and "200 of the 1000" in said.err, said
    create(site, "starttime=now+2hours", "duration=60", "user=root", "flags=license_only", "licenses=lustre:1000", "reservationname=later")


def test_times_are_those_of_the_commands_clock(site):
    """The controller's clock is in another zone."""
    there, here = {"TZ": "America/New_York"}, {"TZ": "UTC"}
    site.ok("scontrol", "create", "reservation", "reservationname=tz", "starttime=2030-01-15T08:00:00", "duration=60", "user=root", "nodes=n1",
            env=there)
    assert field(site.ok("scontrol", "show", "reservation", "tz", env=there).out, "StartTime") == "2030-01-15T08:00:00"
    assert field(site.ok("scontrol", "show", "reservation", "tz", env=here).out, "StartTime") == "2030-01-15T13:00:00"
    job = sleeper(site, "--hold")
    site.ok("scontrol", "update", "jobid=%d" % job, "starttime=2030-01-16T08:00:00", "deadline=2030-01-17T08:00:00", env=there)
    text = site.ok("scontrol", "show", "job", str(job), env=here).out
    assert (field(text, "EligibleTime"), field(text, "Deadline")) == ("2030-01-16T13:00:00", "2030-01-17T13:00:00")


def test_states_and_columns_of_nodes_and_jobs(site):
    create(site, "reservationname=m", "starttime=now", "duration=60", "user=root", "flags=maint", "nodes=n1")
    create(site, "reservationname=r", "starttime=now", "duration=60", "user=root", "nodes=n2")
    until("the nodes to be shown as reserved",
          lambda: site.ok("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t %i").lines == ["n1 maint m", "n2 resv r", "n3 idle ", "n4 idle "])
    assert "State=IDLE+MAINTENANCE+RESERVED" in site.ok("scontrol", "show", "node", "n1").out
    lines = site.ok("sinfo", "-T").lines
    assert lines[0].split() == ["RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST"]
    assert [line.split()[0::4] for line in lines[1:]] == [["m", "01:00:00"], ["r", "01:00:00"]]
    inside, outside = sleeper(site, "-t", "5", "--reservation=r"), sleeper(site, "-t", "5", "-w", "n2")
    until_shown(site, inside, "RUNNING r n2", "%T %v %N")
    until_shown(site, outside, "PENDING ReqNodeNotAvail, May be reserved for other job")
    assert site.ok("squeue", "-h", "-R", "r", "-o", "%A").out.strip() == str(inside)
    refused = site.run("scontrol", "delete", "reservation=r")
    assert refused.code == 1 and "Requested reservation is in use" in refused.err
    document = json.loads(site.ok("scontrol", "show", "reservations", "--json").out)
    assert [(r["name"], r["flags"]) for r in document["reservations"]] == [("m", ["MAINT", "SPEC_NODES"]), ("r", ["SPEC_NODES"])]


def test_a_job_is_told_the_reservation_that_it_runs_in(site):
    create(site, "reservationname=later", "starttime=now+1hour", "duration=60", "user=root", "nodes=n1")
    create(site, "reservationname=now", "starttime=now", "duration=60", "user=root", "nodes=n2")
    job = site.sbatch("-o", "said", "-t", "5", "--reservation=later,now", "--wrap", 'echo "$SLURM_JOB_RESERVATION $SLURM_JOB_NODELIST"')
    site.wait_job(job)
    assert site.read("said") == "now n2\n"


def test_who_is_refused_and_why(site):
    create(site, "reservationname=c", "starttime=now", "duration=60", "user=bin", "nodes=n1")
    unknown = site.run("sbatch", "--reservation=nope", "--wrap", "true")
    assert unknown.code == 1
    assert unknown.err.splitlines()[0] == "sbatch: error: Batch job submission failed: Requested reservation is invalid"
    for words, said in (
            (["user=root", "duration=60", "nodes=n2"], "scontrol: error: A start time must be given.  No reservation created."),
            (["starttime=now", "duration=60", "user=root", "nodes=n1"],
             "Error creating the reservation: Requested reservation overlaps with another reservation"),
            (["starttime=now", "duration=60", "user=nosuchuser", "nodes=n2"], "Error creating the reservation: Invalid user id"),
            (["starttime=now", "duration=60", "user=root", "nodes=nx"], "Error creating the reservation: Invalid node name specified"),
            (["starttime=bogus", "duration=60", "user=root", "nodes=n2"], "Invalid time specification (pos=0): bogus"),
            (["starttime=now", "duration=60", "user=root", "nodes=n2", "bogus=1"],
             "scontrol: error: Unknown parameter bogus=1.  No reservation created.")):
        refused = site.run("scontrol", "create", "reservation", *words)
        assert refused.code == 1 and refused.err.splitlines()[0] == said, refused
    gone = site.run("scontrol", "update", "reservationname=nope", "duration=5")
    assert gone.err.splitlines()[0] == "Error updating the reservation: Requested reservation is invalid"
    assert "delete_reservation reservation=nope: Requested reservation is invalid" in site.run("scontrol", "delete", "reservation=nope").err


@pytest.mark.row(133)
def test_cores_of_a_small_machine(site):
    create(site, "reservationname=two", "StartTime=now", "Duration=60", "Nodes=n1", "CoreCnt=2", "User=root")
    text = show(site, "two")
    assert field(text, "CoreCnt") == "2" and "NodeName=n1 CoreIDs=0-1" in text
    three, two = sleeper(site, "-t", "5", "-w", "n1", "-N1", "-n3"), sleeper(site, "-t", "5", "-w", "n1", "-N1", "-n2")
    inside = sleeper(site, "-t", "5", "-n2", "--reservation=two")
    until_shown(site, two, "RUNNING None")
    until_shown(site, inside, "RUNNING None")
    assert shown(site, three, "%T") == "PENDING"


def test_a_flexible_one_and_a_magnetic_one(site):
    create(site, "user=root", "nodes=n1", "starttime=now+10minutes", "duration=10", "flags=flex", "reservationname=f")
    job = sleeper(site, "-w", "n[1-2]", "-t", "30:00", "--reservation=f")
    until_shown(site, job, "RUNNING f n[1-2]", "%T %v %N")
    create(site, "user=" + site.user, "nodes=n3", "starttime=now", "duration=10", "flags=magnetic", "reservationname=m")
    drawn = sleeper(site, "-w", "n3", "-N1", "-t", "5:00")
    until_shown(site, drawn, "RUNNING m n3", "%T %v %N")
    assert "Requested reservation is in use" in site.run("scontrol", "delete", "reservation=m").err


def test_nodes_in_use_are_replaced(site):
    name = create(site, "starttime=now", "duration=60", "users=root", "nodecnt=2", "flags=replace")
    assert field(show(site, name), "Nodes") == "n[1-2]"
    first = sleeper(site, "-n4", "--reservation=" + name)
    until_shown(site, first, "RUNNING n1", "%T %N")
    until("another node to take its place", lambda: field(show(site, name), "Nodes") == "n[2-3]")
    second = sleeper(site, "-n4", "--reservation=" + name)
    until_shown(site, second, "RUNNING n2", "%T %N")
    until("another node to take its place", lambda: field(show(site, name), "Nodes") == "n[3-4]")


def test_it_survives_a_crash_and_ends_with_its_jobs(site):
    create(site, "reservationname=r", "starttime=now", "duration=60", "user=root", "nodes=n1", "flags=daily")
    job = sleeper(site, "-t", "120", "--reservation=r")
    until_shown(site, job, "RUNNING None")
    before = show(site, "r")
    site.kill_ctld()
    site.start_ctld()
    site.wait_ctld()
    assert show(site, "r") == before
    site.ok("scontrol", "update", "reservationname=r", "endtime=now+1")
    until("the job to end with its reservation", lambda: site.job(job)["JobState"] == "TIMEOUT")
    until("the next day's to be there", lambda: field(show(site, "r"), "State") == "INACTIVE")


def test_programs_run_at_the_begin_and_the_end(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    said = cluster.folder + "/said"
    for key in ("Prolog", "Epilog"):
        program = cluster.script("resv" + key, "#!/bin/sh\necho %s $1 >>%s\n" % (key, said))
        cluster.conf_lines.append("Resv%s=%s" % (key, program))
    cluster.write_lines()

    def told():
        return open(said).read().split("\n")[:-1] if os.path.exists(said) else []

    cluster.start()
    create(cluster, "reservationname=r", "starttime=now", "duration=60", "user=root", "nodes=n1")
    until("the prolog", lambda: told() == ["Prolog r"])
    cluster.ok("scontrol", "update", "reservationname=r", "endtime=now+1")
    until("the epilog", lambda: told() == ["Prolog r", "Epilog r"])


def test_a_dry_run_and_explain_know_it(site):
    create(site, "reservationname=r", "starttime=now+30minutes", "duration=60", "user=root", "nodes=ALL")
    dry = site.run("sbatch", "--test-only", "-t", "60", "--wrap", "true")
    assert "to start at" in dry.err, dry
    job = sleeper(site, "-t", "10", "--reservation=r")
    until_shown(site, job, "PENDING Reservation")
    assert "reservation r begins at " in site.ok("muster", "explain", str(job)).out
