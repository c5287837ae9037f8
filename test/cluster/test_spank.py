"""SPANK plugins (spank(8)): test/cluster/spank/*.c, compiled here against include/slurm/spank.h and loaded by real programs."""
import os
import re
import shutil
import subprocess

import pytest

import conftest
import harness
from harness import REPO, until

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 0xfffffffb


def include_folder():
    """MUSTER_SPANK_INCLUDE (Slurm's headers, for one), else of an installation, else of the sources."""
    installed = os.path.join(harness.prefix(), "include")
    ours = installed if os.path.exists(os.path.join(installed, "slurm", "spank.h")) else os.path.join(REPO, "include")
    return os.environ.get("MUSTER_SPANK_INCLUDE", ours)


def compile_plugin(source, target, *flags):
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, source, "-o", target], check=True)


@pytest.fixture(scope="session")
def plugins():
    folder = conftest.new_folder()
    for name in ("recorder", "container", "shared"):
        compile_plugin(os.path.join(HERE, "spank", name + ".c"), os.path.join(folder, name + ".so"), "-isystem", include_folder())
    yield folder
    shutil.rmtree(folder)


class Site:
    """A cluster with a plugstack.conf, and what the recorder wrote."""

    def __init__(self, cluster, plugins):
        self.cluster, self.plugins = cluster, plugins
        self.log = os.path.join(cluster.folder, "recorded")
        self.conf = os.path.join(cluster.folder, "etc", "plugstack.conf")
        cluster.conf_lines.append("PluginDir=" + plugins)
        cluster.write_lines()

    def stack(self, text):
        with open(self.conf, "w") as f:
            f.write(text)
        return self

    def record(self, *arguments, kind="required"):
        self.forget()
        return self.stack("%s recorder.so log=%s %s\n" % (kind, self.log, " ".join(arguments)))

    def forget(self):
        with open(self.log, "w"):
            pass
        os.chmod(self.log, 0o666)

    def lines(self):
        """[(where, {item: text})] in the order written."""
        out = []
        with open(self.log) as f:
            for line in f:
                where, rest = line.split(" ", 1)
                out.append((where, dict(re.findall(r"(\w+)=(\[[^\]]*\]|in slurmstepd|\S*)", rest))))
        return out

    def wheres(self, context):
        return [where.split(":")[1] for where, _ in self.lines() if where.startswith(context + ":")]

    def of(self, where):
        return [items for name, items in self.lines() if name == where]


@pytest.fixture(scope="module")
def shared_site(plugins):
    folder = conftest.new_folder()
    cluster = harness.Cluster(folder, nodes=2, gpus=0)
    site = Site(cluster, plugins).record()
    try:
        cluster.start()
        yield site
    finally:
        cluster.stop()
        harness.remove(folder)


@pytest.fixture
def site(shared_site):
    shared_site.cluster.must_run()
    shared_site.record()
    yield shared_site
    shared_site.record()
    shared_site.cluster.cancel_all()
    for node, state in shared_site.cluster.node_states().items():
        if state.startswith("drain"):
            shared_site.cluster.ok("scontrol", "update", "node", node, "state=resume")
    shared_site.cluster.wait_nodes("idle")


# ---- who is called, where, as whom, and what it may know
def test_callbacks_of_a_step(site):
    said = site.cluster.ok("srun", "-N1", "-n2", "-J", "steps", "sh", "-c", "exit 0")
    assert said.err.count("recorder: a task begins\n") == 2 and "not for everybody" not in said.err, said
    assert site.wheres("local") == ["init", "init_post_opt", "local_user_init", "exit"]
    remote = site.wheres("remote")
    assert remote[:3] == ["init", "init_post_opt", "user_init"] and remote[-1] == "exit", remote
    assert sorted(remote[3:-1]) == sorted(2 * ["task_init_privileged", "task_post_fork", "task_init", "task_exit"]), remote
    assert max(i for i, c in enumerate(remote) if c == "task_post_fork") < remote.index("task_init"), remote
    until("the epilog", lambda: site.wheres("job_script") == ["job_prolog", "job_epilog"])


