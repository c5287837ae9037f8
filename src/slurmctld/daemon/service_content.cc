// What hosts fetch. Scripts and environments for the nodes that run them: a piece at a time, at the node's pace, and only those of jobs that the
// node has a part in.
#include "slurmctld/core/served.h"
#include "slurmctld/daemon/service_handlers.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kMostFollowers = 16384;  // login hosts that are told of changes
constexpr size_t kPiece = 128u << 10;     // what one node has on its way at a time

std::unexpected<Error> not_enabled() {
  return fail(Errc::kConfiglessDisabled, {}, "SlurmctldParameters=enable_configless in slurm.conf lets slurmctld give out the files");
}

}  // namespace

Result<> Service::fetch_content(const Call& call, rpc::FetchContent what) {
  const std::optional<NodeId> node = nodes_.node_of(call.channel.lock().get());
  if (!node) return fail(Errc::kUnexpectedMessage, "a node must register before it asks");
  MUSTER_TRY_VOID(may_fetch(*core_.snapshot(), *node, what));
  queries_.post([this, what = std::move(what), to = call.channel, id = call.id, message = call.message] {
    auto blob = contents_.get(what.hash, ports_.texts.read_blob);
    if (blob && what.offset > (*blob)->size()) blob = fail(Errc::kInvalidArgument, "the offset is behind the end");
    std::string answer;
    if (blob) wire::encode(rpc::ContentPiece{(*blob)->size(), (*blob)->substr(what.offset, kPiece)}, answer);
    loop_.post([to, id, message, answer = std::move(answer), error = blob ? std::nullopt : std::optional(blob.error())]() mutable {
      auto c = to.lock();
      if (!c) return;
      if (error) c->answer_error(id, *error);
      else c->answer(id, message, std::move(answer));
    });
  });
  return {};
}

// ---- the configuration's files, for hosts that have none: each asks at its own pace. sackds are told here when the files are others; slurmds
// are told by orders

Result<> Service::fetch_config(const Call& call, rpc::FetchConfig request) {
  const auto files = ports_.config_files();
  if (!files) return not_enabled();
  if (request.follow) {
    std::erase_if(followers_, [&](const ChannelRef& f) { return f.expired() || f.lock() == call.channel.lock(); });
    if (followers_.size() >= kMostFollowers) return fail(Errc::kTryAgainLater, {}, "too many hosts follow the configuration");
    followers_.push_back(call.channel);
  }
  finish<rpc::FetchConfig>(call, files->manifest());
  return {};
}

Result<> Service::fetch_config_file(const Call& call, rpc::FetchConfigFile request) {
  const auto files = ports_.config_files();
  if (!files) return not_enabled();
  MUSTER_TRY(piece, files->piece(request));
  finish<rpc::FetchConfigFile>(call, piece);
  return {};
}

void Service::config_changed(const std::string& version) {
  const std::string notice = wire::encoded(rpc::ConfigChanged{version});
  for (const ChannelRef& follower : followers_)
    if (auto channel = follower.lock()) channel->notify(rpc::ConfigChanged::kNumber, notice);
}

}  // namespace muster::slurmctld
