// Operations on regions of tiles and tensors: copy, fill, atomic updates, reductions, scans.
#pragma once

#include "memory.hpp"

#if defined(__clang__)
#define TILE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TILE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TILE_INDEPENDENT
#endif

namespace tile {

// One side of an operation along one axis: the region's first index, the extent of the buffer, its stride.
struct Side {
  int64_t min, extent, stride;
};

// One axis of an operation on two regions: iterations 0 .. count - 1, and for which of them each side is in range.
struct Axis {
  int64_t count, source_stride, target_stride;
  int64_t source_begin, source_end, target_begin, target_end;
};

inline Axis axis(int64_t count, Side source, Side target) {
  const auto begin = [&](Side side) { return min(max<int64_t>(0, -side.min), max<int64_t>(0, count)); };
  const auto end = [&](Side side) { return max(begin(side), min(count, side.extent - side.min)); };
  return {count, source.stride, target.stride, begin(source), end(source), begin(target), end(target)};
}

// An axis of tiles, whose indices have been tested.
inline Axis axis(int64_t count, int64_t source_stride, int64_t target_stride) {
  return {count, source_stride, target_stride, 0, count, 0, count};
}

template <class S, class T> inline void convert(const S *source, T *target, int64_t count) {
  if constexpr (std::is_same<S, T>::value) {
    if (count > 0) std::memcpy(target, source, uint64_t(count) * sizeof(T));
  } else {
    TILE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) target[i] = cast<T>(source[i]);
  }
}

// Calls each(source offset, target offset, in range of the source) for all indices in range of the target.
template <class F> void for_each(const Axis *axis, int rank, bool reversed, int64_t s, int64_t t, bool readable, F &&each) {
  if (rank == 0) {
    each(s, t, readable);
    return;
  }
  const int64_t count = axis->target_end - axis->target_begin;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = reversed ? axis->target_end - 1 - n : axis->target_begin + n;
    for_each(axis + 1, rank - 1, reversed, s + i * axis->source_stride, t + i * axis->target_stride,
             readable && i >= axis->source_begin && i < axis->source_end, each);
  }
}

// Indices out of range of the source give `outside`; those out of range of the target are skipped.
template <class S, class T>
void copy(const S *source, T *target, int64_t s, int64_t t, const Axis *axis, int rank, T outside, bool readable) {
  if (rank == 0) {
    target[t] = readable ? cast<T>(source[s]) : outside;
  } else if (rank > 1) {
    for (int64_t i = axis->target_begin; i < axis->target_end; ++i) {
      copy(source, target, s + i * axis->source_stride, t + i * axis->target_stride, axis + 1, rank - 1, outside,
           readable && i >= axis->source_begin && i < axis->source_end);
    }
  } else {
    const int64_t begin = axis->target_begin, end = axis->target_end;
    const int64_t first = readable ? min(max(axis->source_begin, begin), end) : end;
    const int64_t last = readable ? max(first, min(axis->source_end, end)) : end;
    const int64_t from = axis->source_stride, to = axis->target_stride;
    for (int64_t i = begin; i < first; ++i) target[t + i * to] = outside;
    if (from == 1 && to == 1) {
      convert(source + (s + first), target + (t + first), last - first);
    } else {
      for (int64_t i = first; i < last; ++i) target[t + i * to] = cast<T>(source[s + i * from]);
    }
    for (int64_t i = last; i < end; ++i) target[t + i * to] = outside;
  }
}

// Source and target share memory: the order shows, as it would between the threads of a GPU.
template <class S, class T>
void copy_within(const S *source, T *target, int64_t s, int64_t t, const Axis *axis, int rank, T outside, bool readable,
                 bool reversed) {
  for_each(axis, rank, reversed, s, t, readable, [&](int64_t from, int64_t to, bool in_range) {
    target[to] = in_range ? cast<T>(source[from]) : outside;
  });
}

template <class T> void fill(T *target, int64_t t, const Axis *axis, int rank, T value) {
  if (rank == 0) {
    target[t] = value;
  } else if (rank == 1) {
    for (int64_t i = axis->target_begin; i < axis->target_end; ++i) target[t + i * axis->target_stride] = value;
  } else {
    for (int64_t i = axis->target_begin; i < axis->target_end; ++i) {
      fill(target, t + i * axis->target_stride, axis + 1, rank - 1, value);
    }
  }
}

