#include "slurmdbd/daemon/report_answers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "model/tres_sums.h"
#include "slurmdbd/daemon/usage_rolling.h"
#include "sql/record_filter.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

constexpr size_t kRowsPerPart = 2000;

class EncodedParts final : public net::PartSource {
 public:
  template <class Part>
  void add(const Part& part) {
    wire::encode(part, parts_.emplace_back());
  }
  bool next(std::string& part) override {
    if (at_ == parts_.size()) return false;
    part = std::move(parts_[at_++]);
    return true;
  }

 private:
  std::vector<std::string> parts_;
  size_t at_ = 0;
};

std::unexpected<Error> too_large() {
  return fail(Errc::kResultTooLarge, "a report of more than " + std::to_string(kMostRowsOfReport) + " rows",
              "Ask for a shorter time, or for some accounts or users");
}

// The clusters a question means: those it names and that are known, or all.
std::vector<std::string> clusters_of(const Directory& d, const std::vector<std::string>& named) {
  std::vector<std::string> out;
  for (const auto& [name, record] : d.clusters)
    if (named.empty() ? !record.deleted : std::ranges::find(named, name) != named.end()) out.push_back(name);
  return out;
}

// Sends a list in parts of `Part`, whose member `list` takes the rows.
template <class Part, class Row>
std::unique_ptr<net::PartSource> in_parts(std::vector<Row> rows, std::vector<Row> Part::*list) {
  auto out = std::make_unique<EncodedParts>();
  for (size_t first = 0; first < rows.size(); first += kRowsPerPart) {
    Part part;
    const size_t last = std::min(rows.size(), first + kRowsPerPart);
    (part.*list)
        .assign(std::make_move_iterator(rows.begin() + static_cast<ptrdiff_t>(first)),
                std::make_move_iterator(rows.begin() + static_cast<ptrdiff_t>(last)));
    out->add(part);
  }
  return out;
}

// Counts runs by whose they were and by how much they had. A run costs a look into a table of encoded amounts; only what is distinct there is
// decoded. The plainest key of an amount is its text, for equal amounts need not be encoded equally.
class SizeCounter {
 public:
  // A part of a run is not counted as a job where the part that follows is.
  Result<> count(const sql::UsedRun& run, uint64_t seconds, bool is_job) {
    key_.clear();
    for (std::string_view part : {run.cluster, run.account, run.wckey, run.amounts}) add_to_key(part);
    auto at = encoded_.find(key_);
    if (at == encoded_.end()) {
      if (encoded_.size() >= kMostRowsOfReport) MUSTER_TRY_VOID(settle());
      at =
          encoded_
              .try_emplace(key_, Size{std::string(run.cluster), std::string(run.account), std::string(run.wckey), std::string(run.amounts)})
              .first;
    }
    if (is_job) ++at->second.jobs;
    at->second.seconds += seconds;
    return {};
  }
  // In the order of their keys. Takes them away.
  Result<std::vector<rpc::JobSize>> rows() {
    MUSTER_TRY_VOID(settle());
    std::vector<rpc::JobSize> out;
    for (auto& [key, size] : sizes_) out.push_back(std::move(size));
    sizes_.clear();
    return out;
  }

 private:
  struct Size {
    std::string cluster, account, wckey, amounts;
    uint64_t jobs = 0, seconds = 0;
  };
  void add_to_key(std::string_view part) {
    const size_t size = part.size();  // first, so that no two lists of parts look alike
    key_.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
  }
  Result<> settle() {
    for (const auto& [key, size] : encoded_) {
      TresAmounts each;
      MUSTER_TRY_VOID(wire::decode(size.amounts, each, wire::kOfOurOwn));
      auto [at, fresh] = sizes_.try_emplace({size.cluster, size.account, size.wckey, tres_text(each)});
      if (fresh) at->second = {size.cluster, size.account, size.wckey, std::move(each), 0, 0};
      at->second.jobs += size.jobs;
      at->second.seconds += size.seconds;
      if (sizes_.size() > kMostRowsOfReport) return too_large();
    }
    encoded_.clear();
    return {};
  }

  std::string key_;
  std::unordered_map<std::string, Size> encoded_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, rpc::JobSize> sizes_;
};

std::unexpected<Error> gone() { return fail(Errc::kCommunicationFailed); }

}  // namespace

ReportAnswer answer_usage(const ReportContext& context, const rpc::QueryUsage& query, const RecordAudience& audience) {
  auto out = std::make_unique<EncodedParts>();
  const Time from = hour_not_before(query.from), until = period_begin(UsagePeriod::kHour, query.until);
  size_t rows = 0;
  for (const std::string& cluster : clusters_of(context.directory, query.clusters)) {
    if (!context.still_wanted()) return gone();
    MUSTER_TRY(usage, usage_within(context.storage, context.directory, cluster, from, until, context.now,
                                   UsageSelection(query, cluster, audience)));
    rows += usage.entries.size();
    if (rows > kMostRowsOfReport) return too_large();
    for (size_t first = 0; first == 0 || first < usage.entries.size(); first += kRowsPerPart) {
      rpc::UsageAnswer part{cluster, {}, from, until};
      if (first == 0) part.usage.cluster = usage.cluster;
      const size_t last = std::min(usage.entries.size(), first + kRowsPerPart);
      part.usage.entries.assign(usage.entries.begin() + static_cast<ptrdiff_t>(first),
                                usage.entries.begin() + static_cast<ptrdiff_t>(last));
      out->add(part);
    }
  }
  return out;
}