def test_items_in_slurmstepd(site):
    said = site.cluster.run("srun", "-N2", "-n3", "-c2", "--mem=100", "sh", "-c", "exit 3", "last")
    assert said.code == 3, said
    init = {items["S_JOB_NODEID"]: items for items in site.of("remote:init")}
    assert sorted(init) == ["0", "1"]
    for node, items in init.items():
        tasks = {"0": "2", "1": "1"}[node]
        cpus = {"0": "4", "1": "2"}[node]
        assert (items["S_JOB_NNODES"], items["S_JOB_TOTAL_TASK_COUNT"], items["S_JOB_LOCAL_TASK_COUNT"]) == ("2", "3", tasks)
        assert (items["S_JOB_UID"], items["S_JOB_GID"], items["S_JOB_STEPID"]) == (str(os.getuid()), str(os.getgid()), "0")
        assert (items["S_JOB_NCPUS"], items["S_STEP_CPUS_PER_TASK"]) == (cpus, "2"), items
        assert items["S_JOB_ALLOC_MEM"] == items["S_STEP_ALLOC_MEM"] == "100", items
        assert items["S_JOB_ALLOC_CORES"] == items["S_STEP_ALLOC_CORES"] != "", items
        assert items["S_SLURM_VERSION"].startswith("26.05.") and items["S_SLURM_VERSION_MAJOR"] == "26"
        assert (items["S_SLURM_RESTART_COUNT"], items["S_JOB_ARRAY_ID"], items["S_JOB_ARRAY_TASK_ID"]) == ("0", "0", "4294967294")
        assert items["S_JOB_ARGV"] == "4:last" and items["S_JOB_SUPPLEMENTARY_GIDS"].isdigit()
        assert items["S_TASK_ID"] == items["S_TASK_PID"] == "!3002" and items["remote"] == "1", items     # ESPANK_NOT_TASK
    for name in ("task_init_privileged", "task_init", "task_post_fork", "task_exit"):
        tasks = site.of("remote:" + name)
        assert sorted(t["S_TASK_GLOBAL_ID"] for t in tasks) == ["0", "1", "2"], name
        assert sorted(t["S_TASK_ID"] for t in tasks) == ["0", "0", "1"], name
        assert all(int(t["S_TASK_PID"]) > 1 for t in tasks), name
        status = {t["S_TASK_EXIT_STATUS"] for t in tasks}
        assert status == ({str(3 << 8)} if name == "task_exit" else {"!3009"}), name          # ESPANK_NOT_AVAIL
    pids = {name: sorted(t["S_TASK_PID"] for t in site.of("remote:" + name)) for name in ("task_init", "task_exit")}
    assert pids["task_init"] == pids["task_exit"]


def test_items_in_srun_and_in_prologs(site):
    job = int(site.cluster.ok("srun", "-N2", "printenv", "SLURM_JOB_ID").lines[0])
    init, launch = site.of("local:init")[0], site.of("local:local_user_init")[0]
    assert (init["S_JOB_ID"], init["S_JOB_NODEID"], init["S_TASK_ID"], init["remote"]) == ("!3009", "!3006", "!3006", "0"), init
    assert (launch["S_JOB_ID"], launch["S_JOB_STEPID"], launch["S_JOB_NNODES"]) == (str(job), "0", "2"), launch
    assert launch["S_JOB_ARGV"] == "2:SLURM_JOB_ID" and launch["S_JOB_UID"] == str(os.getuid())
    until("prologs and epilogs of both nodes", lambda: len(site.wheres("job_script")) == 4)
    for where in ("job_script:job_prolog", "job_script:job_epilog"):
        for items in site.of(where):
            assert (items["S_JOB_ID"], items["S_JOB_UID"], items["remote"]) == (str(job), str(os.getuid()), "0"), items
            assert items["S_JOB_STEPID"] == "!3009", items


def test_the_batch_script_is_a_step(site):
    job = site.cluster.sbatch("-n2", "-o", "out", "-e", "err", "--array=7", "--wrap", "echo $RECORDED; echo ${TO_BE_UNSET-gone}; echo $OF_THE_TASK",
                              env={"TO_BE_UNSET": "1"})
    site.cluster.wait_job(str(job) + "_7")
    assert site.cluster.read("out") == "in slurmstepd\ngone\nRECORDED of rank 0\n"
    assert site.wheres("allocator") == ["init", "init_post_opt", "exit"]
    items = site.of("remote:init")[0]
    assert (items["S_JOB_STEPID"], items["S_JOB_TOTAL_TASK_COUNT"]) == (str(BATCH), "1"), items
    assert (items["S_JOB_ARRAY_ID"], items["S_JOB_ARRAY_TASK_ID"]) == (str(job), "7"), items


def test_salloc_is_an_allocator(site):
    said = site.cluster.ok("salloc", "-n1", "--record=held", "srun", "printenv", "RECORDED")
    assert said.out == "in slurmstepd\n", said
    assert site.wheres("allocator") == ["init", "init_post_opt", "exit"]
    assert [i["getopt"] for i in site.of("local:local_user_init")] == ["held"]
    assert site.of("remote:task_init")[0]["getopt"] == "held"


def test_rights_on_the_node(site):
    if os.geteuid() != 0:
        pytest.skip("only root runs jobs of others")
    os.chmod(site.cluster.work, 0o777)
    job = site.cluster.sbatch("--uid=65534", "-o", "of_nobody", "-e", "err_of_nobody", "--wrap", "id -u")
    site.cluster.wait_job(job)
    assert site.cluster.read("of_nobody") == "65534\n"
    euid = {where.split(":")[1]: items["euid"] for where, items in site.lines() if where.startswith("remote:")}
    assert euid == {"init": "0", "init_post_opt": "0", "user_init": "65534", "task_init_privileged": "0", "task_init": "65534",
                    "task_post_fork": "0", "task_exit": "0", "exit": "0"}
    assert site.of("remote:user_init")[0]["S_JOB_UID"] == "65534"
    assert {i["euid"] for where, i in site.lines() if where.startswith("job_script")} == {"0"}


