#include "sim/tool/command_line.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace muster::sim::tool {
namespace {

constexpr size_t kMargin = 26;

}  // namespace

std::string CommandLine::help() const {
  std::string out = usage + "\n" + purpose + "\n";
  for (const OptionRow& r : rows) {
    std::string left = "  " + r.name + (r.argument.empty() ? "" : " " + r.argument);
    if (left.size() + 2 > kMargin) left += "\n" + std::string(kMargin, ' ');
    else left.resize(kMargin, ' ');
    std::string text = r.help;
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += kMargin + 1) text.insert(at + 1, kMargin, ' ');
    out += left + text + "\n";
  }
  out += "  --help                  this text\n";
  return out + after;
}

std::optional<int> CommandLine::read(const std::string& program, int argc, char** argv) const {
  auto wrong = [&](const std::string& what) {
    std::fprintf(stderr, "%s: error: %s\n  see %s --help\n", program.c_str(), what.c_str(), program.c_str());
    return kWrongUse;
  };
  for (int index = 0; index < argc; ++index) {
    std::string name = argv[index], value;
    if (name == "--help" || name == "-h") {
      std::fputs(help().c_str(), stdout);
      return 0;
    }
    const size_t eq = name.find('=');
    const bool joined = name.starts_with("--") && eq != name.npos;
    if (joined) {
      value = name.substr(eq + 1);
      name.resize(eq);
    }
    const OptionRow* row = nullptr;
    for (const OptionRow& r : rows)
      if (r.name == name) row = &r;
    if (!row) return wrong(name.starts_with('-') ? "unknown option " + name : "unexpected argument \"" + name + "\"");
    if (row->argument.empty() && joined) return wrong(name + " takes no value");
    if (!row->argument.empty() && !joined) {
      if (++index == argc) return wrong(name + " needs a value: " + row->argument);
      value = argv[index];
    }
    if (!row->set(value)) return wrong("\"" + value + "\" is no value for " + name + " " + row->argument);
  }
  return std::nullopt;
}

std::optional<std::string> read_whole(const std::string& path, std::string& error) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  struct stat st {};
  std::ifstream in(path, std::ios::binary);
  if (::stat(path.c_str(), &st) != 0 || !in) {
    error = path + ": " + std::strerror(errno);
    return std::nullopt;
  }
  if (S_ISDIR(st.st_mode)) {
    error = path + ": is a directory";
    return std::nullopt;
  }
  text << in.rdbuf();
  return text.str();
}

bool write_whole(const std::string& path, const std::string& text, std::string& error) {
  if (path == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (out.flush()) return true;
  error = path + ": " + std::strerror(errno);
  return false;
}

}  // namespace muster::sim::tool
