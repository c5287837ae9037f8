// Scripts and environments for the nodes that run them: a piece at a time, at the node's pace, and only those of jobs that the
// node has a part in.
#include "slurmctld/core/served.h"
#include "slurmctld/daemon/service.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kPiece = 128u << 10;  // what one node has on its way at a time

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

}  // namespace muster::slurmctld
