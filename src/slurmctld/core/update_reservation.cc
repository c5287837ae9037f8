// scontrol create, update and delete reservation: one row per key. scontrol(1), RESERVATIONS - SPECIFICATIONS FOR CREATE AND UPDATE COMMANDS.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "sched/reserve/choose.h"
#include "sched/supply/availability.h"
#include "slurmctld/core/reservations.h"
#include "slurmctld/core/reserved_licenses.h"
#include "slurmctld/core/update_keys.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kMostName = 255, kMostNames = 2000, kMostTres = 64;
constexpr int64_t kLastYear = 253402300800;  // unix time of the year 10000

// A reservation while it is made or changed.
struct Draft {
  const View& v;
  const bool create;
  Reservation r;
  bool start_given = false, end_given = false, nodes_given = false, all_nodes = false, renew_nodes = false, skip = false, access = false;
  std::optional<Duration> duration{};
  std::optional<Bitmap> named{};  // Nodes=
  std::optional<uint32_t> count{};
  std::vector<uint32_t> cores{};
  std::optional<uint32_t> cores_each{};  // of every node
  std::vector<sched::GresNeed> gres_in_all{}, gres_per_node{};

  // "… No reservation created."
  std::unexpected<Error> complain(const std::string& what, std::string hint = {}) const {
    return fail(Errc::kInvalidArgument, what + (create ? "  No reservation created." : "  No reservation update."), std::move(hint));
  }
};
using Setter = Result<> (*)(Draft&, const rpc::KeyValue&);

std::string typed(const rpc::KeyValue& kv) { return kv.key + (kv.op.empty() ? "=" : kv.op) + kv.value; }

Result<Time> time_of(Draft& d, const rpc::KeyValue& kv, const char* which) {
  auto t = parse_time_point(kv.value, d.v.now);
  if (!t) return d.complain(std::string("Invalid ") + which + " time " + typed(kv) + ".", std::string(t.error().message()));
  if (unix_seconds(*t) <= 0 || unix_seconds(*t) >= kLastYear) return fail(Errc::kInvalidTime, {}, typed(kv) + ": out of range");
  return from_unix(unix_seconds(*t));
}

Result<> set_start(Draft& d, const rpc::KeyValue& kv) {
  if (!d.create && d.r.begun) return fail(Errc::kReservationAlreadyStarted);
  MUSTER_TRY(t, time_of(d, kv, "start"));
  if (d.r.floats()) d.r.floats_by = std::max(t - d.v.now, Duration{});
  const Duration length = d.r.end - d.r.start;
  d.r.start = t;
  if (!d.create && !d.end_given && !d.duration) d.r.end = t + length;
  d.start_given = true;
  return {};
}
Result<> set_end(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY(t, time_of(d, kv, "end"));
  if (t < d.v.now - seconds(1)) return fail(Errc::kInvalidTime, {}, "EndTime has passed");
  d.r.end = t;
  d.r.end_floats = false;
  d.end_given = true;
  return {};
}
constexpr uint32_t kAYear = 365 * 24 * 60;  // of a reservation without an end, as Slurm has it

Result<> set_duration(Draft& d, const rpc::KeyValue& kv) {
  std::string op = kv.op, text = kv.value;
  if (!text.empty() && (text[0] == '+' || text[0] == '-') && text != "-1") op = text.substr(0, 1) + "=", text.erase(0, 1);
  auto t = parse_time_limit(text);
  if (!t) return d.complain("Invalid duration " + typed(kv) + ".");
  const Duration given = minutes(t->minutes.value_or(kAYear)), had = d.r.end - d.r.start;
  d.duration = op == "+=" ? had + given : op == "-=" ? had - given : given;
  if (*d.duration < Duration{} || *d.duration > minutes(int64_t{kAYear} * 100))
    return fail(Errc::kInvalidTime, {}, typed(kv) + ": out of range");
  return {};
}

