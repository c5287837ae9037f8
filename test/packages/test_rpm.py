"""The rpm packages: what is in them, beside the Debian ones, and that rpm can install, upgrade and erase them."""
import os
import re
import subprocess

import pytest

from formats import deb_modes, pack, rpm_modes, rpm_rows, tool
from page import first_job, over_a_job
from root import DAEMONS, ROLES

PREFIX = os.environ["MUSTER_PREFIX"]
VERSION = re.search(r"project\(muster VERSION (\S+)", open(os.path.join(os.path.dirname(__file__), "../../CMakeLists.txt")).read())[1]
# Role → the package of an rpm site that it stands for (quick start guide for administrators). The others have no name there.
KNOWN = {"client": "slurm", "slurmctld": "slurm-slurmctld", "slurmd": "slurm-slurmd", "slurmdbd": "slurm-slurmdbd", "sackd": "slurm-sackd",
         "pam": "slurm-pam_slurm", "dev": "slurm-devel"}


def asked(package, what):
    """What `rpm -qp --provides` and the like print: a set of lines."""
    return set(tool("rpm", "-qp", "--" + what, package).splitlines())


@pytest.mark.row(135)
def test_each_role_stands_for_the_package_that_people_of_rpm_sites_know(rpms):
    for role in ROLES:
        # Beside its own name and its configuration, which rpm adds.
        own = {line for line in asked(rpms[role], "provides") if not re.match(r"(config\()?muster-" + role, line)}
        assert own == ({KNOWN[role]} if role in KNOWN else set()), role
        assert asked(rpms[role], "conflicts") == own, role
        assert tool("rpm", "-qp", "--qf", "%{NAME} %{VERSION}-%{RELEASE} %{LICENSE}", rpms[role]) == "muster-%s %s-1 Apache-2.0" % (role, VERSION)
    assert asked(rpms["slurmd"], "recommends") == {"munge", "logrotate", "muster-mpi"}


@pytest.mark.row(135)
def test_each_file_of_a_role_is_the_same_in_both_formats(packages, rpms):
    owner = {}
    for role in ROLES:
        there = rpm_modes(rpms[role])
        assert there == deb_modes(packages[role]), role
        for path in there:
            assert owner.setdefault(path, role) == role, path
    assert all(owner["/usr/sbin/" + role] == role for role in DAEMONS)


def test_a_package_owns_no_folder_of_the_distribution(rpms):
    for role in ROLES:
        for path, mode, _ in rpm_rows(rpms[role]):
            assert not mode.startswith("d") or re.search("muster|slurm", path), (role, path)


def test_what_an_administrator_may_edit_is_kept_by_an_upgrade(rpms):
    for role in ROLES:
        marked = {(path, flags) for path, _, flags in rpm_rows(rpms[role]) if "c" in flags or path.startswith("/etc/")}
        assert marked == ({("/etc/logrotate.d/muster-" + role, "cn")} if role in DAEMONS else set()), role


@pytest.mark.row(135)
def test_what_a_package_needs(rpms):
    needs = {role: asked(rpms[role], "requires") for role in ROLES}

    def ours(role):
        return {line for line in needs[role] if line.startswith("muster-")}

    def same(*roles):
        return {"muster-%s = %s" % (role, VERSION) for role in roles}

    assert ours("common") == set() and ours("client") == ours("slurmdbd") == ours("mpi") == ours("dev") == same("common")
    assert ours("slurmctld") == ours("slurmd") == ours("sackd") == ours("hdf5") == same("common", "client")
    assert ours("pam") == same("common", "slurmd") and ours("wlm") == same("slurmctld", "slurmd", "client")
    for role in ("client", *DAEMONS):
        assert "libc.so.6()(64bit)" in needs[role], "rpm looks for libraries"
    assert [role for role in ROLES if any("libhdf5" in line for line in needs[role])] == ["hdf5"]
    assert [role for role in ROLES if any("libpam.so" in line for line in needs[role])] == ["pam"]
    # The user must be there before a file or a folder can be theirs. An example in Python needs none.
    assert "/usr/sbin/useradd" in needs["common"] and not any("python" in line for line in needs["common"])


