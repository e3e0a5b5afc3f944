// What the code emitted for a kernel stands on. The emitted function's ABI is `Argument` and `Report`.
#pragma once

#include <cstdarg>
#include <cstdio>

#include "gemm.hpp"

namespace tile {

// One parameter of a kernel: a tensor (data, and its shape), or a number in `integer` or `real` as its dtype says.
struct Argument {
  void *data;
  const int64_t *shape;
  int64_t integer;
  double real;
};

enum Outcome : int32_t { kFinished = 0, kIndexViolation = 1, kAssertion = 2, kOutOfMemory = 3, kWrongArguments = 4 };

// Thrown where a tensor is not of the shape that the kernel was written for.
struct WrongShape {
  int32_t argument, dimension;
  int64_t extent, expected;
};

inline void expect(int64_t extent, int64_t expected, int32_t argument, int32_t dimension) {
  if (extent != expected) throw WrongShape{argument, dimension, extent, expected};
}

// How a run ended. The texts are cut to fit.
struct Report {
  int32_t outcome;
  int32_t line;
  int32_t dimension;
  int32_t unused;
  int64_t index;
  int64_t extent;
  char buffer[256];
  char message[512];
};

// Runs a kernel, and turns what ends it early into a report.
inline int32_t run(void (*kernel)(const Argument *, bool), const Argument *arguments, int32_t reversed, Report *report) {
  *report = Report{};
  try {
    kernel(arguments, reversed != 0);
  } catch (const Violation &violation) {
    report->outcome = kIndexViolation;
    report->line = violation.site->line;
    report->dimension = violation.site->dimension;
    report->index = violation.index;
    report->extent = violation.site->extent;
    std::snprintf(report->buffer, sizeof(report->buffer), "%s", violation.site->buffer);
  } catch (const FailedAssertion &assertion) {
    report->outcome = kAssertion;
    report->line = assertion.line;
    std::snprintf(report->message, sizeof(report->message), "%s", assertion.message);
  } catch (const WrongShape &wrong) {
    report->outcome = kWrongArguments;
    std::snprintf(report->message, sizeof(report->message), "argument %d has extent %lld in dimension %d, not %lld",
                  wrong.argument, (long long)wrong.extent, wrong.dimension, (long long)wrong.expected);
  } catch (const std::bad_alloc &) {
    report->outcome = kOutOfMemory;
  }
  std::fflush(stdout);
  return report->outcome;
}

struct Position {
  int64_t block[3], thread[3];
};

// T.print, in the words of a GPU run. A print in every thread of every block could fill a disk.
constexpr int kMaxPrints = 400;
inline int prints = 0;

__attribute__((format(printf, 3, 4))) inline void print(const Position &at, const char *message, const char *format, ...) {
  if (++prints > kMaxPrints) {
    if (prints == kMaxPrints + 1) std::printf("(the kernel prints more; only the first %d lines are shown)\n", kMaxPrints);
    return;
  }
  std::printf("msg='%.200s' BlockIdx=(%lld, %lld, %lld), ThreadIdx=(%lld, %lld, %lld)", message, (long long)at.block[0],
              (long long)at.block[1], (long long)at.block[2], (long long)at.thread[0], (long long)at.thread[1],
              (long long)at.thread[2]);
  va_list rest;
  va_start(rest, format);
  std::vprintf(format, rest);
  va_end(rest);
  std::printf("\n");
}

#define TILE_PRINTED(type, name, format, as)                                                                   \
  inline void print_value(const Position &at, const char *message, type value) {                              \
    print(at, message, ": dtype=" name " value=" format, as(value));                                          \
  }                                                                                                            \
  inline void print_element(const Position &at, const char *message, const char *buffer, int64_t i, type value) { \
    print(at, message, ": buffer=%.200s, index=%lld, dtype=" name " value=" format, buffer, (long long)i, as(value)); \
  }
TILE_PRINTED(float, "float", "%f", double)
TILE_PRINTED(double, "double", "%f", double)
TILE_PRINTED(half, "half_t", "%f", float)
TILE_PRINTED(bfloat, "bfloat16_t", "%f", float)
TILE_PRINTED(int8_t, "signed char", "%d", int)
TILE_PRINTED(int16_t, "short", "%d", int)
TILE_PRINTED(int32_t, "int", "%d", int)
TILE_PRINTED(int64_t, "long", "%lld", (long long))
TILE_PRINTED(uint8_t, "unsigned char", "%u", unsigned)
TILE_PRINTED(uint16_t, "unsigned short", "%u", unsigned)
TILE_PRINTED(uint32_t, "uint", "%u", unsigned)
TILE_PRINTED(uint64_t, "ulong", "%llu", (unsigned long long))
TILE_PRINTED(bool, "bool", "%s", [](bool value) { return value ? "true" : "false"; })
#undef TILE_PRINTED

}  // namespace tile
