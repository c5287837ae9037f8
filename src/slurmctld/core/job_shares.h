// Who may put how many jobs into the table that MaxJobCount bounds (slurm.conf(5)). Every task of an array counts, and so does
// what has ended until MinJobAge is over.
//
// While the table has room anybody may fill it, as in Slurm: on most clusters a user with 10,000 jobs is the only one with many,
// and a share that binds him on a quiet day would be a smaller MaxJobCount. Once it is full:
//   - what ended and only waits for MinJobAge makes room early, the oldest first, of users who hold more than whoever asks: of
//     the heaviest first, and only until he holds as much as the other will. Whoever is not the heaviest may also give up his own.
//     Of whoever holds least nothing goes before its time, and the one who fills the table is refused as in Slurm;
//   - where that is not enough, a sixteenth of MaxJobCount is beside the table: one user may hold at most as much as is left
//     of it for all others (as of connections, net/shares.h), so whoever comes next finds room. Kept inside MaxJobCount it would
//     be taken from everybody on every day; so the table may be larger by that much while one user fills it.
// Administrators have no rule of their own: they hold few jobs, and for those there is always room.
#pragma once

#include <vector>

#include "base/result.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

// How many more jobs than MaxJobCount there may be.
inline uint32_t jobs_beside(uint32_t max_job_count) { return max_job_count / 16; }

// Room for `tasks` more jobs of this user: the ended jobs that are to be forgotten for them. kTryAgainLater where there is none;
// then nothing is to be forgotten. What ended at `now` is not: its dependents and those who wait for it hear of it at the end of the turn. O(1) while the table has room, O(users with jobs) when it is full.
Result<std::vector<JobId>> make_room(const Indexes& indexes, Uid uid, uint32_t tasks, uint32_t max_job_count, Time now);

}  // namespace muster::slurmctld