ReportAnswer answer_sizes(const ReportContext& context, const rpc::QueryJobSizes& query, const RecordAudience& audience) {
  SizeCounter sizes;
  const Time from = query.filter.from, until = query.filter.until == kTimeUnset ? context.now : std::min(query.filter.until, context.now);
  MUSTER_TRY_VOID(context.storage.used_runs(query.filter, audience, context.still_wanted, [&](const sql::UsedRun& run) -> Result<> {
    const uint64_t n = run.used.seconds_within(from, until);
    const bool followed = run.resized != kTimeUnset && run.resized < until;
    return run.used.empty() || n == 0 ? Result<>() : sizes.count(run, n, !followed);
  }));
  MUSTER_TRY(rows, sizes.rows());
  return in_parts(std::move(rows), &rpc::JobSizes::sizes);
}

ReportAnswer answer_reservations(const ReportContext& context, const rpc::QueryReservationUsage& query) {
  MUSTER_TRY(nodes, sql::NodeRule::make(query.nodes));
  std::vector<rpc::ReservationUsage> rows;
  for (const std::string& cluster : clusters_of(context.directory, query.clusters)) {
    const size_t first = rows.size();
    MUSTER_TRY_VOID(context.storage.reservations_within(
        cluster, query.from, std::min(query.until, context.now), [&](const ReservationRecord& r) -> Result<> {
          if (!query.names.empty() && std::ranges::find(query.names, r.name) == query.names.end()) return {};
          if (!nodes.matches(r.nodes)) return {};
          if (rows.size() >= kMostRowsOfReport) return too_large();
          rows.push_back({r, {}});
          return {};
        }));
    if (rows.size() == first) continue;
    std::multimap<std::string, size_t, std::less<>> by_name;
    rpc::JobRecordFilter filter;
    filter.clusters = {cluster};
    filter.duplicates = true;
    filter.from = filter.until = rows[first].reservation.started;
    for (size_t i = first; i < rows.size(); ++i) {
      by_name.emplace(rows[i].reservation.name, i);
      filter.from = std::min(filter.from, rows[i].reservation.started);
      filter.until = std::max(filter.until, rows[i].reservation.ended);
    }
    MUSTER_TRY_VOID(context.storage.matching_jobs(filter, RecordAudience::everybody(), context.still_wanted, [&](const JobRecord& j) -> Result<> {
      for (auto [at, end] = by_name.equal_range(j.reservation); at != end; ++at) {
        rpc::ReservationUsage& row = rows[at->second];
        const Time until = std::min(row.reservation.ended, context.now);
        if (const uint64_t n = used_span(j).seconds_within(row.reservation.started, until)) add_tres(row.allocated, j.tres_allocated, n);
      }
      return {};
    }));
  }
  return in_parts(std::move(rows), &rpc::ReservationUsages::reservations);
}

ReportAnswer answer_events(const ReportContext& context, const rpc::QueryEvents& query) {
  MUSTER_TRY(nodes, sql::NodeRule::make(query.nodes));
  std::vector<EventRecord> rows;
  auto wanted = [&](const EventRecord& e) {
    if (e.node.empty() ? !query.of_clusters || !nodes.empty() : !query.of_nodes) return false;
    if (!nodes.empty() && !nodes.matches(e.node)) return false;
    if (query.open && (e.ended != kTimeUnset || e.node.empty())) return false;
    if (!query.reasons.empty() && std::ranges::none_of(query.reasons, [&](const std::string& r) { return iequals(r, e.reason); }))
      return false;
    if (!query.users.empty() && std::ranges::find(query.users, e.by) == query.users.end()) return false;
    const uint64_t cpus = e.tres.cpus.value_or(0);
    return (!query.min_cpus || cpus >= query.min_cpus) && (!query.max_cpus || cpus <= query.max_cpus);
  };
  const Time until = query.until == kTimeUnset ? kTimeInfinite : query.until;
  for (const std::string& cluster : clusters_of(context.directory, query.clusters))
    MUSTER_TRY_VOID(context.storage.events_within(cluster, query.from, until, [&](const EventRecord& e) -> Result<> {
      if (!wanted(e)) return {};
      if (rows.size() >= kMostRowsOfReport) return too_large();
      rows.push_back(e);
      return {};
    }));
  return in_parts(std::move(rows), &rpc::EventRecords::events);
}

}  // namespace muster::slurmdbd
