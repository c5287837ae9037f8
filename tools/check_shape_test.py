"""tools/check-shape measures what it says, and takes nothing else for it."""
import os
import subprocess

import pytest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-shape")


def look(root, text, name="src/net/d.cc", allow="", options=()):
    for path, content in ((name, text), ("tools/shape-allow.txt", allow)):
        full = os.path.join(str(root), path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as f:
            f.write(content)
    done = subprocess.run([TOOL, "--root", str(root), *options], capture_output=True, text=True)
    return done.returncode, done.stdout


def function(name, lines):
    return name + " {\n" + "  f();\n" * (lines - 2) + "}\n"


HEADS = ["int A::b(int count)", "A::A(int count) : a_{count}, b_(count)", "template <class T>\nResult<T> c(const std::vector<T>& all)",
         "bool operator==(const A& one, const A& other)", "static auto d() -> std::function<void(int)>", "void e() const noexcept"]


@pytest.mark.parametrize("head", HEADS)
def test_a_function_that_is_too_long(tmp_path, head):
    lines = 61 - head.count("\n")
    status, out = look(tmp_path, "namespace m {\n" + function(head, lines) + "}\n")
    assert status == 1 and "src/net/d.cc:2: function: " in out and "61 lines, at most 60" in out
    assert look(tmp_path, "namespace m {\n" + function(head, lines - 1) + "}\n") == (0, "")


def test_what_is_no_function_may_be_long(tmp_path):
    rows = "  {1, [](int x) { return x; }},\n" * 100
    assert look(tmp_path, "constexpr Row kRows[] = {\n" + rows + "};\nstruct A {\n" + "  int a;\n" * 100 + "};\n") == (0, "")


@pytest.mark.parametrize("text", [
    "static int counter = 0;", "std::string name;", "Loop* current = nullptr;", "std::map<int, std::string> all = {{1, ""}};",
    "const char* word = \"x\";", "void f() {\n  static int n = 0;\n}", "struct A {\n  static int n;\n};", "thread_local Deep::Type t{3};",
])
def test_a_mutable_variable_of_the_program(tmp_path, text):
    status, out = look(tmp_path, "namespace m {\n" + text + "\n}\n")
    assert status == 1 and "mutable variable" in out, out


@pytest.mark.parametrize("text", [
    "constexpr int kMost = 3;", "const std::string kName = \"x\";", "const char* const kWords[] = {\"a\", \"b\"};", "using T = int;",
    "Result<int> f(int a = 3);", "extern char** environ;", "enum Kind : int { kA = 1 };", "struct B;", "typedef struct { int a; } c_t;",
    "void f() {\n  static const int n = g();\n  static constexpr int m = 0;\n}", "static_assert(std::all_of(k, [](int x) { return x > 0; }));",
    "struct A {\n  int n = 0;\n  static constexpr int m = 1;\n  void f();\n};", "MUSTER_ROW(a, b)", "std::string f() { return {}; }",
    "template <class T>\nclass C : public D<T> {\n  T t;\n};",
])
def test_what_is_none(tmp_path, text):
    assert look(tmp_path, "namespace m {\n" + text + "\n}\n") == (0, "")


def test_a_class_over_many_files(tmp_path):
    for n in range(5):
        status, out = look(tmp_path, "void A::f%d() {}\n" % n, name="src/net/d%d.cc" % n)
        assert (status == 1) == (n == 4), out
    assert out == "src/net:1: class: A(files): 5, at most 4 files and 60 functions\n"


def test_a_number_that_is_allowed_only_shrinks(tmp_path):
    row = "function src/net/d.cc f 70 # why\n"
    assert look(tmp_path, function("void f()", 70), allow=row) == (0, "")
    assert look(tmp_path, function("void f()", 71), allow=row)[0] == 1
    status, out = look(tmp_path, function("void f()", 65), allow=row)
    assert status == 1 and "has shrunk to 65" in out
    assert look(tmp_path, function("void f()", 65), allow=row, options=["--write"]) == (0, "")
    with open(os.path.join(str(tmp_path), "tools/shape-allow.txt")) as f:
        assert f.read().endswith("function src/net/d.cc f 65 # why\n")
    status, out = look(tmp_path, function("void f()", 10), allow=row)
    assert status == 1 and "not needed any more" in out
    assert look(tmp_path, function("void f()", 66), allow=row, options=["--write"])[0] == 0


def test_tests_may_be_long(tmp_path):
    assert look(tmp_path, function("TEST(A, B)", 100), name="src/net/d_test.cc") == (0, "")


def in_scope(declaration, lines, end="}"):
    """A function in which what `declaration` opens lasts so many lines."""
    return "void f() {\n" + declaration + "\n" + "  g();\n" * (lines - 2) + end + "\n}\n" if end == "}" else declaration + "\n" + "  g();\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize("text", [
    in_scope("void f(const Job& j) {", 13, ""), in_scope("void A::f(int count, std::vector<Node>* n) {", 13, ""), in_scope("void f() {\n  int a = 1;", 13, ""),
    in_scope("void f() {\n  const Deep::Type<int>& t{g()};", 13, ""), in_scope("for (const Node& n : nodes) {", 13), in_scope("run([&](const Job& j) {", 13, "}"),
    in_scope("if (const Job* j = find(x)) {", 13), in_scope("void f() {\n  MUSTER_TRY(r, read());", 13, ""), in_scope("for (const auto& [a, text] : all) {", 13),
])
def test_a_name_of_one_letter_that_lives_too_long(tmp_path, text):
    status, out = look(tmp_path, text)
    assert status == 1 and "src/net:1: letters: names: 1 of one letter in a scope of more than 12 lines" in out, out
    assert look(tmp_path, text, allow="letters src/net names 1\n") == (0, "")
    assert "has shrunk" in look(tmp_path, text, allow="letters src/net names 2\n")[1]


@pytest.mark.parametrize("text", [
    in_scope("for (const Node& n : nodes) {", 12), in_scope("void f(const Job& job) {", 40, ""), in_scope("void f() {\n  x = a * b;\n  return c;\n  g(d, e);", 40, ""),
    "void f() {\n" + "  for (int i = 0; i < 9; ++i)\n    g(i);\n" * 20 + "}\n", "void f() {\n" + "  all.sort([](int a, int b) { return a < b; });\n" * 20 + "}\n",
    "struct A {\n" + "  int a;\n" * 20 + "};\n",
])
def test_a_name_of_one_letter_within_a_few_lines(tmp_path, text):
    assert look(tmp_path, text) == (0, "")


def test_the_names_of_one_letter_are_listed(tmp_path):
    look(tmp_path, in_scope("void f(const Job& j) {", 13, ""))
    done = subprocess.run([TOOL, "--root", str(tmp_path), "--letters", "src/net"], capture_output=True, text=True)
    assert done.stdout == "src/net/d.cc:1: j for 13 lines, in f\n"
