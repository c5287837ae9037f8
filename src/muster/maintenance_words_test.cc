#include "muster/maintenance_words.h"

#include <gtest/gtest.h>

namespace muster::front {
namespace {

Result<MaintenanceWords> read(std::vector<std::string> words) { return read_maintenance_words(words); }

TEST(MaintenanceWords, StartSaysWhichNodesHowAndHowMany) {
  const auto words = read({"start", "fw", "--nodes", "n[1-4]", "--reboot", "--at-once=2", "--stop-after", "3", "--reason=new firmware"});
  ASSERT_TRUE(words) << words.error().message();
  const auto& start = std::get<rpc::StartMaintenance>(*words);
  EXPECT_EQ(start.name, "fw");
  EXPECT_EQ(start.nodes.text(), "n[1-4]");
  EXPECT_EQ(start.at_once, 2u);
  EXPECT_EQ(start.stop_after, 3u);
  EXPECT_EQ(start.reason, "new firmware");
  EXPECT_EQ(start.power_action, "");
  const auto action = std::get<rpc::StartMaintenance>(*read({"start", "--nodes=n1", "fw", "--run=bmc-cycle"}));
  EXPECT_EQ(action.power_action, "bmc-cycle");
  EXPECT_EQ(action.at_once, 1u) << "one after the other, if nobody says";
  EXPECT_EQ(action.stop_after, 1u);
}

TEST(MaintenanceWords, OthersNameOne) {
  EXPECT_EQ(std::get<rpc::ControlMaintenance>(*read({"pause", "fw"})).order, rpc::MaintenanceOrder::kPause);
  EXPECT_EQ(std::get<rpc::ControlMaintenance>(*read({"continue", "fw"})).order, rpc::MaintenanceOrder::kContinue);
  EXPECT_EQ(std::get<rpc::ControlMaintenance>(*read({"cancel", "fw"})).name, "fw");
  EXPECT_EQ(std::get<MaintenanceShow>(*read({"show"})).name, "");
  EXPECT_TRUE(std::get<MaintenanceShow>(*read({"show", "fw", "--json"})).json);
}

TEST(MaintenanceWords, WhatIsWrongIsNamed) {
  for (const auto& [words, text] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "start, show, pause, continue or cancel"},
           {{"stop", "fw"}, "'stop' is none of"},
           {{"start"}, "the name of the maintenance is missing"},
           {{"start", "fw", "--reboot"}, "--nodes says which"},
           {{"start", "fw", "--nodes=n1"}, "--reboot, or --run"},
           {{"start", "fw", "--nodes=n1", "--reboot", "--run=x"}, "--reboot, or --run"},
           {{"start", "fw", "--nodes=n1", "--run=/bin/sh"}, "the name of a PowerAction"},
           {{"start", "fw", "--nodes=n[1-", "--reboot"}, "--nodes 'n[1-'"},
           {{"start", "fw", "--nodes=n1", "--reboot=now"}, "--reboot takes no value"},
           {{"start", "fw", "--nodes=n1", "--reboot", "--at-once=0"}, "--at-once '0': a number from 1"},
           {{"start", "fw", "--nodes=n1", "--reboot", "--reason=a\nb"}, "--reason: at most"},
           {{"start", "fw", "fx", "--nodes=n1", "--reboot"}, "unexpected word 'fx'"},
           {{"pause", "fw", "--json"}, "unrecognized option '--json'"},
           {{"cancel"}, "the name of the maintenance is missing"},
           {{"start", "fw", "--nodes"}, "--nodes takes a value"}}) {
    const auto got = read(words);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, Errc::kBadOption);
    EXPECT_NE(got.error().message().find(text), std::string_view::npos) << got.error().message();
  }
}

TEST(MaintenanceWords, NodesOfOneFateAreOneLine) {
  rpc::MaintenanceRows rows;
  rpc::MaintenanceRow& row = rows.rows.emplace_back();
  row.maintenance.name = "fw";
  row.maintenance.why = "node n3 failed: it is down";
  row.maintenance.nodes.resize(3);
  for (size_t i = 0; i < 3; ++i) row.maintenance.nodes[i].name = "n" + std::to_string(i + 1);
  row.maintenance.nodes[0].step = row.maintenance.nodes[1].step = MaintenanceStep::kDone;
  row.maintenance.nodes[2].step = MaintenanceStep::kFailed;
  row.maintenance.nodes[2].why = "it is down\x1b[2J";
  const std::string text = to_text(rows, [](Uid) { return "root"; });
  EXPECT_NE(text.find("n[1-2]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("n3: it is down"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "what others wrote does not reach the terminal as it is";
}

}  // namespace
}  // namespace muster::front
