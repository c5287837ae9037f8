// show stats: what slurmdbd counts of its own work; clear stats: from here on. sacctmgr(1).
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/plain_text.h"
#include "base/text.h"
#include "cli/sacctmgr/listing.h"
#include "fields/json_database.h"

namespace muster::cli {
namespace {

using rpc::WorkCount;

uint64_t microseconds_of(Duration d) { return static_cast<uint64_t>(d.count()); }
uint64_t mean_of(const WorkCount& work) { return work.count ? microseconds_of(work.total) / work.count : 0; }

// A time such as "Sat Nov 21 12:27:18 2026 (1795264038)", in the reader's time zone.
std::string stamped(Time t) {
  const time_t seconds = static_cast<time_t>(unix_seconds(t));
  tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  const size_t length = strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &parts);
  return std::string(text, length) + " (" + std::to_string(seconds) + ")";
}

struct Widths {
  int name, number;
};
constexpr Widths kOfRequests{24, 5}, kOfCallers{19, 10};

std::string line_of(const std::string& name, uint32_t number, Widths widths, const WorkCount& work) {
  char text[256];
  std::snprintf(text, sizeof text, "\t%-*.64s (%*u) count:%-6llu ave_time:%-6llu total_time:%llu\n", widths.name, name.c_str(),
                widths.number, number, static_cast<unsigned long long>(work.count), static_cast<unsigned long long>(mean_of(work)),
                static_cast<unsigned long long>(microseconds_of(work.total)));
  return text;
}

enum class Order : uint8_t { kCount, kMean, kTotal };

// The most first.
template <class Row>
void sort_rows(std::vector<Row>& rows, Order order) {
  std::ranges::stable_sort(rows, std::greater<>(), [order](const Row& row) {
    return order == Order::kCount ? row.work.count : order == Order::kMean ? mean_of(row.work) : microseconds_of(row.work.total);
  });
}

std::string roll_up_text(const rpc::DatabaseStatistics& told) {
  auto line = [](const char* key, uint64_t value) { return std::string(key) + std::to_string(value) + "\n"; };
  const WorkCount& work = told.roll_ups;
  std::string out =
      "\nInternal DBD rollup last ran " + (told.rolled_up == kTimeUnset ? std::string("N/A") : stamped(told.rolled_up)) + "\n";
  out += line("\tLast cycle:   ", microseconds_of(work.last)) + line("\tMax cycle:    ", microseconds_of(work.longest)) +
         line("\tTotal time:   ", microseconds_of(work.total)) + line("\tTotal cycles: ", work.count);
  return work.count ? out + line("\tMean cycle:   ", mean_of(work)) : out;
}

std::string text_of(rpc::DatabaseStatistics told, Order order) {
  const std::string stars(67, '*');
  std::string out = stars + "\nsacctmgr show stats output at " + stamped(told.now) + "\nData since                    " +
                    stamped(told.since) + "\nAll statistics are in microseconds\n" + stars + "\n" + roll_up_text(told);
  sort_rows(told.requests, order);
  sort_rows(told.callers, order);
  out += "\nRemote Procedure Call statistics by message type\n";
  for (const rpc::RequestCount& row : told.requests) out += line_of(row.name, row.number, kOfRequests, row.work);
  out += "\nRemote Procedure Call statistics by user\n";
  for (const rpc::CallerCount& row : told.callers) out += line_of(plain(row.name), row.uid.value, kOfCallers, row.work);
  return out;
}

std::optional<Order> order_of(Words words) {
  if (words.empty()) return Order::kCount;
  if (words.size() > 1) return std::nullopt;
  if (istarts_with("ave_time", words[0])) return Order::kMean;
  if (istarts_with("total_time", words[0])) return Order::kTotal;
  return std::nullopt;
}

std::optional<rpc::DatabaseStatistics> ask(Context& context, bool clear) {
  Session* session = context.session();
  if (!session) return std::nullopt;
  rpc::QueryDatabaseStatistics query;
  query.clear = clear;
  auto told = session->call(query);
  if (told) return std::move(*told);
  context.complain(told.error());
  return std::nullopt;
}

}  // namespace

void show_statistics(Context& context, Words words) {
  const std::optional<Order> order = order_of(words);
  if (!order)
    return context.complain(" Unknown option: " + join({words.begin(), words.end()}, " ") + ": stats are sorted by ave_time or total_time");
  auto told = ask(context, false);
  if (!told) return;
  Out out;
  if (!as_data(context)) return out.put(text_of(std::move(*told), *order));
  DatabaseDocument document(context, "statistics", *context.conf(), out);
  fields::json_database_statistics(*told, document.sink());
}

void clear(Context& context, Words words) {
  if (words.size() != 1 || !istarts_with("stats", words[0])) return context.complain("clear is said of stats: clear stats");
  ask(context, true);
}

}  // namespace muster::cli