def test_slurmd_itself(make_cluster, plugins):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    site = Site(cluster, plugins).record()
    cluster.start()
    assert [where for where, _ in site.lines()] == ["slurmd:init"]
    assert site.of("slurmd:init")[0]["S_JOB_ID"] == "!3009"
    harness.end_process(cluster.slurmds.pop("n1"))
    assert site.wheres("slurmd") == ["init", "slurmd_exit"]
    for conf, wrong in (("fail=slurmd:init", "spank: required plugin recorder.so: init() failed with rc=-1"), (None, "plugstack.conf:1: 'x' is none of")):
        site.record(conf) if conf else site.stack("x")
        said = cluster.run(cluster.prefix + "/sbin/slurmd", "-D", "-N", "n1", "-f", cluster.conf_path)
        assert said.code == 1 and wrong in said.err, said


@pytest.mark.better_than_slurm
def test_a_plugin_of_another_release_loads(site):
    """Built without our header, for Slurm 22.05: users of Pyxis rebuilt it for each release."""
    source = site.cluster.file("old.c", """
const char plugin_name[] = "old", plugin_type[] = "spank";
const unsigned int plugin_version = 0x160508, spank_plugin_version = 1;
extern void slurm_spank_log(const char *, ...);
extern int spank_get_item(void *, int, ...);
int slurm_spank_task_init(void *spank, int ac, char **av) {
  unsigned rank = 99;
  (void)av;
  if (spank_get_item(spank, 12, &rank)) return -1;
  slurm_spank_log("old: rank %u, %d arguments", rank, ac);
  return 0;
}
""")
    compile_plugin(source, site.cluster.work + "/old.so")
    site.stack("required %s/old.so a b\n" % site.cluster.work)
    said = site.cluster.ok("srun", "-n2", "echo", "ran")
    assert said.out == "ran\nran\n" and sorted(said.err.splitlines()) == ["old: rank %d, 2 arguments" % i for i in (0, 1)], said


def test_words_before_the_program_of_a_task(site):
    source = site.cluster.file("before.c", """
#include <slurm/spank.h>
SPANK_PLUGIN(before, 1)
int slurm_spank_task_init_privileged(spank_t spank, int ac, char **av) { return (int)spank_prepend_task_argv(spank, ac, (const char **)av); }
int slurm_spank_task_init(spank_t spank, int ac, char **av) {
  const char *words[] = {"env", "--", "FIRST=yes"};
  uint32_t rank = 0;
  (void)ac;
  (void)av;
  if (spank_get_item(spank, S_TASK_GLOBAL_ID, &rank)) return -1;
  return rank == 0 ? (int)spank_prepend_task_argv(spank, 3, words) : 0;
}
""")
    compile_plugin(source, site.cluster.work + "/before.so", "-isystem", os.path.join(REPO, "include"))
    site.stack("required %s/before.so env SECOND=too\n" % site.cluster.work)
    said = site.cluster.ok("srun", "-l", "-n2", "sh", "-c", 'echo "$0 $1 $FIRST $SECOND"', "a", "b c")
    assert sorted(said.out.splitlines()) == ["0: a b c yes too", "1: a b c  too"], said
    job = site.cluster.sbatch("-o", "words", "--wrap", 'echo "$FIRST $SECOND"')
    site.cluster.wait_job(job, "COMPLETED")
    assert site.cluster.read("words") == "yes too\n"
    site.stack("required %s/before.so no-such-program\n" % site.cluster.work)
    said = site.cluster.run("srun", "-n2", "true")
    assert said.code != 0 and "no-such-program" in said.err, said


def test_objects_that_are_no_plugins(site):
    source = site.cluster.file("none.c", "int nothing;\n")
    compile_plugin(source, site.cluster.work + "/none.so")
    with open(site.cluster.work + "/text.so", "w") as f:
        f.write("no object\n")
    for name, why in (("none.so", "is not a SPANK plugin"), ("text.so", "invalid ELF header|file too short")):
        site.stack("required %s/%s\n" % (site.cluster.work, name))
        said = site.cluster.run("srun", "true")
        assert said.code == 1 and re.search(r"plugstack\.conf:1: plugin \S*%s: .*(%s)" % (name, why), said.err), said
        site.stack("optional %s/%s\n" % (site.cluster.work, name))
        assert site.cluster.ok("srun", "echo", "ran").out == "ran\n"


def test_memory_and_processes_between_callbacks(site):
    """As Pyxis does it: the first task of a node starts the container, all join it."""
    site.stack("required shared.so\n")
    said = site.cluster.ok("srun", "-N2", "--ntasks-per-node=3", "true")
    assert said.err.splitlines() == 2 * ["shared: 3 tasks ready, 3 ended, 1 helper"], said


