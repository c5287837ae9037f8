#include "slurmd/daemon/managed_steps.h"

#include <algorithm>
#include <utility>

#include "model/message_bounds.h"
#include "net/credential.h"
#include "steps/credential.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {

ManagedSteps::ManagedSteps(net::Loop& loop, os::Log& log, const Setup& setup, Ports ports)
    : loop_(loop), log_(log), setup_(setup), ports_(std::move(ports)), journal_(setup.spool + "/managed") {}

void ManagedSteps::configure() {
  std::vector<std::string> names;
  for (const config::NodeConfig& n : setup_.config().nodes) names.push_back(n.name);
  core_.set_node_names(names);
  core_.set_operators(setup_.slurm_user);
}

Result<> ManagedSteps::start() {
  configure();
  MUSTER_TRY(key, journal_.open());
  private_key_ = std::move(key);
  MUSTER_TRY(known_by, net::public_key(private_key_));
  public_key_ = std::move(known_by);
  std::vector<std::string> complaints;
  std::vector<JobId> gone;
  MUSTER_TRY_VOID(journal_.read(
      setup_.hardware.boot_id,
      [&](JobId job, ManagerRecord&& record, bool of_this_boot) {
        core_.apply(job, record);
        if (!of_this_boot && (gone.empty() || gone.back() != job)) gone.push_back(job);
      },
      complaints));
  for (const std::string& text : complaints) log_.error("{}", text);
  for (JobId job : gone) {
    ManagerRecord over;
    over.over = true;
    make_true(job, over);
  }
  look_at_rights();
  return {};
}

// The right to manage a job's steps is renewed in time even when nobody asks for a step for days.
void ManagedSteps::look_at_rights() {
  for (JobId job : core_.jobs()) changed(job);
  look_ = loop_.after(kLook, [this] { look_at_rights(); });
}

// ---- what becomes true
Result<> ManagedSteps::make_true(JobId job, const ManagerRecord& record, bool sync) {
  if (!core_.forgotten(job) && journal_.is_gone(job)) MUSTER_TRY_VOID(journal_.replace(job, core_.state_of(job)));
  MUSTER_TRY_VOID(journal_.add(job, record, sync));
  core_.apply(job, record);
  if (core_.forgotten(job)) {
    journal_.drop(job);
    unsynced_.erase(job);
    answer_waiting(job);
    telling_.erase(job);
    return {};
  }
  if (sync) unsynced_.erase(job);
  if (journal_.has_grown(job)) {
    if (Result<> anew = journal_.replace(job, core_.state_of(job)); !anew) log_.error("{}", anew.error().message());
  }
  if (!record.news.empty()) changed(job);
  return {};
}

// Writes down a record that nobody waits for: if that fails, the news will come again or is of no more use.
void ManagedSteps::make_true(JobId job, const std::optional<ManagerRecord>& record) {
  if (!record) return;
  if (Result<> done = make_true(job, *record, true); !done) log_.error("steps of job {}: {}", job.value, done.error().message());
}

// ---- what users ask
template <class Request>
bool ManagedSteps::read(std::string_view payload, Request& request, Result<std::string>& answer) {
  if (Result<> ok = wire::decode(payload, request); !ok) answer = std::unexpected(ok.error());
  else if (Result<> bounded = check_bounds(request); !bounded) answer = std::unexpected(bounded.error());
  else return true;
  return false;
}

