// plugstack.conf: which SPANK plugins there are, in which order, with which arguments. spank(8) CONFIGURATION.
//
//   required|optional PLUGIN [ARGUMENT ...]     PLUGIN: a path, or a name that is looked for in PluginDir
//   include PATTERN                             files, or directories of files, in the order of their names; relative
//                                               to the directory of the file that includes
//   # begins a comment
//
// A file that is not there is an empty stack, at the cost of one system call. Bounded: 1 MiB a file, 256 files, 16 deep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/step_rpc.h"

namespace muster::spank {

struct Plugstack {
  std::vector<step_rpc::SpankPlugin> plugins;
  std::vector<std::string> notes;  // optional plugins that are not there
};

// Whether there is such a file; where there is none, callers can spare themselves further questions.
bool has_plugstack(const std::string& path);
// `plugin_dir` as in slurm.conf: directories separated by colons.
// Errors (kConfig) name file, line and rule: an unknown word, a line without a plugin, a required plugin or an included
// file that is not there, a file that cannot be read.
Result<Plugstack> read_plugstack(const std::string& path, std::string_view plugin_dir);

// PluginDir where slurm.conf has none: lib/slurm of the prefix that the program stands in, then the system's.
std::string default_plugin_dir(std::string_view program_directory);

}  // namespace muster::spank
