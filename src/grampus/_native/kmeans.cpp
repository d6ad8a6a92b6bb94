#include "kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace grampus {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double UNIT = 1.0 / (1 << 24);  // the rounding of single precision
constexpr double RANGE = 1e12;  // lengths beyond this, or below its inverse, are not for single precision
constexpr int AHEAD = 4;        // documents whose bounds are fetched ahead
constexpr int DOUBT = 8;        // with more than one in so many left in doubt, single precision does not pay

int padded(int k) { return (k + LANES - 1) / LANES * LANES; }

}  // namespace

// ---------------------------------------------------------------- one start

Run::Run(const Documents& documents, const int32_t* start, int k, const Rule& rule, int max_iter, int two_cycles,
         bool bounded)
    : labels(start, start + documents.n), documents(documents), k(k), rule(rule), sizes(k), inner(k), squares(k),
      offsets(k), slopes(k), extents(k), reach(documents.n), next(documents.n, OUTSIDE), sums(documents.sums(k)),
      movers(k), signs(k), bounded(bounded), before_(documents.n, -3), counts_(k), max_iter_(max_iter), two_cycles_(two_cycles) {
    bool joins = false;
    for (int64_t i = 0; i < documents.n; ++i) {
        const double size = std::fabs(documents.diagonal[i]);
        reach[i] = rule.spherical ? std::sqrt(size) : size;
        joins |= labels[i] == JOINS;
        if (labels[i] != OUTSIDE) inside.push_back(static_cast<int32_t>(i));
    }
    if (joins) join();
    next = labels;
    for (const int32_t i : inside) total_ += documents.weights[i] * documents.diagonal[i];
    list_moves(labels);
}

Run::~Run() = default;

Figures Run::figures() const {
    return {k, sizes.data(), inner.data(), squares.data(), offsets.data(), slopes.data(), extents.data()};
}

// What is compared is offset + slope · S: ‖μ_c‖² − 2 S/n_c (`dominance`, Eqn 4) or −S/√W (`validation`, §4).
void Run::compare(const Rule& by) {
    for (int c = 0; c < k; ++c) {
        offsets[c] = sizes[c] > 0 ? 0.0 : INFINITE;
        slopes[c] = extents[c] = 0.0;
        if (!(sizes[c] > 0)) {
            if (!by.spherical) extents[c] = INFINITE;
            continue;
        }
        if (by.spherical) {
            slopes[c] = inner[c] > 0 ? -1.0 / std::sqrt(inner[c]) : 0.0;
        } else {
            offsets[c] = by.centroid * ((inner[c] + by.shift * squares[c]) / (sizes[c] * sizes[c]));
            slopes[c] = -2.0 / sizes[c];
            extents[c] = std::fabs(offsets[c]);
        }
    }
}

// Every document marked JOINS gets the label of the nearest of those that have one: clusters of one document each.
void Run::join() {
    std::vector<int32_t> waiting;
    std::vector<double> kept = reach;
    sums->clear();
    std::fill(sizes.begin(), sizes.end(), 0.0);
    for (const int32_t i : inside) {
        reach[i] = std::fabs(documents.diagonal[i]);
        if (labels[i] == JOINS) {
            waiting.push_back(i);
            labels[i] = OUTSIDE;
        } else {
            sums->add(i, labels[i], 1.0);
            sizes[labels[i]] = squares[labels[i]] = 1.0;
            inner[labels[i]] = documents.diagonal[i];
        }
    }
    const Rule plain{false, rule.tolerance, 0.0, false, 1.0};
    compare(plain);
    std::vector<double> block(static_cast<size_t>(k) * BLOCK);
    std::vector<int32_t> none(BLOCK, OUTSIDE);
    for (size_t first = 0; first < waiting.size(); first += BLOCK) {
        const int count = static_cast<int>(std::min<size_t>(BLOCK, waiting.size() - first));
        double diagonal[BLOCK], weights[BLOCK], wide[BLOCK];
        int32_t chosen[BLOCK];
        for (int r = 0; r < count; ++r) {
            const int32_t i = waiting[first + r];
            diagonal[r] = documents.diagonal[i], weights[r] = documents.weights[i], wide[r] = reach[i];
        }
        sums->tile(waiting.data() + first, count, block.data());
        loops().choose(block.data(), {count, none.data(), diagonal, weights, wide}, figures(), plain, chosen);
        for (int r = 0; r < count; ++r) labels[waiting[first + r]] = chosen[r];
    }
    reach = kept;
    sums->clear();
}

