#include "words.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace grampus {
namespace {

enum Kind : uint8_t { GAP, LETTER, UNDERSCORE, MORE };  // MORE: part of a character beyond ASCII
enum Sign : uint8_t { SIGN, END, LOWER, UPPER, DIGIT, FOREIGN };  // of a chunk without blanks

struct Bytes {
    uint8_t kind[256], lower[256], lower_letter[256];
    Bytes() {
        for (int c = 0; c < 256; ++c) {
            const bool upper = c >= 'A' && c <= 'Z';
            const bool letter = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            kind[c] = c > 127 ? MORE : letter ? LETTER : c == '_' ? UNDERSCORE : GAP;
            lower[c] = static_cast<uint8_t>(upper ? c + 32 : c);
            lower_letter[c] = letter ? lower[c] : 0;
        }
    }
};
const Bytes BYTES;

inline bool is_space(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }  // str.isspace

// The character at `at`, which is beyond ASCII, and its length; length 1 and code point 0 for what is no UTF-8.
inline uint32_t decoded(const uint8_t* at, const uint8_t* end, int& length) {
    const uint8_t first = *at;
    length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t c = first & (0xff >> (length + 1));
    bool valid = first >= 0xc2 && first <= 0xf4 && end - at >= length;
    for (int k = 1; valid && k < length; ++k) {
        valid = (at[k] & 0xc0) == 0x80;
        c = c << 6 | (at[k] & 0x3f);
    }
    if (valid && c < static_cast<uint32_t>(CODE_POINTS)) return c;
    length = 1;
    return 0;
}

void append(std::string& out, uint64_t value) {  // groups of seven bits, low ones first
    for (; value > 127; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
}

}  // namespace

// The slot of a word, or the empty one that it would take.
size_t Vocabulary::place(const Sought& word) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = word.hash & mask;; at = (at + 1) & mask) {
        const Slot slot = slots_[at];
        if (slot.number < 0) return at;
        if (slot.head != word.head || slot.length != word.length) continue;
        if (word.length <= 8 || !std::memcmp(this->word(slot.number) + 8, word.word + 8, word.length - 8)) return at;
    }
}

int32_t Vocabulary::find(const char* word, size_t length) const {
    Sought found;
    seek(word, length, found);
    return slots_[place(found)].number;
}

int32_t Vocabulary::number(const Sought& word) {
    const size_t at = place(word);
    if (slots_[at].number >= 0) return slots_[at].number;
    if (size() == INT32_MAX - 1) throw std::length_error("too many different words");
    if (word.length > UINT32_MAX) throw std::length_error("a word is longer than 4 GB");
    slots_[at] = {word.head, static_cast<uint32_t>(word.length), size()};
    text_.insert(text_.end(), word.word, word.word + word.length);
    starts_.push_back(text_.size());
    if (2 * starts_.size() > slots_.size()) grow();
    return size() - 1;
}

void Vocabulary::grow() {
    std::vector<Slot> wider(2 * slots_.size(), {0, 0, -1});
    const size_t mask = wider.size() - 1;
    for (const Slot slot : slots_) {
        if (slot.number < 0) continue;
        size_t at = hashed(word(slot.number), slot.length, slot.head) & mask;
        while (wider[at].number >= 0) at = (at + 1) & mask;
        wider[at] = slot;
    }
    slots_.swap(wider);
}

void number_words(const uint8_t* at, const uint8_t* end, Letters letters, bool blanks, Vocabulary& known, std::vector<int32_t>& found) {
    Vocabulary::Sought waiting[AT_ONCE];
    int count = 0;
    const auto number = [&] {
        for (int w = 0; w < count; ++w) found.push_back(known.number(waiting[w]));
        count = 0;
    };
    while (at < end) {
        const uint8_t* first = at;
        int64_t characters = 0;
        for (int length = 1; at < end; at += length, ++characters) {
            length = 1;
            if (blanks) {
                if (*at == ' ' || *at == '\n') break;
            } else {
                const uint8_t kind = BYTES.kind[*at];
                if (kind == GAP || (kind == MORE && !letters(decoded(at, end, length)))) break;
            }
        }
        if (characters > (blanks ? 0 : 1)) {
            known.seek(reinterpret_cast<const char*>(first), at - first, waiting[count]);
            if (++count == AT_ONCE) number();
        }
        if (at == first || at < end) {  // step over what is between words
            int length = 1;
            if (!blanks && BYTES.kind[*at] == MORE) decoded(at, end, length);
            at += length;
        }
    }
    number();
}

PlainChunks::PlainChunks(std::string_view ends, std::string_view foreign, const Vocabulary& unusual, size_t longest)
    : unusual_(unusual), longest_(longest) {
    for (int c = 0; c < 256; ++c)
        kinds_[c] = c > 127 || c == '_' ? FOREIGN : BYTES.kind[c] == GAP ? SIGN : c <= '9' ? DIGIT : c <= 'Z' ? UPPER : LOWER;
    for (const char c : ends) kinds_[static_cast<uint8_t>(c)] = END;
    for (const char c : foreign) kinds_[static_cast<uint8_t>(c)] = FOREIGN;
}

