// Scalars as a GPU has them: 16-bit floats that round after every operation, integers that wrap, maxima that skip NaN.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tile {

template <class To, class From> inline To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpreted value keeps its size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

// Both conversions are free of branches, so that loops over whole tiles are vectorised on any machine.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t rest = uint32_t(half & 0x7fffu) << 13;
  const uint32_t finite = bits_of<uint32_t>(bits_of<float>(rest) * bits_of<float>(0x77800000u));  // times 2^112
  const uint32_t value = (half & 0x7c00u) == 0x7c00u ? (rest | 0x7f800000u) : finite;
  return bits_of<float>(value | sign);
}

inline uint16_t float_to_half(float value) {
  const uint32_t all = bits_of<uint32_t>(value), sign = all & 0x80000000u, rest = all ^ sign;
  const uint32_t special = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t subnormal = bits_of<uint32_t>(bits_of<float>(rest) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (rest + 0xc8000fffu + ((rest >> 13) & 1u)) >> 13;
  const uint32_t half = rest >= 0x47800000u ? special : (rest < 0x38800000u ? subnormal : normal);
  return uint16_t(half | (sign >> 16));
}

inline float bfloat_to_float(uint16_t bfloat) { return bits_of<float>(uint32_t(bfloat) << 16); }

inline uint16_t float_to_bfloat(float value) {
  const uint32_t all = bits_of<uint32_t>(value);
  const uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
  return uint16_t((all & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

// A 16-bit float computes in float32 and rounds to nearest even: float32 has more than twice its digits, so the
// result is the correctly rounded one.
template <float (*Widen)(uint16_t), uint16_t (*Round)(float)> struct Small {
  uint16_t bits;
  Small() = default;
  explicit Small(float value) : bits(Round(value)) {}
  operator float() const { return Widen(bits); }
  friend Small operator+(Small a, Small b) { return Small(float(a) + float(b)); }
  friend Small operator-(Small a, Small b) { return Small(float(a) - float(b)); }
  friend Small operator*(Small a, Small b) { return Small(float(a) * float(b)); }
  friend Small operator/(Small a, Small b) { return Small(float(a) / float(b)); }
};
using half = Small<half_to_float, float_to_half>;
using bfloat = Small<bfloat_to_float, float_to_bfloat>;

template <class T> struct is_small : std::false_type {};
template <> struct is_small<half> : std::true_type {};
template <> struct is_small<bfloat> : std::true_type {};
template <class T> inline constexpr bool is_real = std::is_floating_point<T>::value || is_small<T>::value;

// The type that sums and other long chains of operations on T are carried in.
template <class T> using Wide = std::conditional_t<is_small<T>::value, float, T>;

template <class To, class From> inline To cast(From from) {
  if constexpr (std::is_same<To, From>::value) {
    return from;
  } else if constexpr (std::is_same<To, bool>::value) {
    return from != From(0);
  } else if constexpr (is_small<To>::value) {
    return To(float(from));
  } else if constexpr (std::is_integral<To>::value && is_real<From>) {
    // A GPU saturates, and turns NaN into 0; in C++ both are undefined.
    const double value = double(from);
    if (!(value == value)) return To(0);
    if (value <= double(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= double(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return To(value);
  } else {
    return To(from);
  }
}
template <> inline half cast<half, bool>(bool from) { return half(from ? 1.0f : 0.0f); }
template <> inline bfloat cast<bfloat, bool>(bool from) { return bfloat(from ? 1.0f : 0.0f); }

// Integers wrap.
template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> inline T add(T a, T b) { return T(uint64_t(a) + uint64_t(b)); }
template <class T> inline T sub(T a, T b) { return T(uint64_t(a) - uint64_t(b)); }
template <class T> inline T mul(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }

// Division by zero gives what a GPU's does (all ones; the dividend as remainder) and does not end the process.
template <class T> inline T div(T a, T b) {
  if (b == 0) return T(~T(0));
  if constexpr (std::is_signed<T>::value) {
    if (b == T(-1)) return sub(T(0), a);
  }
  return T(a / b);
}
template <class T> inline T mod(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed<T>::value) {
    if (b == T(-1)) return 0;
  }
  return T(a % b);
}
template <class T> inline T floordiv(T a, T b) {
  if constexpr (is_real<T>) {
    return cast<T>(std::floor(Wide<T>(a) / Wide<T>(b)));
  } else {
    const T quotient = div(a, b), remainder = mod(a, b);
    return (b != 0 && remainder != 0 && ((remainder < 0) != (b < 0))) ? T(quotient - 1) : quotient;
  }
}
template <class T> inline T floormod(T a, T b) {
  if constexpr (is_real<T>) {
    return cast<T>(Wide<T>(a) - std::floor(Wide<T>(a) / Wide<T>(b)) * Wide<T>(b));
  } else {
    const T remainder = mod(a, b);
    return (b != 0 && remainder != 0 && ((remainder < 0) != (b < 0))) ? T(remainder + b) : remainder;
  }
}
template <class T> inline T shift_left(T a, T b) {
  return uint64_t(b) >= sizeof(T) * 8 ? T(0) : T(Unsigned<T>(Unsigned<T>(a) << b));
}
template <class T> inline T shift_right(T a, T b) {
  return uint64_t(b) >= sizeof(T) * 8 ? T(a < 0 ? -1 : 0) : T(a >> b);
}

// Like a GPU's fmaxf and fminf, of NaN and a number these give the number.
template <class T> inline T max(T a, T b) {
  if constexpr (is_real<T>) {
    return (a > b || b != b) ? a : b;
  } else {
    return a > b ? a : b;
  }
}
template <class T> inline T min(T a, T b) {
  if constexpr (is_real<T>) {
    return (a < b || b != b) ? a : b;
  } else {
    return a < b ? a : b;
  }
}
template <class T> inline T clamp(T value, T low, T high) {
  if (low != low) return low;
  if (high != high) return high;
  return value != value ? value : min(max(value, low), high);
}
template <class T> inline T abs(T a) {
  if constexpr (is_small<T>::value) {
    T result;
    result.bits = a.bits & 0x7fffu;
    return result;
  } else if constexpr (is_real<T>) {
    return std::fabs(a);
  } else if constexpr (std::is_signed<T>::value) {
    return a < 0 ? sub(T(0), a) : a;
  } else {
    return a;
  }
}

template <class T> inline bool isnan(T a) { return a != a; }
template <class T> inline bool isinf(T a) { return abs(Wide<T>(a)) == std::numeric_limits<Wide<T>>::infinity(); }
template <class T> inline bool isfinite(T a) { return abs(Wide<T>(a)) < std::numeric_limits<Wide<T>>::infinity(); }
template <class T> inline T popcount(T a) { return T(__builtin_popcountll(uint64_t(Unsigned<T>(a)))); }

// Mathematics in float32 (float64 for float64), rounded once to T.
#define TILE_UNARY(name, formula)          \
  template <class T> inline T name(T a) {  \
    const Wide<T> x = Wide<T>(a);          \
    return cast<T>(Wide<T>(formula));      \
  }
#define TILE_BINARY(name, formula)            \
  template <class T> inline T name(T a, T b) { \
    const Wide<T> x = Wide<T>(a), y = Wide<T>(b); \
    return cast<T>(Wide<T>(formula));         \
  }
TILE_UNARY(exp, std::exp(x))
TILE_UNARY(exp2, std::exp2(x))
TILE_UNARY(exp10, std::pow(Wide<T>(10), x))
TILE_UNARY(log, std::log(x))
TILE_UNARY(log2, std::log2(x))
TILE_UNARY(log10, std::log10(x))
TILE_UNARY(log1p, std::log1p(x))
TILE_UNARY(sqrt, std::sqrt(x))
TILE_UNARY(rsqrt, Wide<T>(1) / std::sqrt(x))
TILE_UNARY(reciprocal, Wide<T>(1) / x)
TILE_UNARY(sigmoid, Wide<T>(1) / (Wide<T>(1) + std::exp(-x)))
TILE_UNARY(erf, std::erf(x))
TILE_UNARY(sin, std::sin(x))
TILE_UNARY(cos, std::cos(x))
TILE_UNARY(tan, std::tan(x))
TILE_UNARY(asin, std::asin(x))
TILE_UNARY(acos, std::acos(x))
TILE_UNARY(atan, std::atan(x))
TILE_UNARY(sinh, std::sinh(x))
TILE_UNARY(cosh, std::cosh(x))
TILE_UNARY(tanh, std::tanh(x))
TILE_UNARY(asinh, std::asinh(x))
TILE_UNARY(acosh, std::acosh(x))
TILE_UNARY(atanh, std::atanh(x))
TILE_UNARY(floor, std::floor(x))
TILE_UNARY(ceil, std::ceil(x))
TILE_UNARY(trunc, std::trunc(x))
TILE_UNARY(round, std::round(x))
TILE_UNARY(nearbyint, std::nearbyint(x))
TILE_BINARY(pow, std::pow(x, y))
TILE_BINARY(fmod, std::fmod(x, y))
TILE_BINARY(atan2, std::atan2(x, y))
TILE_BINARY(hypot, std::hypot(x, y))
TILE_BINARY(ldexp, std::ldexp(x, int(y)))
TILE_BINARY(copysign, std::copysign(x, y))
TILE_BINARY(nextafter, std::nextafter(x, y))
#undef TILE_UNARY
#undef TILE_BINARY
template <class T> inline T fma(T a, T b, T c) {
  return cast<T>(std::fma(Wide<T>(a), Wide<T>(b), Wide<T>(c)));
}

}  // namespace tile