Result<Duration> span_of(const Draft& d, const rpc::KeyValue& kv, const std::string& text) {
  auto t = parse_time_limit(text);
  if (!t || !t->minutes) return d.complain("Invalid " + kv.key + " " + typed(kv) + ".");
  return minutes(*t->minutes);
}
Result<> set_delay(Draft& d, const rpc::KeyValue& kv) {
  d.r.max_start_delay = {};
  if (kv.value.empty()) return {};
  MUSTER_TRY(span, span_of(d, kv, kv.value));
  d.r.max_start_delay = span;
  return {};
}

// Flags that stay once they are set.
constexpr uint64_t kStays = kResvNoHold | kResvOverlap | kResvReplace | kResvReplaceDown | kResvTimeFloat | kResvForceStart;

Result<> set_flags(Draft& draft, const rpc::KeyValue& kv) {
  if (draft.create) draft.r.flags &= kResvSpecNodes | kResvAllNodes;
  for (std::string_view word : split(kv.value, ',')) {
    bool remove = kv.op == "-=";
    if (word.starts_with('+') || word.starts_with('-')) remove = word[0] == '-', word.remove_prefix(1);
    const size_t equals = word.find('=');
    const auto flag = reservation_flag(word.substr(0, equals));
    const auto wrong = [&] { return draft.complain("Error parsing flags " + std::string(remove ? "-" : "") + kv.value + "."); };
    const bool valued = equals != std::string_view::npos;
    if (!flag || (*flag & (kResvSpecNodes | kResvAllNodes)) || (valued && *flag != kResvPurgeComp)) return wrong();
    if (remove && ((*flag & kStays) || draft.create)) return wrong();
    if (!draft.create && !draft.r.has(*flag) && (*flag & (kResvTimeFloat | kResvForceStart))) return wrong();
    if (*flag == kResvPurgeComp && !remove) {
      draft.r.purge_after = minutes(5);
      if (valued) {
        auto t = parse_time_limit(word.substr(equals + 1));
        if (!t || !t->minutes || *t->minutes == 0) return wrong();
        draft.r.purge_after = minutes(*t->minutes);
      }
    }
    draft.r.flags = remove ? draft.r.flags & ~*flag : draft.r.flags | *flag;
  }
  return {};
}

bool plain_name(std::string_view s) {
  return !s.empty() && s.size() <= kMostName && std::ranges::all_of(s, [](unsigned char c) {
    return c > ' ' && c != 0x7f && c != ',' && c != '=' && c != '|' && c != '"' && c != '\'';
  });
}

// One name moves up (allowed) or down (denied): from denied to neither to allowed, and back. False: some would be allowed and others denied.
bool move(AccessNames& list, const std::string& name, bool up) {
  const auto at = std::ranges::find_if(list.names, [&](const std::string& n) { return iequals(n, name); });
  if (at != list.names.end()) {
    if (list.denied == up) list.names.erase(at);
    if (list.names.empty()) list.denied = false;
    return true;
  }
  if (!list.names.empty() && list.denied == up) return false;
  list.denied = !up;
  list.names.push_back(name);
  return true;
}

template <AccessNames Reservation::*List, Errc Wrong, bool MayDeny = true>
Result<> set_access(Draft& d, const rpc::KeyValue& kv) {
  AccessNames& list = d.r.*List;
  d.access = true;
  const bool plain = kv.op == "=" || kv.op.empty();
  std::vector<std::string_view> words = split(kv.value, ',');
  const bool signs = std::ranges::any_of(words, [](std::string_view w) { return w.starts_with('-') || w.starts_with('+'); });
  const bool replaces = plain && (!signs || d.create);
  if (replaces) list = {};
  for (std::string_view word : words) {
    bool up = kv.op != "-=";
    if (word.starts_with('-') || word.starts_with('+')) up = word[0] == '+', word.remove_prefix(1);
    if (!plain_name(word)) return fail(Wrong, {}, kv.key + ": '" + std::string(word) + "' is no name");
    if (!MayDeny && !up && (replaces || !list.lists(word))) return fail(Wrong, {}, kv.key + " cannot be denied");
    if (!move(list, std::string(word), up))
      return fail(Wrong, {}, kv.key + ": some cannot be allowed and others denied in one reservation");
    if (list.names.size() > kMostNames) return fail(Wrong, {}, kv.key + ": more than " + std::to_string(kMostNames) + " names");
  }
  return {};
}

