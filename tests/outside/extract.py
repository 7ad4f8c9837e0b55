"""Cuts the device part out of a CUDA C++ file that holds host code too.

The text is split at namespace scope, by matching braces, into directives and declarations. Kept are
directives, whatever has a CUDA qualifier, types, templates of types, aliases, enumerations and
constants; host functions and host variables go. Lines keep their numbers: what goes leaves its line
ends, so a message of the compiler points into the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Headers that a kernel may include: the device's own. Others are dropped.
DEVICE_HEADERS = re.compile(
    r"cooperative_groups|cuda_fp16|cuda_bf16|curand_kernel|math_constants|cuda/|cub/|stdint|cstdint"
    r"|limits|float\.h|cfloat|climits|type_traits|mma\.h|vector_types|vector_functions"
)
QUALIFIER = re.compile(r"\b(__global__|__device__|__constant__|__shared__|__managed__)\b")
# A head that declares something without code of the host.
TYPE = re.compile(r"^(struct|class|union|enum)\b")
DECLARATION = re.compile(r"^(typedef|using|static_assert|constexpr|namespace \w+ =)")
ALIGNMENT = re.compile(r"\b(__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)")
CONSTANT = re.compile(r"^(static\s+)?(inline\s+)?(const|constexpr)\b[^(]*(=|\[)")
INLINE_CONSTEXPR = re.compile(r"^(static\s+|inline\s+)*constexpr\b")
SCOPE = re.compile(r'^(inline\s+)?namespace\b[^={;]*$|^extern\s*"C(\+\+)?"\s*$')
TEMPLATE = re.compile(r"^template\s*<")

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<directive>(?:(?<=\n)|\A)[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<mark>[{}();])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Chunk:
    """A directive or a declaration: `head` is its text before the first brace, without comments.

    Attributes
    ----------
    kind : str
        "directive", "declaration", "open" and "close" of a namespace or linkage block, or "space".
    text : str
        The chunk as it stands in the file.
    head : str
        Spaces are single ones.
    """

    kind: str
    text: str
    head: str = ""


def split(text: str) -> Iterator[Chunk]:
    """The chunks of a file in their order; their texts joined are the file."""
    start, depth, parens = 0, 0, 0
    head: list[str] = []  # pieces of the head so far
    head_done = False
    position = 0
    scopes = 0

    def piece(end: int) -> None:
        if not head_done:
            head.append(text[position:end])

    def head_text() -> str:
        return " ".join("".join(head).split())

    def chunk(kind: str, end: int) -> Chunk:
        nonlocal start, head, head_done
        made = Chunk(kind, text[start:end], head_text())
        start, head, head_done = end, [], False
        return made

    for token in TOKEN.finditer(text):
        piece(token.start())
        position = token.end()
        if token["comment"]:
            if not head_done:
                head.append(" ")
        elif token["directive"]:
            if depth == 0 and parens == 0 and not head_text():
                if token.start() > start:
                    yield chunk("space", token.start())
                head = [token["directive"]]
                yield chunk("directive", token.end())
        elif token["text"]:
            if not head_done:
                head.append(token["text"])
        elif token["mark"] in "()":
            parens += 1 if token["mark"] == "(" else -1
            if not head_done:
                head.append(token["mark"])
        elif token["mark"] == "{":
            if depth == 0 and parens == 0 and SCOPE.match(head_text()):
                scopes += 1
                yield chunk("open", token.end())
                continue
            depth += 1
            head_done = True
        elif token["mark"] == "}":
            if depth == 0 and scopes > 0:
                scopes -= 1
                yield chunk("close", token.end())
                continue
            depth -= 1
            if depth < 0:
                line = text.count("\n", 0, token.start()) + 1
                raise ValueError(f"split: line {line}: a brace closes that none opened")
            if depth == 0 and parens == 0 and is_function(head_text()):
                yield chunk("declaration", token.end())
        elif depth == 0 and parens == 0:  # ;
            yield chunk("declaration", token.end())
    piece(len(text))
    position = len(text)
    if depth or scopes:
        raise ValueError("split: the file ends within braces")
    if start < len(text):
        yield chunk("declaration" if head_text() else "space", len(text))


def without_templates(head: str) -> str:
    """The head without `template <...>` before it."""
    while TEMPLATE.match(head):
        depth = 0
        for i, letter in enumerate(head):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                head = head[i + 1 :].lstrip()
                break
        else:
            return head
    return head


def is_function(head: str) -> bool:
    """Whether a closing brace ends what this head began: a type or an initialiser wants `;`."""
    plain = ALIGNMENT.sub("", without_templates(head))
    return "(" in plain and not re.search(r"=\s*$", plain)


def is_device(head: str) -> bool:
    """Whether a declaration belongs to the device's part of a file."""
    if not head or head == ";":
        return True
    if QUALIFIER.search(head):
        return True
    plain = ALIGNMENT.sub("", without_templates(head))
    if TYPE.match(plain):
        return "(" not in plain
    if DECLARATION.match(plain) and not re.match(r"^using namespace (std|thrust)\b", plain):
        return True
    return bool(CONSTANT.match(plain) or INLINE_CONSTEXPR.match(plain))


def blank(text: str) -> str:
    """Only the line ends of a text."""
    return "\n" * text.count("\n")


def device_text(
    text: str,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    headers: Sequence[str] = (),
) -> str:
    """The device part of a file.

    Parameters
    ----------
    text : str
        CUDA C++.
    keep, drop : sequence of str
        Patterns (regular expressions); a declaration or directive whose head holds one stays or
        goes whatever it is. `drop` wins.
    headers : sequence of str
        Names of includes that stay, besides the device's own headers.

    Returns
    -------
    str
        With as many lines as `text`.

    Raises
    ------
    ValueError
        Braces that do not match.
    """
    text = text.replace("\r\n", "\n")
    kept = []
    for chunk in split(text):
        stays = True
        if chunk.kind == "declaration":
            stays = is_device(chunk.head)
        elif chunk.kind == "directive":
            included = re.match(r'\s*#\s*include\s*[<"]([^>"]*)[>"]', chunk.text)
            if included:
                stays = bool(DEVICE_HEADERS.search(included[1])) or included[1] in headers
        if chunk.kind in ("declaration", "directive"):
            stays = stays or any(re.search(p, chunk.head) for p in keep)
            stays = stays and not any(re.search(p, chunk.head) for p in drop)
        kept.append(chunk.text if stays else blank(chunk.text))
    return "".join(kept)
