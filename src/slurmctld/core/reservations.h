// What happens to reservations by themselves: they begin, end, come again, are given up when idle, and get other nodes for those that go
// down or are used; and what becomes of their jobs then. slurmctld/core only. Guide reservations; slurm.conf(5) ResvOverRun.
//
// Cost: O(jobs of the reservation); other nodes O(nodes).
#pragma once

#include <string_view>

#include "sched/reserve/choose.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

inline constexpr uint32_t kMostReservations = 10000;

// A moment of the reservation has come: its begin, its end, or that it has been idle for so long.
void reservation_timer(const View& v, uint32_t id, Events& out);
// Looks whether its nodes are still what they are to be: replaces those that are out of service or (REPLACE) in use, follows its partition;
// and lets those go who are in the way of its jobs (MaxStartDelay).
void settle_reservation(const View& v, uint32_t id, Events& out);
// The reservation as ReservationSet carries it, to be altered by the caller.
event::ReservationSet reservation_set(const View& v, Reservation r, event::ReservationProgram run = event::ReservationProgram::kNone);
// When a running job is over: by its limit from `start` on, or so long after the end of the reservation as ResvOverRun lets it.
Time end_within(const View& v, const Job& job, uint32_t reservation, uint32_t limit_min, Time start);
// Sets the ends of jobs that run in it, after its own end was moved.
void move_ends(const View& v, const Reservation& r, Events& out);

// --reservation of a job that is submitted or changed: each of them is there and open to the job in some partition.
Result<> check_reservations(const View& v, const JobRequest& request, const std::vector<uint32_t>& partitions);
// A job that names no partition goes to that of its reservation.
void prefer_partition_of_reservation(const View& v, JobRequest& request);
// Who is in the groups that it names was found out; nothing where it names others by now, or those are its members already.
struct GroupMembers {
  uint32_t reservation = 0;
  std::vector<std::string> groups, members;  // as it names them; by name, sorted, each once
};
Events decide_members(const View& v, GroupMembers found);
// Whether the caller may be told of it (PrivateData=reservations), or is one of those whom it is for.
bool is_for_caller(const Cluster& cluster, const Reservation& r, const Caller& who);
// What jobs hold of a node from a moment on.
sched::HeldFrom held_from(const View& v, const Node& node, Time from);

}  // namespace muster::slurmctld
