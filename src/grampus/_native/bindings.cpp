// The module grampus._native._core. Callers check arrays first (__init__.py); here only types and layout are fixed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "arrays.hpp"
#include "digests.hpp"
#include "layout.hpp"
#include "linkage.hpp"
#include "neighbours.hpp"
#include "seeding.hpp"
#include "trades.hpp"

namespace nb = nanobind;
using namespace grampus;

namespace grampus {

#define DECLARE(isa)                 \
    void fill_double_##isa(Loops&);  \
    void fill_single_##isa(Loops&);
DECLARE(baseline)
#ifdef GRAMPUS_HAS_avx2
DECLARE(avx2)
#endif

static Loops chosen_loops(bool best) {
    Loops table{};
    table.name = "baseline";
    fill_double_baseline(table);
    fill_single_baseline(table);
#ifdef GRAMPUS_HAS_avx2
    if (best && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        table.name = "avx2";
        fill_double_avx2(table);
        fill_single_avx2(table);
    }
#endif
    (void)best;
    return table;
}
static Loops the_loops = chosen_loops(true);
const Loops& loops() { return the_loops; }

}  // namespace grampus

namespace {

template <class T, class I>
void bind_sparse_names(nb::module_& m) {
    m.def("name_sparse", [](Vector<int64_t> indptr, Vector<I> columns, Vector<T> values, int64_t first, int64_t last, Out2<uint8_t> names) {
        name_sparse(indptr.data(), columns.data(), values.data(), first, last, reinterpret_cast<char*>(names.data()));
    }, nb::arg("indptr"), nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("first"), nb::arg("last"), nb::arg("names"), Free());
}

template <class T>
void bind_names(nb::module_& m) {
    bind_sparse_names<T, int32_t>(m);
    bind_sparse_names<T, int64_t>(m);
    m.def("name_dense", [](Matrix<T> rows, int64_t first, int64_t last, Out2<uint8_t> names) {
        name_dense(rows.data(), static_cast<int64_t>(rows.shape(1)), first, last, reinterpret_cast<char*>(names.data()));
    }, nb::arg("rows").noconvert(), nb::arg("first"), nb::arg("last"), nb::arg("names"), Free());
}

}  // namespace

