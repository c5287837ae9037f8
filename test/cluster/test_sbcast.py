"""sbcast and srun --bcast: files to the nodes of a job, whole or not at all, as their owner."""
import os
import stat
import subprocess

import pytest

from harness import until

BLOB = bytes(range(256)) * 1200     # 300 KB


def in_job(cluster, *command, nodes=3, args=(), **kw):
    return cluster.run("salloc", "-Q", "-N%d" % nodes, *args, *command, **kw)


def folder(cluster, name):
    path = os.path.join(cluster.work, name)
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o777)
    return path


def blob(cluster):
    path = os.path.join(cluster.work, "blob")
    with open(path, "wb") as f:
        f.write(BLOB)
    os.chmod(path, 0o640)
    os.utime(path, (1000000000, 1100000000))
    return path


def test_a_file_to_all_nodes(cluster):
    source, to = blob(cluster), folder(cluster, "a")
    # All nodes of the test are one host: each puts its copy into the same place, one after the other.
    result = in_job(cluster, "sbcast", "--force", "--size=64k", "--preserve", source, to + "/copy", nodes=4)
    assert result.code == 0, result
    there = os.stat(to + "/copy")       # before reading changes it
    assert open(to + "/copy", "rb").read() == BLOB
    assert os.listdir(to) == ["copy"]
    assert stat.S_IMODE(there.st_mode) == 0o640 and int(there.st_mtime) == 1100000000 and int(there.st_atime) == 1000000000


@pytest.mark.parametrize("fanout", ["1", "2", "off"])
def test_trees_of_any_width(cluster, fanout):
    source, to = blob(cluster), folder(cluster, "tree" + fanout)
    result = in_job(cluster, "sbcast", "-f", "-F", fanout, source, to + "/", nodes=4)
    assert result.code == 0, result
    assert open(to + "/blob", "rb").read() == BLOB and os.listdir(to) == ["blob"]


def test_what_is_there_stays(cluster):
    source, to = blob(cluster), folder(cluster, "b")
    with open(to + "/copy", "w") as f:
        f.write("old")
    result = in_job(cluster, "sbcast", source, to + "/copy", nodes=1)
    assert result.code == 1 and "n1" in result.err and "File exists" in result.err, result
    assert open(to + "/copy").read() == "old" and os.listdir(to) == ["copy"]
    assert in_job(cluster, "sbcast", "--force", source, to + "/copy", nodes=1).code == 0
    assert open(to + "/copy", "rb").read() == BLOB


def test_an_empty_file(cluster):
    to = folder(cluster, "empty")
    assert in_job(cluster, "sbcast", "/dev/null", to + "/x", nodes=1).code == 1      # no plain file
    source = cluster.file("nothing", "")
    result = in_job(cluster, "sbcast", source, to + "/x", nodes=1)
    assert result.code == 0, result
    assert os.path.getsize(to + "/x") == 0


def test_only_some_of_the_nodes(cluster):
    source, to = blob(cluster), folder(cluster, "some")
    assert in_job(cluster, "sbcast", "-w", "n2", source, to + "/x", args=("-w", "n[1-3]")).code == 0
    result = in_job(cluster, "sbcast", "-w", "n4", source, to + "/y", args=("-w", "n[1-3]"))
    assert result.code == 1 and "n4" in result.err, result


