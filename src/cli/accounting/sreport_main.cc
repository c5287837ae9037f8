// sreport, which makes no reports yet. sreport(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sreport",
                                   "[OPTIONS] [REPORT]\n\nReports usage from the accounting database: not "
                                   "in this version of Muster yet. sacct shows its jobs.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse_yet(kNoDatabase, "sreport: error: this version of Muster makes no reports yet\n"
                                 "sreport: error: sacct shows the jobs of the accounting database, with what each was given");
}
