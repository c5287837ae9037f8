#!/usr/bin/python3
"""Runs the commands of docs/replay.md, and what a user may do wrong. Usage: run_replay_page.py MUSTER_SIM REPLAY_MD

Exit status: 0 all is as it should be, 1 something is not (one line each).
"""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, PAGE = os.path.abspath(sys.argv[1]), sys.argv[2]
failures = []


def check(good, what):
    if not good:
        failures.append(what)


def run(words, cwd, code=0, **more):
    done = subprocess.run([PROGRAM] + words, cwd=cwd, capture_output=True, text=True, timeout=240, **more)
    check(done.returncode == code, "%s: status %d, expected %d: %s" % (shlex.join(words), done.returncode, code, done.stderr[-400:]))
    return done


def commands_of_the_page():
    text = open(PAGE, encoding="utf-8").read()
    block = re.search(r"^```\n(muster-sim generate.*?)^```", text, re.S | re.M).group(1)
    return [shlex.split(line) for line in block.splitlines()]


def check_page(folder):
    commands = commands_of_the_page()
    check(len(commands) == 4 and all(words[0] == "muster-sim" for words in commands), "the page has other commands than this test knows")
    texts = [run(words[1:], folder) for words in commands]
    check("Wait until the start" in texts[1].stdout and "times as fast as real time" in texts[1].stderr, "no report: " + texts[1].stdout[:200])
    check("change" in texts[2].stdout and "B: cluster with PriorityWeightFairshare=0" in texts[2].stdout, "not side by side: " + texts[2].stdout[:300])
    check(texts[3].stderr == "", "--quiet is not quiet: " + texts[3].stderr)
    with open(os.path.join(folder, "fairshare.json"), encoding="utf-8") as file:
        report = json.load(file)
    first, second = report["replays"]
    check(first["jobs"]["completed"] > 500, "few jobs were completed")
    check(first["jobs"]["refused"] == 0 and first["jobs"]["still_waiting"] == 0, "jobs were refused or are left: %s" % first["refusals"])
    check(first["hash"] != second["hash"], "the weight changed nothing")
    check(0.3 < first["use"]["gpus"] <= 1, "GPUs in use: %s" % first["use"]["gpus"])
    shares = sum(a["share"] for a in first["accounts"])
    check(abs(shares - 1) < 1e-6, "shares come to %f" % shares)
    again = run(["replay", "--trace", "cluster/trace.txt", "--config", "cluster", "--json", "-", "--quiet"], folder)
    check(json.loads(again.stdout)["replays"][0]["hash"] == first["hash"], "the same replay came to something else")
    with open(os.path.join(folder, "fairshare.html"), encoding="utf-8") as file:
        page = file.read()
    check(page.count("<svg") >= 8 and "<script" not in page and "http" not in page, "the HTML file is not what it should be")


def check_wrong_use(folder):
    def refused(words, what, code=2):
        done = run(words, folder, code)
        check(what in done.stderr, "%s says %s" % (shlex.join(words), done.stderr))

    with open(os.path.join(folder, "bad.txt"), "w") as file:
        file.write("1 0 0 100 4 -1 -1 4 240 -1 1\n2 1 zero 100 4 -1 -1 4 240 -1 1\n3 1 0")
    refused(["replay", "--config", "cluster"], "--trace FILE is missing")
    refused(["replay", "--trace", "none", "--config", "cluster"], "none: No such file")
    refused(["replay", "--trace", "bad.txt", "--config", "nowhere"], "nowhere: cannot be read")
    refused(["replay", "--trace", "cluster/slurm.conf", "--config", "cluster"], "no job that could be replayed")
    refused(["replay", "--trace", "bad.txt", "--config", "cluster", "--with", "PriorityWeightFairshare=much"], "PriorityWeightFairshare")
    refused(["replay", "--trace", "bad.txt", "--config", "cluster", "--with", "Nonsense=1"], "Nonsense")
    refused(["replay", "--trace", "bad.txt", "--config", "cluster", "--accounts", "cluster/slurm.conf"], "cluster/slurm.conf: line 2")
    refused(["replay", "--trace", "bad.txt", "--config", "cluster", "--processors", "gpu"], "is no value for --processors WHAT")
    refused(["replay", "--nonsense"], "unknown option --nonsense")
    refused(["generate"], "--out DIR is missing")
    refused(["generate", "--out", "x", "--nodes", "20000", "--months", "60"], "too many")
    told = run(["replay", "--trace", "bad.txt", "--config", "cluster", "--ignore", "partition"], folder)
    check("bad.txt:2: field 3 is no number: zero" in told.stderr and "bad.txt:3: it has 3 fields of 18" in told.stderr, "wrong lines: " + told.stderr)
    refused(["replay", "--trace", "bad.txt", "--config", "cluster", "--html", "/nonexistent/x.html"], "/nonexistent/x.html", 1)
    for words in (["--help"], ["replay", "--help"], ["generate", "--help"], ["generate", "--figures"]):
        check(len(run(words, folder).stdout.splitlines()) > 10, "%s says little" % words)


def check_interrupt(folder):
    """What is known so far is reported, and the exit status says that it is not all."""
    run(["generate", "--out", "large", "--nodes", "200", "--load", "1.2"], folder)
    began = subprocess.Popen([PROGRAM, "replay", "--trace", "large/trace.txt", "--config", "large"], cwd=folder, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    # It takes keys once it has blocked the signal, which its own threads inherit.
    while time.monotonic() < deadline:
        with open("/proc/%d/status" % began.pid, encoding="ascii") as status:
            blocked = int(re.search(r"SigBlk:\s*(\w+)", status.read()).group(1), 16)
        if blocked & (1 << (signal.SIGINT - 1)):
            break
    began.send_signal(signal.SIGINT)
    out, err = began.communicate(timeout=120)
    check(began.returncode == 130, "Ctrl-C: status %d: %s" % (began.returncode, err))
    check("stopped before its end" in out and "Wait until the start" in out, "Ctrl-C: no report: " + out[:300])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_page(folder)
        check_wrong_use(folder)
        check_interrupt(folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
