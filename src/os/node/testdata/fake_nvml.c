/* A stand-in for libnvidia-ml.so.1 in tests. MUSTER_FAKE_NVML chooses the machine:
 *   h100   8 x H100, all NVLinks to switches, minors in another order than the bus
 *   mig    2 sockets, 2 x A100: the first cut into 3g.20gb + 1c.3g.20gb, the second whole; direct NVLinks
 *   dead   4 x H100, the third has fallen off the bus
 *   broken the driver does not start
 * MUSTER_FAKE_NVML_CLOCKS names a file that gets a line for every change of clocks: "set CARD MEMORY GRAPHICS".
 * MUSTER_FAKE_NVML_USE names a file of what processes use and cards take, read at every question, of lines
 *   process CARD PID BYTES PERCENT     card CARD MILLIWATTS MILLIJOULES     lie     hang     crowd
 * MUSTER_FAKE_NVML_HEALTH names a file of what is wrong with cards, of lines
 *   lost CARD     ecc CARD NOW EVER     retired CARD     remap CARD PENDING FAILED     down CARD LINK     errors CARD LINK N
 *   throttle CARD BITS     hang     gone (the driver does not start)
 * MUSTER_FAKE_NVML_FABRIC names a file of which NVLink fabrics cards are of, as the driver has them, of lines
 *   fabric CARD UUID CLIQUE STATE STATUS (UUID: 32 hexadecimal digits; CARD -1: all that have no line of their own)
 * with lie the driver tells of more entries than it was asked for, with crowd of too many, with hang it never answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct device {
  int card, mig; /* mig: -1 = the card itself */
} device;
typedef device* nvmlDevice_t;
typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
typedef struct {
  unsigned multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount, sharedJpegCount,
      sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount;
  unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;

enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };
static device devices[8][3];

static int is(const char* what) {
  const char* m = getenv("MUSTER_FAKE_NVML");
  return m && strcmp(m, what) == 0;
}
/* The numbers after "WORD CARD" in the file of health; how many there are, or -1. */
static int health(const char* word, int card, unsigned long long* a, unsigned long long* b) {
  const char* path = getenv("MUSTER_FAKE_NVML_HEALTH");
  FILE* f = path ? fopen(path, "r") : NULL;
  char line[256], name[32];
  int found = -1;
  while (f && fgets(line, sizeof line, f)) {
    int at = -1;
    unsigned long long x = 0, y = 0;
    int n = sscanf(line, "%31s %d %llu %llu", name, &at, &x, &y);
    if (n < 1 || strcmp(name, word) != 0 || (card >= 0 && (n < 2 || at != card))) continue;
    if (a && n > 2) *a = x;
    if (b && n > 3) *b = y;
    found = n > 2 ? n - 2 : 0;
  }
  if (f) fclose(f);
  return found;
}
int nvmlInit_v2(void) {
  while (health("hang", -1, NULL, NULL) >= 0) sleep(1);
  return is("broken") || health("gone", -1, NULL, NULL) >= 0 ? DRIVER_NOT_LOADED : SUCCESS;
}
int nvmlShutdown(void) { return SUCCESS; }
const char* nvmlErrorString(int r) {
  return r == GPU_IS_LOST ? "GPU is lost" : r == DRIVER_NOT_LOADED ? "Driver Not Loaded" : r == NOT_FOUND ? "Not Found" : "Error";
}
int nvmlSystemGetDriverVersion(char* v, unsigned n) { return snprintf(v, n, "555.42.06") < 0; }
int nvmlDeviceGetCount_v2(unsigned* n) { return *n = is("h100") ? 8 : is("mig") ? 2 : 4, SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t* d) {
  if ((is("dead") && i == 2) || health("lost", (int)i, NULL, NULL) >= 0) return GPU_IS_LOST;
  devices[i][0].card = (int)i;
  devices[i][0].mig = -1;
  *d = &devices[i][0];
  return SUCCESS;
}
int nvmlDeviceGetName(nvmlDevice_t d, char* s, unsigned n) {
  (void)d;
  return snprintf(s, n, is("mig") ? "NVIDIA A100-SXM4-40GB" : "NVIDIA H100 80GB HBM3") < 0;
}
int nvmlDeviceGetUUID(nvmlDevice_t d, char* s, unsigned n) {
  if (d->mig >= 0) return snprintf(s, n, "MIG-0000000%d-000%d", d->card, d->mig) < 0;
  return snprintf(s, n, "GPU-0000000%d", d->card) < 0;
}
/* the driver's enumeration goes against the bus */
int nvmlDeviceGetMinorNumber(nvmlDevice_t d, unsigned* m) { return *m = (unsigned)d->card, SUCCESS; }
static unsigned bus_of(int card) { return is("mig") ? 0x10u + 0x80u * (unsigned)card : 0x90u - 0x10u * (unsigned)card; }
static void fill(nvmlPciInfo_t* p, unsigned bus) {
  memset(p, 0, sizeof *p);
  p->bus = bus;
  snprintf(p->busId, sizeof p->busId, "00000000:%02X:00.0", bus);
}
int nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t* p) { return fill(p, bus_of(d->card)), SUCCESS; }
int nvmlDeviceGetCpuAffinity(nvmlDevice_t d, unsigned n, unsigned long* set) {
  memset(set, 0, n * sizeof *set);
  /* 16 CPUs: the upper buses hang on the second socket, CPUs 8-15 */
  set[0] = bus_of(d->card) >= 0x60 ? 0xff00 : 0x00ff;
  return SUCCESS;
}
/* Whether a line "WORD CARD LINK [N]" is there. */
static int link_says(const char* word, int card, unsigned link, unsigned long long* n) {
  const char* path = getenv("MUSTER_FAKE_NVML_HEALTH");
  FILE* f = path ? fopen(path, "r") : NULL;
  char line[256], name[32];
  int found = 0;
  while (f && fgets(line, sizeof line, f)) {
    int at;
    unsigned which;
    unsigned long long count = 0;
    if (sscanf(line, "%31s %d %u %llu", name, &at, &which, &count) < 3 || strcmp(name, word) != 0 || at != card || which != link) continue;
    found = 1;
    if (n) *n = count;
  }
  if (f) fclose(f);
  return found;
}
int nvmlDeviceGetNvLinkState(nvmlDevice_t d, unsigned link, unsigned* active) {
  (void)d;
  if (link >= (is("mig") ? 12u : 18u)) return INVALID;
  return *active = link != 5 && !link_says("down", d->card, link, NULL), SUCCESS; /* one link is down */
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t d, unsigned link, nvmlPciInfo_t* p) {
  fill(p, is("mig") ? bus_of(!d->card) : 0xc0u + link / 5);
  return SUCCESS;
}
int nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned* now, unsigned* pending) {
  if (!is("mig") && !is("migless")) return NOT_SUPPORTED;
  return *now = *pending = is("mig") && d->card == 0, SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t d, unsigned* n) { return (void)d, *n = 7, SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t d, unsigned i, nvmlDevice_t* m) {
  if (i != 0 && i != 3) return NOT_FOUND; /* with a gap */
  *m = &devices[d->card][i ? 2 : 1];
  (*m)->card = d->card;
  (*m)->mig = i ? 1 : 0;
  return SUCCESS;
}
int nvmlDeviceGetGpuInstanceId(nvmlDevice_t d, unsigned* id) { return *id = (unsigned)d->mig + 1, SUCCESS; }
int nvmlDeviceGetComputeInstanceId(nvmlDevice_t d, unsigned* id) { return (void)d, *id = 0, SUCCESS; }
int nvmlDeviceGetAttributes_v2(nvmlDevice_t d, nvmlDeviceAttributes_t* a) {
  memset(a, 0, sizeof *a);
  a->gpuInstanceSliceCount = 3;
  a->computeInstanceSliceCount = d->mig ? 1 : 3;
  a->memorySizeMB = 19968;
  return SUCCESS;
}

