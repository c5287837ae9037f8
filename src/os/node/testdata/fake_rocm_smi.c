/* A stand-in for librocm_smi64.so in tests. MUSTER_FAKE_ROCM_SMI chooses the machine:
 *   mi300   4 x MI300X, xGMI among all, against the order of the bus
 *   dead    the same, the second does not answer
 *   broken  the driver does not start
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INIT_ERROR = 8, NO_DATA = 14 };

static int is(const char* what) {
  const char* m = getenv("MUSTER_FAKE_ROCM_SMI");
  return m && strcmp(m, what) == 0;
}
int rsmi_init(uint64_t flags) { return (void)flags, is("broken") ? INIT_ERROR : SUCCESS; }
int rsmi_shut_down(void) { return SUCCESS; }
int rsmi_status_string(int s, const char** text) {
  *text = s == INIT_ERROR ? "RSMI_STATUS_INIT_ERROR: driver not loaded" : "RSMI_STATUS_NO_DATA: no data";
  return SUCCESS;
}
int rsmi_num_monitor_devices(uint32_t* n) { return *n = 4, SUCCESS; }
static int lost(uint32_t i) { return is("dead") && i == 1; }
int rsmi_dev_pci_id_get(uint32_t i, uint64_t* id) { return *id = (uint64_t)(0xe0 - 0x20 * i) << 8, SUCCESS; }
int rsmi_dev_name_get(uint32_t i, char* s, size_t n) {
  if (lost(i)) return NO_DATA;
  return snprintf(s, n, "AMD Instinct MI300X") < 0;
}
int rsmi_dev_drm_render_minor_get(uint32_t i, uint32_t* minor) { return *minor = 128 + i, SUCCESS; }
int rsmi_dev_unique_id_get(uint32_t i, uint64_t* id) { return *id = 0xabc0 + i, SUCCESS; }
int rsmi_topo_get_link_type(uint32_t a, uint32_t b, uint64_t* hops, int* type) {
  (void)a;
  (void)b;
  return *hops = 1, *type = 2, SUCCESS;
}
