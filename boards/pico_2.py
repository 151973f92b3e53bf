"""Raspberry Pi Pico 2 and Pico 2 W, MicroPython: the pins of the Pico (Pico SDK, boards/pico2.h)."""

from .pico import (
    I2C_SCL,
    I2C_SDA,
    SPI_CS,
    SPI_CS2,
    SPI_DC,
    SPI_MISO,
    SPI_MOSI,
    SPI_SCK,
    UART_DE,
    UART_RX,
    UART_TX,
    i2c,
    spi,
    uart,
)

NAME = "pico_2"

__all__ = [
    "I2C_SCL",
    "I2C_SDA",
    "NAME",
    "SPI_CS",
    "SPI_CS2",
    "SPI_DC",
    "SPI_MISO",
    "SPI_MOSI",
    "SPI_SCK",
    "UART_DE",
    "UART_RX",
    "UART_TX",
    "i2c",
    "spi",
    "uart",
]
