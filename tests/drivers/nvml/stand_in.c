/* A stand-in for NVIDIA's libnvidia-ml.so.1 with two cards, for tests without one: the real C interface, over a text file.
 *
 * Names, layouts and meanings follow the NVML API Reference. The file that NVML_STAND_IN names is read at each call, so a
 * test changes what the library says between two calls of one process. Its lines:
 *
 *   init CODE              nvmlInit fails, as with 18: driver and library do not match
 *   fail CODE              every call fails
 *   fail_after CALLS CODE  every call fails from that one on, counted from nvmlInit
 *   lost CARD              the card fell off the bus
 *   lost_after CARD CALLS  as lost, after so many calls about it
 *   recovery CARD ACTION   what the driver wants done with it
 *   process CARD PID MIB SM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
       LOST = 15, ARGUMENT_VERSION_MISMATCH = 25 };
enum { CARDS = 2, PROCESSES = 16, LINKS = 4, TOPOLOGY_NODE = 40, RECOVERY_FIELD = 230, UNSIGNED_INT = 1 };

#define MIB (1024ULL * 1024)
#define MEMORY (81920 * MIB)

typedef unsigned int uint;
typedef unsigned long long ull;
typedef struct { uint number, calls; } card_t, *device_t;
typedef struct { char legacy[16]; uint domain, bus, device, id, subsystem; char bus_id[32]; } pci_t;
typedef struct { ull total, free, used; } memory_t;
typedef struct { uint gpu, memory; } rates_t;
typedef struct { uint pid; ull used; uint gpu_instance, compute_instance; } process_t;
typedef struct { uint pid; ull at; uint sm, memory, encoder, decoder; } usage_t;
typedef union { double d; uint ui; unsigned long ul; ull ull_; long long sll; int si; unsigned short us; } value_t;
typedef struct { uint field, scope; long long at, latency; uint type; uint result; value_t value; } field_t;
typedef struct { uint version, id, p2p, slices, instances, sms, copy, decoders, encoders, jpeg, ofa; ull mib; char name[96]; }
    profile_t;
typedef struct { uint start, size; } place_t;

_Static_assert(sizeof(pci_t) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(process_t) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(usage_t) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(field_t) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(profile_t) == 0x98, "nvmlGpuInstanceProfileInfo_v2_t");

static card_t cards[CARDS] = {{0, 0}, {1, 0}};
static int users;
static uint calls;

typedef struct {
    int init, fail, lost[CARDS], recovery[CARDS], count;
    struct { uint card, pid, mib, sm; } processes[PROCESSES];
} state_t;

static state_t now(void) {
    state_t state = {0};
    const char *path = getenv("NVML_STAND_IN");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[128];
    while (file && fgets(line, sizeof line, file)) {
        char word[16] = "";
        uint a = 0, b = 0, c = 0, d = 0;
        sscanf(line, "%15s %u %u %u %u", word, &a, &b, &c, &d);
        if (!strcmp(word, "init")) state.init = (int)a;
        else if (!strcmp(word, "fail")) state.fail = (int)a;
        else if (!strcmp(word, "fail_after")) state.fail = calls > a ? (int)b : state.fail;
        else if (a >= CARDS) continue;
        else if (!strcmp(word, "lost")) state.lost[a] = 1;
        else if (!strcmp(word, "lost_after")) state.lost[a] |= cards[a].calls > b;
        else if (!strcmp(word, "recovery")) state.recovery[a] = (int)b;
        else if (!strcmp(word, "process") && state.count < PROCESSES) {
            state.processes[state.count].card = a;
            state.processes[state.count].pid = b;
            state.processes[state.count].mib = c;
            state.processes[state.count++].sm = d;
        }
    }
    if (file) fclose(file);
    return state;
}

/* What keeps a call from being answered; `card` NULL: it is about none. */
static int obstacle(device_t card) {
    calls++;
    if (card) card->calls++;
    state_t state = now();
    if (!users) return UNINITIALIZED;
    if (state.fail) return state.fail;
    return card && state.lost[card->number] ? LOST : OK;
}

#define ASK(card) do { int wrong = obstacle(card); if (wrong) return wrong; } while (0)

static int put(char *to, uint size, const char *text) {
    if (strlen(text) >= size) return INSUFFICIENT_SIZE;
    strcpy(to, text);
    return OK;
}

int nvmlInitWithFlags(uint flags) {
    (void)flags;
    state_t state = now();
    if (state.init) return state.init;
    if (!users++) calls = cards[0].calls = cards[1].calls = 0;
    return OK;
}

int nvmlShutdown(void) {
    if (!users) return UNINITIALIZED;
    users--;
    return OK;
}

const char *nvmlErrorString(int code) {
    return code == 18 ? "Driver/library version mismatch" : code == LOST ? "GPU is lost" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *version, uint size) { ASK(NULL); return put(version, size, "570.00"); }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { ASK(NULL); *version = 12080; return OK; }
int nvmlDeviceGetCount_v2(uint *count) { ASK(NULL); *count = CARDS; return OK; }

int nvmlDeviceGetHandleByIndex_v2(uint index, device_t *card) {
    if (index >= CARDS) return INVALID_ARGUMENT;
    ASK(&cards[index]);
    *card = &cards[index];
    return OK;
}

