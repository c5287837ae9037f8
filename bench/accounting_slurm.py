#!/usr/bin/python3
"""The Debian side of bench/accounting.py --slurm: the same jobs in the tables of slurm-wlm 22.05, the same commands.

The tables are as its slurmdbd makes them, seen by SHOW CREATE TABLE; rows are made by INSERT … SELECT in its MariaDB server. So this
says what questions cost; records were not uploaded. Needs tools/install-packages --oracle.
"""
import os
import socket
import subprocess
import sys
import time

import accounting as bench      # bench/accounting.py: this program stands beside it

LONG = 90 * 24 * 3600
# Ids of TRES: 1 cpu, 2 mem, 4 node, 5 billing.
TRES = "1=64,2=524288,4=4,5=64"
JOBS = """
INSERT INTO test_job_table(account, cpus_req, exit_code, job_name, id_assoc, id_job, id_resv, id_wckey, id_user, id_group, het_job_id,
  het_job_offset, state_reason_prev, mem_req, nodelist, nodes_alloc, `partition`, priority, state, timelimit, time_submit, time_eligible,
  time_start, time_end, work_dir, submit_line, tres_alloc, tres_req, id_qos, mod_time)
SELECT a.acct, 64, IF(seq %% 20, 0, 256), 'train', a.id_assoc, seq, 0, 0, IF(seq %% 500 = 7, 65534, 1000 + seq %% 500), 1000, 0, 4294967294, 0, 524288, 'n[1-4]', 4,
  IF(seq %% 3, 'gpu', 'main'), 1, IF(seq %% 20, 3, 5), 600, @from + FLOOR(@long * seq / %(jobs)d), @from + FLOOR(@long * seq / %(jobs)d),
  @from + FLOOR(@long * seq / %(jobs)d) + 10, @from + FLOOR(@long * seq / %(jobs)d) + 10 + 60 * (5 + seq %% 300), '/home/user/project',
  'sbatch --nodes=4 --gres=gpu:8 train.sh', '%(tres)s', '%(tres)s', 1, @from
FROM seq_1_to_%(jobs)d JOIN test_assoc_table a ON a.user = CONCAT('user', seq %% 500) AND a.acct = CONCAT('lab', seq %% 50)"""
STEPS = """
INSERT INTO test_step_table(job_db_inx, id_step, nodelist, nodes_alloc, state, step_name, task_cnt, time_start, time_end, tres_alloc)
SELECT job_db_inx, %s, nodelist, 4, state, '%s', 4, time_start, time_end, tres_alloc FROM test_job_table"""
BATCH_STEP = -5


class DebianSite(bench.Site):
    def __init__(self, options):
        super().__init__(options)
        self.cluster.conf_lines.append("AccountingStoragePass=" + self.cluster.munge.socket)
        self.cluster.write_lines()
        with open(self.cluster.folder + "/etc/slurmdbd.conf", "a") as f:
            f.write("AuthType=auth/munge\nAuthInfo=socket=%s\n" % self.cluster.munge.socket)

    def ask(self, statement):
        done = subprocess.run(["mariadb", "--no-defaults", "-S", self.database.server.socket, "-u", "root", "-N", "-B", "slurm_acct_db",
                               "-e", statement], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError("mariadb: " + done.stderr[:500])
        return done.stdout

    def start_dbd(self):
        self.database.start()
        self.harness.until("slurmdbd to listen", self.listens, 60)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.database.port), 1).close()
            return True
        except OSError:
            return False

    def fill(self):
        """Its daemons make the tables and associations, then rows are added while they are away."""
        self.start_dbd()
        self.start_once()
        self.cluster.stop_ctld()
        self.harness.end_process(self.database.process)
        bench.say("%d jobs are inserted" % self.options.jobs)
        start = self.until - LONG
        self.ask("SET @from=%d, @long=%d; " % (start, LONG - 6 * 3600) + JOBS % {"jobs": self.options.jobs, "tres": TRES})
        for step, name in ((BATCH_STEP, "batch"), (0, "python")):
            self.ask(STEPS % (step, name))
        self.ask("DELETE FROM test_last_ran_table; INSERT INTO test_last_ran_table VALUES (%d, %d, %d); ANALYZE TABLE test_job_table, test_step_table"
                 % ((start // 3600 * 3600,) * 3))
        self.ask("UPDATE test_assoc_table SET creation_time=%d; UPDATE cluster_table SET creation_time=%d; "
                 "UPDATE test_event_table SET time_start=%d WHERE node_name=''" % ((start,) * 3))

    def start_once(self):
        self.cluster.start_ctld()
        self.cluster.wait_ctld(120)
        self.load_accounts()

    def rolled(self, limit):
        """Seconds until all hours are rolled up; None: they are not within the limit."""
        began = time.monotonic()
        while time.monotonic() - began < limit:
            if int(self.ask("SELECT MIN(hourly_rollup) FROM test_last_ran_table")) > self.until - 7200:
                return time.monotonic() - began
            time.sleep(0.5)
        return None


def main():
    options = bench.arguments()
    options.mariadb = True
    table = bench.Table()
    site = DebianSite(options)
    try:
        site.fill()
        bench.add_sizes(table, dict(line.split("\t") for line in site.ask(
            "SELECT table_name, data_length + index_length FROM information_schema.tables WHERE table_schema = 'slurm_acct_db'").splitlines()),
            "test_job_table", "test_step_table", options.jobs)
        site.start_dbd()
        took = site.rolled(300)
        table.add("90 days rolled up by its slurmdbd, from its start", "%.1f s" % took if took else "not within 300 s")
        site.cluster.start_ctld()
        site.cluster.wait_ctld(120)
        bench.commands(site, table)
        if options.jobs <= 100000:      # it builds the whole answer in memory
            bench.as_json(site, table)
    finally:
        site.close()
    bench.tell(options, table, "slurm-wlm 22.05.8 and MariaDB")


if __name__ == "__main__":
    sys.exit(main())
