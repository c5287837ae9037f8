// NVIDIA's management library, opened at run time: loaded and started for as long as this lives.
#pragma once

#include <memory>
#include <string>

#include "os/node/nvml_api.h"
#include "os/node/shared_library.h"

namespace muster::os {

class Nvml {
 public:
  // `what` opens the error's text: "AutoDetect=nvml". kNotFound: it is not there; kUnsupported: it lacks functions that every use needs.
  static Result<std::unique_ptr<Nvml>> load(const std::string& path, const std::string& what);
  ~Nvml();
  std::string text(nvmlReturn_t r) const;

  nvml::Api api;

 private:
  explicit Nvml(SharedLibrary library) : library_(std::move(library)) {}
  SharedLibrary library_;
  bool started_ = false;
};

}  // namespace muster::os
