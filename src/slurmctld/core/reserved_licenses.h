// Licences of reservations: those that are there at the same time must not have more than there are, or one of them has nothing. Guide
// reservations, Reservations of licences; scontrol(1) Licenses.
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// kReservationOverlap, with who has them, where a new or changed reservation would have more than others leave at some moment; OVERLAP and
// MAINT may. One that repeats counts at every moment if any repetition meets this one. Cost: O(reservations²) of those with licences.
Result<> check_reserved_licenses(const View& view, const Reservation& reservation);

}  // namespace muster::slurmctld
