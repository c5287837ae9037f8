// Session: one task's conversation over its PMI_FD, in PMI-1 (lines of `cmd=put key=k value=v`, what MPICH speaks by itself)
// or PMI-2 (`%6d` and `cmd=kvs-put;key=k;value=v;`); the first line says which. Pure: bytes in, bytes and wishes out.
// Spawning and publishing of names are refused. Bounds: 1 MiB unread, keys 256 bytes, values 64 KiB.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/mpi_rpc.h"

namespace muster::mpi_pmi2 {

// The value of PMI_process_mapping in PMI-1 and PMI-2: "(vector,(0,2,4))", runs of (first node, nodes, ranks on each). "" when the ranks do
// not follow the nodes in runs that can be written so.
std::string process_mapping(const std::vector<mpi_rpc::NodeRanks>& nodes);

class Session {
 public:
  struct Ports {
    std::function<void(std::string bytes)> write;
    std::function<void(std::string key, std::string value)> put;
    std::function<std::optional<std::string>(const std::string& key)> get;
    std::function<void(std::string key, std::string value)> put_node;  // seen on this node only
    std::function<std::optional<std::string>(const std::string& key)> get_node;
    std::function<void()> fence;  // fence_over() is its end
    std::function<void(const std::string& text)> abort;
  };
  Session(std::string job, uint32_t rank, uint32_t size, std::string mapping, Ports ports)
      : job_(std::move(job)), rank_(rank), size_(size), mapping_(std::move(mapping)), ports_(std::move(ports)) {}

  // Error: the bytes are neither PMI-1 nor PMI-2; the connection is of no use any more.
  Result<> read(std::string_view bytes);
  void fence_over(bool good);
  void node_attribute_came();  // another task's put_node

 private:
  using Words = std::map<std::string, std::string>;
  Result<> take_commands();
  Result<> one_line(std::string_view line);
  Result<> one_block(std::string_view block);
  void answer1(const std::string& text) { ports_.write(text + "\n"); }
  void answer2(const Words& asked, const std::string& text);
  void kvs1(const std::string& cmd, const Words& words);
  bool jobs_own(const std::string& cmd);
  bool kvs2(const std::string& cmd, const Words& words);
  void info2(const std::string& cmd, const Words& words);
  void value2(const Words& asked, const std::optional<std::string>& value);
  std::optional<std::string> job_attribute(const std::string& key) const;
  bool fits(const std::string& key, const std::string& value) const;

  std::string job_;
  uint32_t rank_, size_;
  std::string mapping_;
  Ports ports_;
  std::string unread_;
  uint32_t version_ = 0;  // 0: not said yet
  bool in_mcmd_ = false;
  std::optional<Words> in_fence_, wants_node_;  // commands that are answered later (PMI-2)
};

}  // namespace muster::mpi_pmi2
