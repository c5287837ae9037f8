#include "plugin/mpi/fences.h"

#include <algorithm>

#include "base/check.h"

namespace muster::mpi {
namespace {

// The root's deadline comes first, because its word names the nodes that are missing.
constexpr Duration kRootsLead = seconds(10);
constexpr size_t kMostEarly = 65536;  // fences that others entered and we did not

}  // namespace

void Fences::enter(const std::string& group, std::vector<uint32_t> nodes, std::string data, Duration deadline, Done done) {
  MUSTER_CHECK(std::ranges::find(nodes, self_) != nodes.end());
  Key key{group, entered_[group]++};
  Fence& fence = open_[key];
  fence.nodes = std::move(nodes);
  fence.done = std::move(done);
  for (auto at = fence.parts.begin(); at != fence.parts.end();) {
    const bool ours = takes_part(fence, at->first);
    if (!ours) fence.bytes -= at->second.size();
    at = ours ? std::next(at) : fence.parts.erase(at);
  }
  for (const auto& [node, error] : fence.failed)
    if (may_end(fence, node)) return on_failed(key, node, Error(error));
  fence.deadline = is_root(fence) || deadline == Duration::max() ? deadline : deadline + kRootsLead;
  if (is_root(fence)) return add_part(key, self_, std::move(data));
  if (data.size() > limit_) return too_much(key, data.size());
  Letter letter;
  letter.kind = LetterKind::kContribution;
  letter.group = key.first;
  letter.number = key.second;
  letter.data = std::move(data);
  send_({fence.nodes.front()}, letter);
  look_at(key);
}

bool Fences::takes_part(const Fence& f, uint32_t node) { return std::ranges::binary_search(f.nodes, node); }

// Our own data is too long for a letter: the root, which would wait for it, is told.
void Fences::too_much(const Key& key, size_t bytes) {
  const Error error(Errc::kFrameTooLong,
                    "fence: " + std::to_string(bytes) + " bytes from node " + names_[self_] + ", at most " + std::to_string(limit_));
  const uint32_t root = open_.at(key).nodes.front();
  if (!lost_.contains(root)) send_({root}, failure(key, error));
  finish(key, std::unexpected(Error(error)));
}

void Fences::on_letter(uint32_t from, Letter letter) {
  Key key{letter.group, letter.number};
  auto at = open_.find(key);
  if (at == open_.end()) {
    auto entered = entered_.find(letter.group);
    if (entered != entered_.end() && letter.number < entered->second) return;  // over already
    if (open_.size() >= kMostEarly) return;
    at = open_.try_emplace(key).first;
  }
  const Fence& f = at->second;
  const bool entered = !f.nodes.empty();
  if (letter.kind == LetterKind::kContribution) {
    if (!entered || takes_part(f, from)) add_part(key, from, std::move(letter.data));
  } else if (letter.kind == LetterKind::kFailed) {
    on_failed(key, from, Error(static_cast<Errc>(letter.status), letter.text));
  } else if (letter.kind == LetterKind::kResult && entered && f.nodes.front() == from) {
    finish(key, std::move(letter.data));
  }
}

void Fences::on_failed(const Key& key, uint32_t from, Error error) {
  Fence& f = open_.at(key);
  if (f.nodes.empty()) return void(f.failed.try_emplace(from, std::move(error)));  // whose word counts is known when we enter
  if (may_end(f, from)) is_root(f) ? fail_all(key, error) : finish(key, std::unexpected(std::move(error)));
}

void Fences::lost(uint32_t node) {
  lost_.insert(node);
  std::vector<Key> keys;
  for (const auto& [key, f] : open_) keys.push_back(key);
  for (const Key& key : keys) look_at(key);
}

std::optional<Duration> Fences::expire(Duration now) {
  std::vector<Key> over;
  for (const auto& [key, f] : open_)
    if (!f.nodes.empty() && f.deadline <= now) over.push_back(key);
  for (const Key& key : over) expire_one(key);
  std::optional<Duration> next;
  for (const auto& [key, f] : open_)
    if (!f.nodes.empty() && f.deadline != Duration::max() && (!next || f.deadline < *next)) next = f.deadline;
  return next;
}

void Fences::expire_one(const Key& key) {
  auto at = open_.find(key);
  if (at == open_.end()) return;  // it went when another one ended
  const Fence& f = at->second;
  if (is_root(f)) return fail_all(key, Error(Errc::kTimedOut, "fence: node " + missing(f) + " did not enter in time"));
  finish(key, fail(Errc::kTimedOut, "fence: no answer from node " + names_[f.nodes.front()]));
}

void Fences::add_part(const Key& key, uint32_t from, std::string data) {
  Fence& fence = open_.at(key);
  const size_t bytes = data.size();
  if (!fence.parts.try_emplace(from, std::move(data)).second) return;  // it has said so already
  fence.bytes += bytes;
  if (fence.bytes > limit_) {
    const Error error(Errc::kFrameTooLong, "fence: more than " + std::to_string(limit_) + " bytes with those of node " +
                                               (from < names_.size() ? names_[from] : std::to_string(from)));
    fence.parts.clear();
    fence.bytes = 0;
    if (!fence.nodes.empty()) return fail_all(key, error);
    fence.failed.try_emplace(self_, error);
    return;
  }
  look_at(key);
}

// Looks whether the fence is over: all parts are here, or one can never come.
void Fences::look_at(const Key& key) {
  auto at = open_.find(key);
  if (at == open_.end() || at->second.nodes.empty()) return;
  Fence& fence = at->second;
  if (!is_root(fence)) {
    if (lost_.contains(fence.nodes.front()))
      finish(key, fail(Errc::kConnectFailed, "fence: node " + names_[fence.nodes.front()] + " is gone"));
    return;
  }
  std::vector<uint32_t> gone;
  bool all = true;
  for (uint32_t node : fence.nodes) {
    if (fence.parts.contains(node)) continue;
    all = false;
    if (lost_.contains(node)) gone.push_back(node);
  }
  if (!gone.empty()) return fail_all(key, Error(Errc::kConnectFailed, "fence: node " + names_of(gone) + " is gone"));
  if (!all) return;
  Letter letter;
  letter.kind = LetterKind::kResult;
  letter.group = key.first;
  letter.number = key.second;
  letter.data.reserve(fence.bytes);
  for (uint32_t node : fence.nodes) letter.data += fence.parts[node];
  if (auto to = others(fence); !to.empty()) send_(to, letter);
  finish(key, std::move(letter.data));
}

Letter Fences::failure(const Key& key, const Error& error) {
  Letter letter;
  letter.kind = LetterKind::kFailed;
  letter.group = key.first;
  letter.number = key.second;
  letter.status = static_cast<int32_t>(error.code);
  letter.text = error.message();
  return letter;
}

void Fences::fail_all(const Key& key, const Error& error) {
  if (auto to = others(open_.at(key)); !to.empty()) send_(to, failure(key, error));
  finish(key, std::unexpected(Error(error)));
}

void Fences::finish(const Key& key, Result<std::string> result) {
  Done done = std::move(open_.at(key).done);
  open_.erase(key);
  done(std::move(result));
}

std::vector<uint32_t> Fences::others(const Fence& f) const {
  std::vector<uint32_t> out;
  for (uint32_t node : f.nodes)
    if (node != self_ && !lost_.contains(node)) out.push_back(node);
  return out;
}

std::string Fences::missing(const Fence& f) const {
  std::vector<uint32_t> out;
  for (uint32_t node : f.nodes)
    if (!f.parts.contains(node)) out.push_back(node);
  return names_of(out);
}

std::string Fences::names_of(const std::vector<uint32_t>& nodes) const {
  std::string out;
  for (uint32_t node : nodes) out += (out.empty() ? "" : ",") + (node < names_.size() ? names_[node] : std::to_string(node));
  return out;
}

}  // namespace muster::mpi
