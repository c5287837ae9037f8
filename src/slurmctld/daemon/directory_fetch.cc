#include "slurmctld/daemon/directory_fetch.h"

#include <algorithm>
#include <iterator>

#include "wire/accounting_instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

constexpr Entity kQuestions[] = {Entity::kAssociation, Entity::kQos, Entity::kUser, Entity::kAccount, Entity::kResource, Entity::kWckey};
constexpr Duration kMostRest = seconds(1);
constexpr Duration kPatience = minutes(2);  // for the next part of an answer

template <class Record>
void append(std::vector<Record>& all, std::vector<Record>& some) {
  std::ranges::move(some, std::back_inserter(all));
}

Result<DirectoryFetch::Directory> decoded_of(const std::vector<std::string>& parts) {
  auto all = std::make_shared<rpc::Entities>();
  for (const std::string& bytes : parts) {
    rpc::Entities part;
    MUSTER_TRY_VOID(wire::decode(bytes, part, wire::kOfOurOwn));
    append(all->associations, part.associations);
    append(all->qos, part.qos);
    append(all->users, part.users);
    append(all->accounts, part.accounts);
    append(all->resources, part.resources);
    append(all->wckeys, part.wckeys);
  }
  auto nameless = [](const auto& record) { return record.name.empty(); };
  const bool broken = std::ranges::any_of(all->qos, nameless) || std::ranges::any_of(all->users, nameless) ||
                      std::ranges::any_of(all->accounts, nameless) || std::ranges::any_of(all->resources, nameless) ||
                      std::ranges::any_of(all->wckeys, nameless) ||
                      std::ranges::any_of(all->associations, [](const AssociationRecord& a) { return a.id == 0 || a.account.empty(); });
  if (broken) return fail(Errc::kFrameMalformed, "its answer has a record without a name");
  return all;
}

}  // namespace

DirectoryFetch::DirectoryFetch(net::Loop& loop, os::Log& log, net::QueryThread& decoder, Ports ports)
    : loop_(loop), log_(log), decoder_(decoder), ports_(std::move(ports)) {}

DirectoryFetch::~DirectoryFetch() {
  end();
  *alive_ = false;
}

void DirectoryFetch::begin(net::ChannelPtr channel, const std::string& cluster) {
  pauses_.reset();
  await(channel, cluster, 0);
}

void DirectoryFetch::end() {
  listen_.reset();
  timer_.reset();
  round_.reset();
}

void DirectoryFetch::await(const net::ChannelPtr& channel, const std::string& cluster, uint64_t version) {
  timer_.reset();
  auto round = round_ = std::make_shared<Round>(Round{channel, cluster});
  rpc::AwaitDirectory request;
  request.version = version;
  channel->request(wire::number_of<rpc::AwaitDirectory>, wire::encoded(request), version ? net::kNoTimeout : kPatience,
                   [this, alive = alive_, round, version](Result<net::Frame> answer) {
                     if (!current(alive, round)) return;
                     if (!answer) return again(answer.error());
                     rpc::DirectoryVersion v;
                     if (auto ok = wire::decode(answer->payload, v); !ok) return again(ok.error());
                     if (version) pauses_.reset();
                     round->version = v.version;
                     // Somebody who changes accounts without a pause keeps neither slurmdbd nor the core busy.
                     listen_ = loop_.after(rest_, [this, round] {
                       round->began = net::Loop::monotonic();
                       if (round == round_) ask(round);
                     });
                   });
}

void DirectoryFetch::ask(const RoundPtr& round) {
  if (round->asked == std::size(kQuestions)) return decode(round);
  const net::ChannelPtr channel = round->channel.lock();
  if (!channel) return;
  rpc::QueryEntities query;
  query.what = kQuestions[round->asked++];
  query.filter.clusters = {round->cluster};
  channel->request_stream(
      wire::number_of<rpc::QueryEntities>, wire::encoded(query), kPatience,
      [round](net::Frame part) {
        round->bytes += part.payload.size();
        if (round->bytes <= kMostDirectoryBytes) round->parts.push_back(std::move(part.payload));
        else round->parts.clear();  // the error comes at the end of the answer
      },
      [this, alive = alive_, round](Result<net::Frame> answer) {
        if (!current(alive, round)) return;
        if (!answer) return again(answer.error());
        if (round->bytes > kMostDirectoryBytes)
          return again(Error(Errc::kResultTooLarge, "they are more than " + std::to_string(kMostDirectoryBytes >> 20) + " MiB"));
        ask(round);
      });
}

void DirectoryFetch::decode(const RoundPtr& round) {
  decoder_.post(
      [this, alive = alive_, poster = loop_.poster(), round, parts = std::make_shared<std::vector<std::string>>(std::move(round->parts))] {
        auto directory = std::make_shared<Result<Directory>>(decoded_of(*parts));
        poster([this, alive, round, directory] {
          if (current(alive, round)) decoded(round, std::move(*directory));
        });
      });
}

void DirectoryFetch::decoded(const RoundPtr& round, Result<Directory> directory) {
  if (!directory) return again(directory.error());
  failures_ = 0;
  log_.verbose("slurmdbd has {} associations and {} QOS for this cluster", (*directory)->associations.size(), (*directory)->qos.size());
  const auto known = [this, alive = alive_, round] {
    if (!current(alive, round)) return;
    rest_ = std::min(kMostRest, net::Loop::monotonic() - round->began);
    if (const net::ChannelPtr channel = round->channel.lock()) await(channel, round->cluster, round->version);
  };
  ports_.learned(std::move(*directory), known, [this, alive = alive_](const Error& e) {
    if (*alive && round_) again(e);
  });
}

// Asks again over a connection that still stands; the link sees to one that broke.
void DirectoryFetch::again(const Error& why) {
  if (++failures_ == 2) log_.error("accounts and QOS of slurmdbd cannot be learned, those known stay: {}", why.message());
  else log_.verbose("accounts and QOS of slurmdbd cannot be learned: {}", why.message());
  if (timer_) return;
  timer_ = loop_.after(pauses_.next(), [this] {
    const RoundPtr round = round_;
    if (const net::ChannelPtr channel = round ? round->channel.lock() : nullptr) await(channel, round->cluster, 0);
  });
}

}  // namespace muster::slurmctld
