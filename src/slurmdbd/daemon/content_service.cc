// What Service answers about scripts and environments of jobs: whose they are, and their bytes at their reader's pace.
#include <utility>

#include "slurmdbd/core/names.h"
#include "slurmdbd/daemon/service.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

class ContentSource final : public net::PartSource {
 public:
  using MaySee = std::function<bool(const JobRecord&)>;
  ContentSource(sql::Storage& storage, std::vector<int64_t> numbers, ContentKind kind, MaySee may_see)
      : storage_(storage), numbers_(std::move(numbers)), kind_(kind), may_see_(std::move(may_see)) {}

  bool next(std::string& part) override {
    rpc::ContentPart out;
    const Result<bool> more = make(out);
    if (!more) failed_ = more.error();
    if (!more || !*more) return false;
    wire::encode(out, part);
    return true;
  }
  Result<std::string> last() override {
    if (failed_) return std::unexpected(*failed_);
    return std::string();
  }

 private:
  Result<bool> make(rpc::ContentPart& out) {
    if (!hash_.empty()) {
      MUSTER_TRY(bytes, storage_.content_piece(hash_, piece_++));
      out.bytes = std::move(bytes);
      if (!out.bytes.empty()) return true;
      hash_.clear();
    }
    while (at_ < numbers_.size()) {
      rpc::JobRecords found;
      size_t taken = 0;
      MUSTER_TRY_VOID(storage_.load_jobs(std::span(numbers_).subspan(at_++, 1), false, found, taken));
      if (found.jobs.empty()) continue;  // purged meanwhile
      MUSTER_TRY_VOID(begin(std::move(found.jobs.front()), out));
      return true;
    }
    return false;
  }
  Result<> begin(JobRecord job, rpc::ContentPart& out) {
    out.refused = !may_see_(job);
    if (!out.refused) {
      MUSTER_TRY(kept, storage_.content_of(job, kind_));
      out.size = kept.size;
      out.too_long = !kept.hash.empty() && !kept.whole;
      if (kept.whole) hash_ = kept.hash;
      piece_ = 0;
    }
    out.job = std::move(job);
    return {};
  }

  sql::Storage& storage_;
  std::vector<int64_t> numbers_;
  ContentKind kind_;
  MaySee may_see_;
  size_t at_ = 0;
  std::string hash_;  // of the content that is being answered; "": none
  int64_t piece_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

Result<rpc::Empty> Service::store_content(const rpc::StoreContent& content) {
  MUSTER_TRY_VOID(writer_storage_->store_content(content));
  return rpc::Empty{};
}

// Scripts hold what their writers thought that nobody else reads, passwords even.
Result<> Service::query_content(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  auto query = std::make_shared<rpc::QueryContent>();
  MUSTER_TRY_VOID(wire::decode(payload, *query));
  MUSTER_TRY_VOID(check_lists(query->filter));
  if (query->filter.jobs.empty())
    return fail(Errc::kInvalidArgument, "jobs: none is named; scripts and environments are those of jobs that are named");
  const auto settings = ports_.settings();
  if (settings->private_jobs && !sees_all(call.who)) query->filter.users = {call.who.uid};
  lower_names(query->filter);
  ContentSource::MaySee may_see = [known = directory(), who = call.who, all = sees_all(call.who),
                                   coordinators = settings->coordinators](const JobRecord& job) {
    return all || job.uid == who.uid || (coordinators && coordinates(*known, who.name, job.cluster, job.account));
  };
  streams_.begin(
      channel, call.id, call.message,
      [this, query, may_see = std::move(may_see), client = call.channel]() -> Result<std::unique_ptr<net::PartSource>> {
        MUSTER_TRY(numbers, reader_storage_->find_jobs(query->filter, [&] { return !client.expired(); }));
        return std::make_unique<ContentSource>(*reader_storage_, std::move(numbers), query->kind, may_see);
      },
      when_answered(call), call.who.uid);
  return {};
}

}  // namespace muster::slurmdbd
