// System calls for a child that shares the memory of a process which goes on running (spawn, Errand): nothing here touches
// errno or anything else in memory that is the parent's, and nothing calls into libc. A failure is the negative error number.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace muster::os {

// Marks a function that runs in the child, on a stack of its own in our memory. Sanitizers know nothing of that, and would take the child's
// stack, and its calls that never return, for ours; so such a function also calls nothing that they watch, such as a vector's operator.
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

// Whether a child may run beside its parent. On other machines libc's syscall() has to do, which writes errno; the child shares that with
// its parent, so the parent waits in the kernel.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool kChildRunsBeside = true;
#else
inline constexpr bool kChildRunsBeside = false;
#endif

IN_CHILD inline long raw_call(long number, long first = 0, long second = 0, long third = 0, long fourth = 0, long fifth = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = fourth;
  register long r8 __asm__("r8") = fifth;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = first;
  register long x1 __asm__("x1") = second;
  register long x2 __asm__("x2") = third;
  register long x3 __asm__("x3") = fourth;
  register long x4 __asm__("x4") = fifth;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory", "cc");
  return x0;
#else
  const long result = syscall(number, first, second, third, fourth, fifth);
  return result < 0 ? -errno : result;
#endif
}

template <class T>
IN_CHILD inline long raw_pointer(T* p) {
  return reinterpret_cast<long>(p);
}

}  // namespace muster::os
