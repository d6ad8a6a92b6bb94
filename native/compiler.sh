#!/bin/sh
# Print a C++ compiler: the caller's CXX, the system's, or else that of the package ziglang, which is then installed.
# Usage: compiler.sh path/of/the/environment's/python
for name in ${CXX:+"$CXX"} c++ g++ clang++; do
  command -v "$name" && exit
done
zig=$(dirname "$1")/zig-c++
if "$1" -m pip install --quiet ziglang >&2; then
  printf '#!/bin/sh\nexec "%s" -m ziglang c++ "$@"\n' "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")" > "$zig"
  chmod +x "$zig"
  cd "$(dirname "$zig")" && echo "$PWD/zig-c++"
  exit
fi
echo "Grampus needs a C++ compiler to build: install g++ or clang++, or pip install ziglang." >&2
exit 1
