"""Configurations in the shape that sites have them (test/sites): slurmctld starts with each, and slurmdbd where the site has one;
what is odd in them is told with file and line, by `muster check-config` and in the log alike (test/sites/*/expected;
MUSTER_UPDATE=1 writes them). What Slurm 22.05 does with the same files: test/sites/slurm-22.05.txt."""
import os
import re
import sys

import conftest
import harness
import pytest

sys.path.insert(0, os.path.join(harness.REPO, "test", "sites"))
import overlay  # noqa: E402

pytestmark = pytest.mark.better_than_slurm
UPDATE = os.environ.get("MUSTER_UPDATE") == "1"
# Where a job goes when the default partition is not for everybody.
SUBMIT = {"accounting": ["-p", "free"], "dynamic": ["-p", "any"], "national-tree": ["-p", "maint", "-N1"]}
NOT_WITHOUT_ACCOUNT = "Invalid account or account/partition combination specified"


class Site(harness.Cluster):
    def __init__(self, folder, name):
        self.site = name
        self.has_dbd = os.path.exists(os.path.join(overlay.SITES, name, "slurmdbd.conf"))
        self.dbd = None
        super().__init__(folder, nodes=0, gpus=0, names=[])

    def write_conf(self, *_):
        self.house_lines(False)     # the cluster key
        dbd_port = harness.free_ports(1)[0]
        values = {"SlurmctldHost": "%s(127.0.0.1)" % harness.HOST, "SlurmctldPort": str(self.port), "SlurmUser": self.user,
                       "SlurmdUser": self.user, "StateSaveLocation": self.state_folder,
                       "SlurmdSpoolDir": self.folder + "/spool/%n", "SlurmctldPidFile": self.folder + "/run/slurmctld.pid",
                       "SlurmdPidFile": self.folder + "/run/slurmd-%n.pid",
                       "SlurmctldLogFile": self.folder + "/log/slurmctld.log",
                       "SlurmdLogFile": self.folder + "/log/slurmd-%n.log", "AuthType": "auth/slurm", "CredType": "cred/slurm"}
        optional = {"ControlMachine": harness.HOST, "ControlAddr": "127.0.0.1", "AccountingStorageHost": "127.0.0.1",
                    "AccountingStoragePort": str(dbd_port)}
        dbd = {"DbdHost": harness.HOST, "DbdAddr": "127.0.0.1", "DbdPort": str(dbd_port), "SlurmUser": self.user,
               "LogFile": self.folder + "/log/slurmdbd.log", "PidFile": self.folder + "/run/slurmdbd.pid",
               "StorageType": "accounting_storage/sqlite", "StorageLoc": self.folder + "/state/acct.db", "AuthType": "auth/slurm"}
        overlay.copy(self.site, self.folder, values, optional, dbd)
        if self.has_dbd:
            os.chmod(os.path.join(self.folder, "etc", "slurmdbd.conf"), 0o600)

    def start(self, wait=True):
        if self.has_dbd:
            self.dbd = self.spawn("slurmdbd", "-D", "-f", os.path.join(self.folder, "etc", "slurmdbd.conf"))
            log = os.path.join(self.folder, "log", "slurmdbd.log")
            harness.until(lambda: "slurmdbd to start\n" + self.logs(), lambda: "accounting records are in" in open(log).read())
        self.start_ctld()
        self.wait_ctld()
        return self

    def stop(self):
        super().stop()
        harness.end_process(self.dbd)

    def plain(self, text):
        """Without what differs from machine to machine."""
        text = text.replace(self.folder + "/etc/", "").replace(self.folder, "FOLDER")
        return re.sub(r"\b%s\b" % re.escape(harness.HOST), "HOST", text)


@pytest.fixture
def site(request):
    folder = conftest.new_folder()
    made = Site(folder, request.param)
    try:
        yield made
    finally:
        made.stop()
        harness.remove(folder)


def as_logged(findings):
    """The lines of the log that say what check-config said."""
    lines, out = findings.splitlines(), []
    for i, line in enumerate(lines):
        at = line.find(": warning: ")
        if at >= 0:
            hint = lines[i + 1].strip() if i + 1 < len(lines) and lines[i + 1].startswith("    ") else ""
            out.append(line.replace(": warning: ", ": ", 1) + (" (%s)" % hint if hint else ""))
    return out


@pytest.mark.row(127, 130)
@pytest.mark.parametrize("site", overlay.names(), indirect=True)
def test_a_site_starts_and_is_told_what_is_odd(site):
    checked = site.run("muster", "check-config", os.path.dirname(site.conf_path))
    assert checked.code == 0, checked
    findings = site.plain("".join(line + "\n" for line in checked.lines[:-1]))
    path = os.path.join(overlay.SITES, site.site, "expected")
    if UPDATE:
        with open(path, "w", encoding="utf-8") as f:
            f.write(findings)
    assert findings == open(path, encoding="utf-8").read(), "MUSTER_UPDATE=1 writes %s anew" % path
    strict = site.run("muster", "check-config", "--strict", os.path.dirname(site.conf_path))
    assert strict.code == (1 if findings else 0)

    site.start()
    log = site.plain(site.logs(1 << 20))
    for line in as_logged(findings):
        assert line in log, line

    assert "SLURM_VERSION" in site.ok("scontrol", "show", "config").out
    partitions = re.findall(r"^PartitionName=(\S+)", site.ok("scontrol", "-a", "show", "partitions").out, re.M)
    nodes = re.findall(r"^NodeName=(\S+)", site.ok("scontrol", "show", "nodes", "--future").out, re.M)
    assert len(set(partitions)) == len(partitions) >= 1 and nodes
    shown = {line.rstrip("*") for line in site.ok("sinfo", "-a", "-h", "-o", "%P").lines}
    assert shown == set(partitions)
    job = site.run("sbatch", "--hold", "--parsable", *SUBMIT.get(site.site, []), "--wrap", "true")
    if NOT_WITHOUT_ACCOUNT not in job.err:      # where accounting says who may submit, that is an answer, too
        assert job.code == 0, job
        assert "JobState=PENDING" in site.ok("scontrol", "show", "job", job.out.strip()).out
    assert site.ctld.poll() is None