Result<> set_accounts(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID((set_access<&Reservation::accounts, Errc::kInvalidAccount>(d, kv)));
  for (std::string& name : d.r.accounts.names) {
    name = to_lower(name);
    if (d.v.cluster.directory && !d.v.cluster.directory->accounts.contains(name))
      return fail(Errc::kInvalidAccount, {}, "no account is called '" + name + "'");
  }
  return {};
}
Result<> set_qos(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID((set_access<&Reservation::qos, Errc::kInvalidQos>(d, kv)));
  for (std::string& name : d.r.qos.names) {
    name = to_lower(name);
    if (d.v.cluster.directory && !d.v.cluster.directory->qos.contains(name))
      return fail(Errc::kInvalidQos, {}, "no QOS is called '" + name + "'");
  }
  return {};
}
Result<> set_partitions(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID((set_access<&Reservation::partitions, Errc::kInvalidPartition>(d, kv)));
  for (const std::string& name : d.r.partitions.names)
    if (!d.v.cluster.partition(name)) return fail(Errc::kInvalidPartition, {}, "no partition is called '" + name + "'");
  return {};
}

Result<> set_partition(Draft& d, const rpc::KeyValue& kv) {
  const Partition* p = d.v.cluster.partition(kv.value);
  if (!p) return fail(Errc::kInvalidPartition, {}, "no partition is called '" + kv.value + "'");
  d.r.partition = p->name;
  return {};
}
Result<> set_features(Draft& d, const rpc::KeyValue& kv) {
  if (!d.create && d.r.has(kResvSpecNodes))
    return fail(Errc::kNotSupportedHere, {}, "its nodes were named; Nodes= (empty) has them chosen, by features too");
  d.r.features = kv.value;
  if (!d.r.features.parsed()) return fail(Errc::kInvalidFeature, {}, std::string(d.r.features.parsed().error().message()));
  d.renew_nodes = !d.create;
  return {};
}

Result<> not_by_cores(const Draft& d) {
  if (!d.create && d.r.by_cores()) return fail(Errc::kCoreReservationUpdate);
  return {};
}

// "n[1-4]", ALL; in an update with += and -=, or with signs before names. Empty: others are chosen.
Result<> set_nodes(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID(not_by_cores(d));
  if (kv.value.empty()) {
    d.renew_nodes = true;
    d.r.flags &= ~(kResvSpecNodes | kResvAllNodes);
    if (!d.count) d.count = static_cast<uint32_t>(d.r.nodes.count());
    return {};
  }
  d.nodes_given = true;
  d.all_nodes = iequals(kv.value, "ALL");
  d.r.flags |= kResvSpecNodes;
  if (d.all_nodes) d.r.flags |= kResvAllNodes;
  else d.r.flags &= ~kResvAllNodes;
  const bool by_sign = kv.value.starts_with('+') || kv.value.starts_with('-');
  Bitmap nodes = (kv.op == "=" || kv.op.empty()) && !by_sign ? Bitmap() : d.r.nodes;
  for (std::string_view piece : split_outside_brackets(kv.value)) {
    bool remove = kv.op == "-=";
    if (piece.starts_with('+') || piece.starts_with('-')) remove = piece[0] == '-', piece.remove_prefix(1);
    MUSTER_TRY(found, select_nodes(d.v, std::string(piece)));
    for (const Node* n : found) remove ? nodes.reset(n->id.value) : nodes.set(n->id.value);
  }
  if (nodes.none()) return fail(Errc::kInvalidNodeName, {}, "no node would be left");
  d.named = std::move(nodes);
  return {};
}

