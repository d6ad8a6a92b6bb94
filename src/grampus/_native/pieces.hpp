// Texts to pieces: the normaliser and the unigram search of SentencePiece (Kudo, 2018), from a model's own file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace grampus {

struct Search {  // rooms, for one thread
    std::vector<double> best;
    std::vector<int32_t> start, piece;
};

class Pieces {
   public:
    Pieces(const uint8_t* model, size_t size);  // throws std::invalid_argument if the file is not as it must be

    int32_t size() const { return static_cast<int32_t>(scores_.size()); }

    // IN a text in UTF-8; OUT its pieces between the marks of begin and end, at most `most` between them.
    void split(const uint8_t* text, size_t size, size_t most, Search& rooms, std::vector<int32_t>& pieces) const;
    std::string normalised(const uint8_t* text, size_t size) const;

   private:
    struct Node {
        int32_t child, children, piece;  // the first child's number; piece −1: none ends here
    };

    void read_map(const uint8_t* at, size_t size);
    void build(const std::vector<std::string>& pieces);
    size_t replace(const uint8_t* text, size_t size, const uint8_t*& out, size_t& length) const;
    int32_t follow(int32_t node, uint8_t byte) const;

    std::vector<double> scores_;
    double unknown_ = 0.0;
    std::vector<uint32_t> units_;  // a double array of what is replaced (darts-clone's format)
    std::vector<uint8_t> replacements_;
    std::vector<Node> nodes_;
    std::vector<uint8_t> labels_;
};

}  // namespace grampus
