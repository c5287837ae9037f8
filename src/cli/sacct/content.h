// sacct --batch-script and --env-vars: what slurmdbd keeps of scripts and environments, printed as it comes. sacct(1).
#pragma once

#include <string>

#include "cli/common/command.h"
#include "fields/record_view.h"
#include "model/job_content.h"

namespace muster::cli {

// A script is its user's text. Into a file or a pipe it goes as it is; a terminal must not obey what stands in it, so there control
// characters other than tabs and ends of lines are shown as in "\x1b". In environments each variable is a line.
class ContentPrinter {
 public:
  ContentPrinter(ContentKind kind, bool terminal, const fields::Environment& environment, Out& out)
      : kind_(kind), terminal_(terminal), environment_(environment), out_(out) {}
  void add(rpc::ContentPart part);
  void end();  // of the answer
  // Ids of the jobs whose content the caller may not see, with commas; "": none.
  const std::string& refused() const { return refused_; }

 private:
  void begin(const rpc::ContentPart& first);
  void put(std::string_view bytes);
  void put_line(std::string_view line);

  ContentKind kind_;
  bool terminal_;
  const fields::Environment& environment_;
  Out& out_;
  bool begun_ = false;
  std::string line_;  // the begin of one whose end has not come yet; for a terminal alone
  std::string refused_;
};

}  // namespace muster::cli
