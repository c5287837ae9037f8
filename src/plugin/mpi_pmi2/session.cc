#include "plugin/mpi_pmi2/session.h"

#include <cstdio>

#include "base/text.h"

namespace muster::mpi_pmi2 {
namespace {

constexpr size_t kMostUnread = 1u << 20, kMostKey = 256, kMostValue = 64u << 10, kMostEcho = 64, kLengthDigits = 6;
constexpr size_t kMostAnswer = 999999;  // what the digits can say

std::string word(const std::map<std::string, std::string>& w, const char* key) {
  auto at = w.find(key);
  return at == w.end() ? std::string() : at->second;
}

// "cmd=put kvsname=x key=k value=all the rest"
std::map<std::string, std::string> words1(std::string_view line) {
  std::map<std::string, std::string> out;
  while (!(line = trim(line)).empty()) {
    size_t eq = line.find('=');
    if (eq == line.npos) break;
    std::string key(line.substr(0, eq));
    line.remove_prefix(eq + 1);
    size_t end = key == "value" ? line.size() : std::min(line.find(' '), line.size());
    out[key] = line.substr(0, end);
    line.remove_prefix(end);
  }
  return out;
}

// "cmd=kvs-put;key=k;value=a;;b;": a semicolon in a value stands twice.
std::map<std::string, std::string> words2(std::string_view block) {
  std::map<std::string, std::string> out;
  size_t at = 0;
  while (at < block.size()) {
    size_t eq = block.find('=', at);
    if (eq == block.npos) break;
    std::string key(block.substr(at, eq - at)), value;
    for (at = eq + 1; at < block.size(); ++at) {
      if (block[at] == ';' && (at + 1 >= block.size() || block[at + 1] != ';')) break;
      if (block[at] == ';') ++at;
      value += block[at];
    }
    ++at;
    out[key] = std::move(value);
  }
  return out;
}

std::string escaped(std::string_view value) {
  std::string out;
  for (char c : value) out.append(c == ';' ? 2 : 1, c);
  return out;
}

}  // namespace

std::string process_mapping(const std::vector<mpi_rpc::NodeRanks>& nodes) {
  struct Run {
    size_t first, nodes, each;
  };
  std::vector<Run> runs;
  uint32_t next = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (uint32_t rank : nodes[n].ranks)
      if (rank != next++) return {};
    size_t each = nodes[n].ranks.size();
    if (!runs.empty() && runs.back().each == each) ++runs.back().nodes;
    else runs.push_back({n, 1, each});
  }
  std::string out = "(vector";
  for (const Run& r : runs) out += ",(" + std::to_string(r.first) + "," + std::to_string(r.nodes) + "," + std::to_string(r.each) + ")";
  return out + ")";
}

Result<> Session::read(std::string_view bytes) {
  unread_ += bytes;
  MUSTER_TRY_VOID(take_commands());
  if (unread_.size() > kMostUnread) return fail(Errc::kFrameTooLong, "PMI: more than 1 MiB without an end");
  return {};
}

// Takes all commands that have arrived whole.
Result<> Session::take_commands() {
  for (;;) {
    if (version_ == 2) {
      if (unread_.size() < kLengthDigits) return {};
      auto length = parse_number<size_t>(trim(std::string_view(unread_).substr(0, kLengthDigits)));
      if (!length) return fail(Errc::kFrameMalformed, "PMI-2: no length before a command");
      if (unread_.size() < kLengthDigits + *length) return {};
      std::string block = unread_.substr(kLengthDigits, *length);
      unread_.erase(0, kLengthDigits + *length);
      MUSTER_TRY_VOID(one_block(block));
    } else {
      size_t end = unread_.find('\n');
      if (end == unread_.npos) return {};
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      MUSTER_TRY_VOID(one_line(line));
    }
  }
}

bool Session::fits(const std::string& key, const std::string& value) const {
  return !key.empty() && key.size() <= kMostKey && value.size() <= kMostValue;
}

std::optional<std::string> Session::job_attribute(const std::string& key) const {
  if (key == "PMI_process_mapping" && !mapping_.empty()) return mapping_;
  if (key == "universeSize") return std::to_string(size_);
  return std::nullopt;
}

