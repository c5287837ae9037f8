#include "model/gpu_readings.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kRender = "renderD", kNvidiaFile = "/dev/nvidia", kRenderFile = "/dev/dri/renderD";

std::string one_line(std::string_view text) {
  std::string out(text.substr(0, 200));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return out;
}

// The figures of a card's line, in the order in which they are written.
struct CountWord {
  const char* name;
  std::optional<uint64_t> GpuReading::*value;
};
struct YesNoWord {
  const char* name;
  std::optional<bool> GpuReading::*value;
};
constexpr CountWord kCounts[] = {{"ecc", &GpuReading::ecc},
                                 {"ecc_lifetime", &GpuReading::ecc_lifetime},
                                 {"engine_errors", &GpuReading::engine_errors},
                                 {"bus_fatal", &GpuReading::bus_fatal},
                                 {"bus_lanes", &GpuReading::bus_lanes},
                                 {"bus_lanes_most", &GpuReading::bus_lanes_most},
                                 {"throttled", &GpuReading::throttled}};
constexpr YesNoWord kYesNo[] = {{"retirement_pending", &GpuReading::retirement_pending},
                                {"retirement_failed", &GpuReading::retirement_failed},
                                {"remap_pending", &GpuReading::remap_pending},
                                {"remap_failed", &GpuReading::remap_failed}};

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
  for (const CountWord& word : kCounts)
    if (name == word.name) return card.*word.value = *number, true;
  for (const YesNoWord& word : kYesNo)
    if (name == word.name) return card.*word.value = *number != 0, true;
  return false;
}

template <class T>
bool take_number(std::string_view text, T& out) {
  const auto number = parse_number<T>(text);
  if (number) out = *number;
  return number.has_value();
}

bool take_card(std::string_view text, GpuId& out) {
  const auto card = GpuId::parse(text);
  if (card) out = *card;
  return card.has_value();
}

bool take_logged(const std::vector<std::string_view>& words, GpuReadings& out) {
  if (out.logged.size() == GpuReadings::kMostLogged) return false;
  GpuLogEntry& entry = out.logged.emplace_back();
  return take_card(words[1], entry.card) && take_number(words[2], entry.record) && take_number(words[3], entry.number);
}

bool take_line(std::string_view line, GpuReadings& out) {
  if (line.starts_with("fault ")) {
    out.fault = one_line(line.substr(6));
    return true;
  }
  const auto words = split(line, ' ', true);
  if (words.size() == 2 && words[0] == "log") return take_number(words[1], out.log_end);
  if (words.size() == 4 && words[0] == "logged") return take_logged(words, out);
  if (words.size() < 2 || out.cards.size() == GpuReadings::kMostCards) return false;
  GpuReading& card = out.cards.emplace_back();
  if (!take_card(words[1], card.card)) return false;
  if (words[0] == "lost" && words.size() > 2) {
    card.lost = one_line(line.substr(static_cast<size_t>(words[2].data() - line.data())));
    return true;
  }
  return words[0] == "card" && std::all_of(words.begin() + 2, words.end(), [&](std::string_view w) { return take_word(w, card); });
}

}  // namespace

std::string GpuId::text() const { return (render ? std::string(kRender) : std::string()) + std::to_string(minor); }

std::optional<GpuId> GpuId::parse(std::string_view text) {
  const bool render = text.starts_with(kRender);
  if (render) text.remove_prefix(kRender.size());
  const auto number = parse_number<uint32_t>(text, 0, kMostMinor);
  return number ? std::optional(GpuId{*number, render}) : std::nullopt;
}

std::optional<GpuId> GpuId::of_file(std::string_view path) {
  for (const bool render : {false, true}) {
    const std::string_view prefix = render ? kRenderFile : kNvidiaFile;
    const size_t at = path.rfind(prefix);
    const auto number = at == path.npos ? std::nullopt : parse_number<uint32_t>(path.substr(at + prefix.size()), 0, kMostMinor);
    if (number) return GpuId{*number, render};
  }
  return std::nullopt;
}

std::string GpuReadings::text() const {
  std::string out;
  if (!fault.empty()) out += "fault " + one_line(fault) + "\n";
  for (const GpuReading& reading : cards) {
    if (!reading.lost.empty()) {
      out += "lost " + reading.card.text() + " " + one_line(reading.lost) + "\n";
      continue;
    }
    out += "card " + reading.card.text();
    for (const CountWord& count : kCounts) out += word(count.name, reading.*count.value);
    for (const YesNoWord& yes_no : kYesNo) out += word(yes_no.name, reading.*yes_no.value);
    for (size_t i = 0; i < reading.links.size(); ++i)
      out += (i ? "," : " links=") + std::to_string(reading.links[i].number) + ":" + (reading.links[i].active ? "1:" : "0:") +
             std::to_string(reading.links[i].errors);
    out += "\n";
  }
  for (const GpuLogEntry& entry : logged)
    out += "logged " + entry.card.text() + " " + std::to_string(entry.record) + " " + std::to_string(entry.number) + "\n";
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
