// Threads of a block as fibers, one block after another: what waits is left, and the next thread goes on.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
#include <ucontext.h>

namespace fibers {

constexpr size_t STACK = 1 << 18;  // bytes

struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  unsigned number;
  bool done = false;
};

// One call of a warp function by the lanes of a mask: what each gave, who is there, and who has not yet read it.
struct Meeting {
  unsigned arrived = 0, reading = 0;
  unsigned __int128 given[32];
};

inline std::vector<Thread> threads;
inline Thread* now;
inline ucontext_t scheduler;
inline std::vector<std::map<unsigned, Meeting>> warps;  // meetings by mask
inline unsigned block, blocks, alive, waiting, turn;    // turn: barriers so far
inline int counted, counts;                             // of a barrier that counts: so far, and of the last one
inline bool moved;
inline void (*kernel)();

[[noreturn]] inline void fail(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::_Exit(3);
}

inline void leave() { swapcontext(&now->context, &scheduler); }

inline void open_barrier() {
  counts = counted, counted = 0, waiting = 0, ++turn, moved = true;
}

// Wait for every thread of the block that has not ended; how many of them gave true.
inline int barrier(bool given) {
  unsigned mine = turn;
  counted += given;
  if (++waiting == alive) open_barrier();
  else
    while (turn == mine) leave();
  return counts;
}

// What each lane of a mask gives, once all of them are here.
inline void meet(unsigned mask, unsigned __int128 given, unsigned __int128* found) {
  unsigned bit = 1u << now->number % 32;
  if (!(mask & bit)) fail("a lane is not in its own mask");
  Meeting& meeting = warps[now->number / 32][mask];
  while (meeting.reading) leave();
  meeting.given[now->number % 32] = given;
  meeting.arrived |= bit;
  if (meeting.arrived == mask) meeting.arrived = 0, meeting.reading = mask, moved = true;
  while (!(meeting.reading & bit)) leave();
  std::memcpy(found, meeting.given, sizeof meeting.given);
  meeting.reading &= ~bit;
  if (!meeting.reading) moved = true;
}

inline void begin() {
  kernel();
  now->done = moved = true;
  if (--alive && waiting == alive) open_barrier();
  leave();
}

inline void run(void (*function)(), unsigned grid, unsigned size) {
  kernel = function, blocks = grid;
  for (block = 0; block < grid; ++block) {
    threads = std::vector<Thread>(size);
    warps.assign((size + 31) / 32, {});
    alive = size, waiting = 0, counted = 0;
    for (unsigned number = 0; number < size; ++number) {
      Thread& thread = threads[number];
      thread.number = number;
      thread.stack.resize(STACK);
      getcontext(&thread.context);
      thread.context.uc_stack = {thread.stack.data(), 0, STACK};
      makecontext(&thread.context, begin, 0);
    }
    while (alive) {
      moved = false;
      for (Thread& thread : threads)
        if (!thread.done) {
          now = &thread;
          swapcontext(&scheduler, &thread.context);
        }
      if (alive && !moved) fail("threads wait for each other");
    }
  }
}

}  // namespace fibers
