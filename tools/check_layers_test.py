"""tools/check-layers finds each kind of violation, and nothing in a tree that has none."""
import os
import subprocess

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-layers")

GOOD = {
    "tools/layers.txt": "base :\nmodel : base\nnet : base model\n",
    "src/base/README.md": "base\n",
    "src/base/a.h": "// a\n#pragma once\n",
    "src/model/README.md": "model\n",
    "src/model/b.h": '// b\n#pragma once\n#include "base/a.h"\n',
    "src/net/README.md": "net\n",
    "src/net/c.cc": '#include <sys/socket.h>\n#include "model/b.h"\n',
}


def look(root, files=None):
    for name, text in {**GOOD, **(files or {})}.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
    done = subprocess.run([TOOL, "--root", root], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_good_tree_passes(tmp_path):
    assert look(str(tmp_path)) == (0, "")


def expect(tmp_path, name, text, line, message):
    status, out = look(str(tmp_path), files={name: text})
    assert status == 1
    assert out == "%s:%d: %s\n" % (name, line, message)


def test_an_include_upwards(tmp_path):
    expect(tmp_path, "src/base/d.cc", '\n#include "net/x.h"\n', 2, 'layers: "net/x.h" is no file below src/')
    expect(tmp_path, "src/base/d.cc", '\n#include "model/b.h"\n', 2, "layers: base may not include model (model/b.h)")


def test_a_library_that_depends_upwards(tmp_path):
    expect(tmp_path, "src/base/CMakeLists.txt", "muster_library(base DEPENDS model)\n", 1,
           "layers: library base may not depend on model")


def test_a_cycle_between_folders(tmp_path):
    status, out = look(str(tmp_path), files={"tools/layers.txt": "base : net\nmodel : base\nnet : base model\n"})
    assert status == 1 and "tools/layers.txt: a cycle: base -> net -> base" in out


def test_a_folder_in_a_folder(tmp_path):
    layers = "base :\nmodel : base\nmodel/low : base\nmodel/high : model/low\nnet : base model/*\n"
    text = '\n#include "model/high/h.h"\n'
    header = "// What lives here.\n#pragma once\n"
    files = {"tools/layers.txt": layers, "src/model/high/h.h": header, "src/model/high/README.md": "# high\n"}
    assert look(str(tmp_path), files=files | {"src/net/d.cc": text}) == (0, "")
    status, out = look(str(tmp_path), files=files | {"src/model/low/d.cc": text + "#include <thread>\n"})
    assert status == 1 and out == ("src/model/low/d.cc:2: layers: model/low may not include model/high (model/high/h.h)\n"
                                   "src/model/low/d.cc:3: pure: <thread>: threads\n")


def test_pure_code_reads_no_clock(tmp_path):
    expect(tmp_path, "src/model/d.cc", "\nauto t = std::chrono::steady_clock::now();\n", 2,
           "pure: steady_clock::now: clock")
    expect(tmp_path, "src/model/d.cc", "// steady_clock::now() in a comment is fine\n#include <thread>\n", 2,
           "pure: <thread>: threads")


def test_the_shell_may_read_the_clock(tmp_path):
    assert look(str(tmp_path), files={"src/net/d.cc": "auto t = std::chrono::steady_clock::now();\n"})[0] == 0


def test_a_walk_over_an_unordered_container(tmp_path):
    text = "void f(const std::unordered_map<int, std::vector<int>>& ids) {\n  for (auto& [a, b] : ids) g(a);\n}\n"
    expect(tmp_path, "src/model/d.cc", text, 2, "pure: walks the unordered container ids")
    assert look(str(tmp_path), files={
        "src/model/d.cc": text.replace("g(a);", "g(a);  // order-free: g only counts")})[0] == 0


def test_the_size_of_a_file_and_its_ratchet(tmp_path):
    long = "// x\n" * 700
    expect(tmp_path, "src/net/d.cc", long, 700, "size: 700 lines, at most 600")
    allow = {"src/net/d.cc": long, "tools/layers-allow.txt": "size src/net/d.cc 700\n"}
    assert look(str(tmp_path), files=allow) == (0, "")
    allow["src/net/d.cc"] = long + "// one more\n"
    assert look(str(tmp_path), files=allow)[0] == 1
    allow["src/net/d.cc"] = "// x\n" * 650
    assert "has shrunk to 650 lines" in look(str(tmp_path), files=allow)[1]
    allow["src/net/d.cc"] = "// x\n"
    assert "not needed any more, remove it: size src/net/d.cc 700" in look(str(tmp_path), files=allow)[1]


def test_headers_and_pages(tmp_path):
    expect(tmp_path, "src/net/d.h", "#pragma once\n", 1, "header: opens without a comment that says what lives here")
    os.remove(tmp_path / "src/net/d.h")
    os.remove(tmp_path / "src/net/README.md")
    status = subprocess.run([TOOL, "--root", str(tmp_path)], capture_output=True, text=True)
    assert (status.returncode, status.stdout) == (1, "src/net:1: readme: no README.md\n")


def test_a_text_that_is_read_behind_the_edges(tmp_path):
    text = "auto names = expand_hosts(list);\n"
    expect(tmp_path, "src/net/d.cc", text, 1, "text: expand_hosts: a text is read at the edges alone")
    os.remove(str(tmp_path / "src/net/d.cc"))
    assert look(str(tmp_path), files={"src/model/d.cc": text, "src/net/d_test.cc": text}) == (0, "")


SCHED = {"tools/layers.txt": GOOD["tools/layers.txt"] + "sched : base model\nslurmctld/core : base model sched\n",
         "src/sched/README.md": "sched\n", "src/slurmctld/core/README.md": "core\n", "src/slurmctld/core/e.cc": ""}
ADVICE = ": a request is read where it comes in; take its value, or say why in tools/texts-allow.txt"


def test_a_request_that_is_taken_apart_where_it_is_acted_on(tmp_path):
    for line, call in (("MUSTER_TRY(dist, Distribution::parse(r.distribution));", "Distribution::parse"),
                       ("  return parse_array_spec(r.array, most);", "parse_array_spec"),
                       ("auto n = parse_number<uint32_t>(r.node_sizes, 1);", "parse_number"),
                       ("for (std::string_view flag : split(r.gres_flags, ',')) use(flag);", "split")):
        status, out = look(str(tmp_path), files={**SCHED, "src/sched/d.cc": line + "\n"})
        assert (status, out) == (1, "src/sched/d.cc:1: text: %s%s\n" % (call, ADVICE)), line


def test_what_is_no_reading_of_a_request(tmp_path):
    fine = ("MUSTER_TRY(dist, r.distribution.parsed());\n"
            "std::vector<Word> parse_words(std::string_view text);\n"
            "size_t split(Slot slot);\n"
            "const size_t from = split(first);\n"
            "// split(text, ',') in a comment\n")
    assert look(str(tmp_path), files={**SCHED, "src/sched/d.cc": fine}) == (0, "")
    reads = "for (auto word : split(value, ',')) use(word);\n"
    edges = {"src/slurmctld/core/update_job.cc": reads, "src/sched/d_test.cc": reads, "src/net/d.cc": reads}
    assert look(str(tmp_path), files={**SCHED, **edges}) == (0, "")


def test_a_reading_that_is_allowed_has_a_reason_and_is_needed(tmp_path):
    reads = {**SCHED, "src/sched/d.cc": "use(split(line, ','), parse_step(line));\n"}
    allow = "src/sched/d.cc split parse_step # a file of its own\n"
    assert look(str(tmp_path), files={**reads, "tools/texts-allow.txt": "# what this is\n" + allow}) == (0, "")
    status, out = look(str(tmp_path), files={**reads, "tools/texts-allow.txt": "src/sched/d.cc split parse_step\n"})
    assert (status, out) == (1, "tools/texts-allow.txt:1: want PATH CALL … # why\n")
    status, out = look(str(tmp_path), files={**SCHED, "src/sched/d.cc": "use(split(line, ','));\n", "tools/texts-allow.txt": allow})
    assert (status, out) == (1, "tools/texts-allow.txt:1: allow: not needed any more, remove it: src/sched/d.cc parse_step\n")