bool ManagedSteps::takes(uint16_t message, std::string_view payload, Uid caller, Result<std::string>& answer) {
  const Time now = net::Loop::now();
  if (message == wire::number_of<rpc::CreateStep>) {
    rpc::CreateStep ask;
    if (!read(payload, ask, answer)) return true;
    if (!core_.may_ask_for(caller, ask.job)) return false;
    auto made = core_.create(caller, ask, now);
    if (!made) {
      answer = std::unexpected(made.error());
      changed(ask.job);  // the reason may be that slurmctld has to be told something
      return true;
    }
    Result<> durable = made->record ? make_true(ask.job, *made->record, true) : Result<>();
    if (!durable) answer = std::unexpected(durable.error());
    else if (made->reply.waiting) answer = wire::encoded(made->reply);
    else answer = signed_answer(std::move(made->reply), ask.request.spank, rpc::CredentialPurpose::kLaunch);
    return true;
  }
  if (message == wire::number_of<rpc::AskCredential>) {
    rpc::AskCredential c;
    if (!read(payload, c, answer)) return true;
    if (!core_.may_ask_for(caller, c.job)) return false;
    auto found = core_.ask(caller, c, now);
    if (found) answer = signed_answer(std::move(*found), false, c.purpose);
    else answer = std::unexpected(found.error());
    changed(c.job);  // the right may have to be renewed
    return true;
  }
  if (message == wire::number_of<rpc::FinishStep>) {
    rpc::FinishStep c;
    if (!read(payload, c, answer)) return true;
    if (!core_.may_ask_for(caller, c.job)) return false;
    auto ended = core_.finish(caller, c, now);
    Result<> durable = !ended          ? Result<>(std::unexpected(ended.error()))
                       : ended->record ? make_true(c.job, *ended->record, true)
                                       : Result<>();
    if (durable) answer = std::string();
    else answer = std::unexpected(durable.error());
    return true;
  }
  if (message == wire::number_of<rpc::AttachAllocation>) {
    rpc::AttachAllocation c;
    if (!read(payload, c, answer)) return true;
    if (!core_.may_ask_for(caller, c.job)) return false;
    auto allocated = core_.attach(caller, c);
    if (allocated) answer = wire::encoded(*allocated);
    else answer = std::unexpected(allocated.error());
    return true;
  }
  return false;
}

// What the answer says about the job is the warrant's text, word for word.
Result<std::string> ManagedSteps::signed_answer(rpc::StepCreated created, bool job_shares, rpc::CredentialPurpose purpose) const {
  const node_rpc::ManageSteps& order = *core_.order_of(created.job);
  rpc::StepCredential c = order.warrant.job;
  steps::add_step(c, created, core_.resv_ports_of(created.job, created.step), net::Loop::now());
  c.purpose = purpose;
  if (job_shares)
    for (const rpc::StepNode& n : c.nodes) {
      c.job_cpus.push_back(order.warrant.job.nodes[n.node_index].cpu_list);
      c.job_mem_mb.push_back(order.warrant.job.nodes[n.node_index].mem_mb);
    }
  MUSTER_TRY(text, net::sign_by_warrant(private_key_, order.signed_warrant, wire::encoded(c)));
  created.credential = std::move(text);
  return wire::encoded(created);
}

// ---- slurmctld's orders
void ManagedSteps::on_order(const NodeOrder& o) {
  std::visit([&](const auto& x) { order(x); }, o);
}

void ManagedSteps::order(const node_rpc::ManageSteps& o) {
  if (o.warrant.key != public_key_) return log_.error("slurmctld gives job {} to the steps' key of another node", o.job.id.value);
  auto record = core_.manage(o);
  if (!record) return;
  // Slurmctld repeats it in each session; what is decided by it is synced together with it.
  const bool sync = !core_.manages(o.job.id);
  if (Result<> done = make_true(o.job.id, *record, sync); !done) log_.error("steps of job {}: {}", o.job.id.value, done.error().message());
}
void ManagedSteps::order(const node_rpc::StepsTaken& o) {
  auto record = core_.taken(o);
  if (!record) return;
  if (Result<> done = make_true(o.job, *record, false); !done) log_.error("steps of job {}: {}", o.job.value, done.error().message());
  answer_waiting(o.job);
  if (!core_.forgotten(o.job)) changed(o.job);
}
void ManagedSteps::order(const node_rpc::PartOfStepEnded& o) {
  part_ended(o.part, [this, job = o.part.job](const Result<>& done) {
    if (!done) log_.error("steps of job {}: {}", job.value, done.error().message());
  });
}
void ManagedSteps::order(const node_rpc::EndManagement& o) { job_over(o.job, o.generation); }
void ManagedSteps::order(const node_rpc::SignalJob& o) { make_true(o.job, core_.cancel_waiting(o, net::Loop::now())); }
void ManagedSteps::order(const node_rpc::SuspendJob& o) { make_true(o.job, core_.suspend(o)); }

void ManagedSteps::job_over(JobId job, uint32_t generation) { make_true(job, core_.end(job, generation)); }

void ManagedSteps::part_ended(const rpc::PartEnded& part, std::function<void(Result<>)> done) {
  std::vector<std::string> others = part.ends_step ? core_.others_with(part.job, part.step, part.node) : std::vector<std::string>();
  Result<> written;
  if (auto record = core_.part_ended(part, net::Loop::now())) {
    written = make_true(part.job, *record, false);
    if (written && !core_.forgotten(part.job)) unsynced_.insert(part.job);
  }
  if (!written) return loop_.defer([done = std::move(done), written] { done(written); });
  for (const std::string& node : others) ports_.kill(node, part.job, part.step);
  waiting_for_sync_.emplace_back(part.job, std::move(done));
  if (waiting_for_sync_.size() == 1) loop_.defer([this] { sync(); });
}

