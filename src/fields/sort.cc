#include "fields/sort.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "fields/priority_fields.h"
#include "fields/sinfo_view.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

// Keys that are not a field's own value. When true, the key was stored in `number` or `text`.
template <class View>
bool special(const View&, const SortKey<View>&, int64_t&, std::string&, bool&) {
  return false;
}
bool special(const JobView& v, const SortKey<JobView>& key, int64_t& number, std::string&, bool& is_number) {
  if (!key.tier) return false;
  is_number = true;
  number = v.row.tiers.empty() ? 0 : v.row.tiers.front();
  return true;
}
bool special(const SinfoView& v, const SortKey<SinfoView>& key, int64_t& number, std::string& text, bool& is_number) {
  if (key.defined_order) {
    is_number = true;
    number = partition_order(v);
    return true;
  }
  if (key.field->letter != 'N') return false;
  text = v.line.first ? v.line.first->name : std::string();
  return true;
}

// Whether the key sorts node names by their numbers: n9 before n10.
template <class View>
bool by_host(const SortKey<View>& key) {
  return std::is_same_v<View, SinfoView> && !key.defined_order && key.field->letter == 'N';
}

}  // namespace

template <class View>
ParsedSort<View> parse_sort(std::string_view text) {
  ParsedSort<View> out;
  for (std::string_view item : split(text, ',')) {
    SortKey<View> key;
    if (!item.empty() && (item[0] == '-' || item[0] == '+')) {
      key.descending = item[0] == '-';
      item.remove_prefix(1);
    }
    if (!item.empty() && item[0] == '#' && std::is_same_v<View, SinfoView>) {
      key.defined_order = true;
      item.remove_prefix(1);
    }
    if (iequals(item, "cluster")) continue;  // all rows are of one cluster
    for (char letter : item) {               // Slurm takes "Pt" for "P,t"
      SortKey<View> one = key;
      one.field = field_by_letter<View>(letter);
      if (one.field) out.keys.push_back(one);
      else out.messages.push_back("Invalid sort specification: " + std::string(1, letter));
    }
  }
  return out;
}

std::vector<SortKey<JobView>> with_partition_priority(const std::vector<SortKey<JobView>>& keys) {
  std::vector<SortKey<JobView>> out;
  for (const SortKey<JobView>& key : keys) {
    if (key.field->letter == 'p' || key.field->letter == 'Q') {
      out.push_back(key);
      out.back().tier = true;
    }
    out.push_back(key);
  }
  return out;
}

template <class View>
RowSorter<View>::RowSorter(std::vector<SortKey<View>> keys) : keys_(std::move(keys)), values_(keys_.size()) {}

template <class View>
void RowSorter<View>::add(const View& view) {
  ++rows_;
  for (size_t key = 0; key < keys_.size(); ++key) {
    Values& values = values_[key];
    int64_t number = 0;
    bool is_number = false;
    scratch_.clear();
    if (!special(view, keys_[key], number, scratch_, is_number)) {
      is_number = keys_[key].field->number != nullptr;
      if (is_number) number = keys_[key].field->number(view);
      else print_field(*keys_[key].field, view, scratch_);
    }
    if (is_number) values.numbers.push_back(number);
    else values.texts.push_back(values.known.try_emplace(scratch_, static_cast<uint32_t>(values.known.size())).first->second);
  }
}

// For each text, by the number it was given when it came, its rank in sorted order.
template <class View>
std::vector<int64_t> RowSorter<View>::ranks(const SortKey<View>& key, const Values& values) const {
  std::vector<const std::string*> texts(values.known.size());
  for (const auto& [text, n] : values.known) texts[n] = &text;
  std::vector<uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0u);
  bool hosts = by_host(key);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return hosts ? host_less(*texts[a], *texts[b]) : *texts[a] < *texts[b]; });
  std::vector<int64_t> out(texts.size());
  for (size_t rank = 0; rank < order.size(); ++rank) out[order[rank]] = static_cast<int64_t>(rank);
  return out;
}

template <class View>
std::vector<uint32_t> RowSorter<View>::order() const {
  struct Column {
    const std::vector<int64_t>* numbers;
    const std::vector<uint32_t>* texts;
    std::vector<int64_t> ranks;
    bool descending;
    int64_t of(uint32_t row) const { return texts->empty() ? (*numbers)[row] : ranks[(*texts)[row]]; }
  };
  std::vector<Column> columns;
  for (size_t i = 0; i < keys_.size(); ++i)
    columns.push_back({&values_[i].numbers, &values_[i].texts, ranks(keys_[i], values_[i]), keys_[i].descending});
  std::vector<uint32_t> out(rows_);
  std::iota(out.begin(), out.end(), 0u);
  std::stable_sort(out.begin(), out.end(), [&](uint32_t a, uint32_t b) {
    for (const Column& c : columns)
      if (int64_t x = c.of(a), y = c.of(b); x != y) return c.descending ? x > y : x < y;
    return false;
  });
  return out;
}

template <class View>
std::vector<uint32_t> sorted_order(const std::vector<View>& views, const std::vector<SortKey<View>>& keys) {
  RowSorter<View> sorter(keys);
  for (const View& v : views) sorter.add(v);
  return sorter.order();
}

template class RowSorter<JobView>;
template class RowSorter<StepView>;
template class RowSorter<SinfoView>;
template class RowSorter<PriorityView>;
template ParsedSort<JobView> parse_sort<JobView>(std::string_view);
template ParsedSort<StepView> parse_sort<StepView>(std::string_view);
template ParsedSort<SinfoView> parse_sort<SinfoView>(std::string_view);
template ParsedSort<PriorityView> parse_sort<PriorityView>(std::string_view);
template std::vector<uint32_t> sorted_order<JobView>(const std::vector<JobView>&, const std::vector<SortKey<JobView>>&);
template std::vector<uint32_t> sorted_order<StepView>(const std::vector<StepView>&, const std::vector<SortKey<StepView>>&);
template std::vector<uint32_t> sorted_order<SinfoView>(const std::vector<SinfoView>&, const std::vector<SortKey<SinfoView>>&);

}  // namespace muster::fields
