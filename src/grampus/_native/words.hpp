// Words of texts: numbered in the order in which they appear, and as an inverted index for the search of a page.
//
// Texts are UTF-8, concatenated, with offsets. A word is a run of letters and digits; which characters beyond ASCII belong
// to one is a bitmap of code points that the caller makes (words.py). Bytes that are no UTF-8 separate words.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace grampus {

constexpr int64_t CODE_POINTS = 0x110000;
constexpr int LONGEST_WORD = 64;  // characters of a word of the index that count
constexpr int AT_ONCE = 32;       // words that are looked up together

struct Letters {  // beyond ASCII
    const uint8_t* bits;  // CODE_POINTS / 8 bytes, or none: nothing beyond ASCII belongs to a word
    bool operator()(uint32_t c) const { return bits && (bits[c >> 3] >> (c & 7) & 1); }
};

template <class Part>
inline uint64_t part(const char* at) {
    Part value;
    std::memcpy(&value, at, sizeof(Part));
    return value;
}

// The first 8 bytes of a word; of a shorter one all of it, from two parts that may overlap.
inline uint64_t head_of(const char* word, size_t length) {
    if (length >= 8) return part<uint64_t>(word);
    if (length >= 4) return part<uint32_t>(word) | part<uint32_t>(word + length - 4) << 8 * (length - 4);
    if (length >= 2) return part<uint16_t>(word) | part<uint16_t>(word + length - 2) << 8 * (length - 2);
    return length ? static_cast<uint8_t>(*word) : 0;
}

inline size_t hashed(const char* word, size_t length, uint64_t head) {
    uint64_t h = (head ^ length * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
    for (size_t at = 8; at < length; at += 8) {
        h ^= h >> 32;
        h = (h ^ part<uint64_t>(word + std::min(at, length - 8))) * 0xff51afd7ed558ccdULL;
    }
    h ^= h >> 32;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h >> 32;
}

// Distinct words and their numbers.
class Vocabulary {
  public:
    struct Sought {  // a word that is to be looked up; its text must stay
        const char* word;
        size_t length;
        uint64_t head;  // the first 8 bytes: most words are told apart without a look at their text
        size_t hash;
    };

    Vocabulary() : slots_(1 << 12, {0, 0, -1}), starts_(1, 0) {}
    // Fetches the place of a word ahead: of many words, seek some, then number these.
    void seek(const char* word, size_t length, Sought& found) const {
        found = {word, length, head_of(word, length), 0};
        found.hash = hashed(word, length, found.head);
        __builtin_prefetch(&slots_[found.hash & (slots_.size() - 1)]);
    }
    int32_t number(const Sought& word);  // of a word, numbering a new one
    int32_t number(const char* word, size_t length) {
        Sought found;
        seek(word, length, found);
        return number(found);
    }
    int32_t find(const char* word, size_t length) const;  // −1 for a word that has none
    int32_t size() const { return static_cast<int32_t>(starts_.size() - 1); }
    const char* word(int32_t number) const { return text_.data() + starts_[number]; }
    size_t length(int32_t number) const { return starts_[number + 1] - starts_[number]; }

  private:
    struct Slot {
        uint64_t head;
        uint32_t length;
        int32_t number;
    };
    size_t place(const Sought& word) const;
    void grow();

    std::vector<Slot> slots_;  // a power of 2
    std::vector<uint64_t> starts_;
    std::vector<char> text_;
};

// IN a text; OUT the number of every run of two or more letters, digits and underscores, as it is written, added to
// `found`. With `blanks`, words are what blanks and ends of lines separate.
void number_words(const uint8_t* text, const uint8_t* end, Letters letters, bool blanks, Vocabulary& known, std::vector<int32_t>& found);

// A chunk without blanks that is one word of ASCII with signs around it: the word, and what it is separated by before and
// after: 0 for nothing, else a code. No word where the chunk is anything else, of which the caller knows more.
struct Plain {
    std::string_view word;
    int32_t before, after;
};

class PlainChunks {
  public:
    // Signs that end a sentence, and those that no plain chunk has; words that are not plain; bytes of a chunk at most.
    PlainChunks(std::string_view ends, std::string_view foreign, const Vocabulary& unusual, size_t longest);
    // Words are letters, or up to 7 letters and digits, but for those such as setUp.
    Plain look(std::string_view chunk, int32_t sign, int32_t end) const;

  private:
    uint8_t kinds_[256];
    const Vocabulary& unusual_;
    size_t longest_;
};

// IN a text; OUT how many different words of two lists it has: what white space separates, in lower case (ASCII). `kind`
// of every known word: 1 or 2 for a list, 3 for both. IN/OUT seen: `stamp` for the words of this text.
void count_known(const uint8_t* text, const uint8_t* end, const Vocabulary& known, const uint8_t* kind, int32_t stamp,
                 std::vector<int32_t>& seen, int32_t* counts);

// IN a text whose words have blanks around them; OUT whether it has a word: 0, 1, or 2 where `next` follows it somewhere.
int followed(std::string_view text, std::string_view word, std::string_view next);

// The documents of every word: letters and digits in lower case (ASCII only; the caller lowers the rest), 64 at most.
class Index {
  public:
    // Documents come in rising order; one may come in several texts.
    void add(const uint8_t* text, const uint8_t* end, Letters letters, int32_t document);
    // OUT: length of the vocabulary in bytes (32 bits), sorted words one a line, bytes of each list, lists of gaps.
    std::string packed() const;

  private:
    void note(const char (*words)[4 * LONGEST_WORD], const size_t* sizes, int count, int32_t document);

    Vocabulary known_;
    std::vector<int32_t> last_;       // document of every word, plus 1
    std::vector<std::string> lists_;  // gaps
};

}  // namespace grampus
