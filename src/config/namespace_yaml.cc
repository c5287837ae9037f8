#include "config/namespace_yaml.h"

#include "base/text.h"
#include "config/job_namespace_rules.h"
#include "config/yaml_reader.h"

namespace muster::config {
namespace {

constexpr uint32_t kLongestWait = 86400;

class Reader : private YamlReader {
 public:
  Reader(const std::string& file, const Config& config, Findings& f) : YamlReader(file, f), rules_(config, f) {}

  JobNamespaceConf run(const std::string& text) {
    defaults_.space.by_yaml = true;
    whole_map(text, [&](const YAML::Node& map) { whole(map); });
    JobNamespaceConf out;
    out.global = finish(defaults_, defaults_at_);
    for (Conf& conf : confs_) out.per_node.push_back({std::move(conf.nodes), finish(conf.options, conf.at)});
    return out;
  }

 private:
  // Options as they are read: a node's `dirs` do not count where the defaults have dir_confs.
  struct Options {
    JobNamespace space;
    std::optional<std::vector<PrivateDir>> dirs, dir_confs;
  };
  struct Conf {
    SourcePos at;
    std::vector<std::string> nodes;
    Options options;
  };

  void whole(const YAML::Node& map) {
    std::vector<YAML::Node> later;  // what is over the defaults, wherever in the file these are
    auto read_defaults = [&](const YAML::Node& n) {
      defaults_at_ = pos(n);
      options(n, defaults_);
    };
    defaults_at_ = pos(map);
    each_key(map, "namespace.yaml",
             {{"defaults", read_defaults},
              {"disable_bpf_token", [&](const YAML::Node& n) { bpf_token(n); }},
              {"node_confs", [&](const YAML::Node& n) { each(n, "node_confs", [&](const YAML::Node& c) { later.push_back(c); }); }}},
             Unknown::kLeftOut);
    for (const YAML::Node& c : later) node_conf(c);
  }

  // slurmstepd is in no namespace of users, so it closes devices to each step without a token.
  void bpf_token(const YAML::Node& n) {
    if (yes(n, "disable_bpf_token"))
      f_.notice(pos(n), "disable_bpf_token", "changes nothing: no tokens are used here, and each step is held to its own devices");
  }

  void node_conf(const YAML::Node& map) {
    Conf conf{pos(map), {}, defaults_};
    bool named = false;
    each_key(map, "an entry of node_confs",
             {{"nodes",
               [&](const YAML::Node& n) {
                 named = true;
                 conf.nodes = rules_.read_nodes(given_words(n, "nodes"));
               }},
              {"options", [&](const YAML::Node& n) { options(n, conf.options); }}},
             Unknown::kLeftOut);
    if (!map.IsMap()) return;
    if (!named) return f_.error(pos(map), "nodes", "an entry of node_confs needs nodes");
    confs_.push_back(std::move(conf));
  }

  GivenText given(const YAML::Node& n, const char* key) { return {pos(n), key, text(n, key)}; }
  GivenText given_words(const YAML::Node& n, const char* key) { return {pos(n), key, words(n, key)}; }

  // A list, or a text with commas.
  std::string words(const YAML::Node& n, const char* key) {
    if (n.IsScalar()) return n.Scalar();
    std::string out;
    each(n, key, [&](const YAML::Node& one) { out += (out.empty() ? "" : ",") + text(one, key); });
    return out;
  }

