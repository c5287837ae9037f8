// sackd: the daemon of login hosts. sackd(8).
#include "sackd/sackd.h"

int main(int argc, char** argv) { return muster::sackd::run_sackd(argc, argv); }
