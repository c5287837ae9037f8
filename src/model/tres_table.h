// TresTable: the TRES (trackable resources) that the cluster knows, each with an index. TresCounts: an amount of each. cpu, mem (MiB),
// node and billing come first and always exist; gres/NAME, gres/NAME:TYPE and license/NAME follow as nodes, allocations and the
// configuration name them. An index is never given up, so counts stay right while a table grows. Names are in lower case, as slurmdbd
// has them. A TRES that nobody has is not in the table: a limit on it holds nobody back. sacctmgr(1), guides tres and resource_limits.
//
// Sums stay at the greatest number instead of wrapping round; subtraction stops at 0. Cost: find O(log n), counts O(n).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/billing.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/tres_name.h"

namespace muster {

class TresCounts {
 public:
  uint64_t operator[](size_t tres) const { return tres < counts_.size() ? counts_[tres] : 0; }
  void add(size_t tres, uint64_t count);
  void add(const TresCounts& more);
  void put(size_t tres, uint64_t count);
  void take(const TresCounts& less);
  void raise(const TresCounts& to);  // each to at least so many
  TresCounts times(uint64_t factor) const;
  size_t size() const { return counts_.size(); }  // of the list: what stands beyond it is 0
  bool none() const;
  bool operator==(const TresCounts& o) const;  // an index beyond a list's end counts as 0

 private:
  std::vector<uint64_t> counts_;
};

// Sums of counts times a number, so large that they need 128 bits: they are exact, so what was added can be taken away again.
class TresProducts {
 public:
  __extension__ using Sum = unsigned __int128;
  Sum operator[](size_t tres) const { return tres < sums_.size() ? sums_[tres] : 0; }
  void add(const TresCounts& counts, uint64_t times);
  void add(const TresProducts& more);
  void take(const TresProducts& less);
  bool none() const;
  bool operator==(const TresProducts& o) const;  // an index beyond a list's end counts as 0

 private:
  std::vector<Sum> sums_;
};

class TresTable {
 public:
  static constexpr uint32_t kCpu = 0, kMem = 1, kNode = 2, kBilling = 3;
  static constexpr uint32_t kUnknown = 0xffffffffu;

  TresTable();
  uint32_t find(std::string_view name) const;  // "gres/gpu:h100"; kUnknown
  const std::string& name(uint32_t tres) const { return names_[tres]; }
  const TresName& what(uint32_t tres) const { return kinds_[tres]; }
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }

  bool knows(const std::vector<std::string>& names) const;
  void learn(const std::vector<std::string>& names);

 private:
  std::vector<std::string> names_;
  std::vector<TresName> kinds_;  // what each of them means
  std::map<std::string, uint32_t, std::less<>> index_;
};

// The TRES named there other than cpu, mem, node and billing.
std::vector<std::string> tres_of(const NodeSpec& node);
std::vector<std::string> tres_of(const Allocation& allocation);
std::string tres_of_license(const std::string& name);

// Adds this many devices to the entry of the name and to that of name and type. A TRES that is not in the table is left out.
void add_gres(TresCounts& counts, const TresTable& table, const std::string& name, const std::string& type, uint64_t count);
void add_license(TresCounts& counts, const TresTable& table, const std::string& name, uint64_t count);
// What a job holds. Billing is what the job was billed, the number of its CPUs where no weights were set. Cost: O(nodes).
TresCounts counts_of(const Allocation& allocation, const TresTable& table);
// The most of each TRES that it holds on one of its nodes, and that a node comes to by these weights; of licences nothing, for no node has
// those. Cost: O(nodes).
TresCounts most_on_a_node(const Allocation& allocation, const TresTable& table, const BillingText& weights, const BillingMethod& method);

}  // namespace muster
