#include "slurmctld/daemon/accounting_link.h"

#include <algorithm>

#include "sched/queue/priority.h"
#include "slurmctld/daemon/upload_parts.h"
#include "wire/accounting_instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

// The pause after an answer: what happens meanwhile leaves together.
constexpr Duration kGather = milliseconds(50);

rpc::StoreContent make_content(const std::string& hash, const std::string& bytes) {
  rpc::StoreContent content{hash, bytes.size(), {}};
  if (bytes.size() <= kMostKeptContent) content.bytes = bytes;
  return content;
}

}  // namespace

AccountingLink::AccountingLink(net::Loop& loop, os::Log& log, Ports ports)
    : loop_(loop), log_(log), ports_(std::move(ports)), directory_(loop, log, maker_, ports_.directory) {}

AccountingLink::~AccountingLink() { close(); }

void AccountingLink::close() {
  *alive_ = false;
  timer_.reset();
  directory_.end();
  if (channel_) channel_->close();
  channel_.reset();
}

void AccountingLink::configure(std::shared_ptr<const Settings> settings, const net::Security& security) {
  auto before = std::exchange(settings_, std::move(settings));
  security_ = security;
  const config::Config& c = settings_->config();
  if (!keeps_records(c)) return lose();
  bool moved = before && (before->config().accounting_storage_host != c.accounting_storage_host ||
                          before->config().accounting_storage_backup_host != c.accounting_storage_backup_host ||
                          before->config().accounting_storage_port != c.accounting_storage_port);
  if (moved) lose();
  else if (before && channel_ && before->config().accounting_storage_tres != c.accounting_storage_tres) lose();  // registers anew
  if (!channel_) connect();
}

void AccountingLink::lose() {
  timer_.reset();
  if (!channel_) return;
  directory_.end();
  channel_->close();
  loop_.defer([channel = std::exchange(channel_, nullptr)] {});  // it goes after its own callback
  ports_.lost();
}

void AccountingLink::connect() {
  if (connecting_ || channel_ || !keeps_records(settings_->config())) return;
  const config::Config& c = settings_->config();
  bool backup = backup_turn_ && !c.accounting_storage_backup_host.empty();
  std::string host = backup ? c.accounting_storage_backup_host : c.accounting_storage_host;
  connecting_ = true;
  net::connect_tcp(loop_, host, c.accounting_storage_port, security_, seconds(to_seconds(c.message_timeout)),
                   [this, alive = alive_, host](Result<net::ChannelPtr> channel) {
                     if (!*alive) return;
                     connecting_ = false;
                     if (!channel) return retry("slurmdbd at " + host + " cannot be reached: " + std::string(channel.error().message()));
                     connected(std::move(*channel), host);
                   });
}

void AccountingLink::retry(const std::string& why) {
  // At the first failure slurmdbd may only be about to start, as we are.
  if (++failures_ == 2) log_.error("{} (records are kept until it can)", why);
  else log_.verbose("{}", why);
  backup_turn_ = !backup_turn_;
  timer_ = loop_.after(pauses_.next(), [this] { connect(); });
}

void AccountingLink::connected(net::ChannelPtr channel, const std::string& host) {
  channel_ = std::move(channel);
  net::Channel* raw = channel_.get();
  channel_->on_closed = [this, alive = alive_, raw, host](const Error& e) {
    if (!*alive || channel_.get() != raw) return;
    lose();
    retry("slurmdbd at " + host + " is away: " + std::string(e.message()));
  };
  const auto cluster = ports_.snapshot();
  registered_ = wire::encoded(make_registration(*cluster, settings_->config()));
  registered_epoch_ = cluster->nodes_epoch;
  registered_settings_ = settings_;
  channel_->request(wire::number_of<rpc::RegisterCluster>, registered_, settings_->config().message_timeout,
                    [this, alive = alive_, raw, host](Result<net::Frame> answer) {
                      if (!*alive || channel_.get() != raw) return;
                      if (!answer) {
                        lose();
                        return retry("slurmdbd at " + host + " does not take this cluster: " + std::string(answer.error().message()));
                      }
                      log_.info("accounting records go to slurmdbd at {}", host);
                      backup_turn_ = false;
                      if (!refused_) pauses_.reset(), failures_ = 0;
                      directory_.begin(channel_, settings_->config().cluster_name);
                      ports_.here();
                      ports_.next(0);
                    });
}

// Group names are asked for here, where a slow directory service keeps nobody waiting.
void AccountingLink::add_groups(rpc::StoreRecords& m) {
  for (JobRecord& r : m.jobs) {
    r.group = users_.group_name(r.gid);
    if (r.user.empty()) r.user = users_.user_name(r.uid);
  }
}

