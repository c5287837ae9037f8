#include "os/node/gpu_sysfs.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/saturating.h"
#include "base/text.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr size_t kMostNames = 512;

// What is in a folder, sorted; nothing where it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = dir && out.size() < kMostNames ? ::readdir(dir.get()) : nullptr)
    if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  std::ranges::sort(out);
  return out;
}

std::optional<uint64_t> number_in(const std::string& file) {
  const auto line = read_line(file);
  return line ? parse_number<uint64_t>(trim(*line)) : std::nullopt;
}

void add(std::optional<uint64_t>& sum, uint64_t count) { sum = add_sat(sum.value_or(0), count); }

// The number behind a word at the beginning of a line: "ue: 3" of amdgpu's counters, "TOTAL_ERR_FATAL 2" of the kernel's.
std::optional<uint64_t> number_behind(const std::string& file, std::string_view word) {
  const std::string text = read_file(file, 65536).value_or("");
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with(word)) return parse_number<uint64_t>(trim(line.substr(word.size())));
  return std::nullopt;
}

// A card whose PCI device is there and whose folder below the kernel's class of cards is read.
struct Card {
  std::string device;   // /sys/class/drm/renderD128/device
  std::string primary;  // /sys/class/drm/renderD128/device/drm/card1; "": it has none
  std::string debug;    // /sys/kernel/debug/dri/1
};

// A PCI device that does not answer reads as all ones. The kernel's file "vendor" tells what was found at the boot.
void read_bus(const Card& card, GpuReading& out) {
  const std::string config = read_file(card.device + "/config", 4096).value_or("");
  if (config.size() >= 4 && std::ranges::all_of(config.substr(0, 4), [](char c) { return c == '\xff'; }))
    out.lost = "it has fallen off the bus";
  out.bus_fatal = number_behind(card.device + "/aer_dev_fatal", "TOTAL_ERR_FATAL");
  out.bus_lanes = number_in(card.device + "/current_link_width");
  out.bus_lanes_most = number_in(card.device + "/max_link_width");
}

// device/ras/BLOCK_err_count: "ue: 0" and "ce: 12", since the driver's start; umc is the memory.
void read_amd_errors(const Card& card, GpuReading& out) {
  constexpr std::string_view kCount = "_err_count";
  for (const std::string& name : names_in(card.device + "/ras")) {
    if (!name.ends_with(kCount)) continue;
    const auto errors = number_behind(card.device + "/ras/" + name, "ue:");
    if (errors) add(name == "umc_err_count" ? out.ecc : out.engine_errors, *errors);
  }
}

// A line a page of memory: "0x00000001 : 0x00001000 : R". R: is taken out; P: will be at the next reset; F: could not be.
void read_amd_pages(const Card& card, GpuReading& out) {
  const auto text = read_file(card.device + "/ras/gpu_vram_bad_pages", 1 << 20);
  if (!text) return;
  out.retirement_pending = out.retirement_failed = false;
  for (std::string_view line : split(*text, '\n')) {
    const size_t colon = line.rfind(':');
    const std::string_view state = colon == line.npos ? std::string_view() : trim(line.substr(colon + 1));
    if (state == "P") out.retirement_pending = true;
    if (state == "F") out.retirement_failed = true;
  }
}

// card1/gt/gt0/error_counter/NAME: a count a file. Those of errors that are fatal have that word in their name, those of the memory "hbm".
void read_intel_counters(const Card& card, GpuReading& out) {
  for (const std::string& gt : names_in(card.primary + "/gt")) {
    const std::string folder = card.primary + "/gt/" + gt + "/error_counter";
    for (const std::string& name : names_in(folder)) {
      if (name.find("fatal") == name.npos || name.find("nonfatal") != name.npos) continue;
      if (const auto errors = number_in(folder + "/" + name)) add(name.find("hbm") == name.npos ? out.engine_errors : out.ecc, *errors);
    }
  }
}

// i915 says by a file for developers that it has given a card up, which root may read where debugfs is mounted; xe says so in the log alone, and by
// a file that is there only while the card waits for new firmware.
void read_intel_state(const Card& card, GpuReading& out) {
  if (number_in(card.debug + "/i915_wedged").value_or(0) != 0) out.lost = "its driver has given it up (wedged)";
  if (read_line(card.device + "/survivability_mode")) out.lost = "it waits for new firmware (survivability mode)";
}

// What is asked of each vendor's cards, in order.
using Check = void (*)(const Card&, GpuReading&);
struct Vendor {
  std::string_view pci;  // of the file "vendor"
  std::span<const Check> checks;
};
constexpr Check kAmd[] = {read_amd_errors, read_amd_pages, read_bus};
constexpr Check kIntel[] = {read_intel_counters, read_intel_state, read_bus};
constexpr Vendor kVendors[] = {{"0x1002", kAmd}, {"0x8086", kIntel}};

Card card_in(const std::string& root, const std::string& render) {
  constexpr std::string_view kPrimary = "card";
  Card out{.device = root + "/sys/class/drm/" + render + "/device", .primary = {}, .debug = {}};
  for (const std::string& name : names_in(out.device + "/drm"))
    if (name.starts_with(kPrimary) && parse_number<uint32_t>(std::string_view(name).substr(kPrimary.size()))) {
      out.primary = out.device + "/drm/" + name;
      out.debug = root + "/sys/kernel/debug/dri/" + name.substr(kPrimary.size());
    }
  return out;
}

}  // namespace

void read_gpu_sysfs(const std::string& root, GpuReadings& out) {
  for (const std::string& name : names_in(root + "/sys/class/drm")) {
    const auto id = GpuId::parse(name);
    if (!id || !id->render || out.cards.size() >= GpuReadings::kMostCards) continue;
    const Card card = card_in(root, name);
    const std::string pci = read_line(card.device + "/vendor").value_or("");
    const auto vendor = std::ranges::find(kVendors, std::string_view(pci), &Vendor::pci);
    if (vendor == std::end(kVendors)) continue;
    GpuReading& reading = out.cards.emplace_back();
    reading.card = *id;
    for (const Check check : vendor->checks) check(card, reading);
  }
}

std::optional<GpuId> render_card_at(const std::string& root, const std::string& address) {
  for (const std::string& name : names_in(root + "/sys/bus/pci/devices/" + address + "/drm"))
    if (const auto id = GpuId::parse(name); id && id->render) return id;
  return std::nullopt;
}

}  // namespace muster::os
