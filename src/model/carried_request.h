// CarriedRequest: a JobRequest in a message or a snapshot. Sent in its two parts, as they are kept, without putting them
// together; whole where it was read. On the wire there is no difference.
#pragma once

#include <memory>
#include <utility>

#include "model/packed_own.h"

namespace muster {

class CarriedRequest {
 public:
  using Message = JobRequest;   // what the codec writes and reads (wire/codec.h)

  CarriedRequest() = default;   // none
  CarriedRequest(JobRequestPtr whole) : whole_(std::move(whole)) {}
  CarriedRequest(RequestBodyPtr body, PackedOwn own) : body_(std::move(body)), own_(std::move(own)) {}

  explicit operator bool() const { return whole_ || body_; }
  const RequestBodyPtr& body() const { return body_; }   // of one in parts
  JobRequestPtr whole() const {
    return body_ ? std::make_shared<const JobRequest>(whole_request(*body_, own_)) : whole_;
  }
  // f(part) for each part of one that is there.
  template <class F>
  void each_part(F&& f) const {
    if (whole_) return f(*whole_);
    f(*body_);
    f(own_.unpack());
  }

 private:
  JobRequestPtr whole_;
  RequestBodyPtr body_;
  PackedOwn own_;
};

}  // namespace muster
