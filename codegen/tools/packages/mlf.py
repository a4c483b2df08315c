"""The form of TVM's project generators: Model Library Format, version 7.

Source: `python/tvm/micro/model_library_format.py` of apache/tvm, version 7. A module a model; the layout and
the keys are TVM's, `memory.pools` is one more.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from codegen.report_file import ConstantPool, Pool, Report
from codegen.report_product import ProductModel, ProductTensor
from codegen.tools.packages.contents import LICENCE, Package, PackageFiles
from codegen.tools.packages.libraries import flat, with_flags
from codegen.tools.packages.package_templates import fill

_VERSION = 7
_CPU = 1
"""TVM's device type of a CPU (`kDLCPU`)."""
_NEVER = "1970-01-01 00:00:00Z"
"""The format wants a date; a package holds no time, so that two exports are the same bytes."""
_HOST = "codegen/host"


def mlf(package: Package) -> PackageFiles:
    """The tree of a `.tar` in Model Library Format, with TVM's C interface to each model that is plain."""
    files = {
        f"{_HOST}/{_place(path)}": with_flags(package, path) for path in (*package.sources, *package.headers)
    }
    for model in package.models:
        if model.is_plain:
            views = {"model": model, "workspace_bytes": _pool_bytes(_pools(package, model))}
            header = f"{_HOST}/include/tvmgen_{model.name}.h"
            files[header] = fill("mlf/interface.h.j2", **views)
    document = {
        "version": _VERSION,
        "modules": {model.name: _module(package, model) for model in package.models},
    }
    text = msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2).decode()
    files["metadata.json"] = text + "\n"
    files["LICENSE"] = package.texts[LICENCE]
    return PackageFiles(
        files=files, binaries={f"parameters/{path}": data for path, data in package.data.items()}
    )


def _place(path: str) -> str:
    """Generators take every source of `src` itself, and one folder of headers."""
    if not path.endswith((".c", ".S")):
        return f"include/{flat(path)}"
    return f"src/{PurePosixPath(path).name if path.startswith('runtime/') else path}"


def _module(package: Package, model: ProductModel) -> dict[str, object]:
    core = "" if package.is_portable else f" -keys=arm_cpu,cpu -mcpu={package.cpu}"
    return {
        "model_name": model.name,
        "export_datetime": _NEVER,
        "memory": _memory(package, model),
        "target": [f"c{core}"],
        "executors": ["aot"],
        "style": "full-model",
        "external_dependencies": [],
    }


def _memory(package: Package, model: ProductModel) -> dict[str, object]:
    report, pools = _own(package, model), _pools(package, model)
    steps = report.steps or ()
    kernels: dict[str, int] = {}
    for step in steps:
        kernels[step.kernel] = max(kernels.get(step.kernel, 0), step.workspace_bytes)
    whole = package.report.constants
    is_alone = len(package.models) == 1 and whole is not None
    main = {
        "device": _CPU,
        "workspace_size_bytes": _pool_bytes(pools),
        "constants_size_bytes": whole.total_bytes
        if is_alone and whole
        else sum(step.constant_bytes for step in steps),
        "io_size_bytes": sum(tensor.size_bytes for tensor in (*model.inputs, *model.outputs)),
        "inputs": _tensors(model.inputs),
        "outputs": _tensors(model.outputs),
    }
    functions = [
        {"function_name": name, "workspace": [{"device": _CPU, "workspace_size_bytes": size}]}
        for name, size in kernels.items()
    ]
    return {
        "functions": {"main": [main], "operator_functions": functions},
        "pools": [_pool(pool) for pool in pools] + [_constant_pool(pool) for pool in package.constant_pools],
    }


def _own(package: Package, model: ProductModel) -> Report:
    """The part of the report that is about a model."""
    every = package.report.models or (package.report,)
    return next(part for part in every if part.model is not None and part.model.name == model.name)


def _pools(package: Package, model: ProductModel) -> Sequence[Pool]:
    plan = _own(package, model).plan
    return () if plan is None else plan.pools


def _pool_bytes(pools: Sequence[Pool]) -> int:
    return sum(pool.size_bytes for pool in pools)


def _tensors(tensors: Sequence[ProductTensor]) -> Mapping[str, object]:
    return {tensor.field: {"size": tensor.size_bytes, "dtype": tensor.dtype} for tensor in tensors}


def _pool(pool: Pool) -> dict[str, object]:
    return {
        "pool_name": pool.name,
        "is_constant": False,
        "section": pool.section,
        "size_bytes": pool.size_bytes,
        "alignment_bytes": pool.alignment_bytes,
    }


def _constant_pool(pool: ConstantPool) -> dict[str, object]:
    return {
        "pool_name": pool.name,
        "is_constant": True,
        "section": pool.section,
        "size_bytes": pool.size_bytes,
    }
