// The map: attraction along the edges of a graph, repulsion from documents drawn at random.
#pragma once
#include <cstdint>

namespace grampus {

struct Pull {  // an edge that moves `head`, and `tail` too unless it is fixed
    int32_t head, tail;
    float weight;  // above 0, at most 1: the share of the epochs in which the edge acts
};

// IN edges, OUT places (n, 2). Documents below `fixed` do not move. One thread, edges in the order given, random numbers
// that depend on seed, epoch and edge alone: the same bits every time.
void lay_out(const Pull* edges, int64_t count, int64_t n, int64_t fixed, int epochs, int repulsions, uint64_t seed, float* places);

}  // namespace grampus
