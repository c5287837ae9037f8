// muster lint: reports what is wrong or odd about a batch script before it waits in the queue. There are three parts: what sbatch itself
// would say (options/script_check.h, every mistake instead of the first), rules of experience (lint_rules.h), and, when there is a cluster
// to ask, its answer to --test-only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/finding.h"
#include "muster/lint_rules.h"

namespace muster::front {

// Lints without the cluster. `name` is the script's name in the findings. Pure but for `world`.
std::vector<Finding> lint_script(std::string_view script, const std::string& name, const LintWorld& world);

// The verb, with SCRIPT… or standard input. The exit code is 1 with an error in one of them, else 0.
int lint_verb(std::span<const std::string> arguments);

}  // namespace muster::front