  // Over what is there already.
  void options(const YAML::Node& map, Options& to) {
    JobNamespace& space = to.space;
    each_key(map, "options",
             {{"auto_base_path", [&](const YAML::Node& n) { space.make_base = yes(n, "auto_base_path"); }},
              {"base_path", [&](const YAML::Node& n) { rules_.set_base(given(n, "base_path"), space.base); }},
              {"clone_ns_script", [&](const YAML::Node& n) { rules_.set_program(given(n, "clone_ns_script"), space.script); }},
              {"clone_ns_script_wait", [&](const YAML::Node& n) { wait(n, "clone_ns_script_wait", space.script_wait); }},
              {"clone_ns_epilog", [&](const YAML::Node& n) { rules_.set_program(given(n, "clone_ns_epilog"), space.epilog); }},
              {"clone_ns_epilog_wait", [&](const YAML::Node& n) { wait(n, "clone_ns_epilog_wait", space.epilog_wait); }},
              {"clone_ns_flags", [&](const YAML::Node& n) { flags(n, space); }},
              {"dirs", [&](const YAML::Node& n) { to.dirs = rules_.read_dirs(given_words(n, "dirs")); }},
              {"dir_confs", [&](const YAML::Node& n) { to.dir_confs = dir_confs(n); }},
              {"init_script", [&](const YAML::Node& n) { rules_.set_program(given(n, "init_script"), space.init_script); }},
              {"shared", [&](const YAML::Node& n) { space.shared = yes(n, "shared"); }},
              {"user_ns_script", [&](const YAML::Node& n) { rules_.set_program(given(n, "user_ns_script"), space.user_script); }}},
             Unknown::kLeftOut);
  }

  void wait(const YAML::Node& n, const char* key, Duration& to) {
    const auto given = n.IsScalar() ? parse_number<uint32_t>(n.Scalar(), 1, kLongestWait) : std::nullopt;
    if (given) to = seconds(*given);
    else f_.error(pos(n), key, "must be a number of seconds from 1 to " + std::to_string(kLongestWait));
  }

  void flags(const YAML::Node& n, JobNamespace& s) {
    s.own_processes = s.own_users = false;
    const std::string given_words = words(n, "clone_ns_flags");
    for (const std::string_view given : split(given_words, ',')) {
      const std::string_view word = trim(given);
      if (iequals(word, "CLONE_NEWPID")) s.own_processes = true;
      else if (iequals(word, "CLONE_NEWUSER")) s.own_users = true;
      else if (!word.empty() && !iequals(word, "CLONE_NEWNS"))
        f_.error(pos(n), "clone_ns_flags",
                 "\"" + std::string(word.substr(0, 80)) + "\" must be CLONE_NEWPID, CLONE_NEWUSER or CLONE_NEWNS");
    }
  }

  std::optional<std::vector<PrivateDir>> dir_confs(const YAML::Node& list) {
    std::vector<PrivateDir> out;
    each(list, "dir_confs", [&](const YAML::Node& entry) {
      PrivateDir dir;
      bool named = false;
      each_key(entry, "an entry of dir_confs",
               {{"path",
                 [&](const YAML::Node& n) {
                   named = true;
                   rules_.set_directory(given(n, "path"), dir.path);
                 }},
                {"base_path", [&](const YAML::Node& n) { rules_.set_directory(given(n, "base_path"), dir.base); }},
                {"options", [&](const YAML::Node& n) { dir.options = words(n, "options"); }},
                {"tmpfs", [&](const YAML::Node& n) { dir.tmpfs = yes(n, "tmpfs"); }}},
               Unknown::kLeftOut);
      if (!entry.IsMap()) return;
      if (!named) return f_.error(pos(entry), "path", "an entry of dir_confs needs a path");
      if (dir.path.empty()) return;
      if (dir.tmpfs) dir.base.clear();
      out.push_back(std::move(dir));
    });
    return rules_.check_dirs(pos(list), "dir_confs", std::move(out));
  }

  JobNamespace finish(const Options& o, const SourcePos& at) {
    JobNamespace space = o.space;
    if (o.dirs) space.dirs = *o.dirs;
    if (o.dir_confs) space.dirs = *o.dir_confs;
    rules_.check(space, at);
    return space;
  }

  NamespaceRules rules_;
  Options defaults_;
  SourcePos defaults_at_;
  std::vector<Conf> confs_;
};

}  // namespace

JobNamespaceConf build_namespace_yaml(const std::string& path, const std::string& text, const Config& config, Findings& findings) {
  return Reader(path, config, findings).run(text);
}

}  // namespace muster::config
