"""`python -m tests.parity FOLDER [--seconds N] [--every]`: compile dumped texts with NVRTC.

Each text is compiled for one of sm_75, sm_90 and sm_100, by its key, or with --every for all three.
Texts that the compiler of the other device refused are not in the folder's count: tests that expect
a refusal leave theirs too, so what clang refuses is left out here when the cpu device is there.
What a rule of docs/design/dialect.md says is counted apart too.
Closes with "N passed, N failed"; status 1 if one failed.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.parity.texts import ARCHITECTURES, CPU_ONLY, Text, complaint, dumped, why_not

# What NVRTC may say of a text that clang takes: rules of docs/design/dialect.md, by their message.
RULES = (
    r'identifier "__reduce_\w+_sync" is undefined',  # words of an architecture
    # Some bfloat16 arithmetic begins with sm_80: before it the float16 form alone is declared.
    r'no suitable user-defined conversion from "(const )?__nv_bfloat162?" to "__half2?" exists',
    r"device-side kernel launch could not be processed",  # needs linking with the device runtime
    r'cannot open source file "cuda/std/\w+(\.h)?"',  # headers that CCCL lacks
    f'cannot open source file "({"|".join(map(re.escape, sorted(CPU_ONLY)))})"',
    r"libcu\+\+ requires at least C\+\+ ?17",  # CCCL's headers under an older standard
    r'curand_\w+\.h\(\d+\): error: identifier "CURAND_\w+" is undefined',  # one cuRAND header alone
)


# A compile by NVRTC cannot be stopped: a longer text is left out, and said to be.
LONGEST = 100_000


def is_ruled(said: str) -> bool:
    """Whether the first error is one that a rule names."""
    first = next((line for line in said.splitlines() if "error" in line), "")
    return any(re.search(rule, first) for rule in RULES)


def refused_by_clang(text: Text) -> bool:
    """Whether the cpu device refuses it as well."""
    from trilane import _core

    try:
        _core.compile_image(
            text.source, text.options, headers=text.headers, name_expressions=text.names
        )
    except Exception:
        return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--every", action="store_true", help="each text for every architecture")
    parser.add_argument("--show", type=int, default=20, help="how many kinds of errors to print")
    given = parser.parse_args()
    if reason := why_not():
        raise SystemExit(f"tests.parity: NVRTC cannot be asked: {reason}")
    started = time.monotonic()

    def judge(text: Text) -> list[tuple[Text, int, str | None]]:
        if time.monotonic() - started > given.seconds:
            return []
        if len(text.source) > LONGEST:
            print(f"{text.name}: left out, {len(text.source)} characters", flush=True)
            return []
        one = [ARCHITECTURES[int(text.name[:8], 16) % len(ARCHITECTURES)]]
        return [
            (text, arch, complaint(text, arch)) for arch in (ARCHITECTURES if given.every else one)
        ]

    passed = failed = both = ruled = 0
    kinds: dict[str, list[str]] = collections.defaultdict(list)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(judge, dumped(given.folder)):
            for text, arch, said in results:
                if said is None:
                    passed += 1
                elif is_ruled(said):
                    ruled += 1
                elif refused_by_clang(text):
                    both += 1
                else:
                    failed += 1
                    first = next((x for x in said.splitlines() if "error" in x), said[:200])
                    kinds[first.split("error", 1)[-1][:120]].append(
                        f"{text.name} sm_{arch}: {said[:600]}"
                    )
    for kind, examples in sorted(kinds.items(), key=lambda item: -len(item[1]))[: given.show]:
        print(f"{len(examples)} x {kind}\n    {examples[0]}")
    print(
        f"{both} refused by both compilers, {ruled} by a rule, {time.monotonic() - started:.0f} s"
    )
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
