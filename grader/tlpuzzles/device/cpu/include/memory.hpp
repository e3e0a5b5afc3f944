// Tiles: memory, poison, and the test of every index.
#pragma once

#include <cstdlib>
#include <new>

#include "scalars.hpp"

namespace tile {

// Where in the learner's kernel a tile is indexed.
struct Site {
  const char *buffer;
  int32_t dimension;
  int32_t line;
  int64_t extent;
};

// Thrown to end a run.
struct Violation {
  const Site *site;
  int64_t index;
};
struct FailedAssertion {
  const char *message;
  int32_t line;
};

[[noreturn]] __attribute__((cold, noinline)) inline void fail(const Site &site, int64_t index) {
  throw Violation{&site, index};
}
[[noreturn]] __attribute__((cold, noinline)) inline void fail_assertion(const char *message, int32_t line) {
  throw FailedAssertion{message, line};
}

inline int64_t at(int64_t index, const Site &site) {
  if (uint64_t(index) >= uint64_t(site.extent)) fail(site, index);
  return index;
}

// Tests the indices min, ..., min + count - 1 of one dimension.
inline int64_t span(int64_t min, int64_t count, const Site &site) {
  if (count > 0) {
    if (min < 0 || min >= site.extent) fail(site, min);
    if (count > site.extent - min) fail(site, site.extent);
  }
  return min;
}

inline bool inside(int64_t index, int64_t extent) { return uint64_t(index) < uint64_t(extent); }

// One dimension of a tensor and an index into it.
struct Dim {
  int64_t index, extent, stride;
};

// An element of a tensor, or `outside` if an index is out of range. For indices that are themselves read from memory.
template <class T, class... Dims> inline T load(const T *data, T outside, Dims... dims) {
  return (inside(dims.index, dims.extent) && ...) ? data[((dims.index * dims.stride) + ...)] : outside;
}

// Zero-filled memory of the heap: a tile may be larger than any stack.
template <class T> class Array {
 public:
  explicit Array(uint64_t count) : data_(static_cast<T *>(std::calloc(count == 0 ? 1 : count, sizeof(T)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~Array() { std::free(data_); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  T *data() const { return data_; }

 private:
  T *data_;
};

// What a tile holds before anything is written to it. In order: NaN, which spoils every sum. Reversed: a large finite
// number, because a maximum skips NaN; its sign alternates so that a minimum shows it too.
template <class T> inline void poison(T *data, int64_t count, bool reversed, int64_t block) {
  T even, odd;
  if constexpr (std::is_same<T, bool>::value) {
    even = odd = !reversed;
  } else if constexpr (is_real<T>) {
    const float large = std::is_same<T, half>::value ? 60000.0f : 1e30f;
    even = reversed ? T(large) : T(std::numeric_limits<float>::quiet_NaN());
    odd = reversed ? T(-large) : even;
  } else {
    const T large = T(std::numeric_limits<T>::max() / 3 * 2) | T(1);
    even = large;
    odd = reversed ? T(std::numeric_limits<T>::min() / 3 * 2) | T(1) : large;
  }
  if (block & 1) {
    const T first = even;
    even = odd;
    odd = first;
  }
  int64_t i = 0;
  for (; i + 1 < count; i += 2) {
    data[i] = even;
    data[i + 1] = odd;
  }
  if (i < count) data[i] = even;
}

}  // namespace tile
