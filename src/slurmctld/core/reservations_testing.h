// A core with reservations by the words that scontrol takes.
#pragma once

#include <gtest/gtest.h>

#include "base/text.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/reservation_rows.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {

class ReservationTest : public testing::Test {
 public:
  explicit ReservationTest(const std::string& conf = "") : b(conf) {}

  // "StartTime=now Duration=60 Users=alan Nodes=n1"
  static rpc::UpdateReservation request(const std::string& words) {
    rpc::UpdateReservation c;
    for (std::string_view word : split(words, ' ')) {
      size_t equals = word.find('='), end = equals;
      if (equals == std::string_view::npos) {
        c.changes.push_back({std::string(word), "=", ""});
        continue;
      }
      if (end && (word[end - 1] == '+' || word[end - 1] == '-')) --end;
      rpc::KeyValue kv{std::string(word.substr(0, end)), std::string(word.substr(end, equals - end + 1)),
                       std::string(word.substr(equals + 1))};
      if (kv.key == "ReservationName") c.name = kv.value;
      else c.changes.push_back(std::move(kv));
    }
    return c;
  }
  Result<rpc::Messages> run(const rpc::UpdateReservation& c, const Caller& who = Caller::root()) {
    Result<rpc::Messages> out = fail(Errc::kError);
    b.turn([&] { out = b.core.run(who, c); });
    return out;
  }
  Result<rpc::Messages> create(const std::string& words, const Caller& who = Caller::root()) {
    rpc::UpdateReservation c = request(words);
    c.create = true;
    return run(c, who);
  }
  Result<rpc::Messages> update(const std::string& words) { return run(request(words)); }
  Result<rpc::Messages> remove(const std::string& name, const Caller& who = Caller::root()) {
    rpc::UpdateReservation c;
    c.name = name;
    c.remove = true;
    return run(c, who);
  }
  std::string created(const std::string& words) {
    auto r = create(words);
    EXPECT_TRUE(r.has_value()) << words << ": " << (r ? "" : std::string(r.error().message()) + " " + r.error().hint);
    return r ? r->lines.at(0).substr(std::string("Reservation created: ").size()) : "";
  }
  void updated(const std::string& words) {
    auto r = update(words);
    EXPECT_TRUE(r.has_value()) << words << ": " << (r ? "" : std::string(r.error().message()) + " " + r.error().hint);
  }
  const Reservation& get(const std::string& name) {
    const Reservation* r = b.core.cluster().reservation(name);
    static const Reservation kNone;
    EXPECT_TRUE(r) << name;
    return r ? *r : kNone;
  }
  bool there(const std::string& name) { return b.core.cluster().reservation(name) != nullptr; }
  static std::string nodes(const Reservation& r) { return r.nodes.to_ranges(); }
  JobId submit(const std::string& user, const std::function<void(JobRequest&)>& change = {}) {
    return b.submit([&](JobRequest& r) {
      r.user_name = user;
      if (change) change(r);
    });
  }
  Result<rpc::JobSubmitted> ask(const std::string& user, const std::string& reservation, uint32_t limit = 10) {
    Result<rpc::JobSubmitted> out = fail(Errc::kError);
    JobRequest q = Bench::request([&](JobRequest& r) {
      r.user_name = user;
      r.reservation = reservation;
      r.time_limit_min = limit;
    });
    b.turn([&] { out = b.core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return out;
  }
  Errc refused(const std::string& words) {
    auto r = create(words);
    EXPECT_FALSE(r.has_value()) << words;
    return r ? Errc::kOk : r.error().code;
  }
  std::string said(const std::string& words) {
    auto r = create(words);
    EXPECT_FALSE(r.has_value()) << words;
    return r ? "" : std::string(r.error().message());
  }
  Reason reason(JobId job) { return reason_shown(b.core.cluster(), b.get(job)); }
  ~ReservationTest() override { b.expect_replay_equal(); }

  Bench b;
};

inline std::function<void(JobRequest&)> in(const std::string& reservation, uint32_t limit = 10) {
  return [=](JobRequest& r) {
    r.reservation = reservation;
    r.time_limit_min = limit;
  };
}
inline std::function<void(JobRequest&)> on(const std::string& node, uint32_t limit) {
  return [=](JobRequest& r) {
    r.required_nodes = node;
    r.min_nodes = 1;
    r.time_limit_min = limit;
  };
}

}  // namespace muster::slurmctld
