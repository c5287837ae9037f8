// The words of the option lists of slurmdbd.conf(5).
#include "config/cgroup_conf.h"
#include "config/parameter_words.h"
#include "config/record.h"

namespace muster::config {
namespace {

constexpr const char* kProbes = "a peer that is gone is noticed by probes in a minute";

constexpr ParameterWord kCommunication[] = {
    flag_word("DisableIPv4", "slurmdbd listens on IPv6 alone, unless DbdAddr says where"),
    no_effect_word("EnableIPv6", "both families are used where the host has them"),
    no_effect_word("keepaliveinterval", kProbes),
    no_effect_word("keepaliveprobes", kProbes),
    no_effect_word("keepalivetime", kProbes),
};

constexpr ParameterWord kDebugFlags[] = {
    flag_word("AuditRPCs", "each request: what is asked, for whom, and from where"),
    flag_word("DB_ARCHIVE", "statements of archiving and purging"),
    flag_word("DB_ASSOC", "statements about associations, accounts, users and clusters"),
    flag_word("DB_EVENT", "statements about events of nodes"),
    flag_word("DB_JOB", "statements about jobs, their scripts and environments"),
    flag_word("DB_QOS", "statements about QOS"),
    flag_word("DB_QUERY", "statements about transactions, and those that are about nothing else"),
    flag_word("DB_RESERVATION", "statements about reservations"),
    flag_word("DB_RESOURCE", "statements about licences"),
    flag_word("DB_STEP", "statements about steps"),
    flag_word("DB_TRES", "statements about trackable resources"),
    flag_word("DB_USAGE", "statements about usage"),
    flag_word("DB_WCKEY", "statements about wckeys"),
    flag_word("FEDERATION", "statements about federations"),
    flag_word("Network", "each connection as it comes, from whom, and as it ends"),
    no_effect_word("NetworkRaw", "messages hold scripts and environments of users, which are not for the log"),
    no_effect_word("thread", "there are three threads; sacctmgr show stats says what they did"),
    no_effect_word("TLS", "a peer that is refused is told of in any case, with the reason"),
};

constexpr ParameterWord kParameters[] = {
    flag_word("PreserveCaseResource", "names of licences keep their case"),
    flag_word("PreserveCaseUser", "names of users keep their case"),
};

constexpr ParameterWord kStorageParameters[] = {
    text_word("SSL_CA", "the file of the authority of the server's certificate"),
    text_word("SSL_CAPATH", "the directory of such authorities"),
    text_word("SSL_CERT", "the file of our certificate"),
    text_word("SSL_CIPHER", "the ciphers that may be used"),
    text_word("SSL_KEY", "the file of our private key"),
    number_word("token_duration", 0, kMostTokenSeconds, "seconds for which an answer of StoragePassScript is used; 300"),
};

constexpr SlurmdbdKey kKeys[] = {
    {"CommunicationParameters", kCommunication},
    {"DebugFlags", kDebugFlags},
    {"Parameters", kParameters},
    {"StorageParameters", kStorageParameters},
};

bool given(const SimpleConf& conf, const char* key) {
  const ConfigValue* value = conf.find(key);
  return value && value->given && !value->text.empty();
}

}  // namespace

std::span<const SlurmdbdKey> slurmdbd_keys() { return kKeys; }

void check_slurmdbd(const SimpleConf& conf, Findings& findings) {
  for (const SlurmdbdKey& key : kKeys) {
    if (!given(conf, key.key)) continue;
    OptionList words = OptionList::parse(conf.text(key.key));
    check_words(key.key, key.words, words, conf.find(key.key)->pos, findings);
  }
  if (given(conf, "StoragePass") && given(conf, "StoragePassScript"))
    findings.notice(conf.find("StoragePass")->pos, "StoragePass", "has no effect: StoragePassScript says the password");
}

}  // namespace muster::config
