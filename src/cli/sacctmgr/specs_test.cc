#include "cli/sacctmgr/specs.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using Names = std::vector<std::string>;

// What a line sets, or the error's text.
struct Set {
  EntityChange change;
  std::string wrong, hint;
};
Set set(Entity e, const Names& words) {
  Set out;
  for (const Spec& s : parse_specs(words))
    if (auto done = add_setting(e, s, out.change); !done) {
      out.wrong = std::string(done.error().message());
      out.hint = done.error().hint;
      return out;
    }
  return out;
}
struct Where {
  EntityFilter filter;
  ShowChoices choices;
  std::string wrong, hint;
};
Where where(Entity e, const Names& words) {
  Where out;
  for (const Spec& s : parse_specs(words))
    if (auto done = add_condition(e, s, from_unix(1795252815), out.filter, &out.choices); !done) {
      out.wrong = std::string(done.error().message());
      out.hint = done.error().hint;
      return out;
    }
  return out;
}

TEST(Specs, WordsKnowWhereTheyStand) {
  std::vector<Spec> s = parse_specs(Names{"adam", "cluster=tux", "set", "fairshare=10", "qos+=a,b", "where", "account=x"});
  ASSERT_EQ(s.size(), 5u);
  EXPECT_EQ(s[0].key, "");
  EXPECT_EQ(s[0].value, "adam");
  EXPECT_EQ(s[1].part, Spec::Part::kFirst);
  EXPECT_EQ(s[2].part, Spec::Part::kSet);
  EXPECT_EQ(s[3].key, "qos");
  EXPECT_EQ(s[3].op, ChangeOp::kAdd);
  EXPECT_EQ(s[4].part, Spec::Part::kWhere);
  EXPECT_TRUE(has_set(s));
  EXPECT_EQ(parse_specs(Names{"GrpTRES=mem-=8G,cpu=4"})[0].key, "GrpTRES");
  EXPECT_EQ(parse_specs(Names{"preempt-=x"})[0].op, ChangeOp::kSubtract);
}

TEST(Specs, NamesAtCommas) {
  EXPECT_EQ(split_names("a,b"), (Names{"a", "b"}));
  EXPECT_EQ(split_names("a,'b,c'"), (Names{"a", "b,c"}));
  EXPECT_EQ(split_names("''"), Names{""});
  EXPECT_EQ(split_names(""), Names{});
}

TEST(Specs, TheFourLinesOfTheChecklist) {
  Set account = set(Entity::kAccount, {"Description=Team A", "Organization=research"});
  EXPECT_EQ(account.change.description, "team a") << "kept in lower case";
  EXPECT_EQ(account.change.organization, "research");
  Where user = where(Entity::kUser, {"alice", "Account=team-a"});
  EXPECT_EQ(user.filter.users, Names{"alice"});
  EXPECT_EQ(user.filter.accounts, Names{"team-a"});
  Set qos = set(Entity::kQos, {"GrpTRESMins=gres/gpu=43200"});
  ASSERT_EQ(qos.change.limits.size(), 1u) << qos.wrong;
  EXPECT_EQ(qos.change.limits[0].kind, LimitKind::kGrpTresMins);
  EXPECT_EQ(qos.change.limits[0].tres, "gres/gpu");
  EXPECT_EQ(qos.change.limits[0].value, 43200u);
  Set level = set(Entity::kAccount, {"QOS=team-a-qos"});
  ASSERT_EQ(level.change.qos.size(), 1u);
  EXPECT_EQ(level.change.qos[0].op, ChangeOp::kSet);
  EXPECT_EQ(level.change.qos[0].names, Names{"team-a-qos"});
}

TEST(Specs, LimitsOfEachKind) {
  Set s = set(Entity::kUser, {"fairshare=parent", "MaxWall=1-0", "MaxJobs=-1", "GrpTRES=cpu=10,gres/gpu+=2,mem=32G,node=-1"});
  ASSERT_EQ(s.change.limits.size(), 7u) << s.wrong;
  EXPECT_EQ(s.change.limits[0].value, kSharesOfParent);
  EXPECT_EQ(s.change.limits[1].value, 1440u);
  EXPECT_EQ(s.change.limits[2].op, ChangeOp::kClear);
  EXPECT_EQ(s.change.limits[4].op, ChangeOp::kAdd);
  EXPECT_EQ(s.change.limits[5].value, 32768u);  // MiB
  EXPECT_EQ(s.change.limits[6].op, ChangeOp::kClear);
  Set q =
      set(Entity::kQos, {"gracetime=100", "MaxTRESPerUser=gres/gpu=4", "usagefactor=2.5", "flags+=DenyOnLimit", "preempt=''", "flags=-1"});
  EXPECT_EQ(q.wrong, "");
  EXPECT_EQ(q.change.limits[1].kind, LimitKind::kMaxTresPerUser);
  EXPECT_EQ(q.change.usage_factor, 2.5);
  EXPECT_EQ(q.change.flags[0].op, ChangeOp::kAdd);
  EXPECT_EQ(q.change.flags[1].op, ChangeOp::kClear);
  EXPECT_EQ(q.change.preempt[0].op, ChangeOp::kClear);
  EXPECT_EQ(set(Entity::kUser, {"adminlevel=op"}).change.admin_level, AdminLevel::kOperator);
  EXPECT_EQ(set(Entity::kAccount, {"defaultqos=-1"}).change.default_qos, "");
}