// Each file is synced once, however many nodes have reported on its job. What could not be synced is tried again with the next report.
void ManagedSteps::sync() {
  const auto waiting = std::exchange(waiting_for_sync_, {});
  std::map<JobId, Result<>> known;
  for (const auto& [job, done] : waiting) {
    auto [at, first] = known.try_emplace(job);
    if (first && unsynced_.contains(job)) {
      at->second = journal_.sync(job);
      if (at->second) unsynced_.erase(job);
    }
    done(at->second);
  }
}

// Before slurmctld is told anything: it must not learn what a crash could take back here.
bool ManagedSteps::on_disk(JobId job) {
  if (!unsynced_.contains(job)) return true;
  if (!journal_.sync(job)) return false;
  unsynced_.erase(job);
  return true;
}

// ---- news
void ManagedSteps::registered() {
  registered_ = true;
  for (JobId job : core_.jobs()) {
    telling_[job].on_its_way = 0;
    send_news(job, false);  // the others when slurmctld has taken these
  }
}

// Sends the news a moment later, so that a step that ends at once makes one message.
void ManagedSteps::changed(JobId job) {
  if (!registered_) return;
  Telling& t = telling_[job];
  if (t.timer) return;
  t.timer = loop_.after(kNewsDelay, [this, job] {
    auto at = telling_.find(job);
    if (at == telling_.end()) return;
    loop_.defer([timer = std::shared_ptr<net::Loop::Timer>(std::move(at->second.timer))] {});
    send_news(job, false);
  });
}

// False: some of the news have to wait until slurmctld keeps up.
bool ManagedSteps::send_news(JobId job, bool all) {
  if (!registered_) return true;
  if (!on_disk(job)) {  // the disk is at fault: nobody waits for that
    changed(job);
    return true;
  }
  Telling& telling = telling_[job];
  const uint64_t taken = core_.taken_news(job);
  if (!all && telling.on_its_way > taken) return true;  // its answer brings the next
  telling.on_its_way = std::max(telling.on_its_way, taken);
  do {
    auto batch = core_.news(job, telling.on_its_way, net::Loop::now());
    if (!batch) return true;
    if (!ports_.room()) {
      changed(job);
      return false;
    }
    const size_t count = batch->news.size();
    telling.on_its_way = count ? batch->first + count - 1 : telling.on_its_way;
    ports_.report(std::move(*batch));
    if (count == 0) return true;
    // The answer is an order, which may be dropped where this node does not keep up: then the news are sent again.
    telling.again = loop_.after(kAnswerTime, [this, job] {
      auto at = telling_.find(job);
      if (at == telling_.end() || core_.taken_news(job) >= at->second.on_its_way) return;
      at->second.on_its_way = 0;
      changed(job);
    });
  } while (all);
  return true;
}

bool ManagedSteps::before(const NodeReport& report) {
  const JobId job = std::visit(
      [](const auto& r) -> JobId {
        using R = std::decay_t<decltype(r)>;
        if constexpr (std::is_same_v<R, node_rpc::JobGone> || std::is_same_v<R, node_rpc::BatchFinished> ||
                      std::is_same_v<R, node_rpc::LaunchFailed>)
          return r.job;
        else return JobId();
      },
      report);
  return !job || core_.forgotten(job) || send_news(job, true);
}

void ManagedSteps::tell(JobId job, std::function<void()> told) {
  const uint64_t last = core_.last_news(job);
  if (!registered_ || core_.taken_news(job) == last) return told();
  telling_[job].waiting.emplace_back(last, std::move(told));
  send_news(job, true);
}

void ManagedSteps::answer_waiting(JobId job) {
  auto at = telling_.find(job);
  if (at == telling_.end()) return;
  const uint64_t taken = core_.forgotten(job) ? UINT64_MAX : core_.taken_news(job);
  std::vector<std::function<void()>> now;
  std::erase_if(at->second.waiting, [&](auto& waiting) {
    if (waiting.first > taken) return false;
    now.push_back(std::move(waiting.second));
    return true;
  });
  for (const auto& told : now) told();
}

}  // namespace muster::slurmd
