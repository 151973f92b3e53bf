"""Raspberry Pi Pico W, MicroPython: the pins of the Pico. GP23, GP24, GP25 and GP29 belong to the radio."""

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

NAME = "pico_w"

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
