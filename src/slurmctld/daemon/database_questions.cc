#include "slurmctld/daemon/database_questions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "wire/messages.h"

namespace muster::slurmctld {

DatabaseQuestions::~DatabaseQuestions() {
  for (const auto& asked : questions_)
    if (asked->channel) asked->channel->close();
}

void DatabaseQuestions::ask(Question question) {
  auto asked = std::make_shared<Asked>();
  asked->question = std::move(question);
  questions_.push_back(std::move(asked));
  begin_more();
}

template <class Which>
void DatabaseQuestions::drop_if(Which which) {
  std::vector<std::shared_ptr<Asked>> gone;
  std::ranges::copy_if(questions_, std::back_inserter(gone), [&](const auto& asked) { return which(asked->question.line); });
  for (const auto& asked : gone) drop(asked);
  begin_more();
}

void DatabaseQuestions::forget(Line line) {
  drop_if([&](const Line& of) { return of == line; });
}

void DatabaseQuestions::forget_all(const net::Channel* connection) {
  drop_if([&](const Line& of) { return of.connection == connection; });
}

// A user who has as many as one may have on the way is passed over, so that nobody waits behind them.
void DatabaseQuestions::begin_more() {
  for (auto at = questions_.begin(); at != questions_.end() && asked_now_ < kMostAtOnce; ++at) {
    const std::shared_ptr<Asked>& asked = *at;
    if (asked->begun) continue;
    size_t& of_user = asked_now_of_[asked->question.user.value];
    if (of_user >= kMostOfUser) continue;
    ++of_user;
    ++asked_now_;
    asked->begun = true;
    asked->way = way_();
    connect(asked);
  }
}

// Tries AccountingStorageHost, then its backup.
void DatabaseQuestions::connect(const std::shared_ptr<Asked>& asked) {
  const Way& way = asked->way;
  if (asked->host >= way.hosts.size()) {
    const std::string where = way.hosts.empty() ? "" : " at " + way.hosts.front() + ":" + std::to_string(way.port);
    loop_.defer([this, ref = Ref(asked), where] {
      if (auto there = ref.lock()) end(there, fail(Errc::kConnectFailed, "Connection refused", "slurmdbd does not answer" + where));
    });
    return;
  }
  net::connect_tcp(loop_, way.hosts[asked->host], way.port, way.security, way.patience,
                   [this, ref = Ref(asked)](Result<net::ChannelPtr> channel) {
                     const auto there = ref.lock();
                     if (!there) return;
                     if (channel) {
                       there->channel = std::move(*channel);
                       return connected(there);
                     }
                     ++there->host;
                     connect(there);
                   });
}

void DatabaseQuestions::connected(const std::shared_ptr<Asked>& asked) {
  asked->channel->request_stream(
      wire::number_of<rpc::Relay>, std::move(asked->question.relay), net::kNoTimeout,
      [this, ref = Ref(asked)](net::Frame part) {
        if (auto there = ref.lock()) pass_on(there, std::move(part.payload));
      },
      [this, ref = Ref(asked)](Result<net::Frame> answer) {
        const auto there = ref.lock();
        if (!there) return;
        if (answer) end(there, std::move(answer->payload));
        else end(there, std::unexpected(answer.error()));
      });
}

// While its asker has enough to read, slurmdbd is not asked for more.
void DatabaseQuestions::pass_on(const std::shared_ptr<Asked>& asked, std::string part) {
  const auto asker = asked->question.asker.lock();
  if (!asker) return;  // its end is told by forget_all()
  asked->question.part(std::move(part));
  if (asker->queued_bytes() <= net::kHighMark) return;
  asked->channel->hold(true);
  asker->when_writable([ref = Ref(asked)] {
    if (auto there = ref.lock(); there && there->channel) there->channel->hold(false);
  });
}

void DatabaseQuestions::end(const std::shared_ptr<Asked>& asked, Result<std::string> answer) {
  asked->question.answered(std::move(answer));
  drop(asked);
  begin_more();
}

// Its channel may be the one whose callback this is: it goes after it.
void DatabaseQuestions::drop(const std::shared_ptr<Asked>& asked) {
  std::list<std::shared_ptr<Asked>> gone;
  gone.splice(gone.end(), questions_, std::ranges::find(questions_, asked));
  Asked& last = *gone.front();
  if (last.begun) {
    --asked_now_;
    const auto of_user = asked_now_of_.find(last.question.user.value);
    if (--of_user->second == 0) asked_now_of_.erase(of_user);
  }
  if (!last.channel) return;
  last.channel->close();
  loop_.defer([channel = std::exchange(last.channel, nullptr)] {});
}

}  // namespace muster::slurmctld