TEST(Specs, FlagsThatAreAskedForAreThoseThatThereAre) {
  EXPECT_EQ(where(Entity::kQos, {"flags=denyonlimit,NoReserve"}).filter.flags, (Names{"DenyOnLimit", "NoReserve"}));
  EXPECT_EQ(where(Entity::kAccount, {"flags=usersarecoords"}).filter.flags, Names{"UsersAreCoords"});
  const Where refused = where(Entity::kAccount, {"flags=foo"});
  EXPECT_EQ(refused.wrong, "Invalid value for flags (foo)");
  EXPECT_EQ(refused.hint, "one of UsersAreCoords");
  EXPECT_EQ(where(Entity::kResource, {"flags=DenyOnLimit"}).hint, "one of Absolute, SharedPool");
}

TEST(Specs, NamesOfOlderReleasesArePartsOfLimits) {
  Set s = set(Entity::kUser, {"GrpCPUs=8", "maxnodes=4", "GrpMem=32G", "MaxCPUMins=100", "maxcpus=-1"});
  ASSERT_EQ(s.change.limits.size(), 5u) << s.wrong;
  using Part = std::tuple<LimitKind, std::string, uint64_t>;
  auto part = [&](size_t i) { return Part(s.change.limits[i].kind, s.change.limits[i].tres, s.change.limits[i].value); };
  EXPECT_EQ(part(0), Part(LimitKind::kGrpTres, "cpu", 8));
  EXPECT_EQ(part(1), Part(LimitKind::kMaxTresPerJob, "node", 4));
  EXPECT_EQ(part(2), Part(LimitKind::kGrpTres, "mem", 32768));
  EXPECT_EQ(part(3), Part(LimitKind::kMaxTresMinsPerJob, "cpu", 100));
  EXPECT_EQ(s.change.limits[4].op, ChangeOp::kClear);
  EXPECT_EQ(set(Entity::kQos, {"MaxNodesPerUser=2"}).change.limits.at(0).kind, LimitKind::kMaxTresPerUser);
}

TEST(Specs, NumbersPastTheLargestAreTheLargest) {
  Set s = set(Entity::kQos, {"MaxTRES=cpu+=30000000000000000000000"});
  ASSERT_EQ(s.change.limits.size(), 1u) << s.wrong;
  EXPECT_EQ(s.change.limits[0].value, 18446744073709551600u);
}

TEST(Specs, SignsBeforeNamesSayWhatTheyDo) {
  Set more = set(Entity::kUser, {"qos=+a,+b"});
  ASSERT_EQ(more.change.qos.size(), 1u) << more.wrong;
  EXPECT_EQ(more.change.qos[0].op, ChangeOp::kAdd);
  EXPECT_EQ(more.change.qos[0].names, (Names{"a", "b"}));
  EXPECT_EQ(set(Entity::kUser, {"qos=-a"}).change.qos.at(0).op, ChangeOp::kSubtract);
  EXPECT_EQ(set(Entity::kUser, {"qos=-1"}).change.qos.at(0).op, ChangeOp::kClear);
}

