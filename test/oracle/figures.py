"""The third world of the cases, of the subjects `figures-*`: two months that are over, and what they cost.

The same jobs, events and reservation are put into the database of either slurmdbd, beside it, while it is away: rows of Debian's tables in
its MariaDB, as bench/accounting_slurm.py makes them, and Muster's rows in SQLite, whose records are encoded as src/wire/muster.proto says.
Then it starts and rolls them up. There is no slurmctld. Clocks are those of Berlin, where an hour comes twice in the night to
2024-10-27.
"""
import datetime
import os
import sqlite3
import zoneinfo

import harness
import shared
import world
from harness import until

ZONE = "Europe/Berlin"
ACCOUNTS = ["account physics", "account theory parent=physics", "account biology"]
USERS = ["user lp account=physics,theory wckeys=w1,w2", "user irc account=physics,biology wckeys=w1", "user alice account=biology wckeys=w2",
         "user bob account=theory"]
PAIRS = [("lp", "physics"), ("lp", "theory"), ("irc", "biology"), ("alice", "biology"), ("bob", "theory"), ("irc", "physics")]
WCKEYS = {"lp": ("w1", "w2"), "irc": ("w1", ""), "alice": ("w2", ""), "bob": ("", "")}
UIDS = {"lp": 7, "irc": 39, "alice": 60001, "bob": 60002}
CLUSTER = (128, 256000, 4, 16)         # CPUs, memory, nodes, GPUs
NODE = (32, 64000, 1, 4)
RESERVATION = 5
WAITED = 1200           # every tenth job, before it began
SECONDS = (300, 3540, 3660, 10800, 90000, 45, 7200)


def at(text):
    return int(datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(ZONE)).timestamp())


# Where jobs begin: within a day, before midnight, before and in the hour that comes twice, before the end of a month.
BEGINS = ["2024-10-05T10:00:00", "2024-10-12T23:30:00", "2024-10-27T00:30:00", "2024-10-27T02:15:00", "2024-10-31T22:15:00",
          "2024-11-10T09:59:30", "2024-11-20T08:00:00"]
RESERVED = (at("2024-11-12T10:00:00"), at("2024-11-12T13:30:00"))
EVENTS = [      # node, from, until, what Debian calls the state, Muster's state and flags
    ("n1", at("2024-10-08T03:20:00"), at("2024-10-08T06:40:00"), 1, 1, 0),
    ("n2", at("2024-11-15T00:00:00"), at("2024-11-15T01:30:00"), 2 | 0x200, 2, 1),
]
LIFE = (at("2024-10-01T00:00:00"), at("2024-12-01T00:00:00"))


class Job:
    def __init__(self, number, begins, seconds, pair, size, reserved=False):
        self.number, self.start, self.end = number, begins, begins + seconds
        self.eligible = begins - (0 if number % 10 or reserved else WAITED)
        self.user, self.account = PAIRS[pair % len(PAIRS)]
        cpus = 1 << size % 6
        self.amounts = (cpus, cpus * 500, 1, size % 3)
        self.qos = "normal" if number % 4 else "high"
        self.wckey = WCKEYS[self.user][number % 2]
        self.reserved = reserved


def jobs():
    out = []
    for row, text in enumerate(BEGINS):
        for column, seconds in enumerate(SECONDS):
            out.append(Job(len(out) + 1, at(text) + column * 373, seconds, row + column, row * 3 + column))
    out.append(Job(len(out) + 1, RESERVED[0] + 1800, 2700, 3, 3, True))
    return out


