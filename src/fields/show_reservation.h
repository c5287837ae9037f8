// `scontrol show reservation`, also as --json, and the lines of `sinfo -T`. scontrol(1), sinfo(1) --reservation. Cost: about 500 bytes a
// reservation, appended.
#pragma once

#include <span>
#include <string>

#include "fields/show.h"
#include "fields/tree_sink.h"
#include "model/rows.h"

namespace muster::fields {

void show_reservation(const ReservationRow& row, const ShowOptions& options, std::string& out);
void json_reservation(const ReservationRow& row, TreeSink& sink);  // reservation_info of the OpenAPI description
// sinfo -T: the widest name makes the first column.
void list_reservations(std::span<const ReservationRow> rows, bool header, std::string& out);

}  // namespace muster::fields
