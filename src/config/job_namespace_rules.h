// What may stand in the files that say what jobs have for themselves (job_namespace.h), whichever of them it is. The readers of the two files
// know their syntax and the names of their keys, and ask here whether a value makes sense. Inside config/ only.
//
//   error    what would give a job other directories than the site meant, or makes no sense: a path that is none, a directory in another, a base
//            that is private itself
//   notice   a directory that is there twice, a node that slurm.conf does not have
//
// Cost: O(bytes + nodes named).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/job_namespace.h"
#include "config/parser.h"

namespace muster::config {

struct Findings;

// A value as a file has it.
struct GivenText {
  SourcePos at;
  const char* key;
  std::string text;
};

// What is wrong with a value is told, and what was to be set stays as it was.
class NamespaceRules {
 public:
  NamespaceRules(const Config& config, Findings& findings) : config_(config), findings_(findings) {}

  void set_base(const GivenText& given, std::string& to);  // a directory, or none
  void set_directory(const GivenText& given, std::string& to);
  void set_program(const GivenText& given, std::string& to);
  // Separated by commas. nullopt: none is named.
  std::optional<std::vector<PrivateDir>> read_dirs(const GivenText& given);
  // The same for directories that were read otherwise.
  std::optional<std::vector<PrivateDir>> check_dirs(const SourcePos& at, const char* key, std::vector<PrivateDir> dirs);
  std::vector<std::string> read_nodes(const GivenText& given);
  // What is to hold of all that was said for some nodes.
  void check(const JobNamespace& space, const SourcePos& at);

 private:
  std::optional<std::string> directory(const GivenText& given, std::string_view or_else);

  const Config& config_;
  Findings& findings_;
};

}  // namespace muster::config
