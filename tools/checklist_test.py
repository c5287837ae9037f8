"""tools/checklist finds rows without a test, marks that prove nothing, and a stale page."""
import glob
import importlib.machinery
import importlib.util
import os
import re
import subprocess

import pytest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checklist")
loader = importlib.machinery.SourceFileLoader("checklist", TOOL)
checklist = importlib.util.module_from_spec(importlib.util.spec_from_loader("checklist", loader))
loader.exec_module(checklist)

ROWS = {"1": ("first", ""), "2": ("second", "accounting")}


def marked(text):
    return checklist.tests_in("test_x.py", "import pytest\nrow = pytest.mark.row\n" + text)


def test_the_page_is_current_and_no_row_is_without_a_test():
    done = subprocess.run([TOOL, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_rows_are_read():
    assert checklist.read_rows("# a comment\n1 | first\n\n2 | second | accounting\n") == ROWS


@pytest.mark.parametrize("line, why", [("1 | again", "is there twice"), ("x | no number", "is no number"), ("109ab | two letters", "is no number")])
def test_a_list_that_cannot_be_right_is_refused(line, why):
    with pytest.raises(ValueError, match=why):
        checklist.read_rows("1 | first\n" + line + "\n")


def test_rows_with_a_letter_stand_behind_their_number():
    rows = checklist.read_rows("110 | c\n109a | b\n20 | a\n109 | b0\n")
    page, wrong = checklist.judge(rows, [("vm/inside/test_x.py::test_a", set(rows), "")])
    assert wrong == [] and re.findall(r"^\| (\w+) \| \w+ \|  \| `vm/inside/test_x.py::test_a` \|$", page, re.M) == ["20", "109", "109a", "110"]
    assert marked('@row(1, "109a")\ndef test_a(c):\n    assert c\n')[0][1] == {"1", "109a"}


def test_a_mark_without_a_row_is_named():
    assert checklist.judge(ROWS, [("test_x.py::test_a", {"1", "2", "300"}, "")])[1] == [
        "test_x.py::test_a is marked with row 300, which checklist.txt does not have"]


def test_every_folder_of_tests_is_read_and_names_itself():
    """Each folder of FOLDERS exists, and one with rows is on the page under its name."""
    for folder, prefix in checklist.FOLDERS.items():
        assert glob.glob(os.path.join(checklist.ROOT, folder, "test_*.py")), folder
        assert prefix == ("" if folder == "test/cluster" else folder[len("test/"):] + "/")
    page = checklist.read(checklist.PAGE)
    assert "`packages/test_packages.py::" in page and "`security/test_" in page and "`vm/inside/test_units.py::" in page


def test_marks_on_tests_parameters_and_files():
    assert marked("@row(1, 2)\ndef test_a(c):\n    assert c\n") == [("test_x.py::test_a", {"1", "2"}, "")]
    assert marked('@pytest.mark.parametrize("v", [pytest.param(1, marks=row(2))])\ndef test_a(v):\n    assert v\n')[0][1] == {"2"}
    assert marked("pytestmark = [pytest.mark.row(1)]\ndef test_a(c):\n    assert c\n")[0][1] == {"1"}
    assert marked("def test_a(c):\n    assert c.row(1)\n") == []


def test_a_test_that_never_runs_proves_nothing():
    for text in ("@pytest.mark.skip\n@row(1)\ndef test_a(c):\n    assert c\n",
                 "@pytest.mark.skip(reason='later')\n@row(1)\ndef test_a(c):\n    assert c\n",
                 "@pytest.mark.skipif(True, reason='later')\n@row(1)\ndef test_a(c):\n    assert c\n",
                 "@pytest.mark.xfail\n@row(1)\ndef test_a(c):\n    assert c\n",
                 "@row(1)\ndef test_a(c):\n    '''Text.'''\n    pytest.skip('later')\n",
                 "@row(1)\ndef test_a(c):\n    pass\n", "@row(1)\ndef test_a(c):\n    '''Text.'''\n"):
        found = marked(text)
        assert found == [("test_x.py::test_a", None, "")], text
        assert "test_x.py::test_a is marked and never runs" in checklist.judge(ROWS, found)[1]
    found = marked("@pytest.mark.skipif(no_root(), reason='not root')\n@row(1)\ndef test_a(c):\n    assert c\n")
    assert found == [("test_x.py::test_a", {"1"}, " (skipped: not root)")]


def test_a_row_without_a_test_is_named():
    page, wrong = checklist.judge(ROWS, [("test_x.py::test_a", {"1"}, "")])
    assert wrong == ["row 2 (second) has no test"]
    assert "| 1 | first |  | `test_x.py::test_a` |\n" in page


def test_what_a_whole_file_needs_is_told_of_each_test():
    text = "pytestmark = [row(1), pytest.mark.skipif(no_mpi(), reason='no MPI')]\n@pytest.mark.skipif(no_root(), reason='not root')\ndef test_a(c):\n    assert c\n"
    assert marked(text) == [("test_x.py::test_a", {"1"}, " (skipped: no MPI) (skipped: not root)")]
