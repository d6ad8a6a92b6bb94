// The part of the module that turns texts into rows by meaning; arrays are checked by encoder.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dense.hpp"
#include "encoder.hpp"
#include "pieces.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace nb = nanobind;
using namespace grampus;

namespace grampus {

void fill_encoder_baseline(EncoderLoops&);
void fill_encoder_avx2(EncoderLoops&);
void fill_encoder_vnni(EncoderLoops&);
void fill_encoder_dotprod(EncoderLoops&);

#ifdef GRAMPUS_HAS_dotprod
static bool has_dotprod() {
#if defined(__linux__)
    return getauxval(AT_HWCAP) & (1ul << 20);  // HWCAP_ASIMDDP
#else
    return true;  // Apple's processors have it; Windows builds are for x86-64
#endif
}
#endif

static EncoderLoops chosen_encoder(int level) {  // 0: plain; 1: without the newest instructions; 2: all
    EncoderLoops table{};
    fill_encoder_baseline(table);
    table.name = "baseline";
#ifdef GRAMPUS_HAS_avx2
    if (level > 0 && __builtin_cpu_supports("avx2")) fill_encoder_avx2(table), table.name = "avx2";
#endif
#ifdef GRAMPUS_HAS_vnni
    if (level > 1 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl")) fill_encoder_vnni(table), table.name = "vnni";
#endif
#ifdef GRAMPUS_HAS_dotprod
    if (level > 0 && has_dotprod()) fill_encoder_dotprod(table), table.name = "dotprod";
#endif
    (void)level;
    return table;
}
static EncoderLoops the_encoder = chosen_encoder(2);
const EncoderLoops& encoder_loops() { return the_encoder; }

}  // namespace grampus

namespace {

using Weights = std::tuple<Vector<int8_t>, Vector<double>, Vector<int32_t>, int>;  // weights, scales, sums, depth

struct Meaning {
    Network net{};
    nb::object kept;  // the arrays
};

Layer layer_of(const Weights& weights) {
    const auto& [numbers, scale, sums, depth] = weights;
    return {depth, static_cast<int>(scale.shape(0)), numbers.data(), scale.data(), sums.data()};
}

}  // namespace

void bind_encoder(nb::module_& m) {
    m.def("encoder_instructions", [] { return std::string(encoder_loops().name); });
    m.def("use_encoder", [](int level) { the_encoder = chosen_encoder(level); });  // for tests
    m.def("rough_products", [](Matrix<int8_t> rows, Vector<double> scales, Vector<double> begins, Weights columns, Vector<double> others,
                               Out2<float> products) {
        rough_products(rows.data(), static_cast<int64_t>(rows.shape(0)), scales.data(), begins.data(), layer_of(columns), others.data(),
                       static_cast<int64_t>(others.shape(0)), products.data());
    }, Free());
    nb::class_<Pieces>(m, "Pieces")
        .def("__init__", [](Pieces* self, Vector<uint8_t> model) { new (self) Pieces(model.data(), model.shape(0)); })
        .def("__len__", &Pieces::size)
        .def("normalised", [](const Pieces& self, nb::bytes text) {
            const std::string found = self.normalised(reinterpret_cast<const uint8_t*>(text.c_str()), text.size());
            return nb::bytes(found.data(), found.size());
        })
        .def("split", [](const Pieces& self, Vector<uint8_t> text, Vector<int64_t> ends, int64_t most, Out1<int64_t> starts) {
            auto* found = new std::vector<int32_t>;
            nb::capsule owner(found, [](void* p) noexcept { delete static_cast<std::vector<int32_t>*>(p); });
            {
                nb::gil_scoped_release free;
                Search rooms;
                starts.data()[0] = 0;
                for (size_t i = 0; i + 1 < ends.shape(0); ++i) {
                    const int64_t first = ends.data()[i];
                    self.split(text.data() + first, static_cast<size_t>(ends.data()[i + 1] - first), static_cast<size_t>(most), rooms, *found);
                    starts.data()[i + 1] = static_cast<int64_t>(found->size());
                }
            }
            return nb::ndarray<nb::numpy, int32_t>(found->data(), {found->size()}, owner);
        });
    nb::class_<Meaning>(m, "Meaning")
        .def("__init__", [](Meaning* self, std::vector<Matrix<uint8_t>> tables, std::vector<Weights> layers, std::vector<Vector<double>> numbers,
                            double epsilon, nb::object kept) {
            new (self) Meaning;
            Network& net = self->net;
            self->kept = std::move(kept);
            for (int i = 0; i < CHUNKS; ++i) net.table[i] = tables[i].data();
            net.pieces = CHUNKS * static_cast<int64_t>(tables[0].shape(0));
            net.epsilon = epsilon;
            Layer* layer[] = {&net.project, net.first, net.first + 1, net.first + 2, net.second, net.second + 1, net.second + 2,
                              &net.join, &net.hidden, &net.inner, &net.outer, &net.last};
            for (size_t i = 0; i < 12; ++i) *layer[i] = layer_of(layers[i]);
            const double** vector[] = {&net.chunk_scale, &net.chunk_low, &net.project_low, &net.project_bias, &net.norm_scale, &net.norm_bias,
                                       net.first_bias, net.first_bias + 1, net.first_bias + 2, net.second_bias, net.second_bias + 1,
                                       net.second_bias + 2, &net.feature_scale, &net.feature_bias, &net.join_bias};
            for (size_t i = 0; i < 15; ++i) *vector[i] = numbers[i].data();
        })
        .def_prop_ro("pieces", [](const Meaning& self) { return self.net.pieces; })
        .def("encode", [](const Meaning& self, Vector<int32_t> pieces, Vector<int64_t> starts, Out2<float> rows) {
            Encoder().encode(self.net, pieces.data(), starts.data(), static_cast<int64_t>(rows.shape(0)), rows.data());
        }, Free());
}
