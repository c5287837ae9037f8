#include "plugin/mpi/questions.h"

namespace muster::mpi {

void Questions::ask(uint32_t node, uint32_t rank, Duration deadline, Done done) {
  uint64_t number = ++last_;
  open_[number] = {node, rank, deadline, std::move(done)};
  if (lost_.contains(node)) return fail_open(number, Errc::kConnectFailed, "is gone");
  Letter letter;
  letter.kind = LetterKind::kQuestion;
  letter.number = number;
  letter.rank = rank;
  send_(node, letter);
}

void Questions::on_answer(uint32_t from, Letter letter) {
  auto at = open_.find(letter.number);
  if (at == open_.end() || at->second.node != from) return;
  Done done = std::move(at->second.done);
  open_.erase(at);
  done(Answer{letter.status, std::move(letter.data)});
}

void Questions::lost(uint32_t node) {
  lost_.insert(node);
  std::vector<uint64_t> over;
  for (const auto& [number, q] : open_)
    if (q.node == node) over.push_back(number);
  for (uint64_t number : over) fail_open(number, Errc::kConnectFailed, "is gone");
}

std::optional<Duration> Questions::expire(Duration now) {
  std::vector<uint64_t> over;
  for (const auto& [number, q] : open_)
    if (q.deadline <= now) over.push_back(number);
  for (uint64_t number : over) fail_open(number, Errc::kTimedOut, "did not answer in time");
  std::optional<Duration> next;
  for (const auto& [number, q] : open_)
    if (q.deadline != Duration::max() && (!next || q.deadline < *next)) next = q.deadline;
  return next;
}

void Questions::fail_open(uint64_t number, Errc code, const char* why) {
  auto at = open_.find(number);
  if (at == open_.end()) return;
  Open q = std::move(at->second);
  open_.erase(at);
  q.done(fail(code, "data of process " + std::to_string(q.rank) + ": node " +
                        (q.node < names_.size() ? names_[q.node] : std::to_string(q.node)) + " " + why));
}

Letter Questions::answer_to(uint64_t question, Answer answer) {
  Letter letter;
  letter.kind = LetterKind::kAnswer;
  letter.number = question;
  letter.status = answer.status;
  letter.data = std::move(answer.data);
  return letter;
}

}  // namespace muster::mpi
