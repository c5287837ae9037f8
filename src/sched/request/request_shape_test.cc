#include <gtest/gtest.h>

#include <set>

#include "sched/request/request_shape.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

Shape shape(const JobBuilder& b, const Partition& p = {}, const Params& params = {}) {
  auto s = make_shape(b.request, p, params);
  EXPECT_TRUE(s) << s.error().hint;
  return s ? *s : Shape();
}
Error refused(const JobBuilder& b, const Partition& p = {}, const Params& params = {}) {
  auto s = make_shape(b.request, p, params);
  EXPECT_FALSE(s);
  return s ? Error() : s.error();
}

TEST(Shape, OneTaskPerNodeByDefault) {
  Shape s = shape(a_job());
  EXPECT_EQ(s.min_nodes, 1u);
  EXPECT_EQ(s.max_nodes, 1u);
  EXPECT_EQ(s.num_tasks, 0u);
  EXPECT_EQ(s.tasks_per_node, 1u);
  EXPECT_EQ(s.cpus_per_task, 1u);
}

TEST(Shape, ExtraIsAConstraintWhereTheSiteSaysSo) {
  const JobBuilder job = a_job().with([](JobRequest& r) { r.extra_constraint = "load<0.5"; });
  EXPECT_TRUE(shape(job).extra.empty());
  Params p;
  p.extra_constraints = true;
  EXPECT_FALSE(shape(job, {}, p).extra.empty());
  EXPECT_EQ(refused(a_job().with([](JobRequest& r) { r.extra_constraint = "a note"; }), {}, p).code, Errc::kInvalidExtra);
  EXPECT_NE(shape_key(job.request), shape_key(a_job().request));
  EXPECT_EQ(shape_key(a_job().with([](JobRequest& r) { r.extra = "a note"; }).request), shape_key(a_job().request));
}

TEST(Shape, TasksBoundTheNodes) {
  EXPECT_EQ(shape(a_job().nodes(4).tasks(2)).min_nodes, 2u);
  EXPECT_EQ(shape(a_job().tasks(10).tasks_per_node(4)).min_nodes, 3u);
  EXPECT_EQ(shape(a_job().nodes(2).tasks_per_node(4)).tasks_per_node, 4u);
  EXPECT_TRUE(shape(a_job().nodes(2, 4)).grow);
  Partition p;
  p.max_nodes = 3;
  EXPECT_EQ(shape(a_job().nodes(2, 8), p).max_nodes, 3u);
}

TEST(Shape, GpusGiveTasks) {
  auto per_gpu = [](JobRequest& r) { r.ntasks_per_gpu = 2; };
  EXPECT_EQ(shape(a_job().job_gpus(4).with(per_gpu)).num_tasks, 8u);
  EXPECT_EQ(shape(a_job().gpus(4).with(per_gpu)).tasks_per_node, 8u);
  EXPECT_EQ(shape(a_job().tasks(5).with(per_gpu)).gpus_per_job(), 3u);
  EXPECT_EQ(refused(a_job().with(per_gpu)).code, Errc::kInvalidReq);
  EXPECT_EQ(shape(a_job().job_gpus(6).task_gpus(2)).num_tasks, 3u);
  auto sockets = [](JobRequest& r) { r.tres_per_socket = "gres/gpu:2"; };
  EXPECT_EQ(refused(a_job().with(sockets)).code, Errc::kInvalidReq);
  EXPECT_EQ(shape(a_job().with(sockets).with([](JobRequest& r) { r.sockets_per_node = 2; })).gpus_per_node(), 4u);
}

