// Texts as pieces to rows: what is shared between the texts of a batch is computed once. See encoder_loops.hpp.
#pragma once
#include <vector>

#include "encoder_loops.hpp"

namespace grampus {

class Encoder {  // rooms that are used again and again, by one thread
   public:
    // IN pieces and where each text begins (texts + 1); OUT rows (texts, 512).
    void encode(const Network& net, const int32_t* pieces, const int64_t* starts, int64_t texts, float* rows);

   private:
    void batch(const Network& net, const int32_t* pieces, const int64_t* starts, int64_t texts, float* rows);

    std::vector<int32_t> distinct_, places_, room_, products_;
    std::vector<int64_t> starts_, lengths_;
    std::vector<int8_t> bytes_;
    std::vector<float> projected_, hidden_, last_;
    std::vector<double> scales_, row_scales_, sums_, values_;
};

}  // namespace grampus
