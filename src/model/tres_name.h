// TresName: which trackable resource is meant, as a value: "cpu", "gres/gpu:h100", "license/matlab" read once. Limits, weights and the
// TRES table use it, so nobody else takes such a name apart. Guide tres.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

enum class TresKind : uint8_t { kCpu, kMem, kNode, kBilling, kGres, kLicense, kOther };

struct TresName {
  TresKind kind = TresKind::kOther;
  std::string name, type;  // of GRES "gpu" and "h100" ("": of whatever type); of a licence its name; of others the whole text

  static TresName of(std::string_view text);  // in lower case, as slurmdbd has names
  std::string text() const;
  // Belongs to no node.
  bool global() const { return kind == TresKind::kLicense; }
  bool operator==(const TresName&) const = default;
};

}  // namespace muster
