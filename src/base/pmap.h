// PersistentMap<T>: 32-bit keys to values, with O(1) copies that share everything not changed since.
// It is what makes a Snapshot free: the core thread copies the map, readers keep their copy for as long as they like.
//
// A radix tree of fan-out 64 over intrusively counted nodes. edit() changes in place a node that nobody else shares, and clones the
// path (at most six nodes of 64 pointers and the one value) where a snapshot still holds it. Reads of one copy from several threads are
// safe; each copy has one writer. Cost: find and edit O(log64 n); iteration in key order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace muster {

template <class T>
class PersistentMap {
  static constexpr int kBits = 6;
  static constexpr uint32_t kFan = 1u << kBits;
  static constexpr uint32_t kAhead = 8;  // children prefetched before they are walked

  struct Counted {
    std::atomic<uint32_t> refs{1};
  };
  struct Leaf : Counted {
    explicit Leaf(T v) : value(std::move(v)) {}
    T value;
  };
  struct Node : Counted {
    std::array<Counted*, kFan> child{};
    uint32_t used = 0;  // how many children are set
  };

 public:
  PersistentMap() = default;
  PersistentMap(const PersistentMap& o) : root_(o.root_), depth_(o.depth_), size_(o.size_) { retain(root_); }
  PersistentMap(PersistentMap&& o) noexcept
      : root_(std::exchange(o.root_, nullptr)), depth_(std::exchange(o.depth_, 0)), size_(std::exchange(o.size_, 0)) {}
  PersistentMap& operator=(PersistentMap o) noexcept {
    std::swap(root_, o.root_);
    std::swap(depth_, o.depth_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~PersistentMap() { release(root_, depth_); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  const T* find(uint32_t key) const {
    if (!root_ || !fits(key, depth_)) return nullptr;
    const Counted* at = root_;
    for (int level = depth_; level > 0; --level) {
      at = static_cast<const Node*>(at)->child[slot(key, level)];
      if (!at) return nullptr;
    }
    return &static_cast<const Leaf*>(at)->value;
  }
  const T& at(uint32_t key) const {
    const T* v = find(key);
    MUSTER_CHECK(v != nullptr);
    return *v;
  }
  bool contains(uint32_t key) const { return find(key) != nullptr; }

  // The value to change, or nullptr. The pointer is valid until the next change of this map or copy from it.
  T* edit(uint32_t key) {
    if (!contains(key)) return nullptr;
    return &own_leaf(key)->value;
  }
  void set(uint32_t key, T value) {
    if (T* v = edit(key)) {
      *v = std::move(value);
      return;
    }
    grow_to(key);
    Node* at = own_node(root_);
    for (int level = depth_; level > 1; --level) {
      Counted*& next = at->child[slot(key, level)];
      if (!next) {
        next = new Node;
        ++at->used;
      }
      at = own_node(next);
    }
    at->child[slot(key, 1)] = new Leaf(std::move(value));
    ++at->used;
    ++size_;
  }
  bool erase(uint32_t key) {
    if (!contains(key)) return false;
    erase_below(root_, depth_, key);
    --size_;
    return true;
  }
  void clear() { *this = PersistentMap(); }

  // f(key, const T&) in ascending order of keys, from `first` on. f may return false to stop (or void).
  template <class F>
  void for_each(F&& f, uint32_t first = 0) const {
    if (root_ && fits(first, depth_)) walk(root_, depth_, 0, first, f);
  }
  // f(key, const T* before, const T* after) in key order for every entry that is not the very same one in both maps;
  // null where it is absent. Cost: proportional to what was changed since one map was copied from the other.
  template <class F>
  static void diff(const PersistentMap& before, const PersistentMap& after, F&& f) {
    diff_walk({before.root_, before.depth_}, {after.root_, after.depth_}, before.depth_ > after.depth_ ? before.depth_ : after.depth_, 0,
              f);
  }
  uint32_t last_key() const {  // 0 when empty
    if (!root_ || size_ == 0) return 0;
    uint32_t key = 0;
    const Counted* at = root_;
    for (int level = depth_; level > 0; --level) {
      const Node* n = static_cast<const Node*>(at);
      uint32_t i = kFan;
      while (i-- > 0 && !n->child[i]) {
      }
      key = key << kBits | i;
      at = n->child[i];
    }
    return key;
  }

 private:
  static uint32_t slot(uint32_t key, int level) { return key >> ((level - 1) * kBits) & (kFan - 1); }
  static bool fits(uint32_t key, int depth) { return depth * kBits >= 32 || (key >> (depth * kBits)) == 0; }

  static void retain(Counted* c) {
    if (c) c->refs.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Counted* c, int level) {
    if (!c || c->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (level == 0) {
      delete static_cast<Leaf*>(c);
      return;
    }
    Node* n = static_cast<Node*>(c);
    for (Counted* child : n->child) release(child, level - 1);
    delete n;
  }
  static Node* own_node(Counted*& ref) {
    Node* node = static_cast<Node*>(ref);
    if (node->refs.load(std::memory_order_acquire) == 1) return node;
    Node* copy = new Node;
    copy->child = node->child;
    copy->used = node->used;
    for (Counted* c : copy->child) retain(c);
    // The other holders may have let go meanwhile. Then the original is ours alone after all, and the copy is dropped.
    if (node->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      node->refs.store(1, std::memory_order_relaxed);
      for (Counted* c : copy->child)
        if (c) c->refs.fetch_sub(1, std::memory_order_relaxed);
      delete copy;
      return node;
    }
    ref = copy;
    return copy;
  }
  Leaf* own_leaf(uint32_t key) {
    Node* at = own_node(root_);
    for (int level = depth_; level > 1; --level) at = own_node(at->child[slot(key, level)]);
    Counted*& ref = at->child[slot(key, 1)];
    Leaf* leaf = static_cast<Leaf*>(ref);
    if (leaf->refs.load(std::memory_order_acquire) == 1) return leaf;
    Leaf* copy = new Leaf(leaf->value);
    ref = copy;
    release(leaf, 0);
    return copy;
  }
  void grow_to(uint32_t key) {
    if (!root_) {
      root_ = new Node;
      depth_ = 1;
    }
    while (!fits(key, depth_)) {
      Node* up = new Node;
      up->child[0] = root_;
      up->used = 1;
      root_ = up;
      ++depth_;
    }
  }
  void erase_below(Counted*& ref, int level, uint32_t key) {
    Node* node = own_node(ref);
    Counted*& child = node->child[slot(key, level)];
    if (level == 1) {
      release(child, 0);
      child = nullptr;
      --node->used;
      return;
    }
    erase_below(child, level - 1, key);
    if (static_cast<Node*>(child)->used == 0) {
      release(child, level - 1);
      child = nullptr;
      --node->used;
    }
  }
  // A subtree and its height. Where it is lower than the other map's tree, it stands at slot 0 of the levels it lacks.
  struct Sub {
    const Counted* at = nullptr;
    int depth = 0;
    Sub child(uint32_t i, int level) const {
      if (!at) return {};
      if (depth < level) return i == 0 ? *this : Sub{};
      return {static_cast<const Node*>(at)->child[i], level - 1};
    }
  };
  template <class F>
  static void diff_walk(Sub before, Sub after, int level, uint32_t prefix, F& f) {
    if (before.at == after.at && (!before.at || before.depth == after.depth)) return;
    if (level == 0) {
      auto value = [](Sub s) { return s.at ? &static_cast<const Leaf*>(s.at)->value : nullptr; };
      f(prefix, value(before), value(after));
      return;
    }
    for (uint32_t i = 0; i < kFan; ++i) {
      Sub b = before.child(i, level), a = after.child(i, level);
      if (b.at || a.at) diff_walk(b, a, level - 1, prefix << kBits | i, f);
    }
  }
  template <class F>
  static bool walk(const Counted* at, int level, uint32_t prefix, uint32_t first, F& visit) {
    if (level == 0) {
      if constexpr (std::is_void_v<decltype(visit(prefix, static_cast<const Leaf*>(at)->value))>) {
        visit(prefix, static_cast<const Leaf*>(at)->value);
        return true;
      } else {
        return visit(prefix, static_cast<const Leaf*>(at)->value);
      }
    }
    const Node* n = static_cast<const Node*>(at);
    uint32_t from = slot(first, level);
    for (uint32_t i = from; i < kFan; ++i) {
      // Each value lies somewhere else in memory: without the prefetch, a walk over many would wait for memory at each.
      if (i + kAhead < kFan) __builtin_prefetch(n->child[i + kAhead]);
      if (n->child[i] && !walk(n->child[i], level - 1, prefix << kBits | i, i == from ? first : 0, visit)) return false;
    }
    return true;
  }

  Counted* root_ = nullptr;
  int depth_ = 0;  // levels of Nodes above the leaves
  size_t size_ = 0;
};

}  // namespace muster
