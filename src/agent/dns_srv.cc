#include "agent/dns_srv.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>

#include <algorithm>
#include <cstring>

namespace muster::agent {
namespace {

constexpr size_t kMostRecords = 64, kMostAnswer = 65536;

std::unexpected<Error> no_answer() { return fail(Errc::kReceiveFailed, "a DNS answer is cut off"); }

// Walks over an answer; every step is checked against its end.
class Walk {
 public:
  explicit Walk(std::string_view bytes) : begin_(reinterpret_cast<const unsigned char*>(bytes.data())), size_(bytes.size()) {}

  size_t left() const { return size_ - at_; }
  bool skip(size_t bytes) {
    if (bytes > left()) return false;
    at_ += bytes;
    return true;
  }
  bool number(uint16_t& out) {
    if (left() < 2) return false;
    out = static_cast<uint16_t>(begin_[at_] << 8 | begin_[at_ + 1]);
    at_ += 2;
    return true;
  }
  // A name, which may go on elsewhere in the answer.
  bool name(std::string* out) {
    char text[NS_MAXDNAME];
    const int used = ::dn_expand(begin_, begin_ + size_, begin_ + at_, text, sizeof text);
    if (used < 0) return false;
    if (out) *out = text;
    return skip(static_cast<size_t>(used));
  }

 private:
  const unsigned char* begin_;
  size_t size_, at_ = 0;
};

bool is_host(const std::string& name) {
  return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

}  // namespace

Result<std::vector<SrvRecord>> parse_srv_answer(std::string_view answer) {
  Walk walk(answer);
  uint16_t questions = 0, answers = 0;
  if (!walk.skip(4) || !walk.number(questions) || !walk.number(answers) || !walk.skip(4)) return no_answer();
  for (; questions > 0; --questions)
    if (!walk.name(nullptr) || !walk.skip(4)) return no_answer();
  std::vector<SrvRecord> out;
  for (; answers > 0 && out.size() < kMostRecords; --answers) {
    uint16_t type = 0, kind = 0, length = 0;
    if (!walk.name(nullptr) || !walk.number(type) || !walk.number(kind) || !walk.skip(4) || !walk.number(length)) return no_answer();
    if (length > walk.left()) return no_answer();
    if (type != ns_t_srv || kind != ns_c_in) {
      walk.skip(length);
      continue;
    }
    SrvRecord record;
    const size_t before = walk.left();
    if (!walk.number(record.priority) || !walk.number(record.weight) || !walk.number(record.where.port) || !walk.name(&record.where.host))
      return no_answer();
    if (before - walk.left() != length) return fail(Errc::kReceiveFailed, "a DNS answer has an SRV record of another length than it says");
    if (is_host(record.where.host) && record.where.port != 0) out.push_back(std::move(record));
  }
  return out;
}

std::vector<net::Endpoint> in_order(std::vector<SrvRecord> records) {
  std::ranges::stable_sort(records, [](const SrvRecord& a, const SrvRecord& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.weight > b.weight;
  });
  std::vector<net::Endpoint> out;
  for (SrvRecord& record : records) out.push_back(std::move(record.where));
  return out;
}

std::vector<net::Endpoint> servers_by_dns() {
  struct __res_state state;
  std::memset(&state, 0, sizeof state);
  if (::res_ninit(&state) != 0) return {};
  std::string answer(kMostAnswer, '\0');
  const int size = ::res_nsearch(&state, "_slurmctld._tcp", ns_c_in, ns_t_srv, reinterpret_cast<unsigned char*>(answer.data()),
                                 static_cast<int>(answer.size()));
  ::res_nclose(&state);
  if (size < 0) return {};
  answer.resize(std::min(static_cast<size_t>(size), answer.size()));
  auto records = parse_srv_answer(answer);
  return records ? in_order(std::move(*records)) : std::vector<net::Endpoint>{};
}

}  // namespace muster::agent
