// Enforcement: which rules AccountingStorageEnforce of slurm.conf(5) makes hold, as far as there are such rules. Whoever asks acct/ brings
// one.
#pragma once

namespace muster::acct {

struct Enforcement {          // nothing where accounting is off
  bool associations = false;  // implied by the others
  bool qos = false;
  bool limits = false;
  bool wckeys = false;
  bool safe = false;  // a job starts only if its limits on used minutes let it run to its end
  bool operator==(const Enforcement&) const = default;
};

}  // namespace muster::acct
