# Freezes the library into firmware: name this file in your own manifest, include("…/buslock/manifest.py"), or build
# with FROZEN_MANIFEST=…/buslock/manifest.py. asyncio comes with every port that buslock runs on.
metadata(description="I2C, SPI and UART shared between asyncio tasks", version="0.1.0", license="MIT")  # noqa: F821
package("buslock", base_path="lib")  # noqa: F821
