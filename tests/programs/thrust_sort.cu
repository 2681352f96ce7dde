// Thrust: sorted by a functor, reduced, scanned.
#include "check.h"
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
int main() {
    const int n = 500;
    thrust::host_vector<int> values(n);
    for (int i = 0; i < n; i++) values[i] = (i * 7919) % 1009;
    thrust::device_vector<int> device = values;
    thrust::sort(device.begin(), device.end());
    int sum = thrust::reduce(device.begin(), device.end());
    thrust::device_vector<int> sums(n);
    thrust::inclusive_scan(device.begin(), device.end(), sums.begin());
    std::sort(values.begin(), values.end());
    bool right = true;
    int so_far = 0;
    for (int i = 0; i < n; i++) {
        so_far += values[i];
        right = right && device[i] == values[i] && sums[i] == so_far;
    }
    return answer(right && sum == so_far);
}
