// Kernels and variables as a program registers them, launches, and what it asks of kernels.
#include "clock.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

namespace simtmm {

Calls calls = {};

struct Module {
    const void *image;
    uint64_t bytes;
    int state;  // 0: not loaded, 1: loaded, 2: can't be
    bool is_apart;  // the program loads it itself, and has not linked it
};
struct Symbol {
    int module;
    std::string name;
    bool managed;
    void **pointer;
};
static std::vector<Module> &modules() {
    static auto &found = *new std::vector<Module>;  // there to the last
    return found;
}
static std::map<const void *, Kernel *> &kernels() {
    static auto &found = *new std::map<const void *, Kernel *>;  // there to the last
    return found;
}
static std::set<const void *> &handles() {
    static auto &found = *new std::set<const void *>;  // there to the last
    return found;
}
static std::map<const void *, Symbol> &symbols() {
    static auto &found = *new std::map<const void *, Symbol>;  // there to the last
    return found;
}

Kernel *kernel_of(const void *function) {
    if (handles().count(function)) return (Kernel *)function;
    auto found = kernels().find(function);
    return found == kernels().end() ? nullptr : found->second;
}

static cudaError_t loaded(int number) {
    Module &module = modules()[number];
    if (!module.state) {
        module.state = calls.load && !calls.load(number, module.image, module.bytes, module.is_apart) ? 1 : 2;
    }
    return module.state == 1 ? cudaSuccess : failed(cudaErrorInvalidKernelImage);
}

cudaError_t load_module(const void *image, uint64_t bytes, int *number) {
    *number = (int)modules().size();
    modules().push_back({image, bytes, 0, true});
    return loaded(*number);
}

cudaError_t layout_of(Kernel *kernel) {
    if (kernel->parameters >= 0) return cudaSuccess;
    cudaError_t error = loaded(kernel->module);
    if (error) return error;
    std::vector<uint32_t> offsets(4096), sizes(4096);
    int count = calls.parameters(kernel->module, kernel->name.c_str(), 4096, offsets.data(), sizes.data());
    if (count < 0) return failed((cudaError_t)-count);
    offsets.resize(count);
    sizes.resize(count);
    kernel->offsets = offsets;
    kernel->sizes = sizes;
    kernel->bytes = count ? offsets.back() + sizes.back() : 0;
    kernel->parameters = count;
    return cudaSuccess;
}

Kernel *kernel_named(int module, const char *name) {
    static auto &known = *new std::map<std::pair<int, std::string>, Kernel *>;  // there to the last
    Kernel *&found = known[{module, name}];
    if (found) return found;
    auto *kernel = new Kernel{module, name, -1, {}, {}, 0, -1, -1};
    if (layout_of(kernel)) {
        delete kernel;
        return nullptr;
    }
    handles().insert(kernel);
    return found = kernel;
}

std::vector<char> packed(Kernel *kernel, void **arguments) {
    std::vector<char> bytes(kernel->bytes);
    for (int i = 0; i < kernel->parameters; i++) memcpy(bytes.data() + kernel->offsets[i], arguments[i], kernel->sizes[i]);
    return bytes;
}

// A kernel's name without its namespaces, parameters and template arguments; Python has the same, to say the same.
static std::string bare_name(const std::string &name) {
    std::string found = name;
    size_t place = name.rfind("_ZN", 0) == 0 ? 3 : name.rfind("_Z", 0) == 0 ? 2 : name.size();
    bool nested = place == 3;
    while (place < name.size()) {
        if (name[place] == 'L') place++;
        size_t digits = place, length = 0;
        while (digits < name.size() && digits - place < 9 && isdigit((unsigned char)name[digits]))
            length = length * 10 + (name[digits++] - '0');
        if (digits == place) break;
        found = name.substr(digits, length);
        place = digits + length;
        if (!nested) break;
    }
    return found;
}

// Dynamic shared memory that a launch may ask for: what is left without asking for more, or what the program has set.
static int64_t dynamic_limit(Kernel *kernel) {
    if (kernel->dynamic_limit >= 0) return kernel->dynamic_limit;
    int64_t own = std::max<int64_t>(0, attribute_of(kernel, 1));
    return std::max<int64_t>(0, attribute(cudaDevAttrMaxSharedMemoryPerBlock) - own);
}

// Managed memory that a kernel is given comes to the device.
static void fetch(const std::vector<char> &parameters) {
    for (size_t at = 0; at + 8 <= parameters.size(); at += 8) {
        uint64_t word;
        memcpy(&word, parameters.data() + at, 8);
        Piece *piece = find((void *)word);
        if (piece && piece->kind == MANAGED) give_to_kernel(piece);
    }
}

cudaError_t launch_packed(Kernel *kernel, dim3 grid, dim3 block, uint64_t shared, const std::vector<char> &parameters,
                          const uint32_t *cluster) {
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    auto prefix = [&] { return "launch of " + bare_name(kernel->name) + ": "; };
    auto three = [](dim3 d) { return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z); };
    RETURN_IF(!threads || !grid.x || !grid.y || !grid.z || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu,
              cudaErrorInvalidConfiguration, prefix() + "grid of " + three(grid) + ", block of " + three(block) + ": no such launch");
    int64_t most_threads = attribute(cudaDevAttrMaxThreadsPerBlock);
    RETURN_IF(threads > (uint64_t)most_threads || block.z > 64, cudaErrorInvalidValue,  // as CUDA 13 on an H200
              prefix() + "a block of " + three(block) + " threads: at most " + counted(most_threads));
    RETURN_IF(shared && shared > (uint64_t)dynamic_limit(kernel), cudaErrorInvalidValue,
              prefix() + counted(shared) + " bytes of dynamic shared memory: must be at most " + counted(dynamic_limit(kernel)) +
                  "; more once cudaFuncSetAttribute has allowed it");
    uint32_t sizes[9] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    if (cluster) memcpy(sizes + 6, cluster, 3 * sizeof *cluster);  // else as the kernel says
    all_touched();
    bool follows = kernels_of_graph > 0;
    if (kernels_of_graph >= 0) kernels_of_graph++;
    if (error_of_work) return cudaSuccess;  // it never begins, and the host learns why where it waits
    disarm();
    work_follows();
    fetch(parameters);
    cudaError_t error = (cudaError_t)calls.launch(kernel->module, kernel->name.c_str(), sizes, shared, parameters.data(),
                                                  parameters.size(), stream_at_work, follows);
    if (!is_sticky(error)) return failed(error);
    error_of_work = error;
    return cudaSuccess;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments, uint64_t shared, cudaStream_t stream,
                          const uint32_t *cluster = nullptr) {
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "launch of what is no kernel of this program");
    cudaError_t error = layout_of(kernel);
    if (error) return error;
    std::vector<char> parameters = packed(kernel, arguments);
    std::vector<uint32_t> sizes(cluster, cluster ? cluster + 3 : cluster);
    return enqueue(
        stream,
        [=] { return launch_packed(kernel, grid, block, shared, parameters, sizes.empty() ? nullptr : sizes.data()); },
        cudaGraphNodeTypeKernel);
}

