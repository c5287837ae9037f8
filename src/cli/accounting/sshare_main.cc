// sshare without an accounting database. sshare(1).
#include "cli/accounting/no_accounting.h"

int main(int argc, char** argv) {
  using namespace muster::cli;
  if (auto code = answered_offline("sshare",
                                   "[OPTIONS]\n\nShows the shares of accounts and users, which the "
                                   "accounting database holds; this version of Muster does\nnot keep one.",
                                   arguments_of(argc, argv)))
    return *code;
  return refuse(kStorageDisabled);
}
