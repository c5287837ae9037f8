// Queries: the core answers them (core/query.h) from the newest snapshot; here their answers become frames. Most are made on the query
// thread; those that take a planning pass have a thread of their own, so that squeue does not wait behind them.
#include "slurmctld/core/query.h"
#include "slurmctld/daemon/service_handlers.h"

namespace muster::slurmctld {
namespace {

// The parts of an answer, encoded as they are asked for.
template <class Request>
class EncodedParts final : public net::PartSource {
 public:
  explicit EncodedParts(AnswerInParts<Request> answer) : answer_(std::move(answer)) {}
  bool next(std::string& part) override {
    if (!answer_.next || !answer_.next(part_)) return false;
    wire::encode(part_, part);
    return true;
  }
  Result<std::string> last() override { return wire::encoded(answer_.last); }

 private:
  AnswerInParts<Request> answer_;
  PartOf<Request> part_;
};

Result<std::unique_ptr<net::PartSource>> encoded(Result<QueryAnswer> answer) {
  if (!answer) return std::unexpected(answer.error());
  return std::visit(
      []<class Request>(AnswerInParts<Request>& a) -> std::unique_ptr<net::PartSource> {
        return std::make_unique<EncodedParts<Request>>(std::move(a));
      },
      *answer);
}

}  // namespace

QueryContext Service::context_of(const Call& call) const {
  return {core_.snapshot(), ports_.settings(), net::Loop::now(), call.who, ports_.texts};
}

void Service::begin_answer(net::AnswerStreams& streams, Call call, Query query) {
  auto channel = call.channel.lock();
  if (!channel) return;
  auto open = [this, call, kept = std::make_shared<Query>(std::move(query))] {
    return encoded(query_from(context_of(call), std::move(*kept)));
  };
  streams.begin(
      channel, call.id, call.message, open, [this, call] { stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began); },
      call.who.uid);
}

Result<> Service::query(Call call, Query query) {
  begin_answer(streams_, std::move(call), std::move(query));
  return {};
}

Result<> Service::query_with_plan(Call call, Query query) {
  begin_answer(plan_streams_, std::move(call), std::move(query));
  return {};
}

Result<> Service::query_at_once(Call call, Query query) {
  MUSTER_TRY(answer, encoded(query_from(context_of(call), std::move(query))));
  MUSTER_TRY(last, answer->last());
  stats_.call(call.message, call.who.uid, net::Loop::monotonic() - call.began);
  if (auto c = call.channel.lock()) c->answer(call.id, call.message, std::move(last));
  return {};
}

}  // namespace muster::slurmctld
