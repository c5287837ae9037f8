// hostile: an ordinary user who speaks the protocol himself. For the tests of this folder.
//
//   hostile list                                    every message: number, name
//   hostile send SOCKET MESSAGE [FIELD=VALUE...]    one request; the answer as lines FIELD=VALUE, or the refusal (status 1)
//   hostile relay SOCKET NODE MESSAGE [FIELD=VALUE...]  the same by way of the slurmd at SOCKET to another node's
//   hostile as FILE HOST:PORT WHOM [UID GID] MESSAGE [FIELD=VALUE...]    one request over the network with a node's credential, to whom it
//                                                   expects there (controller, node:n2); with UID GID passed on in that user's name
//   hostile register FILE HOST:PORT NODE SECONDS    registers as a node with it
//   hostile mint AUTHORITY OUT SUBJECT HOURS        a credential that slurmctld issued so many hours ago, made with its key
//   hostile forge FILE OUT SUBJECT                  a credential of somebody else, signed with its key
//   hostile send-known SOCKET SubmitJob|Allocate [FIELD=VALUE...]    the same with what only the controller knows of a job in it:
//                                                   our commands have no place for that, an attacker's program has
//   hostile attack SOCKET MESSAGE WORLD             every field with every hostile value, one at a time and all at once
//   hostile reports SOCKET WORLD                    what only node daemons may say, and every number with any bytes
//   hostile dump DIRECTORY                          what the controller stored, as lines FIELD=VALUE
//
// VALUE is written as answers are printed (\n, \xNN); @PATH is the content of a file. WORLD is a file of lines KEY VALUE: job, own (ids), uid, gid, number, text, key,
// secret (what no answer may contain), long (bytes of the longest text).
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "hostile/link.h"
#include "hostile/member.h"
#include "hostile/shape.h"
#include "model/node_rpc.h"
#include "slurmctld/core/apply.h"
#include "store/event_log.h"
#include "wire/accounting_instances.h"
#include "wire/cluster_codec.h"
#include "wire/event_codec.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::hostile {
namespace {

struct World {
  std::vector<uint32_t> jobs;  // whose turn it is to be aimed at
  uint32_t uid = 0, gid = 0;
  std::vector<std::string> secrets;
  Values values;
};

World read_world(const char* path) {
  World w;
  std::ifstream in(path);
  std::string key, text;
  size_t long_text = 0;
  while (in >> key && std::getline(in, text)) {
    text.erase(0, 1);
    const uint64_t number = std::strtoull(text.c_str(), nullptr, 0);
    if (key == "job" || key == "own") w.jobs.push_back(static_cast<uint32_t>(number));
    if (key == "job" || key == "own" || key == "number") w.values.numbers.push_back(number);
    if (key == "uid") w.uid = static_cast<uint32_t>(number);
    if (key == "gid") w.gid = static_cast<uint32_t>(number);
    if (key == "text") w.values.texts.push_back(text);
    if (key == "key") w.values.keys.push_back(text);
    if (key == "secret") w.secrets.push_back(text);
    if (key == "long") long_text = number;
  }
  for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}, uint64_t{0x80000000}, uint64_t{0xfffffffe}, uint64_t{0xffffffff},
                     ~uint64_t{0}, ~uint64_t{0} >> 1, ~uint64_t{0} - 5})
    w.values.numbers.push_back(n);
  w.values.texts.push_back("one\ntwo\x1b[31m\xff");
  w.values.texts.push_back(std::string(long_text, 'x'));
  return w;
}

