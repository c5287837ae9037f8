#include "slurmctld/daemon/statistics.h"

#include <fmt/format.h>

#include "os/users.h"

namespace muster::slurmctld {
namespace {

uint64_t mean(uint64_t total, uint64_t count) { return count ? total / count : 0; }

std::string rule(std::string_view title) {
  return fmt::format("\n{}\n", title);
}

}  // namespace

std::string Statistics::text(Time now, size_t threads) const {
  std::string out;
  auto line = [&](std::string_view key, auto value) { out += fmt::format("{} {}\n", key, value); };
  auto field = [&](std::string_view key, auto value) { out += fmt::format("\t{} {}\n", key, value); };
  std::string bar(55, '*');
  out += fmt::format("{}\nsdiag output at {} ({})\nData since      {} ({})\n{}\n", bar, format_time(now), unix_seconds(now),
                     format_time(since), unix_seconds(since), bar);
  line("Server thread count: ", threads);
  line("Agent queue size:    ", 0);
  line("Agent count:         ", 0);
  line("Agent thread count:  ", 0);
  line("DBD Agent queue size:", 0);
  out += '\n';
  line("Jobs submitted:", submitted.load());
  line("Jobs started:  ", started.load());
  line("Jobs completed:", completed.load());
  line("Jobs canceled: ", canceled.load());
  line("Jobs failed:   ", failed.load());
  out += fmt::format("\nJob states ts:  {} ({})\n", format_time(now), unix_seconds(now));
  line("Jobs pending:  ", pending.load());
  line("Jobs running:  ", running.load());
  out += rule("Main schedule statistics (microseconds):");
  field("Last cycle:  ", quick.last_us.load());
  field("Max cycle:   ", quick.max_us.load());
  field("Total cycles:", quick.cycles.load());
  field("Mean cycle:  ", mean(quick.total_us, quick.cycles));
  field("Mean depth cycle: ", mean(quick.depth_total, quick.cycles));
  field("Cycles per minute:", quick.cycles * 60 / std::max<int64_t>(1, to_seconds(now - since)));
  field("Last queue length:", quick.queue_length.load());
  out += rule("Backfilling stats");
  field("Total cycles:", full.cycles.load());
  field("Last cycle:", full.last_us.load());
  field("Max cycle: ", full.max_us.load());
  field("Mean cycle:", mean(full.total_us, full.cycles));
  field("Last depth cycle:", full.last_depth.load());
  field("Depth Mean:", mean(full.depth_total, full.cycles));
  field("Last queue length:", full.queue_length.load());
  out += rule("Event log (microseconds)");
  field("Turns:     ", turns.load());
  field("Events:    ", events.load());
  field("Last turn: ", last_turn_us.load());
  field("Max turn:  ", max_turn_us.load());
  std::lock_guard lock(mutex_);
  out += rule("Remote Procedure Call statistics by message type");
  int number = 4000;
  for (const auto& [name, s] : by_name_)
    out += fmt::format("\t{:<40}({:>5}) count:{:<6} ave_time:{:<6} total_time:{}\n", name, ++number, s.count, mean(s.total_us, s.count), s.total_us);
  out += rule("Remote Procedure Call statistics by user");
  for (const auto& [uid, s] : by_user_) {
    auto user = os::find_user(Uid(uid));
    out += fmt::format("\t{:<16}({:>8}) count:{:<6} ave_time:{:<6} total_time:{}\n", user ? user->name : std::to_string(uid), uid, s.count,
                       mean(s.total_us, s.count), s.total_us);
  }
  out += rule("Pending RPC statistics");
  out += "\tNo pending RPCs\n";
  return out;
}

}  // namespace muster::slurmctld
