// The key of a request's shape, made from the request's description: all fields except those that make_shape never looks at. A new field is
// part of the key until it is listed here, so forgetting one makes classes smaller, never wrong.
#include <bitset>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "base/parsed.h"
#include "sched/request/request_shape.h"

namespace muster::sched {
namespace {

constexpr std::string_view kNoShape[] = {
    // who
    "uid", "gid", "user_name", "account", "qos", "wckey", "reservation", "kind", "alloc_node", "qos_granted", "wckey_is_default",
    // where else, when, and in what turn: RequestClass and the queue have their own
    "partitions", "cluster_features", "clusters", "time_limit_min", "begin", "deadline", "kill_on_invalid_dependency",
    "kill_on_invalid_dependency_set", "hold", "priority", "nice", "site_factor", "requeue", "array", "immediate_seconds", "test_only",
    "power",
    // how it runs where it was placed
    "no_kill", "no_allocate", "tres_bind", "network", "cpu_bind", "mem_bind", "cpu_freq", "warn", "mail_type", "mail_user",
    "wait_all_nodes", "burst_buffer", "container", "container_id", "stepmgr", "oom_kill_step_set", "oom_kill_step", "env_export",
    "get_user_env", "open_mode", "umask", "limits", "acctg_freq", "mem_update", "profile", "batch_features", "spank_env", "x11",
    "resv_ports", "resv_ports_set"};

constexpr size_t kMostNumber = 256;  // of a field
using Numbers = std::bitset<kMostNumber>;

// The numbers of the fields above.
Numbers numbers_without_shape() {
  Numbers out;
  size_t found = 0;
  const RequestBody any;
  RequestBody::describe(any, [&](unsigned number, const char* name, const auto&) {
    for (std::string_view listed : kNoShape)
      if (listed == name) out.set(number), ++found;
  });
  MUSTER_CHECK(found == std::size(kNoShape));
  return out;
}

struct KeyWriter {
  std::string& key;
  const Numbers& left_out;

  void number(uint64_t v) {  // most are small: one byte
    if (v < 0xff) return key.push_back(static_cast<char>(v));
    key.push_back(static_cast<char>(0xff));
    key.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void text(unsigned field, const std::string& t) {
    if (t.empty() || left_out.test(field)) return;
    number(field);
    number(t.size());
    key += t;
  }
  void value(unsigned field, uint64_t v) {
    if (left_out.test(field)) return;
    number(field);
    number(v);
  }
  // Writes only fields that are set, each with its number. Few are, so that is looked at first.
  template <class M>
  void operator()(unsigned field, const char*, const M& member) {
    if constexpr (std::is_same_v<M, std::string>) {
      text(field, member);
    } else if constexpr (TextMember<M>) {
      text(field, member.text());
    } else if constexpr (std::is_same_v<M, std::optional<uint64_t>>) {
      if (member) value(field, *member);
    } else if constexpr (std::is_same_v<M, Duration>) {
      if (member != Duration{}) value(field, static_cast<uint64_t>(member.count()));
    } else if constexpr (std::is_integral_v<M> || std::is_enum_v<M>) {
      if (member != M{}) value(field, static_cast<uint64_t>(member));
    }
    // Other kinds of member are all left out: the test of this file sees to it.
  }
};

}  // namespace

std::span<const std::string_view> fields_without_shape() { return kNoShape; }

std::string shape_key(const RequestBody& request) {
  static const Numbers kLeftOut = numbers_without_shape();
  std::string key;
  key.reserve(64);
  RequestBody::describe(request, KeyWriter{key, kLeftOut});
  return key;
}

}  // namespace muster::sched