# ---- options
@pytest.mark.row(113)
def test_options_are_in_the_help(site):
    for command in ("srun", "sbatch", "salloc"):
        text = site.cluster.ok(command, "--help").out
        assert re.search(r"--record=TEXT\s+\[recorder\] a text to write down\n", text), text[-600:]
        assert "--record-flag" in text and "--record-maybe[=TEXT]" in text
    site.stack("")
    assert "--record" not in site.cluster.ok("srun", "--help").out


@pytest.mark.row(113)
@pytest.mark.parametrize("typed, given, asked", [
    (["--record=a b"], "1:a b:%d", "a b"), (["--record", "x"], "1:x:%d", "x"), (["--record-f"], "2:(null):%d", "!3000"),
    (["--record-maybe=m", "--record=1", "--record=2"], "3:m:%d 1:1:%d 1:2:%d", "2"), (["--record-maybe"], "3:(null):%d", "!3000")])
def test_options_reach_both_sides(site, typed, given, asked):
    site.cluster.ok("srun", *typed, "true")
    assert site.of("local:init")[0]["given"] == "[]"
    assert site.of("local:init_post_opt")[0]["given"] == "[ %s]" % (given % ((0,) * given.count("%d")))
    assert site.of("remote:init_post_opt")[0]["given"] == "[ %s]" % (given % ((1,) * given.count("%d")))
    with open(site.log) as f:
        assert [line for line in f if line.startswith("remote:task_init ") and " getopt=%s " % asked in line]


@pytest.mark.row(113)
def test_options_of_a_script_reach_its_steps(site):
    out, _ = site.cluster.run_script("#!/bin/bash\n#SBATCH --record=directive\n#SBATCH -n1 -e err\nprintenv _SLURM_SPANK_OPTION_recorder_record\nsrun true\n"
                                     "srun --record=own true\n")
    assert out == "directive\n", out
    steps = {(i["S_JOB_STEPID"], i["getopt"], i["given"]) for i in site.of("remote:task_init")}
    assert steps == {(str(BATCH), "directive", "[ 1:directive:1]"), ("0", "directive", "[ 1:directive:1]"),
                     ("1", "own", "[ 1:directive:1 1:own:1]")}
    until("the epilog", lambda: "job_epilog" in site.wheres("job_script"))
    assert {i["getopt"] for w, i in site.lines() if w.startswith("job_script")} == {"directive"}


@pytest.mark.better_than_slurm
def test_lint_knows_them(site):
    good = site.cluster.file("good.sh", "#!/bin/bash\n#SBATCH --record=x\nsrun true\n")
    said = site.cluster.ok("muster", "lint", "--offline", good)
    assert said.lines[-1].endswith("no findings") and site.wheres("allocator") == ["init", "exit"], said
    site.stack("")
    said = site.cluster.run("muster", "lint", "--offline", good)
    assert said.code == 1 and "unrecognized option '--record=x'" in said.out, said


def test_values_that_a_plugin_refuses(site):
    for command, rest in (("srun", ["true"]), ("sbatch", ["--wrap", "true"]), ("salloc", ["true"])):
        said = site.cluster.run(command, "--record=bad", *rest)
        assert said.code == 255 and said.out == "", said
        assert said.err == "%s: error: recorder: bad is no value\n%s: error: Invalid --record argument: bad\n" % (command, command), said
    assert site.cluster.queue() == []


def test_unknown_and_ambiguous_options(site):
    said = site.cluster.run("srun", "--recorder=x", "true")
    assert said.code == 255 and "unrecognized option '--recorder=x'" in said.err, said
    said = site.cluster.run("srun", "--record-", "true")
    assert said.code == 255 and "option '--record-' is ambiguous; possibilities: '--record-flag' '--record-maybe'" in said.err, said
    said = site.cluster.run("srun", "--record")
    assert said.code == 255 and "option '--record' requires an argument" in said.err, said


def test_prologs_get_options_and_job_control(make_cluster, plugins):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    site = Site(cluster, plugins).record()
    program = cluster.script("prolog", "#!/bin/sh\nprintenv | grep ^SPANK_ | sort >%s/$SLURM_SCRIPT_CONTEXT.$SLURM_JOB_ID\n" % cluster.work)
    cluster.conf_lines += ["Prolog=" + program, "Epilog=" + program]
    cluster.write_lines()
    cluster.start()
    wanted = "SPANK_RECORDED=1:x:0\nSPANK__SLURM_SPANK_OPTION_recorder_record=x\n"
    batch = cluster.sbatch("--record=x", "--wrap", "true")
    cluster.wait_job(batch)
    step = int(cluster.ok("srun", "--record=x", "printenv", "SLURM_JOB_ID").out)
    for job in (batch, step):
        for name in ("prolog_slurmd", "epilog_slurmd"):
            path = "%s/%s.%d" % (cluster.work, name, job)
            until(path, lambda: os.path.exists(path) and os.path.getsize(path))
            with open(path) as f:
                assert sorted(f.read().splitlines()) == sorted(wanted.splitlines()), path


