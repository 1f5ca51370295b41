/* libcuda.so.1 of our own, for tests on machines without a card: answers what the scenario file says.
 * Shows cards as CUDA does: those that CUDA_VISIBLE_DEVICES names, the fastest first, of a card with MIG one slice.
 * FAKE_CONTEXT_LOG names a file that gets a line for every context that is opened, and for every one that is closed. */
#include <unistd.h>

#include "scenario.h"

enum { OK = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };
typedef struct { int card, slice; } Shown;

static Shown shown[GPUS * SLICES];
static int running, current = -1;

static int show(int card, int slice, int count) {
  shown[count] = (Shown){card, gpu[card].mig > 0 && slice < 0 ? 0 : slice};
  return count + 1;
}

/* The card or slice of that name: a number in CUDA's own order, or the beginning of a UUID. */
static int find(const char *word, Shown *found) {
  char text[WORD];
  if (*word >= '0' && *word <= '9') {
    int index = atoi(word), by_bus = getenv("CUDA_DEVICE_ORDER") && !strcmp(getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
    if (index >= gpus) return 0;
    return *found = (Shown){ordered && !by_bus ? order[index] : index, -1}, 1;
  }
  for (int i = 0; i < gpus; i++) {
    gpu_uuid(i, text, WORD);
    if (!strncmp(text, word, strlen(word))) return *found = (Shown){i, -1}, 1;
    for (int k = 0; k < gpu[i].slices; k++) {
      slice_uuid(i, gpu[i].slice[k].instance, text, WORD);
      if (!strncmp(text, word, strlen(word))) return *found = (Shown){i, k}, 1;
    }
  }
  return 0;
}

static int devices(void) {
  const char *names = getenv("CUDA_VISIBLE_DEVICES");
  char copy[512], all[64] = "", *word;
  int count = 0;
  Shown one;
  scenario();
  for (int i = 0; i < gpus; i++) snprintf(all + strlen(all), sizeof all - strlen(all), i ? ",%d" : "%d", i);
  snprintf(copy, sizeof copy, "%s", names ? names : all);
  for (word = strtok(copy, ","); word && find(word, &one); word = strtok(NULL, ",")) count = show(one.card, one.slice, count);
  return count;
}

int cuInit(u32 flags) {
  (void)flags;
  int count = devices();
  if (cuda_init_error < 0) abort();
  if (cuda_init_error) return cuda_init_error;
  return count ? (running = 1, OK) : NO_DEVICE;
}

int cuDeviceGetCount(int *count) { *count = devices(); return running ? OK : NOT_INITIALIZED; }
int cuDeviceGet(int *device, int index) { return index < devices() ? (*device = index, OK) : INVALID_DEVICE; }

int cuDeviceGetName(char *text, int room, int device) {
  if (device >= devices()) return INVALID_DEVICE;
  snprintf(text, (size_t)room, "%s", gpu[shown[device].card].name);
  return OK;
}

int cuDeviceGetUuid_v2(unsigned char *raw, int device) {
  char text[WORD];
  if (device >= devices()) return INVALID_DEVICE;
  Shown s = shown[device];
  if (s.slice < 0) gpu_uuid(s.card, text, WORD);
  else slice_uuid(s.card, gpu[s.card].slice[s.slice].instance, text, WORD);
  int half = 0;
  for (const char *c = text + 4; *c && half < 32; c++) {
    if (*c == '-') continue;
    int digit = *c <= '9' ? *c - '0' : *c - 'a' + 10;
    raw[half / 2] = (unsigned char)(half % 2 ? raw[half / 2] | digit : digit << 4);
    half++;
  }
  return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (device >= devices()) return INVALID_DEVICE;
  Gpu *g = &gpu[shown[device].card];
  switch (attribute) {
    case 18: return *value = g->integrated, OK;
    case 75: return *value = g->major, OK;
    case 76: return *value = g->minor, OK;
    case 102: return *value = g->virtual_memory, OK;
    default: return INVALID_VALUE;
  }
}

/* What the driver gives out in all: without what it keeps for itself. */
static u64 whole(Shown s) {
  Gpu *g = &gpu[s.card];
  return s.slice >= 0 ? g->slice[s.slice].total : g->driver_total ? g->driver_total : g->total - g->reserved;
}

int cuDeviceTotalMem_v2(size_t *total, int device) {
  if (device >= devices()) return INVALID_DEVICE;
  u64 said = gpu[shown[device].card].properties_total;
  *total = said ? said : whole(shown[device]);
  return OK;
}

static void note(const char *what, int device) {
  const char *log = getenv("FAKE_CONTEXT_LOG");
  FILE *file = log ? fopen(log, "a") : NULL;
  if (file) fprintf(file, "%s %s\n", what, gpu[shown[device].card].name), fclose(file);
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  char name[32];
  if (device >= devices()) return INVALID_DEVICE;
  note("opened", device);
  while (gpu[shown[device].card].hangs) sleep(1);
  if (gpu[shown[device].card].refuses) return gpu[shown[device].card].refuses;
  snprintf(name, sizeof name, "FAKE_CONTEXT_%d", shown[device].card);
  setenv(name, "1", 1);
  *context = (void *)(long)(device + 1);
  return OK;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  char name[32];
  if (device >= devices()) return INVALID_DEVICE;
  note("closed", device);
  snprintf(name, sizeof name, "FAKE_CONTEXT_%d", shown[device].card);
  unsetenv(name);
  return OK;
}

int cuCtxPushCurrent_v2(void *context) { current = (int)(long)context - 1; return OK; }
int cuCtxPopCurrent_v2(void **context) { *context = (void *)(long)(current + 1); current = -1; return OK; }

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  if (current < 0 || current >= devices()) return INVALID_CONTEXT;
  Shown s = shown[current];
  Gpu *g = &gpu[s.card];
  u64 used = (s.slice >= 0 ? g->slice[s.slice].used : g->used) + taken(s.card);
  *total = whole(s);
  *free_bytes = g->driver_free ? g->driver_free : used < *total ? *total - used : 0;
  return OK;
}

int cuGetErrorName(int code, const char **name) {
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : code == 101 ? "CUDA_ERROR_INVALID_DEVICE"
        : code == 999 ? "CUDA_ERROR_UNKNOWN" : NULL;
  return *name ? OK : INVALID_VALUE;
}
