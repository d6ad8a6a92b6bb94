// One start of kernel k-means, whatever its documents are given by.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kmeans.hpp"

namespace grampus {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr int64_t COLUMNS = 4096;  // of a stored matrix, whose lists are made anew for every piece of them

}  // namespace

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
    const double once = 1.0;
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
            sums->add(&i, &once, 1, labels[i]);
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
    for (int c = 0; c < k; ++c) add_movers(c);
}

void Run::add_movers(int c) { sums->add(movers[c].data(), signs[c].data(), static_cast<int64_t>(movers[c].size()), c); }

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

bool Run::step(Team& team) {
    if (outcome != RUNNING) return false;
    if (documents.stored()) {
        team.share(documents.n, COLUMNS, [this](int64_t first, int64_t last) { follow(first, last); });
    } else {
        if (anew) sums->clear();
        team.share(k, [this](int64_t c) { add_movers(static_cast<int>(c)); });
    }
    if (!measure()) return false;
    team.share(static_cast<int64_t>(inside.size()), PIECE, [this](int64_t first, int64_t last) { assign(first, last); });
    advance();
    return true;
}

void run_all(const std::vector<Run*>& runs) {
    std::vector<Run*> going;
    for (Run* run : runs)
        if (run->outcome == RUNNING) going.push_back(run);
    if (going.empty()) return;
    for (Run* run : going)
        if (&run->documents != &going[0]->documents) throw std::invalid_argument("the runs must share their documents");
    if (!going[0]->documents.stored()) {
        Team alone;
        for (Run* run : going)
            while (run->step(alone)) {}
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

}  // namespace grampus