Plain PlainChunks::look(std::string_view chunk, int32_t sign, int32_t end) const {
    Plain found{{}, 0, 0};
    if (chunk.size() > longest_) return found;
    size_t at = 0;
    const auto kind = [&](size_t place) -> uint8_t { return place < chunk.size() ? kinds_[static_cast<uint8_t>(chunk[place])] : uint8_t{FOREIGN}; };
    const auto signs = [&] {
        int32_t code = 0;
        for (; kind(at) == SIGN || kind(at) == END; ++at) code = kind(at) == END || code == end ? end : sign;
        return code;
    };
    found.before = signs();
    const size_t first = at;
    bool digits = false;
    for (; kind(at) == LOWER || kind(at) == UPPER || kind(at) == DIGIT; ++at) digits |= kind(at) == DIGIT;
    const std::string_view word = chunk.substr(first, at - first);
    found.after = signs();
    if (at < chunk.size() || word.empty() || (digits && word.size() > 7)) return found;
    size_t hump = first;
    while (kind(hump) == LOWER) ++hump;
    const bool camel = hump >= first + 2 && kind(hump) == UPPER && kind(hump + 1) == LOWER;
    if (!camel && unusual_.find(word.data(), word.size()) < 0) found.word = word;
    return found;
}

void count_known(const uint8_t* at, const uint8_t* end, const Vocabulary& known, const uint8_t* kind, int32_t stamp,
                 std::vector<int32_t>& seen, int32_t* counts) {
    char word[LONGEST_WORD];
    counts[0] = counts[1] = 0;
    while (at < end) {
        size_t size = 0;
        for (; at < end && !is_space(*at); ++at)
            if (size++ < LONGEST_WORD) word[size - 1] = static_cast<char>(BYTES.lower[*at]);
        ++at;
        if (size == 0 || size > LONGEST_WORD) continue;
        const int32_t number = known.find(word, size);
        if (number < 0 || seen[number] == stamp) continue;
        seen[number] = stamp;
        counts[0] += kind[number] & 1;
        counts[1] += kind[number] >> 1;
    }
}

int followed(std::string_view text, std::string_view word, std::string_view next) {
    int found = 0;
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        size_t end = at + word.size();
        if (at == 0 || end >= text.size() || text[at - 1] != ' ' || text[end] != ' ') continue;
        found = 1;
        while (end < text.size() && text[end] == ' ') ++end;
        if (text.substr(end, next.size()) == next && end + next.size() < text.size() && text[end + next.size()] == ' ') return 2;
    }
    return found;
}

void Index::add(const uint8_t* at, const uint8_t* end, Letters letters, int32_t document) {
    char words[AT_ONCE][4 * LONGEST_WORD];
    size_t sizes[AT_ONCE];
    int count = 0;
    while (at < end) {
        char* word = words[count];
        size_t size = 0;
        for (uint8_t c; at < end && size < LONGEST_WORD && (c = BYTES.lower_letter[*at]); ++at) word[size++] = static_cast<char>(c);
        int characters = static_cast<int>(size);  // the rest of a word that is longer, or goes on beyond ASCII
        for (int length = 1; at < end; at += length) {
            length = 1;
            const uint8_t kind = BYTES.kind[*at];
            if (kind == GAP || kind == UNDERSCORE || (kind == MORE && !letters(decoded(at, end, length)))) break;
            if (characters == LONGEST_WORD) continue;
            ++characters;
            for (int k = 0; k < length; ++k) word[size++] = static_cast<char>(BYTES.lower[at[k]]);
        }
        if (characters) {
            sizes[count] = size;
            if (++count == AT_ONCE) note(words, sizes, count, document), count = 0;
        }
        if (at < end) {
            int length = 1;
            if (BYTES.kind[*at] == MORE) decoded(at, end, length);
            at += length;
        }
    }
    note(words, sizes, count, document);
}

// Append a document to the lists of words, of those that have it not.
void Index::note(const char (*words)[4 * LONGEST_WORD], const size_t* sizes, int count, int32_t document) {
    Vocabulary::Sought sought[AT_ONCE];
    int32_t numbers[AT_ONCE];
    for (int w = 0; w < count; ++w) known_.seek(words[w], sizes[w], sought[w]);
    for (int w = 0; w < count; ++w) {
        numbers[w] = known_.number(sought[w]);
        if (static_cast<size_t>(numbers[w]) == lists_.size()) lists_.emplace_back(), last_.push_back(0);
        __builtin_prefetch(&last_[numbers[w]]);
        __builtin_prefetch(&lists_[numbers[w]]);
    }
    for (int w = 0; w < count; ++w) {
        int32_t& last = last_[numbers[w]];
        if (last == document + 1) continue;
        append(lists_[numbers[w]], static_cast<uint64_t>(document - (last ? last - 1 : 0)));
        last = document + 1;
    }
}

std::string Index::packed() const {
    std::vector<int32_t> order(known_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        const size_t la = known_.length(a), lb = known_.length(b);
        const int sign = std::memcmp(known_.word(a), known_.word(b), std::min(la, lb));
        return sign < 0 || (sign == 0 && la < lb);
    });
    std::string words, sizes;
    size_t bytes = 0;
    for (const int32_t number : order) {
        if (number != order.front()) words.push_back('\n');
        words.append(known_.word(number), known_.length(number));
        append(sizes, lists_[number].size());
        bytes += lists_[number].size();
    }
    if (words.size() > UINT32_MAX) throw std::length_error("the vocabulary is larger than 4 GB");
    std::string out;
    out.reserve(4 + words.size() + sizes.size() + bytes);
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(words.size() >> shift & 0xff));
    out += words;
    out += sizes;
    for (const int32_t number : order) out += lists_[number];
    return out;
}

}  // namespace grampus
