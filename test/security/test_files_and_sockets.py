"""What a job names (files, folders, sockets, programs) is opened with its user's rights, whoever opens it."""
import os

import pytest

from harness import until
from steps import allocation, credential, launch
from witness import Witness


@pytest.fixture(scope="module", params=["slurm", "munge"])
def auth(request):
    if request.param == "munge" and not os.path.exists("/usr/sbin/munged"):
        pytest.skip("no munged")
    return request.param


@pytest.fixture(params=[0o666, 0o600], ids=["for-all", "for-root"])
def witness(town, request):
    one = Witness(os.path.join(town.folder, "w.sock"), request.param)
    yield one
    one.close()
    assert 0 not in one.seen, "root connected to a socket that an ordinary user named"


@pytest.fixture
def vault(town):
    """A folder that only root may enter, with a file."""
    folder = os.path.join(town.folder, "vault")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "secret"), "w") as f:
        f.write("the secret of root\n")
    os.chmod(f.name, 0o600)
    yield folder
    assert sorted(os.listdir(folder)) == ["secret"]
    with open(f.name) as f:
        assert f.read() == "the secret of root\n"


def ended(town, job):
    """Over, whichever way; its output is another matter."""
    return town.wait_job(job, "COMPLETED|FAILED|CANCELLED|NODE_FAIL")


@pytest.mark.parametrize("option", ["--output", "--error", "--input"])
def test_a_socket_as_a_batch_file(town, witness, option):
    job = town.b.sbatch(option + "=" + witness.path, "--wrap", "echo hello; cat")
    ended(town, job)


@pytest.mark.parametrize("option", ["--output", "--error", "--input"])
def test_a_socket_as_a_steps_file(town, witness, option):
    town.b.run("srun", option + "=" + witness.path, "true", timeout=20)


def test_a_socket_as_the_place_of_srun(town, witness):
    job = allocation(town, town.b)
    step = credential(town.b, job)
    asked = launch(town.b, step, {"io.path": witness.path, "io.key": "k"})
    if witness.for_all and asked:
        until("the step daemon to come", lambda: witness.seen)
    town.b.run("scancel", str(job))
    ended(town, job)


def test_a_socket_as_the_place_of_srun_by_way_of_another_node(town, witness):
    """The slurmd of n1 passes it on with its own identity, which is root's."""
    job = allocation(town, town.b, node="n2")
    asked = launch(town.b, credential(town.b, job), {"io.path": witness.path, "io.key": "k"}, node="n2", relay=True)
    if witness.for_all and asked:
        until("the step daemon to come", lambda: witness.seen)
    elif not witness.for_all:
        assert not asked, asked     # its user cannot reach the socket
    town.b.run("scancel", str(job))
    ended(town, job)


def test_anothers_credential_by_way_of_another_node(town):
    """A node that is asked by a slurmd does not look at who has the credential: the slurmd that passes it on has to."""
    job = allocation(town, town.a, node="n2")
    theirs = credential(town.a, job)
    marks = os.path.join(town.folder, "marks")
    os.makedirs(marks, exist_ok=True)
    os.chmod(marks, 0o777)
    program = ("/bin/touch", os.path.join(marks, "ran"))
    asked = launch(town.b, theirs, {"io.host": "127.0.0.1", "io.port": 9}, program, node="n2", relay=True)
    assert not asked and "the credential is for uid %d" % town.a.uid in asked.error, asked
    read = town.a.send("AskCredential", {"job": job, "purpose": 2})
    assert read, read
    asked = launch(town.b, read, {"io.host": "127.0.0.1", "io.port": 9}, program, node="n2", relay=True)
    assert not asked, asked
    own = allocation(town, town.b, node="n2")
    wrong = town.b.send("AskCredential", {"job": own, "purpose": 2})
    assert wrong, wrong
    asked = launch(town.b, wrong, {"io.host": "127.0.0.1", "io.port": 9}, program, node="n2", relay=True)
    assert not asked and "for something else" in asked.error, asked
    assert os.listdir(marks) == []
    for one in (job, own):
        town.run("scancel", str(one))
        ended(town, one)


