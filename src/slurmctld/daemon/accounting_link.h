// AccountingLink: the way of accounting records to slurmdbd (AccountingStorageHost, then AccountingStorageBackupHost). It keeps one
// connection while slurm.conf asks for it, tries again while nobody answers, and tells the core what is stored. One message is on its way
// at a time; the core sends again what was not acknowledged (core/records.h). What slurmdbd says of accounts and QOS comes back over the
// same connection (directory_fetch.h). Lives on the I/O thread; records are made on a thread of their own, from a snapshot.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/backoff.h"
#include "net/channel.h"
#include "net/query_thread.h"
#include "os/log.h"
#include "os/users.h"
#include "slurmctld/core/core.h"
#include "slurmctld/daemon/directory_fetch.h"

namespace muster::slurmctld {

class AccountingLink {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Cluster>()> snapshot;
    std::function<void()> here;
    std::function<void(uint64_t position)> acknowledged;  // slurmdbd has all up to it
    std::function<void(uint64_t position)> next;          // the same, and the next upload may come; 0: the first
    std::function<void()> lost;
    std::function<Result<std::string>(const std::string& hash)> read_blob;  // from any thread
    DirectoryFetch::Ports directory;
  };
  AccountingLink(net::Loop& loop, os::Log& log, Ports ports);
  ~AccountingLink();

  // At the start and after each change of the configuration.
  void configure(std::shared_ptr<const Settings> settings, const net::Security& security);
  void upload(UploadRecords batch);
  void close();

 private:
  void connect();
  void connected(net::ChannelPtr channel, const std::string& host);
  void retry(const std::string& why);
  void lose();
  struct Messages {  // one upload, see upload_parts.h
    uint64_t position = 0;
    std::vector<std::string> payloads;
    size_t sent = 0;
    std::vector<std::string> contents;  // hashes of scripts and environments that slurmdbd asks for
  };
  using MessagesPtr = std::shared_ptr<Messages>;
  void send(const MessagesPtr& messages);
  void send_content(const MessagesPtr& messages);
  void stored(const MessagesPtr& messages, const net::Frame& answer);
  void content_stored(const MessagesPtr& messages, const net::Frame& answer);
  template <class Request>
  void ask(std::string payload, const MessagesPtr& messages, void (AccountingLink::*then)(const MessagesPtr&, const net::Frame&));
  void register_anew(const std::string& made_of);
  void not_stored(const Error& e);
  void add_groups(rpc::StoreRecords& records);

  net::Loop& loop_;
  os::Log& log_;
  Ports ports_;
  std::shared_ptr<const Settings> settings_;
  net::Security security_;
  net::ChannelPtr channel_;
  bool connecting_ = false, backup_turn_ = false;
  std::string registered_;                               // what slurmdbd was told of the cluster, encoded
  std::shared_ptr<const Settings> registered_settings_;  // and what was configured then
  uint64_t registered_epoch_ = 0;                        // Cluster::nodes_epoch then
  uint32_t failures_ = 0;                                // since slurmdbd was there last
  bool refused_ = false;                                 // slurmdbd is there and does not store
  net::Backoff pauses_{milliseconds(200), seconds(10), net::Backoff::random_seed()};
  std::unique_ptr<net::Loop::Timer> timer_;
  os::UserDirectory users_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false for callbacks that come after the link is gone
  net::QueryThread maker_;
  DirectoryFetch directory_;  // declared last, so that it goes before the thread it decodes on
};

}  // namespace muster::slurmctld
