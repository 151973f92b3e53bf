"""Run by itself in the Python of .venv, which has pyserial: copies what a board prints to standard output.

Ends when its standard input does: so it keeps no port from others when the program that started it is gone.
"""
# pyright: reportMissingImports=false

import os
import sys
import threading
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)

import serial

from tools.deploy_board import DeployError, choose, ports, why_not_opened


def end_with_the_parent() -> None:
    os.read(0, 1)
    os._exit(0)


def main(named: str) -> int:
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    try:
        device = choose(named or None, ports()).device
        try:
            port = serial.Serial(device, 115200, timeout=0.2, exclusive=True)
        except OSError:
            raise DeployError(why_not_opened(device)) from None
        with port:
            while True:
                sys.stdout.buffer.write(port.read(max(1, port.in_waiting)))
                sys.stdout.buffer.flush()
    except DeployError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"the connection to the board was lost ({error})", file=sys.stderr)
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
