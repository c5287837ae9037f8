// CarriedRequest, CarriedShown: a JobRequest in a snapshot, a ShownRequest in a message. A sender holds the request in its two parts
// and sends them without putting them together; a reader gets it whole. On the wire there is no difference.
#pragma once

#include <memory>
#include <utility>

#include "model/packed_own.h"

namespace muster {

template <class Whole, class Body, class Own>
class CarriedParts {
 public:
  using Message = Whole;  // what the codec writes and reads (wire/codec.h)

  CarriedParts() = default;  // no request
  CarriedParts(std::shared_ptr<const Whole> whole) : whole_(std::move(whole)) {}
  CarriedParts(RequestBodyPtr body, PackedOwn own) : body_(std::move(body)), own_(std::move(own)) {}

  explicit operator bool() const { return whole_ || body_; }
  const RequestBodyPtr& body() const { return body_; }  // only where it is held in parts, else null
  std::shared_ptr<const Whole> whole() const {
    return body_ ? std::make_shared<const Whole>(Whole{static_cast<const Body&>(*body_), static_cast<const Own&>(own_.unpack())}) : whole_;
  }
  // Calls f(part) for each part. The request must be set.
  template <class F>
  void each_part(F&& f) const {
    if (whole_) return f(*whole_);
    f(static_cast<const Body&>(*body_));
    const RequestOwn own = own_.unpack();
    f(static_cast<const Own&>(own));
  }

 private:
  std::shared_ptr<const Whole> whole_;
  RequestBodyPtr body_;
  PackedOwn own_;
};

using CarriedRequest = CarriedParts<JobRequest, RequestBody, RequestOwn>;
using CarriedShown = CarriedParts<ShownRequest, ShownBody, ShownOwn>;

}  // namespace muster
