// The objects of OpenSSL that authority.cc and tls.cc share. Internal to net/.
#pragma once

#include <openssl/x509.h>

#include <memory>
#include <string_view>

#include "base/result.h"
#include "net/authority.h"

namespace muster::net::x509 {

void free_certificate(X509* x);
void free_store(X509_STORE* s);
void free_key(EVP_PKEY* k);
struct Free {
  void operator()(X509* x) const { free_certificate(x); }
  void operator()(X509_STORE* s) const { free_store(s); }
  void operator()(EVP_PKEY* k) const { free_key(k); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Store = std::unique_ptr<X509_STORE, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

Result<Certificate> parse(std::string_view der);
Result<Key> private_key(std::string_view raw);
// A store that believes what this key has signed, and nothing else.
Result<Store> store_of(std::string_view authority);
Result<CertificateFacts> facts_of(X509* certificate);

}  // namespace muster::net::x509
