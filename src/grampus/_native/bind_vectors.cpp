// The part of the module that multiplies a few vectors; arrays are checked by vectors.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"
#include "vectors.hpp"

namespace nb = nanobind;
using namespace grampus;

namespace {

template <class I>
void bind_sparse(nb::module_& m) {
    const auto rows = [](const Vector<double>& values, const Vector<I>& columns, const Vector<I>& ends, int64_t m) {
        return SparseRows<I>{values.data(), columns.data(), ends.data(), static_cast<int64_t>(ends.shape(0)) - 1, m};
    };
    m.def("times", [rows](Vector<double> values, Vector<I> columns, Vector<I> ends, Matrix<double> given, Out2<double> found, Team& team) {
        times(rows(values, columns, ends, static_cast<int64_t>(given.shape(0))), given.data(), static_cast<int64_t>(given.shape(1)),
              found.data(), team);
    }, nb::arg("values"), nb::arg("columns").noconvert(), nb::arg("ends").noconvert(), nb::arg("given"), nb::arg("found"),
       nb::arg("team"), Free());
    m.def("times_square", [rows](Vector<double> values, Vector<I> columns, Vector<I> ends, Vector<double> scale, Matrix<double> given,
                                 int64_t piece, Out2<double> found, Team& team) {
        times_square(rows(values, columns, ends, static_cast<int64_t>(given.shape(0))), scale.data(), given.data(),
                     static_cast<int64_t>(given.shape(1)), piece, found.data(), team);
    }, nb::arg("values"), nb::arg("columns").noconvert(), nb::arg("ends").noconvert(), nb::arg("scale"), nb::arg("given"),
       nb::arg("piece"), nb::arg("found"), nb::arg("team"), Free());
}

}  // namespace

void bind_vectors(nb::module_& m) {
    bind_sparse<int32_t>(m);
    bind_sparse<int64_t>(m);
    m.def("along", [](Matrix<double> basis, Matrix<double> vectors, Out2<double> found, Team& team) {
        along(basis.data(), static_cast<int64_t>(found.shape(1)), static_cast<int64_t>(basis.shape(1)), vectors.data(),
              static_cast<int64_t>(found.shape(0)), found.data(), team);
    }, Free());
    m.def("take_away", [](Matrix<double> basis, Matrix<double> factors, Out2<double> vectors, Team& team) {
        take_away(basis.data(), static_cast<int64_t>(factors.shape(1)), static_cast<int64_t>(basis.shape(1)), factors.data(),
                  static_cast<int64_t>(factors.shape(0)), vectors.data(), team);
    }, Free());
}
