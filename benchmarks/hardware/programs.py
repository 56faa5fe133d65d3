"""Programs that run inside: Python with ctypes on CUDA's driver interface, which needs no package.

Kernels are PTX, compiled by the driver. `spin` keeps a card busy for a number of its cycles; `fault` writes where
nothing is.
"""

PRELUDE = '''
import ctypes, json, sys, time
cuda = ctypes.CDLL("libcuda.so.1")

def ask(name, *arguments):
    return getattr(cuda, name)(*arguments)

def call(name, *arguments):
    code = ask(name, *arguments)
    if code:
        print(json.dumps({"call": name, "error": code}), flush=True)
        sys.exit(3)

def number(name, *arguments):
    found = ctypes.c_int()
    call(name, ctypes.byref(found), *arguments)
    return found.value

def begin():
    call("cuInit", 0)
    context = ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)

def take(mib):
    place = ctypes.c_uint64()
    return ask("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(mib << 20))

def kernel(name):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), PTX.encode() + bytes(1))
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    return function

def launch(function, blocks, value):
    argument = ctypes.c_uint64(value)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(argument), ctypes.c_void_p))
    call("cuLaunchKernel", function, blocks, 1, 1, 32, 1, 1, 0, None, arguments, None)

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 cycles)
{
    .reg .pred %p;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [cycles];
    mov.u64 %rd2, %clock64;
again:
    mov.u64 %rd3, %clock64;
    sub.s64 %rd4, %rd3, %rd2;
    setp.lt.s64 %p, %rd4, %rd1;
    @%p bra again;
    ret;
}
.visible .entry fault(.param .u64 address)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [address];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""
'''
# What the program is shown: a line of JSON.
VISIBLE = (
    PRELUDE
    + """
import os
found = {"error": ask("cuInit", 0), "count": 0, "uuids": [], "nodes": sorted(
    name for name in os.listdir("/dev") if name.startswith("nvidia"))}
if not found["error"]:
    found["count"] = number("cuDeviceGetCount")
    for each in range(found["count"]):
        uuid = (ctypes.c_ubyte * 16)()
        call("cuDeviceGetUuid_v2", ctypes.byref(uuid), each)
        text = bytes(uuid).hex()
        found["uuids"].append("GPU-" + "-".join(text[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))))
        memory = ctypes.c_size_t()
        call("cuDeviceTotalMem_v2", ctypes.byref(memory), each)
        found["memory_mib"] = memory.value >> 20
        found["processors"] = number("cuDeviceGetAttribute", 16, each)
print(json.dumps(found))
"""
)
# Arguments: MiB to hold, whether to keep the card busy. Until it is stopped.
HOLD = (
    PRELUDE
    + """
mib, busy = int(sys.argv[1]), sys.argv[2] == "busy"
begin()
print(json.dumps({"error": take(mib)}), flush=True)
spin = kernel("spin") if busy else None
while True:
    if busy:
        launch(spin, 1024, 20_000_000)
        call("cuCtxSynchronize")
    else:
        time.sleep(0.5)
"""
)
# Arguments: MiB, one after the other; the answer to each, then what of it was given back is asked again.
ASK = (
    PRELUDE
    + """
begin()
answers = {}
for mib in sys.argv[1:]:
    place = ctypes.c_uint64()
    answers[mib] = ask("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(int(mib) << 20))
    if not answers[mib]:
        call("cuMemFree_v2", place)
print(json.dumps({"answers": answers, "processors": number("cuDeviceGetAttribute", 16, 0)}))
"""
)
FAULT = (
    PRELUDE
    + """
begin()
launch(kernel("fault"), 1, 1 << 44)
code = ask("cuCtxSynchronize")
print(json.dumps({"error": code}))
sys.exit(1 if code else 0)
"""
)
# A product of matrices: whether it is right, and at what rate, in TFLOP/s (the best of five rounds of ten).
MATRICES = """
import json, time
import torch
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
b = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
exact = a[:64].double() @ b.double()
apart = ((a[:64] @ b).double() - exact).abs().max().item() / exact.abs().max().item()
large = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
best = 0.0
for _round in range(6):
    torch.cuda.synchronize(); began = time.perf_counter()
    for _ in range(10):
        large @ large
    torch.cuda.synchronize()
    if _round:
        best = max(best, 10 * 2 * 8192**3 / (time.perf_counter() - began) / 1e12)
print(json.dumps({"apart": apart, "tflops": round(best, 1), "device": torch.cuda.get_device_name(0),
                  "torch": torch.__version__}))
"""
