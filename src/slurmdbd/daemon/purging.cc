#include "slurmdbd/daemon/purging.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "slurmdbd/daemon/archive_file.h"

namespace muster::slurmdbd {

// Time of which a roll-up is due, for the first time or again, needs its records.
Result<Time> Purging::rolled_until(const std::string& cluster) {
  MUSTER_TRY(state, storage_.usage_state(cluster));
  MUSTER_TRY(changed, storage_.changed_times(cluster));
  if (changed.empty()) return state.rolled;
  return std::min(state.rolled, period_begin(UsagePeriod::kHour, changed.front().from));
}

Result<> Purging::begin(const Directory& directory, Time now) {
  for (const RecordKindRow& row : record_kinds()) {
    const std::optional<config::PurgeAge> age = age_of(settings_->purge, row);
    if (!age) continue;
    MUSTER_TRY(clusters, storage_.recorded_clusters(row.kind));
    for (std::string& cluster : clusters) {
      Time before = purge_before(*age, now);
      if (row.of_usage && settings_->rolls_up && directory.clusters.contains(cluster)) {
        MUSTER_TRY(rolled, rolled_until(cluster));
        roll_ups_behind_ = roll_ups_behind_ || rolled < before;
        before = std::min(before, rolled);
      }
      orders_.push_back({row.kind, cluster, before, {row.kind, cluster, before, 0, {}}});
    }
  }
  std::ranges::reverse(orders_);
  const bool writes = settings_->archive.script.empty() &&
                      std::ranges::any_of(orders_, [&](const Order& order) { return archives(settings_->archive, order.kind); });
  if (!writes) return {};
  const Result<os::Fd> directory_of_files = open_archive_directory(place_, slurm_user_);
  if (directory_of_files) return {};
  orders_.clear();
  return std::unexpected(directory_of_files.error());
}

Result<sql::Purged> Purging::purge(Order& order) {
  const ArchiveRules& rules = settings_->archive;
  const size_t most = settings_->purge.most_rows;
  if (!rules.script.empty() || !archives(rules, order.kind)) return storage_.purge(order.kind, order.cluster, order.before, most);
  ArchiveWriter writer(place_, rules, order.kind, order.before, slurm_user_);
  Result<sql::Purged> purged = storage_.purge(order.kind, order.cluster, order.before, most, &writer);
  // The files stay even where the database failed after them: it may have deleted the rows all the same.
  std::ranges::copy(writer.files(), std::back_inserter(order.gone.files));
  return purged;
}

Result<> Purging::piece() {
  if (orders_.empty()) return {};
  Order& order = orders_.back();
  const Result<sql::Purged> purged = purge(order);
  if (purged) order.gone.records += purged->records;
  if (purged && purged->more) return {};
  if (order.gone.records > 0 || !order.gone.files.empty()) {
    tell(order.gone);
    purged_.push_back(std::move(order.gone));
  }
  orders_.pop_back();
  if (purged) return {};
  orders_.clear();
  return std::unexpected(purged.error());
}

void Purging::tell(const rpc::PurgedRecords& gone) {
  log_.info("purged {} {} before {}{}{}", gone.records, row_of(gone.kind).named, format_time(gone.before),
            gone.cluster.empty() ? "" : ", of cluster " + gone.cluster,
            gone.files.empty() ? "" : "; they are in " + join(gone.files, ", "));
}

std::vector<std::string> Purging::script_variables() const {
  std::vector<Time> before;
  for (const RecordKindRow& row : record_kinds()) {
    Time& until = before.emplace_back();
    for (const Order& order : orders_)
      if (order.kind == row.kind) until = std::max(until, order.before);
  }
  return slurmdbd::script_variables(settings_->archive, before);
}

Time next_purge(Time now, bool roll_ups_behind) {
  const Time next_hour = period_after(UsagePeriod::kHour, period_begin(UsagePeriod::kHour, now));
  return roll_ups_behind ? std::min(next_hour, now + minutes(1)) : next_hour;
}

}  // namespace muster::slurmdbd
