"""The process of a program of tools/bench on the emulated Pico; its times are those of the board's clock.

python -m tools.bench_pico PROGRAM [quick]
"""

import asyncio
import sys

from tools.pico import firmware, flash

BENCH = flash.ROOT / "tools" / "bench"


async def run(program: str, *words: str) -> int:
    from tools.pico.board import Pico

    image = firmware.find()
    if image is None:
        sys.exit(firmware.missing() or "no firmware image")
    files = {
        **flash.library(),
        **flash.tree(flash.ROOT / "boards", "/boards"),
        **flash.tree(BENCH, "/bench"),
    }
    pico = Pico(image, files)
    await pico.boot()
    arguments = ["", *words]
    code = f"import sys\nsys.argv[:] = {arguments!r}\nsys.path.append('/bench')\nimport {program}\n{program}.run()\n"
    try:
        _, errors = await pico.run_code(code, output=lambda text: print(text, end="", flush=True))
    finally:
        pico.stop()
    if errors:
        print(errors, end="")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*sys.argv[1:])))
