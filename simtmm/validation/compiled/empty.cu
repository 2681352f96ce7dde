// Nothing: what is timed is the launch and the blocks that start and end.
__global__ void empty()
{
}
