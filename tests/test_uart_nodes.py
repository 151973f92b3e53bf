"""Devices as in real programs on a UART: a Modbus line, stepper drivers on a single wire, a modem, and a GPS."""

import asyncio

from buslock import NoReply
from buslock_sim import GPS, ModbusNode, Modem, StepperDriver
from buslock_sim.crc import crc8, crc16
from support.turns import raises_async, turns
from uart_rig import BUSIO, MACHINE, PORTS, STREAMS, Rig, sleep

CLOCK = "virtual"


def modbus_frame(address):
    """The frame function of a Modbus master: by length, and by CRC."""

    def frame(buf):
        if buf[0] != address:
            return False
        if len(buf) < 3:
            return None
        if buf[1] & 0x80:
            length = 5
        elif buf[1] in (3, 4):
            length = 5 + buf[2]
        else:
            length = 8
        if len(buf) < length:
            return None
        return crc16(bytes(buf[:-2])) == bytes(buf[-2:])

    return frame


def modbus(node, *body, **arguments):
    request = bytes((node.address,) + body)
    return node.exchange(request + crc16(request), frame=modbus_frame(node.address), **arguments)


async def test_a_modbus_line():
    """Tasks count in the registers of several slaves at once: no count is lost, a dead slave delays the others only."""
    for port in MACHINE + BUSIO:
        slaves = [ModbusNode(a, {0: 0, 1: a}) for a in (1, 2, 3)]
        rig = Rig(port, nodes=lambda: slaves, de=True, baudrate=19200, gap_ms=5)

        async def count(address):
            node = rig.bus.device(address)
            for _ in range(3):
                async with node.hold() as session:
                    reply = await modbus_in(session, address, 3, 0, 0, 0, 2)
                    value = reply[3] << 8 | reply[4]
                    assert reply[6] == address
                    await turns(address)
                    await modbus_in(session, address, 6, 0, 0, value >> 8, value + 1 & 0xFF)

        async def dead():
            for _ in range(3):
                await raises_async(NoReply, modbus(rig.bus.device(9), 3, 0, 0, 0, 1, reply_ms=30))

        async def broadcast():
            request = b"\x00\x06\x00\x01\x00\x00"
            await rig.bus.device(0).write(request + crc16(request))

        await asyncio.gather(*[count(a) for a in (1, 2, 3, 1, 2, 1)], dead())
        assert [slave.registers[0] for slave in slaves] == [9, 6, 3]
        assert [slave.broken for slave in slaves] == [0, 0, 0]
        reply = await modbus(rig.bus.device(1), 3, 0, 99, 0, 1)
        assert reply[1:3] == b"\x83\x02"  # the exception reply is a reply
        await broadcast()
        await sleep(10)
        rig.line.settle()
        assert [slave.registers[1] for slave in slaves] == [0, 0, 0]
        await rig.check()


async def modbus_in(session, address, *body):
    request = bytes((address,) + body)
    return await session.exchange(request + crc16(request), frame=modbus_frame(address), reply_ms=100)


async def test_four_stepper_drivers_on_one_wire():
    """Four drivers on a single wire with echo: writes are counted by the driver itself, and reads are its own (F3)."""
    for port in PORTS:
        drivers = [StepperDriver(a, {0x06: 0x21000000 + a}) for a in range(4)]
        rig = Rig(port, nodes=lambda: drivers, echo=True, baudrate=115200, gap_ms=2)

        async def read(session, address, register):
            request = bytes([5, address, register])
            reply = await session.exchange(request + bytes([crc8(request)]), nbytes=8, reply_ms=20)
            assert reply[:3] == bytes([5, 0xFF, register])
            assert crc8(reply[:-1]) == reply[-1]
            return int.from_bytes(reply[3:7], "big")

        async def move(address):
            node = rig.bus.device(address)
            for speed in range(4):
                async with node.hold() as session:
                    before = await read(session, address, 2)
                    datagram = bytes([5, address, 0x22 | 0x80]) + (1000 * address + speed).to_bytes(4, "big")
                    await session.write(datagram + bytes([crc8(datagram)]))
                    assert await read(session, address, 2) == before + 1
                assert await read(node, address, 6) == 0x21000000 + address

        await asyncio.gather(*[move(a) for a in range(4)])
        assert [driver.registers[0x22] for driver in drivers] == [3, 1003, 2003, 3003]
        assert [driver.broken for driver in drivers] == [0, 0, 0, 0]
        await rig.check()


async def test_a_modem_that_speaks_up():
    """A modem's answers go to who asked, and what it says by itself to `unsolicited`, also while nobody asks."""
    for port in PORTS:
        heard = []
        modem = Modem({"AT+CSQ": "+CSQ: 20,0", "AT+CCLK?": '+CCLK: "now"'})
        rig = Rig(port, nodes=lambda: (modem,), unsolicited=heard.append)
        line = rig.bus.device()

        async def ask(command, answer):
            reply = await line.exchange(command + b"\r", until=b"OK\r\n", reply_ms=200)
            assert answer in reply

        async def user(command, answer, n):
            for _ in range(n):
                await ask(command, answer)
                await sleep(40)

        await ask(b"AT", b"OK")
        modem.announce("RING", in_ms=100)
        await ask(b"AT", b"OK")
        await sleep(200)
        await asyncio.gather(user(b"AT+CSQ", b"20,0", 4), user(b"AT+CCLK?", b"now", 3), user(b"AT", b"OK", 5))
        assert b"".join(heard) == b"\r\nRING\r\n"
        assert len(modem.commands) == 14
        await rig.check()


async def test_a_gps_that_only_talks():
    """Sentences of a GPS are read one by one, by tasks that take turns; a read with a limit gives up in between."""
    for port in PORTS:
        rig = Rig(port, nodes=lambda: (GPS(period_ms=500),))
        gps = rig.bus.device("gps")
        got = []

        async def reader():
            for _ in range(2):
                got.append(await gps.read(until=b"\r\n", reply_ms=1000))

        await asyncio.gather(reader(), reader())
        assert [line[:6] for line in got] == [b"$GPRMC", b"$GPGGA"] * 2
        assert all(line.endswith(b"\r\n") for line in got)
        await raises_async(NoReply, gps.read(until=b"\r\n", reply_ms=100))
        await rig.check()


def test_the_ports_are_those_of_the_rig():
    """These tests go over machine-shaped and busio-shaped UARTs, and streams where there are any."""
    assert set(PORTS) == set(MACHINE) | set(BUSIO) | set(STREAMS)
