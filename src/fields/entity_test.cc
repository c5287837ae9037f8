// sacctmgr's columns as Debian's sacctmgr 22.05 prints them, and those of the manual page.
#include <gtest/gtest.h>

#include "base/documented_test.h"
#include "fields/entity_view.h"
#include "fields/testing.h"

namespace muster::fields {
namespace {

struct EntityTest : testing::Test {
  Environment env = test_environment();
  EntityView view{.env = env};
  TableStyle style;

  std::string print(Entity e, std::string_view columns, bool header = false) {
    Table<EntityView> table(style);
    auto added = table.add(entity_fields(e), columns);
    if (!added) return "unknown " + added.error().text;
    std::string out;
    if (header) table.header(out);
    table.row(view, out);
    return out;
  }
};

TEST_F(EntityTest, Accounts) {
  AccountRecord a;
  a.name = "root";
  a.description = "default root account";
  a.organization = "root";
  view.account = &a;
  EXPECT_EQ(print(Entity::kAccount, entity_default_columns(Entity::kAccount, {}), true),
            "   Account                Descr                  Org \n---------- -------------------- -------------------- \n"
            "      root default root account                 root \n");
  AssociationRecord as;
  as.cluster = "oracle";
  as.user = "alice";
  view.association = &as;
  EXPECT_EQ(print(Entity::kAccount, "account,cluster,user"), "      root     oracle      alice \n");
}

TEST_F(EntityTest, UsersAndTheirLevel) {
  UserRecord u;
  u.name = u.default_account = "root";
  u.admin_level = AdminLevel::kAdministrator;
  view.user = &u;
  EXPECT_EQ(print(Entity::kUser, entity_default_columns(Entity::kUser, {}), true),
            "      User   Def Acct     Admin \n---------- ---------- --------- \n      root       root Administ+ \n");
  u.default_wckey = "grant";
  EntityDefaults tracked;
  tracked.with_wckeys = true;
  EXPECT_EQ(print(Entity::kUser, entity_default_columns(Entity::kUser, tracked), true),
            "      User   Def Acct  Def WCKey     Admin \n---------- ---------- ---------- --------- \n"
            "      root       root      grant Administ+ \n");
}

TEST_F(EntityTest, QosAndItsLimits) {
  QosRecord q;
  q.name = "team-a-qos";
  q.limits = {{LimitKind::kGrpTresMins, "gres/gpu", 43200}, {LimitKind::kMaxWall, "", 60}, {LimitKind::kGraceTime, "", 100}};
  view.qos = &q;
  style.form = TableStyle::Form::kEnded;
  EXPECT_EQ(print(Entity::kQos, "name,grptresmins,priority,gracetime,flags,preempt,usagefactor,preemptmode,maxwall,usagethres", true),
            "Name|GrpTRESMins|Priority|GraceTime|Flags|Preempt|UsageFactor|PreemptMode|MaxWall|UsageThres|\n"
            "team-a-qos|gres/gpu=43200|0|00:01:40|||1.000000|cluster|01:00:00||\n");
  style.form = TableStyle::Form::kAligned;
  EXPECT_EQ(print(Entity::kQos, "name,grptresmins"), "team-a-qos gres/gpu=432+ \n");
}

TEST_F(EntityTest, AssociationsAndTheirTree) {
  AssociationRecord a;
  a.account = "team-a";
  a.user = "alice";
  view.depth = 2;
  a.limits = {{LimitKind::kGrpTres, "gres/gpu", 3}, {LimitKind::kGrpTres, "mem", 32768}, {LimitKind::kGrpTres, "cpu", 10}};
  view.association = &a;
  view.tree = true;
  EXPECT_EQ(print(Entity::kAssociation, "account%-20,user,share,grptres%30", true),
            "Account                    User     Share                        GrpTRES \n"
            "-------------------- ---------- --------- ------------------------------ \n"
            "  team-a                  alice         1      cpu=10,gres/gpu=3,mem=32G \n");
  a.limits = {{LimitKind::kShares, "", kSharesOfParent}};
  view.tree = false;
  EXPECT_EQ(print(Entity::kAssociation, "account,fairshare"), "    team-a    parent \n");
  std::vector<QosRecord> qos(2);
  qos[0].name = "normal";
  qos[0].id = 1;
  qos[1].name = "high";
  qos[1].id = 7;
  a.qos = {"normal", "high"};
  view.all_qos = &qos;
  EXPECT_EQ(print(Entity::kAssociation, "qos,qosraw"), "         high,normal        1,7 \n");
}

TEST_F(EntityTest, Tres) {
  TresRecord t;
  t.type = "gres";
  t.name = "gpu:h100";
  t.id = 1002;
  view.tres = &t;
  EXPECT_EQ(print(Entity::kTres, entity_default_columns(Entity::kTres, {}), true),
            "    Type            Name     ID \n-------- --------------- ------ \n    gres        gpu:h100   1002 \n");
}

TEST_F(EntityTest, DefaultColumnsAreColumns) {
  for (Entity e : {Entity::kAccount, Entity::kUser, Entity::kCluster, Entity::kQos, Entity::kTres, Entity::kWckey, Entity::kTransaction,
                   Entity::kAssociation})
    for (bool all : {false, true}) {
      Table<EntityView> table;
      EXPECT_TRUE(table.add(entity_fields(e), entity_default_columns(e, {all, false, all, all, all}))) << static_cast<int>(e);
    }
}

// The names that stand 7 blanks in, in the section of a listing.
std::vector<std::string> columns_of(const std::string& page, const std::string& section) {
  std::vector<std::string> out;
  const size_t begin = page.find("\n" + section);
  if (begin == page.npos) return out;
  std::istringstream lines(page.substr(begin + 1, page.find("\nSPECIFICATIONS", begin) - begin));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (line[0] != ' ') break;
    if (line.size() < 8 || line.find_first_not_of(' ') != 7) continue;
    std::string word = line.substr(7, line.find(' ', 7) - 7);
    const bool name = line.size() == 7 + word.size() || line.substr(7 + word.size()).starts_with("  ") || word.size() == 6;
    if (!name || !isupper(static_cast<unsigned char>(word[0])) || word.starts_with("With") || word.find(',') != word.npos ||
        word == "FORMAT" || word == "Note" || word == "NOTE:" || word == "Fields")
      continue;
    out.push_back(word);
  }
  return out;
}

TEST(EntityManual, EveryDocumentedColumnIsThere) {
  struct Listing {
    const char *topic, *section;
    Entity entity;
    size_t least;
  };
  for (const Listing& l : {Listing{"account", "LIST/SHOW ACCOUNT FORMAT OPTIONS", Entity::kAccount, 5},
                           {"association", "LIST/SHOW ASSOCIATION FORMAT OPTIONS", Entity::kAssociation, 35},
                           {"qos", "LIST/SHOW QOS FORMAT OPTIONS", Entity::kQos, 50},
                           {"user", "LIST/SHOW USER FORMAT OPTIONS", Entity::kUser, 5},
                           {"transaction", "LIST/SHOW TRANSACTIONS FORMAT OPTIONS", Entity::kTransaction, 5},
                           {"cluster", "LIST/SHOW CLUSTER FORMAT OPTIONS", Entity::kCluster, 12}}) {
    const auto words = documented_names(std::string("sacctmgr.") + l.topic, "man/sacctmgr.1.txt",
                                        [&](const std::string& page) { return columns_of(page, l.section); });
    size_t found = 0;
    for (const std::string& word : words) {
      if (l.entity == Entity::kCluster && word == "ID") continue;  // of federations: Index
      ++found;
      EXPECT_TRUE(find_column(entity_fields(l.entity), word)) << l.section << ": " << word;
    }
    EXPECT_GE(found, l.least) << l.section;
  }
}

}  // namespace
}  // namespace muster::fields
