// Kernel k-means from one start to its end, on documents that are stored rows, sparse rows or dense rows.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "loops.hpp"
#include "team.hpp"

namespace grampus {

template <class T>
struct Aligned {  // an allocator for whole lines of the cache
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    bool operator==(const Aligned&) const { return true; }
    bool operator!=(const Aligned&) const { return false; }
};
template <class T>
using Numbers = std::vector<T, Aligned<T>>;
using Labels = std::vector<int32_t>;

constexpr double UNIT = 1.0 / (1 << 24);      // the rounding of single precision
constexpr int64_t PIECE = 8 * BLOCK;          // documents that a thread looks at before it takes others
inline int padded(int k) { return (k + LANES - 1) / LANES * LANES; }
// Whether lengths are for single precision.
bool are_moderate(const std::vector<double>& lengths);

enum Outcome { CONVERGED = 0, OSCILLATED = 1, MAX_ITER = 2, NOT_FINITE = 3, RUNNING = 4 };
constexpr int32_t OUTSIDE = -1, JOINS = -2;  // labels: only predicted; joins the nearest labelled document first

class Run;

// Sums of similarities between documents and the clusters of one partition.
class Sums {
  public:
    virtual ~Sums() = default;
    virtual void clear() = 0;
    // Documents join a cluster (w > 0) or leave it (w < 0), one after the other.
    virtual void add(const int32_t* documents, const double* w, int64_t count, int cluster) = 0;
    // Nothing of rounding is left behind in a cluster without members.
    virtual void empty(int cluster) = 0;
    // OUT within (k): W, the sums of similarities inside the clusters.
    virtual void within(const Run& run, double* out) = 0;
    // OUT tile (k, count): the sums of some documents in double precision.
    virtual void tile(const int32_t* documents, int count, double* out) const = 0;
    virtual double at(int64_t document, int cluster) const = 0;
    // Prepare for assignments after the sums have changed; `run` has its new figures.
    virtual void changed(const Run&) {}
    // Assign what is certain without double precision. IN documents; OUT next of those; returns what is left, moved to
    // the front of `documents`.
    virtual int screen(Run&, int32_t*, int count) { return count; }
    // A document's label was changed after its assignment.
    virtual void forget(int64_t) {}
};

// Documents that all runs share, and their Gram below its shift.
class Documents {
  public:
    Documents(int64_t n, const double* diagonal, const double* weights) : n(n), diagonal(diagonal), weights(weights) {}
    virtual ~Documents() = default;
    virtual std::unique_ptr<Sums> sums(int k) const = 0;
    virtual const class Stored* stored() const { return nullptr; }

    const int64_t n;
    const double *const diagonal, *const weights;
};

// One start. An iteration is follow – measure – assign – advance; step() does them in turn.
class Run {
  public:
    Run(const Documents& documents, const int32_t* start, int k, const Rule& rule, int max_iter, int two_cycles, bool bounded);
    ~Run();

    // Bring the sums up to date with the labels: columns first … last of a stored matrix, or all sums of features.
    void follow(int64_t first, int64_t last);
    // Compute the clusters' figures and record the objective; stop if nothing is left to do. Returns whether to go on.
    bool measure();
    // Find the next cluster of the members first … last.
    void assign(int64_t first, int64_t last);
    // Fill empty clusters, make the next labels the current ones and list the moves.
    void advance();
    // One iteration, which a team shares; returns whether to go on.
    bool step(Team& team);

    Outcome outcome = RUNNING;
    Labels labels, predicted;
    std::vector<int64_t> moves;
    std::vector<double> objectives;
    std::vector<int32_t> inside;  // documents that count

    const Documents& documents;
    const int k;
    const Rule rule;
    std::vector<double> sizes, inner, squares, offsets, slopes, extents;
    std::vector<double> reach;
    Labels next;
    std::unique_ptr<Sums> sums;
    // Documents that join or leave each cluster, in rising order, and their weights, negative for those that leave.
    std::vector<std::vector<int32_t>> movers;
    std::vector<std::vector<double>> signs;
    bool anew = true;
    const bool bounded;  // whether bounds are stored that rule documents out

    Figures figures() const;
    void compare(const Rule& by);
    std::atomic<int64_t> doubtful{0}, computed{0};

  private:
    void join();
    void add_movers(int cluster);
    void assign_all(const std::vector<int32_t>& which, int64_t first, int64_t last);
    void fill();
    void list_moves(const Labels& old);
    double objective() const;

    Labels before_;
    std::vector<int64_t> counts_;
    double total_ = 0.0;
    int max_iter_, two_cycles_, cycles_ = 0;
};

// n × n similarities, in single or double precision; or none, and the caller adds to the sums.
class Stored : public Documents {
  public:
    Stored(const float* m32, const double* m64, int64_t n, const double* diagonal, const double* weights)
        : Documents(n, diagonal, weights), m32(m32), m64(m64) {}
    std::unique_ptr<Sums> sums(int k) const override;
    const Stored* stored() const override { return this; }
    // IN/OUT to (last − first) += Σ w · row, in columns first … last.
    void add(const int32_t* rows, const double* w, int64_t count, int64_t first, int64_t last, double* to) const;
    const float* const m32;
    const double* const m64;
};

struct StoredSums : Sums {
    StoredSums(const Stored& documents, int k) : documents(documents), k(k), values(k * documents.n, 0.0) {}
    void clear() override;
    void add(const int32_t* documents, const double* w, int64_t count, int cluster) override;
    void empty(int cluster) override;
    void within(const Run& run, double* out) override;
    void tile(const int32_t* documents, int count, double* out) const override;
    double at(int64_t document, int cluster) const override { return values[cluster * documents.n + document]; }
    // Add and take the rows of what moved, in columns first … last, for several runs: each tile of K is read once.
    static void follow(const std::vector<Run*>& runs, int64_t first, int64_t last);
    const Stored& documents;
    const int k;
    Numbers<double> values;  // (k, n)
};

// Rows of features: K = X Xᵀ.
class Sparse : public Documents {
  public:
    // IN CSR: data in either precision (one of the two), indices, indptr, one factor a row, number of terms.
    Sparse(const float* d32, const double* d64, const int32_t* indices, const int64_t* indptr, const double* scale,
           int64_t n, int64_t terms, const double* diagonal, const double* weights);
    std::unique_ptr<Sums> sums(int k) const override;
    double value(int64_t entry, int64_t row) const {
        return (d32 ? static_cast<double>(d32[entry]) : d64[entry]) * scale[row];
    }
    const float* const d32;
    const double* const d64;
    const int32_t* const indices;
    const int64_t* const indptr;
    const double* const scale;
    const int64_t terms;
    std::vector<Entry> entries;   // the same in single precision, terms by number of documents
    std::vector<int32_t> place;   // where a term stands in tables: frequent terms first, close together
    std::vector<double> lengths;
};

class Dense : public Documents {
  public:
    Dense(const double* rows, int64_t n, int64_t m, const double* diagonal, const double* weights);
    std::unique_ptr<Sums> sums(int k) const override;
    const double* const rows;
    const int64_t m;
    Numbers<float> small;
    std::vector<double> lengths;
};

// Run all to their end; stored matrices in lockstep, so that one pass serves every run.
void run_all(const std::vector<Run*>& runs);

}  // namespace grampus