TEST(Shape, CountsOfGpusRuleEachOtherAndAreNotAdded) {
  Shape s = shape(a_job().gpus(2).job_gpus(4));
  EXPECT_EQ(s.min_nodes, 2u);
  EXPECT_EQ(s.max_nodes, 2u);
  EXPECT_EQ(s.gpus_per_node(), 2u);
  EXPECT_EQ(s.gpus_per_job(), 0u);
  s = shape(a_job().gpus(4).task_gpus(2));
  EXPECT_EQ(s.gpus_per_node(), 4u);
  EXPECT_EQ(s.gpus_per_task(), 0u);
  EXPECT_EQ(s.tasks_per_node, 2u);
  s = shape(a_job().gpus(4).task_gpus(1).tasks(8));
  EXPECT_EQ(s.min_nodes, 2u);
  EXPECT_EQ(s.tasks_per_node, 4u);
  s = shape(a_job().gpus(4).task_gpus(1).job_gpus(8));
  EXPECT_EQ(s.min_nodes, 2u);
  EXPECT_EQ(s.tasks_per_node, 4u);
  EXPECT_EQ(s.num_tasks, 0u);
  EXPECT_EQ(shape(a_job().job_gpus(4).task_gpus(2).tasks(2)).num_tasks, 2u);
  auto sockets = [](JobRequest& r) { r.tres_per_socket = "gres/gpu:2", r.sockets_per_node = 2; };
  EXPECT_EQ(shape(a_job().gpus(4).with(sockets)).gpus_per_node(), 4u);
  EXPECT_EQ(shape(a_job().job_gpus(8).with(sockets)).min_nodes, 2u);
}

TEST(Shape, CountsOfGpusThatCannotAllBeTrueAreRefused) {
  auto hint = [](const JobBuilder& b) { return refused(b).hint; };
  EXPECT_EQ(hint(a_job().gpus(2).job_gpus(3)), "--gpus=3 is no multiple of --gpus-per-node=2");
  EXPECT_EQ(hint(a_job().gpus(2).job_gpus(4).nodes(1)), "--gpus and --gpus-per-node make 2 nodes, which --nodes does not allow");
  EXPECT_EQ(hint(a_job().gpus(2).job_gpus(4).tasks(1)), "--gpus and --gpus-per-node make 2 nodes, more than --ntasks");
  EXPECT_EQ(hint(a_job().gpus(2).task_gpus(1).tasks_per_node(3)),
            "3 tasks with --gpus-per-task=1 on a node need more than --gpus-per-node=2");
  EXPECT_EQ(hint(a_job().job_gpus(4).task_gpus(2).tasks(3)), "--gpus and --gpus-per-task make 2 tasks, and --ntasks says 3");
  EXPECT_EQ(hint(a_job().job_gpus(5).task_gpus(2)), "--gpus is no multiple of --gpus-per-task");
  auto sockets = [](JobRequest& r) { r.tres_per_socket = "gres/gpu:2", r.sockets_per_node = 2; };
  EXPECT_EQ(hint(a_job().gpus(2).with(sockets)),
            "--gpus-per-socket and --sockets-per-node make 4 for each node, and --gpus-per-node says 2");
}

// How the needs read together: "a100:2 l4:2".
std::string typed(const std::vector<GresNeed>& needs) {
  std::string out;
  for (const GresNeed& g : needs) out += (out.empty() ? "" : " ") + g.type + ":" + std::to_string(g.count);
  return out;
}

TEST(Shape, TheTypeOfOneCountOfGpusHoldsForTheOthers) {
  auto job = [](const std::string& gpus) { return [=](JobRequest& r) { r.tres_per_job = gpus; }; };
  auto task = [](const std::string& gpus) { return [=](JobRequest& r) { r.tres_per_task = gpus; }; };
  EXPECT_EQ(typed(shape(a_job().gpus(2).with(job("gres/gpu:a100:4"))).per_node), "a100:2");
  EXPECT_EQ(typed(shape(a_job().gpus(4).with(task("gres/gpu:a100:1"))).per_node), "a100:4");
  EXPECT_EQ(typed(shape(a_job().task_gpus(1).with(job("gres/gpu:a100:2"))).per_task), "a100:1");
  auto sockets = [](JobRequest& r) {
    r.tres_per_node = "gres/gpu:a100:2,gres/gpu:l4:2";
    r.tres_per_socket = "gres/gpu:2";
    r.sockets_per_node = 2;
  };
  EXPECT_EQ(typed(shape(a_job().with(sockets)).per_socket), "a100:1 l4:1");
  Shape s = shape(a_job().gpus(4).with(job("gres/gpu:a100:4,gres/gpu:l4:4")));
  EXPECT_EQ(typed(s.per_node), "a100:2 l4:2");
  EXPECT_EQ(s.max_nodes, 2u);
  s = shape(a_job().gpus(2).tasks(2).with(task("gres/gpu:a100:1,gres/gpu:l4:1")));
  EXPECT_EQ(typed(s.per_node), "a100:1 l4:1");
  EXPECT_EQ(s.min_nodes, 2u);
  EXPECT_EQ(refused(a_job().gpus(3).with(task("gres/gpu:a100:1,gres/gpu:l4:1"))).hint,
            "--gpus-per-node=3 does not go by the types of --gpus-per-task");
}

