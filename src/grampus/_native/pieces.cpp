#include "pieces.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace grampus {
namespace {

constexpr int32_t UNKNOWN = 0, BEGIN = 1, END = 2;
constexpr size_t MOST_PIECES = 1 << 20, LONGEST_PIECE = 1 << 12;
const uint8_t SPACE[3] = {0xe2, 0x96, 0x81};  // U+2581 stands for a space

[[noreturn]] void refuse(const char* what) { throw std::invalid_argument(what); }

struct Field {  // of a protocol buffer
    uint64_t number = 0;
    int kind = 0;
    const uint8_t* at = nullptr;
    size_t size = 0;
};

uint64_t varint(const uint8_t*& at, const uint8_t* end) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (at == end) refuse("the model ends within a number");
        const uint8_t byte = *at++;
        value |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    refuse("the model has a number of more than 64 bits");
}

bool next_field(const uint8_t*& at, const uint8_t* end, Field& field) {
    if (at == end) return false;
    const uint64_t tag = varint(at, end);
    field.number = tag >> 3;
    field.kind = static_cast<int>(tag & 7);
    uint64_t size = 0;
    if (field.kind == 0) varint(at, end);
    else if (field.kind == 1) size = 8;
    else if (field.kind == 2) size = varint(at, end);
    else if (field.kind == 5) size = 4;
    else refuse("the model has a field of an unknown kind");
    if (size > static_cast<uint64_t>(end - at)) refuse("the model ends within a field");
    field.at = at;
    field.size = static_cast<size_t>(size);
    at += size;
    return true;
}

// Bytes of the character at `at`: 1 for what is no UTF-8.
size_t character(const uint8_t* at, const uint8_t* end) {
    const uint8_t first = *at;
    const size_t length = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xe ? 3 : first >> 3 == 0x1e ? 4 : 1;
    if (static_cast<size_t>(end - at) < length) return 1;
    for (size_t k = 1; k < length; ++k)
        if ((at[k] & 0xc0) != 0x80) return 1;
    return length;
}

inline size_t offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200) >> 6); }

}  // namespace

Pieces::Pieces(const uint8_t* model, size_t size) {
    std::vector<std::string> pieces;
    const uint8_t *at = model, *end = model + size;
    for (Field field; next_field(at, end, field);) {
        const uint8_t *inner = field.at, *inner_end = field.at + field.size;
        if (field.kind != 2 || (field.number != 1 && field.number != 3)) continue;
        if (field.number == 3) {  // what is replaced, and by what
            for (Field own; next_field(inner, inner_end, own);)
                if (own.number == 2 && own.kind == 2) read_map(own.at, own.size);
            continue;
        }
        std::string text;
        float score = 0.0f;
        for (Field own; next_field(inner, inner_end, own);) {
            if (own.number == 1 && own.kind == 2) text.assign(reinterpret_cast<const char*>(own.at), own.size);
            if (own.number == 2 && own.kind == 5) std::memcpy(&score, own.at, 4);
        }
        if (text.empty() || text.size() > LONGEST_PIECE || pieces.size() == MOST_PIECES) refuse("the model has a piece that is none");
        if (!(score > -1e6f && score < 1e6f)) refuse("the model has a score that is no number");
        pieces.push_back(text);
        scores_.push_back(score);
    }
    if (size_t(pieces.size()) <= END) refuse("the model has no pieces");
    unknown_ = *std::min_element(scores_.begin(), scores_.end()) - 10.0;
    build(pieces);
}

void Pieces::read_map(const uint8_t* at, size_t size) {
    uint32_t bytes = 0;
    if (size < 4) refuse("the model's replacements are cut off");
    std::memcpy(&bytes, at, 4);
    if (bytes > size - 4 || bytes % 4 || bytes == 0) refuse("the model's replacements are cut off");
    units_.resize(bytes / 4);
    std::memcpy(units_.data(), at + 4, bytes);
    replacements_.assign(at + 4 + bytes, at + size);
    replacements_.push_back(0);
}

// A tree of bytes, level by level; the children of a node stand side by side, in order.
void Pieces::build(const std::vector<std::string>& pieces) {
    std::vector<int32_t> order(pieces.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return pieces[a] != pieces[b] ? pieces[a] < pieces[b] : a < b; });
    struct Range {
        int32_t first, last;
        size_t depth;
    };
    std::vector<Range> ranges{{0, static_cast<int32_t>(order.size()), 0}};
    nodes_.push_back({0, 0, -1});
    labels_.push_back(0);
    for (size_t node = 0; node < ranges.size(); ++node) {
        auto [first, last, depth] = ranges[node];
        while (first < last && pieces[order[first]].size() == depth) nodes_[node].piece = order[first++];  // the last of equal ones
        nodes_[node].child = static_cast<int32_t>(nodes_.size());
        for (int32_t stop; first < last; first = stop) {
            const uint8_t byte = static_cast<uint8_t>(pieces[order[first]][depth]);
            for (stop = first + 1; stop < last && static_cast<uint8_t>(pieces[order[stop]][depth]) == byte; ++stop) {}
            ranges.push_back({first, stop, depth + 1});
            nodes_.push_back({0, 0, -1});
            labels_.push_back(byte);
            ++nodes_[node].children;
        }
    }
}