# ---- failures
@pytest.mark.parametrize("command", ["srun", "sbatch", "salloc"])
@pytest.mark.parametrize("callback", ["init", "init_post_opt"])
def test_required_failures_in_commands(site, command, callback):
    context = "local" if command == "srun" else "allocator"
    site.record("fail=%s:%s" % (context, callback))
    said = site.cluster.run(command, *(["--wrap", "true"] if command == "sbatch" else ["true"]))
    assert (said.code, said.out) == (1, ""), said
    assert "%s: error: spank: required plugin recorder.so: %s() failed with rc=-1\n" % (command, callback) in said.err, said
    assert site.cluster.queue() == []


def test_a_failure_before_the_launch_gives_the_job_back(site):
    site.record("fail=local:local_user_init")
    said = site.cluster.run("srun", "echo", "ran")
    assert (said.code, said.out) == (1, "") and "local_user_init() failed with rc=-1" in said.err, said
    until("an empty queue", lambda: not site.cluster.queue())


@pytest.mark.parametrize("callback", ["init", "init_post_opt", "user_init", "task_init_privileged", "task_init", "task_post_fork"])
def test_required_failures_on_the_node_fail_the_step(site, callback):
    site.record("fail=remote:" + callback)
    said = site.cluster.run("srun", "-n2", "echo", "ran")
    assert said.code == 1 and "ran" not in said.out, said
    assert "slurmstepd: error: spank: required plugin recorder.so: %s() failed with rc=-1" % callback in said.err, said
    site.cluster.wait_nodes("idle")          # a step's failure drains no node
    site.record()
    assert site.cluster.ok("srun", "echo", "ran").out == "ran\n"


@pytest.mark.parametrize("callback", ["task_exit", "exit"])
def test_failures_after_the_work_are_told(site, callback):
    site.record("fail=remote:" + callback)
    said = site.cluster.ok("srun", "echo", "ran")
    assert said.out == "ran\n" and "%s() failed with rc=-1" % callback in said.err, said


@pytest.mark.parametrize("callback, drains", [("init", True), ("user_init", True), ("task_post_fork", True), ("task_init", False)])
def test_required_failures_of_batch_jobs(site, callback, drains):
    site.record("fail=remote:" + callback)
    job = site.cluster.sbatch("--no-requeue", "-w", "n1", "-o", "never", "--wrap", "echo ran")
    record = site.cluster.wait_job(job, "FAILED")
    assert record["ExitCode"] == "1:0", record
    if drains:
        site.cluster.wait_nodes("drained", ["n1"])
        assert "%s() failed with rc=-1" % callback in site.cluster.ok("scontrol", "show", "node", "n1").out
    else:
        site.cluster.wait_nodes("idle", ["n1"])
    assert "ran" not in (site.cluster.read("never") if os.path.exists(site.cluster.work + "/never") else "")


@pytest.mark.parametrize("callback", ["init", "user_init", "task_init"])
def test_optional_failures_are_told_and_passed_over(site, callback):
    site.record("fail=remote:" + callback, kind="optional")
    said = site.cluster.ok("srun", "echo", "ran")
    assert said.out == "ran\n", said
    assert "spank: optional plugin recorder.so: %s() failed with rc=-1" % callback in said.err, said
    assert ("task_exit" in site.wheres("remote")) == (callback != "init")


@pytest.mark.parametrize("callback", ["job_prolog", "job_epilog"])
def test_required_failures_beside_prologs_drain_the_node(site, callback):
    site.record("fail=job_script:" + callback)
    job = site.cluster.sbatch("--no-requeue", "-w", "n1", "--wrap", "true")
    site.cluster.wait_nodes("drained", ["n1"])
    assert "%s() failed with rc=-1" % callback in site.cluster.ok("scontrol", "show", "node", "n1").out
    site.cluster.wait_job(job, "COMPLETED" if callback == "job_epilog" else "FAILED")


@pytest.mark.parametrize("callback", ["init", "user_init", "task_init", "task_exit"])
def test_a_plugin_that_crashes_takes_its_step_alone(site, callback):
    site.record("crash=remote:" + callback)
    said = site.cluster.run("srun", "-w", "n1", "sleep", "0")
    assert said.code not in (0, 124), said
    site.cluster.must_run()
    site.record()
    until("an empty queue", lambda: not site.cluster.queue())
    assert site.cluster.ok("srun", "-w", "n1", "echo", "ran").out == "ran\n"