TEST(Shape, TypesOfGpusThatContradictEachOtherAreRefused) {
  auto of = [](const std::string& job, const std::string& node, const std::string& task) {
    return refused(a_job().with([&](JobRequest& r) { r.tres_per_job = job, r.tres_per_node = node, r.tres_per_task = task; })).hint;
  };
  EXPECT_EQ(of("gres/gpu:a100:2,gres/gpu:l4:2", "gres/gpu:a100:1,gres/gpu:l4:2", ""),
            "--gpus and --gpus-per-node make 1 nodes, and of another type 2");
  EXPECT_EQ(of("gres/gpu:a100:2,gres/gpu:l4:2", "", "gres/gpu:a100:1,gres/gpu:l4:2"),
            "--gpus and --gpus-per-task make 1 tasks, and of another type 2");
}

TEST(Shape, TasksPerNodeAreAMaximumBesideACountOfTasks) {
  EXPECT_EQ(shape(a_job().gpus(2).task_gpus(1).tasks_per_node(4).tasks(2)).tasks_per_node, 2u);
  Shape s = shape(a_job().gpus(4).task_gpus(2).tasks_per_node(4).tasks(8).nodes(4));
  EXPECT_EQ(s.tasks_per_node, 2u);
  EXPECT_EQ(s.min_nodes, 4u);
}

TEST(Shape, NodesNamedBeyondThoseOfTheGpusAreRefused) {
  EXPECT_EQ(refused(a_job().gpus(4).job_gpus(4).nodelist("g[1-2]")).hint,
            "--gpus and --gpus-per-node make 1 nodes, fewer than --nodelist names");
  EXPECT_EQ(shape(a_job().gpus(4).job_gpus(8).nodelist("g[1-2]")).min_nodes, 2u);
  EXPECT_EQ(shape(a_job().gpus(4).job_gpus(4).nodelist("g[1-2]").nodes(1)).max_nodes, 1u);  // a choice among them
}

TEST(Shape, OvercommitIsOfCpusNotOfGpus) {
  auto over = [](JobRequest& r) { r.overcommit = true; };
  EXPECT_EQ(shape(a_job().gpus(2).task_gpus(1).tasks(8).nodes(1).with(over)).tasks_per_node, 2u);
  EXPECT_EQ(shape(a_job().tasks_per_node(4).tasks(8).with(over)).tasks_per_node, 0u);
}

TEST(Shape, MemoryDefaultsAndLimits) {
  Params params;
  EXPECT_EQ(shape(a_job()).memory, MemoryMode::kNone);
  params.memory_consumable = true;
  EXPECT_EQ(shape(a_job(), {}, params).memory, MemoryMode::kAll);
  params.def_mem_per_cpu_mb = 100;
  EXPECT_EQ(shape(a_job(), {}, params).memory, MemoryMode::kPerCpu);
  Partition p;
  p.def_mem_per_node_mb = 500;
  EXPECT_EQ(shape(a_job(), p, params).memory, MemoryMode::kPerNode);
  EXPECT_EQ(shape(a_job(), p, params).mem_mb, 500u);
  EXPECT_EQ(shape(a_job().mem(0), p, params).memory, MemoryMode::kAll);
  p.max_mem_per_node_mb = 800;
  EXPECT_EQ(refused(a_job().mem(900), p, params).code, Errc::kMemoryRequest);
  Partition q;
  q.max_mem_per_cpu_mb = 100;
  Shape more = shape(a_job().mem_per_cpu(250), q, params);  // more CPUs, so that each stays below
  EXPECT_EQ(more.cpus_per_task, 3u);
  EXPECT_LE(more.mem_mb, 100u);
  EXPECT_EQ(refused(a_job().with([](JobRequest& r) { r.mem_per_gpu_mb = 10; })).code, Errc::kInvalidReq);
}

