"""Every case prints what the newest recorded Slurm printed (26.11, else 22.05), or exactly the difference that differences/ justifies."""
import difflib
import os
import re
import tempfile

import pytest

import harness
import shared
import transcript

SUBJECTS = transcript.subjects()
# world by world
LAST = ("shared-reservations",)     # sacctmgr shows reservations that are gone
CASES = [case for subject in sorted(SUBJECTS, key=lambda subject: (shared.world_of(subject).__name__, subject in LAST, subject))
         for case in transcript.cases(subject)]
MANUAL = os.path.join(os.environ.get("MUSTER_REFERENCE") or os.path.join(harness.REPO, "..", "shared", "reference"), "man")


@pytest.fixture(scope="session")
def worlds():
    """One at a time: the cases come world by world."""
    made = Worlds()
    try:
        yield made
    finally:
        made.end()


class Worlds:
    kind, world, folder, error = None, None, None, None

    def of(self, subject):
        """The world of a subject, started; whatever other there was has ended."""
        kind = shared.world_of(subject)
        if kind is not self.kind:
            self.end()
            self.folder = tempfile.mkdtemp(prefix="mt-")
            os.chmod(self.folder, 0o755)
            self.kind, self.world, self.error = kind, kind(self.folder), "its world did not start"
            self.world.start()
            self.error = None
        if self.error:      # the case before told why
            pytest.fail(self.error, pytrace=False)
        return self.world

    def end(self):
        if self.world:
            self.world.stop()
            harness.remove(self.folder)
        self.kind = self.world = None


def marked(case):
    if case.id not in transcript.still_wrong():
        return pytest.param(case, id=case.id)
    return pytest.param(case, id=case.id, marks=pytest.mark.xfail(reason="still wrong: open.txt", strict=False))


@pytest.mark.parametrize("case", map(marked, CASES))
def test_case(worlds, case):
    if shared.world_of(case.subject) is shared.Shared and not shared.possible():
        pytest.skip("the jobs of several users: only root can submit them")
    recorded = transcript.newest(case.subject)[case.name]
    justified = transcript.differences(case.subject).get(case.name)
    got = worlds.of(case.subject).play(case)
    want = justified.outcome if justified else recorded
    if got != want:
        text = "%s\n%s\n%s" % (case.id, case.script, compare("wanted", want, got))
        pytest.fail(text + ("\n" + compare("Slurm", recorded, got) if justified else ""), pytrace=False)


def compare(name, left, right):
    return "\n".join(difflib.unified_diff(left.lines(), right.lines(), name, "printed", n=50, lineterm=""))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_records_belong_to_cases(subject):
    names = [case.name for case in transcript.cases(subject)]
    assert list(transcript.expected(subject)) == names, "record again: test/oracle/record " + subject
    assert set(transcript.expected(subject, "expected-26")) <= set(names), "a case that was renamed keeps its newer outcome"
    assert set(transcript.differences(subject)) <= set(names)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_differences_are_real_and_have_a_reason(subject):
    recorded = transcript.newest(subject)
    for name, difference in transcript.differences(subject).items():
        where = "%s/%s" % (subject, name)
        assert difference.reason in transcript.reasons(), where
        assert difference.outcome != recorded[name], where + ": no difference any more, take it out"
        if transcript.reasons()[difference.reason].kind == "message":
            slurm, muster = recorded[name], difference.outcome
            assert (slurm.code, slurm.out) == (muster.code, muster.out), where + ": only stderr may differ in a message"


@pytest.mark.parametrize("name", transcript.reasons())
def test_reasons_are_used_and_quote_the_manual_page(name):
    """kind `changed` and `refusal` need words of a page: page(section) "words"."""
    reason = transcript.reasons()[name]
    assert reason.kind in transcript.KINDS and len(reason.why) > 20
    assert any(d.reason == name for subject in SUBJECTS for d in transcript.differences(subject).values()), "used nowhere"
    quotes = re.findall(r'([a-z][\w.-]*)\((\d)\) "([^"]+)"', reason.why)
    assert quotes or reason.kind != "changed"
    for page, section, words in quotes:
        path = os.path.join(MANUAL, "%s.%s.txt" % (page, section))
        if not os.path.exists(path):
            pytest.skip("no reference manual pages")
        with open(path) as f:
            text = re.sub("\u2010\\s+", "", f.read())    # the page's own hyphens at line ends
        assert " ".join(words.split()) in " ".join(text.split()), "%s(%s) does not say %r" % (page, section, words)


def test_what_is_open_is_a_case_and_not_justified():
    ids = {case.id for case in CASES}
    for name in transcript.still_wrong():
        assert name in ids, "open.txt: no case " + name
        subject, case = name.split("/")
        assert case not in transcript.differences(subject), name


def test_nothing_is_left_of_subjects_that_went():
    for folder in ("expected", "expected-26", "differences"):
        there = {name[:-4] for name in os.listdir(os.path.join(transcript.HERE, folder))}
        assert there <= set(SUBJECTS), folder
