// What the parts of the CUDA runtime have in common: memory, errors, the device, and calls of Python.
//
// A program is linked with this runtime in the place of libcudart. Everything that it asks for is done at once, on the
// host: a stream's work has ended when the call that gave it comes back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace simtmm {

// Calls of Python, all with numbers and addresses. Those that give int give a cudaError.
struct Calls {
    // The PTX of an image belongs to the program from now on. is_apart: 1 for one that the program loads by itself, and
    // that none of its own device code was linked with.
    int (*load)(int module, const void *image, uint64_t bytes, int is_apart);
    // Parameters of a kernel: how many, and where each begins and ends. Gives their number; below 0, minus an error.
    int (*parameters)(int module, const char *kernel, int most, uint32_t *offsets, uint32_t *sizes);
    // What cudaFuncGetAttributes tells; see FUNCTION_ATTRIBUTES of launches.py.
    int (*attributes)(int module, const char *kernel, int64_t *values);
    // sizes: of the grid, a block and a cluster, 0 for one as the kernel says. follows_in_graph: 1 for a kernel of a graph's launch that is not its first.
    int (*launch)(int module, const char *kernel, const uint32_t *sizes, uint64_t shared, const void *parameters,
                  uint64_t bytes, uint64_t stream, int follows_in_graph);
    int (*variable)(int module, const char *name, uint64_t *address, uint64_t *bytes);
    // The simulated time: the end of what is on a stream now; a stream, or the host where that is -1, waits for such an
    // end, or for all where that is -1; the host waits for a stream; whether a mark, or a stream where that is -1, has
    // ended; and seconds between two.
    int64_t (*mark)(uint64_t stream);
    void (*wait)(int64_t mark, int64_t stream);
    void (*wait_for_stream)(uint64_t stream);
    int (*query)(int64_t mark, uint64_t stream);
    int (*elapsed)(int64_t begin, int64_t end, double *seconds);
    // The host's: it has done something of its own for so many ns; and how late it is, in ns, 0 for success.
    void (*advance)(int64_t nanoseconds);
    int (*now)(int64_t *nanoseconds);
    // Copies by Way, with where their bytes begin on the host and on the device, 0 where it is no such place; fills, managed memory that moves, by Move, and that the host takes back.
    void (*copied)(uint64_t stream, int way, uint64_t bytes, int is_pinned, int is_awaited, uint64_t host, uint64_t device);
    void (*filled)(uint64_t stream, uint64_t bytes);
    void (*fetched)(uint64_t stream, uint64_t bytes, int move);
    void (*taken_back)(uint64_t bytes);
    // The host asked for memory, or gave some back: see ALLOCATIONS of calls.py.
    void (*allocated)(int what, uint64_t bytes);
    // Places within a file's code at which rdtsc and rdtscp stand, from one to another, at most so many. Gives their
    // number; below 0 where that can't be found out.
    int (*disassembled)(const char *path, uint64_t begin, uint64_t end, uint64_t *found, int most);
    // The program ends: what was recorded is written.
    void (*finish)(int status);
};
extern Calls calls;

// Numbers of the machine: simtmm/programs/properties.py tells them.
int64_t property(const char *name, int64_t otherwise = 0);
int64_t attribute(cudaDeviceAttr attribute);  // of the device

// Memory. Host code may read MANAGED and PINNED memory at the address that kernels have for it; DEVICE memory has its
// bytes elsewhere, and its addresses can't be read by the host. REGISTERED is the program's own, at a second address.
enum Kind { DEVICE, MANAGED, PINNED, REGISTERED };
enum Way { WITHIN, TO_DEVICE, FROM_DEVICE };  // of a copy

// Managed memory that comes to the device because a kernel needs it, or by a prefetch; that a kernel reads where it is, on
// the host; and that a prefetch brings back.
enum Move { FAULTS, PREFETCH, ACROSS, PREFETCH_BACK };

struct Piece {
    uint64_t address, bytes, host;  // as kernels have it; its size; where its bytes lie
    int32_t kind, flags;
    uint64_t serial;
    std::string name, place;  // what it is called, and the line that asked for it
    bool touched;  // whether anything was written to it
    uint64_t range;     // of managed memory: the mapping that it is in
    uint64_t moved;     // and how often the host had taken some of that back as this came to the device
    uint64_t hash;      // of its bytes, where `is_hashed`
    bool is_hashed;
    uint64_t element;  // bytes of an element, where known
};

Piece *allocate(Kind kind, uint64_t bytes, const std::string &name, uint64_t register_at = 0);
Piece *find(const void *pointer);
void written(Piece *piece);  // somebody has
bool is_locked(const void *pointer);  // whether a copy engine can reach it
bool release(const void *pointer, int kind_wanted, const char *function);
bool is_device_region(const void *pointer);
void all_touched();