def test_plugins_beside_an_mpi_module(site):
    said = site.cluster.run("srun", "--mpi=list")
    if "pmix" not in said.out:
        pytest.skip("this build has no PMIx")
    said = site.cluster.ok("srun", "--mpi=pmix", "-N2", "-n3", "sh", "-c", "echo $PMIX_RANK $OF_THE_TASK")
    assert sorted(said.lines) == ["%d RECORDED of rank %d" % (i, i) for i in range(3)], said
    assert site.wheres("remote").count("task_exit") == 3 and site.wheres("remote").count("exit") == 2
    site.record("fail=remote:user_init")
    said = site.cluster.run("srun", "--mpi=pmix", "-N2", "-n2", "echo", "ran")
    # A node that fails ends the other, which may not have come so far.
    assert said.code in (1, 128 + 15) and said.out == "" and "user_init() failed with rc=-1" in said.err, said


def test_a_plugin_that_takes_long_can_be_cancelled(site):
    site.record("wait=remote:user_init")
    job = site.cluster.sbatch("-o", "never2", "--wrap", "echo ran")
    until("the plugin", lambda: "user_init" in site.wheres("remote"))
    site.cluster.ok("scancel", str(job))
    site.cluster.wait_job(job, "CANCELLED")
    site.cluster.wait_nodes("idle")
    assert not os.path.exists(site.cluster.work + "/never2") or site.cluster.read("never2") == ""


# ---- plugstack.conf
@pytest.mark.parametrize("text, wrong", [
    ("requird recorder.so\n", "plugstack.conf:1: 'requird' is none of required, optional, include"),
    ("# first\nrequired gone.so\n", "plugstack.conf:2: required plugin gone.so: there is no such file in PluginDir="),
    ("include gone.conf\n", "gone.conf: there is no such file")])
def test_a_broken_plugstack(site, text, wrong):
    site.stack(text)
    for command, rest in (("srun", ["true"]), ("sbatch", ["--wrap", "true"]), ("salloc", ["true"])):
        said = site.cluster.run(command, *rest)
        assert said.code == 1 and said.err.startswith(command + ": error: ") and wrong in said.err, said
    assert site.cluster.ok("sbatch", "--version").out.startswith("slurm 26.05")


def test_optional_plugins_that_are_missing(site):
    site.stack("optional gone.so\n")
    said = site.cluster.ok("srun", "echo", "ran")
    assert said.out == "ran\n" and "optional plugin gone.so: there is no such file" in said.err, said


def test_includes_and_their_order(site):
    folder = os.path.join(site.cluster.folder, "etc", "plugstack.conf.d")
    os.makedirs(folder, exist_ok=True)
    second = os.path.join(site.plugins, "second.so")
    shutil.copy(os.path.join(site.plugins, "container.so"), second)
    for name, text in (("10-a.conf", "optional container.so\n"), ("20-b.conf", "required recorder.so log=%s\n" % site.log)):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    site.stack("include plugstack.conf.d/*.conf\n")
    text = site.cluster.ok("srun", "--help").out
    assert 0 < text.index("--container-image") < text.index("--record"), text[-2000:]
    shutil.rmtree(folder)


@pytest.mark.better_than_slurm
def test_without_plugstack_nothing_is_opened(site):
    if not shutil.which("strace"):
        pytest.skip("no strace")
    os.remove(site.conf)
    trace = site.cluster.ok("strace", "-f", "-e", "trace=file", "-o", site.cluster.work + "/trace", "sbatch", "--wrap", "true")
    assert trace.out.startswith("Submitted")
    calls = [line for line in site.cluster.read("trace").splitlines() if "plugstack" in line or ".so" in line and "libc.so" not in line]
    calls = [line for line in calls if "ld.so" not in line and "libm.so" not in line]
    assert len(calls) == 1 and "plugstack.conf" in calls[0] and "ENOENT" in calls[0], calls


# ---- containers, as Pyxis offers them: a row of the checklist
IMAGE = "nvcr.io/nvidia/pytorch:24.12-py3"


def needs_namespaces():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "mount", "--bind", "/", "/"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")


@pytest.fixture
def pyxis(site):
    """plugstack.conf as the mission has it, and an image: a small root directory with a shell."""
    images = os.path.join(site.cluster.folder, "images")
    for image in (IMAGE, "nvcr.io/nvidia/pytorch:24.03-py3"):
        root = os.path.join(images, re.sub("[/:]", "_", image))
        for name in ("bin", "etc", "tmp", "work"):
            os.makedirs(os.path.join(root, name), exist_ok=True)
        for program in ("sh", "cat", "pwd", "ls", "printenv", "touch"):
            copy_program(shutil.which(program), root)
        with open(root + "/etc/os-release", "w") as f:
            f.write("PRETTY_NAME=%s\n" % image)
        with open(root + "/etc/environment", "w") as f:
            f.write("CUDA_VERSION=12.6\nPATH=/bin\nFROM=image\n")
    site.stack("required container.so images=%s\n" % images)
    return site


