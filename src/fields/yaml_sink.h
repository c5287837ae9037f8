// The YAML writer behind TreeSink: block style, texts always in double quotes (JSON's escapes are YAML's).
#pragma once

#include <memory>
#include <string>

#include "fields/tree_sink.h"

namespace muster::fields {

std::unique_ptr<TreeSink> make_yaml_sink(std::string& out);

}  // namespace muster::fields