// List what joined and left each cluster since `old`, or everything where more than half moved: that is cheaper, and
// rounding does not pile up.
void Run::list_moves(const Labels& old) {
    int64_t moved = 0;
    for (const int32_t i : inside) moved += labels[i] != old[i];
    anew = &old == &labels || 2 * moved > static_cast<int64_t>(inside.size());
    for (int c = 0; c < k; ++c) movers[c].clear(), signs[c].clear();
    const auto list = [this](int c, int32_t i, double w) { movers[c].push_back(i), signs[c].push_back(w); };
    if (anew) {
        std::fill(sizes.begin(), sizes.end(), 0.0);
        std::fill(squares.begin(), squares.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), 0);
    }
    for (const int32_t i : inside) {
        if (!anew && labels[i] == old[i]) continue;
        const double w = documents.weights[i], square = w * std::min(w, 1.0);
        list(labels[i], i, w);
        sizes[labels[i]] += w, squares[labels[i]] += square, counts_[labels[i]] += 1;
        if (anew) continue;
        list(old[i], i, -w);
        sizes[old[i]] -= w, squares[old[i]] -= square, counts_[old[i]] -= 1;
    }
    for (int c = 0; c < k; ++c)
        if (counts_[c] == 0) sizes[c] = squares[c] = 0.0;
}

void Run::follow(int64_t first, int64_t last) {
    if (outcome != RUNNING) return;
    first = std::max<int64_t>(first, 0), last = std::min(last, documents.n);
    if (documents.stored()) {
        StoredSums::follow({this}, first, last);
        return;
    }
    if (anew) sums->clear();
    for (int c = 0; c < k; ++c)
        for (size_t e = 0; e < movers[c].size(); ++e) sums->add(movers[c][e], c, signs[c][e]);
}

double Run::objective() const {
    double explained = 0.0;
    for (int c = 0; c < k; ++c)
        if (sizes[c] > 0) explained += inner[c] / sizes[c];
    return total_ - explained;
}

bool Run::measure() {
    if (outcome != RUNNING) return false;
    for (int c = 0; c < k; ++c)
        if (counts_[c] == 0) sums->empty(c);
    sums->within(*this, inner.data());
    compare(rule);
    objectives.push_back(objective());
    const bool first = moves.empty();
    if (!std::isfinite(objectives.back()) && (first || moves.back() > 0)) outcome = NOT_FINITE;
    else if (!first && moves.back() == 0) outcome = CONVERGED;
    else if (cycles_ >= two_cycles_) outcome = OSCILLATED;
    else if (static_cast<int>(moves.size()) >= max_iter_) outcome = MAX_ITER;
    if (outcome == RUNNING || static_cast<int64_t>(inside.size()) < documents.n) sums->changed(*this);
    if (outcome == RUNNING) return true;
    predicted = labels;
    if (outcome != NOT_FINITE && static_cast<int64_t>(inside.size()) < documents.n) {
        std::vector<int32_t> others;
        for (int64_t i = 0; i < documents.n; ++i)
            if (labels[i] == OUTSIDE) others.push_back(static_cast<int32_t>(i));
        assign_all(others, 0, static_cast<int64_t>(others.size()));
        for (const int32_t i : others) predicted[i] = next[i];
    }
    sums.reset();
    return false;
}

