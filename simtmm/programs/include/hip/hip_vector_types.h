#pragma once
#include "hip_runtime.h"
#include <vector_types.h>
