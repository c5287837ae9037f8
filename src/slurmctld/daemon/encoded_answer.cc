#include "slurmctld/daemon/encoded_answer.h"

#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

// The parts of an answer, encoded as they are asked for.
template <class Request>
class EncodedParts final : public net::PartSource {
 public:
  explicit EncodedParts(AnswerInParts<Request> answer) : answer_(std::move(answer)) {}
  bool next(std::string& part) override {
    if (!answer_.next || !answer_.next(part_)) return false;
    wire::encode(part_, part);
    return true;
  }
  Result<std::string> last() override { return wire::encoded(answer_.last); }

 private:
  AnswerInParts<Request> answer_;
  PartOf<Request> part_;
};

}  // namespace

Result<std::unique_ptr<net::PartSource>> encoded_answer(const QueryContext& context, Query query) {
  MUSTER_TRY(answer, query_from(context, std::move(query)));
  return std::visit(
      []<class Request>(AnswerInParts<Request>& a) -> std::unique_ptr<net::PartSource> {
        return std::make_unique<EncodedParts<Request>>(std::move(a));
      },
      answer);
}

}  // namespace muster::slurmctld
