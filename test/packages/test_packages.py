"""The Debian packages: what is in them, and that they can be installed, used, upgraded, removed and purged."""
import os
import re
import subprocess

import pytest

from formats import deb_modes, tool
from page import first_job, over_a_job
from root import DAEMONS, ROLES

PREFIX = os.environ["MUSTER_PREFIX"]


def field(package, name):
    return tool("dpkg-deb", "-f", package, name).strip()


def files(package):
    return list(deb_modes(package))


@pytest.mark.row(111, 135)
def test_each_role_is_a_package_and_stands_for_the_one_that_people_know(packages):
    for role in DAEMONS:
        assert field(packages[role], "Provides") == role
        assert role in field(packages[role], "Conflicts")
        assert "muster-common (= " in field(packages[role], "Depends")
        assert "libc6" in field(packages[role], "Depends")
        assert "/usr/sbin/" + role in files(packages[role])
        assert "/usr/lib/systemd/system/%s.service" % role in files(packages[role])
    assert field(packages["client"], "Provides").split(", ") == ["slurm-client"]
    assert field(packages["wlm"], "Provides") == "slurm-wlm"
    assert re.findall(r"muster-(\w+) \(= ", field(packages["wlm"], "Depends")) == ["slurmctld", "slurmd", "client"]
    assert "/usr/sbin/slurmstepd" in files(packages["slurmd"])
    for command in ("sbatch", "srun", "squeue", "scontrol", "sacct", "muster"):
        assert "/usr/bin/" + command in files(packages["client"])
        assert "/usr/share/man/man1/%s.1" % command in files(packages["client"])
    assert "/usr/include/slurm/spank.h" in files(packages["dev"])
    assert "libhdf5" in field(packages["hdf5"], "Depends") and "libhdf5" not in field(packages["client"], "Depends")
    assert "/usr/bin/sh5util" in files(packages["hdf5"])
    assert field(packages["pam"], "Provides") == "libpam-slurm-adopt" and "libpam0g" in field(packages["pam"], "Depends")
    assert any(re.fullmatch(r"/usr/lib/[^/]+/security/pam_slurm_adopt\.so", path) for path in files(packages["pam"]))


def test_no_file_is_in_two_packages(packages):
    owner = {}
    for role, package in packages.items():
        for path in files(package):
            assert owner.setdefault(path, role) == role, path


@pytest.mark.row(28, 135)
def test_units_name_what_is_installed(packages, tmp_path):
    for role in DAEMONS:
        subprocess.run(["dpkg-deb", "-x", packages[role], str(tmp_path)], check=True)
        text = (tmp_path / "usr/lib/systemd/system" / (role + ".service")).read_text()
        assert "ExecStart=/usr/sbin/%s -D" % role in text
        assert "@" not in text


def test_an_installation_below_a_prefix_writes_nothing_elsewhere(tmp_path):
    """`./quickstart` is run by root, too, and by users who may write nowhere else."""
    done = subprocess.run(["cmake", "--install", PREFIX, "--prefix", "/pfx"], env={**os.environ, "DESTDIR": str(tmp_path)},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert os.listdir(tmp_path) == ["pfx"] and os.path.exists(tmp_path / "pfx/sbin/slurmctld")


def install(root, roles=ROLES):
    return root.ok("dpkg -i " + " ".join("/tmp/packages/muster-%s_*.deb" % role for role in roles), 300)


@pytest.mark.row(28, 127, 135)
def test_from_installation_to_purge(root):
    said = install(root)
    assert "slurmctld starts once /etc/slurm/slurm.conf is there" in said
    assert root.ok("id -un slurm").strip() == "slurm"
    assert root.ok("stat -c %U /var/lib/slurm/slurmctld").strip() == "slurm"
    assert root.ok("ls /etc/systemd/system/multi-user.target.wants | grep -c '^slurm'").strip() == "3", "all are enabled"

    first_job(root)
    # The same packages again: what runs goes on, what the administrator wrote stays.
    over_a_job(root, lambda: install(root))
    assert "ClusterName=first" in root.ok("cat /etc/slurm/slurm.conf")

    root.ok("dpkg --remove " + " ".join("muster-" + role for role in ROLES))
    assert root.run("ls /usr/sbin/slurmctld /usr/sbin/slurmd /usr/bin/sbatch").returncode != 0
    assert "muster.db" in root.ok("ls /var/lib/slurm/slurmctld"), "its state is there until it is purged"
    root.ok("dpkg --purge " + " ".join("muster-" + role for role in ROLES))
    assert root.ok("ls /etc/slurm").split() == ["slurm.conf", "slurm.key"], "what the administrator wrote stays"
    assert root.run("ls -d /var/lib/slurm /var/log/slurm/slurmctld.log /etc/logrotate.d/muster-*").stdout == ""
