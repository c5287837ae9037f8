// How many jobs each user may put into the table that MaxJobCount bounds (slurm.conf(5)). Every task of an array counts, and so does a job
// that has ended until MinJobAge is over.
//
// While the table has room anybody may fill it, as in Slurm: on most clusters a user with 10,000 jobs is the only one with many,
// and a share that limits such a user on a quiet day would be a smaller MaxJobCount. Once the table is full:
//   - jobs that have ended and only wait for MinJobAge are forgotten early, the oldest first. They are taken from users who hold more
//     jobs than the one who asks: from the heaviest first, and only until that user holds as many as the one who asks will. A user who
//     is not the heaviest may also give up ended jobs of his own. A user who holds the least loses none before their time, and the one
//     who fills the table is refused, as in Slurm;
//   - where that is not enough, there is room for a sixteenth of MaxJobCount beside the table. One user may hold at most as much of it
//     as is left for all others (net/shares.h does the same for connections), so the next one always finds room. Were it a part of
//     MaxJobCount it would be taken from everybody on every day; as it is, the table may be larger by that much while one user fills it.
// Administrators have no rule of their own: they hold few jobs, and for those there is always room.
#pragma once

#include <vector>

#include "base/result.h"
#include "slurmctld/core/indexes.h"

namespace muster::slurmctld {

// How many more jobs than MaxJobCount there may be.
inline uint32_t jobs_beside(uint32_t max_job_count) { return max_job_count / 16; }

// Makes room for `tasks` more jobs of this user: the ended jobs that are to be forgotten for them. kTryAgainLater where there is no room;
// then nothing is to be forgotten. Jobs that ended at `now` stay: their dependents and those who wait for them hear of it at the end of the
// turn. O(1) while the table has room, O(users with jobs) when it is full.
Result<std::vector<JobId>> make_room(const Indexes& indexes, Uid uid, uint32_t tasks, uint32_t max_job_count, Time now);

}  // namespace muster::slurmctld
