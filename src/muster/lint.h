// muster lint: what is wrong or odd about a batch script before it waits in the queue for it. Three parts: what sbatch
// itself would say (options/script_check.h, every mistake instead of the first), rules of experience
// (lint_rules.h), and, when there is a cluster to ask, what it answers to --test-only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/finding.h"
#include "muster/lint_rules.h"

namespace muster::front {

// Without the cluster. `name` of the script, for the findings. Pure but for `world`.
std::vector<Finding> lint_script(std::string_view script, const std::string& name, const LintWorld& world);

// The verb. SCRIPT…, or standard input. 0, or 1 with an error in one of them.
int lint_verb(std::span<const std::string> arguments);

}  // namespace muster::front
