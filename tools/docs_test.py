"""The pages of docs/ name files and link to pages that exist."""
import glob
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = sorted(subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True).stdout.split()) or [
    os.path.relpath(os.path.join(top, name), ROOT) for top, _, names in os.walk(os.path.join(ROOT, "docs"))
    for name in names if name.endswith(".md")]
PLACES = ("src/", "tools/", "docs/", "test/", "bench/", "examples/", "cmake/", "packaging/", "include/")


def named_paths(text):
    """`src/…` in backquotes; a pattern such as src/x/*.cc stands for any file."""
    for name in re.findall(r"`([^`\s]+)`", text):
        if name.startswith(PLACES) and not re.search(r"[<>$]", name):
            yield name.split(":")[0].rstrip("/.,")


def exists(name):
    return bool(glob.glob(os.path.join(ROOT, name))) if re.search(r"[*?\[]", name) else os.path.exists(
        os.path.join(ROOT, name))


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/") or "/" not in page])
def test_named_paths_exist(page):
    with open(os.path.join(ROOT, page)) as f:
        text = f.read()
    missing = [name for name in named_paths(text) if not exists(name)]
    assert not missing, "%s names what is not there: %s" % (page, missing)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    folder = os.path.dirname(os.path.join(ROOT, page))
    with open(os.path.join(ROOT, page)) as f:
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", f.read())
    dead = [link for link in links if "://" not in link and not os.path.exists(os.path.join(folder, link))]
    assert not dead, "%s links to what is not there: %s" % (page, dead)


def test_life_of_a_job_goes_through_every_program():
    with open(os.path.join(ROOT, "docs/life-of-a-job.md")) as f:
        names = list(named_paths(f.read()))
    for part in ("src/cli/sbatch", "src/wire", "src/net", "src/slurmctld/core", "src/slurmctld/daemon", "src/store", "src/sched",
                 "src/slurmd/core"):
        assert any(name.startswith(part) for name in names), "no station in " + part
    assert len(names) >= 20


def test_the_page_of_variables_is_what_the_sources_say():
    done = subprocess.run([os.path.join(ROOT, "tools/environment"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
