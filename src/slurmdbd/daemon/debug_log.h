// DebugLog: the subjects of DebugFlags, logged at DebugLevel=verbose and above. slurmdbd.conf(5). Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "config/slurm_conf.h"
#include "net/channel.h"
#include "os/log.h"
#include "sql/statement_log.h"

namespace muster::slurmdbd {

class DebugLog final : public sql::StatementWatch {
 public:
  explicit DebugLog(os::Log& log) : log_(log) {}
  void set(const config::OptionList& flags);

  // The DB_… words and FEDERATION.
  bool watching() const override { return statements_ && log_.enabled(os::LogLevel::kVerbose); }
  bool wants(sql::StatementSubject subject) const override { return statements_ & bit(subject); }
  void ran(sql::StatementSubject subject, const std::string& text) override { log_.verbose("{}: {}", sql::name_of(subject), text); }

  void asked(const net::Peer& peer, Uid user, uint16_t message) const;  // AuditRPCs
  void came(const net::Peer& peer) const;                               // Network: a connection
  void went(const net::Peer& peer) const;                               // one that has ended

 private:
  static uint32_t bit(sql::StatementSubject subject) { return 1u << static_cast<unsigned>(subject); }

  os::Log& log_;
  std::atomic<uint32_t> statements_{0};
  std::atomic<bool> audit_{false}, network_{false};
};

}  // namespace muster::slurmdbd
