"""Real Pico firmware on the desk: MicroPython in the RP2040 emulator rp2040py, with simulated chips on its pins.

    firmware      where the image comes from, and what is missing when there is none
    compiled      the emulator, built for the Python at hand
    corrections   of rp2040py's models of USB, I2C, UART and clocks
    board         the emulated Pico: boots, runs code, streams what it prints
    flash         its file system, with sources compiled to .mpy
    i2c, uart, spi  what is at the other end of its pins;  desk  what is wired where
    prune         modules with only what one test needs
    testrun, script, port  processes: tests, one program, and a serial port for tools such as mpremote

rp2040py is only imported by modules that run inside those processes.
"""
