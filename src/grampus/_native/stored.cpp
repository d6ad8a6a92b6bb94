// Documents given by a stored matrix of similarities.
#include <algorithm>

#include "kmeans.hpp"

namespace grampus {
namespace {

constexpr int FEW = 32;       // clusters up to which documents are sorted by where they come from and where they go
constexpr int MANY = 2;       // documents that go the same way, on average, from which on they are added up once
constexpr double COPY = 1.5;  // rows to add, per document, from which on tiles are copied
constexpr int SIDE = 4;       // tiles that are copied together, side by side

}  // namespace

std::unique_ptr<Sums> Stored::sums(int k) const { return std::make_unique<StoredSums>(*this, k); }

void StoredSums::clear() { std::fill(values.begin(), values.end(), 0.0); }
void StoredSums::empty(int c) { std::fill_n(values.begin() + c * documents.n, documents.n, 0.0); }

void StoredSums::add(const int32_t* some, const double* w, int64_t count, int c) {
    documents.add(some, w, count, 0, documents.n, values.data() + c * documents.n);
}

void Stored::add(const int32_t* rows, const double* w, int64_t count, int64_t first, int64_t last, double* to) const {
    if (m32) loops().add_rows32(m32 + first, n, rows, w, count, last - first, to);
    else if (m64) loops().add_rows64(m64 + first, n, rows, w, count, last - first, to);
}

namespace {

// Rows to add up: a cluster's sums gain and lose them, or, with `from`, documents go from one cluster to another.
struct List {
    double *to, *from;  // (n)
    int64_t first, last;
    bool unit;  // all weights are 1
};

struct Lists {
    std::vector<List> lists;
    std::vector<int32_t> rows;
    std::vector<double> weights;

    int64_t count() const { return static_cast<int64_t>(rows.size()); }
    const double* weights_of(const List& list, int64_t from) const { return list.unit ? nullptr : weights.data() + from; }
    void end(double* to, double* from, int64_t first) {  // what was added since `first` is a list
        const bool unit = std::all_of(weights.begin() + first, weights.end(), [](double w) { return w == 1.0; });
        if (count() > first) lists.push_back({to, from, first, count(), unit});
    }

    void by_cluster(const Run& run, const std::vector<double*>& sums) {
        for (int c = 0; c < run.k; ++c) {
            const int64_t first = count();
            rows.insert(rows.end(), run.movers[c].begin(), run.movers[c].end());
            weights.insert(weights.end(), run.signs[c].begin(), run.signs[c].end());
            end(sums[c], nullptr, first);
        }
    }

    // Documents that go the same way are added up once, then added here and taken there: half of the work if they are
    // many. Returns whether they are.
    bool by_pair(const Run& run, const std::vector<double*>& sums) {
        if (run.k > FEW) return false;
        int64_t counts[FEW * FEW] = {}, movers = 0, used = 0;
        for (int a = 0; a < run.k; ++a)
            for (const int32_t i : run.movers[a]) {
                if (run.labels[i] == a) continue;
                ++movers;
                used += counts[a * FEW + run.labels[i]]++ == 0;
            }
        if (movers < MANY * used) return false;
        int64_t place = count();
        rows.resize(place + movers), weights.resize(place + movers);
        for (int a = 0; a < run.k; ++a) {
            int64_t next[FEW];
            for (int b = 0; b < run.k; ++b) next[b] = place, place += counts[a * FEW + b];
            for (const int32_t i : run.movers[a])
                if (run.labels[i] != a) weights[next[run.labels[i]]] = run.documents.weights[i], rows[next[run.labels[i]]++] = i;
            for (int b = 0; b < run.k; ++b) {
                const int64_t first = next[b] - counts[a * FEW + b];
                const bool unit = std::all_of(weights.begin() + first, weights.begin() + next[b], [](double w) { return w == 1.0; });
                if (next[b] > first) lists.push_back({sums[b], sums[a], first, next[b], unit});
            }
        }
        return true;
    }

    // Columns left … right of the sums into accumulators, each `stride` from the last, and back.
    void load(int64_t left, int64_t right, int64_t stride, double* sums) const {
        for (const List& list : lists) {
            if (list.from) std::fill_n(sums, right - left, 0.0);
            else std::copy(list.to + left, list.to + right, sums);
            sums += stride;
        }
    }
    void store(int64_t left, int64_t right, int64_t stride, const double* sums) const {
        for (const List& list : lists) {
            if (list.from) loops().move(sums, right - left, list.from + left, list.to + left);
            else std::copy_n(sums, right - left, list.to + left);
            sums += stride;
        }
    }
};

// Row by row, for few: the columns' sums stay in the first-level cache.
void add_rows(const Stored& stored, const Lists& all, int64_t first, int64_t last) {
    Numbers<double> sums(all.lists.size() * PANEL);
    for (int64_t left = first; left < last; left += PANEL) {
        const int64_t right = std::min<int64_t>(left + PANEL, last);
        all.load(left, right, PANEL, sums.data());
        double* to = sums.data();
        for (const List& list : all.lists) {
            stored.add(all.rows.data() + list.first, all.weights_of(list, list.first), list.last - list.first, left, right, to);
            to += PANEL;
        }
        all.store(left, right, PANEL, sums.data());
    }
}

// The rows of all lists, tile by tile.
struct Tiled {
    std::vector<int64_t> bounds;  // (tiles, lists + 1): where the rows of a list begin
    std::vector<uint8_t> rows;    // numbers in the tile
    std::vector<double> weights;  // of each; none: all 1

