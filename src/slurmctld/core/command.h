// The requests of commands.def as types. row_of<Request> is a request's row of the table, Command a variant of all requests that the core
// decides (Core::run), CommandAnswer a variant of the core's answers to them, and Query a variant of all requests that are answered from
// a snapshot (query.h).
//
// The core does not get every request as the client sent it: to a job the controller adds what only it knows. DecidedAs<Request> is the
// type that the core is given: a completed JobRequest for SubmitJob and Allocate (its `kind` says for which), several in a HetRequest for
// SubmitHetJob and AllocateHetJob, TestOnly for WillRun, CrontabChange for InstallCrontab, else the request itself.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/job_request.h"
#include "model/messages.h"
#include "slurmctld/core/rights.h"

namespace muster::slurmctld {

enum class CommandKind : uint8_t {
  kChange,   // decided by the core in a turn, which may change its state
  kQuery,    // answered from a snapshot
  kSession,  // answered when something has come to pass, or in notices
  kProcess,  // answered by the daemon, about itself
  kDaemon,   // said by the daemon of a node
};

struct CommandRow {
  const char* name;
  uint16_t number;
  Right first;   // asked before anything else looks at the request
  Right of_job;  // asked for each job that the request means
  CommandKind kind;
};

std::span<const CommandRow> command_rows();  // in the order of the table
// The row of a request by its number on the wire; null: slurmctld serves no such request. O(1).
const CommandRow* command_row(uint16_t number);

// Whether the caller has the right that the row asks for first.
Result<> may_ask(const CommandRow& row, const Rights& rights);

// SubmitHetJob and AllocateHetJob: the components of one job, in order. The `kind` of the first says which it is.
struct HetRequest {
  std::vector<JobRequest> components;
};

struct TestOnly {  // WillRun: whether the job would be accepted
  JobRequest request;
};

struct CrontabChange {  // InstallCrontab
  struct Entry {
    CronText times;
    uint32_t first_line = 0, last_line = 0;
    JobRequest request;
  };
  Uid user{};
  std::string text;
  std::vector<Entry> entries;
  Caller who;  // who installs it, as the connection proved it
};
struct CrontabOutcome : rpc::CrontabInstalled {
  std::optional<Error> refused;  // a limit let some of the jobs in and not all: nothing is installed
};

namespace command_detail {

template <class Request>
struct Row;
#define MUSTER_COMMAND(request, first, of_job, kind, handler)                                                            \
  template <>                                                                                                            \
  struct Row<rpc::request> {                                                                                             \
    static constexpr CommandRow kRow{#request, number_of<rpc::request>, Right::first, Right::of_job, CommandKind::kind}; \
  };
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
template <>
struct Row<JobRequest> : Row<rpc::SubmitJob> {};
template <>
struct Row<HetRequest> : Row<rpc::SubmitHetJob> {};
template <>
struct Row<TestOnly> : Row<rpc::WillRun> {};
template <>
struct Row<CrontabChange> : Row<rpc::InstallCrontab> {};

template <class Request>
struct Decided {
  using Type = Request;
};
template <>
struct Decided<rpc::SubmitJob> {
  using Type = JobRequest;
};
template <>
struct Decided<rpc::Allocate> {
  using Type = JobRequest;
};
template <>
struct Decided<rpc::SubmitHetJob> {
  using Type = HetRequest;
};
template <>
struct Decided<rpc::AllocateHetJob> {
  using Type = HetRequest;
};
template <>
struct Decided<rpc::WillRun> {
  using Type = TestOnly;
};
template <>
struct Decided<rpc::InstallCrontab> {
  using Type = CrontabChange;
};

template <class Decided>
struct Answer {
  using Type = AnswerTo<Decided>;
};
template <>
struct Answer<JobRequest> {
  using Type = rpc::JobSubmitted;
};
template <>
struct Answer<HetRequest> {
  using Type = rpc::JobSubmitted;
};
template <>
struct Answer<TestOnly> {
  using Type = rpc::Empty;
};
template <>
struct Answer<CrontabChange> {
  using Type = CrontabOutcome;
};

}  // namespace command_detail

template <class Request>
inline constexpr const CommandRow& row_of = command_detail::Row<Request>::kRow;
template <class Request>
using DecidedAs = typename command_detail::Decided<Request>::Type;
template <class Decided>
using DecidedAnswer = typename command_detail::Answer<Decided>::Type;

namespace command_detail {

// Builds variants that hold each type once, in the order of the table.
template <class Variant, class T>
struct With;
template <class... Ts, class T>
struct With<std::variant<Ts...>, T> {
  using Type = std::conditional_t<(std::is_same_v<Ts, T> || ...), std::variant<Ts...>, std::variant<Ts..., T>>;
};

template <class Commands, class Answers, class Queries, class... Requests>
struct Collect {
  using Command = Commands;
  using CommandAnswer = Answers;
  using Query = Queries;
};
template <class Commands, class Answers, class Queries, class Request, class... More>
requires(row_of<Request>.kind == CommandKind::kChange) struct Collect<Commands, Answers, Queries, Request, More...>
    : Collect<typename With<Commands, DecidedAs<Request>>::Type, typename With<Answers, DecidedAnswer<DecidedAs<Request>>>::Type, Queries,
              More...> {
};
template <class Commands, class Answers, class Queries, class Request, class... More>
requires(row_of<Request>.kind == CommandKind::kQuery) struct Collect<Commands, Answers, Queries, Request, More...>
    : Collect<Commands, Answers, typename With<Queries, Request>::Type, More...> {
};
template <class Commands, class Answers, class Queries, class Request, class... More>
struct Collect<Commands, Answers, Queries, Request, More...> : Collect<Commands, Answers, Queries, More...> {};

template <class Ignored, class... Requests>
struct Table : Collect<std::variant<>, std::variant<>, std::variant<>, Requests...> {};
using Whole = Table<void
#define MUSTER_COMMAND(request, first, of_job, kind, handler) , rpc::request
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
                    >;

}  // namespace command_detail

using Command = command_detail::Whole::Command;
using CommandAnswer = command_detail::Whole::CommandAnswer;
using Query = command_detail::Whole::Query;

// Clang works out what a call of Core::run with any command would return before it sees that the other overload is meant.
template <>
struct command_detail::Answer<Command> {
  using Type = CommandAnswer;
};

}  // namespace muster::slurmctld