// How two values are combined, and the value that changes nothing.
struct Sum {
  template <class T> static T identity() { return T(0); }
  template <class T> static T combine(T a, T b) {
    if constexpr (is_real<T>) {
      return a + b;
    } else {
      return add(a, b);
    }
  }
};
template <class T> inline T lowest() {
  if constexpr (is_real<T>) {
    return T(-std::numeric_limits<float>::infinity());
  } else {
    return std::numeric_limits<T>::min();
  }
}
template <class T> inline T highest() {
  if constexpr (is_real<T>) {
    return T(std::numeric_limits<float>::infinity());
  } else {
    return std::numeric_limits<T>::max();
  }
}
struct Max {
  template <class T> static T identity() { return lowest<T>(); }
  template <class T> static T combine(T a, T b) { return max(a, b); }
};
struct Min {
  template <class T> static T identity() { return highest<T>(); }
  template <class T> static T combine(T a, T b) { return min(a, b); }
};
// reduce_max and reduce_min with nan_propagate=True.
struct NanMax : Max {
  template <class T> static T combine(T a, T b) { return a != a ? a : (b != b ? b : max(a, b)); }
};
struct NanMin : Min {
  template <class T> static T combine(T a, T b) { return a != a ? a : (b != b ? b : min(a, b)); }
};
struct BitAnd {
  template <class T> static T identity() { return std::is_same<T, bool>::value ? T(1) : T(~T(0)); }
  template <class T> static T combine(T a, T b) { return T(a & b); }
};
struct BitOr {
  template <class T> static T identity() { return T(0); }
  template <class T> static T combine(T a, T b) { return T(a | b); }
};
struct BitXor : BitOr {
  template <class T> static T combine(T a, T b) { return T(a ^ b); }
};
struct Replace {
  template <class T> static T combine(T, T b) { return b; }
};

// Atomics run one after the other; the value that was there before is returned.
template <class Op, class T> inline T update(T &target, T value) {
  const T before = target;
  target = Op::template combine<T>(before, value);
  return before;
}

template <class Op, class S, class T>
void update_all(const S *source, T *target, int64_t s, int64_t t, const Axis *axis, int rank, bool readable, bool reversed) {
  for_each(axis, rank, reversed, s, t, readable, [&](int64_t from, int64_t to, bool in_range) {
    update<Op>(target[to], in_range ? cast<T>(source[from]) : cast<T>(S(0)));
  });
}

template <class Op, bool Absolute, class S, class T> T reduce_line(const S *source, int64_t count, int64_t stride) {
  // A GPU's threads each reduce a part and combine the parts in a tree. So do these lanes: a plain chain would lose
  // more digits than any GPU does.
  constexpr int lanes = 32;
  const auto read = [&](int64_t i) {
    const T value = cast<T>(source[i * stride]);
    return Absolute ? abs(value) : value;
  };
  T part[lanes];
  for (int lane = 0; lane < lanes; ++lane) part[lane] = Op::template identity<T>();
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) part[lane] = Op::template combine<T>(part[lane], read(i + lane));
  }
  for (int lane = 0; i < count; ++i, ++lane) part[lane] = Op::template combine<T>(part[lane], read(i));
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) part[lane] = Op::template combine<T>(part[lane], part[lane + width]);
  }
  return part[0];
}

// Reduces `count` elements, `stride` apart, for every index of the axes.
template <class Op, bool Absolute, class S, class T>
void reduce(const S *source, T *target, int64_t s, int64_t t, const Axis *axis, int rank, int64_t count, int64_t stride,
            bool clear) {
  for_each(axis, rank, false, s, t, true, [&](int64_t from, int64_t to, bool) {
    const T result = reduce_line<Op, Absolute, S, T>(source + from, count, stride);
    target[to] = clear ? result : Op::template combine<T>(target[to], result);
  });
}

template <class Op, class S, class T>
void scan(const S *source, T *target, int64_t s, int64_t t, const Axis *axis, int rank, int64_t count,
          int64_t source_stride, int64_t target_stride, bool from_end) {
  for_each(axis, rank, false, s, t, true, [&](int64_t from, int64_t to, bool) {
    Wide<T> running = Op::template identity<Wide<T>>();
    for (int64_t n = 0; n < count; ++n) {
      const int64_t i = from_end ? count - 1 - n : n;
      running = Op::template combine<Wide<T>>(running, Wide<T>(cast<T>(source[from + i * source_stride])));
      target[to + i * target_stride] = cast<T>(running);
    }
  });
}

template <class T> bool any_of(const T *data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (cast<bool>(data[i])) return true;
  }
  return false;
}
template <class T> bool all_of(const T *data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!cast<bool>(data[i])) return false;
  }
  return true;
}

}  // namespace tile
