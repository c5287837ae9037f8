// What Service answers about scripts and environments of jobs: whose they are, and their bytes at their reader's pace.
#include <utility>

#include "slurmdbd/core/names.h"
#include "slurmdbd/daemon/service.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

class ContentSource final : public net::PartSource {
 public:
  ContentSource(sql::Storage& storage, std::vector<int64_t> numbers, ContentKind kind, RecordAudience readers)
      : storage_(storage), numbers_(std::move(numbers)), kind_(kind), readers_(std::move(readers)) {}

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
    out.refused = !readers_.sees(job.uid, job.cluster, job.account);
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
  RecordAudience readers_;
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
  lower_names(query->filter);
  streams_.begin(
      channel, call.id, call.message,
      [this, query, seen_by = audience(call.who, ports_.settings()->private_jobs), readers = audience(call.who, true),
       client = call.channel]() -> Result<std::unique_ptr<net::PartSource>> {
        MUSTER_TRY(numbers, reader_storage_->find_jobs(query->filter, seen_by, [&] { return !client.expired(); }));
        return std::make_unique<ContentSource>(*reader_storage_, std::move(numbers), query->kind, readers);
      },
      when_answered(call), call.who.uid);
  return {};
}

}  // namespace muster::slurmdbd
