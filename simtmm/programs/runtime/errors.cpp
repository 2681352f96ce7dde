// Errors: the last one, those that stay, and what they are called.
#include "runtime.h"

#include <algorithm>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace simtmm {

cudaError_t last_error = cudaSuccess, sticky_error = cudaSuccess, error_of_work = cudaSuccess;
std::recursive_mutex mutex;
// There to the last: destructors of a program's own objects free memory when those of its threads have run.
thread_local std::string &site_place = *new std::string, &site_text = *new std::string;

static const std::map<int, const char *> &names() {
    static const auto &found = *new std::map<int, const char *>{  // there to the last
#include "error_names.inc"
    };
    return found;
}

// As libcudart says them; of rarer ones their names are given.
static const std::map<int, const char *> texts = {
    {0, "no error"},
    {1, "invalid argument"},
    {2, "out of memory"},
    {3, "initialization error"},
    {4, "driver shutting down"},
    {9, "invalid configuration argument"},
    {12, "invalid pitch argument"},
    {13, "invalid device symbol"},
    {16, "invalid host pointer"},
    {17, "invalid device pointer"},
    {18, "invalid texture reference"},
    {20, "invalid channel descriptor"},
    {21, "invalid copy direction for memcpy"},
    {26, "invalid filter mode setting"},
    {35, "CUDA driver version is insufficient for CUDA runtime version"},
    {98, "invalid device function"},
    {100, "no CUDA-capable device is detected"},
    {101, "invalid device ordinal"},
    {200, "device kernel image is invalid"},
    {201, "invalid device context"},
    {205, "mapping of buffer object failed"},
    {209, "no kernel image is available for execution on the device"},
    {217, "peer access is not supported between these two devices"},
    {218, "a PTX JIT compilation failed"},
    {400, "invalid resource handle"},
    {401, "the operation cannot be performed in the present state"},
    {500, "named symbol not found"},
    {600, "device not ready"},
    {700, "an illegal memory access was encountered"},
    {701, "too many resources requested for launch"},
    {702, "the launch timed out and was terminated"},
    {704, "peer access is already enabled"},
    {705, "peer access has not been enabled"},
    {708, "cannot set while device is active in this process"},
    {710, "device-side assert triggered"},
    {712, "part or all of the requested memory range is already mapped"},
    {713, "pointer does not correspond to a registered memory region"},
    {714, "hardware stack error"},
    {715, "an illegal instruction was encountered"},
    {716, "misaligned address"},
    {717, "operation not supported on global/shared address space"},
    {718, "invalid program counter"},
    {719, "unspecified launch failure"},
    {720, "too many blocks in cooperative launch"},
    {800, "operation not permitted"},
    {801, "operation not supported"},
    {900, "operation not permitted when stream is capturing"},
    {901, "operation failed due to a previous error during capture"},
    {999, "unknown error"},
};

void say(const char *kind, const std::string &text) {
    fflush(stdout);  // so that the program's earlier output stands before it
    fprintf(stderr, "simtmm: %s%s\n", kind, text.c_str());
    fflush(stderr);
}

static std::vector<std::string> &accepted() {
    static auto &found = *new std::vector<std::string>;  // there to the last
    return found;
}

cudaError_t without_effect(const std::string &what) {
    std::lock_guard<std::recursive_mutex> lock{mutex};
    if (std::find(accepted().begin(), accepted().end(), what) == accepted().end()) accepted().push_back(what);
    return cudaSuccess;
}

void tell_without_effect() {
    std::string names;
    for (auto &each : accepted()) names += (names.empty() ? "" : ", ") + each;
    if (!names.empty()) say("note: ", "accepted, but changes neither results nor times here: " + names);
}

bool is_sticky(cudaError_t error) {
    return (error >= 700 && error <= 719 && error != 701 && error != 704 && error != 705 && error != 708 &&
            error != 712 && error != 713);
}

cudaError_t failed(cudaError_t error, const std::string &why) {
    if (error == cudaSuccess || error == cudaErrorNotReady) return error;
    if (!why.empty()) say("error: ", why);
    last_error = error;
    if (is_sticky(error)) sticky_error = error;
    return error;
}

int refused(const char *function) {
    Call call;
    return failed(cudaErrorNotSupported, here(function) + ": is not supported");
}

cudaError_t learned() {
    waited_for();
    cudaError_t found = error_of_work;
    error_of_work = cudaSuccess;
    return failed(found);
}

thread_local const char *called_as = nullptr;

std::string here(const char *function) {
    if (called_as) function = called_as;
    return site_place.empty() ? std::string(function) : site_place + ": " + function;
}

void forget_site() {
    site_place.clear();
    site_text.clear();
}

// What the program calls the first argument: of `(void**)&d_a, n * sizeof(float)`, d_a.
std::string first_argument() {
    std::string text = site_text;
    int depth = 0;
    size_t end = text.size();
    for (size_t i = 0; i < text.size(); i++) {
        if (strchr("([{", text[i])) depth++;
        if (strchr(")]}", text[i])) depth--;
        if (text[i] == ',' && depth == 0) {
            end = i;
            break;
        }
    }
    text = text.substr(0, end);
    size_t address = text.rfind('&');
    if (address != std::string::npos) text = text.substr(address + 1);
    std::string found;
    for (char letter : text)
        if (letter != ' ' && letter != '(' && letter != ')' && letter != '*') found += letter;
    static const std::string plain = "_.->[]:";
    for (char letter : found)
        if (!isalnum((unsigned char)letter) && plain.find(letter) == std::string::npos) return "";
    return found;
}

std::string counted(uint64_t number) {
    std::string digits = std::to_string(number), found;
    for (size_t i = 0; i < digits.size(); i++) {
        if (i && (digits.size() - i) % 3 == 0) found += ',';
        found += digits[i];
    }
    return found;
}

}  // namespace simtmm

using namespace simtmm;

extern "C" __attribute__((visibility("default"))) void simtmm_site(const char *file, int line, const char *text) {
    site_place = std::string(file) + ":" + std::to_string(line);
    site_text = text;
}

extern "C" __attribute__((visibility("default"))) const char *simtmm_place() { return site_place.c_str(); }

API cudaGetLastError() {
    Call call;
    cudaError_t found = sticky_error ? sticky_error : last_error;
    last_error = cudaSuccess;
    return found;
}

API cudaPeekAtLastError() {
    Call call;
    return sticky_error ? sticky_error : last_error;
}

extern "C" __attribute__((visibility("default"))) const char *cudaGetErrorString(cudaError_t error) {
    auto found = texts.find(error);
    if (found != texts.end()) return found->second;
    auto name = names().find(error);
    return name == names().end() ? "unrecognized error code" : name->second;
}

extern "C" __attribute__((visibility("default"))) const char *cudaGetErrorName(cudaError_t error) {
    auto name = names().find(error);
    return name == names().end() ? "unrecognized error code" : name->second;
}