// ---- what a message looks like before one of its fields turns hostile: something that could be accepted
struct Prefill {
  const World& w;
  uint32_t job;
  template <class M>
  void operator()(unsigned, const char* field, M& m) {
    const std::string_view name(field);
    if constexpr (std::is_same_v<M, JobId>) m = JobId(job);
    else if constexpr (std::is_same_v<M, Uid>) m = Uid(w.uid);
    else if constexpr (std::is_same_v<M, Gid>) m = Gid(w.gid);
    else if constexpr (std::is_same_v<M, rpc::JobSelector>) M::describe(m, *this);
    else if constexpr (std::is_same_v<M, std::vector<rpc::JobSelector>>) M::value_type::describe(m.emplace_back(), *this);
    else if constexpr (std::is_same_v<M, std::vector<rpc::KeyValue>>) m = {{"Comment", "=", "hostile"}};
    else if constexpr (std::is_same_v<M, bool>) m = name == "hold";
    else if constexpr (std::is_same_v<M, std::string>) text(name, m);
    else if constexpr (std::is_same_v<M, std::vector<std::string>>) {
      if (name == "argv") m = {"/bin/true"};
    } else if constexpr (std::is_same_v<M, uint32_t>) {
      if (name == "num_tasks") m = 1;
    } else if constexpr (Described<M>) M::describe(m, *this);
  }
  static void text(std::string_view name, std::string& m) {
    if (name == "script") m = "#!/bin/sh\nexit 0\n";
    else if (name == "environment") m = std::string("A=1\0", 4);
    else if (name == "work_dir") m = "/tmp";
    else if (name == "node" || name == "nodes") m = "n1";
    else if (name == "subject") m = "script";
  }
};

// A filter by node and so on would hide what is aimed at: filters ask for everything, and for one job.
template <class M>
M plausible(const World& w, uint32_t job) {
  M m{};
  Prefill p{w, job};
  M::describe(m, p);
  return m;
}
template <>
rpc::SignalJobs plausible(const World& w, uint32_t job) {
  rpc::SignalJobs m;
  Prefill p{w, job};
  rpc::JobSelector::describe(m.filter.jobs.emplace_back(), p);
  return m;
}
template <>
rpc::QueryJobs plausible(const World&, uint32_t) {
  rpc::QueryJobs m;
  m.parts = ~0u;
  return m;
}
template <>
rpc::Relay plausible(const World& w, uint32_t job) {
  rpc::Relay m;  // for root, who may do anything
  m.host = "n1";
  m.message = wire::number_of<rpc::SignalJobs>;
  m.payload = wire::encoded(plausible<rpc::SignalJobs>(w, job));
  return m;
}
// As an operator would write it: creating and removing are fields of their own.
template <>
rpc::UpdatePartition plausible(const World&, uint32_t) {
  rpc::UpdatePartition m;
  m.name = "main";
  m.changes = {{"State", "=", "DOWN"}};
  return m;
}
template <>
rpc::UpdateNode plausible(const World&, uint32_t) {
  rpc::UpdateNode m;
  m.nodes = "n1";
  m.changes = {{"State", "=", "DOWN"}, {"Reason", "=", "hostile"}};
  return m;
}

class Attack {
 public:
  Attack(const char* socket, World world) : world_(std::move(world)), link_(socket, [this](const net::FrameView& f) { look(f); }) {}

  template <class M>
  void message(net::FrameKind kind, uint16_t number) {
    current_ = number;
    for (uint32_t job : world_.jobs) {
      const M base = plausible<M>(world_, job);
      send(kind, number, base, "");
      for_each_variant(base, world_.values, [&](const M& m, const std::string& field) { send(kind, number, m, field); });
      for (size_t choice = 0; choice < 24; ++choice) send(kind, number, all_at_once(base, world_.values, choice), "*");
      if constexpr (!touches_a_job<M>()) break;
    }
  }

  template <class M>
  void message() {
    message<M>(net::FrameKind::kRequest, wire::number_of<M>);
  }

  // What only daemons may say, said by a user; then every number, as a request and as a notice, with nothing and with noise.
  void reports() {
    Alternatives<NodeReport>::each([&]<class A>() { numbered<A, NodeReport>(wire::kNodeReport); });
    Alternatives<NodeOrder>::each([&]<class A>() { numbered<A, NodeOrder>(wire::kNodeOrder); });
    std::string noise;
    for (int i = 0; i < 4000; ++i) noise += static_cast<char>(i * 7919 >> 3);
    for (uint16_t n = 0; n < 700; ++n)
      for (auto kind : {net::FrameKind::kRequest, net::FrameKind::kNotice, net::FrameKind::kAnswer, net::FrameKind::kError}) {
        // "config", "slurmd" and the like are asked for without a field: what they answer is judged by look().
        link_.send(kind, n, "");
        link_.send(kind, n, noise);
      }
  }

