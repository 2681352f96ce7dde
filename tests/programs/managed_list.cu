// A linked list in managed memory, which the host makes, the device walks, and the host reads again.
#include "check.h"
struct Node { int value; Node *next; };
__managed__ int visited = 0;
__global__ void walk(Node *head) {
    for (Node *node = head; node; node = node->next) { node->value *= 2; visited++; }
}
int main() {
    Node *head = nullptr;
    for (int i = 0; i < 20; i++) {
        Node *node;
        CHECK(cudaMallocManaged(&node, sizeof(Node)));
        node->value = i; node->next = head; head = node;
    }
    visited = 5;
    walk<<<1, 1>>>(head);
    CHECK(cudaDeviceSynchronize());
    int sum = 0;
    while (head) { sum += head->value; Node *next = head->next; CHECK(cudaFree(head)); head = next; }
    return answer(sum == 380 && visited == 25);
}