void bind_words(nb::module_& m);    // bind_words.cpp
void bind_vectors(nb::module_& m);  // bind_vectors.cpp
void bind_encoder(nb::module_& m);  // bind_encoder.cpp

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of Grampus.";
    nb::set_leak_warnings(false);  // what a thread of Dask still holds at the end is no news for users
    m.def("instruction_set", [] { return std::string(loops().name); });
    m.def("use_best", [](bool best) { the_loops = chosen_loops(best); });  // for tests

    bind_words(m);
    bind_vectors(m);
    bind_encoder(m);

    m.def("trade", [](Vector<int64_t> indptr, Out1<int32_t> terms, Matrix<int64_t> pairs, nb::capsule bits) {
        Bits* drawn = static_cast<Bits*>(bits.data("BitGenerator"));
        nb::gil_scoped_release free;
        trade(indptr.data(), terms.data(), pairs.data(), static_cast<int64_t>(pairs.shape(0)), drawn);
    }, nb::arg("indptr"), nb::arg("terms"), nb::arg("pairs"), nb::arg("bits"));
    nb::class_<Team>(m, "Team").def(nb::init<>()).def("help", &Team::help, Free()).def("dismiss", &Team::dismiss, Free());
    nb::class_<Documents>(m, "Documents").def_ro("n", &Documents::n);
    nb::class_<Stored, Documents>(m, "Stored")
        .def("__init__", [](Stored* self, nb::object matrix, Vector<double> diagonal, Vector<double> weights) {
            const float* m32 = nullptr;
            const double* m64 = nullptr;
            Matrix<float> single;
            Matrix<double> twice;
            if (nb::try_cast(matrix, single, false)) m32 = single.data();
            else if (nb::try_cast(matrix, twice, false)) m64 = twice.data();
            else if (!matrix.is_none()) throw nb::type_error("the matrix must be float32 or float64, in C order");
            new (self) Stored(m32, m64, static_cast<int64_t>(diagonal.shape(0)), diagonal.data(), weights.data());
        }, nb::arg("matrix").none(), nb::arg("diagonal"), nb::arg("weights"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    nb::class_<Sparse, Documents>(m, "Sparse")
        .def("__init__", [](Sparse* self, nb::object data, Vector<int32_t> indices, Vector<int64_t> indptr,
                            Vector<double> scale, int64_t terms, Vector<double> diagonal, Vector<double> weights) {
            const float* d32 = nullptr;
            const double* d64 = nullptr;
            Vector<float> single;
            Vector<double> twice;
            if (nb::try_cast(data, single, false)) d32 = single.data();
            else if (nb::try_cast(data, twice, false)) d64 = twice.data();
            else throw nb::type_error("data must be float32 or float64");
            nb::gil_scoped_release free;
            new (self) Sparse(d32, d64, indices.data(), indptr.data(), scale.data(), static_cast<int64_t>(scale.shape(0)), terms,
                              diagonal.data(), weights.data());
        }, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>());
    nb::class_<Dense, Documents>(m, "Dense")
        .def("__init__", [](Dense* self, Matrix<double> rows, Vector<double> diagonal, Vector<double> weights) {
            nb::gil_scoped_release free;
            new (self) Dense(rows.data(), static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)), diagonal.data(), weights.data());
        }, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());

    nb::class_<Run>(m, "Run")
        .def("__init__", [](Run* self, const Documents& documents, Vector<int32_t> start, int k, bool adjusted, double tolerance,
                            double shift, bool spherical, double centroid, int max_iter, int two_cycles, bool bounded) {
            nb::gil_scoped_release free;
            new (self) Run(documents, start.data(), k, Rule{adjusted, tolerance, shift, spherical, centroid}, max_iter, two_cycles, bounded);
        }, nb::keep_alive<1, 2>())
        .def("follow", &Run::follow, Free())
        .def("measure", &Run::measure, Free())
        .def("assign", &Run::assign, Free())
        .def("advance", &Run::advance, Free())
        .def("step", &Run::step, Free())
        .def_ro("outcome", &Run::outcome)
        .def_prop_ro("members", [](const Run& run) { return run.inside.size(); })
        .def_prop_ro("screened", [](const Run& run) { return std::vector<int64_t>{run.computed, run.doubtful}; })
        .def_prop_ro("anew", [](const Run& run) { return run.anew; })
        .def_prop_ro("sums", [](Run& run) {
            auto* sums = dynamic_cast<StoredSums*>(run.sums.get());
            if (!sums) throw nb::type_error("only stored sums can be added to");
            return nb::ndarray<nb::numpy, double>(sums->values.data(), {size_t(run.k), size_t(run.documents.n)}, nb::find(run));
        })
        .def_prop_ro("labels", [](const Run& run) { return array(run.labels); }, nb::rv_policy::move)
        .def_prop_ro("predicted", [](const Run& run) { return array(run.predicted); }, nb::rv_policy::move)
        .def_prop_ro("moves", [](const Run& run) { return array(run.moves); }, nb::rv_policy::move)
        .def_prop_ro("objectives", [](const Run& run) { return array(run.objectives); }, nb::rv_policy::move);
    nb::enum_<Outcome>(m, "Outcome", nb::is_arithmetic())
        .value("CONVERGED", CONVERGED).value("OSCILLATED", OSCILLATED).value("MAX_ITER", MAX_ITER)
        .value("NOT_FINITE", NOT_FINITE).value("RUNNING", RUNNING);
    m.def("run_all", [](const std::vector<Run*>& runs) {
        nb::gil_scoped_release free;
        run_all(runs);
    });

    nb::class_<Postings>(m, "Postings")
        .def(nb::init<const Sparse&>(), nb::keep_alive<1, 2>(), Free())
        .def_prop_ro("n", &Postings::count)
        .def("rows", [](const Postings& self, Vector<int64_t> documents, Out2<double> out) {
            self.rows(documents.data(), static_cast<int64_t>(documents.shape(0)), out.data());
        }, Free())
        .def("nearest", [](const Postings& self, int64_t first, Out2<int64_t> columns, Out2<double> values) {
            self.nearest(first, first + static_cast<int64_t>(columns.shape(0)), static_cast<int>(columns.shape(1)), columns.data(), values.data());
        }, Free());
    nb::class_<Heads>(m, "Heads")
        .def(nb::init<const Sparse&, double>(), nb::keep_alive<1, 2>(), Free())
        .def("pairs", [](const Heads& self, int64_t first, int64_t last) {
            std::vector<Pair> found;
            {
                nb::gil_scoped_release free;
                found = self.pairs(first, last);
            }
            std::vector<int64_t> i, j;
            std::vector<double> value;
            for (const Pair& pair : found) i.push_back(pair.i), j.push_back(pair.j), value.push_back(pair.value);
            return nb::make_tuple(array(i), array(j), array(value));
        });
    m.def("largest", [](Matrix<double> values, double tie, double margin, Out2<int64_t> places) {
        const int64_t n = static_cast<int64_t>(values.shape(1)), p = static_cast<int64_t>(places.shape(1));
        for (size_t r = 0; r < values.shape(0); ++r) largest(values.data() + r * n, n, static_cast<int>(p), tie, margin, places.data() + r * p);
    }, Free());
    m.def("lay_out", [](Vector<int32_t> heads, Vector<int32_t> tails, Vector<float> weights, int64_t fixed, int epochs, int repulsions,
                        uint64_t seed, Out2<float> places) {
        std::vector<Pull> edges(heads.shape(0));
        for (size_t e = 0; e < edges.size(); ++e) edges[e] = {heads.data()[e], tails.data()[e], weights.data()[e]};
        lay_out(edges.data(), static_cast<int64_t>(edges.size()), static_cast<int64_t>(places.shape(0)), fixed, epochs, repulsions, seed,
                places.data());
    }, Free());
    nb::class_<Panels>(m, "Panels")
        .def("__init__", [](Panels* self, Matrix<double> rows) {
            nb::gil_scoped_release free;
            new (self) Panels(rows.data(), static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)));
        }, nb::keep_alive<1, 2>())
        .def_ro("n", &Panels::n);
    nb::class_<Seeds>(m, "Seeds")
        .def("__init__", [](Seeds* self, Vector<double> diagonal, Vector<double> mass) {
            new (self) Seeds(diagonal.data(), mass.data(), static_cast<int64_t>(diagonal.shape(0)));
        })
        .def("draw", [](Seeds& self, Vector<double> uniform, Out1<int64_t> centres) {
            return self.draw(uniform.data(), static_cast<int64_t>(uniform.shape(0)), centres.data());
        }, Free())
        .def("take", [](Seeds& self, Matrix<double> similar, Vector<int64_t> centres) {
            self.take(similar.data(), centres.data(), static_cast<int64_t>(centres.shape(0)));
        }, Free())
        .def("spread", [](Seeds& self, const Panels& panels, Vector<double> uniform, int64_t k, int trials, Team& team) {
            self.spread(panels, uniform.data(), k, trials, team);
        }, Free())
        .def("labels", [](const Seeds& self) { return array(self.labels()); });
    m.def("ward", [](Out2<double> total, Out1<double> sizes, Matrix<int64_t> groups, Out2<int64_t> joins) {
        ward(total.data(), sizes.data(), static_cast<int64_t>(sizes.shape(0)), groups.data(), static_cast<int64_t>(groups.shape(0)), joins.data());
    }, Free());
    m.def("join", [](Matrix<double> points, bool apart, bool ward, Out2<int64_t> joins) {
        const int64_t n = static_cast<int64_t>(joins.shape(0)) + 1;
        const std::unique_ptr<double[]> between(new double[n * n]);
        if (apart) std::copy(points.data(), points.data() + n * n, between.get()), mirror(between.get(), n);
        else distances(points.data(), n, static_cast<int64_t>(points.shape(1)), between.get());
        join(between.get(), n, ward, joins.data());
    }, nb::arg("points"), nb::arg("apart"), nb::arg("ward"), nb::arg("joins"), Free());
    m.def("centres", [](Matrix<double> points, Vector<int64_t> labels, Out2<double> means) {
        centres(points.data(), labels.data(), static_cast<int64_t>(points.shape(0)), static_cast<int64_t>(points.shape(1)),
                static_cast<int64_t>(means.shape(0)), means.data());
    }, Free());
    m.def("nearest_centres", [](Matrix<double> points, Matrix<double> centres, Out1<int64_t> labels) {
        nearest_centres(points.data(), centres.data(), static_cast<int64_t>(points.shape(0)), static_cast<int64_t>(points.shape(1)),
                        static_cast<int64_t>(centres.shape(0)), labels.data());
    }, Free());
    bind_names<float>(m);
    bind_names<double>(m);
    m.def("subsequence", [](Matrix<int32_t> xs, Matrix<int32_t> ys, int length, double decay, Out1<double> out) {
        std::vector<double> scratch((length + 3) * (ys.shape(0) + 1) * 8);
        loops().subsequence(xs.data(), static_cast<int64_t>(xs.shape(0)), ys.data(), static_cast<int64_t>(ys.shape(0)), length, decay,
                            scratch.data(), out.data());
    }, Free());
}