cudaError_t symbol_of(const void *symbol, uint64_t *address, uint64_t *bytes) {
    auto found = symbols().find(symbol);
    if (found == symbols().end()) {
        if (Piece *piece = find(symbol)) {  // a managed variable, by its address
            *address = (uint64_t)symbol;
            *bytes = piece->address + piece->bytes - (uint64_t)symbol;
            return cudaSuccess;
        }
        return cudaErrorInvalidSymbol;
    }
    cudaError_t error = loaded(found->second.module);
    if (error) return error;
    return (cudaError_t)calls.variable(found->second.module, found->second.name.c_str(), address, bytes);
}

int64_t attribute_of(Kernel *kernel, int number) {
    int64_t values[16] = {};
    if (loaded(kernel->module)) return -1;
    int error = calls.attributes(kernel->module, kernel->name.c_str(), values);
    return error ? -1 : values[number];
}

}  // namespace simtmm

using namespace simtmm;

struct FatBinaryWrapper {
    int magic, version;
    const uint64_t *image;
    void *other;
};

#define HIDDEN extern "C" __attribute__((visibility("default")))

HIDDEN void **__cudaRegisterFatBinary(void *given) {
    Call call;
    auto *wrapper = (FatBinaryWrapper *)given;
    const uint16_t *header = (const uint16_t *)wrapper->image;
    modules().push_back({wrapper->image, header[3] + wrapper->image[1], 0, false});
    return (void **)modules().size();  // from 1 on
}
HIDDEN void __cudaRegisterFatBinaryEnd(void **) {}
HIDDEN void __cudaUnregisterFatBinary(void **) {}
HIDDEN void __cudaRegisterFunction(void **handle, const char *function, char *, const char *name, int, uint3 *, uint3 *,
                                   dim3 *, dim3 *, int *) {
    Call call;
    auto *kernel = new Kernel{(int)(uint64_t)handle - 1, name, -1, {}, {}, 0, -1, -1};
    kernels()[function] = kernel;
    handles().insert(kernel);
}
HIDDEN void __cudaRegisterVar(void **handle, char *variable, char *, const char *name, int, size_t, int, int) {
    Call call;
    symbols()[variable] = {(int)(uint64_t)handle - 1, name, false, nullptr};
}
HIDDEN void __cudaRegisterManagedVar(void **handle, void **variable, char *, const char *name, int, size_t, int, int) {
    Call call;
    symbols()[variable] = {(int)(uint64_t)handle - 1, name, true, variable};
}
HIDDEN char __cudaInitModule(void **handle) {
    Call call;
    int number = (int)(uint64_t)handle - 1;
    for (auto &each : symbols()) {
        Symbol &symbol = each.second;
        uint64_t address, bytes;
        if (symbol.managed && symbol.module == number && !loaded(number) &&
            !calls.variable(number, symbol.name.c_str(), &address, &bytes))
            *symbol.pointer = (void *)address;
    }
    return 1;
}
HIDDEN int simtmm_is_managed(int module, const char *name) {
    for (auto &each : symbols())
        if (each.second.managed && each.second.module == module && each.second.name == name) return 1;
    return 0;
}

struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
static thread_local std::vector<Configuration> &configurations = *new std::vector<Configuration>;  // there to the last

HIDDEN unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    configurations.push_back({grid, block, shared, stream});
    return 0;
}
API __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (configurations.empty()) return cudaErrorMissingConfiguration;
    Configuration last = configurations.back();
    configurations.pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    *(cudaStream_t *)stream = last.stream;
    return cudaSuccess;
}
API __cudaGetKernel(cudaKernel_t *found, const void *function) {
    Call call;
    *found = (cudaKernel_t)kernel_of(function);
    return *found ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
API __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    BEGIN
    return launch(kernel, grid, block, arguments, shared, stream);
}
API cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    BEGIN
    return launch(function, grid, block, arguments, shared, stream);
}
// Whether all blocks of a cooperative launch can be under way together.
static cudaError_t fits_at_once(const void *function, dim3 grid, dim3 block, size_t shared) {
    int most = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, function, block.x * block.y * block.z, shared);
    if (error) return error;
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, fit = (uint64_t)most * attribute(cudaDevAttrMultiProcessorCount);
    RETURN_IF(blocks > fit, cudaErrorCooperativeLaunchTooLarge,
              "cooperative launch of " + counted(blocks) + " blocks: " + counted(fit) + " fit the machine at once");
    return cudaSuccess;
}
API cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    BEGIN
    RETURN_IF(!config, cudaErrorInvalidValue, "");
    uint32_t cluster[3];
    bool has_cluster = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const auto &given = config->attrs[i];
        if (given.id == cudaLaunchAttributeIgnore) continue;
        if (given.id == cudaLaunchAttributeCooperative && given.val.cooperative) {
            cudaError_t error = fits_at_once(function, config->gridDim, config->blockDim, config->dynamicSmemBytes);
            if (error) return error;
        } else if (given.id != cudaLaunchAttributeClusterDimension && given.id != cudaLaunchAttributeCooperative) {
            without_effect("launch attribute " + std::to_string((int)given.id) + " of cudaLaunchKernelEx");
        }
        if (given.id != cudaLaunchAttributeClusterDimension) continue;
        const auto &size = given.val.clusterDim;
        RETURN_IF(!size.x || !size.y || !size.z, cudaErrorInvalidValue, "a cluster of no blocks");
        const uint32_t sizes[3] = {size.x, size.y, size.z};
        memcpy(cluster, sizes, sizeof sizes);
        has_cluster = true;
    }
    return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                  has_cluster ? cluster : nullptr);
}
API cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                cudaStream_t stream) {
    BEGIN
    cudaError_t error = fits_at_once(function, grid, block, shared);
    return error ? error : launch(function, grid, block, arguments, shared, stream);
}

