"""README.md of a folder: how a network is fed, run and read, with its own names and numbers.

Packages have the same chapter. Its C is a function for an application to start from.
"""

import re
from collections.abc import Mapping, Sequence

from codegen.emit.c.c_text import fill
from codegen.program.program import Bundle
from codegen.report_product import Product

_RUNTIME = "cg_runtime.h"
_WORDS = re.compile(r'case (CG_\w+):\s+return "([^"]+)";')
_STATUS = re.compile(r"\bCG_(?:OK|ERR_\w+)\b")


Rows = Sequence[tuple[str, int, str | None]]
"""Name, bytes and section of pools; no section where the application owns them."""


def usage(product: Product, texts: Mapping[str, str], pools: Rows, constants: Rows) -> str:
    """The chapters on feeding, running and reading each model; `texts`: the product's files, path -> text."""
    statuses = {model.name: status_words(texts, model.name) for model in product.models}
    return fill("readme/usage.md.j2", product=product, pools=pools, constants=constants, statuses=statuses)


def status_words(texts: Mapping[str, str], model: str) -> Mapping[str, str]:
    """Status codes that a model's header promises, in words, in the order of their numbers."""
    returned = set(_STATUS.findall(texts[f"{model}.h"])) | {"CG_OK"}
    return {code: words for code, words in _WORDS.findall(texts[_RUNTIME]) if code in returned}


def folder_readme(bundle: Bundle, product: Product, texts: Mapping[str, str]) -> str:
    """README.md of a folder of `codegen build`, whose files are `texts`."""
    target = bundle.programs[0].board.target
    return fill(
        "readme/folder.md.j2",
        product=product,
        prefix=bundle.prefix,
        cpu=target.cpu,
        is_one_core=bool(product.needs),
        usage=usage(
            product,
            texts,
            [(pool.name, pool.size_bytes, pool.section) for pool in bundle.pools],
            [(pool.name, pool.size_bytes, pool.section) for pool in bundle.constants],
        ),
        ram_bytes=sum(pool.size_bytes for pool in bundle.pools),
        constant_bytes=sum(pool.size_bytes for pool in bundle.constants),
    )
