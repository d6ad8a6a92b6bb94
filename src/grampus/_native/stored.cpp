// Documents given by a stored matrix of similarities.
#include <algorithm>

#include "kmeans.hpp"

namespace grampus {

std::unique_ptr<Sums> Stored::sums(int k) const { return std::make_unique<StoredSums>(*this, k); }

void StoredSums::clear() { std::fill(values.begin(), values.end(), 0.0); }
void StoredSums::empty(int c) { std::fill_n(values.begin() + c * documents.n, documents.n, 0.0); }

void StoredSums::add(int64_t i, int c, double w) {
    const int32_t row = static_cast<int32_t>(i);
    documents.add(&row, &w, 1, 0, documents.n, values.data() + c * documents.n);
}

void Stored::add(const int32_t* rows, const double* w, int64_t count, int64_t first, int64_t last, double* to) const {
    if (m32) loops().add_rows32(m32 + first, n, rows, w, count, last - first, to);
    else if (m64) loops().add_rows64(m64 + first, n, rows, w, count, last - first, to);
}

// OUT tile: rows top … bottom and columns left … right of the matrix, squares of TILE columns one behind the other.
void Stored::copy(int64_t top, int64_t bottom, int64_t left, int64_t right, double* tile) const {
    for (int64_t i = top; i < bottom; ++i)
        for (int64_t j = left; j < right; j += TILE) {
            double* to = tile + (j - left) * TILE + (i - top) * TILE;
            const int64_t wide = std::min<int64_t>(TILE, right - j);
            if (m32) std::copy_n(m32 + i * n + j, wide, to);
            else std::copy_n(m64 + i * n + j, wide, to);
        }
}

// Where all are added up anew, the matrix goes by in tiles, each copied once for all runs; otherwise row by row. The sums
// are those of the movers in rising order either way.
void StoredSums::follow(const std::vector<Run*>& runs, int64_t first, int64_t last) {
    const Stored& stored = *runs[0]->documents.stored();
    const int64_t n = stored.n;
    struct List {  // what a cluster gains and loses
        const int32_t* rows;
        const double* signs;
        int64_t count, begin, end;
        double* to;
    };
    std::vector<List> lists, few;
    for (Run* run : runs)
        for (int c = 0; c < run->k; ++c) {
            double* to = static_cast<StoredSums*>(run->sums.get())->values.data() + c * n;
            const int64_t count = static_cast<int64_t>(run->movers[c].size());
            if (run->anew) std::fill(to + first, to + last, 0.0);
            const std::vector<double>& signs = run->signs[c];
            const bool unit = std::all_of(signs.begin(), signs.end(), [](double w) { return w == 1.0; });
            if (count)
                (run->anew ? lists : few).push_back({run->movers[c].data(), unit ? nullptr : signs.data(), count, 0, 0, to});
        }
    for (int64_t left = first; left < last; left += PANEL)
        for (const List& list : few)
            stored.add(list.rows, list.signs, list.count, left, std::min<int64_t>(left + PANEL, last), list.to + left);
    if (lists.size() < 8) {  // too few to share a copy
        for (int64_t left = first; left < last; left += PANEL)
            for (const List& list : lists)
                stored.add(list.rows, list.signs, list.count, left, std::min<int64_t>(left + PANEL, last), list.to + left);
        return;
    }
    if (!stored.m32 && !stored.m64) return;
    Numbers<double> tile(TILE * TILES * TILE);
    for (int64_t left = first; left < last; left += TILE * TILES) {
        const int64_t right = std::min<int64_t>(left + TILE * TILES, last);
        for (List& list : lists) list.begin = list.end = 0;
        for (int64_t top = 0; top < n; top += TILE) {
            const int64_t bottom = std::min<int64_t>(top + TILE, n);
            stored.copy(top, bottom, left, right, tile.data());
            for (List& list : lists) {
                list.begin = list.end;
                while (list.end < list.count && list.rows[list.end] < bottom) ++list.end;
            }
            for (int64_t j = left; j < right; j += TILE) {
                const double* rows = tile.data() + (j - left) * TILE;
                for (const List& list : lists) {
                    if (list.begin == list.end) continue;
                    int32_t numbers[TILE];
                    for (int64_t e = list.begin; e < list.end; ++e) numbers[e - list.begin] = static_cast<int32_t>(list.rows[e] - top);
                    loops().add_tile(rows, TILE, numbers, list.signs ? list.signs + list.begin : nullptr, list.end - list.begin,
                                       std::min<int64_t>(TILE, right - j), list.to + j);
                }
            }
        }
    }
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
