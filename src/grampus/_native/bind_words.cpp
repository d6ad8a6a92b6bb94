// The part of the module that reads texts and compares dense rows; arrays are checked by words.py and dense.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dense.hpp"
#include "signs.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace grampus;

namespace {

using Column = std::tuple<Vector<uint8_t>, Vector<int64_t>, Vector<uint8_t>>;  // texts, offsets, letters

Letters letters_of(const Vector<uint8_t>& bits) { return {bits.shape(0) ? bits.data() : nullptr}; }

}  // namespace

void bind_words(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary")
        .def(nb::init<>())
        .def("__len__", &Vocabulary::size)
        .def("read", [](Vocabulary& self, Vector<uint8_t> text, Vector<int64_t> ends, Vector<uint8_t> blanks, Vector<uint8_t> bits,
                        Out1<int64_t> lengths) {
            std::vector<int32_t> found;
            {
                nb::gil_scoped_release free;
                found.reserve(static_cast<size_t>(text.shape(0)) / 5);
                for (size_t i = 0; i < blanks.shape(0); ++i) {
                    const size_t before = found.size();
                    number_words(text.data() + ends.data()[i], text.data() + ends.data()[i + 1], letters_of(bits), blanks.data()[i],
                                 self, found);
                    lengths.data()[i] = static_cast<int64_t>(found.size() - before);
                }
            }
            return array(std::move(found));
        })
        .def("joined", [](const Vocabulary& self, int32_t first) {
            std::string words;
            for (int32_t number = first; number < self.size(); ++number) {
                if (number > first) words.push_back('\n');
                words.append(self.word(number), self.length(number));
            }
            return nb::bytes(words.data(), words.size());
        });
    m.def("count_known", [](const Vocabulary& known, Vector<uint8_t> kind, Vector<uint8_t> text, Vector<int64_t> ends, Out2<int32_t> counts) {
        std::vector<int32_t> seen(known.size(), -1);
        for (size_t i = 0; i < counts.shape(0); ++i)
            count_known(text.data() + ends.data()[i], text.data() + ends.data()[i + 1], known, kind.data(), static_cast<int32_t>(i), seen,
                        counts.data() + 2 * i);
    }, Free());
    nb::class_<PlainChunks>(m, "PlainChunks")
        .def("__init__", [](PlainChunks* self, const nb::bytes& ends, const nb::bytes& foreign, const Vocabulary& unusual, size_t longest) {
            new (self) PlainChunks({ends.c_str(), ends.size()}, {foreign.c_str(), foreign.size()}, unusual, longest);
        }, nb::keep_alive<1, 4>())
        .def("odd", [](const PlainChunks& self, const Vocabulary& chunks) {
            std::vector<int32_t> found;
            for (int32_t i = 0; i < chunks.size(); ++i)
                if (self.look({chunks.word(i), chunks.length(i)}, 0, 0).word.empty()) found.push_back(i);
            return array(std::move(found));
        })
        // Codes of all chunks, where those of the odd ones are known: numbers of their words, or what is between them.
        .def("codes", [](const PlainChunks& self, const Vocabulary& chunks, int32_t sign, int32_t end, Vector<int32_t> odd,
                         Vector<int64_t> ends, Vector<int32_t> codes, const Vocabulary& named, Vocabulary& words, Out1<int64_t> lengths) {
            std::vector<int32_t> found;
            size_t next = 0;
            for (int32_t i = 0; i < chunks.size(); ++i) {
                const size_t before = found.size();
                if (next < odd.shape(0) && odd.data()[next] == i) {
                    for (int64_t c = ends.data()[next]; c < ends.data()[next + 1]; ++c) {
                        const int32_t code = codes.data()[c];
                        found.push_back(code < 0 ? code : words.number(named.word(code), named.length(code)));
                    }
                    ++next;
                } else {
                    const Plain plain = self.look({chunks.word(i), chunks.length(i)}, sign, end);
                    if (plain.before) found.push_back(plain.before);
                    found.push_back(words.number(plain.word.data(), plain.word.size()));
                    if (plain.after) found.push_back(plain.after);
                }
                lengths.data()[i] = static_cast<int64_t>(found.size() - before);
            }
            return array(std::move(found));
        });
    m.def("steps_for", [](const nb::bytes& text, uint32_t among) { return steps_for({text.c_str(), text.size()}, among); });
    m.def("steps_for", [](const nb::str& text, uint32_t among) {  // of ASCII: any other would keep its bytes with it
        Py_ssize_t size = 0;
        const char* given = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!given) nb::raise_python_error();
        return steps_for({given, static_cast<size_t>(size)}, among);
    });
    m.def("side_by_side", [](const nb::list& texts, const nb::bytes& one, const nb::bytes& other) {
        const std::string_view first(one.c_str(), one.size()), second(other.c_str(), other.size());
        int64_t both = 0, neighbours = 0;
        for (const nb::handle text : texts) {
            const nb::bytes held = nb::cast<nb::bytes>(text);
            const std::string_view words(held.c_str(), held.size());
            const int before = followed(words, first, second), after = before ? followed(words, second, first) : 0;
            both += after > 0;
            neighbours += after > 0 && (before == 2 || after == 2);
        }
        return std::make_tuple(both, neighbours);
    });
    nb::class_<Index>(m, "Index")
        .def(nb::init<>())
        .def("add", [](Index& self, const std::vector<Column>& columns, int64_t count, int32_t first) {
            for (int64_t i = 0; i < count; ++i)
                for (const auto& [text, ends, bits] : columns)
                    self.add(text.data() + ends.data()[i], text.data() + ends.data()[i + 1], letters_of(bits), first + static_cast<int32_t>(i));
        }, Free())
        .def("packed", [](const Index& self) {
            std::string out;
            {
                nb::gil_scoped_release free;
                out = self.packed();
            }
            return nb::bytes(out.data(), out.size());
        });
    nb::class_<DenseRows>(m, "DenseRows")
        .def("__init__", [](DenseRows* self, Matrix<double> rows, Vector<double> far) {
            nb::gil_scoped_release free;
            new (self) DenseRows(rows.data(), static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)),
                                 far.shape(0) ? far.data() : nullptr);
        }, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_prop_ro("n", &DenseRows::count)
        .def("nearest", [](const DenseRows& self, Out2<float> rough, Vector<double> lost, int64_t first, double tie, double margin,
                           Out2<int64_t> columns, Out2<double> values) {
            return self.nearest(rough.data(), lost.data(), first, first + static_cast<int64_t>(rough.shape(0)),
                                static_cast<int>(columns.shape(1)), tie, margin, columns.data(), values.data());
        }, Free());
}
