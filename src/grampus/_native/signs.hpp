// Which steps of cleaning may find anything in a text: most find nothing in most texts, and each would look for itself.
#pragma once
#include <cstdint>
#include <string_view>

namespace grampus {

// The steps of text/clean/cleaning.py, in their order, a bit for each.
enum Steps : uint32_t { HEADERS = 1, ATTACHMENTS = 2, SIGNATURES = 4, INTRODUCTIONS = 8, TROFF = 16, MARKS = 32, MARKUP = 64, ADDRESSES = 128 };
constexpr uint32_t EVERY_STEP = 255;

// IN a text in UTF-8, and steps that are to be looked at; OUT those of them that may change it. All of them where a header
// may come first: what is behind it is looked at when it is gone.
uint32_t steps_for(std::string_view text, uint32_t among);

}  // namespace grampus
