#include "cli/sbcast/send_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/credential.h"
#include "os/error.h"
#include "os/process.h"
#include "wire/instances.h"
#include "wire/lz4_block.h"
#include "wire/messages.h"

namespace muster::cli {
namespace {

constexpr Duration kLddTime = seconds(20);

std::string base_name(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// The members that are the same in every block of the file.
Result<rpc::SendFile> first_block(const FileTargets& targets, const FileToSend& file, int fd) {
  struct stat st;
  if (::fstat(fd, &st) < 0) return os::fail_errno(file.source);
  if (!S_ISREG(st.st_mode)) return fail(Errc::kInvalidArgument, file.source + ": only plain files can be sent");
  rpc::SendFile message;
  MUSTER_TRY(id, net::random_key());
  message.transfer = id;
  message.credential = targets.credential;
  message.as_caller = targets.as_caller;
  message.path = file.destination;
  message.force = file.force;
  message.make_directory = file.make_directory;
  message.size = static_cast<uint64_t>(st.st_size);
  message.mode = st.st_mode & 0777;
  if (file.preserve) {
    message.access_time = st.st_atim.tv_sec;
    message.change_time = st.st_mtim.tv_sec;
  }
  return message;
}

Result<std::string> read_block(int fd, const std::string& name, uint64_t size) {
  std::string out(size, '\0');
  size_t got = 0;
  while (got < size) {
    ssize_t n = ::read(fd, out.data() + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os::fail_errno(name);
    if (n == 0) return fail(Errc::kError, name + ": it became shorter while it was sent");
    got += static_cast<size_t>(n);
  }
  return out;
}

void set_data(rpc::SendFile& m, std::string plain, bool pack) {
  std::string packed = pack ? wire::lz4_packed(plain) : std::string();
  m.lz4 = !packed.empty();
  m.plain_size = m.lz4 ? static_cast<uint32_t>(plain.size()) : 0;
  m.data = m.lz4 ? std::move(packed) : std::move(plain);
}

// The node to begin a tree with: a node of this host, if there is one, because its slurmd is nearest.
size_t nearest(const NodeDialer& dialer, const std::vector<rpc::NodeAddress>& nodes) {
  for (size_t i = 0; i < nodes.size(); ++i)
    if (dialer.is_local(nodes[i].name)) return i;
  return 0;
}

// Splits a node's "/data/x: Permission denied": what is wrong comes first, as Slurm says it; the whole text is the hint.
Error told_by(const std::string& node, const std::string& text) {
  const size_t what = text.rfind(": ");
  if (what == std::string::npos) return Error(Errc::kError, "REQUEST_FILE_BCAST(" + node + "): " + text);
  return Error(Errc::kError, "REQUEST_FILE_BCAST(" + node + "): " + text.substr(what + 2), text);
}

// Sends one block to all nodes; returns when each has answered.
Result<> send_block(const NodeDialer& dialer, const FileTargets& targets, const FileToSend& file, rpc::SendFile message) {
  net::Loop loop;
  Result<> result;
  size_t open = 0;
  auto send = [&](const rpc::NodeAddress& to) {
    NodeRequest ask;
    ask.node = to;
    ask.message = wire::number_of<rpc::SendFile>;
    ask.any_slurmd = true;
    ask.timeout = file.timeout;
    wire::encode(message, ask.payload);
    ++open;
    ask_node(loop, dialer, std::move(ask), [&, name = to.name](Result<net::Frame> r) {
      rpc::FileSent sent;
      Result<> ok;
      if (r) ok = wire::decode(r->payload, sent);
      else ok = fail(r.error().code, name + ": " + std::string(r.error().message()));
      if (ok && !sent.faults.empty()) ok = std::unexpected(told_by(sent.faults[0].node, sent.faults[0].text));
      if (!ok && result) result = ok;
      if (--open == 0) loop.stop();
    });
  };
  if (file.fanout == 0) {
    for (const rpc::NodeAddress& n : targets.nodes) {
      message.nodes = {n.name};
      send(n);
    }
  } else {
    message.fanout = file.fanout;
    size_t first = nearest(dialer, targets.nodes);
    message.nodes.push_back(targets.nodes[first].name);
    for (size_t i = 0; i < targets.nodes.size(); ++i)
      if (i != first) message.nodes.push_back(targets.nodes[i].name);
    send(targets.nodes[first]);
  }
  loop.run();
  return result;
}

bool below_one_of(const std::string& path, const std::string& directories) {
  if (iequals(directories, "NONE")) return false;
  for (std::string_view d : split(directories, ',')) {
    d = trim(d);
    while (d.ends_with('/')) d.remove_suffix(1);
    if (!d.empty() && path.starts_with(d) && path.size() > d.size() && path[d.size()] == '/') return true;
  }
  return false;
}

}  // namespace

Result<FileTargets> nodes_of_job(Session& session, const rpc::AskCredential& ask) {
  MUSTER_TRY(allowed, session.call(ask));
  FileTargets out;
  out.credential = allowed.credential;
  for (const rpc::StepNode& n : allowed.nodes) out.nodes.push_back(n.address);
  return out;
}

Result<> send_file(const NodeDialer& dialer, const FileTargets& targets, const FileToSend& file) {
  if (targets.nodes.empty()) return fail(Errc::kInvalidNodeName, "there is no node to send to");
  os::Fd fd(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(Errc::kNotFound, "Can't open `" + file.source + "`: " + strerror(errno));
  MUSTER_TRY(m, first_block(targets, file, fd.get()));
  uint64_t block = std::clamp(file.block, kSmallestBlock, kLargestBlock);
  do {
    MUSTER_TRY(data, read_block(fd.get(), file.source, std::min(block, m.size - m.offset)));
    uint64_t sent = data.size();
    set_data(m, std::move(data), file.lz4);
    MUSTER_TRY_VOID(send_block(dialer, targets, file, m));
    m.offset += sent;
  } while (m.offset < m.size);
  return {};
}

std::vector<std::string> libraries_of(const std::string& program, const std::string& exclude) {
  os::SpawnSpec spec;
  spec.path = "ldd";
  spec.argv = {"ldd", program};
  std::vector<std::string> out;
  auto said = os::run_captured(std::move(spec), kLddTime);
  if (!said || !said->status.ok()) return out;
  for (std::string_view line : split(said->output, '\n')) {
    size_t arrow = line.find("=> /");
    if (arrow == std::string_view::npos) continue;
    std::string_view path = line.substr(arrow + 3);
    std::string name(path.substr(0, path.find(" (")));
    if (!below_one_of(name, exclude)) out.push_back(std::move(name));
  }
  return out;
}

Result<std::string> send_libraries(const NodeDialer& dialer, const FileTargets& targets, const FileToSend& program,
                                   const std::string& exclude) {
  std::vector<std::string> libraries = libraries_of(program.source, exclude);
  if (libraries.empty()) return std::string();
  std::string directory = program.destination + "_libs";
  for (const std::string& library : libraries) {
    FileToSend one = program;
    one.source = library;
    one.destination = directory + "/" + base_name(library);
    one.make_directory = true;
    MUSTER_TRY_VOID(send_file(dialer, targets, one));
  }
  return directory;
}

bool wants_lz4(const std::string& compress, const ClientConf& conf) {
  std::string_view wanted = compress;
  for (std::string_view item : split(conf.bcast_parameters, ','))
    if (wanted.empty() && istarts_with(trim(item), "Compression=")) wanted = trim(item).substr(12);
  return iequals(wanted, "lz4");
}

std::string destination_of(const std::string& source, const std::string& named, const ClientConf& conf, const std::string& directory) {
  std::string out = named;
  if (!out.starts_with('/')) {
    std::string below = directory;
    for (std::string_view item : split(conf.bcast_parameters, ','))
      if (istarts_with(trim(item), "DestDir=")) below = trim(item).substr(8);
    out = below + "/" + out;
  }
  if (out.ends_with('/')) out += base_name(source);
  return out;
}

}  // namespace muster::cli