// "2", "4k"; a list is summed up.
std::optional<uint32_t> count_of(std::string_view text) {
  uint64_t sum = 0;
  for (std::string_view piece : split(text, ',', true)) {
    uint64_t each = 1;
    if (piece.ends_with('k') || piece.ends_with('K')) each = 1024, piece.remove_suffix(1);
    const auto n = parse_number<uint32_t>(piece, 1, 1u << 22);
    if (!n) return std::nullopt;
    sum += *n * each;
  }
  return sum && sum <= (1u << 24) ? std::optional(static_cast<uint32_t>(sum)) : std::nullopt;
}
Result<> set_count(Draft& d, const rpc::KeyValue& kv) {
  MUSTER_TRY_VOID(not_by_cores(d));
  const auto n = count_of(kv.value);
  if (!n) return d.complain("Invalid node count " + typed(kv) + ".");
  d.count = *n;
  return {};
}
Result<> set_cores(Draft& d, const rpc::KeyValue& kv) {
  if (!d.create) return fail(Errc::kCoreReservationUpdate);
  d.cores.clear();
  for (std::string_view piece : split(kv.value, ',', true)) {
    const auto n = parse_number<uint32_t>(piece, 1, 1u << 24);
    if (!n || d.cores.size() >= kMostNames) return d.complain("Invalid core count " + typed(kv) + ".");
    d.cores.push_back(*n);
  }
  return {};
}
Result<> set_licenses(Draft& d, const rpc::KeyValue& kv) {
  d.r.licenses.clear();
  if (kv.value.empty()) return {};
  auto needs = LicenseNeeds::parse(kv.value);
  if (!needs || needs->any) return fail(Errc::kLicenses, {}, needs ? "'|' makes no sense here" : needs.error().hint);
  for (LicenseShare& l : needs->list) {
    MUSTER_TRY(pool, pool_named(d.v, l.name));
    l.name = std::move(pool);
    const auto& all = d.v.settings.sched.licenses;
    const auto it = std::ranges::find_if(all, [&](const auto& have) { return have.first == l.name; });
    if (l.count > it->second) return fail(Errc::kLicenses, {}, "there are " + std::to_string(it->second) + " of " + l.name);
  }
  d.r.licenses = std::move(needs->list);
  return {};
}

Result<> add_tres(Draft& d, const rpc::KeyValue& kv, bool per_node) {
  MUSTER_TRY_VOID(not_by_cores(d));
  std::string licenses;
  size_t pieces = 0;
  for (std::string_view piece : split(kv.value, ',')) {
    const size_t equals = piece.find('='), slash = piece.find('/');
    const auto name = piece.substr(0, equals);
    const std::string count(equals == std::string_view::npos ? "1" : piece.substr(equals + 1));
    const auto wrong = [&] { return d.complain("Error parsing TRES " + typed(kv) + "."); };
    if (++pieces > kMostTres) return wrong();
    if (iequals(name, "node") && !per_node) {
      MUSTER_TRY_VOID(set_count(d, {kv.key, "=", count}));
    } else if (iequals(name, "cpu")) {
      const auto n = parse_number<uint32_t>(count, 1, 1u << 24);
      if (!n || !d.create) return n ? fail(Errc::kCoreReservationUpdate) : wrong();
      if (per_node) d.cores_each = *n;
      else d.cores = {*n};
    } else if (istarts_with(name, "license/") && !per_node) {
      licenses += (licenses.empty() ? "" : ",") + std::string(name.substr(slash + 1)) + ":" + count;
    } else if (istarts_with(name, "gres/")) {
      const std::string_view what = name.substr(slash + 1);
      const size_t colon = what.find(':');
      const auto n = parse_number<uint32_t>(count, 1, 1u << 20);
      if (!n) return wrong();
      const std::string type(colon == std::string_view::npos ? "" : what.substr(colon + 1));
      (per_node ? d.gres_per_node : d.gres_in_all).push_back({std::string(what.substr(0, colon)), type, *n, false});
    } else if (istarts_with(name, "bb/")) {
      return fail(Errc::kNotSupportedHere, {}, "there is no burst buffer plugin");
    } else {
      return wrong();
    }
  }
  return licenses.empty() ? Result<>() : set_licenses(d, {kv.key, "=", licenses});
}
Result<> set_tres(Draft& d, const rpc::KeyValue& kv) { return add_tres(d, kv, false); }
Result<> set_tres_per_node(Draft& d, const rpc::KeyValue& kv) { return add_tres(d, kv, true); }

