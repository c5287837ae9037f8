"""tools/check-format sees what is formatted otherwise, and mends it."""
import os
import shutil
import subprocess

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-format")
STYLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".clang-format")


def look(root, text, *options):
    os.makedirs(str(root) + "/src/net", exist_ok=True)
    shutil.copy(STYLE, str(root))
    path = str(root) + "/src/net/a.cc"
    if text is not None:
        with open(path, "w") as f:
            f.write(text)
    done = subprocess.run([TOOL, "--root", str(root), *options], capture_output=True, text=True)
    return done.returncode, done.stdout, open(path).read()


def test_a_file_that_is_formatted_holds(tmp_path):
    assert look(tmp_path, "int f(int a) { return a; }\n")[:2] == (0, "")


def test_one_that_is_not_is_named_and_mended(tmp_path):
    status, out, _ = look(tmp_path, "int f( int a ){return a;}\n", "--junit", str(tmp_path) + "/j.xml")
    assert status == 1 and out.startswith("src/net/a.cc: ")
    assert 'failures="1"' in open(str(tmp_path) + "/j.xml").read()
    assert look(tmp_path, None, "--write")[::2] == (0, "int f(int a) { return a; }\n")
