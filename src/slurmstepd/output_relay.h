// OutputRelay: what tasks write into files of the node by way of us, because each line gets a label (srun --label) or the task must see a
// terminal (--unbuffered). Everything else a task writes into its file by itself. We put the labels on; one Errand of the user for each
// file writes into it. A file that is slow holds up the tasks that write to it, and nothing else: what waits here is bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/line_holder.h"
#include "net/loop.h"
#include "os/fd.h"
#include "slurmstepd/errands.h"

namespace muster::slurmstepd {

class OutputRelay {
 public:
  OutputRelay(net::Loop& loop, Errands& errands) : loop_(loop), errands_(errands) {}
  // Passes on from the reading end of a task's pipe or terminal to `file`, which stays open until finish() is done.
  Result<> add(os::Fd from, int file, const std::string& label);
  // For when no task is left that could write: passes on what is still in the pipes, and the unfinished lines. `done` is called when all of
  // it is written or `patience` is over; at once where there is nothing.
  void finish(Duration patience, std::function<void()> done);

 private:
  struct Sink {  // of a file
    os::Fd pipe;
    std::string waiting;  // for the pipe
    std::unique_ptr<net::Loop::Watch> watch;
    bool open = true;  // an errand reads the pipe
  };
  struct Flow {
    os::Fd from;
    Sink* sink;
    bool labelled;
    LineHolder lines;
    std::unique_ptr<net::Loop::Watch> watch;
  };
  Result<Sink*> sink_of(int file);
  size_t read_from(Flow& flow);
  void end(Flow& flow);
  void pass_on(Sink& sink, std::string_view text);
  void write_to(Sink& sink);
  void hold_up(const Sink& sink, bool hold);
  static void close(Sink& sink);
  void look_if_done();

  net::Loop& loop_;
  Errands& errands_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::map<int, std::unique_ptr<Sink>> sinks_;
  bool finishing_ = false, drained_ = false;
  std::function<void()> done_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::slurmstepd
