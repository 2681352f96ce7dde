// Threads that wait for each other in right ways, phase after phase, as the host draws them. Each phase is
// {kind, trips of work before it, trips within it, a number}; what each leaves is told by phases.py.

struct Phase { int kind, before, within, number; };
enum { LOCK, EACH, TICKET, GRID, CHAIN, LOOKBACK, FLAG, QUEUE, COUNT, PINGPONG, TRYLOCK, WRAP, READERS, LATE, SAME,
       DOWN, TOGGLE, LOCAL, SHARED, CLOCK, SLEEP, VOTE };

struct Words {            // a set for each phase, of 64 words
    int lock, next, serving, arrived, generation, turn, tail, slots, value, count, readers, spare[53];
};

__device__ int work(int x, int trips) {   // takes a while, and gives a number that nobody can leave out
    for (int i = 0; i < trips; i++) x = x * 1664525 + 1013904223;
    return x;
}

__device__ int of_block(int trips) {      // blocks take unlike times
    return trips ? (int)((blockIdx.x * 2654435761u + 12345u) % (unsigned)trips) : 0;
}

__device__ void acquire(int *lock) { while (atomicCAS(lock, 0, 1)) ; __threadfence(); }
__device__ void release(int *lock) { __threadfence(); atomicExch(lock, 0); }