// ---- PMI-1
Result<> Session::one_line(std::string_view line) {
  if (in_mcmd_) {  // spawn: refused when all of it has been read
    if (trim(line) != "endcmd") return {};
    in_mcmd_ = false;
    answer1("cmd=spawn_result rc=-1 msg=not_supported");
    return {};
  }
  if (line.starts_with("mcmd=")) {
    in_mcmd_ = true;
    return {};
  }
  Words words = words1(line);
  std::string cmd = word(words, "cmd");
  if (cmd == "init") {
    bool two = word(words, "pmi_version") == "2";
    answer1(two ? "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0" : "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    version_ = two ? 2 : 1;
    return {};
  }
  if (cmd.empty() || version_ == 0) return fail(Errc::kFrameMalformed, "PMI: not a command: " + std::string(line.substr(0, 80)));
  if (cmd == "abort") ports_.abort("PMI_Abort by task " + std::to_string(rank_) + ", status " + word(words, "exitcode"));
  else if (!jobs_own(cmd)) kvs1(cmd, words);
  return {};
}

// Answers what is known without asking anybody. False: the command is none of these.
bool Session::jobs_own(const std::string& cmd) {
  if (cmd == "get_maxes") answer1("cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(kMostKey) + " vallen_max=1024");
  else if (cmd == "get_appnum") answer1("cmd=appnum appnum=0");
  else if (cmd == "get_my_kvsname") answer1("cmd=my_kvsname kvsname=" + job_);
  else if (cmd == "get_universe_size") answer1("cmd=universe_size size=" + std::to_string(size_));
  else if (cmd == "finalize") answer1("cmd=finalize_ack");
  else return false;
  return true;
}

void Session::kvs1(const std::string& cmd, const Words& words) {
  std::string key = word(words, "key"), value = word(words, "value");
  if (cmd == "put") {
    bool good = fits(key, value);
    if (good) ports_.put(std::move(key), std::move(value));
    answer1(good ? "cmd=put_result rc=0 msg=success" : "cmd=put_result rc=-1 msg=too_long");
  } else if (cmd == "get") {
    auto found = job_attribute(key);
    if (!found) found = ports_.get(key);
    answer1(found ? "cmd=get_result rc=0 msg=success value=" + *found : "cmd=get_result rc=-1 msg=key_not_found value=unknown");
  } else if (cmd == "barrier_in") {
    in_fence_ = words;
    ports_.fence();
  } else {
    std::string what = cmd.substr(0, cmd.find('_'));  // publish_name → publish_result
    answer1("cmd=" + what + "_result rc=-1 info=not_supported msg=not_supported");
  }
}

// ---- PMI-2
Result<> Session::one_block(std::string_view block) {
  Words words = words2(block);
  std::string cmd = word(words, "cmd");
  if (cmd.empty()) return fail(Errc::kFrameMalformed, "PMI-2: not a command: " + std::string(block.substr(0, 80)));
  if (cmd.size() > kMostEcho || word(words, "thrid").size() > kMostEcho)
    return fail(Errc::kFrameMalformed, "PMI-2: cmd and thrid have at most 64 bytes");
  if (cmd == "abort")
    ports_.abort("PMI2_Abort by task " + std::to_string(rank_) +
                 (word(words, "msg").empty() ? "" : ": " + word(words, "msg").substr(0, 1024)));
  else if (cmd == "fullinit")
    answer2(words, "pmi-version=2;pmi-subversion=0;rank=" + std::to_string(rank_) + ";size=" + std::to_string(size_) +
                       ";appnum=0;debugged=FALSE;pmiverbose=FALSE;rc=0;");
  else if (cmd == "finalize") answer2(words, "rc=0;");
  else if (cmd == "job-getid") answer2(words, "jobid=" + escaped(job_) + ";rc=0;");
  else if (!kvs2(cmd, words)) info2(cmd, words);
  return {};
}

void Session::answer2(const Words& asked, const std::string& text) {
  std::string body = "cmd=" + word(asked, "cmd") + "-response;";
  if (auto thread = asked.find("thrid"); thread != asked.end()) body += "thrid=" + escaped(thread->second) + ";";
  body += body.size() + text.size() <= kMostAnswer ? text : "rc=1;errmsg=too long;";
  char length[kLengthDigits + 1];
  snprintf(length, sizeof length, "%6zu", body.size() % (kMostAnswer + 1));  // the compiler knows that it fits
  ports_.write(length + body);
}

void Session::value2(const Words& asked, const std::optional<std::string>& value) {
  answer2(asked, value ? "found=TRUE;value=" + escaped(*value) + ";rc=0;" : "found=FALSE;rc=0;");
}

bool Session::kvs2(const std::string& cmd, const Words& words) {
  std::string key = word(words, "key"), value = word(words, "value");
  if (cmd == "kvs-put") {
    bool good = fits(key, value);
    if (good) ports_.put(std::move(key), std::move(value));
    answer2(words, good ? "rc=0;" : "rc=1;errmsg=too long;");
  } else if (cmd == "kvs-get") {
    value2(words, ports_.get(key));
  } else if (cmd == "kvs-fence") {
    in_fence_ = words;
    ports_.fence();
  } else {
    return false;
  }
  return true;
}

void Session::info2(const std::string& cmd, const Words& words) {
  std::string key = word(words, "key"), value = word(words, "value");
  if (cmd == "info-getjobattr") {
    value2(words, job_attribute(key));
  } else if (cmd == "info-putnodeattr") {
    bool good = fits(key, value);
    answer2(words, good ? "rc=0;" : "rc=1;errmsg=too long;");
    if (good) ports_.put_node(std::move(key), std::move(value));
  } else if (cmd == "info-getnodeattr") {
    auto found = ports_.get_node(key);
    if (!found && word(words, "wait") == "TRUE") wants_node_ = words;
    else value2(words, found);
  } else {
    answer2(words, "rc=1;errmsg=not supported;");
  }
}

void Session::node_attribute_came() {
  if (!wants_node_) return;
  auto found = ports_.get_node(word(*wants_node_, "key"));
  if (!found) return;
  Words asked = *std::exchange(wants_node_, std::nullopt);
  value2(asked, found);
}

void Session::fence_over(bool good) {
  if (!in_fence_) return;
  Words asked = *std::exchange(in_fence_, std::nullopt);
  if (version_ == 2) return answer2(asked, good ? "rc=0;" : "rc=1;errmsg=fence failed;");
  answer1(good ? "cmd=barrier_out" : "cmd=barrier_out rc=-1 msg=failed");
}

}  // namespace muster::mpi_pmi2
