/* libamd_smi.so of our own, for tests on machines without a card: two cards, of which the second tells little.
 * Only what the readers ask is here; the test adds a stub, which refuses, for every other name that the client binds. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, NOT_SUPPORTED = 2, NO_PERMISSION = 10 };
typedef struct __attribute__((packed)) {
  char market[256]; uint32_t vendor; char maker[256]; uint32_t subvendor; uint64_t device; uint32_t revision;
  char serial[256]; uint32_t oam, units; unsigned char pad[4]; uint64_t target; uint32_t subsystem, rest[21];
} Asic;
typedef struct __attribute__((packed)) {
  char name[256]; uint32_t pid; unsigned char pad[4]; uint64_t mem; uint64_t engine[2]; uint32_t engine_rest[12];
  uint64_t gtt, cpu, vram; uint32_t memory_rest[10]; char container[256]; uint32_t occupancy, rest[11];
} Proc;

static long card(void *handle) { return (long)handle - 1; }

int amdsmi_init(uint64_t flags) { (void)flags; return OK; }
int amdsmi_shut_down(void) { return OK; }
void amdsmi_free_name_value_pairs(void *pairs) { (void)pairs; }
int amdsmi_status_code_to_string(int status, const char **text) { (void)status; *text = "refused"; return OK; }

int amdsmi_get_socket_handles(uint32_t *count, void **handles) {
  if (handles) handles[0] = (void *)1;
  return *count = 1, OK;
}

int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **handles) {
  (void)socket;
  if (handles) handles[0] = (void *)1, handles[1] = (void *)2;
  return *count = 2, OK;
}

int amdsmi_get_gpu_asic_info(void *handle, Asic *asic) {
  memset(asic, 0, sizeof *asic);
  snprintf(asic->market, sizeof asic->market, "%s", card(handle) ? "AMD Radeon 8060S" : "AMD Instinct MI300X");
  asic->target = card(handle) ? 0x1151 : 0x942;
  return OK;
}

int amdsmi_get_gpu_device_uuid(void *handle, uint32_t *room, char *text) { snprintf(text, *room, "74ff-%ld", card(handle)); return OK; }

int amdsmi_get_gpu_memory_total(void *handle, int kind, uint64_t *size) { (void)kind; *size = card(handle) ? 8ull << 30 : 192ull << 30; return OK; }
int amdsmi_get_gpu_memory_usage(void *handle, int kind, uint64_t *size) { (void)kind; *size = card(handle) ? 1ull << 30 : 100ull << 30; return OK; }

int amdsmi_get_gpu_process_list(void *handle, uint32_t *count, Proc *list) {
  if (card(handle)) return NO_PERMISSION;
  memset(list, 0, sizeof *list);
  snprintf(list->name, sizeof list->name, "python3");
  list->pid = 4711, list->vram = 99ull << 30;
  return *count = 1, OK;
}
