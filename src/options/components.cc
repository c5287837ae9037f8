#include "options/components.h"

#include <algorithm>
#include <string>

#include "base/bitmap.h"
#include "model/het.h"

namespace muster {
namespace {

// In the order of the alphabet. The guide's list, where --chdir has its older name --workdir.
constexpr std::string_view kHandedOn[] = {"account",
                                          "acctg-freq",
                                          "begin",
                                          "chdir",
                                          "cluster-constraint",
                                          "clusters",
                                          "comment",
                                          "deadline",
                                          "delay-boot",
                                          "dependency",
                                          "distribution",
                                          "epilog",
                                          "error",
                                          "exclude",
                                          "export",
                                          "export-file",
                                          "get-user-env",
                                          "gid",
                                          "hold",
                                          "ignore-pbs",
                                          "immediate",
                                          "input",
                                          "job-name",
                                          "kill-on-bad-exit",
                                          "label",
                                          "mcs-label",
                                          "mem",
                                          "msg-timeout",
                                          "nice",
                                          "no-allocate",
                                          "no-kill",
                                          "no-requeue",
                                          "open-mode",
                                          "output",
                                          "parsable",
                                          "priority",
                                          "profile",
                                          "prolog",
                                          "propagate",
                                          "pty",
                                          "qos",
                                          "quiet",
                                          "quit-on-interrupt",
                                          "reboot",
                                          "requeue",
                                          "reservation",
                                          "signal",
                                          "slurmd-debug",
                                          "task-epilog",
                                          "task-prolog",
                                          "test-only",
                                          "time",
                                          "time-min",
                                          "uid",
                                          "unbuffered",
                                          "verbose",
                                          "wait",
                                          "wait-all-nodes",
                                          "wckey"};

}  // namespace

bool is_handed_on(std::string_view option) { return std::ranges::binary_search(kHandedOn, option); }

Result<std::vector<uint32_t>> parse_het_group(std::string_view expression) {
  Bitmap named;
  if (!Bitmap::parse_ranges(std::string(expression), named, kMostComponents) || named.none())
    return fail(Errc::kInvalidReq, "Invalid --het-group value: " + std::string(expression),
                "numbers of components and ranges, from 0: --het-group=0,2-3");
  std::vector<uint32_t> out;
  named.for_each([&](size_t at) { out.push_back(static_cast<uint32_t>(at)); });
  return out;
}

}  // namespace muster
