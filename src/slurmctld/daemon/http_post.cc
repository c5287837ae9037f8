#include "slurmctld/daemon/http_post.h"

#define CURL_DISABLE_TYPECHECK  // its macros would hide the functions
#include <curl/curl.h>
#include <dlfcn.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define MUSTER_CURL_FUNCTIONS(X) \
  X(curl_global_init)            \
  X(curl_easy_init)              \
  X(curl_easy_setopt)            \
  X(curl_easy_perform) X(curl_easy_getinfo) X(curl_easy_strerror) X(curl_easy_cleanup) X(curl_slist_append) X(curl_slist_free_all)

namespace muster::slurmctld {

struct HttpPost::Library {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_CURL_FUNCTIONS(X)
#undef X
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  const std::atomic<bool>* stopping = nullptr;
  std::string answer;

  ~Library() {
    if (headers) curl_slist_free_all(headers);
    if (handle) curl_easy_cleanup(handle);
  }
};

namespace {

constexpr size_t kMostKept = 1024;  // of an answer

size_t keep_answer(const char* bytes, size_t size, size_t count, void* answer) {
  auto& kept = *static_cast<std::string*>(answer);
  kept.append(bytes, std::min(size * count, kMostKept - std::min(kMostKept, kept.size())));
  return size * count;
}

int give_up(void* stopping, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stopping)->load() ? 1 : 0;
}

}  // namespace

HttpPost::HttpPost(std::unique_ptr<Library> library) : library_(std::move(library)) {}
HttpPost::~HttpPost() = default;

Result<std::unique_ptr<HttpPost>> HttpPost::load(const std::atomic<bool>& stopping) {
  void* file = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!file) return fail(Errc::kUnsupported, "libcurl is needed for JobCompType=jobcomp/elasticsearch", dlerror());
  auto library = std::make_unique<Library>();
  bool all = true;
#define X(name) all = (library->name = reinterpret_cast<decltype(&::name)>(dlsym(file, #name))) && all;
  MUSTER_CURL_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "libcurl.so.4 lacks functions that are needed");
  if (library->curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(library->handle = library->curl_easy_init()))
    return fail(Errc::kUnsupported, "libcurl cannot be used");
  library->stopping = &stopping;
  library->headers = library->curl_slist_append(nullptr, "Content-Type: application/json");
  return std::unique_ptr<HttpPost>(new HttpPost(std::move(library)));
}

Result<HttpPost::Answer> HttpPost::post(const std::string& url, const std::string& json) {
  Library& library = *library_;
  library.answer.clear();
  auto set = [&](CURLoption option, auto value) { library.curl_easy_setopt(library.handle, option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTPHEADER, library.headers);
  set(CURLOPT_POSTFIELDS, json.c_str());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(kTime / milliseconds(1)));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(kConnectTime / milliseconds(1)));
  set(CURLOPT_WRITEFUNCTION, keep_answer);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&library.answer));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, give_up);
  set(CURLOPT_XFERINFODATA, const_cast<void*>(static_cast<const void*>(library.stopping)));
  const CURLcode code = library.curl_easy_perform(library.handle);
  if (code != CURLE_OK) return fail(Errc::kError, library.curl_easy_strerror(code));
  Answer out;
  library.curl_easy_getinfo(library.handle, CURLINFO_RESPONSE_CODE, &out.status);
  out.begin = library.answer;
  return out;
}

}  // namespace muster::slurmctld
