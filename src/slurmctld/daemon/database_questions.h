// DatabaseQuestions: what users ask slurmdbd by way of this controller, since there is no slurmdbd on their host and they may not read the
// cluster key (sacct on a login node). slurmdbd hears who asks (rpc::Relay) and judges the question as that user's.
//
// Each question has a connection of its own to slurmdbd, so that its answer comes at the pace of the one who reads it, and records and
// other users never wait behind it. kMostAtOnce are asked at a time, kMostOfUser of one user; the others wait in order. How many may wait
// is a matter of net::Shares: `place` is the user's share, given back with the question. A question whose asker goes is dropped, and
// slurmdbd gives it up when its connection closes.
//
// Errors, told to `answered`: kConnectFailed when neither AccountingStorageHost nor its backup answers, and whatever slurmdbd says.
// Lives on the I/O thread. Cost: a TLS handshake a question, and one copy of each part of its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/channel.h"
#include "slurmctld/daemon/waiting_list.h"

namespace muster::slurmctld {

class DatabaseQuestions {
 public:
  static constexpr size_t kMostAtOnce = 16, kMostOfUser = 4;

  struct Way {  // to slurmdbd, as it is now
    std::vector<std::string> hosts;
    uint16_t port = 0;
    net::Security security;
    Duration patience{};  // to connect, for each host
  };
  struct Question {
    Uid user{};
    Line line;                          // who asks
    std::weak_ptr<net::Channel> asker;  // the connection that the answer leaves by
    std::string relay;                  // rpc::Relay, encoded
    std::shared_ptr<void> place;
    std::function<void(std::string part)> part;
    std::function<void(Result<std::string> answer)> answered;  // once, unless the asker is gone
  };
  DatabaseQuestions(net::Loop& loop, std::function<Way()> way) : loop_(loop), way_(std::move(way)) {}
  ~DatabaseQuestions();

  void ask(Question question);
  void forget(Line line);
  void forget_all(const net::Channel* connection);
  size_t size() const { return questions_.size(); }

 private:
  struct Asked {
    Question question;
    Way way;
    size_t host = 0;  // of way.hosts
    bool begun = false;
    net::ChannelPtr channel;
  };
  using Ref = std::weak_ptr<Asked>;

  void begin_more();
  void connect(const std::shared_ptr<Asked>& asked);
  void connected(const std::shared_ptr<Asked>& asked);
  void pass_on(const std::shared_ptr<Asked>& asked, std::string part);
  void end(const std::shared_ptr<Asked>& asked, Result<std::string> answer);
  void drop(const std::shared_ptr<Asked>& asked);
  template <class Which>
  void drop_if(Which which);

  net::Loop& loop_;
  std::function<Way()> way_;
  std::list<std::shared_ptr<Asked>> questions_;  // in the order in which they came; those that are asked now and those that wait
  size_t asked_now_ = 0;
  std::unordered_map<uint32_t, size_t> asked_now_of_;  // by uid
};

}  // namespace muster::slurmctld
