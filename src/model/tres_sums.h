// Arithmetic of TresAmounts, TRES by TRES: sums of usage, what is left of a total. What is not listed counts as 0. The results list GRES as
// add_gres() does and licences by name. Sums stop at the largest number. Cost: O(kinds).
#pragma once

#include <cstdint>

#include "model/tres_amounts.h"

namespace muster {

void add_tres(TresAmounts& to, const TresAmounts& what, uint64_t times = 1);
TresAmounts less_tres(const TresAmounts& from, const TresAmounts& what);   // never below 0
TresAmounts least_tres(const TresAmounts& a, const TresAmounts& b);        // of each the smaller amount
TresAmounts only_tres(const TresAmounts& what, const TresAmounts& these);  // those of `what` that `these` lists, 0 where it has none
TresAmounts split_tres(const TresAmounts& what, uint64_t parts);           // the amounts divided by `parts`, rounded down; parts > 0

}  // namespace muster