/* Clocks: the lower memory clock goes with low graphics clocks only. MIG cards share theirs; a lost card has none. */
static unsigned clocks[8][2] = {{0, 0}};
static int listed(const unsigned* from, unsigned have, unsigned* n, unsigned* to) {
  if (*n < have) return *n = have, INVALID;
  memcpy(to, from, have * sizeof *to);
  return *n = have, SUCCESS;
}
int nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t d, unsigned* n, unsigned* to) {
  static const unsigned all[] = {2619, 1593};
  return (void)d, listed(all, 2, n, to);
}
int nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t d, unsigned memory, unsigned* n, unsigned* to) {
  static const unsigned all[] = {1980, 1965, 1200, 600, 345};
  (void)d;
  if (memory == 2619) return listed(all, 5, n, to);
  return memory == 1593 ? listed(all + 3, 2, n, to) : NOT_FOUND;
}
int nvmlDeviceGetApplicationsClock(nvmlDevice_t d, int kind, unsigned* clock) {
  *clock = clocks[d->card][kind == 2 ? 0 : 1];
  if (!*clock) *clock = kind == 2 ? 2619 : 1965;
  return SUCCESS;
}
int nvmlDeviceSetApplicationsClocks(nvmlDevice_t d, unsigned memory, unsigned graphics) {
  const char* path = getenv("MUSTER_FAKE_NVML_CLOCKS");
  FILE* f = path ? fopen(path, "a") : NULL;
  clocks[d->card][0] = memory;
  clocks[d->card][1] = graphics;
  if (f) {
    fprintf(f, "set %d %u %u\n", d->card, memory, graphics);
    fclose(f);
  }
  return SUCCESS;
}