void Run::assign(int64_t first, int64_t last) {
    if (outcome != RUNNING) return;
    assign_all(inside, std::max<int64_t>(first, 0), std::min(last, static_cast<int64_t>(inside.size())));
}

void Run::assign_all(const std::vector<int32_t>& which, int64_t first, int64_t last) {
    std::vector<double> block(static_cast<size_t>(k) * BLOCK);
    for (; first < last; first += BLOCK) {
        int32_t some[BLOCK], current[BLOCK], chosen[BLOCK];
        double diagonal[BLOCK], weights[BLOCK], wide[BLOCK];
        int count = static_cast<int>(std::min<int64_t>(BLOCK, last - first));
        std::copy_n(which.data() + first, count, some);
        count = sums->screen(*this, some, count);
        if (count == 0) continue;
        for (int r = 0; r < count; ++r) {
            const int32_t i = some[r];
            current[r] = labels[i], diagonal[r] = documents.diagonal[i], weights[r] = documents.weights[i];
            wide[r] = reach[i];
        }
        sums->tile(some, count, block.data());
        loops().choose(block.data(), {count, current, diagonal, weights, wide}, figures(), rule, chosen);
        for (int r = 0; r < count; ++r) {
            next[some[r]] = chosen[r];
            if (chosen[r] != current[r]) sums->forget(some[r]);
        }
    }
}

void Run::advance() {
    if (outcome != RUNNING) return;
    fill();
    int64_t moved = 0;
    bool returned = true;
    for (const int32_t i : inside) {
        moved += next[i] != labels[i];
        returned &= next[i] == before_[i];
    }
    moves.push_back(moved);
    cycles_ = returned ? cycles_ + 1 : 0;
    before_.swap(labels);
    labels = before_;
    for (const int32_t i : inside) labels[i] = next[i];
    list_moves(before_);
}

// Every empty cluster gets the document farthest from the centroid it was assigned to, by distances without the shift;
// only documents that leave company behind, the lowest number first among equals.
void Run::fill() {
    std::vector<int64_t> counts(k);
    for (const int32_t i : inside) counts[next[i]] += 1;
    if (*std::min_element(counts.begin(), counts.end()) > 0) return;
    const size_t n = inside.size();
    std::vector<double> far(n), least(n);
    std::vector<char> usable(n);
    for (size_t r = 0; r < n; ++r) {
        const int32_t i = inside[r];
        const int c = next[i];
        const double norm = sizes[c] > 0 ? inner[c] / (sizes[c] * sizes[c]) : INFINITE;
        far[r] = documents.diagonal[i] + norm - 2.0 * sums->at(i, c) / (sizes[c] > 0 ? sizes[c] : 1.0);
        least[r] = rule.tolerance * (std::fabs(documents.diagonal[i]) + std::fabs(norm));
        usable[r] = std::fabs(far[r]) > least[r];
    }
    for (int cluster = 0; cluster < k; ++cluster) {
        if (counts[cluster]) continue;
        size_t farthest = n;
        for (size_t r = 0; r < n; ++r)
            if (usable[r] && counts[next[inside[r]]] > 1 && (farthest == n || far[r] > far[farthest])) farthest = r;
        if (farthest == n) return;
        for (size_t r = 0; r < n; ++r) {
            const int32_t i = inside[r];
            if (!usable[r] || counts[next[i]] <= 1 || !(far[r] >= far[farthest] - least[farthest])) continue;
            counts[next[i]] -= 1;
            next[i] = cluster;
            sums->forget(i);
            usable[r] = 0;
            counts[cluster] = 1;
            break;
        }
    }
}

