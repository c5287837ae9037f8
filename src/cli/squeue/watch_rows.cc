// The rows being watched and their text; the terminal and the waiting are in watch.cc.
#include <unistd.h>

#include <algorithm>

#include "cli/squeue/query.h"
#include "cli/squeue/watch.h"
#include "fields/sort.h"

namespace muster::cli {
namespace {

void split_lines(std::string_view text, std::vector<std::string>& out) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

}  // namespace

bool WatchedJobs::wanted(const JobRow& row, const ShownRequest& request, Time now) const {
  return kept(options_, row, request.uid, Uid{::getuid()}, now);
}

std::string WatchedJobs::text_of(const JobRow& row, const ShownRequest& request, const fields::Environment& env) const {
  std::string out;
  each_line(options_, JobRow(row), [&](const JobRow& one) { listing_.jobs.row({one, request, env}, out); });
  return out;
}

std::vector<std::string> WatchedJobs::apply(rpc::JobChanges&& changes, const fields::Environment& env) {
  if (fixed_now_ == kTimeUnset) fixed_now_ = env.now;
  fields::Environment still = env;
  still.now = fixed_now_;
  requests_.add(std::move(changes.requests));
  std::vector<std::string> out;
  for (JobRow& row : changes.jobs) {
    std::shared_ptr<const ShownRequest> request = requests_.share(row);
    if (!wanted(row, *request, env.now)) {
      rows_.erase(row.id.value);
      continue;
    }
    std::string key = text_of(row, *request, still);
    auto at = rows_.find(row.id.value);
    if (at == rows_.end() || at->second.key != key) split_lines(text_of(row, *request, env), out);
    rows_[row.id.value] = {std::move(row), std::move(request), std::move(key), true};
  }
  for (const JobRow& row : changes.left) {
    auto at = rows_.find(row.id.value);
    if (at == rows_.end()) continue;
    split_lines(text_of(row, *at->second.request, env), out);  // its last line says how it ended
    rows_.erase(at);
  }
  for (JobId id : changes.gone) rows_.erase(id.value);
  return out;
}

void WatchedJobs::begin_again() {
  requests_ = RequestTable();
  for (auto& [id, w] : rows_) w.confirmed = false;
}

void WatchedJobs::end_of_look() {
  std::erase_if(rows_, [](const auto& w) { return !w.second.confirmed; });
}

std::vector<std::string> WatchedJobs::lines(const fields::Environment& env) const {
  fields::RowSorter<fields::JobView> sorter(listing_.watch_sort);
  std::string text;
  if (!options_.noheader) listing_.jobs.header(text);
  Lines lines;
  for (const auto& [id, w] : rows_)
    each_line(options_, JobRow(w.row), [&](const JobRow& one) {
      fields::JobView view{one, *w.request, env};
      sorter.add(view);
      listing_.jobs.row(view, lines.text());
      lines.end();
    });
  for (uint32_t i : sorter.order()) text += lines[i];
  std::vector<std::string> out;
  split_lines(text, out);
  return out;
}

}  // namespace muster::cli
