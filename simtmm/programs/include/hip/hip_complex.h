#pragma once
#include "hip_runtime.h"
#include <cuComplex.h>
#define hipFloatComplex cuFloatComplex
#define hipDoubleComplex cuDoubleComplex
#define make_hipFloatComplex make_cuFloatComplex
#define make_hipDoubleComplex make_cuDoubleComplex
