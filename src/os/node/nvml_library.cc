#include "os/node/nvml_library.h"

namespace muster::os {

Result<std::unique_ptr<Nvml>> Nvml::load(const std::string& path, const std::string& what) {
  MUSTER_TRY(library, SharedLibrary::open(path, what));
  std::unique_ptr<Nvml> n(new Nvml(std::move(library)));
  SharedLibrary& l = n->library_;
  auto& a = n->api;
  l.need(a.init, "nvmlInit_v2");
  l.need(a.shutdown, "nvmlShutdown");
  l.need(a.error_string, "nvmlErrorString");
  l.need(a.count, "nvmlDeviceGetCount_v2");
  l.need(a.handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
  l.need(a.name, "nvmlDeviceGetName");
  l.need(a.uuid, "nvmlDeviceGetUUID");
  l.need(a.minor_number, "nvmlDeviceGetMinorNumber");
  l.need(a.pci_info, "nvmlDeviceGetPciInfo_v3");
  MUSTER_TRY_VOID(l.complete());
  l.find(a.driver_version, "nvmlSystemGetDriverVersion");
  l.find(a.cpu_affinity, "nvmlDeviceGetCpuAffinity");
  l.find(a.nvlink_state, "nvmlDeviceGetNvLinkState");
  l.find(a.nvlink_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  l.find(a.mig_mode, "nvmlDeviceGetMigMode");
  l.find(a.max_mig_devices, "nvmlDeviceGetMaxMigDeviceCount");
  l.find(a.mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
  l.find(a.gpu_instance_id, "nvmlDeviceGetGpuInstanceId");
  l.find(a.compute_instance_id, "nvmlDeviceGetComputeInstanceId");
  l.find(a.attributes, "nvmlDeviceGetAttributes_v2");
  l.find(a.memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  l.find(a.graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  l.find(a.application_clock, "nvmlDeviceGetApplicationsClock");
  l.find(a.set_application_clocks, "nvmlDeviceSetApplicationsClocks");
  if (nvmlReturn_t r = a.init(); r != nvml::kSuccess) return fail(Errc::kIo, what + ": " + n->text(r));
  n->started_ = true;
  return n;
}

Nvml::~Nvml() {
  if (started_) api.shutdown();
}

std::string Nvml::text(nvmlReturn_t r) const {
  const char* t = api.error_string(r);
  return t ? t : "NVML error " + std::to_string(r);
}

}  // namespace muster::os
