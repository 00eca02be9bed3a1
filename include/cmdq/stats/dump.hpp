// SPDX-License-Identifier: BSL-1.0
// Counters as text and as JSON, without a library: the sink takes pieces of text.
#pragma once

#include <cmdq/stats/counters.hpp>

namespace cmdq::stats {

namespace detail {
template <class Sink>
void put_number(const Sink& sink, uint64_t v) {
  char digits[21];
  unsigned i = sizeof digits;
  digits[--i] = '\0';
  do {
    digits[--i] = static_cast<char>('0' + v % 10);
    v /= 10;
  } while (v != 0);
  sink(digits + i);
}
}  // namespace detail

/// One line per event, "name value". `sink(const char*)` is called with pieces of the text.
template <class Sink>
void write_text(const counters& c, const Sink& sink) {
  for (unsigned i = 0; i < events; ++i) {
    sink(name(static_cast<event>(i)));
    sink(" ");
    detail::put_number(sink, c.of(static_cast<event>(i)));
    sink("\n");
  }
}

/// A JSON object, event names to values.
template <class Sink>
void write_json(const counters& c, const Sink& sink) {
  for (unsigned i = 0; i < events; ++i) {
    sink(i == 0 ? "{\"" : ", \"");
    sink(name(static_cast<event>(i)));
    sink("\": ");
    detail::put_number(sink, c.of(static_cast<event>(i)));
  }
  sink("}");
}

/// A JSON list of [largest value of the bucket, count] for the buckets that are not empty.
template <class Sink>
void write_json(const histogram& h, const Sink& sink) {
  const char* before = "[[";
  for (unsigned b = 0; b < histogram::buckets; ++b) {
    if (h.in(b) == 0) continue;
    sink(before);
    detail::put_number(sink, histogram::upper(b));
    sink(", ");
    detail::put_number(sink, h.in(b));
    before = "], [";
  }
  sink(h.total() == 0 ? "[]" : "]]");
}

}  // namespace cmdq::stats
