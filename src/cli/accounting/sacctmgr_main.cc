// sacctmgr without an accounting database. sacctmgr(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sacctmgr",
                                   "[OPTIONS] [COMMAND]\n\nShows and changes accounts, users and limits in "
                                   "the accounting database, which this version of Muster does\nnot keep.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse(kNoDatabase);
}