def scripts(package):
    """%pre and so on → its text."""
    parts = re.split(r"^(preinstall|postinstall|preuninstall|postuninstall) scriptlet \(using /bin/sh\):\n", tool("rpm", "-qp", "--scripts", package), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


@pytest.mark.row(28, 135)
def test_scripts_are_whole_and_name_the_unit_of_their_daemon(rpms):
    for role in ROLES:
        there = scripts(rpms[role])
        assert sorted(there) == (["postinstall", "preinstall"] if role == "common" else
                                 ["postinstall", "postuninstall", "preuninstall"] if role in DAEMONS else []), role
        for text in there.values():
            assert not re.search("@|%", text), (role, text)
            subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    for role in DAEMONS:
        there = scripts(rpms[role])
        assert "systemctl --no-reload preset %s.service" % role in there["postinstall"]
        assert "systemctl --no-reload disable %s.service" % role in there["preuninstall"]
        assert "systemctl try-restart %s.service" % role in there["postuninstall"]


def small(folder, name, *lines):
    """An rpm package without files."""
    (folder / (name + ".spec")).write_text("\n".join(["Name: " + name, "Version: 23.11", "Release: 1", "Summary: x", "License: x", "BuildArch: noarch",
                                                      *lines, "%description", "x", "%files", ""]))
    done = subprocess.run(["rpmbuild", "-bb", "--define", "_topdir %s" % folder, str(folder / (name + ".spec"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(folder / ("RPMS/noarch/%s-23.11-1.noarch.rpm" % name))


class Empty:
    """A root with nothing but a database of rpm's. This host's files and database stay as they are."""
    def __init__(self, folder):
        if os.getuid() != 0:
            pytest.skip("rpm --root changes its root folder, which only root can")
        self.path = str(folder / "root")
        os.mkdir(self.path)

    def rpm(self, *options):
        return subprocess.run(["rpm", "--root", self.path, *options], capture_output=True, text=True, timeout=120)


def test_muster_meets_who_needs_slurm_and_shuns_slurm(rpms, tmp_path):
    needy = small(tmp_path, "site-tools", "Requires: slurm, slurm-slurmd, slurm-slurmctld")
    slurm = small(tmp_path, "slurm-slurmctld")
    root = Empty(tmp_path)
    # Of the distribution everything is missing there (libraries, /bin/sh), of ours nothing; without the node daemon its name is, too.
    said = root.rpm("--test", "-i", needy, *rpms.values()).stderr
    assert "libc.so.6()(64bit) is needed by muster-slurmctld" in said
    assert not re.search("(slurm|muster).* is needed by", said) and "conflicts" not in said
    assert "slurm-slurmd is needed by site-tools" in root.rpm("--test", "-i", needy, rpms["common"], rpms["client"], rpms["slurmctld"]).stderr
    assert "slurm-slurmctld conflicts with muster-slurmctld" in root.rpm("--test", "-i", slurm, *rpms.values()).stderr


@pytest.mark.row(135)
def test_an_empty_root_gets_every_file_and_its_programs_start(rpms, tmp_path):
    root = Empty(tmp_path)
    done = root.rpm("--nodeps", "--noscripts", "-i", *rpms.values())
    assert done.returncode == 0, done.stderr
    assert set(root.rpm("-qa", "--qf", "%{NAME}\n").stdout.split()) == {"muster-" + role for role in ROLES}
    done = root.rpm("-V", "--nodeps", "--noscripts", *("muster-" + role for role in ROLES))
    assert done.returncode == 0 and done.stdout == "", "every file is as it was packed: " + done.stdout
    for program in ("sbin/slurmctld", "sbin/slurmd", "sbin/slurmdbd", "sbin/sackd", "bin/sinfo"):
        done = subprocess.run([root.path + "/usr/" + program, "-V"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("slurm "), (program, done)


def wanted_units(root):
    return set(root.run("ls /etc/systemd/system/multi-user.target.wants").stdout.split()) & {name + ".service" for name in DAEMONS}


# Debian's rpm says that dpkg is the one to use here, unless it is told so.
RPM = "rpm --force-debian --nodeps "


@pytest.mark.row(28, 127, 135)
def test_from_installation_to_erasure(bare, rpms, tmp_path):
    bare.copy(os.path.dirname(rpms["common"]), "/tmp/rpms", *(os.path.basename(f) for f in rpms.values()))
    bare.ok("mkdir -p /etc/systemd/system-preset")
    bare.write("/etc/systemd/system-preset/10-site.preset", "disable slurmdbd.service\ndisable sackd.service\nenable slurm*.service\n")
    bare.ok(RPM + "-i /tmp/rpms/*.rpm", 300)
    assert bare.ok("id -u slurm; id -gn slurm").split() == ["64030", "slurm"], "as the Debian package has it"
    assert bare.ok("stat -c %U:%a /var/log/slurm /var/lib/slurm /var/lib/slurm/slurmctld /var/spool/slurmd").split() == [
        "slurm:755", "slurm:755", "slurm:755", "root:755"]
    assert wanted_units(bare) == {"slurmctld.service", "slurmd.service"}, "presets say which are enabled"

    first_job(bare)
    bare.ok("echo '# ours' >> /etc/logrotate.d/muster-sackd; systemctl disable slurmd")
    newer = tmp_path / "newer"
    newer.mkdir()
    pack(PREFIX, newer, "RPM", "CPACK_RPM_PACKAGE_RELEASE=2", "CPACK_COMPONENTS_ALL=common;sackd;slurmd")
    bare.copy(str(newer), "/tmp/newer", *(name for name in os.listdir(newer) if name.endswith(".rpm")))
    over_a_job(bare, lambda: bare.ok(RPM + "-U /tmp/newer/*.rpm", 300))
    assert bare.ok("rpm -q --qf '%{RELEASE} ' muster-slurmd muster-sackd muster-client") == "2 2 1 "
    assert bare.ok("tail -n 1 /etc/logrotate.d/muster-sackd") == "# ours\n"
    assert wanted_units(bare) == {"slurmctld.service"}, "an upgrade enables nothing anew, and disables nothing"

    bare.ok(RPM + "-e $(rpm -qa 'muster-*')", 300)
    assert bare.run("ls /usr/sbin/slurmctld /usr/sbin/slurmd /usr/bin/sbatch").stdout == "" and wanted_units(bare) == set()
    assert bare.run("ls /etc/logrotate.d | grep muster").stdout == "muster-sackd.rpmsave\n"
    assert bare.ok("ls /etc/slurm").split() == ["slurm.conf", "slurm.key"] and "muster.db" in bare.ok("ls /var/lib/slurm/slurmctld"), \
        "rpm knows no purge: what the administrator wrote stays, and so does the state"
