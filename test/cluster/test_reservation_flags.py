"""Reservation flags and lists with real daemons that test_reservations.py does not show: time that floats, nodes of a partition, who may delete,
what waits when one ends, repetitions that have begun long ago, cores and nodes by TRES, the first cores of a node."""
import time

import pytest

from harness import until
from test_reservations import create, field, show, sleeper, until_shown


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(nodes=4, gpus=0, cpus=4, partitions=["PartitionName=main Nodes=ALL Default=YES", "PartitionName=two Nodes=n[1-2]"])
    yield cluster
    cluster.cancel_all()


def test_a_floating_one_is_always_ahead(site):
    create(site, "reservationname=t", "starttime=now+60minutes", "duration=30", "user=root", "nodes=n1", "flags=time_float")
    assert "TIME_FLOAT" in field(show(site, "t"), "Flags")
    begin = field(show(site, "t"), "StartTime")
    time.sleep(1.1)                     # the subject is the clock
    assert field(show(site, "t"), "StartTime") > begin and field(show(site, "t"), "State") == "INACTIVE"
    short, long = sleeper(site, "-w", "n1", "-t", "30"), sleeper(site, "-w", "n1", "-t", "90", "-n4")
    until_shown(site, short, "RUNNING n1", "%T %N")
    until_shown(site, long, "PENDING ReqNodeNotAvail, May be reserved for other job")


def test_one_follows_the_nodes_of_its_partition(site):
    create(site, "reservationname=p", "starttime=now", "duration=60", "user=root", "partitionname=two", "nodes=ALL", "flags=part_nodes")
    assert field(show(site, "p"), "Nodes") == "n[1-2]"
    site.ok("scontrol", "update", "partitionname=two", "nodes=n[2-4]")
    until("it to follow its partition", lambda: field(show(site, "p"), "Nodes") == "n[2-4]")


@pytest.mark.parametrize("flags,then", [("overlap", "RESV_DEL_HOLD ReservationDeleted"), ("no_hold_jobs_after", "RUNNING None")])
def test_jobs_that_wait_at_the_end_are_held_or_let_go(site, flags, then):
    create(site, "reservationname=r", "starttime=now", "duration=60", "user=" + site.user, "nodes=n1", "flags=" + flags)
    first, second = (sleeper(site, "--reservation=r", "-n4", "-t", "10") for _ in range(2))
    until_shown(site, first, "RUNNING None")
    site.ok("scontrol", "update", "reservationname=r", "endtime=now+1")
    until_shown(site, second, then)


def test_whoever_it_is_for_may_delete_it(site):
    create(site, "reservationname=mine", "starttime=now", "duration=60", "user=" + site.user, "nodes=n1", "flags=user_delete")
    assert "USER_DELETE" in field(show(site, "mine"), "Flags")
    site.ok("scontrol", "delete", "reservation=mine")
    assert "not found" in site.run("scontrol", "show", "reservation", "mine").out


def test_a_daily_one_of_long_ago_begins_at_its_next_turn(site):
    refused = site.run("scontrol", "create", "reservation", "reservationname=d", "starttime=2020-01-01T03:00:00", "duration=60", "user=root",
                       "nodes=n1", "flags=daily")
    assert refused.code == 1 and "it would be over already" in refused.err, refused
    create(site, "reservationname=d", "starttime=2020-01-01T03:00:00", "duration=60", "user=root", "nodes=n1", "flags=daily,force_start")
    start = field(show(site, "d"), "StartTime")
    assert start > "2026" and start.endswith("T03:00:00"), start


def test_cores_and_nodes_by_tres(site):
    create(site, "reservationname=c", "starttime=now", "duration=60", "user=root", "partitionname=main", "tres=cpu=4,node=2")
    assert field(show(site, "c"), "NodeCnt") == "2" and field(show(site, "c"), "CoreCnt") == "4"
    wrong = site.run("scontrol", "create", "reservation", "starttime=now", "duration=60", "user=root", "tres=cpu=many")
    assert wrong.code == 1 and "many" in wrong.err, wrong


def test_the_first_cores_or_none(site):
    create(site, "reservationname=one", "starttime=now", "duration=60", "user=root", "nodes=n1", "corecnt=1")
    busy = site.run("scontrol", "create", "reservation", "starttime=now", "duration=60", "user=root", "nodes=n1", "corecnt=2", "flags=first_cores")
    assert busy.code == 1 and "Requested nodes are busy" in busy.err, busy
    create(site, "reservationname=two", "starttime=now", "duration=60", "user=root", "nodes=n2", "corecnt=2", "flags=first_cores")
    assert "CoreIDs=0-1" in show(site, "two")


def test_groups_admit_their_members(site):
    create(site, "reservationname=g", "starttime=now", "duration=60", "groups=" + site.ok("id", "-gn").out.strip(), "nodes=n1")
    job = sleeper(site, "--reservation=g", "-t", "10")
    until_shown(site, job, "RUNNING n1", "%T %N")
    create(site, "reservationname=q", "starttime=now", "duration=60", "qos=gold", "nodes=n2")
    assert field(show(site, "q"), "QOS") == "gold"
