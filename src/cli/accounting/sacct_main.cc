// sacct without an accounting database. sacct(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sacct",
                                   "[OPTIONS]\n\nShows what the accounting database recorded of jobs and "
                                   "steps. This version of Muster keeps no such\ndatabase; squeue and "
                                   "scontrol show job tell of jobs until MinJobAge after their end.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse(kStorageDisabled);
}
