#include "model/gpu_readings.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

std::string one_line(std::string_view text) {
  std::string out(text.substr(0, 200));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return out;
}

template <class T>
std::string word(const char* name, const std::optional<T>& value) {
  return value ? std::string(" ") + name + "=" + std::to_string(static_cast<uint64_t>(*value)) : std::string();
}

std::optional<GpuLink> link_of(std::string_view text) {
  const auto parts = split(text, ':', true);
  if (parts.size() != 3) return std::nullopt;
  const auto number = parse_number<uint32_t>(parts[0], 0, GpuReadings::kMostLinks - 1), active = parse_number<uint32_t>(parts[1], 0, 1);
  const auto errors = parse_number<uint64_t>(parts[2]);
  if (!number || !active || !errors) return std::nullopt;
  return GpuLink{*number, *active == 1, *errors};
}

// A word "name=value" of a card's line.
bool take_word(std::string_view text, GpuReading& card) {
  const size_t at = text.find('=');
  if (at == text.npos) return false;
  const std::string_view name = text.substr(0, at), value = text.substr(at + 1);
  if (name == "links") {
    for (std::string_view part : split(value, ',', true)) {
      const auto link = card.links.size() < GpuReadings::kMostLinks ? link_of(part) : std::nullopt;
      if (!link) return false;
      card.links.push_back(*link);
    }
    return true;
  }
  const auto number = parse_number<uint64_t>(value);
  if (!number) return false;
  if (name == "ecc") card.ecc = *number;
  else if (name == "ecc_lifetime") card.ecc_lifetime = *number;
  else if (name == "retirement_pending") card.retirement_pending = *number != 0;
  else if (name == "remap_pending") card.remap_pending = *number != 0;
  else if (name == "remap_failed") card.remap_failed = *number != 0;
  else if (name == "throttled") card.throttled = *number;
  else return false;
  return true;
}

template <class T>
bool take_number(std::string_view text, T& out) {
  const auto number = parse_number<T>(text);
  if (number) out = *number;
  return number.has_value();
}

bool take_xid(const std::vector<std::string_view>& words, GpuReadings& out) {
  if (out.xids.size() == GpuReadings::kMostXids) return false;
  GpuXid& xid = out.xids.emplace_back();
  return take_number(words[1], xid.minor) && take_number(words[2], xid.record) && take_number(words[3], xid.number);
}

bool take_line(std::string_view line, GpuReadings& out) {
  if (line.starts_with("fault ")) {
    out.fault = one_line(line.substr(6));
    return true;
  }
  const auto words = split(line, ' ', true);
  if (words.size() == 2 && words[0] == "log") return take_number(words[1], out.log_end);
  if (words.size() == 4 && words[0] == "xid") return take_xid(words, out);
  const auto minor = words.size() >= 2 ? parse_number<uint32_t>(words[1], 0, 65535) : std::nullopt;
  if (!minor || out.cards.size() == GpuReadings::kMostCards) return false;
  GpuReading& card = out.cards.emplace_back();
  card.minor = *minor;
  if (words[0] == "lost" && words.size() > 2) {
    card.lost = one_line(line.substr(static_cast<size_t>(words[2].data() - line.data())));
    return true;
  }
  return words[0] == "card" && std::all_of(words.begin() + 2, words.end(), [&](std::string_view w) { return take_word(w, card); });
}

}  // namespace

std::string GpuReadings::text() const {
  std::string out;
  if (!fault.empty()) out += "fault " + one_line(fault) + "\n";
  for (const GpuReading& card : cards) {
    if (!card.lost.empty()) {
      out += "lost " + std::to_string(card.minor) + " " + one_line(card.lost) + "\n";
      continue;
    }
    out += "card " + std::to_string(card.minor) + word("ecc", card.ecc) + word("ecc_lifetime", card.ecc_lifetime) +
           word("retirement_pending", card.retirement_pending) + word("remap_pending", card.remap_pending) +
           word("remap_failed", card.remap_failed) + word("throttled", card.throttled);
    for (size_t i = 0; i < card.links.size(); ++i)
      out += (i ? "," : " links=") + std::to_string(card.links[i].number) + ":" + (card.links[i].active ? "1:" : "0:") +
             std::to_string(card.links[i].errors);
    out += "\n";
  }
  for (const GpuXid& xid : xids)
    out += "xid " + std::to_string(xid.minor) + " " + std::to_string(xid.record) + " " + std::to_string(xid.number) + "\n";
  if (log_end) out += "log " + std::to_string(log_end) + "\n";
  return out + "end\n";
}

Result<GpuReadings> GpuReadings::parse(std::string_view text) {
  GpuReadings out;
  bool ended = false;
  for (std::string_view line : split(text, '\n')) {
    if (ended) return fail(Errc::kInvalidArgument, "readings of GPUs: something follows their end");
    ended = line == "end";
    if (!ended && !take_line(line, out))
      return fail(Errc::kInvalidArgument, "readings of GPUs: " + one_line(line.substr(0, 60)) + " is no line of theirs");
  }
  if (!ended) return fail(Errc::kInvalidArgument, "readings of GPUs: their end is missing");
  return out;
}

}  // namespace muster
