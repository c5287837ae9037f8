// The wire format of events and snapshots as a .proto file (proto3), printed from the descriptions, for people and for tools of other
// languages; the product itself does not read it. muster.proto in this folder is its text, kept up to date by a test, so that a change
// of a number is seen in review.
//
// Strings are `bytes`: paths, arguments and environments need not be UTF-8. Enums are uint32 (their names stand in model/). `optional`
// marks members whose absence differs from zero.
#pragma once

#include <string>

namespace muster {

std::string proto_schema();

}  // namespace muster