void run_all(const std::vector<Run*>& runs) {
    std::vector<Run*> going;
    for (Run* run : runs)
        if (run->outcome == RUNNING) going.push_back(run);
    if (going.empty()) return;
    for (Run* run : going)
        if (&run->documents != &going[0]->documents) throw std::invalid_argument("the runs must share their documents");
    if (!going[0]->documents.stored()) {
        for (Run* run : going) {
            run->follow(0, run->documents.n);
            while (run->measure()) {
                run->assign(0, static_cast<int64_t>(run->inside.size()));
                run->advance();
                run->follow(0, run->documents.n);
            }
        }
        return;
    }
    while (!going.empty()) {
        StoredSums::follow(going, 0, going[0]->documents.n);
        std::vector<Run*> left;
        for (Run* run : going) {
            if (!run->measure()) continue;
            run->assign(0, static_cast<int64_t>(run->inside.size()));
            run->advance();
            left.push_back(run);
        }
        going.swap(left);
    }
}

// ---------------------------------------------------------------- stored rows

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

// ---------------------------------------------------------------- rows of features

namespace {

// Screening in single precision, and bounds that say which documents cannot have changed cluster.
//
// A sum of m products is off by at most (m + 4) roundings times both lengths. A document's value for cluster c,
// offset + slope · S, changes by the change of the offset and at most its length times the way that slope · sum went:
// `drift`, added up over the iterations. So a value once computed bounds all later ones, on both sides.
class Screened : public Sums {
  public:
    Screened(const Documents& documents, const std::vector<double>& lengths, int64_t terms, int k)
        : documents_(documents), lengths_(lengths), terms_(terms), k_(k), stride_(padded(k)),
          offsets_(stride_), slopes_(stride_), drift_(stride_), old_slopes_(k), old_within_(k), drifts_(k) {
        double longest = 0.0;
        for (const double length : lengths) longest = std::max(longest, length);
        rough_ = 1 / RANGE < longest && longest < RANGE;
        slack_ = 8 * UNIT + 2 * std::sqrt(static_cast<double>(terms) * std::numeric_limits<double>::epsilon());
    }

    void changed(const Run& run) override {
        double total = 0.0;
        for (int c = 0; c < k_; ++c) total += run.sizes[c];
        const Rule& rule = run.rule;
        if (!(total < RANGE) || !(std::fabs(rule.shift) < RANGE)) rough_ = false;
        const int64_t computed = run.computed, doubtful = run.doubtful;
        if (DOUBT * (doubtful - doubtful_) > computed - computed_ && computed > computed_) rough_ = false;
        computed_ = computed, doubtful_ = doubtful;
        if (!rough_) return;
        if (table_.empty()) {
            table_.assign(static_cast<size_t>(terms_) * stride_, 0.0f);
            if (run.bounded && !rule.adjusted) bounds_.resize(static_cast<size_t>(documents_.n) * stride_);
            upper_.assign(documents_.n, std::numeric_limits<float>::infinity());
        }
        std::vector<double> along(stride_), moved(stride_);
        refresh(table_.data(), along.data(), moved.data());
        double high = 0.0, steep = 0.0, slant = 0.0, far = 0.0, wide = 0.0;
        for (int c = 0; c < stride_; ++c) {
            offsets_[c] = c < k_ ? static_cast<float>(run.offsets[c]) : std::numeric_limits<float>::infinity();
            slopes_[c] = c < k_ ? static_cast<float>(run.slopes[c]) : 0.0f;
            if (c >= k_) continue;
            const double s = run.slopes[c], was = old_slopes_[c], turn = s - was;
            const double length = std::sqrt(std::max(run.inner[c], 0.0)), old = std::sqrt(std::max(old_within_[c], 0.0));
            const double way = turn * turn * old * old + 2.0 * turn * s * along[c] + s * s * moved[c];
            drifts_[c] += std::sqrt(std::max(way, 0.0)) + slack_ * (std::fabs(s) + std::fabs(was)) * (length + old);
            drift_[c] = static_cast<float>(drifts_[c]);
            old_slopes_[c] = s, old_within_[c] = run.inner[c];
            far = std::max(far, drifts_[c]);
            if (run.sizes[c] > 0) {
                high = std::max(high, std::fabs(run.offsets[c]));
                steep = std::max(steep, std::fabs(s) * length);
                slant = std::max(slant, std::fabs(s));
                wide = std::max(wide, run.extents[c]);
            }
        }
        steepest_ = std::max(steepest_, steep);
        steep_ = steep, wide_ = wide, far_ = far;
        constant_ = 16 * UNIT * (high + slant * std::fabs(rule.shift)) + 1e-36;
    }

