#include "net/munged.h"

#include <dlfcn.h>
#include <errno.h>
#include <munge.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "net/bounded_calls.h"
#include "net/socket.h"

namespace muster::net {

#define MUSTER_MUNGE_FUNCTIONS(X) \
  X(munge_encode)                 \
  X(munge_decode) X(munge_strerror) X(munge_ctx_create) X(munge_ctx_destroy) X(munge_ctx_get) X(munge_ctx_set) X(munge_ctx_strerror)

struct Libmunge {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_MUNGE_FUNCTIONS(X)
#undef X
};

namespace {

Result<Libmunge> load_libmunge() {
  Libmunge m;
  void* lib = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!lib) return fail(Errc::kUnsupported, "libmunge is needed for AuthType=auth/munge", dlerror());
  bool all = true;
#define X(name) all = (m.name = reinterpret_cast<decltype(&::name)>(dlsym(lib, #name))) && all;
  MUSTER_MUNGE_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "libmunge.so.2 lacks functions that are needed");
  return m;
}

using Context = std::unique_ptr<munge_ctx, decltype(Libmunge::munge_ctx_destroy)>;

Result<> somebody_there(const std::string& path) {
  MUSTER_TRY(address, unix_address(path));
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd && (connect(fd.get(), address.get(), address.size) == 0 || errno == EAGAIN)) return {};
  return fail(Errc::kAuthFailed, "munged does not answer on " + path + ": " + system_text(errno));
}

Result<Context> make_context(const Libmunge& lib, const std::string& socket) {
  Context ctx(lib.munge_ctx_create(), lib.munge_ctx_destroy);
  if (!ctx) return fail(Errc::kAuthFailed, "munge context: out of memory");
  if (!socket.empty() && lib.munge_ctx_set(ctx.get(), MUNGE_OPT_SOCKET, socket.c_str()) != EMUNGE_SUCCESS)
    return fail(Errc::kAuthFailed, "munge socket " + socket + " cannot be used");
  char* path = nullptr;
  if (lib.munge_ctx_get(ctx.get(), MUNGE_OPT_SOCKET, &path) == EMUNGE_SUCCESS && path) MUSTER_TRY_VOID(somebody_there(path));
  return ctx;
}

Error munge_error(const Libmunge& lib, munge_err_t e, munge_ctx_t ctx) {
  const char* detail = lib.munge_ctx_strerror(ctx);
  return Error(Errc::kAuthFailed, std::string("munge: ") + (detail ? detail : lib.munge_strerror(e)));
}

// The errors after which the content of a credential is true all the same: munge_decode(3).
bool only_not_fresh(munge_err_t e) { return e == EMUNGE_CRED_EXPIRED || e == EMUNGE_CRED_REWOUND || e == EMUNGE_CRED_REPLAYED; }

Result<std::string> encode_now(const Libmunge& lib, const std::string& socket, const std::string& payload) {
  MUSTER_TRY(ctx, make_context(lib, socket));
  char* credential = nullptr;
  const munge_err_t e = lib.munge_encode(&credential, ctx.get(), payload.data(), static_cast<int>(payload.size()));
  std::unique_ptr<char, decltype(&free)> owned(credential, &free);
  if (e != EMUNGE_SUCCESS) return std::unexpected(munge_error(lib, e, ctx.get()));
  return std::string(credential);
}

Result<MungeWord> decode_now(const Libmunge& lib, const std::string& socket, const std::string& credential) {
  MUSTER_TRY(ctx, make_context(lib, socket));
  void* data = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const munge_err_t e = lib.munge_decode(credential.c_str(), ctx.get(), &data, &size, &uid, &gid);
  std::unique_ptr<void, decltype(&free)> owned(data, &free);
  if (e != EMUNGE_SUCCESS && !only_not_fresh(e)) return std::unexpected(munge_error(lib, e, ctx.get()));
  if (!data || size < 0) return fail(Errc::kAuthFailed, "munge: the credential says nothing");
  return MungeWord{std::string(static_cast<char*>(data), static_cast<size_t>(size)), Uid(uid), Gid(gid), e == EMUNGE_SUCCESS};
}

}  // namespace

Result<Munged> Munged::open(const Security& security) {
  static const Result<Libmunge> lib = load_libmunge();
  if (!lib) return std::unexpected(lib.error());
  return Munged(*lib, security);
}

template <class T>
Result<T> Munged::ask(std::function<Result<T>()> question) const {
  if (!calls_) return question();
  auto answer = std::make_shared<std::optional<Result<T>>>();
  // Any reply to the probe will do, an error too: it measures how long munged takes.
  auto probe = [lib = lib_, socket = socket_] { (void)encode_now(*lib, socket, "probe"); };
  if (calls_->run([answer, question = std::move(question)] { answer->emplace(question()); }, probe)) return std::move(**answer);
  return fail(Errc::kAuthFailed, "munged does not answer" + (socket_.empty() ? "" : " on " + socket_));
}

Result<std::string> Munged::encode(const std::string& payload) const {
  return ask<std::string>([lib = lib_, socket = socket_, payload] { return encode_now(*lib, socket, payload); });
}

Result<MungeWord> Munged::decode(std::string_view credential) const {
  return ask<MungeWord>([lib = lib_, socket = socket_, text = std::string(credential)] { return decode_now(*lib, socket, text); });
}

Result<> Munged::must_be_daemon(Uid uid) const {
  if (uid.value == 0 || std::ranges::find(trusted_, uid.value) != trusted_.end()) return {};
  return fail(Errc::kAuthFailed, "the daemon runs as uid " + std::to_string(uid.value) + ", which is not trusted");
}

}  // namespace muster::net
