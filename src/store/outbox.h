// Outbox: documents that leave this machine once each, in a file of their own until somebody has taken them. Whoever sends them puts them in,
// takes the oldest, sends it, and says that it is done; after a crash the file knows which are still to go.
//
// Each document has a key, and is kept once for a key however often it is put: the keys of those that were taken are remembered until their
// subject (a job) is forgotten. `kind` says for whom the documents are; those of another kind that wait in the file are dropped as it is opened.
// A note is a short text that is kept beside them, for what a sender has to remember over a crash.
//
// Errors: those of sqlite_db.h. Cost: a put of any number of documents and a done are one transaction each. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sqlite_db.h"

namespace muster::store {

class Outbox {
 public:
  struct Document {
    uint32_t subject = 0;
    std::string key, body;
  };
  struct Waiting {
    int64_t number = 0;
    std::string body;
  };
  // Creates the file if it is not there (mode 0600).
  static Result<std::unique_ptr<Outbox>> open(const std::string& path, std::string_view kind);

  uint64_t dropped_of_other_kind() const { return dropped_; }
  // Gives how many of them are new.
  Result<size_t> put(std::span<const Document> documents);
  // The oldest that wait, at most so many, and no more than one once they hold `bytes` together.
  Result<std::vector<Waiting>> oldest(size_t most, size_t bytes);
  // All up to this number are taken.
  Result<> done(int64_t number, std::string_view note = "");
  // Drops the oldest so that no more than `most` wait, with `bytes` together; gives how many.
  Result<size_t> drop_excess(size_t most, uint64_t bytes);
  size_t waiting() const { return waiting_; }
  // Their keys are remembered no longer than until their documents are taken.
  Result<> forget(std::span<const uint32_t> subjects);
  // The same for all but these.
  Result<> forget_all_but(std::span<const uint32_t> subjects);

  Result<> set_note(std::string_view note);
  Result<std::string> note();

 private:
  explicit Outbox(Database db) : db_(std::move(db)) {}
  Result<> prepare(std::string_view kind);
  template <class F>
  Result<> in_transaction(F&& f);

  Database db_;
  Statement put_, oldest_, sizes_, done_, drop_done_, forget_, drop_forgotten_, set_note_, note_;
  size_t waiting_ = 0;
  uint64_t bytes_ = 0;  // of those that wait
  uint64_t dropped_ = 0;
};

}  // namespace muster::store