class Figures(world.Base):
    def __init__(self, folder):
        cluster = harness.Cluster(folder, nodes=4)
        cluster.env["TZ"] = ZONE
        super().__init__(cluster, world.FIRST_JOB, own_user=False)
        self.side = Debian(cluster) if harness.ORACLE else Muster(cluster)

    def start(self):
        c, database = self.cluster, self.side.database
        database.start()
        until("slurmdbd to answer", lambda: c.run("sacctmgr", "-n", "show", "qos").code == 0, 60)
        for line in ["cluster test", "qos high"] + ACCOUNTS + USERS:
            c.ok("sacctmgr", "-i", "add", *line.split())
        harness.end_process(database.process)
        self.side.fill()
        database.start()
        until("slurmdbd to answer", lambda: c.run("sacctmgr", "-n", "show", "qos").code == 0, 60)
        until("two months to be rolled up", self.side.rolled, 400)
        return self

    def stop(self):
        try:
            super().stop()
        finally:
            self.side.database.stop()


# ---- Debian's
TRES_IDS = (1, 2, 4, 1001)      # CPUs, memory, nodes, GPUs; 5 is what is billed
JOB = """INSERT INTO test_job_table(account, cpus_req, exit_code, job_name, id_assoc, id_job, id_resv, id_wckey, wckey, id_user, id_group,
  het_job_id, het_job_offset, state_reason_prev, mem_req, nodelist, nodes_alloc, `partition`, priority, state, timelimit, time_submit,
  time_eligible, time_start, time_end, work_dir, submit_line, tres_alloc, tres_req, id_qos, mod_time)
SELECT acct, {cpus}, 0, 'train', id_assoc, {number}, {resv}, IFNULL((SELECT id_wckey FROM test_wckey_table WHERE user = '{user}' AND
  wckey_name = '{wckey}' AND deleted = 0), 0), '{wckey}', {uid}, {uid}, 0, 4294967294, 0, {mem}, 'n4', 1, 'main', 1, 3, 600, {eligible}, {eligible},
  {start}, {end}, '/', 'sbatch', '{tres}', '{tres}', (SELECT id FROM qos_table WHERE name = '{qos}'), {start}
FROM test_assoc_table WHERE user = '{user}' AND acct = '{account}'"""
EVENT = ("INSERT INTO test_event_table(node_name, cluster_nodes, time_start, time_end, reason, reason_uid, state, tres) "
         "VALUES('%s', '%s', %d, %d, 'test', 0, %d, '%s')")


def numbered(amounts):
    cpus, mem, nodes, gpus = amounts
    return "1=%d,2=%d,4=%d,5=%d" % (cpus, mem, nodes, cpus) + (",1001=%d" % gpus if gpus else "")


class Debian:
    def __init__(self, cluster):
        self.database = shared.Slurmdbd(cluster)
        with open(cluster.folder + "/etc/slurmdbd.conf", "a") as f:
            f.write("TrackWCKey=yes\n")

    def ask(self, statement):
        return self.database.maria.ask(statement, "-D", "slurm_acct_db")

    def fill(self):
        self.ask("INSERT INTO tres_table(creation_time, id, type, name) VALUES(%d, 1001, 'gres', 'gpu')" % LIFE[0])
        for j in jobs():
            self.ask(JOB.format(cpus=j.amounts[0], mem=j.amounts[1], number=j.number, resv=RESERVATION if j.reserved else 0, user=j.user,
                                wckey=j.wckey, uid=UIDS[j.user], eligible=j.eligible, start=j.start, end=j.end, tres=numbered(j.amounts), qos=j.qos,
                                account=j.account))
        self.ask("DELETE FROM test_event_table")
        self.ask(EVENT % ("", "n[1-4]", *LIFE, 0, numbered(CLUSTER)))
        for node, begin, end, state, _, _ in EVENTS:
            self.ask(EVENT % (node, "", begin, end, state, numbered(NODE)))
        self.ask("INSERT INTO test_resv_table(id_resv, deleted, assoclist, flags, nodelist, node_inx, resv_name, time_start, time_end, tres) "
                 "SELECT %d, 0, id_assoc, 0, 'n4', '3', 'course', %d, %d, '%s' FROM test_assoc_table WHERE acct = 'biology' AND user = ''"
                 % (RESERVATION, *RESERVED, numbered(NODE)))
        for table in ("test_assoc_table", "test_wckey_table", "cluster_table"):
            self.ask("UPDATE %s SET creation_time = %d" % (table, LIFE[0]))
        self.ask("DELETE FROM test_last_ran_table; INSERT INTO test_last_ran_table VALUES (%d, %d, %d)" % ((LIFE[0],) * 3))
        assert int(self.ask("SELECT COUNT(*) FROM test_job_table")) == len(jobs())

    def rolled(self):
        return int(self.ask("SELECT MIN(monthly_rollup) FROM test_last_ran_table") or 0) >= LIFE[1]


