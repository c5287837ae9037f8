// For tests of the launcher: a node made of sockets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "net/channel.h"
#include "net/loop.h"
#include "net/notify.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::cli {

// A slurmd with the slurmstepd of the step. What it does with a launch is up to the test.
class FakeNode {
 public:
  FakeNode(net::Loop& loop, std::string name, const std::string& socket, std::vector<uint32_t> ranks)
      : name(std::move(name)), ranks(std::move(ranks)), loop_(loop) {
    auto listener = net::listen_unix(loop_, socket, [this](net::ChannelPtr c) {
      c->on_request = [this, raw = c.get()](net::Frame f) { on_request(*raw, f); };
      slurmd_.push_back(std::move(c));
    });
    EXPECT_TRUE(listener) << listener.error().message();
    if (listener) listener_ = std::move(*listener);
  }
  // Says hello as slurmstepd does; `stream` is there when that has been sent.
  void connect(std::string key = {}) {
    stream = nullptr;
    net::connect_unix(loop_, io.path, [this, key](Result<net::ChannelPtr> c) {
      ASSERT_TRUE(c) << c.error().message();
      stream = *c;
      stream->on_request = [this](net::Frame f) { on_stream(f); };
      stream->on_closed = [this](const Error&) { closed = true; };
      net::notify(*stream, step_rpc::IoHello{key.empty() ? io.key : key, name, ranks});
    });
  }
  void answer() { asker_->answer(asked_, message_, wire::encoded(rpc::StepLaunched{1})); }
  void refuse(const std::string& why) { asker_->answer_error(asked_, Error(Errc::kError, why)); }
  void run() {
    connect();
    answer();
  }
  template <class M>
  void say(const M& m) {
    net::notify(*stream, m);
  }
  void write(uint32_t rank, std::string text) { say(step_rpc::IoData{rank, 1, false, std::move(text)}); }
  // All tasks with this status, and the end of the stream.
  void end(int32_t status = 0) {
    step_rpc::TasksEnded m;
    for (uint32_t rank : ranks) m.tasks.push_back({rank, status, {}});
    say(m);
    say(step_rpc::StreamEnd{});
  }
  void crash() { stream->close(); }
  void stop_slurmd() {
    asker_ = nullptr;
    for (const net::ChannelPtr& c : slurmd_) c->close();
    slurmd_.clear();
  }
  bool asked_to_end() const {
    return std::ranges::any_of(signals, [](const step_rpc::IoSignal& m) { return m.end; });
  }

  const std::string name;
  const std::vector<uint32_t> ranks;
  std::function<void(FakeNode&)> on_launch = &FakeNode::run;
  int launches = 0;
  std::string credential;
  rpc::StepIo io;
  net::ChannelPtr stream;
  std::vector<step_rpc::IoSignal> signals;
  std::vector<std::string> letters;
  std::vector<uint32_t> lost;
  std::string input;  // "<end>" behind it when it ended
  bool closed = false, takes_input = true;

 private:
  void on_request(net::Channel& from, const net::Frame& f) {
    asker_ = &from;
    asked_ = f.id;
    message_ = f.message;
    ++launches;
    if (f.message == wire::number_of<rpc::AttachTasks>) {
      rpc::AttachTasks m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      credential = m.credential;
      io = m.io;
    } else {
      rpc::LaunchStep m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      ASSERT_EQ(m.node, name);
      credential = m.credential;
      io = m.io;
    }
    on_launch(*this);
  }
  void on_stream(const net::Frame& f) {
    if (f.message == step_rpc::IoSignal::kNumber) {
      ASSERT_TRUE(wire::decode(f.payload, signals.emplace_back()));
    } else if (f.message == step_rpc::IoData::kNumber) {
      step_rpc::IoData m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      input += m.data + (m.end ? "<end>" : "");
      if (takes_input) say(step_rpc::IoTaken{m.data.size()});
    } else if (f.message == mpi_rpc::NodeLetter::kNumber) {
      mpi_rpc::NodeLetter m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      letters.push_back(std::to_string(m.from) + ": " + m.content);
    } else if (f.message == mpi_rpc::NodesLost::kNumber) {
      mpi_rpc::NodesLost m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      lost = m.nodes;
    }
  }

  net::Loop& loop_;
  std::unique_ptr<net::Listener> listener_;
  std::vector<net::ChannelPtr> slurmd_;
  net::Channel* asker_ = nullptr;
  uint64_t asked_ = 0;
  uint16_t message_ = 0;
};

}  // namespace muster::cli
