#include "model/maintenance.h"

namespace muster {

std::string_view maintenance_step_name(MaintenanceStep step) {
  switch (step) {
    case MaintenanceStep::kWaiting: return "waiting";
    case MaintenanceStep::kDraining: return "draining";
    case MaintenanceStep::kWorking: return "working";
    case MaintenanceStep::kDone: return "done";
    case MaintenanceStep::kFailed: return "failed";
    case MaintenanceStep::kSkipped: return "skipped";
  }
  return "unknown";
}

std::string_view maintenance_state_name(MaintenanceState state) {
  switch (state) {
    case MaintenanceState::kActive: return "active";
    case MaintenanceState::kPaused: return "paused";
    case MaintenanceState::kCancelled: return "cancelled";
    case MaintenanceState::kFinished: return "finished";
  }
  return "unknown";
}

}  // namespace muster
