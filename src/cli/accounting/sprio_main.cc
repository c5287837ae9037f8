// sprio: the priorities of pending jobs. So far only the controller knows their factors, so the sum is shown. sprio(1).
#include "cli/accounting/no_accounting.h"
#include "cli/common/print_environment.h"
#include "cli/common/request_table.h"
#include "cli/common/session.h"
#include "fields/format.h"

namespace {

using namespace muster;
using namespace muster::cli;

int list(Session& session, bool header) {
  rpc::QueryJobs query;
  query.filter.states = 1u << static_cast<unsigned>(JobState::kPending);
  query.parts = kRowRequest;
  auto format = fields::parse_format<fields::JobView>("%.15i %9P %.8u %.10Q").format;
  Names names;
  fields::Environment env = print_environment(session.conf(), {}, names);
  RequestTable requests;
  Out out;
  if (Result<> there = session.connect(); !there) {
    show_query_error(there.error(), "Couldn't get priority factors from controller: ");
    return 1;
  }
  if (header) format.header(out.buffer());
  Result<rpc::Empty> done = session.stream(query, [&](rpc::JobRows&& part) -> Result<> {
    requests.add(part);
    for (const JobRow& row : part.jobs) format.row({row, requests.of(row), env}, out.buffer());
    out.put("");
    return {};
  });
  out.flush();
  if (done) return 0;
  show_query_error(done.error(), "Couldn't get priority factors from controller: ");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments = arguments_of(argc, argv);
  if (auto code = answered_offline("sprio", "[--noheader]\n\nShows the priorities of pending jobs.", arguments)) return *code;
  for (const std::string& a : arguments)
    if (a != "--noheader") return refuse("sprio: error: " + a + " is not available in this version of Muster");
  Result<Session> session = Session::find(Patience::kNone);
  if (!session) return refuse("sprio: fatal: " + std::string(session.error().message()) + "\nsprio: " + session.error().hint);
  if (!session->conf().multifactor)
    return refuse("sprio: error: You are not running a supported priority plugin\n(priority/basic).\nOnly "
                  "'priority/multifactor' is supported.");
  return list(*session, arguments.empty());
}
