#include "os/process_hold.h"

#include <dirent.h>

#include <memory>

#include "base/plain_text.h"
#include "base/text.h"
#include "os/files.h"

namespace muster::os {
namespace {

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> out;
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = folder && out.size() < ProcessHold::kMostThreads ? ::readdir(folder.get()) : nullptr)
    if (auto thread = parse_number<pid_t>(entry->d_name, 1)) out.push_back(*thread);
  return out;
}

std::string file_of(pid_t pid, pid_t thread, const char* name) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/" + name;
}

// The letter behind the name, which may hold anything.
char state_of(pid_t pid, pid_t thread) {
  const auto text = read_file(file_of(pid, thread, "stat"), 4096);
  const size_t close = text ? text->rfind(')') : std::string::npos;
  return close == std::string::npos || close + 2 >= text->size() ? '?' : (*text)[close + 2];
}

const char* meaning_of(char state) {
  switch (state) {
    case 'D': return "cannot be interrupted";
    case 'T': return "is stopped";
    case 't': return "is stopped by a debugger";
    case 'Z': return "has ended, and its parent has not taken note";
    case 'R': return "runs";
    case 'S':
    case 'I': return "sleeps";
    default: return "is in an unknown state";
  }
}

}  // namespace

ProcessHold what_holds(const ProcessInfo& process) {
  ProcessHold out;
  out.process = process;
  pid_t thread = process.pid;
  for (pid_t each : threads_of(process.pid)) {
    if (state_of(process.pid, each) != 'D') continue;
    thread = each;
    out.process.state = 'D';
    break;
  }
  if (auto where = read_file(file_of(process.pid, thread, "wchan"), 256); where && *where != "0") out.where = plain(trim(*where));
  return out;
}

std::string hold_text(const ProcessHold& hold, const std::string& of) {
  std::string out = plain(hold.process.name) + " (" + std::to_string(hold.process.pid) + ")" + of + " " + meaning_of(hold.process.state);
  return hold.where.empty() ? out : out + ", in " + hold.where;
}

}  // namespace muster::os
