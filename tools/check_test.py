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