TEST(Shape, HugeWishesDoNotWrapRoundToSmallOnes) {
  Cluster c = a_cluster().nodes(2).layout(1, 4, 2).memory(1000).gres("gpu", "", 4).build();
  Params params;
  params.allocate_cores = params.memory_consumable = true;
  auto never = [&](const JobBuilder& b) { return !can_ever_run(c, params, b.request, 0); };
  EXPECT_TRUE(never(a_job().tasks(1).mem_per_cpu(1ull << 63)));
  EXPECT_TRUE(never(a_job().tasks(1).mem_per_cpu(1ull << 40)));
  EXPECT_TRUE(never(a_job().tasks(1u << 24).cpus_per_task(1u << 24)));
  EXPECT_TRUE(never(a_job().tasks(0xffffffffu)));
  EXPECT_TRUE(never(a_job().nodes(0xffffffffu)));
  EXPECT_TRUE(never(a_job().gres("gpu:4503599627370496")));
  EXPECT_TRUE(never(a_job().gres("gpu:9223372036854775808")));
  EXPECT_TRUE(never(a_job().tasks(1u << 20).with([](JobRequest& r) { r.tres_per_task = "gres/gpu:4503599627370496"; })));
  EXPECT_TRUE(never(a_job().gpus(2).with([](JobRequest& r) { r.cpus_per_gpu = 0xffffffffu; })));
  EXPECT_TRUE(never(a_job().tasks(4).with([](JobRequest& r) { r.ntasks_per_gpu = 0xffffffffu; })));
  EXPECT_TRUE(never(a_job().with([](JobRequest& r) { r.core_spec = 0x80000000u; })));
  EXPECT_TRUE(never(a_job().with([](JobRequest& r) {
    r.tres_per_socket = "gres/gpu:4503599627370496";
    r.sockets_per_node = 0xffffffffu;
  })));
}

TEST(Shape, GpuDefaultsOfThePartition) {
  Partition p;
  p.def_cpu_per_gpu = 4;
  p.def_mem_per_gpu_mb = 1000;
  Shape s = shape(a_job().gpus(2), p);
  EXPECT_EQ(s.cpus_per_gpu, 4u);
  EXPECT_EQ(s.memory, MemoryMode::kPerGpu);
  EXPECT_EQ(shape(a_job().gpus(2).cpus_per_task(2), p).cpus_per_gpu, 0u);
  EXPECT_EQ(shape(a_job(), p).cpus_per_gpu, 0u);
}

TEST(Shape, WhoSharesNodes) {
  Partition p;
  EXPECT_TRUE(shape(a_job().exclusive()).whole);
  p.oversubscribe = OverSubscribe::kExclusive;
  EXPECT_TRUE(shape(a_job(), p).whole);
  p.oversubscribe = OverSubscribe::kYes;
  EXPECT_FALSE(shape(a_job(), p).oversubscribe);
  EXPECT_TRUE(shape(a_job().with([](JobRequest& r) { r.exclusive = Exclusive::kOversubscribe; }), p).oversubscribe);
  p.oversubscribe = OverSubscribe::kForce;
  EXPECT_TRUE(shape(a_job(), p).oversubscribe);
  EXPECT_TRUE(shape(a_job().with([](JobRequest& r) { r.core_spec = 1; })).whole);
  Params linear;
  linear.linear = true;
  EXPECT_TRUE(shape(a_job(), {}, linear).whole);
}

