#!/usr/bin/env python3
"""Runs command files through muster-match and compares what it prints with what is expected.

usage: run_golden.py MUSTER_MATCH [--record] [NAME...]

NAME.cmd    commands; its first line "#conf DIR" names the configuration directory beside it
NAME.expected   what `muster-match --echo DIR NAME.cmd` prints, and "exit N" when the status is not 0
Each case runs twice: the same text must come out. --record rewrites the expected files; read the difference before
you commit it.
"""
import difflib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def conf_of(case):
    first = case.read_text().split("\n", 1)[0]
    if not first.startswith("#conf "):
        sys.exit(f"{case.name}: the first line must be '#conf DIR'")
    return HERE / first.removeprefix("#conf ").strip()


def output(program, case):
    done = subprocess.run([program, "--echo", conf_of(case), case], capture_output=True, text=True, timeout=60)
    text = done.stdout + done.stderr
    return text + (f"exit {done.returncode}\n" if done.returncode else "")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--record"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    program, names, record = arguments[0], arguments[1:], "--record" in sys.argv
    cases = [HERE / f"{n}.cmd" for n in names] or sorted(HERE.glob("*.cmd"))
    failed = 0
    for case in cases:
        if not case.exists():
            sys.exit(f"there is no case {case.stem}")
        expected = case.with_suffix(".expected")
        text = output(program, case)
        if text != output(program, case):
            print(f"{case.stem}: two runs differ")
            failed += 1
        elif record:
            expected.write_text(text)
        elif not expected.exists() or expected.read_text() != text:
            failed += 1
            was = expected.read_text().splitlines(True) if expected.exists() else []
            sys.stdout.writelines(difflib.unified_diff(was, text.splitlines(True), f"{case.stem} expected", "printed"))
    orphans = [e.name for e in HERE.glob("*.expected") if not e.with_suffix(".cmd").exists()]
    for name in orphans:
        print(f"{name}: no command file")
    failed += len(orphans)
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed or not cases else 0


sys.exit(main())
