/* A machine as a scenario file describes it, for libraries of ours that stand in for a driver.
 *
 * Knows the file named by FAKE_GPU_SCENARIO, which is read again at every question, so that a test can move memory
 * while somebody watches. A line that begins with two equal signs ends our part: the rest is for hardware/machine.py.
 *
 *   driver 580.65.06 | cuda 13000 | init 9          (init: the error with which NVML refuses to start)
 *   cuda_init 100                                   (likewise for CUDA; -1: it takes the process down)
 *   fastest 1 0                                     (CUDA's order of cards, where CUDA_DEVICE_ORDER is not set)
 *   gpu NAME                                        (what follows is of this card, until the next)
 *     total 24GiB | used 1GiB | reserved 300MiB | capability 8.6 | bus 00000000:65:00.0 | display 1 | ecc 1 | mig 1
 *     virtual 2 | mode 3 | addressing 2 | memory 0    (memory 0: it has none to tell of)
 *     process PID BYTES [compute|graphics|mps] [INSTANCE]     (BYTES - where the driver does not tell)
 *     slice INSTANCE TOTAL USED PROFILE
 *     driver_total 23GiB | driver_free 20GiB        (where the CUDA driver says something else than NVML)
 *     properties_total 24GiB | context 450MiB | integrated 1 | virtual_memory 0 | cuda_refuses 2 | cuda_hangs 1
 *     lost 4                                        (after so many questions it is lost)
 *     fails nvmlDeviceGetMemoryInfo_v2 13           (that question has this answer)
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int u32;
typedef unsigned long long u64;

enum { GPUS = 16, PROCESSES = 64, SLICES = 8, FAILURES = 8, WORD = 96 };

typedef struct { u32 pid; u64 holds; char kind; u32 instance; } Process;
typedef struct { u32 instance; u64 total, used; char profile[WORD]; } Slice;
typedef struct { char function[WORD]; int answer; } Failure;
typedef struct {
  char name[WORD], bus[WORD];
  u64 total, used, reserved, driver_total, driver_free, properties_total, context;
  int major, minor, display, ecc, mig, virtualized, mode, addressing, memory, integrated, virtual_memory, refuses, hangs, lost;
  int processes, slices, failures;
  Process process[PROCESSES];
  Slice slice[SLICES];
  Failure failure[FAILURES];
} Gpu;

static Gpu gpu[GPUS];
static int gpus, init_error, cuda_init_error, cuda_version, order[GPUS], ordered;
static char driver_version[WORD];

static u64 size(const char *text) {
  char *end;
  u64 whole = strtoull(text, &end, 10);
  if (*text == '-') return ~0ull;
  if (!strncmp(end, "KiB", 3)) return whole << 10;
  if (!strncmp(end, "MiB", 3)) return whole << 20;
  if (!strncmp(end, "GiB", 3)) return whole << 30;
  return whole;
}

static int scenario_number(Gpu *g, const char *key, const char *value) {
  static const struct { const char *key; size_t at; } numbers[] = {
    {"display", offsetof(Gpu, display)}, {"ecc", offsetof(Gpu, ecc)}, {"mig", offsetof(Gpu, mig)},
    {"virtual", offsetof(Gpu, virtualized)}, {"mode", offsetof(Gpu, mode)}, {"addressing", offsetof(Gpu, addressing)},
    {"memory", offsetof(Gpu, memory)}, {"integrated", offsetof(Gpu, integrated)}, {"lost", offsetof(Gpu, lost)},
    {"virtual_memory", offsetof(Gpu, virtual_memory)}, {"cuda_refuses", offsetof(Gpu, refuses)},
    {"cuda_hangs", offsetof(Gpu, hangs)},
  };
  static const struct { const char *key; size_t at; } sizes[] = {
    {"total", offsetof(Gpu, total)}, {"used", offsetof(Gpu, used)}, {"reserved", offsetof(Gpu, reserved)},
    {"driver_total", offsetof(Gpu, driver_total)}, {"driver_free", offsetof(Gpu, driver_free)},
    {"properties_total", offsetof(Gpu, properties_total)}, {"context", offsetof(Gpu, context)},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!strcmp(key, numbers[i].key)) return *(int *)((char *)g + numbers[i].at) = atoi(value), 1;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (!strcmp(key, sizes[i].key)) return *(u64 *)((char *)g + sizes[i].at) = size(value), 1;
  return 0;
}

static void scenario_of_gpu(Gpu *g, const char *key, const char *rest) {
  char first[WORD] = "", second[WORD] = "compute";
  u32 number = 0, instance = ~0u;
  if (scenario_number(g, key, rest)) return;
  if (!strcmp(key, "capability")) sscanf(rest, "%d.%d", &g->major, &g->minor);
  else if (!strcmp(key, "bus")) snprintf(g->bus, WORD, "%s", rest);
  else if (!strcmp(key, "process") && g->processes < PROCESSES && sscanf(rest, "%u %95s %95s %u", &number, first, second, &instance) >= 2)
    g->process[g->processes++] = (Process){number, size(first), second[0], instance};
  else if (!strcmp(key, "slice") && g->slices < SLICES) {
    Slice *s = &g->slice[g->slices];
    if (sscanf(rest, "%u %95s %95s %95s", &s->instance, first, second, s->profile) == 4) s->total = size(first), s->used = size(second), g->slices++;
  } else if (!strcmp(key, "fails") && g->failures < FAILURES) {
    Failure *f = &g->failure[g->failures];
    if (sscanf(rest, "%95s %d", f->function, &f->answer) == 2) g->failures++;
  }
}

static void scenario_line(char *line) {
  char *rest = strchr(line, ' ');
  if (!rest) return;
  *rest++ = 0;
  if (!strcmp(line, "gpu") && gpus < GPUS) {
    Gpu *g = &gpu[gpus];
    *g = (Gpu){.ecc = -1, .memory = 1, .virtual_memory = 1, .addressing = -1, .context = 256ull << 20, .lost = -1};
    snprintf(g->name, WORD, "%s", rest);
    snprintf(g->bus, WORD, "00000000:%02X:00.0", 16 + gpus++);
  } else if (!strcmp(line, "driver")) snprintf(driver_version, WORD, "%s", rest);
  else if (!strcmp(line, "cuda")) cuda_version = atoi(rest);
  else if (!strcmp(line, "init")) init_error = atoi(rest);
  else if (!strcmp(line, "cuda_init")) cuda_init_error = atoi(rest);
  else if (!strcmp(line, "fastest"))
    for (char *word = strtok(rest, " "); word && ordered < GPUS; word = strtok(NULL, " ")) order[ordered++] = atoi(word);
  else if (gpus) scenario_of_gpu(&gpu[gpus - 1], line, rest);
}

static void scenario(void) {
  const char *path = getenv("FAKE_GPU_SCENARIO");
  FILE *file = path ? fopen(path, "r") : NULL;
  char line[512];
  gpus = ordered = init_error = cuda_init_error = 0, cuda_version = 12080;
  snprintf(driver_version, WORD, "570.133.20");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "==", 2)) {
    line[strcspn(line, "\n")] = 0;
    scenario_line(line + strspn(line, " "));
  }
  if (file) fclose(file);
}

/* What an open context takes, as the CUDA library tells the NVML library of the same process. */
static u64 taken(int i) {
  char name[32];
  snprintf(name, sizeof name, "FAKE_CONTEXT_%d", i);
  return getenv(name) ? gpu[i].context : 0;
}

static void gpu_uuid(int i, char *text, size_t room) { snprintf(text, room, "GPU-%08x-1a2b-4c3d-8e4f-0123456789ab", i + 0xa0); }
static void slice_uuid(int i, u32 instance, char *text, size_t room) { snprintf(text, room, "MIG-%08x-1a2b-4c3d-8e4f-%012x", i + 0xa0, instance); }
