// HttpPost: hands one document after the other to an HTTP server by libcurl, which is loaded when it is first needed, so a controller that posts
// nothing runs without it. Blocks its caller, at most kTime for each. One thread at a time. ADR 20.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace muster::slurmctld {

class HttpPost {
 public:
  static constexpr Duration kTime = seconds(30), kConnectTime = seconds(10);
  // Gives up a request that is under way once `stopping` is true. kUnsupported: there is no libcurl.
  static Result<std::unique_ptr<HttpPost>> load(const std::atomic<bool>& stopping);
  ~HttpPost();
  HttpPost(const HttpPost&) = delete;
  HttpPost& operator=(const HttpPost&) = delete;

  struct Answer {
    long status = 0;    // 201
    std::string begin;  // of what it said
  };
  // An error: there was no answer. http and https alone; redirections are not followed.
  Result<Answer> post(const std::string& url, const std::string& json);

 private:
  struct Library;
  explicit HttpPost(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace muster::slurmctld
