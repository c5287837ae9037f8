// The words of Flags= of accounts, QOS and resources, as they are spelled. sacctmgr(1).
#pragma once

#include <string_view>

namespace muster {

// The users of such an account coordinate it and all accounts below.
inline constexpr std::string_view kUsersAreCoords = "UsersAreCoords";

inline constexpr std::string_view kAccountFlags[] = {kUsersAreCoords};
inline constexpr std::string_view kQosFlags[] = {"DenyOnLimit", "EnforceUsageThreshold", "NoDecay",           "NoReserve",
                                                 "OverPartQOS", "PartitionMaxNodes",     "PartitionMinNodes", "PartitionTimeLimit",
                                                 "Relative",    "RequiresReservation",   "UsageFactorSafe"};
inline constexpr std::string_view kResourceFlags[] = {"Absolute", "SharedPool"};

}  // namespace muster
