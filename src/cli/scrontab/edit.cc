#include "cli/scrontab/edit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/error.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::cli {
namespace {

std::string editor() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (const char* value = ::getenv(name); value && *value) return value;
  return "vi";
}

}  // namespace

Result<EditedFile> EditedFile::make(const std::string& text) {
  const char* tmp = ::getenv("TMPDIR");
  std::string folder = std::string(tmp && *tmp ? tmp : "/tmp") + "/scrontab.XXXXXX";
  if (!::mkdtemp(folder.data())) return os::fail_errno("making a directory for the crontab, " + folder);
  EditedFile file(folder);
  MUSTER_TRY_VOID(os::write_file_atomic(file.path_, text, 0600));
  return file;
}

EditedFile::EditedFile(EditedFile&& other) noexcept : folder_(std::move(other.folder_)), path_(std::move(other.path_)) {
  other.folder_.clear();
}

EditedFile::~EditedFile() {
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::unlink((path_ + "~").c_str());  // a backup that some editors leave
  ::rmdir(folder_.c_str());
}

Result<> EditedFile::edit() const {
  os::SpawnSpec spec;
  spec.path = "/bin/sh";
  // The variable may hold arguments of the editor: "emacs -nw".
  spec.argv = {"/bin/sh", "-c", editor() + " \"$1\"", "sh", path_};
  // A signal of the terminal is for the editor; whether to go on is asked afterwards.
  void (*before)(int) = ::signal(SIGINT, SIG_IGN);
  auto pid = os::spawn(spec);
  Result<os::Reaped> ended = pid ? os::wait_child(*pid) : std::unexpected(pid.error());
  ::signal(SIGINT, before);
  if (!ended) return std::unexpected(ended.error());
  if (!ended->status.ok()) return fail(Errc::kError, "the editor '" + editor() + "' ended with an error");
  return {};
}

Result<std::string> EditedFile::text(size_t most) const { return os::read_file(path_, most + 1); }

}  // namespace muster::cli
