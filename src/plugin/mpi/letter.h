// What modules of one step write to each other inside a NodeLetter (model/mpi_rpc.h): the parts of a fence, and the
// question for one process's data with its answer. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "base/describe.h"

namespace muster::mpi {

enum class LetterKind : uint8_t {
  kContribution,  // one node's data for a fence, to the fence's root
  kResult,        // the root's answer: everybody's data
  kFailed,        // the fence cannot complete: `text`
  kQuestion,      // the data of process `rank`
  kAnswer,        // to the question `number`; ok or `text`
};

struct Letter {
  LetterKind kind = LetterKind::kContribution;
  std::string group;    // of a fence: who takes part, as the sender and all others write it
  uint64_t number = 0;  // of a fence: its place among those of its group, from 0; of a question: the asker's choice
  uint32_t rank = 0;
  int32_t status = 0;  // of an answer: in the module's own numbers, 0 = ok
  std::string text, data;

  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "kind", self.kind);
    field(2, "group", self.group);
    field(3, "number", self.number);
    field(4, "rank", self.rank);
    field(5, "status", self.status);
    field(6, "text", self.text);
    field(7, "data", self.data);
  }
};

}  // namespace muster::mpi
