// RequestBodies: every body that a stored request refers to, once. What several jobs ask for alike is in memory only once, whatever the
// jobs are called; a body is removed with the last request that refers to it. Cost: share() one hash of the body and one comparison;
// add() and remove() of a body that is known by its address O(1).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "model/job_request.h"

namespace muster {

class RequestBodies {
 public:
  // The stored body that equals this one; null if there is none.
  RequestBodyPtr find(const RequestBody& body) const;
  // The stored body that equals this one, or a copy, which add() then stores.
  RequestBodyPtr share(const RequestBody& body) const;

  void add(const RequestBodyPtr& body);     // a request refers to it
  void remove(const RequestBodyPtr& body);  // that request is gone

  size_t size() const { return uses_.size(); }

 private:
  struct ByContent {
    using is_transparent = void;
    size_t operator()(const RequestBody& body) const;
    size_t operator()(const RequestBodyPtr& body) const { return (*this)(*body); }
    static const RequestBody& of(const RequestBody& body) { return body; }
    static const RequestBody& of(const RequestBodyPtr& body) { return *body; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return of(a) == of(b);
    }
  };

  std::unordered_set<RequestBodyPtr, ByContent, ByContent> known_;
  std::unordered_map<const RequestBody*, uint32_t> uses_;
};

}  // namespace muster