void AccountingLink::upload(UploadRecords batch) {
  auto cluster = ports_.snapshot();
  const bool nodes_changed = std::exchange(registered_epoch_, cluster->nodes_epoch) != cluster->nodes_epoch;
  const bool changed = std::exchange(registered_settings_, settings_) != settings_ || nodes_changed;
  maker_.post([this, alive = alive_, poster = loop_.poster(), cluster, batch = std::move(batch), settings = settings_, changed]() mutable {
    const sched::PriorityRule priorities(*cluster, settings->priority, net::Loop::now());
    rpc::StoreRecords records = make_upload(*cluster, batch, recorded_parts(settings->config()), &priorities);
    std::string made_of;
    if (changed) made_of = wire::encoded(make_registration(*cluster, settings->config()));
    cluster.reset();  // here: letting go of a snapshot may take a while
    add_groups(records);
    auto messages = std::make_shared<Messages>(records.position, upload_parts(records));
    poster([this, alive, messages, made_of = std::move(made_of)] {
      if (!*alive) return;
      if (!made_of.empty()) register_anew(made_of);
      send(messages);
    });
  });
}

// Nodes may have come, gone or changed, and licences too: from now on the cluster is made of something else.
void AccountingLink::register_anew(const std::string& made_of) {
  if (!channel_ || made_of == registered_) return;
  registered_ = made_of;
  channel_->request(wire::number_of<rpc::RegisterCluster>, registered_, settings_->config().message_timeout,
                    [this, alive = alive_](const Result<net::Frame>& answer) {
                      if (*alive && !answer) registered_.clear();  // told again when nodes change again, or with the next connection
                    });
}

// Sends the next message of an upload, once the one before is stored with the scripts and environments that it names. An upload that breaks
// off in the middle is sent again from the start: storing twice does no harm.
void AccountingLink::send(const MessagesPtr& messages) {
  if (messages->sent < messages->payloads.size())
    return ask<rpc::StoreRecords>(std::move(messages->payloads[messages->sent++]), messages, &AccountingLink::stored);
  ports_.acknowledged(messages->position);
  timer_ = loop_.after(kGather, [this, position = messages->position] { ports_.next(position); });
}

template <class Request>
void AccountingLink::ask(std::string payload, const MessagesPtr& messages,
                         void (AccountingLink::*then)(const MessagesPtr&, const net::Frame&)) {
  if (!channel_) return;  // lost meanwhile: sent again when it is back
  net::Channel* raw = channel_.get();
  channel_->request(wire::number_of<Request>, std::move(payload), minutes(2),
                    [this, alive = alive_, raw, messages, then](Result<net::Frame> answer) {
                      if (!*alive || channel_.get() != raw) return;
                      if (!answer) return not_stored(answer.error());
                      refused_ = false;
                      pauses_.reset();
                      (this->*then)(messages, *answer);
                    });
}

void AccountingLink::stored(const MessagesPtr& messages, const net::Frame& answer) {
  rpc::RecordsStored told;
  if (auto ok = wire::decode(answer.payload, told); !ok) return not_stored(ok.error());
  messages->contents = std::move(told.missing);
  send_content(messages);
}

// A content that cannot be read any more holds nothing up: its job is recorded without it.
void AccountingLink::send_content(const MessagesPtr& messages) {
  if (messages->contents.empty()) return send(messages);
  const std::string hash = std::move(messages->contents.back());
  messages->contents.pop_back();
  maker_.post([this, alive = alive_, poster = loop_.poster(), read = ports_.read_blob, messages, hash] {
    Result<std::string> payload = read(hash);
    if (payload) payload = wire::encoded(make_content(hash, *payload));
    poster([this, alive, messages, payload = std::move(payload)]() mutable {
      if (!*alive) return;
      if (payload) return ask<rpc::StoreContent>(std::move(*payload), messages, &AccountingLink::content_stored);
      log_.error("accounting: a script or environment cannot be recorded: {}", payload.error().message());
      send_content(messages);
    });
  });
}

void AccountingLink::content_stored(const MessagesPtr& messages, const net::Frame& /*answer*/) { send_content(messages); }

// slurmdbd's disk is full, or its database is away: it says so in its own log, too.
void AccountingLink::not_stored(const Error& e) {
  const std::string why(e.message());
  lose();
  if (!std::exchange(refused_, true)) failures_ = 1;  // said at once, and once
  retry("slurmdbd does not store accounting records: " + why);
}

}  // namespace muster::slurmctld
