// `scontrol show licenses`, also as --json. scontrol(1) "licenses". Cost: about 100 bytes a license, appended.
#pragma once

#include <string>

#include "fields/show.h"
#include "fields/tree_sink.h"

namespace muster::fields {

void show_license(const LicenseRow& row, const ShowOptions& options, std::string& out);
void json_license(const LicenseRow& row, TreeSink& sink);

}  // namespace muster::fields
