#include "os/node/nvml_library.h"

namespace muster::os {

Result<std::unique_ptr<Nvml>> Nvml::load(const std::string& path, const std::string& what) {
  MUSTER_TRY(library, SharedLibrary::open(path, what));
  std::unique_ptr<Nvml> nvml(new Nvml(std::move(library)));
  SharedLibrary& functions = nvml->library_;
  auto& api = nvml->api;
  functions.need(api.init, "nvmlInit_v2");
  functions.need(api.shutdown, "nvmlShutdown");
  functions.need(api.error_string, "nvmlErrorString");
  functions.need(api.count, "nvmlDeviceGetCount_v2");
  functions.need(api.handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
  functions.need(api.name, "nvmlDeviceGetName");
  functions.need(api.uuid, "nvmlDeviceGetUUID");
  functions.need(api.minor_number, "nvmlDeviceGetMinorNumber");
  functions.need(api.pci_info, "nvmlDeviceGetPciInfo_v3");
  MUSTER_TRY_VOID(functions.complete());
  functions.find(api.driver_version, "nvmlSystemGetDriverVersion");
  functions.find(api.cpu_affinity, "nvmlDeviceGetCpuAffinity");
  functions.find(api.nvlink_state, "nvmlDeviceGetNvLinkState");
  functions.find(api.nvlink_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  functions.find(api.fabric_info, "nvmlDeviceGetGpuFabricInfoV");
  functions.find(api.mig_mode, "nvmlDeviceGetMigMode");
  functions.find(api.max_mig_devices, "nvmlDeviceGetMaxMigDeviceCount");
  functions.find(api.mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex");
  functions.find(api.gpu_instance_id, "nvmlDeviceGetGpuInstanceId");
  functions.find(api.compute_instance_id, "nvmlDeviceGetComputeInstanceId");
  functions.find(api.attributes, "nvmlDeviceGetAttributes_v2");
  functions.find(api.memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  functions.find(api.graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  functions.find(api.application_clock, "nvmlDeviceGetApplicationsClock");
  functions.find(api.set_application_clocks, "nvmlDeviceSetApplicationsClocks");
  functions.find(api.memory, "nvmlDeviceGetMemoryInfo");
  for (const char* version : {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"})
    if (functions.find(api.compute_processes, version)) break;
  functions.find(api.process_utilization, "nvmlDeviceGetProcessUtilization");
  functions.find(api.power, "nvmlDeviceGetPowerUsage");
  functions.find(api.total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  functions.find(api.ecc_errors, "nvmlDeviceGetTotalEccErrors");
  functions.find(api.retirement_pending, "nvmlDeviceGetRetiredPagesPendingStatus");
  functions.find(api.remapped_rows, "nvmlDeviceGetRemappedRows");
  functions.find(api.nvlink_errors, "nvmlDeviceGetNvLinkErrorCounter");
  for (const char* name : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"})
    if (functions.find(api.throttle_reasons, name)) break;
  if (nvmlReturn_t r = api.init(); r != nvml::kSuccess) return fail(Errc::kIo, what + ": " + nvml->text(r));
  nvml->started_ = true;
  return nvml;
}

Nvml::~Nvml() {
  if (started_) api.shutdown();
}

std::string Nvml::text(nvmlReturn_t r) const {
  const char* t = api.error_string(r);
  return t ? t : "NVML error " + std::to_string(r);
}

}  // namespace muster::os
