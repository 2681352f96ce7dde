#include <algorithm>
#include <cuda_runtime.h>
#include "kernels.h"
void reference(std::vector<double> &a, const Config &c) {
  std::vector<double> b(a.size());
  for (int s = 0; s < c.steps; s++) {
#pragma omp parallel for
    for (int y = 0; y < c.ny; y++)
      for (int x = 0; x < c.nx; x++) {
        auto at = [&](int i, int j) { return a[std::clamp(j, 0, c.ny - 1) * c.nx + std::clamp(i, 0, c.nx - 1)]; };
        b[y * c.nx + x] = at(x, y) + c.alpha * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y));
      }
    a.swap(b);
  }
}