Result<> no_burst_buffer(Draft&, const rpc::KeyValue&) { return fail(Errc::kNotSupportedHere, {}, "there is no burst buffer plugin"); }
Result<> set_skip(Draft& d, const rpc::KeyValue& kv) {
  if (d.create) return d.complain("Unknown parameter " + kv.key + ".");
  if (!d.r.repeats()) return fail(Errc::kReservationNoSkip);
  d.skip = true;
  return {};
}
Result<> set_comment(Draft& d, const rpc::KeyValue& kv) {
  d.r.comment = kv.value;
  return {};
}

struct Key {
  const char* name;
  Setter set;
};
constexpr Key kKeys[] = {
    {"Accounts", set_accounts},
    {"AllowedPartitions", set_partitions},
    {"BurstBuffer", no_burst_buffer},
    {"Comment", set_comment},
    {"CoreCnt", set_cores},
    {"Duration", set_duration},
    {"EndTime", set_end},
    {"Features", set_features},
    {"Flags", set_flags},
    {"Groups", set_access<&Reservation::groups, Errc::kGroupIdMissing, false>},
    {"Licenses", set_licenses},
    {"MaxStartDelay", set_delay},
    {"NodeCnt", set_count},
    {"Nodes", set_nodes},
    {"PartitionName", set_partition},
    {"QOS", set_qos},
    {"Skip", set_skip},
    {"StartTime", set_start},
    {"TRES", set_tres},
    {"TRESPerNode", set_tres_per_node},
    {"Users", set_access<&Reservation::users, Errc::kUserIdMissing>},
};

Result<> set_keys(Draft& draft, const std::vector<rpc::KeyValue>& changes) {
  const std::vector<rpc::KeyValue> whole = with_whole_keys(changes, kKeys);
  for (const bool flags : {true, false})  // what a time means depends on TIME_FLOAT
    for (size_t i = 0; i < whole.size(); ++i) {
      if (iequals(whole[i].key, "Flags") != flags) continue;
      const auto key = std::ranges::find_if(kKeys, [&](const Key& k) { return iequals(k.name, whole[i].key); });
      if (key == std::end(kKeys)) return draft.complain("Unknown parameter " + typed(changes[i]) + ".");
      rpc::KeyValue kv = whole[i];
      kv.key = changes[i].key;
      MUSTER_TRY_VOID(key->set(draft, kv));
    }
  return {};
}

// ---- what a reservation needs, whatever was typed
Result<> check_access(const Draft& d) {
  const Reservation& r = d.r;
  const bool any = !r.users.empty() || !r.groups.empty() || !r.accounts.empty() || !r.qos.empty() || !r.partitions.empty();
  if (!r.users.empty() && !r.groups.empty()) {
    if (!d.create) return fail(Errc::kReservationUserGroup);
    return d.complain("Users and Groups are mutually exclusive.  You can have one or the other, but not both.");
  }
  if (any) return {};
  if (!d.create) return fail(Errc::kReservationEmpty);
  return d.complain("Either Users/Groups and/or Accounts must be specified.");
}

bool by_parts(const Draft& d) { return d.cores_each || !d.cores.empty() || !d.gres_in_all.empty() || !d.gres_per_node.empty(); }

Result<> check_what(Draft& d) {
  if (!d.create) return {};
  if (!d.start_given) return d.complain("A start time must be given.");
  if (!d.end_given && !d.duration) return d.complain("An end time or duration must be given.");
  MUSTER_TRY_VOID(check_access(d));
  const bool none = !d.named && !d.count && !by_parts(d) && d.r.partition.empty();
  if (none && d.r.licenses.empty()) return d.complain("CoreCnt, Nodes, NodeCnt, BurstBuffer or Licenses must be specified.");
  if (none && !d.r.has(kResvAnyNodes)) return d.complain("Licenses without nodes need Flags=LICENSE_ONLY.");
  return {};
}

