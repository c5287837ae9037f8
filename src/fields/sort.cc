#include "fields/sort.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "fields/sinfo_view.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

// One key of all rows: numbers, or texts.
struct Values {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  bool descending = false;
  bool by_host = false;  // texts are node names: n9 before n10

  int compare(uint32_t a, uint32_t b) const {
    if (!numbers.empty()) return numbers[a] < numbers[b] ? -1 : numbers[a] > numbers[b];
    if (by_host) return host_less(texts[a], texts[b]) ? -1 : host_less(texts[b], texts[a]);
    return texts[a].compare(texts[b]);
  }
};

template <class View>
bool fill_special(const View&, const SortKey<View>&, Values&) {
  return false;
}
bool fill_special(const SinfoView& v, const SortKey<SinfoView>& key, Values& values) {
  if (key.defined_order) {
    values.numbers.push_back(partition_order(v));
    return true;
  }
  if (key.field->letter != 'N') return false;
  values.by_host = true;
  values.texts.push_back(v.line.first ? v.line.first->name : std::string());
  return true;
}

template <class View>
Values values_of(const std::vector<View>& views, const SortKey<View>& key) {
  Values values;
  values.descending = key.descending;
  for (const View& v : views) {
    if (fill_special(v, key, values)) continue;
    if (key.field->number) {
      values.numbers.push_back(key.field->number(v));
    } else {
      values.texts.emplace_back();
      key.field->text(v, values.texts.back());
    }
  }
  return values;
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
      if (one.field)
        out.keys.push_back(one);
      else
        out.messages.push_back("Invalid sort specification: " + std::string(1, letter));
    }
  }
  return out;
}

template <class View>
std::vector<uint32_t> sorted_order(const std::vector<View>& views, const std::vector<SortKey<View>>& keys) {
  std::vector<uint32_t> order(views.size());
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Values> columns;
  for (const SortKey<View>& key : keys) columns.push_back(values_of(views, key));
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    for (const Values& c : columns)
      if (int less = c.compare(a, b)) return c.descending ? less > 0 : less < 0;
    return false;
  });
  return order;
}

template ParsedSort<JobView> parse_sort<JobView>(std::string_view);
template ParsedSort<StepView> parse_sort<StepView>(std::string_view);
template ParsedSort<SinfoView> parse_sort<SinfoView>(std::string_view);
template std::vector<uint32_t> sorted_order<JobView>(const std::vector<JobView>&,
                                                     const std::vector<SortKey<JobView>>&);
template std::vector<uint32_t> sorted_order<StepView>(const std::vector<StepView>&,
                                                      const std::vector<SortKey<StepView>>&);
template std::vector<uint32_t> sorted_order<SinfoView>(const std::vector<SinfoView>&,
                                                       const std::vector<SortKey<SinfoView>>&);

}  // namespace muster::fields