    int screen(Run& run, int32_t* some, int count) override {
        if (!rough_ || table_.empty()) return count;
        static thread_local Numbers<float> sums;
        sums.resize(static_cast<size_t>(BLOCK) * stride_);
        const Rough rough{stride_, offsets_.data(), slopes_.data(), drift_.data()};
        const Rule& rule = run.rule;
        int left = 0, doubt = 0;
        if (bounds_.empty()) left = count;
        else
            for (int r = 0; r < count; ++r) {  // keep those that may have moved; without branches, which are not foreseen
                const int32_t i = some[r];
                const int own = run.labels[i], c = own < 0 ? 0 : own;
                const double length = lengths_[i];
                if (r + AHEAD < count) __builtin_prefetch(bounds_.data() + static_cast<size_t>(some[r + AHEAD]) * stride_);
                const double room = constant_ + 16 * UNIT * length * (steepest_ + far_) + rule.tolerance * (run.reach[i] + wide_);
                const double mine = upper_[i] + run.offsets[c] + length * drifts_[c] + extra(run, i, c) + room;
                const double others = loops().lowest(bounds_.data() + static_cast<size_t>(i) * stride_, rough, static_cast<float>(length));
                run.next[i] = own;
                some[left] = i;
                left += !(own >= 0 && others > mine);
            }
        if (left == 0) return 0;
        rough_sums(table_.data(), stride_, some, left, sums.data());
        for (int r = 0; r < left; ++r) {
            const int32_t i = some[r];
            const int own = run.labels[i];
            const float* row = sums.data() + static_cast<size_t>(r) * stride_;
            const double error = 2 * UNIT * (static_cast<double>(entries(i)) + 4) * lengths_[i] * steep_ + constant_;
            double more = own >= 0 ? extra(run, i, own) : 0.0, room = 2 * error;
            if (rule.adjusted && own >= 0) {
                const double rest = run.sizes[own] - std::min(documents_.weights[i], 1.0);
                if (rest < 0.5 || !(lengths_[i] * lengths_[i] <= 2 * std::fabs(documents_.diagonal[i]))) {
                    some[doubt++] = i;  // alone or nearly so
                    continue;
                }
                more = left_out(row[own], run, own, i) - (run.offsets[own] + run.slopes[own] * row[own]);
                const double ratio = run.sizes[own] / rest;  // how much larger the error is without the document
                room = 2 * error * (1 + ratio + ratio / rest) + 16 * UNIT * std::fabs(more);
            }
            float least, second;
            int winner;
            loops().least(row, rough, own, static_cast<float>(more), &least, &second, &winner);
            const bool certain = second - least > room + rule.tolerance * (run.reach[i] + wide_);
            if (certain) run.next[i] = winner;
            else some[doubt++] = i;
            if (own < 0 || bounds_.empty()) continue;
            float* bounds = bounds_.data() + static_cast<size_t>(i) * stride_;
            if (certain) {  // what is in doubt is looked at again
                loops().remember(row, rough, static_cast<float>(lengths_[i]), static_cast<float>(error), bounds);
                bounds[winner] = std::numeric_limits<float>::infinity();
                upper_[i] = static_cast<float>(run.slopes[winner] * row[winner] - lengths_[i] * drifts_[winner] + error);
            } else {
                upper_[i] = std::numeric_limits<float>::infinity();
            }
        }
        run.computed += left;
        run.doubtful += doubt;
        return doubt;
    }

    void forget(int64_t document) override {
        if (!upper_.empty()) upper_[document] = std::numeric_limits<float>::infinity();
    }

