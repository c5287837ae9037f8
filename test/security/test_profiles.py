"""Profiles are recorded in folders of users on a shared file system: root writes nothing where a user wants it, and a step fills no disk."""
import os

import pytest

import harness
import town as towns
from conftest import new_folder
from harness import until

CONF = ("AcctGatherProfileType=acct_gather_profile/hdf5\nJobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1")


@pytest.fixture(scope="module")
def site():
    folder = new_folder()
    town = towns.Town(folder, nodes=1, conf=CONF)
    town.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
    town.write_lines()
    town.profiles = os.path.join(folder, "profiles")
    with open(os.path.join(folder, "etc", "acct_gather.conf"), "w") as f:
        f.write("ProfileHDF5Dir=%s\n" % town.profiles)
    try:
        town.start()
        yield town
    finally:
        town.stop()
        harness.remove(folder)


def folder_of(site, user):
    return os.path.join(site.profiles, user.name)


def recorded(user):
    """A step of the user's that is recorded; what its standard error says."""
    return user.ok("srun", "--profile=task", "sleep", "0.3").err


def test_each_users_folder_is_his_alone(site):
    assert recorded(site.b) == ""
    mine = os.stat(folder_of(site, site.b))
    assert (mine.st_uid, mine.st_mode & 0o7777) == (site.b.uid, 0o700)
    above = os.stat(site.profiles)
    assert above.st_uid == 0 and above.st_mode & 0o022 == 0
    files = os.listdir(folder_of(site, site.b))
    assert files and all(os.stat(os.path.join(folder_of(site, site.b), f)).st_uid == site.b.uid for f in files)
    assert site.a.run("ls", folder_of(site, site.b)).code != 0
    assert "Permission denied" in site.a.run("sh5util", "-j", "1", "--user=" + site.b.name).err


def test_a_link_in_the_users_folder_reaches_only_what_is_the_users(site):
    recorded(site.b)
    secret = os.path.join(site.folder, "secret")
    with open(secret, "w") as f:
        f.write("kept")
    os.chmod(secret, 0o600)
    held = site.b.sbatch("--hold", "--profile=task", "-o", "/dev/null", "--wrap", "sleep 2")
    planted = "%s/%d_batch_n1.samples" % (folder_of(site, site.b), held)
    site.b.ok("ln", "-s", secret, planted)
    site.b.ok("scontrol", "release", str(held))
    until("it to be over", lambda: site.run("squeue", "-h", "-j", str(held)).out == "")
    with open(secret) as f:
        assert f.read() == "kept"
    # Root merges: neither the link nor a FIFO is followed, and what is kept is said.
    site.b.ok("mkfifo", "%s/%d_0_n1.samples" % (folder_of(site, site.b), held))
    done = site.run("sh5util", "-j", str(held), "--user=" + site.b.name, "-o", os.path.join(site.folder, "out.h5"))
    assert done.code == 1 and done.err.count("it is kept") == 2, done
    assert os.path.islink(planted)


def test_root_merges_into_no_link(site):
    recorded(site.b)
    job = os.listdir(folder_of(site, site.b))[0].split("_")[0]
    victim = os.path.join(site.folder, "victim")
    with open(victim, "w") as f:
        f.write("kept")
    site.b.ok("ln", "-sf", victim, os.path.join(site.b.home, "job.h5"))
    site.run("sh5util", "-S", "-j", job, "--user=" + site.b.name, "-o", os.path.join(site.b.home, "job.h5"))
    with open(victim) as f:
        assert f.read() == "kept"


def test_a_job_file_shows_no_other_file(site):
    """Root reads a job file that a user has made: neither values in another file nor a link to one are followed."""
    h5py = pytest.importorskip("h5py")
    secret = os.path.join(site.folder, "shadow")
    with open(secret, "w") as f:
        f.write("0123456789abcdef" * 4)
    os.chmod(secret, 0o600)
    columns = [("ElapsedTime", "<u8"), ("RSS", "<u8")]
    raw, link, other = (os.path.join(site.folder, name) for name in ("raw.h5", "link.h5", "other.h5"))
    with h5py.File(raw, "w") as f:
        f.create_group("Steps/0/Nodes/n1/Tasks").create_dataset("0", (2,), dtype=columns, external=[(secret, 0, 32)])
    with h5py.File(other, "w") as f:
        f.create_group("Steps/0/Nodes/n1/Tasks").create_dataset("0", (2,), dtype=columns)
    with h5py.File(link, "w") as f:
        f.create_group("Steps/0/Nodes/n1")["Tasks"] = h5py.ExternalLink(other, "/Steps/0/Nodes/n1/Tasks")
    read = lambda path: site.run("sh5util", "-j", "1", "-E", "-i", path, "-s", "Task", "-l", "Node:TimeSeries", "-o", path + ".csv")
    assert read(other).code == 0 and os.path.exists(other + ".csv")
    for path in (raw, link):
        done = read(path)
        assert done.code != 0 and not os.path.exists(path + ".csv"), done
    assert "another file" in read(raw).err


@pytest.mark.parametrize("mode", [0o1777, 0o775])
def test_a_folder_that_others_write_to_is_not_used(site, mode):
    """There a user could have put anything under another's name."""
    recorded(site.a)
    os.chmod(site.profiles, mode)
    planted = os.path.join(site.folder, "planted")
    os.makedirs(planted, exist_ok=True)
    os.rename(folder_of(site, site.b), folder_of(site, site.b) + ".kept")
    try:
        os.symlink(planted, folder_of(site, site.b))
        assert "no more is recorded" in recorded(site.b)
        os.chmod(site.profiles, 0o755)
        assert "no more is recorded" in recorded(site.b)      # the link is not followed either
        assert os.stat(planted).st_uid == 0 and os.listdir(planted) == []
    finally:
        os.chmod(site.profiles, 0o755)
        os.unlink(folder_of(site, site.b))
        os.rename(folder_of(site, site.b) + ".kept", folder_of(site, site.b))


def test_processes_that_come_and_go_make_no_samples(site):
    out = site.b.ok("srun", "-n4", "--profile=task", "sh", "-c",
                      "for i in $(seq 300); do /bin/true; done; echo over").out
    assert out.count("over") == 4
    sizes = [os.path.getsize(os.path.join(folder_of(site, site.b), f)) for f in os.listdir(folder_of(site, site.b))]
    assert max(sizes) < 4096
