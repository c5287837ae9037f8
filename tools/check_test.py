"""./check: what did not run to its end is no pass. A copy of it, in a tree whose tools and tests are this file's."""
import os
import shutil
import subprocess

import pytest

TOOLS = os.path.dirname(os.path.abspath(__file__))
PASSES = "def test_passes():\n    pass\n"
REPORT = """#!/bin/sh
echo '<testsuite name="t"><testcase classname="t" name="t"/></testsuite>' >"$2"
"""


@pytest.fixture
def tree(tmp_path):
    """check(*options): its exit status and last line. Files may be altered before."""
    for folder in ("tools", "bin"):
        (tmp_path / folder).mkdir()
    shutil.copy(os.path.join(os.path.dirname(TOOLS), "check"), tmp_path)
    shutil.copy(os.path.join(TOOLS, "count-tests"), tmp_path / "tools")
    for name in ("layers", "shape", "format"):
        program(tmp_path / "tools" / ("check-" + name), REPORT)
    (tmp_path / "tools" / "some_test.py").write_text(PASSES)
    return tmp_path


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def check(tree, *options):
    path = "%s:%s" % (tree / "bin", os.environ["PATH"])
    done = subprocess.run([str(tree / "check"), "--no-install", "--no-build", *options], capture_output=True, text=True,
                          env=dict(os.environ, PATH=path))
    return done.returncode, done.stdout.splitlines()[-1]


def test_all_pass(tree):
    assert check(tree, "--only", "layers") == (0, "4 passed, 0 failed")


def test_a_pytest_that_was_ended_is_a_failure(tree):
    (tree / "tools" / "some_test.py").write_text(PASSES + "def test_is_ended():\n    raise KeyboardInterrupt\n")
    status, line = check(tree, "--only", "layers")
    assert status == 1 and line.endswith(" 1 failed")


def test_so_is_one_that_reached_its_time_limit_and_wrote_a_report(tree):
    program(tree / "bin" / "timeout", '#!/bin/sh\nshift 3\n"$@"\nexit 124\n')
    assert check(tree, "--only", "layers") == (1, "4 passed, 1 failed")


def test_nothing_that_matches_is_no_failure(tree):
    assert check(tree, "--only", "layers", "-k", "no_such_test") == (0, "3 passed, 0 failed")


@pytest.mark.parametrize("name", ["layers", "shape", "format"])
def test_a_tool_that_left_no_report_is_a_failure(tree, name):
    program(tree / "tools" / ("check-" + name), "#!/bin/sh\nexit 3\n")
    assert check(tree, "--only", "layers") == (1, "3 passed, 1 failed")


def test_the_security_tier_without_root_is_counted_as_skipped(tree):
    program(tree / "bin" / "id", "#!/bin/sh\necho 1000\n")
    assert check(tree, "--only", "layers,security") == (0, "4 passed, 0 failed, 1 skipped")


def test_a_submission_must_not_leave_it_out(tree):
    shutil.copytree(os.path.join(os.path.dirname(TOOLS), ".ci"), tree / ".ci")
    program(tree / "bin" / "id", "#!/bin/sh\necho 1000\n")
    done = subprocess.run([str(tree / ".ci" / "run"), "--help"], capture_output=True, text=True,
                          env=dict(os.environ, PATH="%s:%s" % (tree / "bin", os.environ["PATH"])))
    assert done.returncode == 1 and "needs root" in done.stderr


CLANG = "#!/bin/sh\nexit 0\n"
CTEST = """#!/bin/sh
while [ $# -gt 0 ]; do if [ "$1" = --output-junit ]; then report=$2; fi; shift; done
echo "<testsuite name='t'><testcase name='a_fuzz' status='run'/><testcase name='${MUSTER_FUZZ_SECONDS}_fuzz' status='%s'/></testsuite>" >$report
"""