API cudaFuncGetAttributes(cudaFuncAttributes *found, const void *function) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "");
    cudaError_t error = loaded(kernel->module);
    if (error) return error;
    int64_t values[16] = {};
    error = (cudaError_t)calls.attributes(kernel->module, kernel->name.c_str(), values);
    if (error) return failed(error);
    memset(found, 0, sizeof *found);
    found->numRegs = (int)values[0];
    found->sharedSizeBytes = values[1];
    found->constSizeBytes = values[2];
    found->localSizeBytes = values[3];
    found->maxThreadsPerBlock = (int)values[4];
    found->ptxVersion = (int)values[5];
    found->binaryVersion = (int)values[6];
    found->maxDynamicSharedSizeBytes = (int)dynamic_limit(kernel);
    found->preferredShmemCarveout = (int)kernel->carveout;
    return cudaSuccess;
}
API cudaFuncSetAttribute(const void *function, cudaFuncAttribute wanted, int value) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "");
    if (wanted == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        int64_t most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - std::max<int64_t>(0, attribute_of(kernel, 1));
        RETURN_IF(value < 0 || value > most, cudaErrorInvalidValue,
                  here("cudaFuncSetAttribute") + ": " + counted(value) + " bytes of dynamic shared memory: must be at most " +
                      counted(std::max<int64_t>(0, most)));
        kernel->dynamic_limit = -1;
        kernel->dynamic_limit = std::max<int64_t>(value, dynamic_limit(kernel));
    } else if (wanted == cudaFuncAttributePreferredSharedMemoryCarveout) {
        kernel->carveout = value;
        return without_effect("cudaFuncAttributePreferredSharedMemoryCarveout");
    } else if (wanted != cudaFuncAttributeNonPortableClusterSizeAllowed) {
        return without_effect("cudaFuncSetAttribute(" + std::to_string((int)wanted) + ")");
    }
    return cudaSuccess;
}
API cudaFuncSetCacheConfig(const void *, cudaFuncCache) { BEGIN return without_effect("cudaFuncSetCacheConfig"); }
API cudaFuncGetName(const char **name, const void *function) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel, cudaErrorInvalidDeviceFunction, "");
    *name = kernel->name.c_str();
    return cudaSuccess;
}
API cudaGetFuncBySymbol(cudaFunction_t *found, const void *symbol) {
    BEGIN
    *found = (cudaFunction_t)kernel_of(symbol);
    return *found ? cudaSuccess : failed(cudaErrorInvalidDeviceFunction);
}
API cudaGetKernel(cudaKernel_t *found, const void *symbol) {
    BEGIN
    *found = (cudaKernel_t)kernel_of(symbol);
    return *found ? cudaSuccess : failed(cudaErrorInvalidDeviceFunction);
}

// As simtmm/machine/residency.py: without a unit each thread has just its own, else a warp whole units in one file.
static int64_t blocks_by_registers(int64_t registers, int64_t threads, int64_t warps) {
    int64_t all = attribute(cudaDevAttrMaxRegistersPerMultiprocessor), unit = property("register_unit"), files = property("register_files", 1);
    if (!unit) return all / (registers * threads);
    return all / files / ((registers * property("warp_width") + unit - 1) / unit * unit) * files / warps;
}
API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads, size_t shared,
                                                           unsigned) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel || !blocks || threads <= 0, kernel ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction, "");
    int64_t registers = attribute_of(kernel, 0), own = attribute_of(kernel, 1), most_threads = attribute_of(kernel, 4);
    if (registers < 0) return last_error;
    int64_t width = property("warp_width"), warps = (threads + width - 1) / width;
    int64_t left = attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / width / warps;
    left = std::min(left, attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    if (registers) left = std::min(left, blocks_by_registers(registers, threads, warps));
    int64_t bytes = own + (int64_t)shared, unit = property("shared_unit", 1);
    if (bytes)
        left = std::min(left, attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) /
                                  ((bytes + unit - 1) / unit * unit + attribute(cudaDevAttrReservedSharedMemoryPerBlock)));
    if (threads > most_threads || bytes > attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) left = 0;
    *blocks = (int)std::max<int64_t>(0, left);
    return cudaSuccess;
}
API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
API cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int) {
    BEGIN
    Kernel *kernel = kernel_of(function);
    RETURN_IF(!kernel || blocks <= 0, cudaErrorInvalidValue, "");
    int64_t unit = property("shared_unit", 1), of_a_block = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / blocks;
    int64_t left = of_a_block / unit * unit - attribute(cudaDevAttrReservedSharedMemoryPerBlock) - attribute_of(kernel, 1);
    *bytes = std::max<int64_t>(0, std::min(left, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - attribute_of(kernel, 1)));
    return cudaSuccess;
}
