"""Options that shape a job's life, with real processes: what is signalled, mailed, written and waited for, and when."""
import os
import re
import subprocess

import pytest

from harness import end_process, until

better = pytest.mark.better_than_slurm


def processes(pattern):
    """States of the processes whose command line has this."""
    states = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if pattern.encode() not in f.read():
                    continue
            with open("/proc/%s/stat" % pid) as f:
                states[int(pid)] = f.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return states


# ---- waiting for it
@pytest.mark.parametrize("command,code", [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 1)])
def test_wait_gives_the_jobs_exit_code(cluster, command, code):
    assert cluster.run("sbatch", "--wait", "--wrap", command).code == code


def test_wait_for_an_array_gives_the_highest(cluster):
    assert cluster.run("sbatch", "--wait", "--array=0-3", "--wrap", "exit $SLURM_ARRAY_TASK_ID").code == 3


def test_quiet_prints_nothing(cluster):
    result = cluster.ok("sbatch", "--quiet", "--wrap", "true")
    assert (result.out, result.err) == ("", "")


@pytest.mark.parametrize("command", ["srun", "salloc"])
@pytest.mark.parametrize("option", ["--immediate", "--immediate=1"])
def test_immediate_does_not_wait(cluster, command, option):
    job = cluster.sbatch("-N4", "--exclusive", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    result = cluster.run(command, option, "-N1", "true", timeout=20)
    assert result.code == 1 and "Unable to allocate resources: Requested nodes are busy" in result.err, result
    assert cluster.queue("-t", "PD") == []


def test_kill_on_invalid_dependency(cluster):
    first = cluster.sbatch("--wrap", "true")
    stays = cluster.sbatch("-d", "afternotok:%d" % first, "--wrap", "true")
    goes = cluster.sbatch("-d", "afternotok:%d" % first, "--kill-on-invalid-dep=yes", "--wrap", "true")
    record = cluster.wait_job(goes, "CANCELLED")
    assert record["Reason"] == "DependencyNeverSatisfied"
    assert cluster.job(stays)["JobState"] == "PENDING"


@better
def test_a_deadline_that_cannot_be_met_ends_the_job(cluster):
    job = cluster.sbatch("-H", "-t", "1", "--deadline=now+61", "--wrap", "true")
    record = cluster.wait_job(job, "DEADLINE")
    assert record["Reason"] == "DeadLine", record
    result = cluster.run("sbatch", "--deadline=2020-01-01", "-t1", "--wrap", "true")
    assert result.code == 1 and "Requested time limit is invalid" in result.err, result


@better      # 22.05 takes what cannot end in time
@pytest.mark.parametrize("options, said", [
    (["-t120"], "Requested time limit is invalid"), (["-t120", "--time-min=120"], "Invalid time-min specification"),
    (["-t10", "--begin=now+2hours"], "Incompatible begin and deadline time specification"), (["-t120", "--time-min=20"], ""), ([], "")])
def test_what_a_deadline_leaves(cluster, options, said):
    result = cluster.run("sbatch", "--parsable", "-H", "--deadline=now+1hour", *options, "--wrap", "true")
    assert said in result.err and (result.code != 0) == bool(said), result
    if not said:
        assert cluster.job(int(result.out))["TimeLimit"] in ("01:00:00", "00:59:00")


def test_time_min_longer_than_the_limit(cluster):
    result = cluster.run("sbatch", "-t5", "--time-min=10", "--wrap", "true")
    assert result.code == 1 and "Invalid time-min specification" in result.err, result
    job = cluster.sbatch("-H", "-t60", "--time-min=10", "--wrap", "true")
    assert cluster.job(job)["TimeMin"] == "00:10:00"


def test_texts_are_kept_and_shown(cluster):
    job = cluster.sbatch("-H", "--comment=why", "--extra=more", "--wckey=key", "--nice=50", "--wrap", "true")
    record = cluster.job(job)
    assert (record["Comment"], record["Nice"]) == ("why", "50"), record
    assert record.get("Extra", "more") == "more"
    assert cluster.queue("-j", str(job), "-o", "%k|%w") == ["why|key"]


@pytest.mark.parametrize("begin", ["now+1hour", "tomorrow", "noon", "16:00", "2030-01-20T12:34:00", "now+90", "now+2days", "teatime"])
def test_forms_of_begin(cluster, begin):
    assert cluster.job(cluster.sbatch("--begin=" + begin, "--wrap", "true"))["JobState"] == "PENDING"


@better
def test_the_one_cluster_by_name(cluster):
    assert cluster.ok("sbatch", "--parsable", "-M", "test", "-H", "--wrap", "true").out.strip().endswith(";test")
    result = cluster.run("sbatch", "-M", "other", "--wrap", "true")
    assert result.code != 0 and "'other' can't be reached now, or it is an invalid entry for --cluster" in result.err, result


# ---- signals
def test_warning_signal_to_the_steps_or_the_shell(cluster):
    script = cluster.file("warn.sh", "#!/bin/bash\ntrap 'echo shell' USR1\n"
                          "srun bash -c 'trap \"echo step; exit\" USR1; sleep 100 & wait' &\nwait; wait\nsleep 1\n")
    steps = cluster.sbatch("-o", "steps.out", "-t", "10", "--signal=USR1@590", script)
    shell = cluster.sbatch("-o", "shell.out", "-t", "10", "--signal=B:USR1@590", script)
    until("the step's line", lambda: cluster.read("steps.out") == "step\n", 60)
    until("the shell's line", lambda: cluster.read("shell.out") == "shell\n", 60)
    for job in (steps, shell):
        cluster.run("scancel", str(job))


def test_scancel_of_one_step_leaves_the_job_and_other_steps(cluster):
    job = cluster.sbatch("-n2", "-o", "steps.out", "--wrap",
                         "srun -n1 --exact -J victim sleep 300 & srun -n1 --exact -J other bash -c 'while [ ! -e go ]; do sleep 0.05; done; "
                         "echo alive'; wait %1; echo after")

    def steps():
        return dict(line.split()[::-1] for line in cluster.queue("-s", "-j", str(job), "-o", "%i %j"))
    until("both steps", lambda: {"victim", "other"} <= set(steps()))
    cluster.ok("scancel", steps()["victim"])
    until("one step to go", lambda: "victim" not in steps())
    cluster.file("go", "")
    cluster.wait_job(job)
    out = cluster.read("steps.out")
    assert "alive\n" in out and out.endswith("after\n"), out


@better
def test_a_steps_own_time_limit(cluster):
    """srun --time inside a job. A minute is the least that can be asked for, and the signal tells of it after a second; that a
    step ends with its time is tested with slurmd and slurmstepd (Step.EndsWhenItsOwnTimeIsUp)."""
    out, _ = cluster.run_script("#!/bin/bash\nsrun -t 1 --signal=USR1@59 bash -c 'trap \"echo warned; exit 3\" USR1; while :; do sleep 0.1; done'\n"
                                "echo code $? after $SECONDS\n", state="COMPLETED")
    assert "warned" in out and re.search(r"code 3 after ([1-9]|1\d)$", out.strip()), out


@better
def test_the_time_limit_of_a_running_step_is_changed(cluster):
    """With a minute instead of ten the signal, 59 seconds before the end, is due."""
    job = cluster.sbatch("-o", cluster.work + "/limit.out", "--wrap",
                         "srun -t 10 --signal=USR1@59 bash -c 'trap \"echo warned; exit 0\" USR1; touch up; while :; do sleep 0.1; done'")
    until("the step", lambda: cluster.sh("test -e up").code == 0)
    step = "StepId=%d.0" % job
    assert "TimeLimit=00:10:00" in cluster.ok("scontrol", "show", "step", "%d.0" % job).out
    cluster.ok("scontrol", "update", step, "TimeLimit=1")
    cluster.wait_job(job)
    assert "warned" in cluster.read("limit.out")


# ---- suspend
def test_suspend_and_resume_stop_and_continue_the_processes(cluster):
    mark = "4242.%d" % os.getpid()
    job = cluster.sbatch("-N2", "--wrap", "srun sleep %s" % mark)
    until("two sleeps", lambda: sum("srun" not in str(p) for p in processes("sleep\0" + mark)) >= 2)
    cluster.ok("scontrol", "suspend", str(job))
    until("both stopped", lambda: set(processes("sleep\0" + mark).values()) == {"T"})
    assert cluster.job(job)["JobState"] == "SUSPENDED"
    cluster.ok("scontrol", "resume", str(job))
    until("both going", lambda: "T" not in processes("sleep\0" + mark).values())
    cluster.wait_job(job, "RUNNING")


@better
def test_a_suspend_reaches_a_node_that_was_away(make_cluster):
    cluster = make_cluster(nodes=1)
    mark = "4343.%d" % os.getpid()
    job = cluster.sbatch("--wrap", "sleep " + mark)
    until("the sleep", lambda: processes("sleep\0" + mark))
    cluster.slurmds["n1"].kill()
    cluster.slurmds["n1"].wait()
    cluster.ok("scontrol", "suspend", str(job))
    assert set(processes("sleep\0" + mark).values()) == {"S"}
    cluster.start_slurmd("n1")
    until("it to be stopped", lambda: set(processes("sleep\0" + mark).values()) == {"T"})


@better
@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_step_waits_for_the_slurmd_of_its_host(make_cluster, end):
    """Killed, slurmd leaves a socket that refuses; stopped, none. A job's script that goes on meanwhile has its steps all the same."""
    cluster = make_cluster(nodes=1)
    cluster.file("job.sh", "#!/bin/bash\nuntil [ -e go ]; do sleep 0.05; done\nsrun --overlap -n1 -o step.out echo ran\n")
    job = cluster.sbatch("-o", "job.out", "job.sh")
    cluster.wait_job(job, "RUNNING")
    slurmd = cluster.slurmds.pop("n1")
    if end == "killed":
        slurmd.kill()
        slurmd.wait()
    else:
        end_process(slurmd)
    cluster.file("go", "")
    until("the step to be created", lambda: "%d.0 " % job in cluster.ok("squeue", "-h", "-s", "-o", "%i ").out)
    cluster.start_slurmd("n1")
    cluster.wait_job(job)
    assert cluster.read("step.out") == "ran\n", cluster.read("job.out")


# ---- mail
def with_mail(make_cluster, **kw):
    cluster = make_cluster(start=False, nodes=2, **kw)
    program = cluster.script("mail", '#!/bin/sh\nenv | grep ^SLURM | sort >"%s/mail.$2.env"\necho "$2 to $3" >>%s/mails\n'
                             % (cluster.work, cluster.work))
    cluster.conf_lines += ["MailProg=" + program, "MailDomain=example.org"]
    cluster.write_lines()
    cluster.file("mails", "")
    return cluster.start()


def mails(cluster):
    return [line for line in cluster.read("mails").splitlines()]


def test_mail_of_a_job(make_cluster):
    cluster = with_mail(make_cluster)
    job = cluster.sbatch("-J", "m", "--mail-type=ALL", "--mail-user=ada", "--wrap", "exit 3")
    cluster.wait_job(job, "FAILED")
    until("two mails", lambda: len(mails(cluster)) == 2)
    began, failed = mails(cluster)
    assert re.fullmatch(r"Slurm Job_id=%d Name=m Began, Queued time 00:00:0\d to ada@example.org" % job, began), began
    assert re.fullmatch(r"Slurm Job_id=%d Name=m Failed, Run time 00:00:0\d, FAILED, ExitCode 3 to ada@example.org" % job, failed), failed
    (name,) = [n for n in os.listdir(cluster.work) if "Failed" in n]
    env = dict(line.split("=", 1) for line in cluster.read(name).splitlines())
    wanted = {"SLURM_JOB_ID": str(job), "SLURM_JOB_NAME": "m", "SLURM_JOB_STATE": "FAILED", "SLURM_JOB_MAIL_TYPE": "Failed",
              "SLURM_JOB_EXIT_CODE2": "3:0", "SLURM_JOB_EXIT_CODE_MAX": "3", "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_PARTITION": "main",
              "SLURM_CLUSTER_NAME": "test"}
    assert {k: env.get(k) for k in wanted} == wanted


def test_mail_of_arrays_requeues_and_dependencies(make_cluster):
    cluster = with_mail(make_cluster)
    array = cluster.sbatch("--array=0-2", "-J", "a", "--mail-type=END,FAIL", "--wrap", "exit $SLURM_ARRAY_TASK_ID")
    until("a summary", lambda: any("Array Summary" in m for m in mails(cluster)))
    assert mails(cluster)[0].startswith("Slurm Array Summary Job_id=%d_* (%d) Name=a Failed, Mixed, ExitCode [0-2] to " % (array, array))
    tasks = cluster.sbatch("--array=0-1", "-J", "t", "--mail-type=END,ARRAY_TASKS", "--wrap", "true")
    until("two mails", lambda: sum("Array Task Job_id=%d_" % tasks in m for m in mails(cluster)) == 2)
    again = cluster.sbatch("-J", "r", "--mail-type=REQUEUE", "--wrap", "sleep 60")
    cluster.wait_job(again, "RUNNING")
    cluster.ok("scontrol", "requeue", str(again))
    until("a mail", lambda: any(re.search("Job_id=%d Name=r Requeued, Run time" % again, m) for m in mails(cluster)))
    cluster.run("scancel", str(again))
    good = cluster.sbatch("--wrap", "true")
    never = cluster.sbatch("-J", "d", "-d", "afternotok:%d" % good, "--mail-type=INVALID_DEPEND", "--wrap", "true")
    until("a mail", lambda: any("Job_id=%d Name=d Invalid dependency" % never in m for m in mails(cluster)))


# ---- files
def test_names_of_a_batch_jobs_files(cluster):
    job = cluster.sbatch("--array=7", "-J", "name", "-o", "%A-%a-%b-%3j-%N-%n-%s-%t-%u-%x-%%.out", "--wrap", "true")
    cluster.wait_job("%d_7" % job)
    name = "%d-7-7-%03d-n1-0-%s-0-%s-name-%%.out"
    assert any(os.path.exists(os.path.join(cluster.work, name % (job, job, step, cluster.user))) for step in ("batch", "4294967291")), \
        os.listdir(cluster.work)


def test_names_of_a_steps_files(cluster):
    job = cluster.sbatch("-N2", "--ntasks-per-node=2", "-J", "name", "--wrap", "srun -o 'f-%J-%2t-%N-%n-%s-%u-%x' bash -c 'echo $SLURM_PROCID'")
    cluster.wait_job(job)
    for rank in range(4):
        name = "f-%d.0-%02d-n%d-%d-0-%s-" % (job, rank, rank // 2 + 1, rank // 2, cluster.user)
        found = [n for n in os.listdir(cluster.work) if n.startswith(name)]
        assert len(found) == 1 and cluster.read(found[0]) == "%d\n" % rank, (name, os.listdir(cluster.work))


def test_array_numbers_in_a_steps_file(cluster):
    job = cluster.sbatch("--array=5", "--wrap", "srun -o 'one-%A-%a' echo x; srun -o 'each-%A-%a-%t' echo y")
    cluster.wait_job("%d_5" % job)
    assert cluster.read("one-%d-5" % job) == "x\n" and cluster.read("each-%d-5-0" % job) == "y\n"


def test_open_mode_and_input(cluster):
    cluster.file("in", "read me\n")
    for mode, wanted in (("truncate", "read me\n"), ("append", "read me\nread me\n")):
        cluster.wait_job(cluster.sbatch("-o", "mode.out", "--open-mode=" + mode, "-i", "in", "--wrap", "cat"))
        assert cluster.read("mode.out") == wanted
    assert cluster.ok("srun", "--input=none", "cat", stdin="never").out == ""
    assert cluster.ok("srun", "-n2", "--input=1", "bash", "-c", "sed s/^/$SLURM_PROCID/", stdin="x\n").out == "1x\n"


def test_export_file_and_lists(cluster):
    path = os.path.join(cluster.work, "vars")
    with open(path, "wb") as f:
        f.write(b"A=one\0B=two words\0")
    out, _ = cluster.run_script('#!/bin/bash\necho "$A|$B|$C"\n', "--export-file=" + path, env={"C": "no"})
    assert out == "one|two words|\n"
    out, _ = cluster.run_script('#!/bin/bash\necho "$A|$B|$C"\n', "--export=A,B=set", env={"A": "kept", "C": "no"})
    assert out == "kept|set|\n"


@better
def test_login_environment(cluster):
    """--get-user-env and --export=NONE, which implies it: what a login shell has, below what was exported."""
    for options in (["--get-user-env", "--export=NIL"], ["--export=NONE"], ["--export=MARK=x"]):
        out, _ = cluster.run_script('#!/bin/bash\necho "$HOME|$PATH|$MARK"\n', *options)
        home, path, mark = out.strip().split("|")
        assert home == os.path.expanduser("~" + cluster.user) and "/bin" in path, (options, out)
        assert mark == ("x" if "MARK=x" in options[0] else ""), out
    out, _ = cluster.run_script('#!/bin/bash\necho "$HOME"\n', "--get-user-env", env={"HOME": cluster.folder})
    assert out == cluster.folder + "\n"


# ---- srun
def test_multi_prog(cluster):
    cluster.file("multi.conf", "# rank program arguments\n0   echo 'the first' %t\n1-2 bash -c 'echo task=$0 of $SLURM_NTASKS at %o' %t\n*   echo rest:%t:%o\n")
    lines = sorted(cluster.ok("srun", "-n5", "-l", "--multi-prog", "multi.conf").lines)
    assert lines == ["0: the first 0", "1: task=1 of 5 at 0", "2: task=2 of 5 at 1", "3: rest:3:0", "4: rest:4:1"] or \
        lines == ["0: the first 0", "1: task=1 of 5 at 0", "2: task=2 of 5 at 1", "3: rest:3:3", "4: rest:4:4"], lines


@pytest.mark.parametrize("options,conf", [(["-K"], ""), ([], "KillOnBadExit=1"), (["-K1"], "KillOnBadExit=0")], ids=["-K", "conf", "-K1"])
def test_kill_on_bad_exit(make_cluster, options, conf):
    cluster = make_cluster(nodes=1, conf=conf)
    result = cluster.run("srun", "-n2", *options, "bash", "-c", "[ $SLURM_PROCID = 1 ] && exit 5; sleep 100", timeout=40)
    assert result.code != 0 and "Exited with exit code 5" in result.err, result
    assert "Terminating" in result.err or "Terminated" in result.err or "Killed" in result.err, result


def test_kill_on_bad_exit_switched_off(make_cluster):
    cluster = make_cluster(nodes=1, conf="KillOnBadExit=1")
    result = cluster.run("srun", "-n2", "-K0", "bash", "-c", "[ $SLURM_PROCID = 1 ] && exit 5; sleep 0.3; echo went on")
    assert result.code == 5 and result.out == "went on\n", result


@pytest.mark.parametrize("options,conf", [(["-W1"], ""), ([], "WaitTime=1")], ids=["--wait", "WaitTime"])
def test_wait_after_the_first_task(make_cluster, options, conf):
    cluster = make_cluster(nodes=1, conf=conf)
    result = cluster.run("srun", "-n2", *options, "bash", "-c", "[ $SLURM_PROCID = 1 ] || sleep 100", timeout=40)
    assert result.code != 0 and "First task exited 1s ago" in result.err, result


def test_prologs_and_epilogs_of_tasks_and_srun(cluster):
    say = lambda name, more="": cluster.script(name, "#!/bin/sh\necho %s >>%s/order\n%s" % (name, cluster.work, more))   # noqa: E731
    cluster.file("order", "")
    out = cluster.ok("srun", "--prolog=" + say("prolog"), "--epilog=" + say("epilog"),
                     "--task-prolog=" + say("task_prolog", "echo export SEEN=yes\necho print from the prolog\n"),
                     "--task-epilog=" + say("task_epilog"), "bash", "-c", "echo $SEEN; echo task >>order").out
    assert "yes\n" in out and "from the prolog\n" in out, out
    until("the order", lambda: cluster.read("order").split() == ["prolog", "task_prolog", "task", "task_epilog", "epilog"])


@better
def test_srun_prolog_of_the_site(make_cluster):
    cluster = make_cluster(start=False, nodes=1)
    cluster.conf_lines += ["SrunProlog=" + cluster.script("sp", "#!/bin/sh\necho prolog >>%s/order\n" % cluster.work),
                           "SrunEpilog=" + cluster.script("se", "#!/bin/sh\necho epilog >>%s/order\n" % cluster.work)]
    cluster.write_lines()
    cluster.start()
    cluster.ok("srun", "bash", "-c", "echo task >>order")
    assert cluster.read("order").split() == ["prolog", "task", "epilog"]
    cluster.ok("srun", "--prolog=none", "--epilog=none", "true")
    assert cluster.read("order").split() == ["prolog", "task", "epilog"]


@better
def test_async_step(cluster):
    job = cluster.sbatch("-n2", "-o", "async.out", "--wrap",
                         "id=$(srun --async --parsable -l -n1 bash -c 'while [ ! -e go ]; do sleep 0.05; done; echo done'); echo $id; "
                         "touch go; while squeue -h -s -j $SLURM_JOB_ID -o %i | grep -qx $id; do sleep 0.05; done; cat slurm-$id.out")
    cluster.wait_job(job)
    assert cluster.read("async.out") == "%d.0\n0: done\n" % job


@better
def test_wait_for_children(cluster):
    code = "(trap '' HUP; sleep 0.4; echo child) & exec echo parent"
    assert "child" in cluster.ok("srun", "--wait-for-children", "bash", "-c", code).out


@better
def test_reduced_exit_messages(cluster):
    plain = cluster.run("srun", "-N3", "-n3", "bash", "-c", "exit 2")
    reduced = cluster.run("srun", "-N3", "-n3", "bash", "-c", "exit 2", env={"SLURM_SRUN_REDUCE_TASK_EXIT_MSG": "1"})
    assert plain.err.count("Exited with exit code 2") == 3, plain
    assert reduced.err.count("Exited with exit code 2") == 1, reduced


def test_few_launches_at_a_time(cluster):
    lines = cluster.ok("srun", "-N4", "--threads=1", "bash", "-c", "echo $SLURMD_NODENAME").lines
    assert sorted(lines) == ["n1", "n2", "n3", "n4"]


def test_test_exec_looks_before_it_launches(cluster):
    result = cluster.run("srun", "no-such-program", env={"SLURM_TEST_EXEC": "1"})
    assert result.code != 0 and "no-such-program" in result.err, result
    assert not re.search("execve", result.err), result


# ---- requeue
@better
def test_requeue_says_so_and_runs_again(cluster):
    script = cluster.file("again.sh", "#!/bin/bash\necho run ${SLURM_RESTART_COUNT:-0}\n[ -e second ] || { touch second; sleep 60; }\n")
    job = cluster.sbatch("-o", "again.out", "--open-mode=append", "--requeue", script)
    until("the first run", lambda: os.path.exists(os.path.join(cluster.work, "second")))
    cluster.ok("scontrol", "requeue", str(job))
    cluster.wait_job(job)
    out = cluster.read("again.out")
    assert out.startswith("run 0\n") and out.endswith("run 1\n") and "DUE TO JOB REQUEUE" in out, out


def test_no_requeue(cluster):
    job = cluster.sbatch("--no-requeue", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    result = cluster.run("scontrol", "requeue", str(job))
    assert (result.code, result.err.strip()) == (1, "Requested operation is presently disabled for job %d" % job), result


@better
def test_a_job_that_requeues_itself_gets_the_answer_first_and_waits_for_the_delay(make_cluster):
    cluster = make_cluster(nodes=1, conf="SchedulerParameters=requeue_delay=1000")
    script = cluster.file("self.sh", "#!/bin/bash\n[ -e said ] || { scontrol requeue $SLURM_JOB_ID; echo rc $? >> said; }\nsleep 60\n")
    job = cluster.sbatch("--requeue", script)
    assert until("the answer", lambda: cluster.read("said")) == "rc 0\n"
    until("the requeue", lambda: cluster.job(job)["Restarts"] == "1")
    record = cluster.job(job)
    assert (record["JobState"], record["Reason"]) == ("PENDING", "BeginTime") and record["EligibleTime"] > record["SubmitTime"], record
    cluster.ok("scontrol", "update", "jobid=%d" % job, "StartTime=now")
    cluster.wait_job(job, "RUNNING")


# ---- states
def test_a_job_that_is_stopped_says_so(cluster):
    job = cluster.sbatch("--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    for options, shown in ((["-s", "STOP"], "ST STOPPED"), (["-s", "CONT"], "R RUNNING"), (["-b", "-s", "STOP"], "ST STOPPED"), (["-s", "CONT"], "R RUNNING")):
        cluster.ok("scancel", *options, str(job))
        until(shown, lambda: cluster.queue("-j", str(job), "-o", "%t %T") == [shown])
        assert cluster.queue("-o", "%i") == [str(job)]
        assert (cluster.queue("-t", "R", "-o", "%i"), cluster.queue("-t", "ST", "-o", "%i")) == (([], [str(job)]) if "STOP" in options else ([str(job)], []))


def test_a_job_goes_on_without_the_node_that_it_lost(make_cluster):
    cluster = make_cluster(nodes=3)
    job = cluster.sbatch("-k", "-N3", "--wrap", "srun -N3 bash -c 'touch up.$SLURM_PROCID; while [ ! -e go ]; do sleep 0.05; done; touch done.$SLURM_PROCID'; touch over")
    until("the step", lambda: all(os.path.exists(os.path.join(cluster.work, "up.%d" % i)) for i in range(3)))
    cluster.ok("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    record = until("the smaller job", lambda: (lambda r: r["JobState"] == "RUNNING" and r["NodeList"] == "n[1,3]" and r)(cluster.job(job)))
    assert record["NumNodes"] == "2", record
    until("n2 to be rid of it", lambda: cluster.node_states()["n2"] == "down")
    cluster.file("go", "")
    cluster.wait_job(job)
    assert {name for name in os.listdir(cluster.work) if name.startswith(("done", "over"))} == {"done.0", "done.2", "over"}


def test_a_task_cancelled_before_it_starts_is_gone(cluster):
    array = cluster.sbatch("-a", "0-3", "--begin=now+1hour", "--wrap", "true")
    cluster.ok("scancel", "%d_2" % array)
    assert cluster.queue("-j", str(array), "-o", "%i") == ["%d_[0-1,3]" % array]
    result = cluster.run("scontrol", "show", "job", "%d_2" % array)
    assert result.code == 1 and ("Job %d_2 not found" % array in result.out + result.err or "Invalid job id" in result.err), result
    cluster.ok("scancel", "%d_2" % array)   # once more does no harm
    assert cluster.sbatch("-H", "--wrap", "true") == array + 1


# ---- the node's agent socket
@better
def test_commands_on_a_node_need_neither_key_nor_controllers_socket(make_cluster):
    """What a user's job on a compute node has: the node daemon's socket alone."""
    cluster = make_cluster(nodes=2)
    os.unlink(os.path.join(cluster.folder, "run", "slurmctld.%d.sock" % cluster.port))
    on_node = {"SLURM_SACK_KEY": "/dev/null", "SLURMD_NODENAME": "n1"}
    assert cluster.run("squeue", env={"SLURM_SACK_KEY": "/dev/null"}).code == 1
    assert cluster.ok("squeue", env=on_node).out.startswith("             JOBID")
    job = int(cluster.ok("sbatch", "--parsable", "--wrap", "true", env=on_node).out)
    until("its end", lambda: "COMPLETED" in cluster.ok("scontrol", "show", "job", str(job), env=on_node).out)
    assert cluster.ok("srun", "-N2", "bash", "-c", "echo $SLURMD_NODENAME", env=on_node).out.count("n") == 2
    # Who asks is what the kernel says, not the daemon's own user.
    held = cluster.ok("sbatch", "--parsable", "-H", "--wrap", "true", env=on_node).out.strip()
    if os.geteuid() == 0:
        nobody = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "scancel", held], cwd="/",
                                env={**cluster.env, **on_node}, capture_output=True, text=True)
        assert nobody.returncode != 0 and re.search("denied|Invalid user id", nobody.stderr), nobody
    cluster.ok("scancel", held, env=on_node)
    until("its end", lambda: "CANCELLED" in cluster.ok("scontrol", "show", "job", held, env=on_node).out)
    # Without a controller the answer is the one that scripts know, at once.
    cluster.kill_ctld()
    result = cluster.run("squeue", env=on_node)
    assert result.code == 1 and "Unable to contact slurm controller" in result.err and result.seconds < 5, result


@better
@pytest.mark.parametrize("command", ["srun", "salloc"])
def test_a_command_whose_controller_goes_while_it_waits_leaves_no_job(cluster, command):
    job = cluster.sbatch("-N4", "--exclusive", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    waits = subprocess.Popen([command, "-N1", "true"], env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    try:
        until("its job", lambda: "queued and waiting for resources" in waits.stderr.readline())
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
        said = waits.communicate(timeout=60)[1]
    finally:
        waits.kill()
        waits.wait()
    assert waits.returncode == 1 and "Unable to contact slurm controller" in said, said
    until("no job of it", lambda: cluster.queue("-t", "PD") == [])
