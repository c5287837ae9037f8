// muster-pages DIRECTORY COMMAND...: writes the manual page and the completions of each command that has an option table; other commands
// are skipped (packaging/man has pages written by hand).
//
//   DIRECTORY/man/man1/sbatch.1
//   DIRECTORY/bash-completion/completions/sbatch
//   DIRECTORY/zsh/site-functions/_sbatch
//   DIRECTORY/fish/vendor_completions.d/sbatch.fish
#include <stdio.h>

#include "cli/common/options.h"
#include "options/completion.h"
#include "options/manual_texts.h"
#include "os/files.h"

namespace muster::cli {
namespace {

Result<> write_pages(const std::string& directory, Command c) {
  const std::string name(command_name(c));
  const std::pair<std::string, std::string> files[] = {{directory + "/man/man1/" + name + ".1", man_page(manual_text(c))},
                                                       {directory + "/bash-completion/completions/" + name, bash_completion({&c, 1})},
                                                       {directory + "/zsh/site-functions/_" + name, zsh_completion(c)},
                                                       {directory + "/fish/vendor_completions.d/" + name + ".fish", fish_completion(c)}};
  for (const auto& [path, text] : files) {
    MUSTER_TRY_VOID(os::make_dirs(path.substr(0, path.rfind('/'))));
    MUSTER_TRY_VOID(os::write_file_atomic(path, text));
  }
  return {};
}

int run(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: muster-pages DIRECTORY COMMAND...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i)
    for (Command c : kAllCommands) {
      if (command_name(c) != argv[i]) continue;
      if (auto done = write_pages(argv[1], c); !done) {
        fprintf(stderr, "muster-pages: %s\n", std::string(done.error().message()).c_str());
        return 1;
      }
    }
  return 0;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
