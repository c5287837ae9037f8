// sshare, which has no usage to weigh yet. sshare(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sshare",
                                   "[OPTIONS]\n\nShows the shares of accounts and users, which this "
                                   "version of Muster does not work out yet.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse_yet(kStorageDisabled, "sshare: error: this version of Muster works out no fair shares yet\n"
                                      "sshare: error: `sacctmgr show assoc` shows the shares that were set");
}
