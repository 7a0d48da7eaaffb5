"""Makes Hugging Face's automatic classes know Krohn's networks, in any order of imports.

Neither library is to wait for the other: `import krohn` imports nothing of Hugging Face's,
and once their automatic classes are imported, what they need to know follows. It follows
when no module of theirs is half imported any more, since what follows imports more of them.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

LIBRARY = "transformers"
AUTOMATIC = f"{LIBRARY}.models.auto."
"""Where `AutoConfig`, `AutoModelForCausalLM` and `AutoTokenizer` are."""


def watch() -> None:
    """Register now, if the automatic classes are there, or as soon as they are."""
    if _there():
        _register()
    else:
        sys.meta_path.insert(0, _Watch())


def _there() -> bool:
    return any(name.startswith(AUTOMATIC) for name in sys.modules)


def _register() -> None:
    import_module("network.exports.huggingface")  # which may be what is being imported


class _Watch(MetaPathFinder):
    """Finds modules of the library as ever, and notices when they have been imported.

    Attributes:
        open: How many of them are half imported.
    """

    def __init__(self) -> None:
        self.open = 0

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Where a module is, with a loader that tells when it has been imported."""
        if fullname.partition(".")[0] != LIBRARY:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Told(spec.loader, self)
        return spec

    def imported(self) -> None:
        """A module is there, and perhaps the last one that was half imported."""
        self.open -= 1
        if not self.open and self in sys.meta_path and _there():
            sys.meta_path.remove(self)
            _register()


class _Told(Loader):
    """The loader of a module, which tells when the module has been imported."""

    def __init__(self, loader: Loader, watch: _Watch) -> None:
        self.loader, self.watch = loader, watch

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As its own loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """As its own loader does, which the module has again from then on."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader
        self.watch.open += 1
        try:
            self.loader.exec_module(module)
        finally:
            self.watch.imported()
