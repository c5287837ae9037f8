// PersistentDictionary<T>: names to values, with copies as cheap as those of PersistentMap, on which it is built: a part of the name's
// hash is the key of a bucket that holds one name or a few. Cost: find and set O(log64 n) up to some 100,000 names, then O(n / 65,536).
// The order of iteration follows from the names alone.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/pmap.h"

namespace muster {

template <class T>
class PersistentDictionary {
  struct Entry {
    std::string name;
    T value;
  };
  using Bucket = std::vector<Entry>;  // sorted by name
  static uint32_t slot(std::string_view name) { return static_cast<uint32_t>(hash_bytes(name) & 0xffff); }
  static auto place(auto& bucket, std::string_view name) {
    return std::ranges::lower_bound(bucket, name, {}, [](const Entry& e) { return std::string_view(e.name); });
  }

 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* find(std::string_view name) const {
    const Bucket* bucket = buckets_.find(slot(name));
    if (!bucket) return nullptr;
    auto at = place(*bucket, name);
    return at != bucket->end() && at->name == name ? &at->value : nullptr;
  }
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // The value to change; it is made if the name has none. Valid until the next change of this dictionary or copy from it.
  T& edit(std::string_view name) {
    if (!buckets_.contains(slot(name))) buckets_.set(slot(name), {});
    Bucket& bucket = *buckets_.edit(slot(name));
    auto at = place(bucket, name);
    if (at == bucket.end() || at->name != name) {
      at = bucket.insert(at, Entry{std::string(name), T()});
      ++size_;
    }
    return at->value;
  }
  bool erase(std::string_view name) {
    if (!contains(name)) return false;
    Bucket& bucket = *buckets_.edit(slot(name));
    bucket.erase(place(bucket, name));
    if (bucket.empty()) buckets_.erase(slot(name));
    --size_;
    return true;
  }
  // f(const std::string& name, const T& value)
  template <class F>
  void for_each(F&& f) const {
    buckets_.for_each([&](uint32_t, const Bucket& bucket) {
      for (const Entry& e : bucket) f(e.name, e.value);
    });
  }

 private:
  PersistentMap<Bucket> buckets_;
  size_t size_ = 0;
};

}  // namespace muster
