"""Linking of separately compiled code: Linker, and the options of the driver's compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trilane import _core

from ._enums import jit_input_type, jit_option
from ._errors import LogicError, TrilaneError, translate

MessageHandler = Callable[[bool, str, str], None]

_NAMES = {
    jit_option.MAX_REGISTERS: "max_registers",
    jit_option.THREADS_PER_BLOCK: "threads_per_block",
    jit_option.OPTIMIZATION_LEVEL: "optimization_level",
    jit_option.GENERATE_DEBUG_INFO: "debug",
    jit_option.GENERATE_LINE_INFO: "line_info",
    jit_option.LOG_VERBOSE: "verbose",
}
# Code is always for the current device, and the logs go to the message handler.
_WITHOUT_MEANING = (
    jit_option.WALL_TIME,
    jit_option.TARGET_FROM_CUCONTEXT,
    jit_option.FALLBACK_STRATEGY,
    jit_option.CACHE_MODE,
)
_SWITCHES = ("debug", "line_info", "verbose")


def link_options(options: Iterable[tuple[Any, int]] | None, function: str) -> dict[str, Any]:
    """What `_core.Module.link` calls the pairs of `jit_option` and number.

    Raises
    ------
    LogicError
        An option that is none, or belongs to the linker itself.
    NotImplementedError
        ``TARGET``: code is for the current device.
    """
    result: dict[str, Any] = {}
    for option, value in options or ():
        try:
            known = jit_option(int(option))
        except (TypeError, ValueError):
            raise LogicError(
                f"{function} failed: invalid argument - options: got {option!r}, expected pairs of "
                "a jit_option and a number"
            ) from None
        if known == jit_option.TARGET:
            raise NotImplementedError(
                f"{function}: jit_option.TARGET: code is made for the current device"
            )
        if known in _WITHOUT_MEANING:
            continue
        if known not in _NAMES:
            raise LogicError(
                f"{function} failed: invalid argument - options: {known.name} is the linker's own: "
                "take the texts from the message handler"
            )
        name = _NAMES[known]
        result[name] = bool(value) if name in _SWITCHES else int(value)
    return result


class Linker:
    """Pieces of compiled code, joined into one module by `link_module`.

    Parameters
    ----------
    message_handler : callable, optional
        Called with ``(succeeded, information, errors)`` once it is known whether the pieces fit.
    options : list of (jit_option, int), optional
    log_verbose : bool
        Whether the information tells what was done.

    Notes
    -----
    On a GPU pieces are cubins, PTX, fatbins, objects and libraries, and what
    `pycuda.compiler.compile` made with ``-dc`` or ``target="ptx"``. The cpu device links what it
    compiled so itself, and refuses code of other compilers by name.
    """

    def __init__(
        self,
        message_handler: MessageHandler | None = None,
        options: Iterable[tuple[Any, int]] | None = None,
        log_verbose: bool = False,
    ) -> None:
        self._message_handler = message_handler
        self._options = link_options(options, "cuLinkCreate")
        if log_verbose:
            self._options["verbose"] = True
        self._pieces: list[tuple[str, str, bytes]] = []
        self._done = False

    def add_data(self, data: Any, input_type: Any, name: str = "unknown") -> None:
        """Add code that is in memory.

        Parameters
        ----------
        data : bytes or str
        input_type : jit_input_type
            What it is; the bytes say so too, and are believed.
        name : str
            What messages call it.
        """
        jit_input_type(input_type)
        if self._done:
            raise LogicError(
                "cuLinkAddData failed: invalid resource handle - the linker has done its work: "
                "make another"
            )
        content = data.encode() if isinstance(data, str) else bytes(data)
        if not content:
            raise LogicError(f"cuLinkAddData failed: invalid argument - {name}: nothing is in it")
        self._pieces.append((str(name), "", content))

    def add_file(self, filename: Any, input_type: Any) -> None:
        """Add the code of a file, as `add_data`.

        Raises
        ------
        RuntimeError
            Of this module: the file cannot be read.
        """
        try:
            with open(filename, "rb") as file:
                content = file.read()
        except OSError as error:
            from ._module import translate_file

            raise translate_file("cuLinkAddFile", str(filename), error) from None
        self.add_data(content, input_type, str(filename))

    def link_module(self) -> Any:
        """Link, and load the result on the current device. Once only.

        Raises
        ------
        LogicError
            The pieces do not fit: the message and its ``detail`` are the linker's, which name the
            symbols and the pieces.
        """
        from ._module import Module

        return Module(self._linked())

    def _linked(self) -> Any:
        if self._done or not self._pieces:
            why = "the linker has done its work" if self._done else "nothing was added"
            raise LogicError(f"cuLinkComplete failed: invalid argument - {why}")
        self._done = True
        try:
            core_module = _core.Module.link(self._pieces, **self._options)
        except TrilaneError as error:
            self._tell(False, "", error.detail or str(error))
            raise translate("cuLinkComplete", error) from None
        self._tell(True, core_module.log, "")
        return core_module

    def _tell(self, succeeded: bool, information: str, errors: str) -> None:
        if self._message_handler is not None:
            self._message_handler(succeeded, information, errors)


Linker.__module__ = "pycuda._driver"