  // Everything sent was decided: the commands of one connection are taken in their order. False: the daemon did not say so.
  bool finish() {
    rpc::UpdateJob last;
    last.job.job = JobId(0x3fffffff);
    last.changes = {{"Comment", "=", "last"}};
    bool settled = false;
    for (int attempt = 0; attempt < 20 && !settled; ++attempt) {
      link_.send(net::FrameKind::kRequest, wire::number_of<rpc::UpdateJob>, wire::encoded(last));
      settled = link_.settle(30);
    }
    if (!settled) std::fprintf(stderr, "the daemon did not answer what was sent last\n");
    link_.take_late_answers(3);
    const Counts& c = link_.counts();
    std::printf("sent %zu answered %zu refused %zu reconnected %zu leaked %zu\n", c.sent, c.answered, c.refused, c.reconnected, leaks_);
    return settled;
  }

 private:
  template <class M>
  static constexpr bool touches_a_job() {
    return requires(M m) { m.job; }
    || requires(M m) { m.jobs; }
    || requires(M m) { m.filter; }
    || requires(M m) { m.payload; };
  }

  template <class A, class Variant>
  void numbered(uint16_t number) {
    current_ = number;
    for (uint32_t job : world_.jobs)
      for_each_variant(plausible<A>(world_, job), world_.values, [&](const A& a, const std::string&) {
        Numbered<Variant> m;
        m.session = m.sequence = 1;
        m.message = a;
        link_.send(net::FrameKind::kNotice, number, wire::encoded(m));
      });
  }

  template <class M>
  void send(net::FrameKind kind, uint16_t number, const M& m, const std::string& field) {
    field_ = field;
    link_.send(kind, number, wire::encoded(m));
  }

  void look(const net::FrameView& f) {
    for (const std::string& secret : world_.secrets)
      if (f.payload.find(secret) != f.payload.npos && leaks_++ < 20)
        std::printf("leak: message %u answers with '%s' (about when its field '%s' was sent)\n", f.message ? f.message : current_,
                    secret.c_str(), field_.c_str());
  }

  World world_;
  Link link_;
  uint16_t current_ = 0;
  std::string field_;
  size_t leaks_ = 0;
};

// ---- commands
int list() {
#define MUSTER_MESSAGE(number, size, request, answer, part) std::printf("%d %s %zu\n", number, &#request[5], leaves<request>());
#include "model/messages.def"
#undef MUSTER_MESSAGE
  return 0;
}

bool fill(auto& message, int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    std::string value = equals ? equals + 1 : "";
    if (value.starts_with("@")) {
      std::ifstream in(value.substr(1), std::ios::binary);
      value = std::string(std::istreambuf_iterator<char>(in), {});
    } else {
      value = unquoted(value);
    }
    const std::string path(argv[i], equals ? static_cast<size_t>(equals - argv[i]) : 0);
    if (equals && assign(message, path, value)) continue;
    std::fprintf(stderr, "%s: no such field\n", argv[i]);
    return false;
  }
  return true;
}

// As M, with a whole JobRequest, which has the same numbers.
struct KnownSubmitJob {
  JobRequest request;
  std::string script, environment;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "request", self.request);
    field(2, "script", self.script);
    field(3, "environment", self.environment);
  }
};
struct KnownAllocate {
  JobRequest request;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "request", self.request);
  }
};

