"""Stands for MicroPython's module where there is none."""


def const(value):
    return value


def native(function):
    return function


viper = native
