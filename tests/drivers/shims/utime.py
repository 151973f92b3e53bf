"""Stands for MicroPython's module where there is none."""

from time import *  # noqa: F403
from time import sleep


def sleep_ms(ms):
    sleep(ms / 1000)


def sleep_us(us):
    sleep(us / 1000000)
