#include "plugin/mpi_pmix/library.h"

#include <dlfcn.h>

#include <string>

#include "base/text.h"

namespace muster::mpi_pmix {
namespace {

constexpr char kName[] = "libpmix.so.2";
constexpr char kLacks[] = "libpmix.so.2 lacks ";

// "OpenPMIx 4.2.2, repo rev: …" → 4
int major_of(std::string_view version) {
  size_t digit = version.find_first_of("0123456789");
  if (digit == version.npos) return 0;
  version.remove_prefix(digit);
  return parse_number<int>(version.substr(0, version.find('.'))).value_or(0);
}

}  // namespace

Result<Library> Library::open() {
  Library library;
  // Global, since the libraries that libpmix itself opens look for its symbols.
  void* handle = ::dlopen(kName, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) return fail(Errc::kUnsupported, std::string("PMIx is not on this node: ") + ::dlerror() + " (Debian: libpmix2)");
  const char* missing = nullptr;
#define X(name) \
  if (!(library.name = reinterpret_cast<decltype(&::name)>(::dlsym(handle, #name)))) missing = #name;
  MUSTER_PMIX_FUNCTIONS(X)
#undef X
  if (missing) return fail(Errc::kUnsupported, std::string(kLacks).append(missing));
  std::string version = library.PMIx_Get_version();
  if (major_of(version) != PMIX_VERSION_MAJOR)
    return fail(Errc::kUnsupported, "this module is for PMIx " + std::to_string(PMIX_VERSION_MAJOR) + "; here is " + version);
  return library;
}

}  // namespace muster::mpi_pmix
