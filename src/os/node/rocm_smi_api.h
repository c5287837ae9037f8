// The part of AMD's ROCm SMI library that we call, declared by ourselves: no AMD header is needed to build, no library to start. Numbers
// and signatures are the public ABI of librocm_smi64 (rocm_smi.h of ROCm 4.5 and later).
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::os::rsmi {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr int kLinkXgmi = 2;  // RSMI_IOLINK_TYPE_XGMI

struct Api {
  Status (*init)(uint64_t) = nullptr;
  Status (*shut_down)() = nullptr;
  Status (*status_string)(Status, const char**) = nullptr;
  Status (*count)(uint32_t*) = nullptr;
  Status (*pci_id)(uint32_t, uint64_t*) = nullptr;  // domain << 32 | bus << 8 | device << 3 | function
  Status (*name)(uint32_t, char*, size_t) = nullptr;
  Status (*render_minor)(uint32_t, uint32_t*) = nullptr;
  // May be absent.
  Status (*unique_id)(uint32_t, uint64_t*) = nullptr;
  Status (*link_type)(uint32_t, uint32_t, uint64_t* hops, int* type) = nullptr;
};

}  // namespace muster::os::rsmi