extern "C" __global__ void phases(const Phase *phase, int count, Words *words, volatile int *flags, int *sums, int *out)
{
    __shared__ volatile int ready;
    __shared__ int found;
    int blocks = gridDim.x, block = blockIdx.x, thread = threadIdx.x, threads = blockDim.x, noise = block;
    for (int p = 0; p < count; p++) {
        Phase now = phase[p];
        Words *w = &words[p];
        volatile int *flag = flags + p * 3 * blocks;   // three for each block
        int *sum = sums + p * blocks;
        noise = work(noise, of_block(now.before));
        if (thread == 0) { ready = 0; found = 0; }
        __syncthreads();
        switch (now.kind) {
        case LOCK:                                      // a thread of each block
            if (thread == 0) {
                acquire(&w->lock);
                int v = *(volatile int *)&w->value;
                noise = work(noise, now.within);
                *(volatile int *)&w->value = v + 1;
                release(&w->lock);
            }
            break;
        case EACH: {                                    // every thread, also of one warp
            bool done = false;
            while (!done) {
                if (atomicCAS(&w->lock, 0, 1) == 0) {
                    __threadfence();
                    *(volatile int *)&w->value = *(volatile int *)&w->value + 1;
                    __threadfence();
                    atomicExch(&w->lock, 0);
                    done = true;
                }
            }
            break;
        }
        case TICKET:
            if (thread == 0) {
                int mine = atomicAdd(&w->next, 1);
                while (*(volatile int *)&w->serving != mine) ;
                __threadfence();
                *(volatile int *)&w->value = *(volatile int *)&w->value + 1;
                noise = work(noise, now.within);
                __threadfence();
                *(volatile int *)&w->serving = mine + 1;
            }
            break;
        case GRID:                                      // a barrier of the grid, over and over
            for (int round = 0; round < now.number; round++) {
                if (thread == 0) {
                    int before = *(volatile int *)&w->generation;
                    __threadfence();
                    if (atomicAdd(&w->arrived, 1) == blocks - 1) {
                        atomicExch(&w->arrived, 0);
                        atomicAdd(&w->value, 1);
                        __threadfence();
                        *(volatile int *)&w->generation = before + 1;
                    } else {
                        while (*(volatile int *)&w->generation == before) ;
                    }
                }
                __syncthreads();
                noise = work(noise, of_block(now.within));
            }
            break;
        case CHAIN:                                     // each block takes up where the one before it has ended
            if (thread == 0) {
                int so_far = 0;
                if (block > 0) { while (flag[block - 1] == 0) ; __threadfence(); so_far = *(volatile int *)&sum[block - 1]; }
                noise = work(noise, now.within);
                sum[block] = so_far + block + 1;
                __threadfence();
                flag[block] = 1;
                if (block == blocks - 1) w->value = sum[block];
            }
            break;
        case LOOKBACK:                                  // decoupled: 1 is a block's own sum, 2 that of all before as well
            if (thread == 0) {
                volatile int *own = flag + blocks, *all = flag + 2 * blocks;
                own[block] = block + 1;
                __threadfence();
                if (block > 0) flag[block] = 1;
                noise = work(noise, now.within);
                int so_far = 0;
                for (int at = block - 1; at >= 0; at--) {
                    int state;
                    do state = flag[at]; while (state == 0);
                    __threadfence();
                    if (state == 2) { so_far += all[at]; break; }
                    so_far += own[at];
                }
                all[block] = so_far + block + 1;
                __threadfence();
                flag[block] = 2;
                if (block == blocks - 1) w->value = all[block];
            }
            break;
        case FLAG:                                      // within a block: the last warp tells the others
            if (thread / 32 == (threads - 1) / 32) {
                noise = work(noise, now.within);
                if (thread == threads - 1) { __threadfence_block(); ready = 1; }
            } else {
                while (ready == 0) ;
            }
            if (thread == 0) atomicAdd(&w->value, 1);
            break;
        case QUEUE:                                     // each waits on a word of its own (MCS); 0 is nobody
            if (thread == 0) {
                volatile int *next = flag, *waits = flag + blocks;
                next[block] = 0;
                waits[block] = 1;
                __threadfence();
                int before = atomicExch(&w->tail, block + 1);
                if (before) {
                    next[before - 1] = block + 1;
                    while (waits[block]) ;
                    __threadfence();
                }
                *(volatile int *)&w->value = *(volatile int *)&w->value + 1;
                noise = work(noise, now.within);
                __threadfence();
                if (next[block] == 0 && atomicCAS(&w->tail, block + 1, 0) == block + 1) break;
                while (next[block] == 0) ;
                waits[next[block] - 1] = 0;
            }
            break;
        case COUNT:                                     // so many may be inside at once
            if (thread == 0) {
                for (;;) {
                    int inside = atomicAdd(&w->slots, 1);
                    if (inside < now.number) break;
                    atomicSub(&w->slots, 1);
                }
                noise = work(noise, now.within);
                atomicAdd(&w->value, 1);
                atomicSub(&w->slots, 1);
            }
            break;
        case PINGPONG:                                  // a word goes to and fro between values that come again
            if (thread == 0) {
                for (int round = 0; round < now.number; round++) {
                    while (*(volatile int *)&w->turn != block) ;
                    noise = work(noise, now.within);
                    atomicAdd(&w->value, 1);
                    __threadfence();
                    *(volatile int *)&w->turn = (block + 1) % blocks;
                }
            }
            break;
        case TRYLOCK:                                   // waits ever longer between its tries, up to a bound
            if (thread == 0) {
                int pause = 1;
                while (atomicExch(&w->lock, 1)) {
                    noise = work(noise, pause);
                    pause = pause < 64 ? pause * 2 : 64;
                }
                __threadfence();
                *(volatile int *)&w->value = *(volatile int *)&w->value + 1;
                noise = work(noise, now.within);
                release(&w->lock);
            }
            break;
        case WRAP:                                      // atomicInc comes back to 0 when all have come
            if (thread == 0) {
                if (atomicInc((unsigned *)&w->arrived, blocks - 1) == blocks - 1) { atomicAdd(&w->value, blocks); atomicExch(&w->count, 1); }
                else while (atomicAdd(&w->count, 0) == 0) ;
            }
            break;
        case READERS:                                   // many readers or one writer
            if (thread == 0) {
                if (block % 3 == 0) {
                    while (atomicCAS(&w->readers, 0, -1) != 0) ;
                    __threadfence();
                    *(volatile int *)&w->value = *(volatile int *)&w->value + 1;
                    noise = work(noise, now.within);
                    __threadfence();
                    atomicExch(&w->readers, 0);
                } else {
                    for (;;) {
                        int seen = atomicAdd(&w->readers, 0);
                        if (seen >= 0 && atomicCAS(&w->readers, seen, seen + 1) == seen) break;
                    }
                    noise = work(noise, now.within);
                    atomicSub(&w->readers, 1);
                }
            }
            break;
        case LATE:                                      // one block takes long, all others spin in one state
            if (thread == 0) {
                if (block == now.number % blocks) {
                    noise = work(noise, 40 * now.within);
                    __threadfence();
                    atomicExch(&w->count, 1 + (noise == 0x7ffffffe));
                    w->value = blocks;
                } else while (atomicCAS(&w->count, 7, 7) == 0) ;
            }
            break;
        case SAME:                                      // what waits stores again and again what is there, till it isn't
            if (thread == 0) {
                if (block == 0) { noise = work(noise, 8 * now.within); atomicExch(&w->count, 1); w->value = blocks; }
                else while (atomicAdd(&w->count, 0) == 0) { *(volatile int *)&w->lock = 5; atomicMax(&w->turn, 3); atomicOr(&w->spare[1], 2); }
            }
            break;
        case DOWN:                                      // what is left to do stands in memory alone
            if (thread == 0) {
                if (block == 0) {
                    volatile int *left = &w->turn;
                    *left = now.within;
                    while (*left > 0) *left = *left - 1;
                    w->value = blocks;
                    __threadfence();
                    atomicExch(&w->count, 1);
                } else while (atomicAdd(&w->count, 0) == 0) ;
            }
            break;
        case TOGGLE:                                    // a word that is as it was, each time that a turn ends
            if (thread == 0) {
                if (block == 0) {
                    atomicExch(&w->turn, now.within);
                    while (atomicAdd(&w->turn, 0) > 0) {
                        atomicXor(&w->lock, 1);
                        atomicXor(&w->lock, 1);
                        atomicSub(&w->turn, 1);
                    }
                    w->value = blocks;
                    __threadfence();
                    atomicExch(&w->count, 1);
                } else while (*(volatile int *)&w->count == 0) ;
            }
            break;
        case LOCAL: {                                   // in local memory,
            volatile int left[2] = {now.within, 0};
            while (left[w->spare[2]] > 0) { atomicOr(&w->lock, 4); left[0] = left[0] - 1; }
            if (thread == 0) atomicAdd(&w->value, 1);
            break;
        }
        case SHARED:                                    // in shared memory
            if (thread == 0) {
                volatile int *left = &ready;
                *left = now.within;
                while (*left > 0) { atomicOr(&w->lock, 4); *left = *left - 1; }
                atomicAdd(&w->value, 1);
            }
            break;
        case CLOCK:
            if (thread == 0) {
                long long begun = clock64();
                while (clock64() - begun < 8 * now.within) atomicOr(&w->lock, 4);
                atomicAdd(&w->value, 1);
            }
            break;
        case SLEEP:
            if (thread == 0) {
                if (block == 0) { noise = work(noise, 8 * now.within); __threadfence(); atomicExch(&w->count, 1); }
                else while (*(volatile int *)&w->count == 0) __nanosleep(20);
                atomicAdd(&w->value, 1);
            }
            break;
        case VOTE:                                      // a warp waits together, its lanes for words of their own
            if (thread < 32) {
                unsigned all = __activemask();
                if (block == 0) {
                    noise = work(noise, now.within);
                    for (int at = thread; at < 8; at += min(threads, 32)) atomicExch(&w->spare[4 + at], 1);
                } else {
                    while (!__all_sync(all, *(volatile int *)&w->spare[4 + thread % 8] != 0)) ;
                }
                if (thread == 0) atomicAdd(&w->value, 1);
            }
            break;
        }
        __syncthreads();
        if (thread == 0) found = p;
    }
    if (thread == 0) out[block] = found + (noise == 0x7fffffff ? 1000 : 0);
}