// Managed memory (managed.cpp). It lies between two addresses, in ranges that are mappings of their own.
void managed_lies(uint64_t begin, uint64_t end);
bool has_room_for_range();
void managed_begins(uint64_t range, uint64_t extent, uint64_t bytes);
void managed_ends(uint64_t range, uint64_t bytes);
bool is_on_device(const Piece *piece);  // some of it
void give_to_kernel(Piece *piece);
void prefetch(Piece *piece, uint64_t bytes, bool is_to_device);
// Gives false for advice on a part, which is not followed.
bool advise(Piece *piece, uint64_t bytes, cudaMemoryAdvise advice, bool is_for_host);
int64_t advised(const Piece *piece, cudaMemRangeAttribute which);
void waited_for();                // the host has waited for the device
void arm();                       // and goes on with code of its own
void take_back(bool is_needed);   // what it has used since then: each time, or now and then where that was nothing
void disarm();                    // likewise; what follows is no use of the host's own

// Where bytes lie that a pointer names: of a device's memory elsewhere than it says. Gives null, and says why, where
// so many are not there.
enum Role { ANY, ON_DEVICE, ON_HOST };
void *bytes_at(const void *pointer, uint64_t bytes, Role role, const char *what);

// Errors. `failed` keeps one as CUDA does, and says what went wrong on standard error if there is something to say.
extern cudaError_t last_error, sticky_error;
extern cudaError_t error_of_work;  // of a kernel under way: the host learns of it where it waits
bool is_sticky(cudaError_t error);  // whether it is of a kernel that ran, and stays
cudaError_t learned();             // it has waited
cudaError_t failed(cudaError_t error, const std::string &why = "");
void say(const char *kind, const std::string &text);
std::string counted(uint64_t number);
cudaError_t without_effect(const std::string &what);  // accepted; named once the program ends
void tell_without_effect();

// The line of the call under way, which the names in simtmm_cuda.h tell; used up by `here`.
extern thread_local std::string &site_place, &site_text;
extern thread_local const char *called_as;  // a function of the driver's interface that asks one of these; or null
std::string here(const char *function);
std::string first_argument();
void forget_site();

extern std::recursive_mutex mutex;
void entered();  // the program's own time stands still from here (clock.cpp)
void left();
struct Call {  // one at a time
    std::lock_guard<std::recursive_mutex> lock{mutex};
    Call() { entered(); }
    ~Call() {
        forget_site();
        left();
    }
};

#define API extern "C" __attribute__((visibility("default"))) cudaError_t
#define BEGIN            \
    simtmm::Call call_;  \
    if (simtmm::sticky_error) return simtmm::failed(simtmm::sticky_error);
#define RETURN_IF(condition, error, why) \
    if (condition) return simtmm::failed(error, why);

// Work on a stream: done at once, or kept where the stream is being captured.
using Work = std::function<cudaError_t()>;
cudaError_t enqueue(cudaStream_t stream, const Work &work, cudaGraphNodeType type = cudaGraphNodeTypeMemcpy);
bool is_capturing(cudaStream_t stream);
extern uint64_t stream_at_work;  // whose work is being done
extern int64_t kernels_of_graph;  // that the graph at work has launched so far; -1 where none is at work
uint64_t number_of(cudaStream_t stream);  // 0: the default one

struct Kernel {
    int module;
    std::string name;
    int parameters;  // -1: not known yet
    std::vector<uint32_t> offsets, sizes;
    uint64_t bytes;
    int64_t dynamic_limit, carveout;
};
Kernel *kernel_of(const void *function);
cudaError_t layout_of(Kernel *kernel);
cudaError_t load_module(const void *image, uint64_t bytes, int *number);  // that the program loads by itself
Kernel *kernel_named(int module, const char *name);  // null, with an error told, for one that is not there
// cluster: blocks of a cluster along each axis; as the kernel says if left out.
cudaError_t launch_packed(Kernel *kernel, dim3 grid, dim3 block, uint64_t shared, const std::vector<char> &parameters,
                          const uint32_t *cluster = nullptr);
std::vector<char> packed(Kernel *kernel, void **arguments);
int64_t attribute_of(Kernel *kernel, int number);
cudaError_t symbol_of(const void *symbol, uint64_t *address, uint64_t *bytes);

cudaError_t copy(void *to, const void *from, uint64_t bytes, cudaMemcpyKind kind, const char *function);
void leaks();

// Of an array of CUDA's, its memory (arrays.cpp).
struct ArraySide {
    char *bytes;
    uint64_t pitch, height, element;
};
bool array_side(cudaArray_const_t array, ArraySide *side);

}  // namespace simtmm