// `node`: "" sends to the daemon at the socket, else that one has to pass it on.
template <class M, class Sent = M>
int send_one(const char* socket, const std::string& node, int argc, char** argv) {
  Sent m{};
  if (!fill(m, argc, argv)) return 2;
  int status = 4;
  Link link(socket, [&](const net::FrameView& f) {
    std::string out;
    if (f.kind == net::FrameKind::kStreamPart) {
      wire::PartOf<M> part;
      if (wire::decode(f.payload, part)) print(out, "", part);
    } else if (f.kind == net::FrameKind::kAnswer) {
      wire::AnswerTo<M> answer;
      status = wire::decode(f.payload, answer) ? 0 : 5;
      print(out, "", answer);
    } else if (f.kind == net::FrameKind::kError) {
      const Error e = net::decode_error(f.payload);
      std::printf("error: %s%s\n", std::string(e.message()).c_str(), e.hint.empty() ? "" : (": " + e.hint).c_str());
      status = 1;
    }
    std::fputs(out.c_str(), stdout);
    std::fflush(stdout);
  });
  if (node.empty()) {
    link.send(net::FrameKind::kRequest, wire::number_of<M>, wire::encoded(m));
  } else {
    const rpc::RelayToNode relay{node, wire::number_of<M>, wire::encoded(m)};
    link.send(net::FrameKind::kRequest, wire::number_of<rpc::RelayToNode>, wire::encoded(relay));
  }
  link.settle(20);
  return status;
}

// As whom, where to, and in whose name.
struct Way {
  std::string file, address, whom;
  std::optional<std::pair<uint32_t, uint32_t>> user;
};

template <class M>
int ask_as_member(const Way& way, int argc, char** argv) {
  M m{};
  if (!fill(m, argc, argv)) return 2;
  uint16_t number = wire::number_of<M>;
  std::string payload = wire::encoded(m), out;
  if (way.user) {
    rpc::Relay relay;
    relay.uid = Uid(way.user->first);
    relay.gid = Gid(way.user->second);
    relay.host = "elsewhere";
    relay.message = number;
    relay.payload = std::move(payload);
    payload = wire::encoded(relay);
    number = wire::number_of<rpc::Relay>;
  }
  auto answer = ask_as(way.file, way.address, way.whom, number, payload, [&](std::string_view bytes) {
    wire::PartOf<M> part;
    if (wire::decode(bytes, part)) print(out, "", part);
  });
  wire::AnswerTo<M> last;
  if (answer && wire::decode(answer->payload, last)) print(out, "", last);
  if (!answer)
    out = "error: " + std::string(answer.error().message()) + (answer.error().hint.empty() ? "" : ": " + answer.error().hint) + "\n";
  std::fputs(out.c_str(), stdout);
  return answer ? 0 : 1;
}