# ---- Muster's
def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def message(**fields):
    """Protocol Buffers: f7=3 is field 7. A negative number does not occur."""
    out = b""
    for name, value in sorted(fields.items(), key=lambda item: int(item[0][1:])):
        number = int(name[1:])
        if isinstance(value, int):
            out += varint(number << 3) + varint(value) if value else b""
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value if value else b""
    return out


def moment(seconds):
    return 2 * seconds * 1000000     # a sint64 that counts microseconds


def amounts_of(amounts):
    cpus, mem, nodes, gpus = amounts
    return message(f1=cpus, f2=mem, f3=nodes, f4=cpus, f5=message(f1="gpu", f3=gpus) if gpus else b"")


class Muster:
    def __init__(self, cluster):
        self.database = shared.Sqlite(cluster)

    def insert(self, db, table, **columns):
        db.execute("INSERT INTO muster_%s(%s) VALUES(%s)" % (table, ",".join(columns), ",".join("?" * len(columns))), list(columns.values()))

    def fill(self):
        db = sqlite3.connect(self.database.file, timeout=10)
        million = 1000000
        for j in jobs():
            asked, start, end, have = moment(j.eligible), moment(j.start), moment(j.end), amounts_of(j.amounts)
            record = message(f1=message(f1=j.number, f2=asked), f2=j.number, f3="test", f7=3, f11=asked, f12=start, f13=end, f16=UIDS[j.user],
                             f17=UIDS[j.user], f18=j.user, f20="train", f21="main", f22=j.account, f23=j.qos, f24=j.wckey,
                             f25="course" if j.reserved else "", f41=j.amounts[0], f45=1, f46=j.amounts[0], f47="n4", f90=have, f91=have)
            self.insert(db, "jobs", cluster="test", job=j.number, submitted=j.eligible * million, restarts=0, position=j.number, head=j.number,
                        uid=UIDS[j.user], gid=UIDS[j.user], account=j.account, part="main", name="train", qos=j.qos, wckey=j.wckey, state=3,
                        eligible=j.eligible * million, started=j.start * million, ended=j.end * million, record=record)
        events = [("", *LIFE, 0, 0, 0)] + EVENTS
        for position, (node, begin, end, _, state, flags) in enumerate(events, 1):
            record = message(f1="test", f2=node, f3=position, f4=moment(begin), f5=moment(end), f6=state, f7=flags,
                             f11=amounts_of(NODE if node else CLUSTER), f12="" if node else "n[1-4]")
            self.insert(db, "events", cluster="test", node=node, started=begin * million, ended=end * million, record=record)
        begin, end = RESERVED
        record = message(f1="test", f2=RESERVATION, f3=1, f4="course", f5=moment(begin), f6=moment(end), f8="n4", f9=amounts_of(NODE),
                         f11="biology")
        self.insert(db, "reservations", cluster="test", number=RESERVATION, started=begin * million, ended=end * million, record=record)
        for table in ("usage", "usage_state", "usage_changed"):
            db.execute("DELETE FROM muster_" + table)
        db.commit()
        db.close()

    def rolled(self):
        return any(until_ >= LIFE[1] * 1000000 for until_, in self.database.rows("SELECT rolled FROM muster_usage_state WHERE cluster = 'test'"))
