"""The stations of the buses: I2C with failing chips and recoveries, SPI with selections, UART with noise."""

import asyncio

import i2c_rig
import spi_rig
import uart_rig
from buslock import BusError
from buslock_sim import ModbusNode
from buslock_sim.crc import crc16
from support.turns import turns
from test_uart_random import KINDS, REPLY_MS, check_frame, value_of

FAULTS = ("nack", "timeout", "arbitration")
# Less than REPLY_MS: for so long a late reply is waited for after an exchange that was cancelled.
LATE_MS = (9, 14, 17, 20)
# (port, factory) of peripherals that can be made anew, as recovery wants it. Not of SoftI2C, which does not see a register
# that is refused, and then reads what nobody has sent.
I2C_WAYS = (("rp2", "sync"), ("esp32", "async"), ("numbered", None), ("circuitpython", "sync"))


class I2C:
    """Two chips whose registers 0 and 1 are written together, and failing transfers."""

    expected = (BusError,)

    def __init__(self, seed, random):
        self.random = random
        port, factory = I2C_WAYS[seed % len(I2C_WAYS)]
        self.rig = i2c_rig.Rig(port, factory=factory, pins=True)
        self.bus = self.rig.bus
        self.chips = (self.rig.a, self.rig.b)
        self.torn = {i2c_rig.A: True, i2c_rig.B: True}  # written in part, or not known
        self.value = 0

    async def use(self, worker):
        try:
            await self.use_once()
        except RuntimeError as error:
            if "pull up" not in str(error):
                raise
            raise BusError(0, "made anew while SDA was low")  # what CircuitPython's constructor says

    async def use_once(self):
        random = self.random
        address = (i2c_rig.A, i2c_rig.B)[random.below(2)]
        ms = (None, random.below(6))[random.below(2)]
        how = random.below(12)
        if how == 0:
            self.spoil(self.chips[random.below(2)])
        elif how == 1:
            await self.bus.recover()
        elif how == 2:
            await self.bus.aclose(ms)
        elif how == 3:
            await self.bus.device(i2c_rig.MEMORY).read(4)
        elif how == 4:
            txn = self.bus.transaction()
            txn.read_register(address, 7, 1)
            txn.update_register(address, 7, 0xFF, 0x55)
            txn.read_register(address, 7, 1)
            assert (await txn.execute(timeout_ms=ms))[2] == b"\x55"
        elif how == 5:
            async with self.bus.hold(i2c_rig.A, i2c_rig.B, timeout_ms=ms) as regs:
                for each in (i2c_rig.B, i2c_rig.A):
                    await self.write_both(regs, each)
        elif how == 6:
            async with self.bus.hold_all(timeout_ms=ms) as regs:
                await self.read_both(regs, address)
        elif how == 7:
            await self.bus.device(address).probe()
        else:
            device = self.bus.device(address)
            async with device.hold(timeout_ms=ms, wire=how == 8) as session:
                await (self.write_both if how < 10 else self.read_both)(_Only(session), address)

    async def write_both(self, regs, address):
        self.torn[address] = True
        self.value = value = (self.value + 1) % 256
        await regs.write_register(address, 0, value)
        await turns(self.random.below(3))
        await regs.write_register(address, 1, value)
        self.torn[address] = False

    async def read_both(self, regs, address):
        first = await regs.read_register(address, 0, 1)
        await turns(self.random.below(3))
        second = await regs.read_register(address, 1, 1)
        assert first == second or self.torn[address], ("another task has written in between", first, second)

    def spoil(self, chip):
        if self.random.below(4) == 0:
            chip.hold_sda(1 + self.random.below(9))
        else:
            chip.fail_nth(FAULTS[self.random.below(3)], self.random.below(3))

    async def rest(self):
        for chip in self.chips:
            chip.recover()
        await self.bus.recover()
        for address in self.torn:
            await self.bus.write_register(address, 7, 1)
            assert await self.bus.read_register(address, 7, 1) == b"\x01"
        self.rig.check()
        self.rig.wire.transcript.clear()
        del self.rig.made[:-1]


class _Only:
    """A session of one device with the methods of a hold over several."""

    def __init__(self, session):
        self.session = session

    def read_register(self, address, register, n):
        return self.session.read_register(register, n)

    def write_register(self, address, register, data):
        return self.session.write_register(register, data)


class SPI:
    """Two chips that answer every byte changed in their own way."""

    expected = ()

    def __init__(self, seed, random):
        self.random = random
        self.rig = spi_rig.Rig(spi_rig.PORTS[seed % len(spi_rig.PORTS)], factory=("sync", "async")[seed // 2 % 2])
        self.devices = self.rig.devices()
        self.chips = (self.rig.a, self.rig.b)

    async def use(self, worker):
        random = self.random
        n = random.below(2)
        device, number = self.devices[n], self.chips[n].number
        ms = (None, random.below(6))[random.below(2)]
        how = random.below(5)
        if how == 0:
            await self.transfer(device, number)
        elif how == 1:
            await device.write(b"abc", b"de")
        elif how == 2:
            async with device.select(timeout_ms=ms) as spi:
                for _ in range(1 + random.below(3)):
                    await self.transfer(spi, number)
                    await turns(random.below(3))
                assert self.rig.wire.selected() == [self.rig.names[n]]
        elif how == 3:
            async with device.hold(timeout_ms=ms) as session:
                await turns(random.below(3))
                async with session.select() as spi:
                    await self.transfer(spi, number)
        else:
            await self.rig.bus.aclose(ms)

    async def transfer(self, spi, number):
        out = bytes([self.random.below(256) for _ in range(1 + self.random.below(5))])
        into = bytearray(len(out))
        await spi.write_readinto(out, into)
        assert into == bytes([byte ^ number for byte in out])

    async def rest(self):
        await self.transfer(self.devices[0], self.chips[0].number)
        self.rig.check()
        self.rig.wire.transcript.clear()
        for chip in self.chips:
            chip.listen()
        del self.rig.made[:-1]


class UART:
    """Nodes that lose, delay, cut and spoil some of their replies: never a wrong answer."""

    expected = (BusError,)

    def __init__(self, seed, random):
        self.random = random
        nodes = [ModbusNode(a, {r: value_of(a, r) for r in range(40)}, delay_ms=1) for a in (1, 2, 3, 4)]
        for i, node in enumerate(nodes):
            for j, kind in enumerate(KINDS):
                node.fail(kind, times=None, chance=0.1, seed=seed + 10 * i + j + 1, ms=LATE_MS[i])
        port = ("rp2", "circuitpython", "esp32")[seed % 3]
        self.rig = uart_rig.Rig(port, nodes=lambda: nodes, de=True, baudrate=115200, gap_ms=3)

    async def use(self, worker):
        random = self.random
        address = 1 + random.below(4)
        register, count = random.below(30), 1 + random.below(3)
        request = bytes([address, 3, 0, register, 0, count])
        request += crc16(request)
        node = self.rig.bus.device(address)
        if random.below(3):
            reply = await node.exchange(request, frame=check_frame(address, count), reply_ms=REPLY_MS)
        else:
            async with node.hold() as session:
                await turns(random.below(3))
                reply = await session.exchange(request, frame=check_frame(address, count), reply_ms=REPLY_MS)
        got = [reply[3 + 2 * i] << 8 | reply[4 + 2 * i] for i in range(count)]
        assert got == [value_of(address, register + i) for i in range(count)], "a wrong answer"

    async def rest(self):
        await asyncio.sleep(0.1)  # late replies arrive meanwhile
        await self.rig.check()
        assert self.rig.de_idle()
        self.rig.line.transcript.clear()