/* Use: what the file says. */
typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;
typedef struct {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;

static FILE* use_file(void) {
  const char* path = getenv("MUSTER_FAKE_NVML_USE");
  return path ? fopen(path, "r") : NULL;
}
static int use_says(const char* word) {
  FILE* f = use_file();
  char line[256];
  int found = 0;
  while (f && fgets(line, sizeof line, f)) found |= strncmp(line, word, strlen(word)) == 0;
  if (f) fclose(f);
  return found;
}
int nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t* m) {
  (void)d;
  m->total = 80ull << 30;
  m->free = m->total - m->used;
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned* count, nvmlProcessInfo_t* to) {
  FILE* f = use_file();
  char line[256];
  unsigned n = 0;
  while (use_says("hang")) sleep(1);
  if (use_says("crowd")) return *count = 100000, 7;
  while (f && fgets(line, sizeof line, f)) {
    int card;
    unsigned pid;
    unsigned long long bytes;
    if (sscanf(line, "process %d %u %llu", &card, &pid, &bytes) == 3 && card == d->card && n < *count) {
      to[n].pid = pid;
      to[n++].usedGpuMemory = bytes;
    }
  }
  if (f) fclose(f);
  return *count = use_says("lie") ? 4000000000u : n, SUCCESS;
}
int nvmlDeviceGetProcessUtilization(nvmlDevice_t d, nvmlProcessUtilizationSample_t* to, unsigned* count, unsigned long long since) {
  FILE* f = use_file();
  char line[256];
  unsigned n = 0;
  while (f && fgets(line, sizeof line, f)) {
    int card;
    unsigned pid, percent;
    unsigned long long bytes;
    if (sscanf(line, "process %d %u %llu %u", &card, &pid, &bytes, &percent) == 4 && card == d->card && n < *count) {
      memset(&to[n], 0, sizeof to[n]);
      to[n].pid = pid;
      to[n].timeStamp = since + 1;
      to[n++].smUtil = percent;
    }
  }
  if (f) fclose(f);
  return *count = use_says("lie") ? 4000000000u : n, n ? SUCCESS : NOT_FOUND;
}
static int card_line(nvmlDevice_t d, unsigned* milliwatts, unsigned long long* millijoules) {
  FILE* f = use_file();
  char line[256];
  int card, found = 0;
  while (f && !found && fgets(line, sizeof line, f))
    found = sscanf(line, "card %d %u %llu", &card, milliwatts, millijoules) == 3 && card == d->card;
  if (f) fclose(f);
  return found ? SUCCESS : NOT_SUPPORTED;
}
int nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned* milliwatts) {
  unsigned long long energy;
  return card_line(d, milliwatts, &energy);
}
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long* millijoules) {
  unsigned power;
  return card_line(d, &power, millijoules);
}

/* Health: what the file says. */
int nvmlDeviceGetTotalEccErrors(nvmlDevice_t d, int kind, int counter, unsigned long long* errors) {
  unsigned long long now = 0, ever = 0;
  if (kind != 1) return INVALID;
  health("ecc", d->card, &now, &ever);
  return *errors = counter == 0 ? now : ever, SUCCESS;
}
int nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t d, int* pending) {
  return *pending = health("retired", d->card, NULL, NULL) >= 0, SUCCESS;
}
int nvmlDeviceGetRemappedRows(nvmlDevice_t d, unsigned* corrected, unsigned* uncorrected, unsigned* pending, unsigned* failed) {
  unsigned long long waits = 0, lost = 0;
  health("remap", d->card, &waits, &lost);
  *corrected = *uncorrected = 0;
  *pending = (unsigned)waits;
  *failed = (unsigned)lost;
  return SUCCESS;
}
int nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t d, unsigned link, int counter, unsigned long long* errors) {
  *errors = 0;
  if (counter == 0) link_says("errors", d->card, link, errors);
  return SUCCESS;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t d, unsigned long long* reasons) {
  return *reasons = 0, health("throttle", d->card, reasons, NULL), SUCCESS;
}

/* Fabric: what the file says; a card of which it says nothing cannot tell. */
typedef struct {
  unsigned version;
  unsigned char clusterUuid[16];
  int status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
} nvmlGpuFabricInfoV_t;

int nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t d, nvmlGpuFabricInfoV_t* info) {
  const char* path = getenv("MUSTER_FAKE_NVML_FABRIC");
  FILE* f = path ? fopen(path, "r") : NULL;
  char line[256], uuid[33];
  int result = NOT_SUPPORTED;
  if (info->version != 0x02000024u) result = 25; /* of another version */
  while (f && result != 25 && fgets(line, sizeof line, f)) {
    int card, status;
    unsigned clique, state, byte;
    if (sscanf(line, "fabric %d %32s %u %u %d", &card, uuid, &clique, &state, &status) != 5) continue;
    if (card != d->card && (card != -1 || result == SUCCESS)) continue;
    for (int i = 0; i < 16; ++i) info->clusterUuid[i] = sscanf(uuid + 2 * i, "%2x", &byte) == 1 ? (unsigned char)byte : 0;
    info->status = status;
    info->cliqueId = clique;
    info->state = (unsigned char)state;
    result = SUCCESS;
    if (card == d->card) break;
  }
  if (f) fclose(f);
  return result;
}
