#include "slurmctld/daemon/reservation_groups.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

namespace muster::slurmctld {
namespace {

struct Asked {
  uint32_t reservation = 0;
  std::vector<std::string> groups;
};

using Answers = std::map<std::string, Result<std::vector<std::string>>>;

// Nothing where one of the groups is not known.
std::optional<std::vector<std::string>> members_of(const Asked& asked, const Answers& answers) {
  std::vector<std::string> out;
  for (const std::string& group : asked.groups) {
    const auto& answer = answers.at(group);
    if (!answer) return std::nullopt;
    out.insert(out.end(), answer->begin(), answer->end());
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

ReservationGroups::ReservationGroups(net::Loop& loop, os::Log& log, Ports ports) : loop_(loop), log_(log), ports_(std::move(ports)) {}

void ReservationGroups::configure(Duration every, bool force) {
  every_ = every;
  force_ = force;
  seen_ = ports_.changed();
  look();
  wait();
}

void ReservationGroups::wait() {
  timer_ = nullptr;
  if (every_ <= Duration::zero()) return;
  timer_ = loop_.after(every_, [this] {
    const int64_t now = ports_.changed();
    if (force_ || now != seen_) look();
    seen_ = now;
    wait();
  });
}

void ReservationGroups::look() {
  std::vector<Asked> all;
  Answers answers;
  ports_.snapshot()->reservations.for_each([&](uint32_t id, const Reservation& r) {
    if (r.groups.empty()) return;
    all.push_back({id, r.groups.names});
    for (const std::string& group : r.groups.names) answers.try_emplace(group);
  });
  if (all.empty()) return;
  thread_.post([this, post = loop_.poster(), alive = std::weak_ptr<bool>(alive_), ask = ports_.ask, all = std::move(all),
                answers = std::move(answers)]() mutable {
    for (auto& [group, answer] : answers) answer = ask(group);
    post([this, alive, all = std::move(all), answers = std::move(answers)] {
      if (alive.expired()) return;
      for (const auto& [group, answer] : answers)
        if (!answer) log_.verbose("reservations: who is in group {} is not known now: {}", group, answer.error().message());
      for (const Asked& asked : all)
        if (auto members = members_of(asked, answers)) ports_.known({asked.reservation, asked.groups, std::move(*members)});
    });
  });
}

int64_t group_file_written() {
  struct stat s {};
  if (::stat("/etc/group", &s) != 0) return 0;
  return int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
}

}  // namespace muster::slurmctld
