#include "model/request_bodies.h"

#include "base/hash.h"

namespace muster {

size_t RequestBodies::ByContent::operator()(const RequestBody& body) const { return describe_hash(body); }

RequestBodyPtr RequestBodies::find(const RequestBody& body) const {
  auto at = known_.find(body);
  return at == known_.end() ? nullptr : *at;
}

RequestBodyPtr RequestBodies::share(const RequestBody& body) const {
  if (RequestBodyPtr known = find(body)) return known;
  return std::make_shared<const RequestBody>(body);
}

void RequestBodies::add(const RequestBodyPtr& body) {
  if (++uses_[body.get()] == 1) known_.insert(body);
}

void RequestBodies::remove(const RequestBodyPtr& body) {
  auto at = uses_.find(body.get());
  if (at == uses_.end() || --at->second > 0) return;
  uses_.erase(at);
  known_.erase(body);
}

}  // namespace muster
