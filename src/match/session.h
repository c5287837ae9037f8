// Session: the commands of muster-match, one line at a time, against a World.
//
//   allocate [NAME] OPTIONS   place now: the allocation, or later and why, or never and the rule
//   submit [NAME] OPTIONS     queue it            plan       start what can, say of the others why and when
//   advance SPAN, run SPAN    move the clock (run: with a plan whenever something ends)
//   free NAME   down|drain|up NODES   move NODES PLACE   extra NODES TEXT   reserve KEY=VALUE …   show nodes|queue|topology   explain NAME   quit
//   # a comment
//
// Only quit ends the session; a line in error says what is wrong and changes nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "match/world.h"

namespace muster::match {

struct Answer {
  std::string text;  // whole lines
  bool failed = false;
  bool quit = false;
};

class Session {
 public:
  explicit Session(std::shared_ptr<const config::LoadedConfig> loaded);
  Answer execute(std::string_view line);
  static std::string help();

 private:
  using Words = std::vector<std::string>;
  struct Command {
    const char* name;
    const char* arguments;
    const char* summary;
    Result<> (Session::*run)(const Words&);
  };
  static const std::vector<Command>& commands();

  Result<> allocate(const Words& words);
  Result<> submit(const Words& words);
  Result<> plan(const Words& words);
  Result<> advance(const Words& words);
  Result<> run(const Words& words);
  Result<> free(const Words& words);
  Result<> down(const Words& words);
  Result<> drain(const Words& words);
  Result<> up(const Words& words);
  Result<> move(const Words& words);
  Result<> extra(const Words& words);
  Result<> reserve(const Words& words);
  Result<> show(const Words& words);
  Result<> explain(const Words& words);
  Result<> print_help(const Words& words);
  Result<> quit(const Words& words);

  void witness(const Event& event);
  Result<JobRequest> request_of(const Words& words);
  Result<std::vector<JobId>> find(const std::string& name) const;
  void say_waiting(const sched::Plan& plan);

  World world_;
  Answer answer_;
  bool planned_ = false;  // starts are printed without the time: the clock stands still
};

}  // namespace muster::match