def test_each_fuzzer_counts_and_runs_for_as_long_as_is_asked(tree):
    program(tree / "bin" / "clang++-19", CLANG)
    program(tree / "bin" / "ctest", CTEST % "run")
    assert check(tree, "--only", "fuzz", "--fuzz-seconds", "7") == (0, "2 passed, 0 failed")
    assert "7_fuzz" in (tree / "build" / "check" / "fuzz" / "ctest.xml").read_text()
    check(tree, "--only", "fuzz")
    assert "60_fuzz" in (tree / "build" / "check" / "fuzz" / "ctest.xml").read_text()


def test_a_fuzzer_that_found_something_is_a_failure(tree):
    program(tree / "bin" / "clang++-19", CLANG)
    program(tree / "bin" / "ctest", CTEST % "fail")
    assert check(tree, "--only", "fuzz") == (1, "1 passed, 1 failed")


@pytest.mark.parametrize("seconds", ["0", "soon", ""])
def test_fuzz_seconds_is_a_number(tree, seconds):
    done = subprocess.run([str(tree / "check"), "--fuzz-seconds", seconds], capture_output=True, text=True)
    assert done.returncode == 2 and "want a number" in done.stderr


def test_without_clang_fuzz_and_tidy_are_counted_as_skipped(tree):
    for name in ("clang++-19", "clang-tidy-19"):
        program(tree / "bin" / name, "#!/bin/sh\nexit 1\n")
    assert check(tree, "--only", "layers,fuzz,tidy") == (0, "4 passed, 0 failed, 2 skipped")


@pytest.fixture
def tidy_tree(tree):
    """With the real tools/check-tidy, a clang-tidy that finds what holds BAD, and no cmake to configure with."""
    shutil.copy(os.path.join(TOOLS, "check-tidy"), tree / "tools")
    program(tree / "bin" / "clang++-19", CLANG)
    program(tree / "bin" / "cmake", "#!/bin/sh\nexit 0\n")
    program(tree / "bin" / "clang-tidy-19", '#!/bin/sh\nif [ "$1" = --version ]; then exit 0; fi\n! grep BAD "$4"\n')
    (tree / "src").mkdir()
    return tree


def commit(tree):
    for arguments in (["init", "-q"], ["add", "src"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "t"]):
        subprocess.run(["git", "-C", str(tree), *arguments], check=True)


def tidy_line(tree, tier="tidy"):
    return [line for line in (tree / "build" / "check" / (tier + ".log")).read_text().splitlines() if line.startswith("looked at")][-1]


def test_tidy_looks_at_nothing_without_a_commit_before(tidy_tree):
    (tidy_tree / "src" / "a.cc").write_text("BAD")
    commit(tidy_tree)
    assert check(tidy_tree, "--only", "tidy") == (0, "1 passed, 0 failed")
    assert tidy_line(tidy_tree).startswith("looked at 0 files, 0 with findings")


def test_tidy_looks_at_what_was_committed_last_changed_since_or_is_new(tidy_tree):
    for name in "abc":
        (tidy_tree / "src" / (name + ".cc")).write_text("BAD")
    (tidy_tree / "src" / "gone.cc").write_text("BAD")
    commit(tidy_tree)
    (tidy_tree / "src" / "gone.cc").unlink()
    (tidy_tree / "src" / "a.cc").write_text("BAD, committed")
    (tidy_tree / "src" / "a_test.cc").write_text("BAD")
    (tidy_tree / "src" / "d.cc").write_text("good")
    commit(tidy_tree)
    (tidy_tree / "src" / "b.cc").write_text("BAD, not committed")
    (tidy_tree / "src" / "new.cc").write_text("BAD")
    assert check(tidy_tree, "--only", "tidy") == (1, "1 passed, 3 failed")
    assert tidy_line(tidy_tree).startswith("looked at 4 files, 3 with findings")
    assert check(tidy_tree, "--only", "tidy-all") == (1, "1 passed, 4 failed")


def test_tidy_says_how_many_it_left_out(tidy_tree):
    commit(tidy_tree)
    commit(tidy_tree)
    for n in range(15):
        (tidy_tree / "src" / ("%02d.cc" % n)).write_text("x" * n)
    assert check(tidy_tree, "--only", "tidy") == (0, "1 passed, 0 failed")
    assert tidy_line(tidy_tree).startswith("looked at 12 files, 0 with findings, 3 left out")
