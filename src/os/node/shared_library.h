// A vendor's library opened at run time, for as long as this lives.
#pragma once

#include <dlfcn.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace muster::os {

class SharedLibrary {
 public:
  // `what` opens the error's text: "AutoDetect=rsmi". kNotFound: it is not there.
  static Result<SharedLibrary> open(const std::string& path, const std::string& what) {
    SharedLibrary l;
    l.path_ = path;
    l.what_ = what;
    l.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!l.handle_) return fail(Errc::kNotFound, what + ": " + dlerror());
    return l;
  }
  SharedLibrary(SharedLibrary&& o) noexcept
      : handle_(std::exchange(o.handle_, nullptr)), path_(std::move(o.path_)), what_(std::move(o.what_)), missing_(std::move(o.missing_)) {}
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary() {
    if (handle_) dlclose(handle_);
  }

  template <class F>
  bool find(F& f, const char* name) {
    f = reinterpret_cast<F>(dlsym(handle_, name));
    return f != nullptr;
  }
  template <class F>
  void need(F& f, const char* name) {
    if (!find(f, name) && missing_.empty()) missing_ = name;
  }
  // After the last need(): kUnsupported names what the library does not have.
  Result<> complete() const {
    if (missing_.empty()) return {};
    return fail(Errc::kUnsupported, what_ + ": " + path_ + " has no " + missing_);
  }

 private:
  SharedLibrary() = default;
  void* handle_ = nullptr;
  std::string path_, what_, missing_;
};

}  // namespace muster::os
