// Which member of Config a key of slurm.conf feeds. Inside config/ only.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "config/slurm_conf.h"

namespace muster::config {

using Member =
    std::variant<std::string Config::*, bool Config::*, int Config::*, uint16_t Config::*, uint32_t Config::*, std::optional<int> Config::*,
                 std::optional<uint32_t> Config::*, std::optional<uint64_t> Config::*, Duration Config::*,
                 std::optional<Duration> Config::*, PortRange Config::*, std::vector<std::string> Config::*, OptionList Config::*>;

struct Binding {
  const char* key;
  Member member;
};
// Keys whose value needs more than its type (SlurmctldHost, SelectTypeParameters …) have no binding; slurm_global.cc sets them.
std::span<const Binding> bindings();
// Sets the member from checked text; "" leaves it as it is.
void assign(Config& config, const KeyRow& row, const Member& member, std::string_view text);

}  // namespace muster::config
