// Modules and libraries that a program loads itself, by the driver's interface and the runtime's.
#include "driver.h"

#include <cstring>
#include <fstream>
#include <iterator>

using namespace simtmm;

// Modules, whose handle is their number and one: PTX as text, a fat binary, or a .cubin that has its PTX within.
static uint64_t bytes_of_image(const void *image) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == 0xBA55ED50) return ((const uint16_t *)image)[3] + ((const uint64_t *)image)[1];  // a header, and entries
    if (magic != 0x464C457F) return strlen((const char *)image);
    uint64_t sections, most = 0;  // of ELF: its table of sections, or what lies last
    uint16_t size, count;
    memcpy(&sections, (const char *)image + 40, 8);
    memcpy(&size, (const char *)image + 58, 2);
    memcpy(&count, (const char *)image + 60, 2);
    most = sections + (uint64_t)size * count;
    for (int i = 0; i < count; i++) {
        uint32_t kind;
        uint64_t offset, bytes;
        const char *section = (const char *)image + sections + (uint64_t)size * i;
        memcpy(&kind, section + 4, 4);
        memcpy(&offset, section + 24, 8);
        memcpy(&bytes, section + 32, 8);
        if (kind != 8 && offset + bytes > most) most = offset + bytes;  // 8: takes no room in the file
    }
    return most;
}
static cudaError_t load_image(void *handle, const void *image, uint64_t bytes) {
    RETURN_IF(!handle || !image, cudaErrorInvalidValue, "");
    if (*(const uint32_t *)image == 0x466243B1) {  // what nvcc puts around a fat binary
        image = (const void *)((const uint64_t *)image)[1];
        bytes = 0;
    }
    int number;
    cudaError_t error = load_module(image, bytes ? bytes : bytes_of_image(image), &number);
    if (!error) *(uint64_t *)handle = (uint64_t)number + 1;
    return error;
}
static cudaError_t load_file(void *handle, const char *path, const char *function) {
    RETURN_IF(!path, cudaErrorInvalidValue, "");
    std::ifstream file(path, std::ios::binary);
    RETURN_IF(!file, cudaErrorFileNotFound, here(function) + ": " + path + ": can't be read");
    auto *image = new std::string(std::istreambuf_iterator<char>(file), {});  // there to the last
    RETURN_IF(image->size() < 64, cudaErrorInvalidKernelImage, here(function) + ": " + path + ": is no module");
    return load_image(handle, image->c_str(), image->size());
}
static cudaError_t kernel_in(void *found, uint64_t module, const char *name) {
    RETURN_IF(!found || !name || !module, cudaErrorInvalidValue, "");
    Kernel *kernel = kernel_named((int)module - 1, name);
    RETURN_IF(!kernel, cudaErrorInvalidSymbol, "");
    *(Kernel **)found = kernel;
    return cudaSuccess;
}
static cudaError_t variable_in(CUdeviceptr *found, size_t *bytes, uint64_t module, const char *name) {
    RETURN_IF(!name || !module, cudaErrorInvalidValue, "");
    uint64_t address, size;
    cudaError_t error = (cudaError_t)calls.variable((int)module - 1, name, &address, &size);
    if (error) return failed(error);
    if (found) *found = address;
    if (bytes) *bytes = size;
    return cudaSuccess;
}
DRIVER cuModuleLoad(CUmodule *module, const char *path) { return asked(__func__, [=] { return load_file(module, path, "cuModuleLoad"); }); }
DRIVER cuModuleLoadData(CUmodule *module, const void *image) { return asked(__func__, [=] { return load_image(module, image, 0); }); }
DRIVER cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, CUjit_option *, void **) {
    return asked(__func__, [=] { return load_image(module, image, 0); });
}
DRIVER cuModuleLoadFatBinary(CUmodule *module, const void *image) { return asked(__func__, [=] { return load_image(module, image, 0); }); }
DRIVER cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }  // its variables stay
DRIVER cuModuleGetFunction(CUfunction *found, CUmodule module, const char *name) {
    return asked(__func__, [=] { return kernel_in(found, (uint64_t)module, name); });
}
DRIVER cuModuleGetGlobal_v2(CUdeviceptr *found, size_t *bytes, CUmodule module, const char *name) {
    return asked("cuModuleGetGlobal", [=] { return variable_in(found, bytes, (uint64_t)module, name); });
}
DRIVER cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned) {
    return asked(__func__, [=] { return load_image(library, image, 0); });
}
DRIVER cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned) {
    return asked(__func__, [=] { return load_file(library, path, "cuLibraryLoadFromFile"); });
}
DRIVER cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
DRIVER cuLibraryGetKernel(CUkernel *found, CUlibrary library, const char *name) {
    return asked(__func__, [=] { return kernel_in(found, (uint64_t)library, name); });
}
DRIVER cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}
DRIVER cuLibraryGetGlobal(CUdeviceptr *found, size_t *bytes, CUlibrary library, const char *name) {
    return asked(__func__, [=] { return variable_in(found, bytes, (uint64_t)library, name); });
}
DRIVER cuKernelGetFunction(CUfunction *found, CUkernel kernel) {
    *found = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

// Libraries by the runtime's interface.
API cudaLibraryLoadData(cudaLibrary_t *library, const void *image, cudaJitOption *, void **, unsigned, cudaLibraryOption *, void **,
                        unsigned) {
    BEGIN
    return load_image(library, image, 0);
}
API cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, cudaJitOption *, void **, unsigned, cudaLibraryOption *,
                            void **, unsigned) {
    BEGIN
    return load_file(library, path, "cudaLibraryLoadFromFile");
}
API cudaLibraryUnload(cudaLibrary_t) { BEGIN return cudaSuccess; }
API cudaLibraryGetKernel(cudaKernel_t *found, cudaLibrary_t library, const char *name) {
    BEGIN
    return kernel_in(found, (uint64_t)library, name);
}
API cudaLibraryGetGlobal(void **found, size_t *bytes, cudaLibrary_t library, const char *name) {
    BEGIN
    CUdeviceptr address = 0;
    cudaError_t error = variable_in(&address, bytes, (uint64_t)library, name);
    if (!error && found) *found = (void *)address;
    return error;
}
API cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute wanted, int value, int device) {
    BEGIN
    RETURN_IF(device != 0, cudaErrorInvalidDevice, "");
    return cudaFuncSetAttribute((const void *)kernel, wanted, value);
}
