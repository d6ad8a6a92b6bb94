#include "signs.hpp"

#include <cstring>

namespace grampus {
namespace {

constexpr size_t LONG_LINE = 56;  // characters without a blank: the least of encoded data

inline bool is_blank(char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }  // \s, in ASCII
inline bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

class Text {
  public:
    explicit Text(std::string_view text) : text_(text) {}
    char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
    bool has(size_t place, std::string_view part) const { return text_.compare(place, part.size(), part) == 0; }

    // Whether a sign stands somewhere where `is(place)`.
    template <class Is>
    bool any(char sign, Is is) const {
        const char *first = text_.data(), *end = first + text_.size(), *at = first;
        for (; at < end && (at = static_cast<const char*>(std::memchr(at, sign, end - at))); ++at)
            if (is(static_cast<size_t>(at - first))) return true;
        return false;
    }
    bool has_any(char sign, std::string_view part) const {
        return any(sign, [&](size_t place) { return has(place, part); });
    }

    // The field that a header begins with has a colon before the first blank.
    bool may_begin_with_header() const {
        size_t colon = 0;
        while (colon < text_.size() && text_[colon] != ':' && !is_blank(text_[colon])) ++colon;
        return at(colon) == ':' || has(0, "From ");
    }
    bool is_long_line(size_t place) const {
        if (text_.size() < place + LONG_LINE) return false;
        for (size_t i = place; i < place + LONG_LINE; ++i)
            if (is_blank(text_[i])) return false;
        return true;
    }
    bool ends_line(size_t place) const {
        while (at(place) == ' ' || at(place) == '\t') ++place;
        return place >= text_.size() || text_[place] == '\n';
    }

    bool has_tag_or_entity() const {
        return any('&', [&](size_t i) { return at(i + 1) == '#' || is_letter(at(i + 1)); }) ||
               any('<', [&](size_t i) { return at(i + 1) == '/' || at(i + 1) == '!' || at(i + 1) == '?' || is_letter(at(i + 1)); }) ||
               any(';', [&](size_t i) { return i && (at(i - 1) == '9' || at(i - 1) == 'p' || at(i - 1) == 't'); }) ||  // "quot;"
               has_any('q', "quot") || any('b', [&](size_t i) { return i && at(i - 1) == 'n' && has(i, "bsp"); }) ||
               any('g', [&](size_t i) { return i && at(i - 1) == ' ' && at(i + 1) == 't'; });  // "lt br gt"
    }

  private:
    std::string_view text_;
};

}  // namespace

uint32_t steps_for(std::string_view given, uint32_t among) {
    const Text text(given);
    if ((among & HEADERS) && text.may_begin_with_header()) return among;
    uint32_t found = 0;
    const auto look = [&](uint32_t step, auto&& is) {
        if ((among & step) && is()) found |= step;
    };
    const auto at_line = [&](std::string_view part) { return text.has_any('\n', part); };
    look(ATTACHMENTS, [&] {
        return text.has(0, "begin ") || text.has_any('P', "PGP ") ||
               text.any('\n', [&](size_t i) { return text.is_long_line(i + 1) || text.has(i, "\nbegin "); });
    });
    look(SIGNATURES, [&] { return at_line("\n--"); });
    look(INTRODUCTIONS, [&] { return text.any(':', [&](size_t i) { return text.ends_line(i + 1); }); });
    look(TROFF, [&] { return at_line("\n.S"); });
    look(MARKS, [&] { return text.has_any('!', "![") || text.has_any(']', "]:") || text.has_any('.', ".. "); });
    look(MARKUP, [&] { return text.has_tag_or_entity(); });
    look(ADDRESSES, [&] { return text.has_any('@', "@") || text.has_any(':', "://") || text.has_any('w', "www."); });
    return found;
}

}  // namespace grampus
