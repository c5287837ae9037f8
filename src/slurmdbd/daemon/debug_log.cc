#include "slurmdbd/daemon/debug_log.h"

#include "slurmdbd/daemon/work_statistics.h"

namespace muster::slurmdbd {
namespace {

std::string who(const net::Peer& peer) {
  if (peer.trust == net::Trust::kClusterKey) return peer.address + ", which has the cluster key";
  return peer.address + ", uid " + std::to_string(peer.uid.value);
}

}  // namespace

void DebugLog::set(const config::OptionList& flags) {
  uint32_t statements = 0;
  for (size_t i = 0; i < sql::kStatementSubjects; ++i)
    if (const auto subject = static_cast<sql::StatementSubject>(i); flags.has(sql::name_of(subject))) statements |= bit(subject);
  statements_ = statements;
  audit_ = flags.has("AuditRPCs");
  network_ = flags.has("Network");
}

void DebugLog::asked(const net::Peer& peer, Uid user, uint16_t message) const {
  if (audit_) log_.verbose("AuditRPCs: {} for uid {} from {}", name_of_message(message), user.value, who(peer));
}

void DebugLog::came(const net::Peer& peer) const {
  if (network_) log_.verbose("Network: connection from {}", who(peer));
}

void DebugLog::went(const net::Peer& peer) const {
  if (network_) log_.verbose("Network: the connection from {} has ended", who(peer));
}

}  // namespace muster::slurmdbd
