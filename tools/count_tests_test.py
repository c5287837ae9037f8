"""tools/count-tests: skips never count as passes, a crashed program counts as a failure."""
import os
import subprocess

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count-tests")


def count(folder, **reports):
    for name, text in reports.items():
        (folder / (name + ".xml")).write_text(text)
    done = subprocess.run([TOOL, str(folder)], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


CTEST = """<testsuite name="x">
  <testcase name="base_test" status="%s"/>
  <testcase name="layers" status="run"/>
</testsuite>"""
GTEST = """<testsuites name="AllTests"><testsuite name="Time">
  <testcase name="Prints" classname="Time" status="run" result="completed"/>
  <testcase name="Needs" classname="Time" status="run" result="skipped"><skipped/></testcase>
  <testcase name="Off" classname="Time" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite name="pytest">
  <testcase classname="test_a" name="one"/>
  <testcase classname="test_a" name="two"><failure message="no"/></testcase>
  <testcase classname="test_a" name="three"><skipped/></testcase>
</testsuite></testsuites>"""


def test_cases_of_a_program_replace_its_line_in_ctest(tmp_path):
    assert count(tmp_path, ctest=CTEST % "run", base_test=GTEST) == (0, ["2 passed, 0 failed, 2 skipped"])


def test_a_program_that_crashed_left_no_report(tmp_path):
    status, lines = count(tmp_path, ctest=CTEST % "fail")
    assert (status, lines) == (1, ["FAILED base_test: ended without a report", "1 passed, 1 failed"])


def test_a_program_that_fails_after_its_cases(tmp_path):
    status, lines = count(tmp_path, ctest=CTEST % "fail", base_test=GTEST)
    assert status == 1 and lines[-1] == "2 passed, 1 failed, 2 skipped"


def test_pytest(tmp_path):
    status, lines = count(tmp_path, cluster=PYTEST)
    assert (status, lines) == (1, ["FAILED cluster: test_a.two", "1 passed, 1 failed, 1 skipped"])


def test_nothing_ran(tmp_path):
    assert count(tmp_path) == (1, ["0 passed, 0 failed"])


def test_a_torn_report(tmp_path):
    status, lines = count(tmp_path, cluster="<testsuite>")
    assert status == 1 and lines[-1] == "0 passed, 1 failed"