TEST(Shape, APartitionHandsOutItsOwnWay) {
  Params cores;
  cores.allocate_cores = cores.memory_consumable = true;
  auto of = [&](const char* text, const Params& params) {
    Partition p;
    p.select_parameters = text;
    const HandedOut out = handed_out(p, params);
    return std::string(out.sockets ? "sockets" : "units") + (out.memory ? " and memory" : "");
  };
  EXPECT_EQ(of("", cores), "units and memory");
  EXPECT_EQ(of("CR_Core", cores), "units");
  EXPECT_EQ(of("CR_Socket_Memory", cores), "sockets and memory");
  EXPECT_EQ(of("CR_Socket,CR_LLN", cores), "sockets");
  EXPECT_EQ(of("CR_Socket", Params()), "units");  // ignored where single CPUs are handed out
}

TEST(Shape, LabelsKeepNodesAsTheSiteSays) {
  auto keeps = [](const char* label, Exclusive exclusive, Params::ByLabel rule) {
    Params p;
    p.keep_by_label = rule;
    return make_shape(a_job().with([&](JobRequest& r) { r.mcs_label = label, r.exclusive = exclusive; }).request, Partition(), p)
        ->exclusive_label;
  };
  using By = Params::ByLabel;
  EXPECT_TRUE(keeps("red", Exclusive::kMcs, By::kOnDemand));
  EXPECT_FALSE(keeps("red", Exclusive::kDefault, By::kOnDemand));
  EXPECT_TRUE(keeps("red", Exclusive::kDefault, By::kAlways));
  EXPECT_FALSE(keeps("", Exclusive::kDefault, By::kAlways));
  EXPECT_FALSE(keeps("red", Exclusive::kMcs, By::kNever));
}

TEST(Shape, KeysTellShapesApartAndNothingElse) {
  JobBuilder a = a_job().tasks(4).gpus(2), b = a;
  b.request.name = "other";
  b.request.script_hash = "x";
  EXPECT_EQ(shape_key(a.request), shape_key(b.request));
  b.request.num_tasks = 5;
  EXPECT_NE(shape_key(a.request), shape_key(b.request));
  JobBuilder c = a_job().mem(0), d = a_job();
  EXPECT_NE(shape_key(c.request), shape_key(d.request));
}

// Gives one field of a request another value.
struct Changer {
  std::string_view field;
  template <class M>
  void operator()(unsigned, const char* name, M& m) const {
    if (field != name) return;
    if constexpr (std::is_same_v<M, std::string> || TextMember<M>) m = "n1";
    else if constexpr (std::is_same_v<M, std::vector<std::string>>) m = {"n1"};
    else if constexpr (std::is_same_v<M, std::vector<ResourceLimit>>) m.emplace_back().name = "CORE";
    else if constexpr (std::is_same_v<M, WarnSignal>) m.signal = 10;
    else if constexpr (std::is_same_v<M, Time>) m = Time(Duration(1));
    else if constexpr (std::is_same_v<M, Duration>) m = Duration(1);
    else if constexpr (std::is_same_v<M, Uid> || std::is_same_v<M, Gid>) m = M(7);
    else if constexpr (requires { m.emplace(); }) m = 1;
    else m = static_cast<M>(1);
  }
};

TEST(Shape, EachFieldIsPartOfTheKeyOrNoPartOfTheShape) {
  const JobBuilder plain = a_job().tasks(4);
  const RequestBody& body = plain.request;
  const Result<Shape> shape = make_shape(body, Partition(), Params());
  ASSERT_TRUE(shape);
  std::set<std::string_view> left_out(fields_without_shape().begin(), fields_without_shape().end());
  RequestBody::describe(body, [&](unsigned, const char* field, const auto&) {
    RequestBody other = body;
    RequestBody::describe(other, Changer{field});
    ASSERT_NE(other, body) << field;
    EXPECT_EQ(shape_key(other) == shape_key(body), left_out.contains(field)) << field;
    if (!left_out.contains(field)) return;
    const Result<Shape> same = make_shape(other, Partition(), Params());
    ASSERT_TRUE(same) << field;
    EXPECT_EQ(*same, *shape) << field;
  });
}

