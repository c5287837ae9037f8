"""NamespaceType=namespace/tmpfs: the /tmp of a job is nobody else's, and whatever a user leaves in it, root follows nothing of it and removes
nothing beside it."""
import os
import pwd
import shutil
import subprocess
import tempfile

import pytest

import test_pam_adopt as logins
import town as towns
from conftest import new_folder
from harness import until

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="not root"),
              pytest.mark.skipif(subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0,
                                 reason="root may not mount here")]


class Site(towns.Town):
    def __init__(self, folder):
        self.place = tempfile.mkdtemp(prefix="ms-", dir="/run")
        os.chmod(self.place, 0o755)
        self.scratch, self.base = self.place + "/scratch", self.place + "/base"
        os.mkdir(self.scratch)
        os.chmod(self.scratch, 0o1777)
        super().__init__(folder, nodes=1, conf="NamespaceType=namespace/tmpfs\nPrologFlags=Contain")
        name_private(folder, self.place)

    def kept(self, job):
        return "%s/%d/%s" % (self.base, job, self.scratch.replace("/", "_"))

    def stop(self):
        super().stop()
        for name in os.listdir(self.base) if os.path.isdir(self.base) else []:
            for end in ("", ".pid", ".user"):
                subprocess.run(["umount", "-l", "%s/%s/.ns%s" % (self.base, name, end)], capture_output=True)
        subprocess.run(["umount", "-l", self.base], capture_output=True)
        shutil.rmtree(self.place, ignore_errors=True)


@pytest.fixture(scope="module")
def site():
    folder = new_folder()
    one = Site(folder)
    try:
        yield one.start()
    finally:
        one.stop()
        shutil.rmtree(folder, ignore_errors=True)


def name_private(folder, place):
    with open(os.path.join(folder, "etc", "job_container.conf"), "w") as f:
        f.write("AutoBasePath=true BasePath=%s/base Dirs=%s/scratch,/dev/shm\n" % (place, place))


def emptied(site):
    until("nothing to be left", lambda: os.listdir(site.base) == [], 60)


def test_two_users_do_not_meet(site):
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "echo secret > %s/mine; echo secret > /dev/shm/mine; sleep 600" % site.scratch)
    until("the file", lambda: os.path.exists(site.kept(job) + "/mine"))
    pid = next(int(line.split()[0]) for line in site.run("scontrol", "listpids", "%d.batch" % job).lines[1:])
    tries = ["ls -A %s /dev/shm" % site.scratch, "cat %s/mine" % site.kept(job), "ls %s/%d" % (site.base, job),
             "cat %s/%d/.ns" % (site.base, job), "nsenter --mount=%s/%d/.ns true" % (site.base, job),
             "nsenter --mount=/proc/%d/ns/mnt true" % pid, "cat /proc/%d/root%s/mine" % (pid, site.scratch),
             "cat /proc/%d/cwd/../mine" % pid]
    for attempt in tries:
        result = site.b.run("srun", "-n1", "bash", "-c", attempt)
        assert "secret" not in result.out and "mine" not in result.out, attempt
        assert attempt.startswith("ls -A") or result.code != 0, attempt
    # Another job of the same user has its own, too.
    again = site.a.run("srun", "-n1", "bash", "-c", "ls -A " + site.scratch)
    assert again.code == 0 and again.out.strip() == "", again
    site.a.ok("scancel", str(job))
    emptied(site)


HOSTILE = """#!/bin/bash
cd %(scratch)s || exit 1
ln -s %(victim)s dir; ln -s %(victim)s/file file; ln -s / root; ln -s .. up
ln %(victim)s/open other-name
mkfifo fifo; mkdir -p closed/in; chmod 0 closed
python3 - <<'END'
import os, socket
socket.socket(socket.AF_UNIX).bind("socket")
for i in range(3000):
    open("many-%%d" %% i, "w").close()
for i in range(1500):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("at the end", "w").close()
END
mkdir $'line\\nfeed' -- -rf '*' "$(printf '\\377\\376')"
(unshare -rm sh -c "mkdir m; mount -t tmpfs none m; touch m/x; sleep 600") &
(cd %(scratch)s; exec setsid sh -c "trap '' TERM; while :; do mkdir swap; rmdir swap; ln -s %(victim)s swap; rm swap; done" 2>/dev/null) &
touch %(home)s/ready
wait
"""