    Tiled(const Lists& all, int64_t n) {
        const int64_t many = static_cast<int64_t>(all.lists.size());
        const bool unit = std::all_of(all.lists.begin(), all.lists.end(), [](const List& list) { return list.unit; });
        std::vector<int64_t> at(many);
        for (int64_t l = 0; l < many; ++l) at[l] = all.lists[l].first;
        rows.reserve(all.rows.size()), weights.reserve(unit ? 0 : all.rows.size());
        for (int64_t top = 0; top < n; top += TILE) {
            for (int64_t l = 0; l < many; ++l) {
                bounds.push_back(static_cast<int64_t>(rows.size()));
                for (int64_t& e = at[l]; e < all.lists[l].last && all.rows[e] < top + TILE; ++e) {
                    rows.push_back(static_cast<uint8_t>(all.rows[e] - top));
                    if (!unit) weights.push_back(all.weights[e]);
                }
            }
            bounds.push_back(static_cast<int64_t>(rows.size()));
        }
    }
};

// In tiles that stay in the first-level cache, each copied once for all lists.
void add_tiles(const Stored& stored, const Lists& all, int64_t first, int64_t last) {
    const int64_t n = stored.n, many = static_cast<int64_t>(all.lists.size()), wide = loops().columns, block = wide * SIDE;
    const Tiled tiled(all, n);
    Numbers<double> tiles(TILE * block), sums(many * block);  // sums: (tiles, lists, columns)
    for (int64_t left = first; left < last; left += block) {
        const int64_t right = std::min(left + block, last);
        for (int64_t j = left; j < right; j += wide) all.load(j, std::min(j + wide, right), wide, sums.data() + (j - left) * many);
        const int64_t* bounds = tiled.bounds.data();
        for (int64_t top = 0; top < n; top += TILE, bounds += many + 1) {
            const int64_t rows = std::min<int64_t>(TILE, n - top);
            if (stored.m32) loops().copy_tiles32(stored.m32 + top * n + left, n, rows, right - left, tiles.data());
            else loops().copy_tiles64(stored.m64 + top * n + left, n, rows, right - left, tiles.data());
            for (int64_t j = 0; j < right - left; j += wide)
                loops().add_tile(tiles.data() + j * TILE, tiled.rows.data(), tiled.weights.empty() ? nullptr : tiled.weights.data(),
                                 bounds, many, sums.data() + j * many);
        }
        for (int64_t j = left; j < right; j += wide) all.store(j, std::min(j + wide, right), wide, sums.data() + (j - left) * many);
    }
}

}  // namespace

// The sums are those of the movers in rising order, whether the matrix goes by in tiles or row by row.
void StoredSums::follow(const std::vector<Run*>& runs, int64_t first, int64_t last) {
    const Stored& stored = *runs[0]->documents.stored();
    Lists all;
    for (Run* run : runs) {
        std::vector<double*> sums;
        for (int c = 0; c < run->k; ++c) {
            sums.push_back(static_cast<StoredSums*>(run->sums.get())->values.data() + c * stored.n);
            if (run->anew) std::fill(sums[c] + first, sums[c] + last, 0.0);
        }
        if (run->anew || !all.by_pair(*run, sums)) all.by_cluster(*run, sums);
    }
    if (!stored.m32 && !stored.m64) return;
    if (static_cast<double>(all.count()) < COPY * static_cast<double>(stored.n)) add_rows(stored, all, first, last);
    else add_tiles(stored, all, first, last);
}

void StoredSums::within(const Run& run, double* out) {
    std::fill_n(out, k, 0.0);
    for (const int32_t i : run.inside) {
        const int c = run.labels[i];
        out[c] += documents.weights[i] * values[c * documents.n + i];
    }
}

void StoredSums::tile(const int32_t* some, int count, double* out) const {
    const bool together = some[count - 1] - some[0] == count - 1;
    for (int c = 0; c < k; ++c) {
        const double* row = values.data() + c * documents.n;
        if (together) std::copy_n(row + some[0], count, out + c * count);
        else
            for (int r = 0; r < count; ++r) out[c * count + r] = row[some[r]];
    }
}

}  // namespace grampus