TEST(Gres, FormsThatUsersWrite) {
  auto one = [](const char* text) { return (*gres_needs(text, "--gres")).at(0); };
  EXPECT_EQ(one("gpu"), (GresNeed{"gpu", "", 1}));
  EXPECT_EQ(one("gpu:2"), (GresNeed{"gpu", "", 2}));
  EXPECT_EQ(one("gres/gpu:a100_3g.20gb:1"), (GresNeed{"gpu", "a100_3g.20gb", 1}));
  EXPECT_EQ(one("gres/gpu:h100"), (GresNeed{"gpu", "h100", 1}));
  EXPECT_EQ(one("bandwidth:4k"), (GresNeed{"bandwidth", "", 4096}));
  EXPECT_EQ(one("gres/gpu=3"), (GresNeed{"gpu", "", 3}));
  EXPECT_EQ(one("gpu:1,gpu:2"), (GresNeed{"gpu", "", 3}));
  EXPECT_TRUE(gres_needs("none", "--gres")->empty());
  EXPECT_TRUE(gres_needs("gpu:0", "--gres")->empty());
  EXPECT_EQ(gres_needs("gpu:a:b:1", "--gres").error().code, Errc::kInvalidGres);
  EXPECT_NE(gres_needs("gpu:a:x", "--gres").error().hint.find("--gres"), std::string::npos);
}

TEST(Features, GrammarOfTheManualPage) {
  std::map<std::string, Bitmap> nodes;
  auto mark = [&](const char* name, std::initializer_list<size_t> of) {
    for (size_t i : of) nodes[name].set(i);
  };
  mark("foo", {0, 1, 4});
  mark("bar", {1, 2, 5});
  mark("baz", {1, 4, 5, 6});
  auto eval = [&](const char* text) {
    auto c = FeatureConstraint::parse(text);
    EXPECT_TRUE(c) << text;
    return eval_features(c->base.at(0), [&](const std::string& n) { return nodes.contains(n) ? &nodes[n] : nullptr; }).to_ranges();
  };
  EXPECT_EQ(eval("foo"), "0-1,4");
  EXPECT_EQ(eval("foo&bar|baz"), "1,4-6");  // left to right
  EXPECT_EQ(eval("foo|bar&baz"), "1,4-5");
  EXPECT_EQ(eval("foo&(bar|baz)"), "1,4");
  EXPECT_EQ(eval("nobody"), "");
  auto counts = FeatureConstraint::parse("[(foo|bar)*1&(baz)*2]");
  ASSERT_TRUE(counts);
  ASSERT_EQ(counts->counts.size(), 2u);
  EXPECT_EQ(counts->counts[1].count, 2u);
  EXPECT_TRUE(FeatureConstraint::parse("foo*4"));
  EXPECT_FALSE(FeatureConstraint::parse("foo*1&baz*1")) << "several counts want brackets: sbatch(1), Multiple Counts";
  EXPECT_EQ(FeatureConstraint::parse("[foo|bar]")->matching.size(), 2u);
  EXPECT_EQ(FeatureConstraint::parse("baz&[foo|bar]")->base.size(), 1u);
  for (const char* bad :
       {"foo&", "&foo", "[foo", "foo)", "(foo", "foo*0", "foo*", "[foo&bar]", "[foo*1|bar*2]", "[a|b]&[c|d]", "foo|[a|b]", "foo bar"})
    EXPECT_FALSE(FeatureConstraint::parse(bad)) << bad;
  EXPECT_FALSE(FeatureConstraint::parse(std::string(100, '(')));
}

TEST(Distribution, Parts) {
  auto d = Distribution::parse("block:cyclic:fcyclic,Pack");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->nodes, Distribution::Nodes::kBlock);
  EXPECT_EQ(d->cores, Distribution::Cpus::kFcyclic);
  EXPECT_TRUE(d->pack);
  EXPECT_EQ(Distribution::parse("plane=4")->plane, 4u);
  EXPECT_EQ(Distribution::parse("*:block")->sockets, Distribution::Cpus::kBlock);
  EXPECT_FALSE(Distribution::parse("plane=0"));
  EXPECT_FALSE(Distribution::parse("block:diagonal"));
  EXPECT_FALSE(Distribution::parse("round"));
}

}  // namespace
}  // namespace muster::sched
