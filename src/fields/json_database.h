// What slurmdbd says of itself in sacctmgr's documents: `stats_rec` and `slurmdbd_ping` of the description. sacctmgr(1) stats, ping.
#pragma once

#include <cstdint>
#include <string>

#include "fields/tree_sink.h"
#include "model/database_statistics.h"

namespace muster::fields {

// The one record of the document "statistics". Roll-ups are not counted by hour, day and month: all of them are under "hourly".
void json_database_statistics(const rpc::DatabaseStatistics& told, TreeSink& sink);

struct DatabasePing {
  std::string host;
  bool up = false, primary = true;
  int64_t microseconds = 0;
};
void json_database_ping(const DatabasePing& ping, TreeSink& sink);

// A key of slurm.conf or slurmdbd.conf, as it is printed. `of`: "client" or "slurmdbd".
struct ConfigLine {
  std::string of, key, value;
};
void json_config_line(const ConfigLine& line, TreeSink& sink);

}  // namespace muster::fields
