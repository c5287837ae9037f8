// sstat without an accounting database. sstat(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sstat",
                                   "[OPTIONS] -j JOB[.STEP]\n\nShows what running steps use at this moment; it needs "
                                   "job accounting (JobAcctGatherType), which this version\nof Muster does not have.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse("sstat: error: no job accounting is gathered (JobAcctGatherType=jobacct_gather/none)");
}
