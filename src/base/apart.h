// Apart<T>: a part of a record that most records of a kind do not have, in memory of its own. Without it a record pays for one pointer.
//
// A part that was never edited reads as a T after default construction. Copies are deep, so a part has one owner and needs no lock.
// In the description of the record its fields stand among the record's own, see described_part() in base/describe.h. Cost: reading is
// one test more than a member; the first edit() and each copy of a part that is there allocate.
#pragma once

#include <memory>
#include <utility>

namespace muster {

template <class T>
class Apart {
 public:
  using Part = T;
  Apart() = default;
  Apart(const Apart& o) : part_(o.part_ ? std::make_unique<T>(*o.part_) : nullptr) {}
  Apart(Apart&&) noexcept = default;
  Apart& operator=(Apart o) noexcept {
    part_ = std::move(o.part_);
    return *this;
  }
  ~Apart() = default;

  const T& operator*() const { return part_ ? *part_ : nothing(); }
  const T* operator->() const { return &**this; }
  bool is_there() const { return part_ != nullptr; }
  // The part to change; it is made if it is not there. Valid as long as this is not assigned to.
  T& edit() {
    if (!part_) part_ = std::make_unique<T>();
    return *part_;
  }
  void drop() { part_.reset(); }
  bool operator==(const Apart& o) const { return **this == *o; }

 private:
  static const T& nothing() {
    static const T kNothing{};
    return kNothing;
  }
  std::unique_ptr<T> part_;
};

}  // namespace muster
