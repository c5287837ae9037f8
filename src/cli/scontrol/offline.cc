// show hostnames, hostlist, hostlistsorted and errnumstr: work on texts alone, done in a fraction of a millisecond, without configuration
// or daemon.
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/job_setup.h"
#include "cli/scontrol/context.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

// The list named: the words, the contents of a file (leading '/') or of standard input ("-"), or the job's nodes.
std::optional<std::string> named_list(Context& context, Words words) {
  std::string list;
  if (words.empty()) {
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
      if (const char* value = getenv(name); value && *value && list.empty()) list = value;
  } else {
    list = words[0];
  }
  if (list.starts_with('/') || list == "-") {
    Result<std::string> read = read_node_file(list == "-" ? "/dev/stdin" : list);
    if (!read) {
      report(context.log, read.error());
      context.exit_code = 1;
      return std::nullopt;
    }
    list = *read;
  }
  if (list.empty()) {
    context.log.error("host list is empty");
    return std::nullopt;
  }
  return list;
}

std::optional<std::vector<std::string>> named_hosts(Context& c, Words words) {
  std::optional<std::string> list = named_list(c, words);
  if (!list) return std::nullopt;
  Result<std::vector<std::string>> hosts = expand_hosts(*list);
  if (!hosts) {
    report(c.log, hosts.error());
    c.exit_code = 1;
    return std::nullopt;
  }
  return std::move(*hosts);
}

}  // namespace

void show_hostnames(Context& c, Words words) {
  std::optional<std::vector<std::string>> hosts = named_hosts(c, words);
  if (!hosts) return;
  Out out;
  for (const std::string& host : *hosts) out.line(host);
}

void show_hostlist(Context& c, Words words, bool sorted) {
  std::optional<std::vector<std::string>> hosts = named_hosts(c, words);
  if (!hosts && words.empty()) c.exit_code = 1;  // a list that was given and is empty is no failure, as in Slurm
  if (!hosts) return;
  Out out;
  out.line(sorted ? compress_hosts_sorted(*hosts) : compress_hosts(*hosts));
}

void print_errnumstr(Context& c, Words words) {
  std::optional<int> number = parse_number<int>(words[0]);
  if (!number) return c.complain("numeric arguments required for keyword:errnumstr");
  std::string_view text = errc_text_of_number(*number);
  Out out;
  out.line(text.empty() ? std::string(::strerror(*number)) : std::string(text));  // numbers below 1000 are errors of the system
}

}  // namespace muster::cli