Result<> check_flags(Draft& d) {
  Reservation& r = d.r;
  if (r.floats() && r.repeats()) return fail(Errc::kNotSupportedHere, {}, "TIME_FLOAT and repetitions exclude each other");
  if (r.has(kResvPartNodes) && (r.partition.empty() || (d.create && !d.all_nodes)))
    return d.complain("PART_NODES flag requires specifying a Partition and ALL nodes.");
  if (r.has(kResvReplace | kResvReplaceDown) && r.has(kResvSpecNodes))
    return fail(Errc::kInvalidNodeName, {}, "REPLACE chooses nodes: give NodeCnt instead of Nodes");
  if (r.has(kResvForceStart) && !r.repeats()) return d.complain("FORCE_START needs a flag that repeats the reservation.");
  if (r.has(kResvHourly) && r.end - r.start > minutes(60)) return fail(Errc::kInvalidTime, {}, "HOURLY: it lasts longer than an hour");
  return {};
}

Result<> settle_times(Draft& draft) {
  Reservation& reservation = draft.r;
  if (draft.duration) {
    reservation.end = reservation.start + *draft.duration;
    reservation.end_floats = reservation.floats() && !draft.end_given;
  }
  if (reservation.floats() && draft.create) reservation.floats_by = std::max(reservation.start - draft.v.now, Duration{});
  if (reservation.end < reservation.start || (draft.create && reservation.end == reservation.start))
    return fail(Errc::kInvalidTime, {}, "it ends before it begins");
  if (draft.skip) {
    const Duration length = reservation.end - reservation.start;
    reservation.start = next_repetition(reservation, reservation.end);
    reservation.end = reservation.start + length;
    reservation.begun = false;
  }
  if (reservation.has(kResvForceStart) && reservation.end <= draft.v.now) {
    const Duration length = reservation.end - reservation.start;
    reservation.start = next_repetition(reservation, draft.v.now);
    reservation.end = reservation.start + length;
  }
  if (!reservation.end_floats && reservation.end < draft.v.now) return fail(Errc::kInvalidTime, {}, "it would be over already");
  if (draft.create && !reservation.end_floats && reservation.end == draft.v.now)
    return fail(Errc::kInvalidTime, {}, "it would be over already");
  return {};
}

// The GRES that are asked for are there.
Result<> check_gres(const Draft& d) {
  for (const auto* list : {&d.gres_in_all, &d.gres_per_node})
    for (const sched::GresNeed& g : *list) {
      bool known = false;
      d.v.cluster.nodes.for_each([&](uint32_t, const Node& n) {
        for (const GresDevices& has : n.spec->gres)
          known |= has.name == g.name && (g.type.empty() || has.type == g.type) && !has.count_only && !is_shared_gres(has.name);
      });
      if (!known) return fail(Errc::kInvalidGres, {}, "no node has devices gres/" + gres_name(g.name, g.type));
    }
  return {};
}

// Whether nodes have to be looked for again, or only to be looked at.
bool moved(const Draft& d, const Reservation* before) {
  return !before || d.named || d.count || d.renew_nodes || before->start != d.r.start || before->end != d.r.end ||
         before->overlaps() != d.r.overlaps() || before->repeats() != d.r.repeats() || before->partition != d.r.partition;
}

