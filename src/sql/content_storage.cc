// Scripts and environments of jobs: which job has which, and each content once, in pieces that any database server takes.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "sql/columns.h"
#include "sql/storage.h"
#include "store/event_log.h"
#include "wire/accounting_instances.h"

namespace muster::sql {
namespace {

constexpr size_t kHashDigits = 64;
// How much of contents one transaction hands to a keeper: more follow in the next.
constexpr size_t kMostHandedBytes = size_t{128} << 20;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::vector<Value> key_of(ContentKind kind, const JobRecordKey& job, const std::string& cluster) {
  return {static_cast<int64_t>(kind), int64_t{job.id.value}, name_of(cluster), number_of(job.submitted), int64_t{job.restarts}};
}

// A statement about what one job has.
std::string of_job(std::string_view verb) {
  std::string out(verb);
  out += " FROM muster_job_contents WHERE kind = ? AND job = ? AND cluster = ? AND submitted = ? AND restarts = ?";
  return out;
}

Result<bool> any_row(Connection& connection, const std::string& question, Values values) {
  bool found = false;
  MUSTER_TRY_VOID(connection.query(question, values, [&](const Row&) -> Result<> {
    found = true;
    return {};
  }));
  return found;
}

struct OldContent {
  JobRecordKey job;
  Time ended{};
  std::string hash;
};

Result<std::vector<OldContent>> find_old_contents(Connection& connection, ContentKind kind, const std::string& cluster, Time before,
                                                  size_t most_rows) {
  std::vector<OldContent> out;
  const Value values[] = {static_cast<int64_t>(kind), name_of(cluster), number_of(before), static_cast<int64_t>(most_rows)};
  MUSTER_TRY_VOID(connection.query(
      "SELECT job, submitted, restarts, ended, hash FROM muster_job_contents WHERE kind = ? AND cluster = ? AND ended < ?"
      " ORDER BY ended LIMIT ?",
      values, [&](const Row& row) -> Result<> {
        OldContent& old = out.emplace_back();
        old.job = {JobId(static_cast<uint32_t>(row.number(0))), time_of(row.number(1)), static_cast<uint32_t>(row.number(2))};
        old.ended = time_of(row.number(3));
        old.hash = row.bytes(4);
        return {};
      }));
  return out;
}

}  // namespace

// ---- which job has which
Result<> Storage::note_contents(const std::string& cluster, const JobRecord& record) {
  MUSTER_TRY_VOID(note_end(cluster, record.key, record.ended));
  // A record that names no content says nothing of it: sacctmgr's edits are such.
  if (is_hash(record.script_hash))
    MUSTER_TRY_VOID(note_content(cluster, record.key, ContentKind::kScript, record.script_hash, record.ended));
  if (is_hash(record.environment_hash))
    MUSTER_TRY_VOID(note_content(cluster, record.key, ContentKind::kEnvironment, record.environment_hash, record.ended));
  return {};
}

// Of both kinds at once: each job's end comes here, and most have neither.
Result<> Storage::note_end(const std::string& cluster, const JobRecordKey& job, Time ended) {
  const Value values[] = {end_number(ended), int64_t{job.id.value}, name_of(cluster), number_of(job.submitted), int64_t{job.restarts}};
  return connection_->run(
      "UPDATE muster_job_contents SET ended = ? WHERE kind IN (0, 1) AND job = ? AND cluster = ? AND submitted = ? AND restarts = ?",
      values);
}

Result<> Storage::note_content(const std::string& cluster, const JobRecordKey& job, ContentKind kind, const std::string& hash, Time ended) {
  std::string known;
  std::vector<Value> key = key_of(kind, job, cluster);
  MUSTER_TRY_VOID(connection_->query(of_job("SELECT hash"), key, [&](const Row& row) -> Result<> {
    known = row.bytes(0);
    return {};
  }));
  if (known == hash) return {};
  MUSTER_TRY_VOID(connection_->run(of_job("DELETE"), key));
  key.insert(key.begin(), {end_number(ended), name_of(hash)});
  MUSTER_TRY_VOID(
      connection_->run("INSERT INTO muster_job_contents(ended, hash, kind, job, cluster, submitted, restarts) VALUES(?,?,?,?,?,?,?)", key));
  return known.empty() ? Result<>() : drop_unused_content(known);
}

Result<std::vector<std::string>> Storage::missing_contents(const rpc::StoreRecords& records) {
  std::set<std::string> asked;
  for (const JobRecord& r : records.jobs)
    for (const std::string* hash : {&r.script_hash, &r.environment_hash})
      if (is_hash(*hash)) asked.insert(*hash);
  std::vector<std::string> out;
  for (const std::string& hash : asked) {
    const Value key[] = {Text{hash}};
    MUSTER_TRY(there, any_row(*connection_, "SELECT 1 FROM muster_contents WHERE hash = ?", key));
    if (!there) out.push_back(hash);
  }
  return out;
}

// ---- contents
Result<> Storage::store_content(const rpc::StoreContent& content) {
  return in_transaction(*connection_, [&]() -> Result<> {
    const Value key[] = {Text{content.hash}};
    MUSTER_TRY(wanted, any_row(*connection_, "SELECT 1 FROM muster_job_contents WHERE hash = ? LIMIT 1", key));
    return wanted ? write_content(content) : Result<>();
  });
}

Result<> Storage::write_content(const rpc::StoreContent& content) {
  const bool whole = content.bytes.size() == content.size;
  if (!is_hash(content.hash) || (whole ? store::blob_hash(content.bytes) != content.hash : !content.bytes.empty()))
    return fail(Errc::kInvalidArgument, "the content " + content.hash.substr(0, kHashDigits) + " is not what its hash says");
  const Value key[] = {Text{content.hash}};
  MUSTER_TRY(there, any_row(*connection_, "SELECT 1 FROM muster_contents WHERE hash = ?", key));
  if (there) return {};
  const Value row[] = {Text{content.hash}, signed_of(content.size), int64_t{whole}};
  MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_contents(hash, size, kept) VALUES(?,?,?)", row));
  int64_t piece = 0;
  for (std::string_view rest = content.bytes; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kContentPiece))) {
    const Value values[] = {Text{content.hash}, piece++, Bytes{rest.substr(0, kContentPiece)}};
    MUSTER_TRY_VOID(connection_->run("INSERT INTO muster_content_pieces(hash, piece, bytes) VALUES(?,?,?)", values));
  }
  return {};
}

