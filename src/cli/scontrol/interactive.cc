// The prompt.
#include "cli/common/prompt.h"
#include "cli/scontrol/context.h"

namespace muster::cli {

void interact(Context& c, const std::function<void(Words)>& run) {
  prompt_loop(
      "scontrol: ",
      [&](Words words) {
        run(words);
        return !c.done;
      },
      [&] { c.complain("no previous command"); });
}

}  // namespace muster::cli