def copy_program(program, root):
    def copy(path):
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            shutil.copy(path, target)
    shutil.copy(program, root + "/bin/" + os.path.basename(program))
    for path in re.findall(r"(/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout):
        copy(path)


@pytest.mark.row(12, 114)
def test_container_image(pyxis):
    needs_namespaces()
    for image in (IMAGE, "nvcr.io/nvidia/pytorch:24.03-py3"):
        said = pyxis.cluster.ok("srun", "--container-image=" + image, "cat", "/etc/os-release")
        assert said.out == "PRETTY_NAME=%s\n" % image and "pyxis: imported docker image: " + image in said.err, said
    said = pyxis.cluster.ok("srun", "-N2", "-n4", "--container-image=" + IMAGE, "sh", "-c", "echo $SLURM_PROCID $CUDA_VERSION; pwd; ls /")
    assert sorted(line for line in said.lines if line[0].isdigit()) == ["%d 12.6" % i for i in range(4)], said
    assert said.lines.count("/") == 4 and "proc" not in said.lines, said
    assert pyxis.cluster.ok("srun", "sh", "-c", "echo ${CUDA_VERSION-none}").out == "none\n"


@pytest.mark.row(12, 115, 116)
def test_container_mounts_and_the_other_options(pyxis):
    needs_namespaces()
    folder = pyxis.cluster.folder
    for name in ("data", "scratch"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "file"), "w") as f:
            f.write(name + "\n")
    mounts = "--container-mounts=%s/data:/data,%s/scratch:/scratch" % (folder, folder)
    said = pyxis.cluster.ok("srun", "--container-image=" + IMAGE, mounts, "--container-workdir=/work", "--container-name=mine",
                            "--no-container-mount-home", "--container-remap-root", "--container-writable", "--no-container-entrypoint",
                            "--container-env=FROM", "sh", "-c", "cat /data/file /scratch/file; pwd; echo $FROM; touch /work/there", env={"FROM": "host"})
    assert said.lines == ["data", "scratch", "/work", "host"], said
    said = pyxis.cluster.run("srun", "--container-image=" + IMAGE, "--container-readonly", mounts + ":ro", "sh", "-c",
                             "echo $FROM; touch /work/again; touch /scratch/again", env={"FROM": "host"})
    assert said.lines == ["image"] and said.err.count("Read-only file system") == 2 and said.code != 0, said


@pytest.mark.row(12, 114, 115)
def test_container_of_a_batch_script(pyxis):
    needs_namespaces()
    out, _ = pyxis.cluster.run_script("#!/bin/sh\n#SBATCH --container-image=%s\n#SBATCH --container-mounts=%s:%s\ncat /etc/os-release\necho $CUDA_VERSION\n"
                                      % (IMAGE, pyxis.cluster.folder, pyxis.cluster.folder))
    assert out.endswith("PRETTY_NAME=%s\n12.6\n" % IMAGE), out


@pytest.mark.row(12, 114)
def test_containers_of_steps_of_a_script(pyxis):
    needs_namespaces()
    out, _ = pyxis.cluster.run_script("#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=1\nsrun --container-image=%s cat /etc/os-release\nsrun hostname >&2\n" % IMAGE)
    assert out.count("PRETTY_NAME=%s\n" % IMAGE) == 2, out


@pytest.mark.row(12, 115, 116)
@pytest.mark.parametrize("wrong, why", [
    (["--container-image="], "pyxis: --container-image: argument required"),
    (["--container-mounts=data"], "pyxis: --container-mounts: invalid format: data"),
    (["--container-readonly", "--container-writable"], "pyxis: both forms of writable were specified")])
def test_wrong_container_options(pyxis, wrong, why):
    said = pyxis.cluster.run("srun", *wrong, "true")
    assert said.code == 255 and "srun: error: " + why in said.err, said


SWITCHES = ("container-mount-home", "container-remap-root", "container-entrypoint", "container-entrypoint-log", "container-unshare")


@pytest.mark.row(113, 116)
@pytest.mark.parametrize("command", ["srun", "sbatch", "salloc"])
def test_every_option_and_its_no_form(pyxis, command):
    """The names that the checklist has; without an image none of them has anything to do."""
    rest = ["--wrap", "true", "--hold"] if command == "sbatch" else ["true"]
    text = pyxis.cluster.ok(command, "--help").out
    values = ["--container-workdir=/work", "--container-name=mine", "--container-save=/tmp/saved.sqsh", "--container-env=FROM"]
    for yes, no in [("--" + name, "--no-" + name) for name in SWITCHES] + [("--container-writable", "--container-readonly")]:
        assert re.search(r"^ +%s\s" % yes, text, re.M) and re.search(r"^ +%s\s" % no, text, re.M), text[-3000:]
        for one in (yes, no):
            pyxis.cluster.ok(command, *values, one, *rest)
        both = pyxis.cluster.run(command, yes, no, *rest)
        assert both.code == 255 and "both forms of" in both.err, both


@pytest.mark.row(12)
def test_an_image_that_is_not_there(pyxis):
    said = pyxis.cluster.run("srun", "--container-image=gone", "echo", "ran")
    assert (said.code, said.out) == (1, "") and "slurmstepd: error: pyxis: no such image: gone" in said.err, said
    assert "required plugin container.so: user_init() failed with rc=-1" in said.err, said


