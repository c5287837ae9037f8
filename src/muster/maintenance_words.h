// What follows `muster maintenance`, read, and what it prints. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>

#include "base/result.h"
#include "model/maintenance.h"

namespace muster::front {

struct MaintenanceShow {
  std::string name;  // "": all
  bool json = false;
};
using MaintenanceWords = std::variant<rpc::StartMaintenance, rpc::ControlMaintenance, MaintenanceShow>;

// Errors: kBadOption names the word, its value and the rule.
Result<MaintenanceWords> read_maintenance_words(std::span<const std::string> arguments);

using UserOf = std::function<std::string(Uid)>;
// With its nodes where a row has them.
std::string to_text(const rpc::MaintenanceRows& rows, const UserOf& user);
std::string to_json(const rpc::MaintenanceRows& rows, const UserOf& user);

}  // namespace muster::front
