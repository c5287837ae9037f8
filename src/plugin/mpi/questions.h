// Questions: the data of one process, asked of the node that has it (direct modex). Each question is answered once: with the
// data, with the module's own status of the other side, or with an error when that node is gone or does not answer in
// time. Pure: letters leave through `send`, time is an argument.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plugin/mpi/letter.h"

namespace muster::mpi {

struct Answer {
  int32_t status = 0;  // the module's number; 0 = `data` is there
  std::string data;
};

class Questions {
 public:
  using Send = std::function<void(uint32_t to, const Letter& letter)>;
  using Done = std::function<void(Result<Answer> answer)>;
  Questions(std::vector<std::string> names, Send send) : names_(std::move(names)), send_(std::move(send)) {}

  void ask(uint32_t node, uint32_t rank, Duration deadline, Done done);
  void on_answer(uint32_t from, Letter letter);
  void lost(uint32_t node);
  // Like Fences::expire.
  std::optional<Duration> expire(Duration now);
  // The letter that goes back to the asker of `question`.
  static Letter answer_to(uint64_t question, Answer answer);

 private:
  struct Open {
    uint32_t node = 0, rank = 0;
    Duration deadline{};
    Done done;
  };
  void fail_open(uint64_t number, Errc code, const char* why);

  std::vector<std::string> names_;
  Send send_;
  uint64_t last_ = 0;
  std::map<uint64_t, Open> open_;
  std::set<uint32_t> lost_;
};

}  // namespace muster::mpi