Result<> choose_nodes(Draft& draft, const Reservation* before) {
  Reservation& reservation = draft.r;
  const bool only_licenses = !draft.named && !draft.count && !by_parts(draft) && reservation.nodes.none() && reservation.has(kResvAnyNodes);
  if (only_licenses || !moved(draft, before)) return {};
  MUSTER_TRY_VOID(check_gres(draft));
  if (reservation.partition.empty() && !reservation.partitions.empty() && !reservation.partitions.denied && !draft.named)
    reservation.partition = reservation.partitions.names.front();
  sched::ReservationWish wish{
      .cluster = draft.v.cluster, .params = draft.v.settings.sched, .now = draft.v.now, .reservation = reservation, .before = before};
  wish.held = [&](const Node& n, Time from) { return held_from(draft.v, n, from); };
  wish.cores = draft.cores;
  if (draft.cores_each) wish.cores.assign(draft.count ? *draft.count : draft.named ? draft.named->count() : 1, *draft.cores_each);
  wish.gres_in_all = draft.gres_in_all;
  wish.gres_per_node = draft.gres_per_node;
  wish.count = draft.count;
  if (!draft.renew_nodes || draft.create) wish.named = draft.named;
  if (draft.all_nodes && reservation.has(kResvPartNodes)) wish.named = draft.v.cluster.partition(reservation.partition)->nodes;
  if (before) {
    if (!draft.renew_nodes) wish.keep = before->nodes;
    if (before->by_cores()) {  // its cores stay; only others' claims are looked at
      wish.named = before->nodes;
      for (const NodeShare& part : before->partial) {
        const Node* n = draft.v.cluster.nodes.find(part.node.value);
        const uint32_t threads = n ? std::max(n->spec->threads_per_core, 1u) : 1;
        wish.cores.push_back(std::max(static_cast<uint32_t>(part.cpus.count()) / threads, 1u));
      }
    } else if (!draft.named && !draft.count && !draft.renew_nodes) {
      wish.named = before->nodes;
    }
  }
  if (!wish.named && !wish.count && wish.cores.empty() && draft.gres_in_all.empty() && draft.gres_per_node.empty() && draft.create) {
    reservation.flags |= kResvSpecNodes | kResvPartNodes;  // a partition alone: all of its nodes
    wish.named = draft.v.cluster.partition(reservation.partition)->nodes;
  }
  MUSTER_TRY(chosen, sched::choose_for_reservation(wish));
  reservation.nodes = std::move(chosen.nodes);
  if (!before || !before->by_cores()) reservation.partial = std::move(chosen.partial);
  reservation.nodes_wanted = static_cast<uint32_t>(reservation.nodes.count());
  const bool chosen_by_us = !wish.named || reservation.by_cores();
  if (chosen_by_us && reservation.partition.empty() && draft.v.cluster.default_partition != Cluster::kNoPartition)
    reservation.partition = draft.v.cluster.partitions.at(draft.v.cluster.default_partition).name;
  return {};
}

std::string first_name(const Reservation& r) {
  for (const AccessNames* list : {&r.users, &r.accounts, &r.groups, &r.qos, &r.partitions})
    if (!list->names.empty()) return list->names.front();
  return "resv";
}

Result<> check_name(const View& v, const std::string& name) {
  if (!plain_name(name))
    return fail(Errc::kReservationInvalid, {}, "ReservationName: letters, digits and signs, no blanks, commas or quotes");
  if (v.cluster.reservation(name)) return fail(Errc::kReservationNameDuplicate);
  return {};
}

Result<Decision<rpc::Messages>> create(const View& view, const rpc::UpdateReservation& request) {
  if (view.cluster.reservations.size() >= kMostReservations)
    return fail(Errc::kTryAgainLater, {}, "there are " + std::to_string(kMostReservations) + " reservations, the most that are kept");
  if (!request.name.empty()) MUSTER_TRY_VOID(check_name(view, request.name));
  Draft draft{.v = view, .create = true, .r = {}};
  draft.r.id = view.cluster.last_reservation + 1;
  MUSTER_TRY_VOID(set_keys(draft, request.changes));
  MUSTER_TRY_VOID(check_what(draft));
  MUSTER_TRY_VOID(settle_times(draft));
  MUSTER_TRY_VOID(check_flags(draft));
  draft.r.group_members = draft.r.groups.empty() ? std::vector<std::string>() : request.group_members;
  draft.r.name = request.name.empty() ? first_name(draft.r) + "_" + std::to_string(draft.r.id) : request.name;
  if (request.name.empty() && view.cluster.reservation(draft.r.name)) draft.r.name += "_" + std::to_string(unix_seconds(view.now));
  MUSTER_TRY_VOID(choose_nodes(draft, nullptr));
  MUSTER_TRY_VOID(check_reserved_licenses(view, draft.r));
  Decision<rpc::Messages> out;
  out.reply.lines.push_back("Reservation created: " + draft.r.name);
  out.events.push_back(reservation_set(view, std::move(draft.r)));
  return out;
}

