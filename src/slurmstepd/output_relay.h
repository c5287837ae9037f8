// OutputRelay: what tasks write into files of the node by way of us, because each line gets a label (srun --label)
// or the task must see a terminal (--unbuffered). Everything else a task writes into its file by itself.
// Reads up to 64 KiB at a time; a slow file holds up the task that writes to it, and the step's loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/line_holder.h"
#include "net/loop.h"
#include "os/fd.h"

namespace muster::slurmstepd {

class OutputRelay {
 public:
  explicit OutputRelay(net::Loop& loop) : loop_(loop) {}
  // From the reading end of a task's pipe or terminal into `file`, which stays open until finish().
  void add(os::Fd from, int file, const std::string& label);
  // What is in the pipes still, and the unfinished lines. For when no task is left that could write.
  void finish();

 private:
  struct Flow {
    os::Fd from;
    int file;
    bool labelled;
    LineHolder lines;
    std::unique_ptr<net::Loop::Watch> watch;
  };
  bool pass_on(Flow& flow);  // whether there may be more
  void end(Flow& flow);

  net::Loop& loop_;
  std::vector<std::unique_ptr<Flow>> flows_;
};

}  // namespace muster::slurmstepd