int as_member(int argc, char** argv) {
  Way way{argv[2], argv[3], argv[4], std::nullopt};
  int at = 5;
  if (argc > 7 && argv[5][0] >= '0' && argv[5][0] <= '9') {
    way.user = {static_cast<uint32_t>(std::strtoul(argv[5], nullptr, 10)), static_cast<uint32_t>(std::strtoul(argv[6], nullptr, 10))};
    at = 7;
  }
  const std::string_view name = argv[at];
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  if (name == &#request[5]) return ask_as_member<request>(way, argc - at - 1, argv + at + 1);
#include "model/messages.def"
#undef MUSTER_MESSAGE
  return 2;
}

int send_message(const char* socket, const std::string& node, std::string_view name, int argc, char** argv) {
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  if (name == &#request[5]) return send_one<request>(socket, node, argc, argv);
#include "model/messages.def"
#undef MUSTER_MESSAGE
  std::fprintf(stderr, "no message %s\n", std::string(name).c_str());
  return 2;
}

int send_known(const char* socket, std::string_view name, int argc, char** argv) {
  if (name == "SubmitJob") return send_one<rpc::SubmitJob, KnownSubmitJob>(socket, "", argc, argv);
  if (name == "Allocate") return send_one<rpc::Allocate, KnownAllocate>(socket, "", argc, argv);
  std::fprintf(stderr, "%s makes no job\n", std::string(name).c_str());
  return 2;
}

int attack(const char* socket, std::string_view name, const char* world) {
  Attack a(socket, read_world(world));
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  if (name == &#request[5]) return a.message<request>(), a.finish() ? 0 : 6;
#include "model/messages.def"
#undef MUSTER_MESSAGE
  std::fprintf(stderr, "no message %s\n", std::string(name).c_str());
  return 2;
}

// The state that the log says, as slurmctld reads it at its start.
int dump(const char* directory) {
  auto log = store::open_sqlite_log(directory);
  if (!log) return std::fprintf(stderr, "%s\n", std::string(log.error().message()).c_str()), 1;
  Cluster c;
  slurmctld::Indexes indexes(minutes(5));
  store::Position from = 0;
  auto snapshot = (*log)->load_snapshot();
  if (snapshot && *snapshot) {
    auto cluster = decode_cluster((*snapshot)->chunks);
    if (!cluster) return std::fprintf(stderr, "the snapshot cannot be read\n"), 1;
    c = std::move(*cluster);
    indexes = slurmctld::rebuild_indexes(c, minutes(5));
    from = (*snapshot)->position;
  }
  auto read = (*log)->read(from, [&](store::Position, std::string_view record) -> Result<> {
    MUSTER_TRY(event, decode_event(record));
    apply(c, indexes, event);
    return {};
  });
  if (!read) return std::fprintf(stderr, "%s\n", std::string(read.error().message()).c_str()), 1;
  std::string out;
  auto name = [](const char* kind, uint32_t id) { return std::string(kind) + "/" + std::to_string(id); };
  c.jobs.for_each([&](uint32_t id, const Job& j) {
    print(out, name("job", id), j);
    print(out, name("job", id) + ".request", j.whole_request());
  });
  c.nodes.for_each([&](uint32_t id, const Node& n) { print(out, name("node", id), n); });
  c.partitions.for_each([&](uint32_t id, const Partition& p) { print(out, name("partition", id), p); });
  print(out, "cluster/0.name", c.name);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}

// A report of a node's health by whoever may open the socket; then something that is answered, so that it was read.
int say_health(const char* socket, std::string_view what, int64_t since) {
  Link link(socket, [](const net::FrameView&) {});
  link.send(net::FrameKind::kNotice, wire::kNodeReport, health_report(what, since, 1, 1));
  link.send(net::FrameKind::kRequest, wire::number_of<rpc::Ping>, wire::encoded(rpc::Ping{}));
  link.settle(20);
  return 0;
}

int usage() {
  return std::fprintf(
             stderr, "usage: hostile list | send|send-known SOCKET MESSAGE [FIELD=VALUE...] | relay SOCKET NODE MESSAGE [FIELD=VALUE...] | "
                     "attack SOCKET MESSAGE WORLD | reports SOCKET WORLD | say SOCKET REPORT SINCE | dump DIRECTORY\n"),
         2;
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "list") return list();
  if (what == "send" && argc >= 4) return send_message(argv[2], "", argv[3], argc - 4, argv + 4);
  if (what == "relay" && argc >= 5) return send_message(argv[2], argv[3], argv[4], argc - 5, argv + 5);
  if (what == "as" && argc >= 6) return as_member(argc, argv);
  if (what == "register" && (argc == 6 || argc == 8))
    return register_as(argv[2], argv[3], argv[4], std::atoi(argv[5]), argc == 8 ? argv[6] : "stolen", argc == 8 ? std::atoi(argv[7]) : 0);
  if (what == "report" && argc == 7) return report_as(argv[2], argv[3], argv[4], argv[5], std::atoll(argv[6]));
  if (what == "say" && argc == 5) return say_health(argv[2], argv[3], std::atoll(argv[4]));
  if (what == "linger" && argc == 6) return linger(argv[2], argv[3], argv[4], std::atoi(argv[5]));
  if (what == "forge" && argc == 5) return forge(argv[2], argv[3], argv[4]);
  if (what == "mint" && argc == 6) return mint(argv[2], argv[3], argv[4], std::atof(argv[5]));
  if (what == "send-known" && argc >= 4) return send_known(argv[2], argv[3], argc - 4, argv + 4);
  if (what == "attack" && argc == 5) return attack(argv[2], argv[3], argv[4]);
  if (what == "dump" && argc == 3) return dump(argv[2]);
  if (what == "reports" && argc == 4) {
    Attack a(argv[2], read_world(argv[3]));
    a.reports();
    return a.finish() ? 0 : 6;
  }
  return usage();
}

}  // namespace
}  // namespace muster::hostile

int main(int argc, char** argv) { return muster::hostile::run(argc, argv); }
