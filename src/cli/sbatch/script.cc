#include "cli/sbatch/script.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::cli {
namespace {

bool regular_file(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && !S_ISDIR(s.st_mode);
}

Result<std::string> read_standard_input(size_t max_bytes) {
  std::string out;
  char piece[16384];
  for (;;) {
    ssize_t n = read(0, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os::fail_errno("reading the script from standard input");
    if (n == 0) return out;
    out.append(piece, static_cast<size_t>(n));
    if (out.size() > max_bytes) return out;  // check_script says that it is too long
  }
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string find_script(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos || regular_file(name)) return name;
  for (std::string_view directory : split(path, ':')) {
    std::string candidate = std::string(directory) + "/" + name;
    if (regular_file(candidate) && access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return {};
}

Result<Script> load_script(const JobScanResult& scan, size_t max_bytes) {
  Script script;
  const JobCommandLine& line = scan.last();
  if (std::optional<std::string> command = scan.value("wrap")) {
    script.text = wrap_script(*command);
    script.name = "--wrap";
    script.default_job_name = "wrap";
    return script;
  }
  if (line.scan.operands.empty()) {
    MUSTER_TRY(text, read_standard_input(max_bytes));
    script.text = std::move(text);
    script.name = "standard input";
    script.default_job_name = "sbatch";
  } else {
    const std::string& named = line.scan.operands[0];
    const char* path = getenv("PATH");
    script.path = find_script(named, path ? path : "");
    script.name = named;
    script.default_job_name = base_name(named);
    Result<std::string> text = script.path.empty() ? Result<std::string>(fail(Errc::kNotFound, "no such file here or in PATH"))
                                                   : os::read_file(script.path, max_bytes + 1);
    if (!text) return fail(Errc::kNotFound, "Unable to open file " + named, std::string(text.error().message()));
    script.text = std::move(*text);
  }
  MUSTER_TRY_VOID(check_script(script.text, max_bytes));
  return script;
}

}  // namespace muster::cli
