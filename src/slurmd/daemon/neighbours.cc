#include "slurmd/daemon/neighbours.h"

#include <algorithm>

#include "agent/may_come_later.h"

namespace muster::slurmd {
namespace {

constexpr Duration kPatience = seconds(30);

}  // namespace

bool Neighbours::tell(const std::string& node, JobId job, uint16_t message, std::string payload, std::function<void()> told) {
  if (!places_.find(node)) return false;
  Line& line = lines_[node];
  if (line.letters.size() >= kMostWaiting) return false;
  line.letters.push_back({job, message, std::move(payload), std::move(told)});
  go_on(node);
  return true;
}

// A letter that is under way stays in front until it is answered.
void Neighbours::forget(JobId job) {
  for (auto& [node, line] : lines_) {
    const auto first = line.letters.begin() + (line.busy && line.channel && !line.letters.empty() ? 1 : 0);
    line.letters.erase(std::remove_if(first, line.letters.end(), [&](const Letter& l) { return l.job == job; }), line.letters.end());
  }
}

void Neighbours::go_on(const std::string& node) {
  auto at = lines_.find(node);
  if (at == lines_.end() || at->second.busy || at->second.timer) return;
  Line& line = at->second;
  if (line.letters.empty()) {
    // The connection goes with the line, but not from inside its own callback.
    if (line.channel) line.channel->close();
    loop_.defer([gone = std::make_shared<Line>(std::move(line))] {});
    lines_.erase(at);
    return;
  }
  line.busy = true;
  if (!line.channel) return connect(node);
  const Letter& next = line.letters.front();
  line.channel->request(next.message, next.payload, kPatience, [this, node](Result<net::Frame> answer) { answered(node, answer); });
}

void Neighbours::connect(const std::string& node) {
  const auto to = places_.find(node);
  if (!to) return try_again(node, Error(Errc::kInvalidNodeName));  // slurm.conf was changed
  net::connect_tcp(loop_, to->host, to->port, setup_.security.expecting("node:" + node), setup_.config().message_timeout,
                   [this, node](Result<net::ChannelPtr> channel) {
                     auto at = lines_.find(node);
                     if (at == lines_.end()) return;
                     if (!channel) return try_again(node, channel.error());
                     at->second.channel = std::move(*channel);
                     at->second.channel->on_closed = [this, node](const Error&) {
                       if (auto line = lines_.find(node); line != lines_.end())
                         loop_.defer([gone = std::exchange(line->second.channel, nullptr)] {});
                     };
                     at->second.busy = false;
                     go_on(node);
                   });
}

void Neighbours::answered(const std::string& node, const Result<net::Frame>& answer) {
  auto at = lines_.find(node);
  if (at == lines_.end()) return;
  if (!answer && agent::may_be_reached_later(answer.error())) return try_again(node, answer.error());
  if (!answer) log_.debug("node {} takes no word of job {}: {}", node, at->second.letters.front().job.value, answer.error().message());
  const std::function<void()> told = std::move(at->second.letters.front().told);
  at->second.letters.pop_front();
  at->second.pauses.reset();
  at->second.busy = false;
  go_on(node);
  if (told) told();
}

void Neighbours::try_again(const std::string& node, const Error& why) {
  Line& line = lines_.at(node);
  log_.debug("node {} cannot be told of a step yet: {}", node, why.message());
  if (line.channel) loop_.defer([gone = std::exchange(line.channel, nullptr)] {});
  line.busy = false;
  line.timer = loop_.after(line.pauses.next(), [this, node] {
    auto at = lines_.find(node);
    if (at == lines_.end()) return;
    loop_.defer([timer = std::shared_ptr<net::Loop::Timer>(std::move(at->second.timer))] {});
    go_on(node);
  });
}

}  // namespace muster::slurmd
