/* libnvidia-ml.so.1 of our own, for tests on machines without a card: answers what the scenario file says.
 * Stands in for hardware only; the client, nvidia-ml-py, is the real one. */
#include "scenario.h"

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15, VERSION = 25 };
typedef struct { u64 total, free, used; } Memory;
typedef struct { u32 version; u64 total, reserved, free, used; } Memory2;
typedef struct { u32 pid; u64 holds; u32 instance, compute; } Listed;
typedef struct { char legacy[16]; u32 domain, bus, device, id, subsystem; char place[32]; } Pci;
typedef struct { u32 version, value; } Mode;

static int running, asked[GPUS];

/* A handle is 1 + the card, and 256 times (1 + the slice) more for a slice of it. */
static int card_of(void *handle) { return (int)((long)handle & 255) - 1; }
static int slice_of(void *handle) { return (int)((long)handle >> 8) - 1; }
static void *handle_of(int card, int slice) { return (void *)(long)(1 + card + 256 * (slice + 1)); }

static int may(void *handle, const char *function) {
  if (!running) return UNINITIALIZED;
  scenario();
  int i = card_of(handle);
  if (i < 0 || i >= gpus || slice_of(handle) >= gpu[i].slices) return INVALID;
  if (gpu[i].lost >= 0 && asked[i]++ >= gpu[i].lost) return LOST;
  for (int k = 0; k < gpu[i].failures; k++)
    if (!strcmp(gpu[i].failure[k].function, function)) return gpu[i].failure[k].answer;
  return OK;
}
#define ASKED(handle) do { int no = may(handle, __func__); if (no) return no; } while (0)
#define CARD(handle) (&gpu[card_of(handle)])
#define SLICE(handle) (&CARD(handle)->slice[slice_of(handle)])

int nvmlInitWithFlags(u32 flags) { (void)flags; scenario(); return init_error ? init_error : (running++, OK); }
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return running ? (running--, OK) : UNINITIALIZED; }