  protected:
    virtual void refresh(float* table, double* along, double* moved) = 0;
    virtual void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const = 0;
    virtual int64_t entries(int64_t document) const = 0;

    // What the own cluster's value has more: K_ii + σ is among its own sums.
    double extra(const Run& run, int64_t i, int own) const {
        return run.rule.shift == 0.0 ? 0.0 : run.slopes[own] * run.rule.shift * std::min(documents_.weights[i], 1.0);
    }

    // Distance to the own cluster without the document itself, as in loops.cpp.
    double left_out(double similar, const Run& run, int c, int64_t i) const {
        const double one = std::min(documents_.weights[i], 1.0), rest = run.sizes[c] - one, own = documents_.diagonal[i];
        const double inner = run.inner[c] - 2.0 * one * similar + one * one * own + run.rule.shift * (run.squares[c] - one * one);
        return run.rule.centroid * inner / (rest * rest) - 2.0 * (similar - one * own) / rest;
    }

    const Documents& documents_;
    const std::vector<double>& lengths_;
    const int64_t terms_;
    const int k_, stride_;
    bool rough_ = true;
    Numbers<float> table_, bounds_, offsets_, slopes_, drift_;
    std::vector<float> upper_;
    std::vector<double> old_slopes_, old_within_, drifts_;
    double steep_ = 0, steepest_ = 0, wide_ = 0, far_ = 0, constant_ = 0, slack_ = 0;
    int64_t computed_ = 0, doubtful_ = 0;
};

class SparseSums final : public Screened {
  public:
    SparseSums(const Sparse& d, int k)
        : Screened(d, d.lengths, d.terms, k), d_(d), sums_(static_cast<size_t>(d.terms) * k, 0.0), within_(k, 0.0),
          touched_(d.terms, 1), changed_(k, 1) {}

    void clear() override {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(touched_.begin(), touched_.end(), char(1));
        std::fill(changed_.begin(), changed_.end(), char(1));
    }

    void add(int64_t i, int c, double w) override {
        double* sums = sums_.data() + c * d_.terms;
        for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) {
            const int32_t t = d_.entries[e].term;
            sums[t] += w * d_.value(e, i);
            touched_[t] = 1;
        }
        changed_[c] = 1;
    }

    void empty(int c) override {
        std::fill_n(sums_.begin() + c * d_.terms, d_.terms, 0.0);
        std::fill(touched_.begin(), touched_.end(), char(1));
        changed_[c] = 1;
    }

    void within(const Run&, double* out) override {
        for (int c = 0; c < k_; ++c) {
            if (changed_[c]) {
                const double* sums = sums_.data() + c * d_.terms;
                within_[c] = loops().dot(sums, sums, d_.terms);
                changed_[c] = 0;
            }
            out[c] = within_[c];
        }
    }

    void tile(const int32_t* some, int count, double* out) const override {
        for (int c = 0; c < k_; ++c)
            for (int r = 0; r < count; ++r) out[c * count + r] = at(some[r], c);
    }

    double at(int64_t i, int c) const override {
        const double* sums = sums_.data() + c * d_.terms;
        double sum = 0.0;
        for (int64_t e = d_.indptr[i]; e < d_.indptr[i + 1]; ++e) sum += d_.value(e, i) * sums[d_.entries[e].term];
        return sum;
    }

  protected:
    void refresh(float* table, double* along, double* moved) override {
        std::vector<double> fresh(stride_);
        for (int64_t t = 0; t < d_.terms; ++t) {
            if (!touched_[t]) continue;
            for (int c = 0; c < k_; ++c) fresh[c] = sums_[c * d_.terms + t];
            loops().refresh(fresh.data(), table + t * stride_, stride_, along, moved);
            touched_[t] = 0;
        }
    }

    void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const override {
        loops().sparse_sums(d_.entries.data(), d_.indptr, some, count, table, stride, out);
    }