int32_t Pieces::follow(int32_t node, uint8_t byte) const {
    const uint8_t* first = labels_.data() + nodes_[node].child;
    const uint8_t* last = first + nodes_[node].children;
    const uint8_t* found = std::lower_bound(first, last, byte);
    return found != last && *found == byte ? static_cast<int32_t>(found - labels_.data()) : -1;
}

// The longest stretch at `text` that has a replacement, or one character as it is; returns its bytes.
size_t Pieces::replace(const uint8_t* text, size_t size, const uint8_t*& out, size_t& length) const {
    size_t longest = 0, value = 0;
    if (!units_.empty()) {
        size_t at = offset(units_[0]);
        for (size_t i = 0; i < size; ++i) {
            at ^= text[i];
            if (at >= units_.size() || (units_[at] & 0x800000ffu) != text[i]) break;
            const uint32_t unit = units_[at];
            at ^= offset(unit);
            if (at >= units_.size()) break;
            if (unit & 0x100) longest = i + 1, value = units_[at] & 0x7fffffffu;
        }
    }
    if (longest == 0 || value + 1 >= replacements_.size()) {
        out = text;
        return length = character(text, text + size);
    }
    out = replacements_.data() + value;
    length = std::strlen(reinterpret_cast<const char*>(out));
    return longest;
}

std::string Pieces::normalised(const uint8_t* text, size_t size) const {
    std::string out;
    const uint8_t* part;
    size_t at = 0, length = 0;
    while (at < size) {  // spaces at the beginning
        const size_t taken = replace(text + at, size - at, part, length);
        if (length != 1 || *part != ' ') break;
        at += taken;
    }
    if (at == size) return out;
    const auto space = [&] { out.append(reinterpret_cast<const char*>(SPACE), 3); };
    space();
    for (bool after_space = true; at < size;) {
        at += replace(text + at, size - at, part, length);
        if (after_space)
            while (length && *part == ' ') ++part, --length;
        for (size_t k = 0; k < length; ++k) {
            if (part[k] == ' ') space();
            else out.push_back(static_cast<char>(part[k]));
        }
        if (length) after_space = part[length - 1] == ' ';
    }
    while (out.size() >= 3 && !std::memcmp(out.data() + out.size() - 3, SPACE, 3)) out.resize(out.size() - 3);
    return out;
}

void Pieces::split(const uint8_t* text, size_t size, size_t most, Search& rooms, std::vector<int32_t>& pieces) const {
    auto& [best, start, piece_to] = rooms;
    const std::string whole = normalised(text, size);
    const uint8_t *first = reinterpret_cast<const uint8_t*>(whole.data()), *end = first + whole.size();
    const size_t length = whole.size();
    pieces.push_back(BEGIN);
    if (length == 0) pieces.push_back(UNKNOWN);
    // The best way to every place, by bytes; places within a character are never reached.
    best.assign(length + 1, -1e38), start.resize(length + 1), piece_to.resize(length + 1);
    best[0] = 0.0;
    for (size_t i = 0; i < length;) {
        const size_t one = character(first + i, end);
        const double base = best[i];
        bool single = false;
        int32_t node = 0;
        for (size_t j = i; j < length;) {
            node = follow(node, first[j++]);
            if (node < 0) break;
            const int32_t piece = nodes_[node].piece;
            if (piece < 0) continue;
            single = single || j == i + one;
            const double score = base + scores_[piece];
            if (score > best[j]) best[j] = score, start[j] = static_cast<int32_t>(i), piece_to[j] = piece;
        }
        if (!single && base + unknown_ > best[i + one])
            best[i + one] = base + unknown_, start[i + one] = static_cast<int32_t>(i), piece_to[i + one] = UNKNOWN;
        i += one;
    }
    const size_t begun = pieces.size();
    for (size_t p = length; p > 0; p = start[p]) pieces.push_back(piece_to[p]);
    std::reverse(pieces.begin() + static_cast<int64_t>(begun), pieces.end());
    if (pieces.size() > begun + most) pieces.resize(begun + most);
    pieces.push_back(END);
}

}  // namespace grampus