int nvmlDeviceGetUUID(device_t card, char *uuid, uint size) {
    ASK(card);
    return put(uuid, size, card->number ? "GPU-22222222-0000-0000-0000-000000000001" : "GPU-11111111-0000-0000-0000-000000000000");
}

int nvmlDeviceGetName(device_t card, char *name, uint size) { ASK(card); return put(name, size, "NVIDIA A100-SXM4-80GB"); }

int nvmlDeviceGetMemoryInfo(device_t card, memory_t *memory) {
    ASK(card);
    *memory = (memory_t){MEMORY, MEMORY - (600 + card->number) * MIB, (600 + card->number) * MIB};
    return OK;
}

int nvmlDeviceGetUtilizationRates(device_t card, rates_t *rates) {
    ASK(card);
    *rates = (rates_t){31 + card->number, 9};
    return OK;
}

int nvmlDeviceGetTemperature(device_t card, int sensor, uint *degrees) {
    ASK(card);
    if (sensor) return INVALID_ARGUMENT;
    *degrees = 44 + card->number;
    return OK;
}

int nvmlDeviceGetPowerUsage(device_t card, uint *milliwatts) { ASK(card); *milliwatts = 120500; return OK; }

static void place(pci_t *info, uint number) {
    memset(info, 0, sizeof *info);
    info->bus = number ? 0xa1 : 0x18;
    snprintf(info->legacy, sizeof info->legacy, "0000:%02X:00.0", info->bus);
    snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus);
}

int nvmlDeviceGetPciInfo_v3(device_t card, pci_t *info) { ASK(card); place(info, card->number); return OK; }

int nvmlDeviceGetTopologyCommonAncestor(device_t one, device_t other, uint *level) {
    ASK(one);
    ASK(other);
    *level = TOPOLOGY_NODE;
    return OK;
}

/* Four links from each card to the other, of which the last is down. */
int nvmlDeviceGetNvLinkState(device_t card, uint link, uint *active) {
    ASK(card);
    if (link >= LINKS) return INVALID_ARGUMENT;
    *active = link < LINKS - 1;
    return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(device_t card, uint link, uint *type) {
    ASK(card);
    if (link >= LINKS) return INVALID_ARGUMENT;
    *type = 0;
    return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(device_t card, uint link, pci_t *info) {
    ASK(card);
    if (link >= LINKS) return INVALID_ARGUMENT;
    place(info, !card->number);
    return OK;
}

int nvmlDeviceGetFieldValues(device_t card, int count, field_t *values) {
    ASK(card);
    for (int i = 0; i < count; i++) {
        values[i].result = values[i].field == RECOVERY_FIELD ? OK : NOT_SUPPORTED;
        values[i].type = UNSIGNED_INT;
        values[i].value.ui = (uint)now().recovery[card->number];
    }
    return OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(device_t card, uint *count, process_t *found) {
    ASK(card);
    state_t state = now();
    uint room = *count, there = 0;
    for (int i = 0; i < state.count; i++) {
        if (state.processes[i].card != card->number) continue;
        if (there < room && found)
            found[there] = (process_t){state.processes[i].pid, state.processes[i].mib * MIB, 0xFFFFFFFF, 0xFFFFFFFF};
        there++;
    }
    *count = there;
    return there > room ? INSUFFICIENT_SIZE : OK;
}

int nvmlDeviceGetProcessUtilization(device_t card, usage_t *found, uint *count, ull since) {
    ASK(card);
    state_t state = now();
    uint room = *count, there = 0;
    (void)since;
    for (int i = 0; i < state.count; i++) {
        if (state.processes[i].card != card->number) continue;
        if (found && there < room) found[there] = (usage_t){state.processes[i].pid, 1000 + (ull)i, state.processes[i].sm, 0, 0, 0};
        there++;
    }
    *count = there;
    if (!there) return NOT_FOUND;
    return !found || there > room ? INSUFFICIENT_SIZE : OK;
}

/* MIG is off; the driver says what the cards could be cut into: halves and whole. */
int nvmlDeviceGetMigMode(device_t card, uint *current, uint *pending) { ASK(card); *current = *pending = 0; return OK; }
int nvmlDeviceGetMaxMigDeviceCount(device_t card, uint *count) { ASK(card); *count = 7; return OK; }

int nvmlDeviceGetMigDeviceHandleByIndex(device_t card, uint index, device_t *found) {
    (void)index, (void)found;
    ASK(card);
    return NOT_FOUND;
}

int nvmlDeviceGetGpuInstanceProfileInfoV(device_t card, uint profile, profile_t *info) {
    ASK(card);
    if (info->version != 0x02000098) return ARGUMENT_VERSION_MISMATCH;
    if (profile != 2 && profile != 4) return NOT_SUPPORTED;
    uint version = info->version, half = profile == 2;
    memset(info, 0, sizeof *info);
    info->version = version;
    info->id = half ? 9 : 0;
    info->slices = half ? 3 : 7;
    info->instances = half ? 2 : 1;
    info->mib = half ? 40192 : 81152;
    return put(info->name, sizeof info->name, half ? "MIG 3g.40gb" : "MIG 7g.80gb");
}

int nvmlDeviceGetGpuInstancePossiblePlacements_v2(device_t card, uint id, place_t *places, uint *count) {
    ASK(card);
    uint half = id == 9;
    *count = half ? 2 : 1;
    for (uint i = 0; places && i < *count; i++) places[i] = (place_t){4 * i, half ? 4 : 8};
    return OK;
}
