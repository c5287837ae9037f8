#include "cli/sstat/live_steps.h"

#include <algorithm>

#include "cli/common/find_job.h"
#include "cli/common/node_dial.h"
#include "net/loop.h"

namespace muster::cli {
namespace {

constexpr size_t kAskedAtOnce = 64;  // nodes

// Asks the nodes one after the other, some at a time, and merges what they say.
class Asker {
 public:
  Asker(const NodeDialer& dialer, const rpc::StepCreated& step, LiveStep& out) : dialer_(dialer), step_(step), out_(out) {}

  void run() {
    for (size_t i = 0; i < kAskedAtOnce; ++i) ask_next();
    if (open_ > 0) loop_.run();
    std::ranges::sort(out_.nodes, {}, &NodeUse::node);
  }

 private:
  void ask_next() {
    if (next_ == step_.nodes.size()) return;
    const rpc::NodeAddress& node = step_.nodes[next_++].address;
    NodeRequest ask;
    ask.node = node;
    ask.message = wire::number_of<rpc::QueryStepUse>;
    wire::encode(rpc::QueryStepUse{node.name, step_.credential}, ask.payload);
    ++open_;
    ask_node(loop_, dialer_, std::move(ask), [this, name = node.name](const Result<net::Frame>& r) {
      rpc::StepUseNow use;
      Result<> ok;
      if (r) ok = wire::decode(r->payload, use, wire::kOfOurOwn);
      else ok = std::unexpected(r.error());
      if (ok) took(name, std::move(use));
      else out_.silent.push_back(name + ": " + std::string(ok.error().message()));
      ask_next();
      if (--open_ == 0) loop_.stop();
    });
  }
  void took(const std::string& node, rpc::StepUseNow use) {
    out_.usage = merged(out_.usage, on_node(use.usage, node));
    out_.nodes.push_back({node, std::move(use.pids)});
  }

  net::Loop loop_;
  const NodeDialer& dialer_;
  const rpc::StepCreated& step_;
  LiveStep& out_;
  size_t next_ = 0, open_ = 0;
};

// What sacct shows first stands first: the script, then other special steps, then the numbered ones.
uint64_t order_of(const StepRow& s) { return s.id.value >= kInteractiveStep.value ? 0xffffffffu - s.id.value : uint64_t{s.id.value} + 16; }

}  // namespace

Result<std::vector<StepRow>> steps_to_show(Session& session, const rpc::JobSelector& named, bool all) {
  MUSTER_TRY(job, find_job(session, named));
  rpc::QueryJobs query;
  rpc::JobSelector whole;
  whole.job = job;
  query.filter.jobs.push_back(whole);
  query.parts = kRowSteps;
  query.show_all = true;
  std::vector<StepRow> steps;
  bool known = false;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::JobRows&& part) -> Result<> {
    known = known || !part.jobs.empty();
    std::ranges::move(part.steps, std::back_inserter(steps));
    return {};
  }));
  if (!known) return fail(Errc::kInvalidJobId);
  const auto runs = [](const StepRow& s) { return s.state == StepState::kRunning; };
  if (std::ranges::none_of(steps, runs) && !named.has_step) return fail(Errc::kAlreadyDone);
  std::erase_if(steps, [&](const StepRow& s) { return !runs(s) || (named.has_step && s.id != named.step); });
  if (named.has_step && steps.empty()) return fail(Errc::kNotFound);
  std::ranges::sort(steps, {}, order_of);
  if (all || named.has_step) return steps;
  std::erase_if(steps, [](const StepRow& s) { return s.id.value >= kInteractiveStep.value; });
  if (steps.size() > 1) steps.resize(1);
  return steps;
}

Result<LiveStep> ask_nodes(Session& session, const StepRow& step) {
  rpc::AskCredential ask;
  ask.job = step.job;
  ask.has_step = true;
  ask.step = step.id;
  ask.purpose = rpc::CredentialPurpose::kWatch;
  MUSTER_TRY(told, session.call(ask));
  LiveStep out;
  out.sluid = told.sluid;
  const NodeDialer dialer = NodeDialer::of(session.conf());
  Asker(dialer, told, out).run();
  return out;
}

}  // namespace muster::cli