# ---- NVIDIA's Pyxis itself, where it and enroot are at hand: MUSTER_PYXIS=/path/of/spank_pyxis.so, enroot in PATH
@pytest.fixture
def real_pyxis(site):
    """The site with Pyxis, and an image with a shell. Both nodes are this machine, so each needs a data folder of its own."""
    plugin = os.environ.get("MUSTER_PYXIS")
    programs = ("enroot", "enroot-mount", "enroot-nsenter", "enroot-switchroot")
    if not plugin or not all(map(shutil.which, programs + ("mksquashfs", "busybox"))):
        pytest.skip("no Pyxis (MUSTER_PYXIS), enroot, mksquashfs or busybox")
    needs_namespaces()
    for program in programs:
        if not os.path.exists(os.path.join(site.cluster.bin, program)):
            os.symlink(shutil.which(program), os.path.join(site.cluster.bin, program))
    root, site.image = os.path.join(site.cluster.folder, "root"), os.path.join(site.cluster.folder, "image.sqsh")
    if not os.path.exists(site.image):
        for name in ("bin", "etc", "work"):
            os.makedirs(os.path.join(root, name))
        shutil.copy(shutil.which("busybox"), root + "/bin/busybox")
        for name in ("sh", "cat", "pwd", "id", "ls", "touch", "sleep"):
            os.symlink("busybox", root + "/bin/" + name)
        for name, text in (("os-release", "PRETTY_NAME=image\n"), ("environment", "PATH=/bin\nFROM=image\n")):
            with open(os.path.join(root, "etc", name), "w") as f:
                f.write(text)
        subprocess.run(["mksquashfs", root, site.image, "-all-root", "-no-progress"], check=True, capture_output=True)
    os.makedirs(os.path.join(site.cluster.folder, "pyxis"), exist_ok=True)
    site.stack("required %s runtime_path=%s/pyxis\n" % (plugin, site.cluster.folder))
    return site


@pytest.mark.row(12, 113, 114, 115)
def test_real_pyxis_runs_images(real_pyxis):
    image = "--container-image=" + real_pyxis.image
    data = os.path.join(real_pyxis.cluster.folder, "mounted")
    os.makedirs(data, exist_ok=True)
    said = real_pyxis.cluster.ok("srun", "-w", "n1", "-n3", image, "--container-mounts=%s:/data" % data, "--container-workdir=/work",
                                 "--container-env=FROM", "sh", "-c", "cat /etc/os-release; pwd; echo $FROM; touch /data/$SLURM_PROCID",
                                 env={"FROM": "host"})
    assert sorted(said.lines) == sorted(3 * ["PRETTY_NAME=image", "/work", "host"]), said
    assert sorted(os.listdir(data)) == ["0", "1", "2"]
    out, _ = real_pyxis.cluster.run_script("#!/bin/sh\n#SBATCH -w n1 %s\ncat /etc/os-release\necho $FROM\n" % image)
    assert out == "PRETTY_NAME=image\nimage\n", out
    said = real_pyxis.cluster.run("srun", "-w", "n1", image, "sh", "-c", "touch /work/there; exit 7")
    assert said.code == 7 and "Read-only file system" in said.err, said


@pytest.mark.row(12, 116)
def test_real_pyxis_keeps_named_containers(real_pyxis):
    image, cluster = "--container-image=" + real_pyxis.image, real_pyxis.cluster
    cluster.ok("srun", "-w", "n1", image, "--container-name=kept", "--container-writable", "touch", "/work/there")
    said = cluster.ok("srun", "-w", "n1", "--container-name=kept", "--container-save=saved.sqsh", "ls", "/work",
                      env={"PWD": cluster.work})        # Pyxis takes relative paths from there
    assert said.out == "there\n" and "pyxis: exported container pyxis_kept to saved.sqsh" in said.err, said
    assert cluster.ok("srun", "-w", "n1", "--container-image=./saved.sqsh", "ls", "/work").out == "there\n"
    said = cluster.run("srun", "-w", "n1", image, "--container-name=kept:create", "true")
    assert said.code == 1 and "the container already exists" in said.err, said
    cluster.ok("srun", "-w", "n1", "enroot", "remove", "-f", "pyxis_kept")


@pytest.mark.row(12)
def test_real_pyxis_tells_what_is_wrong(real_pyxis):
    said = real_pyxis.cluster.run("srun", "--container-image=/gone.sqsh", "echo", "ran")
    assert (said.code, said.out) == (1, "") and "pyxis:     [ERROR] No such file or directory: /gone.sqsh" in said.err, said
    said = real_pyxis.cluster.run("srun", "--container-mounts=data", "true")
    assert said.code == 255 and "srun: error: Invalid --container-mounts argument: data" in said.err, said
    assert re.search(r"--container-env=NAME.*\n +\[pyxis\] names", real_pyxis.cluster.ok("srun", "--help").out)
