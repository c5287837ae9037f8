// Sends a file to nodes: sbcast, and srun --bcast. The file goes block by block: the next one is read when every node has the last one, so
// no more than one block is held anywhere. Nodes pass blocks on to each other in a tree. On each node the file appears under its name only
// when it is complete, written as the job's owner. sbcast(1), srun(1) --bcast.
#pragma once

#include <string>
#include <vector>

#include "cli/common/node_dial.h"
#include "cli/common/session.h"

namespace muster::cli {

// A node holds a block once for each branch of the tree below it.
inline constexpr uint64_t kUsualBlock = 1u << 20, kLargestBlock = 8u << 20, kSmallestBlock = 4u << 10;

// The nodes to send to, with the controller's credential or on root's own word.
struct FileTargets {
  std::vector<rpc::NodeAddress> nodes;
  std::string credential;
  bool as_caller = false;
};
// The nodes of a job or of one of its steps.
Result<FileTargets> nodes_of_job(Session& session, const rpc::AskCredential& ask);

struct FileToSend {
  std::string source, destination;  // destination: an absolute path
  bool force = false, preserve = false, make_directory = false;
  uint64_t block = kUsualBlock;
  bool lz4 = false;                // blocks are packed on their way
  uint32_t fanout = 16;            // 0: each node is sent to from here
  Duration timeout = seconds(60);  // of a block
};

// Errors: the source cannot be read or is no plain file; a node did not take it ("n3: /x: File exists").
Result<> send_file(const NodeDialer& dialer, const FileTargets& targets, const FileToSend& file);

// The shared libraries that a program is loaded with, without those below the directories in `exclude` ("a,b"; "NONE": all of them). Empty
// for a file that is no dynamic program.
std::vector<std::string> libraries_of(const std::string& program, const std::string& exclude);

// Sends the program, and its libraries into a directory beside it, whose path is returned ("" without libraries).
Result<std::string> send_libraries(const NodeDialer& dialer, const FileTargets& targets, const FileToSend& program,
                                   const std::string& exclude);

// Whether blocks are packed, by --compress, else by the Compression of BcastParameters.
bool wants_lz4(const std::string& compress, const ClientConf& conf);

// The path for DEST as the user names it: below the DestDir of BcastParameters or `directory`; in a directory, the file has the source's
// name.
std::string destination_of(const std::string& source, const std::string& named, const ClientConf& conf, const std::string& directory);

}  // namespace muster::cli