TEST(Specs, WrongValuesNameFieldValueAndRule) {
  EXPECT_EQ(set(Entity::kUser, {"fairshare=abc"}).wrong, "Invalid value for FairShare (abc)");
  EXPECT_EQ(set(Entity::kUser, {"fairshare=abc"}).hint, "a whole number, parent, or -1 for the default");
  EXPECT_EQ(set(Entity::kAccount, {"grptresmins=cpu"}).wrong, "Invalid value for GrpTRESMins (cpu)");
  EXPECT_EQ(set(Entity::kAccount, {"grptres=cpu=-5"}).wrong, "Invalid value for GrpTRES (-5)");
  EXPECT_EQ(set(Entity::kAccount, {"grptres="}).wrong, "Invalid value for GrpTRES ()");
  EXPECT_EQ(set(Entity::kAccount, {"maxwall=soon"}).wrong, "Invalid value for MaxWall (soon)");
  EXPECT_EQ(set(Entity::kAccount, {"maxjobs=99999999999"}).wrong, "Invalid value for MaxJobs (99999999999)");
  EXPECT_EQ(set(Entity::kUser, {"adminlevel=boss"}).wrong, "Invalid value for AdminLevel (boss)");
  EXPECT_EQ(set(Entity::kQos, {"usagefactor=x"}).wrong, "Invalid value for usagefactor (x)");
  EXPECT_EQ(set(Entity::kAccount, {"description+=x"}).wrong, "description+=x: description takes = alone");
  EXPECT_EQ(where(Entity::kTransaction, {"withassoc=no"}).wrong, "Invalid value for withassoc (no)");
  EXPECT_EQ(where(Entity::kUser, {"withdeleted=0"}).hint, "it stands alone, without a value");
  EXPECT_EQ(*set(Entity::kCluster, {"federation=f"}).change.federation, "f");
  EXPECT_EQ(set(Entity::kFederation, {"clusters-=a,b"}).change.clusters.at(0).op, ChangeOp::kSubtract);
  EXPECT_EQ(set(Entity::kFederation, {"clusters="}).change.clusters.at(0).op, ChangeOp::kClear);
  EXPECT_EQ(where(Entity::kFederation, {"fed1", "clusters=a", "tree"}).filter.federations, Names{"fed1"});
  EXPECT_TRUE(where(Entity::kCluster, {"withfed"}).choices.with_federation);
}

TEST(Specs, UnknownKeysSayWhatWasMeant) {
  Set s = set(Entity::kAccount, {"GrpTREZMins=cpu=1"});
  EXPECT_EQ(s.wrong, " Unknown option: GrpTREZMins=cpu=1\n Use keyword 'where' to modify condition");
  EXPECT_EQ(s.hint, "did you mean GrpTRESMins?");
  EXPECT_EQ(set(Entity::kUser, {"foo=bar"}).hint, "");
  Where w = where(Entity::kAccount, {"foo=bar"});
  EXPECT_EQ(w.wrong, " Unknown condition: foo=bar\n Use keyword 'set' to modify value");
  EXPECT_NE(where(Entity::kAssociation, {"foo"}).wrong, "");
  // A limit that only a QOS has is none of an account.
  EXPECT_NE(set(Entity::kAccount, {"MaxTRESPerUser=cpu=1"}).wrong, "");
}

TEST(Specs, ShowsOwnWords) {
  Where w = where(Entity::kAssociation, {"tree", "account=a,b", "format=account,user", "withsub", "wopl", "withd", "onlyd", "partition="});
  EXPECT_EQ(w.wrong, "");
  EXPECT_TRUE(w.choices.tree && w.choices.without_parent_limits && w.filter.with_sub_accounts && w.filter.with_deleted &&
              w.filter.only_defaults);
  EXPECT_EQ(w.choices.format, "account,user");
  EXPECT_EQ(w.filter.accounts, (Names{"a", "b"}));
  EXPECT_EQ(w.filter.partitions, Names{""});
  EXPECT_FALSE(w.choices.without_parent_info);
  w = where(Entity::kAssociation, {"user=", "wopinfo"});
  EXPECT_EQ(w.filter.users, Names{""}) << "those of accounts";
  EXPECT_TRUE(w.choices.without_parent_info && w.choices.without_parent_limits);
  Where u = where(Entity::kUser, {"u1,u2", "withassoc", "withcoord", "adminlevel=none"});
  EXPECT_EQ(u.filter.users, (Names{"u1", "u2"}));
  EXPECT_TRUE(u.choices.with_associations && u.choices.with_coordinators);
  EXPECT_EQ(u.filter.admin_level, AdminLevel::kNone);
  Where t = where(Entity::kTransaction, {"Action=Add Users", "Start=11/03-10:30:00", "format=Where,Time"});
  EXPECT_EQ(t.wrong, "");
  EXPECT_EQ(t.filter.actions, Names{"Add Users"});
  EXPECT_EQ(where(Entity::kTransaction, {"Action=remove qos"}).filter.actions, Names{"Remove QOS"});
  EXPECT_EQ(where(Entity::kTransaction, {"Action=nosuch"}).wrong, "You gave a bad action 'nosuch'.");
  EXPECT_NE(t.filter.from, kTimeUnset);
  EXPECT_NE(where(Entity::kTransaction, {"Start=soon"}).wrong, "");
}

}  // namespace
}  // namespace muster::cli
