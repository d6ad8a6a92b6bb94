"""The sentence encoder in NumPy, one text at a time: whole numbers as float64, where their products are exact."""

import numpy as np

WINDOWS = ((2, 0), (3, 1), (5, 2))  # pieces of a window, and how many precede


def whole_weights(weights):
    exact = weights.astype(float)
    most = np.abs(exact).max(axis=0)
    scale = np.where(most > 0, most, 1.0) / 127.0
    return np.rint(exact / scale), scale


def whole_row(values):
    values = values.astype(float)
    most = np.abs(values).max()
    return np.rint(values * (127.0 / most if most > 0 else 0.0)), most / 127.0


def lanes(values):
    """Sum in eight lanes, added as a tree."""
    sums = np.zeros(8)
    for part in values.reshape(-1, 8):
        sums = sums + part
    a, b, c, d, e, f, g, h = sums
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def normalise(values, scale, bias, epsilon):
    moved = values - lanes(values) / len(values)
    inverse = 1.0 / np.sqrt(lanes(moved * moved) / len(moved) + epsilon)
    return moved * inverse * scale.astype(float) + bias.astype(float)


def tanh(values):
    size = np.minimum(np.abs(values), 20.5)
    x = 2.0 * size
    whole = np.floor(x * 1.4426950408889634 + 0.5)
    rest = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10
    total = np.ones_like(x)
    for n in range(14, 0, -1):
        total = 1.0 + total * rest / n
    found = np.where(size > 20.0, 1.0, 1.0 - 2.0 / (total * 2.0**whole + 1.0))
    return np.where(values < 0, -found, found)


class NaiveEncoder:
    def __init__(self, weights):
        self.w = weights
        self.whole = {
            name: whole_weights(value) for name, value in weights.items() if value.ndim == 2 and value.dtype == "f4"
        }
        for name in [name for name in weights if name.startswith(("w1_", "w2_"))]:
            places = weights[name].reshape(-1, 256, 256)
            self.whole[name] = [whole_weights(place) for place in places]
        self.project = whole_weights(np.concatenate([weights[f"proj{n}"] for n, _ in WINDOWS], axis=1))

    def side_by_side(self, name):
        return np.concatenate([self.w[f"{name}{n}"] for n, _ in WINDOWS]).astype(float)

    def dense(self, values, name):
        (weights, scale), (row, size) = self.whole[name], whole_row(values)
        return (row @ weights) * (size * scale)

    def convolve(self, rows, layer, n, before):
        """rows: float32; a window ends where the text ends."""
        whole = [whole_row(row) for row in rows]
        out = []
        for t, row in enumerate(rows):
            total = self.w[f"b{layer}_{n}"].astype(float)
            for o, (weights, scale) in enumerate(self.whole[f"w{layer}_{n}"]):
                if 0 <= t + o - before < len(rows):
                    numbers, size = whole[t + o - before]
                    total = total + (numbers @ weights) * (size * scale)
            out.append((np.where(total > 0, total, 0.0) + row).astype(np.float32))
        return np.array(out)

    def encode(self, pieces):
        w, epsilon = self.w, float(self.w["eps"])
        (weights, column), table, projected = self.project, [], []
        for piece in pieces:
            chunk = piece % 17
            scale, low = float(w["scale"][chunk]), float(w["lo"][chunk])
            row = w[f"q{chunk + 1}"][piece // 17].astype(float)
            table.append(row * scale + low)
            value = ((row @ weights) * (scale * column) + low * (weights.sum(axis=0) * column)) + self.side_by_side(
                "proj_b"
            )
            projected.append(normalise(value, self.side_by_side("ln_g"), self.side_by_side("ln_b"), epsilon))
        rows = np.array(projected).astype(np.float32)
        found = []
        for i, (n, before) in enumerate(WINDOWS):
            own = rows[:, 256 * i : 256 * (i + 1)]
            found.append(self.convolve(self.convolve(own, 1, n, before), 2, n, before))
        total = np.zeros(1280)
        for t in range(len(pieces)):
            values = np.concatenate([table[t], *(part[t].astype(float) for part in found)])
            total = total + normalise(values, w["ln_g"], w["ln_b"], epsilon)
        length = float(len(pieces))
        joined = (self.dense(total, "cnn_W") + length * w["cnn_b"].astype(float)) * (1.0 / np.sqrt(length))
        hidden = np.maximum(self.dense(joined, "d0"), 0.0)
        inner = np.maximum(self.dense(joined, "p1") + self.dense(hidden, "d1"), 0.0)
        outer = np.maximum(self.dense(inner, "d2"), 0.0)
        row = tanh(self.dense(inner, "p3") + self.dense(outer, "d3"))
        return (row * (1.0 / np.sqrt(max(lanes(row * row), epsilon)))).astype(np.float32)