@pytest.mark.parametrize("relay", [None, "n1", "n2"], ids=["to-the-node", "to-itself", "to-another"])
def test_a_socket_as_the_place_of_sattach(town, witness, relay):
    node = relay or "n1"
    srun = town.b.popen("srun", "-w", node, "-J", "watched", "sleep", "600")
    try:
        line = until("the step", lambda: town.b.run("squeue", "-h", "-s", "-o", "%i", "-u", town.b.name).out.split())
        job, step = line[0].split(".")
        asked = until("a credential", lambda: town.b.send("AskCredential", {"job": job, "has_step": 1, "step": step, "purpose": 1}))
        until("the step to be on the node", lambda: town.b.send(
            "AttachTasks", {"node": node, "credential": asked.fields["credential"], "io.path": witness.path, "io.key": "k"},
            socket=town.node_agent(), relay=relay))
        if witness.for_all:
            until("the step daemon to come", lambda: witness.seen)
    finally:
        srun.terminate()
        srun.wait(20)


def test_a_file_of_roots_by_way_of_another_slurmd(town):
    """What is sent without an allocation is root's; the node would believe the slurmd that passes it on, which has the cluster key."""
    planted = "/tmp/muster-planted"
    job = town.b.sbatch("-w", "n2", "-o", "/dev/null", "--wrap", "sleep 600")
    town.wait_job(job, "RUNNING")
    own = until("a credential", lambda: town.b.send("AskCredential", {"job": job, "purpose": 2})).fields["credential"]
    fields = {"path": planted, "nodes.0": "n2", "transfer": "t" * 20, "data": "x", "size": 1}
    for more in ({"as_caller": 1}, {"as_caller": 1, "credential": own}, {"credential": "x" * 200}):
        answer = town.b.send("SendFile", {**fields, **more}, relay="n2")
        assert not answer and not os.path.exists(planted), (more, answer)
    town.run("scancel", str(job))
    ended(town, job)


def test_a_folder_only_root_may_enter(town, vault):
    out = os.path.join(town.b.home, "where")
    job = town.b.sbatch("--chdir", vault, "--output", out, "--wrap", "pwd; cat secret")
    ended(town, job)
    text = town.b.read("where")
    assert "/tmp\n" in text and "the secret of root" not in text, text


def test_a_folder_only_root_may_enter_of_a_step(town, vault):
    result = town.b.run("srun", "--chdir", vault, "bash", "-c", "pwd; cat secret")
    assert "the secret of root" not in result.out and vault not in result.out, result


@pytest.mark.parametrize("mode", ["append", "truncate"])
def test_a_link_to_a_file_of_root(town, vault, mode):
    link = os.path.join(town.b.home, "link-" + mode)
    os.symlink(os.path.join(vault, "secret"), link)
    for option in ("--output", "--error"):
        ended(town, town.b.sbatch("--open-mode=" + mode, option, link, "--wrap", "echo mine"))
        town.b.run("srun", "--open-mode=" + mode, option, link, "echo", "mine", timeout=20)
    # vault's end looks at what is in it


def test_a_link_to_a_file_of_root_as_input(town, vault):
    link = os.path.join(town.b.home, "link-in")
    os.symlink(os.path.join(vault, "secret"), link)
    out = os.path.join(town.b.home, "read")
    ended(town, town.b.sbatch("--input", link, "--output", out, "--wrap", "cat"))
    assert "secret" not in (town.b.read("read") if os.path.exists(out) else "")
    assert "secret" not in town.b.run("srun", "--input", link, "cat", timeout=20).out


def test_a_link_to_a_readable_file_of_root_is_not_written(town):
    path = os.path.join(town.folder, "notice")
    with open(path, "w") as f:
        f.write("to all\n")
    os.chmod(path, 0o644)
    link = os.path.join(town.b.home, "link-notice")
    os.symlink(path, link)
    ended(town, town.b.sbatch("--output", link, "--wrap", "echo mine"))
    with open(path) as f:
        assert f.read() == "to all\n"