const char *nvmlErrorString(int code) {
  switch (code) {
    case 2: return "Invalid Argument";
    case 3: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 6: return "Not Found";
    case 9: return "Driver Not Loaded";
    case 13: return "Function Not Found";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char *text, u32 room) { scenario(); snprintf(text, room, "%s", driver_version); return OK; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { scenario(); *version = cuda_version; return OK; }
int nvmlDeviceGetCount_v2(u32 *count) { scenario(); *count = gpus; return running ? OK : UNINITIALIZED; }

int nvmlDeviceGetHandleByIndex_v2(u32 index, void **handle) {
  scenario();
  if (index >= (u32)gpus) return INVALID;
  return gpu[index].lost == 0 ? LOST : (*handle = handle_of((int)index, -1), OK);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
  char text[WORD];
  scenario();
  for (int i = 0; i < gpus; i++) {
    gpu_uuid(i, text, WORD);
    if (!strcmp(uuid, text)) return *handle = handle_of(i, -1), OK;
    for (int k = 0; k < gpu[i].slices; k++) {
      slice_uuid(i, gpu[i].slice[k].instance, text, WORD);
      if (!strcmp(uuid, text)) return *handle = handle_of(i, k), OK;
    }
  }
  return NOT_FOUND;
}

int nvmlDeviceGetName(void *handle, char *text, u32 room) {
  ASKED(handle);
  if (slice_of(handle) < 0) snprintf(text, room, "%s", CARD(handle)->name);
  else snprintf(text, room, "%s MIG %s", CARD(handle)->name, SLICE(handle)->profile);
  return OK;
}

int nvmlDeviceGetUUID(void *handle, char *text, u32 room) {
  ASKED(handle);
  if (slice_of(handle) < 0) gpu_uuid(card_of(handle), text, room);
  else slice_uuid(card_of(handle), SLICE(handle)->instance, text, room);
  return OK;
}

int nvmlDeviceGetPciInfo_v3(void *handle, Pci *pci) {
  ASKED(handle);
  memset(pci, 0, sizeof *pci);
  snprintf(pci->place, sizeof pci->place, "%.31s", CARD(handle)->bus);
  return OK;
}

static int memory(void *handle, Memory2 *m) {
  if (!CARD(handle)->memory) return NOT_SUPPORTED;
  if (slice_of(handle) >= 0) {
    Slice *s = SLICE(handle);
    u64 used = s->used + taken(card_of(handle));
    *m = (Memory2){m->version, s->total, 0, s->total - used, used};
    return OK;
  }
  Gpu *g = CARD(handle);
  u64 used = g->used + taken(card_of(handle));
  *m = (Memory2){m->version, g->total, g->reserved, g->total - g->reserved - used, used};
  return OK;
}

int nvmlDeviceGetMemoryInfo_v2(void *handle, Memory2 *m) {
  ASKED(handle);
  return m->version == (sizeof *m | 2u << 24) ? memory(handle, m) : VERSION;
}

int nvmlDeviceGetMemoryInfo(void *handle, Memory *m) {
  Memory2 whole = {0};
  ASKED(handle);
  int no = memory(handle, &whole);
  if (!no) *m = (Memory){whole.total, whole.free, whole.used + whole.reserved};
  return no;
}

static int listed(void *handle, char kind, u32 *count, Listed *out) {
  Gpu *g = CARD(handle);
  u32 found = 0, room = out ? *count : 0;
  for (int k = 0; k < g->processes; k++) {
    Process *p = &g->process[k];
    if (p->kind != kind || (slice_of(handle) >= 0 && p->instance != SLICE(handle)->instance)) continue;
    if (found < room) out[found] = (Listed){p->pid, p->holds, p->instance, ~0u};
    found++;
  }
  *count = found;
  return found > room ? TOO_SMALL : OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, u32 *count, Listed *out) { ASKED(handle); return listed(handle, 'c', count, out); }
int nvmlDeviceGetComputeRunningProcesses_v2(void *handle, u32 *count, Listed *out) { ASKED(handle); return listed(handle, 'c', count, out); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *handle, u32 *count, Listed *out) { ASKED(handle); return listed(handle, 'g', count, out); }
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *handle, u32 *count, Listed *out) { ASKED(handle); return listed(handle, 'm', count, out); }

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
  ASKED(handle);
  *major = CARD(handle)->major, *minor = CARD(handle)->minor;
  return OK;
}

int nvmlDeviceGetDisplayActive(void *handle, u32 *on) { ASKED(handle); *on = (u32)CARD(handle)->display; return OK; }
int nvmlDeviceGetDisplayMode(void *handle, u32 *on) { ASKED(handle); *on = (u32)CARD(handle)->display; return OK; }
int nvmlDeviceGetComputeMode(void *handle, u32 *mode) { ASKED(handle); *mode = (u32)CARD(handle)->mode; return OK; }
int nvmlDeviceGetVirtualizationMode(void *handle, u64 *mode) { ASKED(handle); *mode = (u64)CARD(handle)->virtualized; return OK; }

int nvmlDeviceGetAddressingMode(void *handle, Mode *mode) {
  ASKED(handle);
  mode->value = (u32)CARD(handle)->addressing;
  return CARD(handle)->addressing < 0 ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetEccMode(void *handle, u32 *now, u32 *next) {
  ASKED(handle);
  *now = *next = CARD(handle)->ecc > 0;
  return CARD(handle)->ecc < 0 ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetMigMode(void *handle, u32 *now, u32 *next) {
  ASKED(handle);
  *now = *next = CARD(handle)->mig > 0;
  return CARD(handle)->mig ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetMaxMigDeviceCount(void *handle, u32 *count) { ASKED(handle); *count = CARD(handle)->mig > 0 ? 7 : 0; return OK; }

int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, u32 index, void **out) {
  ASKED(handle);
  return index < (u32)CARD(handle)->slices ? (*out = handle_of(card_of(handle), (int)index), OK) : NOT_FOUND;
}
