// What Service does about old records: purges them each hour, and archives and brings back what an administrator asks for. The right to ask
// is judged in service.cc; here, which places on this host a request may name.
#include <string>
#include <utility>

#include "slurmdbd/daemon/archive_file.h"
#include "slurmdbd/daemon/service.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

// Places and programs outside ArchiveDir are root's and SlurmUser's to name, and not to whom another host only says is root.
bool may_name_anything(bool slurm, bool passed_on) { return slurm && !passed_on; }

Result<> check_commands(const Settings& settings) {
  if (settings.archive.commands) return {};
  return fail(Errc::kDisabled, {}, "DisableArchiveCommands=yes in slurmdbd.conf");
}

rpc::ArchiveDumped dumped(const Purging& walk) {
  rpc::ArchiveDumped out;
  out.purged = walk.purged();
  out.roll_ups_behind = walk.roll_ups_behind();
  return out;
}

// What ended the walk, and what it had done until then.
Error told(const Error& error, const Purging& walk) {
  Error out = error;
  if (!out.hint.empty() || walk.purged().empty()) return out;
  uint64_t records = 0;
  for (const rpc::PurgedRecords& gone : walk.purged()) records += gone.records;
  out.hint = std::to_string(records) + " records were purged before that, as slurmdbd's log says";
  return out;
}

Result<sql::Restored> load_all(sql::Storage& storage, ArchiveReader& reader) {
  sql::Restored counts;
  MUSTER_TRY_VOID(sql::in_transaction(storage.connection(), [&]() -> Result<> {
    for (;;) {
      MUSTER_TRY(part, reader.next());
      if (!part) return {};
      MUSTER_TRY_VOID(storage.restore(*part, counts));
    }
  }));
  return counts;
}

}  // namespace

void Service::purge() {
  const auto settings = ports_.settings();
  auto walk = std::make_unique<Purging>(*writer_storage_, log_, settings, NamedPlace{settings->archive.directory, {}}, slurm_user_);
  walks_.start(std::move(walk), [this](const Purging& ended, const Result<>& done) {
    if (!done) log_.error("old records are not purged: {}", done.error().message());
    const Time now = net::Loop::now();
    const bool soon = done && ended.roll_ups_behind() && ended.settings().archive.script.empty();
    purge_timer_ = loop_.after(std::max(next_purge(now, soon) - now, Duration::zero()), [this] { purge(); });
  });
}

Result<> Service::archive_dump(const Call& call, std::string_view payload) {
  rpc::ArchiveDump request;
  MUSTER_TRY_VOID(wire::decode(payload, request));
  auto settings = std::make_shared<Settings>(*ports_.settings());
  MUSTER_TRY_VOID(check_commands(*settings));
  const bool anything = may_name_anything(call.who.slurm, call.who.passed_on);
  if (!request.script.empty() && !anything)
    return fail(Errc::kAccessDenied, {}, "Script=: only root and SlurmUser say which program slurmdbd runs");
  if (!request.script.empty() && !request.script.starts_with('/'))
    return fail(Errc::kInvalidArgument, "Script=" + request.script + ": is an absolute path");
  MUSTER_TRY(place, named_place(settings->archive, "Directory", request.directory, anything));
  MUSTER_TRY_VOID(apply_dump(request, settings->purge, settings->archive));
  if (std::exchange(dumping_, true)) return fail(Errc::kTryAgainLater, {}, "another archive dump is under way");
  log_.info("archive dump by {}", call.who.name);
  walks_.start(std::make_unique<Purging>(*writer_storage_, log_, settings, std::move(place), slurm_user_),
               [this, call](const Purging& walk, const Result<>& done) {
                 dumping_ = false;
                 answered(call);
                 if (!done) log_.error("archive dump by {}: {}", call.who.name, done.error().message());
                 const auto channel = call.channel.lock();
                 if (!channel) return;
                 if (done) channel->answer(call.id, call.message, wire::encoded(dumped(walk)));
                 else channel->answer_error(call.id, told(done.error(), walk));
               });
  return {};
}

Result<rpc::ArchiveLoaded> Service::archive_load(const Caller& who, const rpc::ArchiveLoad& request) {
  const auto settings = ports_.settings();
  MUSTER_TRY_VOID(check_commands(*settings));
  if (request.file.empty()) return fail(Errc::kInvalidArgument, "File=: names a file of ArchiveDir");
  MUSTER_TRY(place, named_place(settings->archive, "File", request.file, may_name_anything(who.slurm, who.passed_on)));
  MUSTER_TRY(reader, ArchiveReader::open(place, slurm_user_));
  MUSTER_TRY(counts, load_all(*writer_storage_, reader));
  if (counts.added == 0)
    return fail(Errc::kAlreadyDone,
                request.file + ": all " + std::to_string(counts.known) + " records of it are in the database already; nothing was added");
  log_.info("archive load by {}: {} records of {} were added, {} were there", who.name, counts.added, request.file, counts.known);
  rpc::ArchiveLoaded loaded;
  loaded.added = counts.added;
  loaded.known = counts.known;
  return loaded;
}

}  // namespace muster::slurmdbd
