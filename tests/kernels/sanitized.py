"""Child program: all kernels on random layers under AddressSanitizer, which must be preloaded.

Arguments: the library's path, random layers of each kernel.
"""

import sys
from pathlib import Path

from tests.kernels.builders import CASES, random_layer
from tests.kernels.calling import Library, bind, check_result


def main() -> None:
    library = Library(Path(sys.argv[1]), poison=True)
    for op, dtype in CASES:
        for seed in range(int(sys.argv[2])):
            layer = random_layer(op, dtype, seed)
            function = bind(layer)
            if function.view is None:
                check_result(layer, library.run(function, layer, paint=0xA5).result)
    sys.stdout.write("all layers ran\n")


if __name__ == "__main__":
    main()