    int64_t entries(int64_t i) const override { return d_.indptr[i + 1] - d_.indptr[i]; }

  private:
    const Sparse& d_;
    Numbers<double> sums_;  // (k, terms): the clusters' sums in feature space
    std::vector<double> within_;
    std::vector<char> touched_, changed_;
};

class DenseSums final : public Screened {
  public:
    DenseSums(const Dense& d, int k)
        : Screened(d, d.lengths, d.m, k), d_(d), sums_(static_cast<size_t>(k) * d.m, 0.0) {}

    void clear() override { std::fill(sums_.begin(), sums_.end(), 0.0); }
    void add(int64_t i, int c, double w) override { loops().axpy(w, d_.rows + i * d_.m, d_.m, sums_.data() + c * d_.m); }
    void empty(int c) override { std::fill_n(sums_.begin() + c * d_.m, d_.m, 0.0); }

    void within(const Run&, double* out) override {
        for (int c = 0; c < k_; ++c) out[c] = loops().dot(sums_.data() + c * d_.m, sums_.data() + c * d_.m, d_.m);
    }

    void tile(const int32_t* some, int count, double* out) const override {
        for (int c = 0; c < k_; ++c)
            for (int r = 0; r < count; ++r) out[c * count + r] = at(some[r], c);
    }

    double at(int64_t i, int c) const override { return loops().dot(d_.rows + i * d_.m, sums_.data() + c * d_.m, d_.m); }

  protected:
    void refresh(float* table, double* along, double* moved) override {
        std::vector<double> fresh(stride_);
        for (int64_t t = 0; t < d_.m; ++t) {
            for (int c = 0; c < k_; ++c) fresh[c] = sums_[c * d_.m + t];
            loops().refresh(fresh.data(), table + t * stride_, stride_, along, moved);
        }
    }

    void rough_sums(const float* table, int stride, const int32_t* some, int count, float* out) const override {
        loops().dense_sums(d_.small.data(), d_.m, some, count, table, stride, out);
    }

    int64_t entries(int64_t) const override { return d_.m; }

  private:
    const Dense& d_;
    Numbers<double> sums_;  // (k, m)
};

}  // namespace

Sparse::Sparse(const float* d32, const double* d64, const int32_t* indices, const int64_t* indptr, const double* scale,
               int64_t n, int64_t terms, const double* diagonal, const double* weights)
    : Documents(n, diagonal, weights), d32(d32), d64(d64), indices(indices), indptr(indptr), scale(scale), terms(terms),
      entries(indptr[n] + PADDING, Entry{0, 0.0f}), place(terms), lengths(n) {
    std::vector<int64_t> count(terms, 0);
    for (int64_t e = 0; e < indptr[n]; ++e) ++count[indices[e]];
    std::vector<int32_t> order(terms);
    for (int64_t t = 0; t < terms; ++t) order[t] = static_cast<int32_t>(t);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return count[a] > count[b]; });
    for (int64_t t = 0; t < terms; ++t) place[order[t]] = static_cast<int32_t>(t);
    for (int64_t i = 0; i < n; ++i) {
        double square = 0.0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const double x = value(e, i);
            square += x * x;
            entries[e] = {place[indices[e]], static_cast<float>(x)};
        }
        lengths[i] = std::sqrt(square);
    }
}

std::unique_ptr<Sums> Sparse::sums(int k) const { return std::make_unique<SparseSums>(*this, k); }

Dense::Dense(const double* rows, int64_t n, int64_t m, const double* diagonal, const double* weights)
    : Documents(n, diagonal, weights), rows(rows), m(m), small(rows, rows + n * m), lengths(n) {
    for (int64_t i = 0; i < n; ++i) lengths[i] = std::sqrt(loops().dot(rows + i * m, rows + i * m, m));
}

std::unique_ptr<Sums> Dense::sums(int k) const { return std::make_unique<DenseSums>(*this, k); }

}  // namespace grampus
