"""CPython's asyncio streams on a simulated UART line."""

import asyncio

from buslock_sim import GPS, ModbusNode, Pin, ProtocolError, UartLine, clock, forget, open_streams
from buslock_sim.crc import crc16
from support.turns import turns

CLOCK = "virtual"
RUNTIMES = ("cpython",)  # the boards' streams are made of a UART: see test_sim_uart_poll.py
REQUEST = b"\x11\x03\x00\x00\x00\x01"
REQUEST += crc16(REQUEST)


async def test_request_and_reply():
    line = UartLine()
    line.attach(ModbusNode(17, {0: 0x1234}))
    reader, writer = await open_streams(line, baudrate=19200)
    for _ in range(3):
        writer.write(REQUEST)
        await writer.drain()
        start = clock.now_us()
        assert (await reader.readexactly(7))[:5] == b"\x11\x03\x02\x12\x34"
        assert clock.now_us() - start >= 8 * 521 + 1820 + 2000 + 7 * 521
        await asyncio.sleep(0.01)
    writer.close()
    await writer.wait_closed()
    line.check()


async def test_streams_on_rs485():
    line = UartLine(de=True)
    line.attach(ModbusNode(17, {0: 1}))
    reader, writer = await open_streams(line, baudrate=19200)
    de = Pin(line.de, Pin.OUT, value=1)
    writer.write(REQUEST)
    await asyncio.sleep(8 * 521 / 1000000)
    de(0)
    assert len(await reader.readexactly(7)) == 7
    de(1)
    writer.write(REQUEST)
    await asyncio.sleep(0.001)
    try:
        de(0)
        raise AssertionError("DE was let go")
    except ProtocolError:
        forget()
        line.violations.clear()
    writer.close()
    await writer.wait_closed()


async def test_a_node_that_talks_by_itself():
    line = UartLine()
    line.attach(GPS(period_ms=1000))
    reader, writer = await open_streams(line, baudrate=115200)
    assert (await reader.readline()).startswith(b"$GPRMC")
    assert (await reader.readline()).startswith(b"$GPGGA")
    line.noise(b"x\n", in_ms=500)
    assert await reader.readline() == b"x\n"
    assert (await reader.readline()).startswith(b"$GPRMC")
    writer.close()
    await writer.wait_closed()
    assert await reader.read(100) == b""


async def test_a_late_reply_wakes_nobody_too_early():
    line = UartLine()
    node = line.attach(ModbusNode(17, {0: 1}))
    reader, writer = await open_streams(line, baudrate=19200)
    node.fail("late", ms=500)
    writer.write(REQUEST)
    task = asyncio.create_task(reader.readexactly(7))
    await asyncio.sleep(0.4)
    assert not task.done()
    await asyncio.sleep(0.2)
    assert len(await task) == 7
    node.fail("silent")
    writer.write(REQUEST)
    task = asyncio.create_task(reader.read(1))
    await asyncio.sleep(10)
    assert not task.done()
    task.cancel()
    await turns(2)
    writer.close()
    await writer.wait_closed()
    line.check()


async def test_calls_that_raise():
    line = UartLine()
    _, writer = await open_streams(line)
    line.fail_call()
    try:
        writer.write(b"a")
        raise AssertionError("it did not raise")
    except OSError:
        pass
    assert writer.transport.get_write_buffer_size() == 0
    writer.write(b"ab")
    assert writer.transport.get_write_buffer_size() == 2
    assert writer.get_extra_info("line") is line
    writer.close()
    writer.close()
    await writer.wait_closed()