Result<KeptContent> Storage::content_of(const JobRecord& job, ContentKind kind) {
  KeptContent found;
  MUSTER_TRY_VOID(connection_->query(
      "SELECT c.hash, c.size, c.kept FROM muster_job_contents j JOIN muster_contents c ON c.hash = j.hash WHERE j.kind = ? AND j.job = ?"
      " AND j.cluster = ? AND j.submitted = ? AND j.restarts = ?",
      key_of(kind, job.key, job.cluster), [&](const Row& row) -> Result<> {
        found = {std::string(row.bytes(0)), static_cast<uint64_t>(row.number(1)), row.number(2) != 0};
        return {};
      }));
  return found;
}

Result<std::string> Storage::content_piece(const std::string& hash, int64_t piece) {
  std::string bytes;
  const Value key[] = {Text{hash}, piece};
  MUSTER_TRY_VOID(
      connection_->query("SELECT bytes FROM muster_content_pieces WHERE hash = ? AND piece = ?", key, [&](const Row& row) -> Result<> {
        bytes = row.bytes(0);
        return {};
      }));
  return bytes;
}

Result<std::string> Storage::whole_content(const std::string& hash) {
  std::string whole;
  for (int64_t piece = 0;; ++piece) {
    MUSTER_TRY(bytes, content_piece(hash, piece));
    if (bytes.empty()) return whole;
    whole += bytes;
  }
}

Result<> Storage::drop_unused_content(const std::string& hash) {
  const Value key[] = {Text{hash}};
  MUSTER_TRY(used, any_row(*connection_, "SELECT 1 FROM muster_job_contents WHERE hash = ? LIMIT 1", key));
  if (used) return {};
  MUSTER_TRY_VOID(connection_->run("DELETE FROM muster_content_pieces WHERE hash = ?", key));
  return connection_->run("DELETE FROM muster_contents WHERE hash = ?", key);
}

// ---- purging, and what comes back
Result<> Storage::hand_content(const std::string& cluster, ArchivedContent content, bool with_bytes, size_t& handed, RowKeeper& keeper) {
  bool there = false;
  const Value key[] = {Text{content.hash}};
  MUSTER_TRY_VOID(connection_->query("SELECT size FROM muster_contents WHERE hash = ?", key, [&](const Row& row) -> Result<> {
    content.size = static_cast<uint64_t>(row.number(0));
    there = true;
    return {};
  }));
  if (!there) return {};  // it never came
  if (with_bytes) {
    MUSTER_TRY(bytes, whole_content(content.hash));
    content.bytes = std::move(bytes);
    handed += content.bytes.size();
  }
  ArchivePart part;
  part.cluster = cluster;
  part.contents.push_back(std::move(content));
  return keeper.keep(std::move(part));
}

Result<Purged> Storage::purge_contents(ContentKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper) {
  MUSTER_TRY(old, find_old_contents(*connection_, kind, cluster, before, most_rows));
  Purged purged{0, old.size() >= most_rows};
  std::set<std::string> hashes;
  size_t handed = 0;
  for (const OldContent& of : old) {
    if (handed >= kMostHandedBytes) {
      purged.more = true;
      break;
    }
    ++purged.records;
    const bool first = hashes.insert(of.hash).second;
    if (keeper) MUSTER_TRY_VOID(hand_content(cluster, {of.job, kind, of.ended, of.hash}, first, handed, *keeper));
  }
  if (keeper && purged.records) MUSTER_TRY_VOID(keeper->make_durable());
  for (const OldContent& of : std::span(old).first(purged.records))
    MUSTER_TRY_VOID(connection_->run(of_job("DELETE"), key_of(kind, of.job, cluster)));
  for (const std::string& hash : hashes) MUSTER_TRY_VOID(drop_unused_content(hash));
  return purged;
}

Result<> Storage::restore_content(const std::string& cluster, const ArchivedContent& content, Restored& counts) {
  MUSTER_TRY(there, any_row(*connection_, of_job("SELECT 1"), key_of(content.kind, content.job, cluster)));
  ++(there ? counts.known : counts.added);
  if (!there) MUSTER_TRY_VOID(note_content(cluster, content.job, content.kind, content.hash, content.ended));
  // Of a hash that came before in this file, the bytes are there already.
  return there ? Result<>() : write_content({content.hash, content.size, content.bytes});
}

}  // namespace muster::sql
