#include "model/distribution.h"

#include "base/text.h"

namespace muster {
namespace {

Result<Distribution::Cpus> cpu_part(std::string_view word, std::string_view text) {
  if (word.empty() || word == "*") return Distribution::Cpus::kDefault;
  if (iequals(word, "block")) return Distribution::Cpus::kBlock;
  if (iequals(word, "cyclic")) return Distribution::Cpus::kCyclic;
  if (iequals(word, "fcyclic")) return Distribution::Cpus::kFcyclic;
  return fail(Errc::kInvalidReq, {},
              "--distribution=" + std::string(text) + ": \"" + std::string(word) + "\" is none of block, cyclic, fcyclic, *");
}

}  // namespace

Result<Distribution> Distribution::parse(std::string_view text) {
  Distribution out;
  std::vector<std::string_view> by_comma = split(text, ',');
  for (size_t i = 1; i < by_comma.size(); ++i) {
    if (iequals(by_comma[i], "pack")) out.pack = true;
    else if (iequals(by_comma[i], "nopack")) out.no_pack = true;
    else return fail(Errc::kInvalidReq, {}, "--distribution=" + std::string(text) + ": expected Pack or NoPack");
  }
  if (by_comma.empty()) return out;
  std::vector<std::string_view> parts = split(by_comma[0], ':', true);
  if (parts.size() > 3) return fail(Errc::kInvalidReq, {}, "--distribution=" + std::string(text) + ": too many parts");
  std::string_view first = parts.empty() ? std::string_view() : parts[0];
  if (iequals(first, "pack")) out.pack = true;
  else if (iequals(first, "nopack")) out.no_pack = true;
  else if (iequals(first, "block")) out.nodes = Distribution::Nodes::kBlock;
  else if (iequals(first, "cyclic")) out.nodes = Distribution::Nodes::kCyclic;
  else if (iequals(first, "arbitrary")) out.nodes = Distribution::Nodes::kArbitrary;
  else if (istarts_with(first, "plane=")) {
    auto n = parse_number<uint32_t>(first.substr(6), 1, 1u << 24);
    if (!n) return fail(Errc::kInvalidReq, {}, "--distribution=" + std::string(text) + ": the plane size is no count");
    out.nodes = Distribution::Nodes::kPlane;
    out.plane = *n;
  } else if (!first.empty() && first != "*") {
    return fail(
        Errc::kInvalidReq, {},
        "--distribution=" + std::string(text) + ": \"" + std::string(first) + "\" is none of block, cyclic, plane=size, arbitrary, *");
  }
  if (parts.size() > 1) {
    MUSTER_TRY(sockets, cpu_part(parts[1], text));
    out.sockets = sockets;
  }
  if (parts.size() > 2) {
    MUSTER_TRY(cores, cpu_part(parts[2], text));
    out.cores = cores;
  }
  return out;
}

}  // namespace muster
