#include "model/dependency.h"

#include <set>
#include <tuple>

#include "base/text.h"
#include "model/array_spec.h"

namespace muster {
namespace {

constexpr std::string_view kTypes[] = {"after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "singleton"};

std::unexpected<Error> bad(std::string_view piece, std::string why) {
  return fail(Errc::kDependency, {}, "in \"" + std::string(piece.substr(0, 60)) + "\": " + std::move(why));
}

using Key = std::tuple<DependencyType, uint32_t, uint32_t, uint32_t>;

class Parser {
 public:
  Result<> clause(std::string_view text) {
    std::string_view rest = text;
    DependencyType type = DependencyType::kAfterAny;
    if (text.empty()) return bad(text, "a dependency is missing between separators");
    if (text[0] < '0' || text[0] > '9') {
      const size_t colon = text.find(':');
      MUSTER_TRY(t, type_of(text.substr(0, colon)));
      type = t;
      if (type == DependencyType::kSingleton) {
        if (colon != text.npos) return bad(text, "singleton takes no job id");
        return add({.type = type});
      }
      if (colon == text.npos) return bad(text, "a job id is expected, as in afterok:123");
      rest = text.substr(colon + 1);
    }
    for (std::string_view job : split(rest, ':', true)) MUSTER_TRY_VOID(one_job(type, job));
    return {};
  }

  Dependencies take() { return std::move(out_); }
  void any() { out_.any = true; }

 private:
  static Result<DependencyType> type_of(std::string_view name) {
    for (size_t i = 0; i < std::size(kTypes); ++i)
      if (iequals(name, kTypes[i])) return static_cast<DependencyType>(i);
    if (iequals(name, "expand"))
      return fail(Errc::kUnsupported, "Requested operation not supported on this system",
                  "a running job cannot be grown by --dependency=expand; submit a job of the size that is needed");
    return bad(name, "the types are after, afterany, afterok, afternotok, aftercorr, afterburstbuffer, singleton");
  }

  // Reads ID, ID_TASK, ID_[LIST] or ID_*, each with an optional +MINUTES.
  Result<> one_job(DependencyType type, std::string_view text) {
    Dependency dependency{.type = type};
    std::string_view id = text, tasks;
    if (size_t plus = id.find('+'); plus != id.npos) {
      auto minutes = parse_number<uint32_t>(id.substr(plus + 1), 0, 0x7fffffffu);
      if (!minutes) return bad(text, "minutes are expected after '+'");
      dependency.delay_min = *minutes;
      id = id.substr(0, plus);
    }
    if (size_t under = id.find('_'); under != id.npos) {
      tasks = id.substr(under + 1);
      id = id.substr(0, under);
      if (tasks.empty()) return bad(text, "a task id is expected after '_'");
    }
    auto job = parse_number<uint32_t>(id, 1);
    if (!job) return bad(text, "a job id is a whole number from 1");
    dependency.job = JobId(*job);
    if (tasks.empty()) return add(dependency);
    if (tasks == "*") {
      dependency.array_task = kWholeArray;
      return add(dependency);
    }
    return each_task(dependency, tasks, text);
  }

  Result<> each_task(Dependency d, std::string_view tasks, std::string_view text) {
    auto set = parse_array_spec(tasks, kMaxArrayTaskId);
    if (!set || set->max_running) return bad(text, "after '_' stands a task id, a list as in 40_[1-3,7], or *");
    if (set->pending.count() + out_.list.size() > kMaxDependencies) return too_many();
    for (size_t i = set->pending.first(); i != Bitmap::npos; i = set->pending.next(i + 1)) {
      d.array_task = static_cast<uint32_t>(i);
      MUSTER_TRY_VOID(add(d));
    }
    return {};
  }

  Result<> add(const Dependency& d) {
    if (!seen_.insert(Key(d.type, d.job.value, d.array_task, d.delay_min)).second) return {};
    if (out_.list.size() >= kMaxDependencies) return too_many();
    out_.list.push_back(d);
    return {};
  }

  static std::unexpected<Error> too_many() {
    return fail(Errc::kDependency, {}, "at most " + std::to_string(kMaxDependencies) + " dependencies; name a whole array by its id");
  }

  Dependencies out_;
  std::set<Key> seen_;
};

}  // namespace

std::string_view dependency_type_name(DependencyType type) {
  auto i = static_cast<size_t>(type);
  return i < std::size(kTypes) ? kTypes[i] : std::string_view("?");
}

Result<Dependencies> parse_dependencies(std::string_view text) {
  Parser parser;
  if (text.empty()) return parser.take();
  // A comma within brackets separates tasks, not dependencies.
  bool all = false, any = false;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    const bool end = i == text.size();
    if (!end && (depth > 0 || (c != ',' && c != '?'))) continue;
    if (!end) (c == '?' ? any : all) = true;
    MUSTER_TRY_VOID(parser.clause(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (any && all) return bad(text, "only one separator may be used: ',' (all of them) or '?' (any of them)");
  if (any) parser.any();
  return parser.take();
}

std::string format_dependencies(const Dependencies& dependencies) {
  std::string out;
  for (const Dependency& d : dependencies.list) {
    if (d.state == DependencyState::kFulfilled) continue;
    if (!out.empty()) out += dependencies.any ? '?' : ',';
    out += dependency_type_name(d.type);
    if (d.type != DependencyType::kSingleton) {
      out += ':' + std::to_string(d.job.value);
      if (d.array_task == kWholeArray) out += "_*";
      else if (d.array_task != kNoArrayTask) out += '_' + std::to_string(d.array_task);
      if (d.delay_min) out += '+' + std::to_string(d.delay_min);
    }
    out += d.state == DependencyState::kFailed ? "(failed)" : "(unfulfilled)";
  }
  return out;
}

}  // namespace muster
