// Batch scripts and environments in the accounting database: how they come there, who asks for them, and how they are archived.
// slurm.conf(5) AccountingStoreFlags=job_script,job_env; sacct(1) --batch-script, --env-vars; slurmdbd.conf(5) PurgeJobScriptAfter.
//
// A record of a job names them by their hash (store::blob_hash). slurmdbd keeps equal ones once, and says which of those that a record names
// it does not have (rpc::RecordsStored); the controller sends these before the records count as stored. No client hears of a hash.
#pragma once

#include <cstdint>
#include <string>

#include "base/describe.h"
#include "base/time.h"
#include "model/accounting.h"

namespace muster {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

// On the wire and in the database: append only.
enum class ContentKind : uint8_t { kScript, kEnvironment };

// Of a longer one the database keeps its length alone.
inline constexpr size_t kMostKeptContent = size_t{8} << 20;

// What of a job's content goes into an archive. Within one file, bytes stand with the first that has this hash.
struct ArchivedContent {
  JobRecordKey job;
  ContentKind kind{};
  Time ended{};  // the job's end
  std::string hash;
  uint64_t size = 0;  // of the whole content
  std::string bytes;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "kind", self.kind); field(3, "ended", self.ended); field(4, "hash", self.hash);
                field(5, "size", self.size); field(6, "bytes", self.bytes);)
};

namespace rpc {

// slurmctld → slurmdbd: a content that records named. `bytes` is empty where it is longer than kMostKeptContent.
struct StoreContent {
  std::string hash;
  uint64_t size = 0;
  std::string bytes;
  MUSTER_FIELDS(field(1, "hash", self.hash); field(2, "size", self.size); field(3, "bytes", self.bytes);)
};

// The script or environment of each run that the filter, which has to name jobs, means; in the order of QueryRecords. For a job's owner,
// coordinators of its account and operators.
struct QueryContent {
  JobRecordFilter filter;
  ContentKind kind{};
  MUSTER_FIELDS(field(1, "filter", self.filter); field(2, "kind", self.kind);)
};
// A content comes in pieces, one after the other; the first says whose it is.
struct ContentPart {
  JobRecord job;          // of a first piece; of others its id is 0
  bool refused = false;   // the caller may not see it
  bool too_long = false;  // only its length is kept
  uint64_t size = 0;      // of the whole; 0: none is kept
  std::string bytes;      // the next ones
  bool first() const { return static_cast<bool>(job.key.id); }
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "refused", self.refused); field(3, "too_long", self.too_long);
                field(4, "size", self.size); field(5, "bytes", self.bytes);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
