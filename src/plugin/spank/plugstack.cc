#include "plugin/spank/plugstack.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/files.h"

namespace muster::spank {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int kMaxFiles = 256, kMaxDepth = 16;

std::vector<std::string> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string> out;
  for (size_t at = 0; at < line.size();) {
    size_t start = line.find_first_not_of(" \t\r", at);
    if (start == line.npos) break;
    size_t end = std::min(line.find_first_of(" \t\r", start), line.size());
    out.emplace_back(line.substr(start, end - start));
    at = end;
  }
  return out;
}

bool is_directory(const std::string& path) {
  struct stat st;
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

// The files that match, sorted by name as glob(3) does in the locale.
std::vector<std::string> matches_of(const std::string& pattern) {
  std::vector<std::string> out;
  glob_t g{};
  if (::glob(pattern.c_str(), 0, nullptr, &g) == 0) out.assign(g.gl_pathv, g.gl_pathv + g.gl_pathc);
  ::globfree(&g);
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view plugin_dir) : plugin_dir_(plugin_dir) {}

  Result<> file(const std::string& path, int depth) {
    if (depth > kMaxDepth) return fail(Errc::kConfig, path + ": files include each other more than " + std::to_string(kMaxDepth) + " deep");
    if (++files_ > kMaxFiles) return fail(Errc::kConfig, path + ": more than " + std::to_string(kMaxFiles) + " files are included");
    auto text = os::read_file(path, kMaxBytes);
    if (!text) return fail(Errc::kConfig, path + ": cannot be read: " + std::string(text.error().message()));
    size_t number = 0;
    for (std::string_view rest = *text; !rest.empty();) {
      std::string_view one = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      MUSTER_TRY_VOID(line(path, ++number, words_of(one), depth));
    }
    return {};
  }

  Plugstack take() { return std::move(out_); }

 private:
  Result<> line(const std::string& path, size_t number, std::vector<std::string> words, int depth) {
    if (words.empty()) return {};
    const std::string where = path + ":" + std::to_string(number);
    const bool required = words[0] == "required", include = words[0] == "include";
    if (!required && !include && words[0] != "optional")
      return fail(Errc::kConfig, where + ": '" + words[0] + "' is none of required, optional, include");
    if (words.size() < 2) return fail(Errc::kConfig, where + ": " + words[0] + ": the " + (include ? "file" : "plugin") + " is missing");
    if (include && words.size() > 2) return fail(Errc::kConfig, where + ": include takes one file or pattern");
    if (include) return include_all(path, where, words[1], depth);
    return plugin(required, where, std::move(words));
  }

  Result<> include_all(const std::string& from, const std::string& where, std::string pattern, int depth) {
    if (!pattern.starts_with('/')) pattern.insert(0, from.substr(0, from.rfind('/') + 1));
    std::vector<std::string> found = matches_of(pattern);
    if (found.empty() && pattern.find_first_of("*?[") == pattern.npos)
      return fail(Errc::kConfig, where + ": include " + pattern + ": there is no such file");
    for (const std::string& one : found) {
      if (!is_directory(one)) {
        MUSTER_TRY_VOID(file(one, depth + 1));
        continue;
      }
      for (const std::string& inner : matches_of(one + "/*"))
        if (!is_directory(inner)) MUSTER_TRY_VOID(file(inner, depth + 1));
    }
    return {};
  }

  Result<> plugin(bool required, const std::string& where, std::vector<std::string> words) {
    step_rpc::SpankPlugin plugin;
    plugin.required = required;
    plugin.where = where;
    plugin.path = find(words[1]);
    plugin.arguments.assign(std::make_move_iterator(words.begin() + 2), std::make_move_iterator(words.end()));
    if (!plugin.path.empty()) {
      out_.plugins.push_back(std::move(plugin));
      return {};
    }
    std::string text = where + ": " + words[0] + " plugin " + words[1] + ": there is no such file";
    if (!words[1].starts_with('/')) text += " in PluginDir=" + std::string(plugin_dir_);
    if (required) return fail(Errc::kConfig, text);
    out_.notes.push_back(text + "; it is left out");
    return {};
  }

  std::string find(const std::string& name) const {
    auto there = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
    if (name.starts_with('/')) return there(name) ? name : "";
    for (std::string_view directory : split(plugin_dir_, ':'))
      if (std::string path = std::string(directory) + "/" + name; there(path)) return path;
    return "";
  }

  std::string_view plugin_dir_;
  int files_ = 0;
  Plugstack out_;
};

}  // namespace

bool has_plugstack(const std::string& path) { return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR); }

Result<Plugstack> read_plugstack(const std::string& path, std::string_view plugin_dir) {
  if (!has_plugstack(path)) return Plugstack{};
  Reader reader(plugin_dir);
  MUSTER_TRY_VOID(reader.file(path, 0));
  return reader.take();
}

std::string default_plugin_dir(std::string_view program_directory) {
  std::string prefix(program_directory.substr(0, program_directory.rfind('/') + 1));
  return prefix + "lib/slurm:/usr/local/lib/slurm:/usr/lib/slurm";
}

}  // namespace muster::spank