// The members of the groups that it has now. Of those that the request does not name they are not known apart: they stay until the next look
// (learn_members).
std::vector<std::string> members_after(const Reservation& before, const Reservation& after, const rpc::UpdateReservation& request) {
  if (after.groups.empty()) return {};
  const bool kept = std::ranges::any_of(after.groups.names, [&](const std::string& name) { return before.groups.lists(name); });
  std::vector<std::string> out = kept ? before.group_members : std::vector<std::string>();
  const bool more = std::ranges::any_of(after.groups.names, [&](const std::string& name) { return !before.groups.lists(name); });
  if (more) out.insert(out.end(), request.group_members.begin(), request.group_members.end());
  return out;
}

Result<Decision<rpc::Messages>> change(const View& view, const Reservation& before, const rpc::UpdateReservation& request) {
  Draft draft{.v = view, .create = false, .r = before};
  MUSTER_TRY_VOID(set_keys(draft, request.changes));
  MUSTER_TRY_VOID(check_access(draft));
  MUSTER_TRY_VOID(settle_times(draft));
  MUSTER_TRY_VOID(check_flags(draft));
  if (draft.r.groups != before.groups) draft.r.group_members = members_after(before, draft.r, request);
  MUSTER_TRY_VOID(choose_nodes(draft, &before));
  MUSTER_TRY_VOID(check_reserved_licenses(view, draft.r));
  Decision<rpc::Messages> out;
  out.reply.lines.push_back("Reservation updated.");
  if (draft.r == before) return out;
  if (draft.r.end != before.end || draft.r.has(kResvFlex) != before.has(kResvFlex)) move_ends(view, draft.r, out.events);
  out.events.push_back(reservation_set(view, std::move(draft.r)));
  return out;
}

Result<Decision<rpc::Messages>> remove(const View& v, const Reservation& r) {
  const size_t jobs = v.indexes.jobs_in(r.name).size();
  if (jobs) return fail(Errc::kReservationBusy, {}, std::to_string(jobs) + " jobs run in it or wait for it");
  Decision<rpc::Messages> out;
  out.events.push_back(event::ReservationRemoved{r.id, v.now, event::ReservationProgram::kNone, r.name});
  return out;
}

bool may_delete(const View& v, const Reservation& r) {
  if (v.may(Right::kUpdateReservations)) return true;
  const bool open = r.has(kResvUserDelete) || v.settings.config().slurmctld_parameters.has("user_resv_delete");
  return open && is_for_caller(v.cluster, r, v.caller);
}

// Who may not is told so in the words that Slurm has for reservations.
constexpr Errc kNotThisUser = Errc::kUserIdMissing;

}  // namespace

Result<Decision<rpc::Messages>> decide(const View& v, const rpc::UpdateReservation& c) {
  MUSTER_TRY_VOID(check_texts(c.changes));
  const Reservation* known = c.create ? nullptr : v.cluster.reservation(c.name);
  if (c.remove) {
    if (known ? !may_delete(v, *known) : !v.may(Right::kUpdateReservations)) return fail(kNotThisUser);
    return known ? remove(v, *known) : fail(Errc::kReservationInvalid);
  }
  if (!v.may(Right::kUpdateReservations)) return fail(kNotThisUser);
  if (c.create) return create(v, c);
  if (!known) return fail(Errc::kReservationInvalid, {}, "no reservation is called '" + c.name + "'");
  return change(v, *known, c);
}

}  // namespace muster::slurmctld
