// Matrix multiplication of tiles.
#pragma once

#include "regions.hpp"

namespace tile {

// A matrix within a tile: element (i, j) is data[i * row + j * column].
template <class T> struct Matrix {
  T *data;
  int64_t row, column;
};

// Rows of `to` are `width` apart. Columns past `columns` are not written.
template <class S, class T> void unpack(Matrix<const S> from, int64_t rows, int64_t columns, T *to, int64_t width) {
  if (from.column == 1) {
    for (int64_t i = 0; i < rows; ++i) convert(from.data + i * from.row, to + i * width, columns);
  } else {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) to[i * width + j] = cast<T>(from.data[i * from.row + j * from.column]);
    }
  }
}

// Vectors of the compiler, not of a processor: they are split where the registers are narrower.
typedef float Floats __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t kLanes = 16;

inline int64_t padded(int64_t columns) { return (columns + kLanes - 1) / kLanes * kLanes; }

// C[Rows, 16] += A[Rows, k] B[k, 16], the accumulators in registers.
template <int Rows>
inline void multiply_block(const float *a, int64_t k, const float *b, int64_t width, float *c, int64_t row) {
  Floats sums[Rows];
  for (int i = 0; i < Rows; ++i) std::memcpy(&sums[i], c + i * row, sizeof(Floats));
  for (int64_t p = 0; p < k; ++p) {
    Floats vector;
    std::memcpy(&vector, b + p * width, sizeof(Floats));
    for (int i = 0; i < Rows; ++i) sums[i] += a[i * k + p] * vector;
  }
  for (int i = 0; i < Rows; ++i) std::memcpy(c + i * row, &sums[i], sizeof(Floats));
}

// c[m, width] += a[m, k] b[k, width] as an accumulator of type C would have it.
template <class C, class S> void multiply(const S *a, const S *b, S *c, int64_t m, int64_t k, int64_t width) {
  if constexpr (std::is_same<C, float>::value) {
    for (int64_t j = 0; j < width; j += kLanes) {
      int64_t i = 0;
      for (; i + 4 <= m; i += 4) multiply_block<4>(a + i * k, k, b + j, width, c + i * width + j, width);
      for (; i < m; ++i) multiply_block<1>(a + i * k, k, b + j, width, c + i * width + j, width);
    }
  } else {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = 0; p < k; ++p) {
        const S factor = a[i * k + p];
        TILE_INDEPENDENT
        for (int64_t j = 0; j < width; ++j) {
          S &sum = c[i * width + j];
          if constexpr (is_small<C>::value) {
            sum = S(cast<C>(sum + factor * b[p * width + j]));  // a 16-bit accumulator rounds at every step
          } else if constexpr (is_real<C>) {
            sum += factor * b[p * width + j];
          } else {
            sum = add(sum, mul(factor, b[p * width + j]));
          }
        }
      }
    }
  }
}

template <class T> void clear_all(T *data, int64_t count) { std::memset(data, 0, uint64_t(count) * sizeof(T)); }

// C = A B, or C += A B, where A is m x k and B is k x n. Products and sums are in the type of C (float32 if it is a
// 16-bit float); scratch holds m * k + (k + m) * padded(n) of them.
template <class A, class B, class C>
void gemm(Matrix<const A> a, Matrix<const B> b, Matrix<C> c, int64_t m, int64_t n, int64_t k, bool clear,
          Wide<C> *scratch) {
  using S = Wide<C>;
  const int64_t width = padded(n);
  S *left = scratch, *right = left + m * k, *sums = right + k * width;
  unpack(a, m, k, left, k);
  clear_all(right, k * width);
  unpack(b, k, n, right, width);
  clear_all(sums, m * width);
  if (!clear) unpack(Matrix<const C>{c.data, c.row, c.column}, m, n, sums, width);
  multiply<C>(left, right, sums, m, k, width);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c.data[i * c.row + j * c.column] = cast<C>(sums[i * width + j]);
  }
}

}  // namespace tile
