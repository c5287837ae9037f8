#include "wire/cluster_codec.h"

#include <gtest/gtest.h>

#include "model/account_directory.h"
#include "wire/accounting_instances.h"
#include "wire/sample_test.h"

namespace muster {
namespace {

Cluster random_cluster(uint64_t seed, int jobs) {
  wire::Random rng(seed);
  Cluster c;
  wire::fill(rng, c.name);
  c.last_job_id = JobId(1000 + jobs);
  c.last_request_id = RequestId(70);
  c.default_partition = 2;
  c.position = rng.next();
  c.nodes_epoch = 3;
  c.use_epoch = 4;
  c.jobs_epoch = 5;
  for (uint32_t i = 1; i <= 20; ++i) {
    JobRequest r;
    wire::fill(rng, r);
    c.requests.set(i * 3, {std::make_shared<const RequestBody>(r), PackedOwn(r), i});
  }
  for (uint32_t i = 0; i < 4; ++i) {
    Partition p;
    wire::fill(rng, p);
    p.index = i;
    p.name = "p" + std::to_string(i);
    c.partitions.set(i, p);
  }
  for (uint32_t i = 0; i < 30; ++i) {
    Node n;
    wire::fill(rng, n);
    NodeSpec spec;
    wire::fill(rng, spec);
    spec.name = "n" + std::to_string(i);
    n.spec = std::make_shared<const NodeSpec>(spec);
    n.id = NodeId(i);
    c.nodes.set(i, n);
  }
  for (uint32_t i = 0; i < 5; ++i) c.arrays.set(100 + i, ArrayGroup{.total = i, .running = 1});
  c.accounting = true;
  c.recorded_position = 77;
  c.last_kept_record = 9;
  for (uint32_t i = 0; i < 3; ++i) {
    JobRecord job;
    StepRecord step;
    wire::fill(rng, job);
    wire::fill(rng, step);
    KeptRecord r;
    r.position = 80 + i;
    if (i) r.job = std::make_shared<const JobRecord>(job);
    else r.step = std::make_shared<const StepRecord>(step);
    c.kept_records.set(7 + i, r);
  }
  c.know_tres({"gres/gpu"});
  c.usage_rule = {minutes(7), from_unix(9)};
  c.usage.put_association(3, {from_unix(5), 0.1, {1.5, 0, 2, 0, 3}});
  c.usage.put_qos("fast", {from_unix(6), 4, {1e250}});
  AccountDirectory directory;
  for (uint32_t i = 1; i <= 30; ++i) {
    AssociationRecord a;
    wire::fill(rng, a);
    a.id = i;
    a.account = "a" + std::to_string(i % 7);
    a.user = i < 8 ? "" : "u" + std::to_string(i % 11);
    QosRecord q;
    wire::fill(rng, q);
    UserRecord u;
    wire::fill(rng, u);
    u.name = "u" + std::to_string(i);
    AccountChanges changes;
    changes.associations = {a};
    changes.qos = {q};
    changes.users = {u};
    directory.learn(changes);
  }
  c.directory = std::make_shared<const AccountDirectory>(std::move(directory));
  for (int i = 0; i < jobs; ++i) {
    Job j;
    wire::fill(rng, j);
    j.id = JobId(static_cast<uint32_t>(1000 + i));
    j.request_id = RequestId(static_cast<uint32_t>(1 + rng.next() % 20) * 3);
    j.request = c.requests.at(j.request_id.value).body;
    j.own = c.requests.at(j.request_id.value).own;
    c.jobs.set(j.id.value, j);
  }
  return c;
}

template <class T>
void expect_same(const PersistentMap<T>& a, const PersistentMap<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  a.for_each([&](uint32_t key, const T& v) {
    const T* w = b.find(key);
    ASSERT_NE(w, nullptr) << key;
    EXPECT_TRUE(v == *w) << key;
  });
}

TEST(ClusterCodec, ComesBackAsItWas) {
  const Cluster c = random_cluster(1, 2000);
  const auto chunks = encode_cluster(c);
  ASSERT_GT(chunks.size(), 1u);
  for (size_t i = 0; i + 1 < chunks.size(); ++i) {
    EXPECT_GE(chunks[i].size(), kSnapshotChunkBytes);
    EXPECT_LT(chunks[i].size(), kSnapshotChunkBytes + 65536);
  }
  auto back = decode_cluster(chunks);
  ASSERT_TRUE(back) << back.error().message();
  expect_same(c.jobs, back->jobs);
  expect_same(c.nodes, back->nodes);
  expect_same(c.partitions, back->partitions);
  expect_same(c.arrays, back->arrays);
  ASSERT_EQ(c.requests.size(), back->requests.size());
  c.requests.for_each([&](uint32_t id, const SharedRequest& s) {
    EXPECT_EQ(back->requests.at(id).jobs, s.jobs);
    EXPECT_TRUE(*back->requests.at(id).body == *s.body);
    EXPECT_TRUE(back->requests.at(id).own == s.own);
  });
  EXPECT_EQ(back->name, c.name);
  EXPECT_EQ(back->last_job_id, c.last_job_id);
  EXPECT_EQ(back->last_request_id, c.last_request_id);
  EXPECT_EQ(back->default_partition, 2u);
  EXPECT_EQ(back->position, c.position);
  EXPECT_EQ(back->nodes_epoch, 3u);
  EXPECT_EQ(back->use_epoch, 4u);
  EXPECT_EQ(back->jobs_epoch, 5u);
  EXPECT_TRUE(back->accounting);
  EXPECT_EQ(back->recorded_position, 77u);
  EXPECT_EQ(back->last_kept_record, 9u);
  ASSERT_TRUE(back->directory);
  EXPECT_EQ(back->directory->associations.size(), 30u);
  EXPECT_EQ(contents_of(*back->directory).size(), 1u);
  EXPECT_TRUE(wire::equal(contents_of(*back->directory)[0], contents_of(*c.directory)[0]));
  EXPECT_FALSE(decode_cluster(encode_cluster(Cluster()))->directory);
  EXPECT_EQ(back->usage_rule, c.usage_rule);
  EXPECT_EQ(stored(back->usage, back->tres_table()), stored(c.usage, c.tres_table()));
  EXPECT_EQ(back->usage.size(), 2u);
  ASSERT_EQ(back->kept_records.size(), 3u);
  c.kept_records.for_each(
      [&](uint32_t number, const KeptRecord& r) { EXPECT_TRUE(wire::equal(r, back->kept_records.at(number))) << number; });
}

TEST(ClusterCodec, RequestsThatDifferInTheirTextsShareTheRest) {
  Cluster c;
  for (uint32_t i = 1; i <= 2; ++i) {
    JobRequest r;
    r.min_nodes = 2;
    r.name = "job" + std::to_string(i);
    c.requests.set(i, {std::make_shared<const RequestBody>(r), PackedOwn(r), 1});
  }
  auto back = decode_cluster(encode_cluster(c));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->requests.at(1).body, back->requests.at(2).body);
  EXPECT_EQ(back->requests.at(2).own.get(&RequestOwn::name), "job2");
}

TEST(ClusterCodec, LinksJobsToTheSharedRequestAndRebuildsNames) {
  auto back = decode_cluster(encode_cluster(random_cluster(2, 50)));
  ASSERT_TRUE(back);
  back->jobs.for_each([&](uint32_t, const Job& j) { EXPECT_EQ(j.request.get(), back->requests.at(j.request_id.value).body.get()); });
  ASSERT_NE(back->node("n7"), nullptr);
  EXPECT_EQ(back->node("n7")->id, NodeId(7));
  ASSERT_NE(back->partition("p3"), nullptr);
  EXPECT_EQ(back->partition("p3")->index, 3u);
  EXPECT_EQ(back->node("n99"), nullptr);
}

TEST(ClusterCodec, AnEmptyClusterHasAHead) {
  auto chunks = encode_cluster(Cluster{});
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_TRUE(decode_cluster(chunks));
  auto none = decode_cluster({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "Message malformed: snapshot: its head is missing");
}

TEST(ClusterCodec, VolatileStateIsLeftOut) {
  Cluster c = random_cluster(3, 1);
  c.moment.verdicts.set(1000, {.reason = Reason::kPriority});
  c.nodes.edit(0)->connected = true;
  c.nodes.edit(0)->cpu_load = 55;
  auto back = decode_cluster(encode_cluster(c));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->moment.verdicts.empty());
  EXPECT_FALSE(back->nodes.at(0).connected);
  EXPECT_EQ(back->nodes.at(0).cpu_load, 0u);
}

TEST(ClusterCodec, SeesAMissingChunkAndADanglingRequest) {
  Cluster c = random_cluster(4, 2000);
  auto chunks = encode_cluster(c);
  chunks.pop_back();
  auto cut = decode_cluster(chunks);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message().find("it should hold 2000 jobs and holds"), std::string_view::npos);

  Cluster d = random_cluster(5, 1);
  d.jobs.edit(1000)->request_id = RequestId(4);
  auto dangling = decode_cluster(encode_cluster(d));
  ASSERT_FALSE(dangling);
  EXPECT_EQ(dangling.error().message(), "Message malformed: snapshot: job 1000 refers to request 4, which is not there");
}

TEST(ClusterCodec, CorruptionNeverDoesHarm) {
  wire::Random rng(6);
  const auto chunks = encode_cluster(random_cluster(7, 3));
  ASSERT_EQ(chunks.size(), 1u);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    auto broken = chunks;
    for (int n = 0; n < 3; ++n) broken[0][rng.next() % broken[0].size()] = static_cast<char>(rng.next());
    if (!decode_cluster(broken)) ++refused;
    auto cut = chunks;
    cut[0].resize(rng.next() % cut[0].size());
    EXPECT_FALSE(decode_cluster(cut));
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace muster
