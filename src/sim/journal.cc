#include "sim/journal.h"

#include <cstdio>

#include "base/hash.h"
#include "sim/world.h"

namespace muster::sim {

void Journal::note(const std::string& text) {
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "%10.3f ", static_cast<double>((now_ - kBeginning).count()) / 1e6);
  tail_.push_back(stamp + text);
  if (tail_.size() > kTail) tail_.pop_front();
  hash(text);
  if (verbose_) std::printf("%s\n", tail_.back().c_str());
}

void Journal::hash(std::string_view bytes) { hash_ = hash_bytes(bytes, hash_ ^ 0xcbf29ce484222325ull); }

void Journal::fail(const char* checker, const std::string& text) {
  if (failed()) return;
  checker_ = checker;
  text_ = text;
  note(std::string("VIOLATION ") + checker + ": " + text);
}

}  // namespace muster::sim
