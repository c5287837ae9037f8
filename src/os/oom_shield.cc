#include "os/oom_shield.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/text.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr char kScore[] = "/proc/self/oom_score_adj";
constexpr int kNever = -17, kOldMost = 15, kMost = 1000;  // the old scale ends in what the new one calls 1000, and -17 is -1000

}  // namespace

std::optional<int> oom_score_of(std::string_view text) {
  const auto given = parse_number<int>(text, -kMost, kMost);
  if (!given || *given < kNever || *given > kOldMost) return given;
  return *given == kOldMost ? kMost : *given * kMost / -kNever;
}

int own_oom_score() {
  const auto text = read_file(kScore, 32);
  return text ? parse_number<int>(trim(*text)).value_or(0) : 0;
}

Result<> set_oom_score(int score) {
  const Fd file(::open(kScore, O_WRONLY | O_CLOEXEC));
  const std::string text = std::to_string(score);
  if (!file || ::write(file.get(), text.data(), text.size()) < 0) return fail_errno(std::string(kScore) + ": " + text);
  return {};
}

Result<> OomShield::raise(int own, int childrens) {
  own_ = own;
  childrens_ = childrens;
  MUSTER_TRY_VOID(set_oom_score(on_their_way_ > 0 ? childrens_ : own_));
  raised_ = true;
  return {};
}

void OomShield::lay_down() {
  if (on_their_way_++ == 0 && raised_) [[maybe_unused]]
    auto ok = set_oom_score(childrens_);
}

void OomShield::take_up() {
  if (--on_their_way_ == 0 && raised_) [[maybe_unused]]
    auto ok = set_oom_score(own_);
}

}  // namespace muster::os
