#include "agent/config_download.h"

#include <algorithm>
#include <memory>
#include <set>

#include "net/credential.h"
#include "wire/codec.h"
#include "wire/messages.h"

namespace muster::agent {
namespace {

constexpr int kBeginsAgain = 5;

std::unexpected<Error> not_so(const std::string& what) { return fail(Errc::kConfig, "the configuration that slurmctld sends: " + what); }

Result<> check_manifest(const rpc::ConfigManifest& manifest) {
  if (manifest.files.size() > rpc::kMostConfigFiles)
    return not_so(std::to_string(manifest.files.size()) + " files; at most " + std::to_string(rpc::kMostConfigFiles) + " are taken");
  std::set<std::string_view> names;
  uint64_t bytes = 0;
  for (const rpc::ConfigFile& file : manifest.files) {
    if (!rpc::is_config_name(file.name))
      return not_so("a file has a name that is none: a name beside slurm.conf has no '/' and no dot in front");
    if (!names.insert(file.name).second) return not_so(file.name + " comes twice");
    if (file.size > rpc::kMostConfigFile || (bytes += file.size) > rpc::kMostConfigBytes)
      return not_so(file.name + " has " + std::to_string(file.size) + " bytes; at most " + std::to_string(rpc::kMostConfigFile) +
                    ", and of all files " + std::to_string(rpc::kMostConfigBytes) + ", are taken");
  }
  if (!names.contains("slurm.conf")) return not_so("there is no slurm.conf in it");
  return {};
}

}  // namespace

const FetchedFile* FetchedConfig::find(std::string_view name) const {
  const auto at = std::ranges::find_if(files, [&](const FetchedFile& f) { return f.about.name == name; });
  return at == files.end() ? nullptr : &*at;
}

std::optional<ConfigDownload::Question> ConfigDownload::next() const {
  if (!listed_) return Question{number_of<rpc::FetchConfig>, wire::encoded(rpc::FetchConfig{follow_})};
  if (at_ >= got_.files.size()) return std::nullopt;
  const FetchedFile& file = got_.files[at_];
  return Question{number_of<rpc::FetchConfigFile>, wire::encoded(rpc::FetchConfigFile{got_.version, file.about.name, file.content.size()})};
}

Result<> ConfigDownload::take(const Result<net::Frame>& answer) {
  if (answer) return listed_ ? take_piece(answer->payload) : take_manifest(answer->payload);
  if (!listed_ || answer.error().code != Errc::kTryAgainLater || ++begun_again_ > kBeginsAgain) return std::unexpected(answer.error());
  listed_ = false;
  return {};
}

Result<> ConfigDownload::take_manifest(std::string_view payload) {
  rpc::ConfigManifest manifest;
  MUSTER_TRY_VOID(wire::decode(payload, manifest));
  MUSTER_TRY_VOID(check_manifest(manifest));
  got_ = {};
  got_.version = manifest.version;
  for (rpc::ConfigFile& file : manifest.files) got_.files.push_back({std::move(file), {}});
  listed_ = true;
  at_ = 0;
  skip_what_is_here();
  return {};
}

Result<> ConfigDownload::take_piece(std::string_view payload) {
  rpc::ContentPiece piece;
  MUSTER_TRY_VOID(wire::decode(payload, piece));
  FetchedFile& file = got_.files[at_];
  if (piece.bytes.empty() || file.content.size() + piece.bytes.size() > file.about.size)
    return not_so(file.about.name + " has another size than was said");
  file.content += piece.bytes;
  if (file.content.size() < file.about.size) return {};
  MUSTER_TRY(hash, net::content_hash(file.content));
  if (hash != file.about.hash) return not_so(file.about.name + " has another content than was said");
  ++at_;
  skip_what_is_here();
  return {};
}

// Goes on to the next file that has to be asked for.
void ConfigDownload::skip_what_is_here() {
  for (; at_ < got_.files.size(); ++at_) {
    FetchedFile& file = got_.files[at_];
    const FetchedFile* here = held_.find(file.about.name);
    if (here && here->about.hash == file.about.hash && here->content.size() == file.about.size) file.content = here->content;
    else if (file.about.size > 0) return;
  }
}

Result<FetchedConfig> fetch_config(net::Client& client, FetchedConfig held, Duration timeout) {
  ConfigDownload download(std::move(held));
  while (auto question = download.next()) MUSTER_TRY_VOID(download.take(client.request(question->message, question->payload, timeout)));
  return download.whole();
}

namespace {

struct Fetching {
  Ask ask;
  ConfigDownload download;
  std::function<void(Result<FetchedConfig>)> done;
};

void go_on(const std::shared_ptr<Fetching>& f) {
  auto question = f->download.next();
  if (!question) return f->done(f->download.whole());
  f->ask(question->message, std::move(question->payload), [f](Result<net::Frame> answer) {
    if (auto ok = f->download.take(answer); !ok) return f->done(std::unexpected(ok.error()));
    go_on(f);
  });
}

}  // namespace

void fetch_config(const Ask& ask, FetchedConfig held, bool follow, std::function<void(Result<FetchedConfig>)> done) {
  go_on(std::make_shared<Fetching>(Fetching{ask, ConfigDownload(std::move(held), follow), std::move(done)}));
}

}  // namespace muster::agent
