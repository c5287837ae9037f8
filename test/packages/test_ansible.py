"""packaging/ansible: the role, applied to the root itself. There is no systemd, so the daemons are the test's; what the role does with units
is left out there by its own condition."""
import glob
import json
import os
import re
import subprocess

import pytest

from page import HERE, until
from test_repository import made

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ANSIBLE = os.path.join(TREE, "packaging/ansible")
ROLE = os.path.join(ANSIBLE, "roles/muster")
RESTART = "a key of slurm.conf changed that only a restart applies"
SETTINGS = dict(line.split("=") for line in HERE.split())


def test_the_example_is_read_by_ansible(tmp_path):
    env = {**os.environ, "ANSIBLE_LOCAL_TEMP": str(tmp_path), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["ansible-playbook", "--syntax-check", "-i", "inventory.example.yml", "playbook.yml"], cwd=ANSIBLE, env=env,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr


def test_every_variable_is_documented_and_every_documented_one_is_there():
    text = open(os.path.join(ROLE, "README.md")).read()
    defaults = re.findall(r"^(muster_\w+):", open(os.path.join(ROLE, "defaults/main.yml")).read(), re.M)
    assert sorted(re.findall(r"^\| `(muster_\w+)` \|", text, re.M)) == sorted(defaults)


def test_the_role_restarts_for_the_keys_that_need_it():
    table = "".join(open(f).read() for f in glob.glob(os.path.join(TREE, "src/config/key_table_global_*.cc")))
    rows = re.split(r'\n    (?=\w+\(")', table)
    needed = [re.match(r'\w+\("(\w+)"', row)[1] for row in rows if ".restart()" in row]
    text = open(os.path.join(ROLE, "vars/main.yml")).read()
    listed = re.search(r"muster_restart_keys: \[(.*?)\]", text, re.S)[1]
    assert sorted(re.split(r",\s*", listed)) == sorted(needed)


@pytest.fixture(scope="module")
def host(root, packages, tmp_path_factory):
    """The root with a repository to install from, and the role."""
    folder = tmp_path_factory.mktemp("repository")
    made(*packages.values(), "--out", folder)
    root.copy(str(folder), "/srv/muster")
    root.copy(ANSIBLE, "/srv/ansible")
    root.ok("chmod 755 /srv/muster && rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*")
    root.write("/etc/apt/sources.list", "deb [trusted=yes] file:/srv/muster bookworm main\n")
    root.write("/etc/apt/apt.conf.d/99here", 'APT::Install-Recommends "false";\n')
    root.ok("apt-get update")
    return root


def variables(host, **changed):
    name = host.ok("hostname -s").strip()
    return {"muster_roles": ["controller", "database", "node"], "muster_cluster_name": "played", "muster_controller": name,
            "muster_controller_address": "127.0.0.1", "muster_slurm_conf": SETTINGS,
            "muster_nodes": [{"name": name, "cpus": 2, "address": "127.0.0.1"}], **changed}


def play(host, *options, gathering="implicit", **changed):
    """A run with these variables: what it printed, and how many tasks changed and failed."""
    given = variables(host, **changed)
    host.write("/srv/ansible/here.json", json.dumps({"all": {"hosts": {given["muster_controller"]: given}}}))
    done = host.run("cd /srv/ansible && LC_ALL=C.UTF-8 ANSIBLE_GATHERING=" + gathering + " ansible-playbook -c local -e ansible_python_interpreter=/usr/bin/python3 "
                    "-i here.json playbook.yml " + " ".join(options), 300)
    recap = re.search(r"changed=(\d+) .*failed=(\d+)", done.stdout)
    assert recap, done.stdout + done.stderr
    return done.stdout + done.stderr, int(recap[1]), int(recap[2])


WRONG = [({"muster_nodes": [{"name": "n1"}]}, "muster_nodes has {'name': 'n1'}: name"),
         ({"muster_nodes": [{"name": "n1", "cpus": 0}]}, "cpus (1 to 65535)"),
         ({"muster_nodes": [{"name": "n1\nPartitionName=x", "cpus": 1}]}, "name (a host list)"),
         ({"muster_nodes": [{"name": "n1", "cpus": 1, "memroy": 5}]}, "are what a node has"),
         ({"muster_nodes": []}, "muster_nodes is empty"),
         ({"muster_roles": ["controler"]}, "muster_roles is ['controler']"),
         ({"muster_cluster_name": "Big Cluster"}, 'muster_cluster_name is "Big Cluster"'),
         ({"muster_partitions": [{"name": "main"}]}, "muster_partitions has {'name': 'main'}"),
         ({"muster_slurm_conf": {"KillWait": "5\nSlurmUser=root"}}, "a value is one line"),
         ({"muster_database_storage": "oracle"}, "muster_database_storage is oracle: sqlite or mysql")]


@pytest.mark.parametrize("changed,said", WRONG)
def test_a_wrong_variable_is_said_before_anything_is_written(host, changed, said):
    output, changes, failed = play(host, gathering="explicit", **changed)
    assert failed == 1 and changes == 0
    assert said in output.replace("\\\"", '"'), output
    assert host.run("ls /etc/slurm /usr/sbin/slurmctld").stdout == ""


@pytest.mark.row(127)
def test_the_role_makes_a_cluster_and_a_second_run_changes_nothing(host):
    output, changes, failed = play(host, "--check", "--diff")
    assert failed == 0 and changes > 0, output
    assert host.run("ls /etc/slurm /usr/sbin/slurmctld").stdout == "", "check mode changes nothing"

    output, changes, failed = play(host, "--diff", "-vvv", muster_database_conf={"StoragePass": "a-pass-word"})
    assert failed == 0 and changes > 0, output
    assert host.ok("base64 -w0 /etc/slurm/slurm.key")[:40] not in output and "a-pass-word" not in output
    assert "StoragePass=a-pass-word" in host.ok("cat /etc/slurm/slurmdbd.conf")
    assert host.ok("stat -c '%U %a %s' /etc/slurm/slurm.key") == "slurm 600 1024\n"
    assert host.ok("stat -c '%U %a' /etc/slurm/slurmdbd.conf") == "slurm 600\n"
    assert host.run("ls /usr/sbin/sackd").stdout == "", "no role of this host"
    key = host.ok("sha256sum /etc/slurm/slurm.key")
    for options in ((), ("--check",)):
        output, changes, failed = play(host, *options, muster_database_conf={"StoragePass": "a-pass-word"})
        assert (changes, failed) == (0, 0), output
    assert host.ok("sha256sum /etc/slurm/slurm.key") == key

    host.start("/usr/sbin/slurmctld -D")
    host.start("/usr/sbin/slurmd -D")
    until(lambda: "idle" in host.run("sinfo -h -o %t").stdout)
    assert host.ok("srun -n1 hostname -s") == host.ok("hostname -s")

    # What scontrol reconfigure applies, and what it does not.
    output, changes, failed = play(host, muster_slurm_conf={**SETTINGS, "KillWait": "7"})
    assert failed == 0 and RESTART not in output
    host.ok("scontrol reconfigure")
    assert re.search(r"KillWait\s*= 7 sec", host.ok("scontrol show config"))
    output, changes, failed = play(host, "--check", muster_slurm_conf={**SETTINGS, "KillWait": "7", "MaxJobCount": "99"})
    assert failed == 0 and RESTART in output


def test_a_slurm_conf_with_an_error_does_not_replace_one_that_works(host):
    before = host.ok("cat /etc/slurm/slurm.conf")
    output, _, failed = play(host, muster_slurm_conf={**SETTINGS, "KilWait": "7"})
    assert failed == 1 and "KilWait: is not a key of slurm.conf" in output
    assert host.ok("cat /etc/slurm/slurm.conf") == before
