// ConfigDownload: how a host without slurm.conf gets the files, as a row of questions and answers, without a connection: first of which files
// the configuration is made, then those that are not here yet, a piece at a time. Everything that comes is checked: names, sizes, the hash of
// each file. model/config_rpc.h has the bounds. fetch_config() asks the questions on a connection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config_rpc.h"
#include "net/client.h"

namespace muster::agent {

struct FetchedFile {
  rpc::ConfigFile about;
  std::string content;
};
struct FetchedConfig {
  std::string version;
  std::vector<FetchedFile> files;
  const FetchedFile* find(std::string_view name) const;
};

class ConfigDownload {
 public:
  struct Question {
    uint16_t message = 0;
    std::string payload;
  };
  // `held`: the files that are here already, which are not asked for again. `follow`: as in rpc::FetchConfig.
  explicit ConfigDownload(FetchedConfig held = {}, bool follow = false) : held_(std::move(held)), follow_(follow) {}

  // nullopt: all of it is here.
  std::optional<Question> next() const;
  // Takes the answer to the last question. Errors: what slurmctld said, or what is wrong with what it sent.
  Result<> take(const Result<net::Frame>& answer);
  FetchedConfig whole() { return std::move(got_); }

 private:
  Result<> take_manifest(std::string_view payload);
  Result<> take_piece(std::string_view payload);
  void skip_what_is_here();

  FetchedConfig held_, got_;
  bool follow_ = false, listed_ = false;
  size_t at_ = 0;        // the file that is asked for
  int begun_again_ = 0;  // the files changed meanwhile
};

// On a connection of a command's kind: blocks.
Result<FetchedConfig> fetch_config(net::Client& client, FetchedConfig held, Duration timeout);

// On a connection of a loop. `ask` sends a request and calls back with its answer or error.
using Ask = std::function<void(uint16_t message, std::string payload, std::function<void(Result<net::Frame>)>)>;
void fetch_config(const Ask& ask, FetchedConfig held, bool follow, std::function<void(Result<FetchedConfig>)> done);

}  // namespace muster::agent
