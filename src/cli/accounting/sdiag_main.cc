// sdiag: what the controller counted of its own work, as it words it. sdiag(1).
#include "cli/accounting/no_accounting.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"

int main(int argc, char** argv) {
  using namespace muster;
  using namespace muster::cli;
  std::vector<std::string> arguments = arguments_of(argc, argv);
  if (auto code =
          answered_offline("sdiag", "[-a]\n\nShows what the controller did and how long it took.", arguments))
    return *code;
  for (const std::string& a : arguments)
    if (a != "-a" && a != "--all")
      return refuse("sdiag: error: " + a + " is not available in this version of Muster");
  Result<Session> session = Session::find(Patience::kNone);
  if (!session)
    return refuse("sdiag: fatal: " + std::string(session.error().message()) +
                  "\nsdiag: " + session.error().hint);
  rpc::QueryText query;
  query.subject = "diag";
  Result<rpc::Text> text = session->call(query);
  if (!text) {
    show_query_error(text.error(), "sdiag: error: slurm_get_statistics: ");
    return 1;
  }
  Out().put(text->text);
  return 0;
}