def test_output_into_a_folder_of_root(town):
    folder = os.path.join(town.folder, "of-root")
    os.makedirs(folder, exist_ok=True)
    for name in ("out", "new/out"):
        ended(town, town.b.sbatch("--output", folder + "/" + name, "--wrap", "echo mine"))
        town.b.run("srun", "--output", folder + "/" + name, "true", timeout=20)
    assert os.listdir(folder) == []


def test_what_only_the_kernel_writes(town):
    """Files of the system that root may write: whoever opens them is the user."""
    before = open("/proc/sys/kernel/core_pattern").read()
    places = ["/proc/sys/kernel/core_pattern", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/tasks", "/sys/fs/cgroup/cgroup.procs",
              "/sys/kernel/uevent_helper", "/proc/sysrq-trigger", "/dev/mem"]
    for path in places:
        for option in ("--output", "--error"):
            ended(town, town.b.sbatch(option, path, "--wrap", "echo '|/bin/false'"))
    assert open("/proc/sys/kernel/core_pattern").read() == before


def test_what_the_step_daemon_has_open(town):
    """/proc/self is the user's program, not the daemon that starts it."""
    out = os.path.join(town.b.home, "self")
    for name in ["environ", "mem", "maps"] + ["fd/%d" % i for i in range(3, 12)]:
        ended(town, town.b.sbatch("--input=/proc/self/" + name, "--output", out, "--wrap", "head -c 1000000"))
        text = town.b.read("self") if os.path.exists(out) else ""
        assert "MUSTER_DAEMONS_OWN" not in text and "the secret" not in text, name
    for i in range(3, 12):
        ended(town, town.b.sbatch("--output=/proc/self/fd/%d" % i, "--wrap", "echo hello"))


def test_a_program_only_root_may_run(town, vault):
    path = os.path.join(town.folder, "roots-program")
    with open(path, "w") as f:
        f.write("#!/bin/sh\nid -u\n")
    os.chmod(path, 0o700)
    result = town.b.run("srun", path, timeout=20)
    assert result.code != 0 and result.out == "", result
    # A task prolog and epilog are the user's own programs.
    result = town.b.run("srun", "--task-prolog=" + path, "--task-epilog=" + path, "true", timeout=20)
    assert "0\n" not in result.out, result


def test_a_script_that_another_replaces_is_still_the_users(town):
    """The folder of the script in the spool is the user's: a link there leads nowhere new."""
    text = "#!/bin/bash\nd=$(dirname $0); rm -f $d/slurm_script; ln -s %s/vault/secret $d/slurm_script; ln -s /etc $d/etc\n" % town.folder
    ended(town, town.b.sbatch(town.b.file("replace.sh", text)))
    assert os.path.exists("/etc/passwd")


def test_sbcast_writes_as_the_user(town, vault):
    own = town.b.file("own", "mine\n")
    job = allocation(town, town.b)
    result = town.b.run("sbcast", "--force", own, os.path.join(vault, "copy"), env={"SLURM_JOB_ID": str(job)}, timeout=20)
    assert result.code != 0, result
    link = os.path.join(town.b.home, "cast")
    os.symlink(os.path.join(vault, "secret"), link)
    town.b.run("sbcast", "--force", own, link, env={"SLURM_JOB_ID": str(job)}, timeout=20)
    # --no-allocation is root's: an ordinary user who says so is refused
    refused = town.b.send("SendFile", {"as_caller": 1, "path": "/etc/muster-was-here", "nodes.0": "n1", "transfer": "t" * 32,
                                       "size": 1, "data": "x"}, socket=town.node_agent())
    assert not refused and not os.path.exists("/etc/muster-was-here"), refused
    town.b.run("scancel", str(job))
    ended(town, job)