def test_what_a_user_leaves_is_removed_and_nothing_else(site):
    victim = os.path.join(site.place, "victim")
    os.mkdir(victim)
    os.chmod(victim, 0o1777)
    for name, mode in (("file", 0o600), ("open", 0o666)):
        with open(os.path.join(victim, name), "w") as f:
            f.write("precious")
        os.chmod(f.name, mode)
    home = os.path.dirname(site.b.file("script", ""))
    script = site.b.file("script", HOSTILE % {"scratch": site.scratch, "victim": victim, "home": home}, 0o755)
    job = site.b.sbatch("-o", "/dev/null", script)
    until("it to be ready", lambda: os.path.exists(home + "/ready"), 60)
    site.b.ok("scancel", str(job))
    emptied(site)
    assert sorted(os.listdir(victim)) == ["file", "open"]
    for name in os.listdir(victim):
        with open(os.path.join(victim, name)) as f:
            assert f.read() == "precious"
    assert os.stat(victim).st_mode & 0o7777 == 0o1777 and os.stat(victim + "/open").st_nlink == 1
    assert os.listdir(site.scratch) == []
    site.wait_nodes("idle")


def test_root_writes_nothing_where_a_users_link_points(site):
    """sbcast and the files of a step, with links in the job's own directory."""
    guarded = os.path.join(site.place, "guarded")
    os.mkdir(guarded, 0o700)
    script = site.b.file("links", "#!/bin/bash\nln -s %s %s/way; sbcast -f $0 %s/way/file; srun -o %s/way/out true; ls -A %s/\n" %
                         (guarded, site.scratch, site.scratch, site.scratch, site.scratch), 0o755)
    job = site.b.sbatch("-o", "links.out", script)
    site.wait_job(job, "COMPLETED|FAILED")
    assert os.listdir(guarded) == []
    emptied(site)


def test_the_node_s_own_sees_nothing_mounted(site):
    before = open("/proc/self/mountinfo").read().count(site.scratch)
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "sleep 600")
    until("its directory", lambda: os.path.exists(site.kept(job)))
    assert open("/proc/self/mountinfo").read().count(site.scratch) == before
    site.a.ok("scancel", str(job))
    emptied(site)
    assert not any(site.base in line and "/.ns" in line for line in open("/proc/self/mountinfo"))


@pytest.mark.skipif(any(mark.args[0] for mark in logins.pytestmark), reason="no module, or no control groups")
@pytest.mark.parametrize("kind", ["tmpfs", "linux"])
def test_a_login_sees_what_its_job_sees(kind):
    place = tempfile.mkdtemp(prefix="ms-", dir="/run")
    os.chmod(place, 0o755)
    os.mkdir(place + "/scratch")
    os.chmod(place + "/scratch", 0o1777)
    site = logins.Site(new_folder())
    site.conf_lines.append("NamespaceType=namespace/" + kind)
    site.write_lines()
    name_private(site.folder, place)
    with open(os.path.join(site.folder, "etc", "namespace.yaml"), "w") as f:
        f.write("defaults: {auto_base_path: true, base_path: %s/base, dirs: [%s/scratch, /dev/shm], "
                "clone_ns_flags: [CLONE_NEWPID, CLONE_NEWUSER]}\n" % (place, place))
    try:
        site.start()
        job = site.a.sbatch("-o", "/dev/null", "--mem=10", "--wrap", "touch %s/scratch/of-the-job; sleep 600" % place)
        until("its file", lambda: os.listdir("%s/base/%d/%s" % (place, job, (place + "/scratch").replace("/", "_"))))
        until("its external step", lambda: "extern" in site.run("scontrol", "listpids", "%d.extern" % job).out)

        def seen(options, *program):
            out, _ = site.login(site.a.name, site.service(options), *program or ("/bin/ls", place + "/scratch")).communicate(timeout=60)
            return out
        assert seen(logins.STRICT) == "code: 0\nof-the-job\n"
        assert seen(logins.STRICT + " join_container=false") == "code: 0\n"
        if kind == "linux":  # what the login starts is in there, and its user is himself
            said = seen(logins.STRICT, "/bin/sh", "-c", "ps -p 1 -o args=; id -u; readlink /proc/self/ns/user; true").splitlines()
            assert said[:2] == ["code: 0", "slurmstepd: [%d.namespace]" % job] and said[2] == str(pwd.getpwnam(site.a.name).pw_uid), said
            assert said[3] != os.readlink("/proc/self/ns/user")
        site.nothing_runs()
        until("nothing to be left", lambda: os.listdir(place + "/base") == [])
    finally:
        for path in site.services:
            os.unlink(path)
        site.stop()
        for name in os.listdir(place + "/base"):
            for end in ("", ".pid", ".user"):
                subprocess.run(["umount", "-l", "%s/base/%s/.ns%s" % (place, name, end)], capture_output=True)
        subprocess.run(["umount", "-l", place + "/base"], capture_output=True)
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(site.folder, ignore_errors=True)
