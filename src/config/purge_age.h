// The age at which slurmdbd purges records: a number with hours, days or months, as the Purge…After keys of slurmdbd.conf(5) take it.
#pragma once

#include <optional>
#include <string_view>

#include "model/archive.h"

namespace muster::config {

using muster::PurgeAge;
using muster::PurgeUnit;

// "12months", "60days", "24hours"; letters in any case, with or without the s at the end; a number alone means months.
std::optional<PurgeAge> parse_purge_age(std::string_view text);

}  // namespace muster::config