def test_a_node_that_is_away_is_named(make_cluster):
    cluster = make_cluster(nodes=2)
    source, to = blob(cluster), folder(cluster, "away")
    job = cluster.sbatch("-N2", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    cluster.slurmds["n2"].terminate()
    cluster.slurmds.pop("n2").wait()
    result = cluster.run("sbcast", "-f", "--jobid=%d" % job, source, to + "/x")
    assert result.code == 1 and "n2" in result.err, result
    assert not [name for name in os.listdir(to) if name.startswith(".")] or until(
        "no half a file", lambda: not [name for name in os.listdir(to) if name.startswith(".")])


def test_without_a_job(cluster):
    source, to = blob(cluster), folder(cluster, "none")
    result = cluster.run("sbcast", source, to + "/x")
    assert result.code == 1 and "Need a job id" in result.err, result
    assert "Need two file names, have 1 names" in cluster.run("sbcast", source).err
    assert cluster.run("sbcast", "--jobid=999999", source, to + "/x").code == 1
    assert "--nodelist" in cluster.run("sbcast", "-Z", source, to + "/x").err
    result = cluster.run("sbcast", "-Z", "-w", "n[1-2]", "-f", source, to + "/x")
    assert result.code == 0 and open(to + "/x", "rb").read() == BLOB, result


def test_root_follows_no_links(cluster):
    if cluster.user != "root":
        pytest.skip("as root")
    source, to = blob(cluster), folder(cluster, "real")
    link = os.path.join(cluster.work, "link")
    if not os.path.islink(link):
        os.symlink(to, link)
    result = in_job(cluster, "sbcast", source, link + "/x", nodes=1)
    assert result.code == 1 and "symbolic link" in result.err and not os.listdir(to), result


def test_files_are_the_users(cluster):
    if cluster.user != "root":
        pytest.skip("needs two users")
    to = folder(cluster, "user")
    blob(cluster)
    os.chmod(os.path.join(cluster.work, "blob"), 0o644)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    env = {"USER": "nobody", "HOME": "/"}
    result = cluster.run(*nobody, "salloc", "-Q", "-N3", "sbcast", "-f", "blob", to + "/x", env=env)
    assert result.code == 0, result
    assert os.stat(to + "/x").st_uid == 65534
    closed = os.path.join(cluster.work, "closed")
    os.makedirs(closed, exist_ok=True)
    os.chmod(closed, 0o755)
    result = cluster.run(*nobody, "salloc", "-Q", "-N1", "sbcast", "-f", "blob", closed + "/x", env=env)
    assert result.code == 1 and "Permission denied" in result.err and not os.listdir(closed), result
    job = cluster.sbatch("--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    result = cluster.run(*nobody, "sbcast", "--jobid=%d" % job, "blob", to + "/y", env=env)
    assert result.code == 1 and "denied" in result.err, result


def test_srun_bcast(cluster):
    cluster.file("prog.sh", "#!/bin/bash\necho $0 $SLURM_PROCID\n")
    os.chmod(os.path.join(cluster.work, "prog.sh"), 0o755)
    to = folder(cluster, "prog")
    out = cluster.ok("srun", "-N2", "-n2", "--bcast=%s/there" % to, "./prog.sh").lines
    assert sorted(out) == ["%s/there %d" % (to, i) for i in range(2)]
    out = cluster.ok("srun", "-n1", "--bcast=%s/" % to, "./prog.sh").out
    assert out.startswith(to + "/slurm_bcast_"), out
    result = cluster.run("srun", "-n1", "--bcast=/no/such/folder/x", "./prog.sh")
    assert result.code != 0 and "Failed to broadcast" in result.err, result


def test_libraries_go_along(cluster):
    to = folder(cluster, "libs")
    result = in_job(cluster, "sbcast", "--send-libs", "--exclude=NONE", "/bin/bash", to + "/sh", nodes=1)
    assert result.code == 0, result
    assert any(name.startswith("libc.so") for name in os.listdir(to + "/sh_libs"))
    out = cluster.ok("srun", "-n1", "--send-libs", "--bcast-exclude=NONE", "--bcast=%s/sh2" % to, "/bin/bash", "-c", "echo $LD_LIBRARY_PATH").out
    assert out.startswith(to + "/sh2_libs"), out


def test_the_bytes_end_early_and_nothing_is_left(cluster):
    to = folder(cluster, "early")
    program = os.path.join(cluster.prefix, "sbin", "slurmstepd")
    result = subprocess.run([program, "receive", to + "/x", "100", "644", "0123456789abcdef", "-", "-1", "-1"], input=b"half",
                            capture_output=True)
    assert result.returncode == 1 and b"before it was whole" in result.stderr
    assert os.listdir(to) == []
