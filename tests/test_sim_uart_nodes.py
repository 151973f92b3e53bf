"""The UART nodes of the simulator: what they answer, what they ignore, and how their replies fail."""

from buslock_sim import (
    GPS,
    UART,
    ModbusNode,
    Modem,
    Node,
    Pin,
    ProtocolError,
    Servo,
    StepperDriver,
    UartLine,
    clock,
    forget,
)
from buslock_sim.crc import crc8, crc16
from buslock_sim.gps import nmea
from support.clock import advance
from support.turns import raises as raised

CLOCK = "virtual"


def with_crc(data):
    return data + crc16(data)


class Modbus:
    """An RS-485 bus with nodes; exchange() does it right."""

    def __init__(self, *nodes, baudrate=19200):
        self.line = UartLine(de=True)
        for node in nodes:
            self.line.attach(node)
        self.uart = UART(self.line, baudrate=baudrate)
        self.de = Pin(self.line.de, Pin.OUT, value=0)

    def send(self, request):
        self.de(1)
        self.uart.write(request)
        self.uart.flush()
        self.de(0)

    def exchange(self, request, ms=50):
        self.send(with_crc(request))
        advance(ms)
        reply = self.uart.read()
        if reply is None:
            return None
        assert crc16(reply[:-2]) == reply[-2:]
        return reply[:-2]


def test_check_sums():
    # From the Modbus specification's serial line guide, and the TMC2209's data sheet's algorithm on its own example.
    assert with_crc(b"\x02\x07") == b"\x02\x07\x41\x12"
    assert crc8(b"\x05\x00\x00") == 0x48
    assert nmea("GPGLL,5057.970,N,00146.110,E,142451,A") == b"$GPGLL,5057.970,N,00146.110,E,142451,A*27\r\n"


# ModbusNode


def test_modbus_functions():
    node = ModbusNode(17, {0: 0x1234, 1: 0xABCD, 2: 0})
    bus = Modbus(node)
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x02") == b"\x11\x03\x04\x12\x34\xab\xcd"
    assert bus.exchange(b"\x11\x04\x00\x01\x00\x01") == b"\x11\x04\x02\xab\xcd"
    assert bus.exchange(b"\x11\x06\x00\x02\x00\x63") == b"\x11\x06\x00\x02\x00\x63"
    assert node.registers[2] == 0x63
    assert bus.exchange(b"\x11\x10\x00\x01\x00\x02\x04\x00\x0a\x01\x02") == b"\x11\x10\x00\x01\x00\x02"
    assert node.registers == {0: 0x1234, 1: 10, 2: 0x0102}
    assert node.requests == 4 and node.broken == 0
    bus.line.check()


def test_modbus_exceptions():
    node = ModbusNode(17, {0: 1, 1: 2})
    bus = Modbus(node)
    assert bus.exchange(b"\x11\x05\x00\x00\xff\x00") == b"\x11\x85\x01"
    assert bus.exchange(b"\x11\x03\x00\x01\x00\x02") == b"\x11\x83\x02"
    assert bus.exchange(b"\x11\x06\x00\x02\x00\x00") == b"\x11\x86\x02"
    assert bus.exchange(b"\x11\x10\x00\x01\x00\x02\x04\x00\x0a\x01\x02") == b"\x11\x90\x02"
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x00") == b"\x11\x83\x03"
    assert bus.exchange(b"\x11\x10\x00\x00\x00\x01\x02\x00") == b"\x11\x90\x03"
    assert bus.exchange(b"\x11\x03\x00\x00") == b"\x11\x83\x03"
    assert node.registers == {0: 1, 1: 2}


def test_modbus_times():
    # 3.5 characters of silence, at most at 19200 baud; above it is 1.75 ms.
    for baudrate, silence_us, char_us in ((9600, 3647, 1042), (19200, 1820, 521), (115200, 1750, 87)):
        bus = Modbus(ModbusNode(17, {0: 1}, delay_ms=2), baudrate=baudrate)
        bus.send(with_crc(b"\x11\x03\x00\x00\x00\x01"))
        end = clock.now_us()
        first = end + silence_us + 2000 + char_us
        clock.busy_us(first - end - char_us // 2)
        assert bus.uart.any() == 0
        clock.busy_us(char_us)
        assert bus.uart.any() == 1
        advance(20)
        assert bus.uart.any() == 7


def test_modbus_nodes_on_one_bus():
    nodes = [ModbusNode(1 + i, {0: i}) for i in range(4)]
    bus = Modbus(*nodes)
    for i in (2, 0, 3, 1):
        assert bus.exchange(bytes([1 + i, 3, 0, 0, 0, 1])) == bytes([1 + i, 3, 2, 0, i])
    assert [node.requests for node in nodes] == [1, 1, 1, 1]
    assert bus.exchange(b"\x05\x03\x00\x00\x00\x01") is None
    assert bus.exchange(b"\x00\x06\x00\x00\x00\x07") is None
    assert [node.registers[0] for node in nodes] == [7, 7, 7, 7]
    bus.line.check()


def test_modbus_ignores_what_is_no_frame():
    node = ModbusNode(17, {0: 1})
    bus = Modbus(node)
    request = with_crc(b"\x11\x03\x00\x00\x00\x01")
    bus.send(request[:-1] + b"\x00")
    advance(20)
    bus.send(request[:3])
    advance(20)
    bus.send(request[:5])
    advance(1)  # a pause inside a frame
    bus.send(request[5:])
    advance(20)
    assert bus.uart.any() == 0
    assert node.broken == 3 and node.requests == 0
    bus.send(request)
    advance(20)
    assert bus.uart.any() == 7


def test_modbus_requests_too_near_each_other():
    # The node that is not addressed takes a reply and the request right after it for one frame.
    a, b = ModbusNode(1, {0: 1}), ModbusNode(2, {0: 2})
    bus = Modbus(a, b)
    bus.send(with_crc(b"\x01\x03\x00\x00\x00\x01"))
    while bus.uart.any() < 7:
        clock.busy_us(10)
    bus.uart.read(7)
    assert bus.exchange(b"\x02\x03\x00\x00\x00\x01") is None
    assert b.broken == 1
    assert bus.exchange(b"\x02\x03\x00\x00\x00\x01") == b"\x02\x03\x02\x00\x02"


def test_modbus_node_hears_nothing_while_it_answers():
    node = ModbusNode(17, {0: 1}, delay_ms=30)
    bus = Modbus(node)
    bus.send(with_crc(b"\x11\x03\x00\x00\x00\x01"))
    advance(10)
    bus.send(with_crc(b"\x11\x03\x00\x00\x00\x01"))
    advance(100)
    assert bus.uart.any() == 7
    assert node.missed == 8 and node.requests == 1
    bus.line.check()


def test_replies_that_fail():
    request = b"\x11\x03\x00\x00\x00\x02"
    good = with_crc(b"\x11\x03\x04\x00\x01\x00\x02")

    def reply_with(*failures, ms=50):
        node = ModbusNode(17, {0: 1, 1: 2})
        bus = Modbus(node)
        for kind, how in failures:
            node.fail(kind, **how)
        bus.send(with_crc(request))
        advance(ms)
        bus.uart.any()
        got = bus.line.take(100)
        # The next one is right again.
        advance(200)
        bus.line.settle()
        bus.line.take(100)
        bus.send(with_crc(request))
        advance(50)
        bus.uart.any()
        assert bus.line.take(100) == good
        return got

    assert reply_with() == good
    assert reply_with(("silent", {})) == b""
    assert reply_with(("cut", {})) == good[:4]
    assert reply_with(("cut", {"at": 7})) == good[:7]
    assert reply_with(("crc", {})) == good[:-1] + bytes([good[-1] ^ 0xFF])
    noisy = reply_with(("noise", {"at": 3}))
    assert noisy != good and noisy[:3] + noisy[4:] == good[:3] + good[4:]
    assert len(reply_with(("noise", {}))) == len(good)
    assert reply_with(("late", {"ms": 60})) == b""
    assert reply_with(("late", {"ms": 60}), ms=80) == good
    assert reply_with(("twice", {"ms": 5})) == good + good
    garbage = reply_with(("garbage", {}))
    assert garbage.endswith(good) and len(good) < len(garbage) <= len(good) + 4
    assert reply_with(("late", {"ms": 60}), ("cut", {"at": 2}), ms=80) == good[:2]
    raised(ValueError, ModbusNode(1).fail, "nack")


def test_replies_fail_as_often_as_told():
    node = ModbusNode(17, {0: 1})
    bus = Modbus(node)
    node.fail("silent", times=2)
    got = [bus.exchange(b"\x11\x03\x00\x00\x00\x01") for _ in range(4)]
    assert [reply is None for reply in got] == [True, True, False, False]
    node.fail("silent", times=None)
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x01") is None
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x01") is None
    node.recover()
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x01")


def test_replies_fail_at_random_alike_for_the_same_seed():
    def failed(seed):
        node = ModbusNode(17, {0: 1})
        bus = Modbus(node)
        node.fail("silent", times=None, chance=0.2, seed=seed)
        return [i for i in range(100) if bus.exchange(b"\x11\x03\x00\x00\x00\x01") is None]

    once = failed(1)
    assert once == failed(1) and once != failed(2)
    assert 8 < len(once) < 35


def test_a_late_reply_meets_the_next_request():
    a, b = ModbusNode(1, {0: 1}), ModbusNode(2, {0: 2})
    bus = Modbus(a, b)
    a.fail("late", ms=40)
    assert bus.exchange(b"\x01\x03\x00\x00\x00\x01", ms=41) is None
    bus.send(with_crc(b"\x02\x03\x00\x00\x00\x01"))
    advance(60)
    assert bus.line.collisions > 0 and b.requests == 0
    # Nobody could have known: that is no mistake.
    bus.line.check()


def test_power_on_forgets_what_was_to_be_sent():
    node = ModbusNode(17, {0: 1})
    bus = Modbus(node)
    bus.send(with_crc(b"\x11\x03\x00\x00\x00\x01"))
    node.power_on()
    advance(50)
    assert bus.uart.any() == 0
    bus.send(with_crc(b"\x11\x03\x00\x00\x00\x01"))
    advance(5)
    assert 0 < bus.uart.any() < 7
    node.power_on()
    advance(50)
    assert bus.uart.any() < 7
    bus.uart.read()
    assert bus.exchange(b"\x11\x03\x00\x00\x00\x01")


# StepperDriver


class Steppers:
    def __init__(self, *drivers):
        self.line = UartLine(echo=True)
        self.drivers = [self.line.attach(driver) for driver in drivers]
        self.uart = UART(self.line, baudrate=115200)

    def send(self, data):
        """The reply, without the echo, to a datagram without its check sum."""
        data += bytes([crc8(data)])
        self.uart.write(data)
        advance(5)
        self.uart.any()
        assert self.line.take(len(data)) == data
        return self.line.take(100)


def test_steppers_answer_with_their_registers():
    bus = Steppers(*[StepperDriver(i, {0x06: 0x21000000 + i}) for i in range(4)])
    for i in (3, 0, 2, 1):
        reply = bus.send(bytes([5, i, 0x06]))
        assert reply[:-1] == b"\x05\xff\x06\x21\x00\x00" + bytes([i])
        assert crc8(reply[:-1]) == reply[-1]
    bus.line.check()


def test_steppers_count_writes_and_answer_none():
    bus = Steppers(StepperDriver(0), StepperDriver(1))
    assert bus.send(b"\x05\x01\x90\x00\x01\x02\x03") == b""
    assert bus.drivers[1].registers[0x10] == 0x00010203
    assert bus.send(b"\x05\x01\x02")[3:7] == b"\x00\x00\x00\x01"
    assert bus.send(b"\x05\x00\x02")[3:7] == b"\x00\x00\x00\x00"
    assert bus.send(b"\x05\x01\x10")[3:7] == b"\x00\x01\x02\x03"


def test_steppers_do_not_take_a_reply_for_a_request():
    bus = Steppers(StepperDriver(0), StepperDriver(1))
    bus.uart.write(b"\x05\x01\x02" + bytes([crc8(b"\x05\x01\x02")]))
    while bus.uart.any() < 12:
        clock.busy_us(10)
    bus.line.take(12)
    clock.busy_us(100)  # less than the pause that would make it begin anew
    assert len(bus.send(b"\x05\x00\x02")) == 8
    assert bus.drivers[0].broken == 0


def test_stepper_answers_after_eight_bits():
    bus = Steppers(StepperDriver(0))
    bus.uart.write(b"\x05\x00\x02" + bytes([crc8(b"\x05\x00\x02")]))
    start = clock.now_us()
    while bus.uart.any() < 5:
        clock.busy_us(1)
    assert clock.now_us() - start == 4 * 87 + 64 + 87


def test_stepper_ignores_what_is_no_datagram():
    driver = StepperDriver(0)
    bus = Steppers(driver)
    good = b"\x05\x00\x02" + bytes([crc8(b"\x05\x00\x02")])
    broken = 0
    # A wrong check sum; a wrong start; a pause inside, after which the rest is a wrong start.
    for pieces, more in (((good[:3] + b"\x00",), 1), ((b"\x06" + good,), 1), ((good[:2], good[2:]), 2)):
        for piece in pieces:
            bus.uart.write(piece)
            advance(2)
        bus.uart.any()
        bus.line.take(100)
        broken += more
        assert driver.broken == broken and driver.answers == 0
    assert len(bus.send(b"\x05\x00\x02")) == 8


# GPS and Modem


def test_gps_talks_by_itself():
    line = UartLine()
    gps = line.attach(GPS(period_ms=1000))
    uart = UART(line, baudrate=9600, rxbuf=512)
    advance(1000)
    assert uart.any() == 0
    advance(200)
    first = uart.readline()
    assert first.startswith(b"$GPRMC,") and first == nmea(first[1:-5].decode())
    assert uart.readline().startswith(b"$GPGGA,")
    assert uart.any() == 0
    advance(850)
    assert uart.any() > 0
    uart.write(b"$PMTK220,1000*1F\r\n")  # while it talks
    advance(2150)
    uart.any()
    assert gps.rounds == 4 and gps.heard == b"$PMTK220,1000*1F\r\n"
    line.check()


def test_talk_that_nobody_reads_overruns_the_buffer():
    line = UartLine()
    line.attach(GPS(period_ms=100, sentences=("GPTXT," + "x" * 40,)))
    uart = UART(line, baudrate=115200, rxbuf=256)
    advance(1000)
    assert uart.any() == 256
    assert line.overruns > 0


def test_modem_answers():
    line = UartLine()
    modem = line.attach(Modem({"AT+CSQ": "+CSQ: 20,0", "ATE0": "", "AT+N?": lambda command: command[3]}, delay_ms=20))
    uart = UART(line, baudrate=9600, timeout=100)
    for command, answer in (
        (b"AT\r", b"\r\nOK\r\n"),
        (b"AT+CSQ\r\n", b"\r\n+CSQ: 20,0\r\n\r\nOK\r\n"),
        (b"ATE0\r", b"\r\nOK\r\n"),
        (b"AT+N?\r", b"\r\nN\r\n\r\nOK\r\n"),
        (b"AT+X\r", b"\r\nERROR\r\n"),
    ):
        uart.write(command)
        uart.flush()
        advance(19)
        assert uart.any() == 0
        assert uart.read(len(answer)) == answer
    assert modem.commands == ["AT", "AT+CSQ", "ATE0", "AT+N?", "AT+X"]
    line.check()


def test_modem_speaks_up_and_hears_meanwhile():
    line = UartLine()
    modem = line.attach(Modem(delay_ms=5))
    uart = UART(line, baudrate=9600)
    modem.announce("RING", in_ms=10, every_ms=1000)
    modem.announce("+CMTI: 1", in_ms=500)
    advance(12)
    assert uart.any() > 0
    uart.write(b"AT\r")  # both directions at once
    advance(30)
    uart.any()
    assert line.take(100) == b"\r\nRING\r\n\r\nOK\r\n"
    advance(1000)
    uart.any()
    assert line.take(100) == b"\r\n+CMTI: 1\r\n\r\nRING\r\n"
    line.check()


def test_modem_with_echo():
    line = UartLine()
    line.attach(Modem(echo=True))
    uart = UART(line, baudrate=9600, timeout=50)
    uart.write(b"AT\r")
    advance(50)
    assert uart.read(9) == b"AT\r\r\nOK\r\n"


# Servo


def packet(number, instruction, *parameters):
    body = bytes([number, len(parameters) + 2, instruction]) + bytes(parameters)
    return b"\xff\xff" + body + bytes([~sum(body) & 0xFF])


def test_servo_answers():
    line = UartLine(echo=True)
    servo = line.attach(Servo(1, table=bytearray(range(10))))
    uart = UART(line, baudrate=115200)

    def ask(*what):
        advance(2)
        request = packet(*what)
        uart.write(request)
        advance(5)
        uart.any()
        return line.take(100)[len(request) :]

    assert ask(1, 1) == b"\xff\xff\x01\x02\x00\xfc"
    assert ask(1, 2, 4, 2) == b"\xff\xff\x01\x04\x00\x04\x05\xf1"
    assert ask(1, 3, 4, 9) == b"\xff\xff\x01\x02\x00\xfc"
    assert servo.table[4] == 9
    assert ask(1, 9)[4] == 0x40
    assert ask(2, 1) == b""
    uart.write(packet(1, 1)[:-1] + b"\x00")
    advance(5)
    uart.any()
    assert servo.broken == 1
    line.check()


def test_servo_ignores_packets_too_near_each_other():
    for gap_us, ignored in ((800, 1), (1100, 0)):
        line = UartLine(echo=True)
        servo = line.attach(Servo(1, gap_ms=1))
        uart = UART(line, baudrate=115200)
        uart.write(packet(1, 1))
        while uart.any() < 12:
            clock.busy_us(10)
        clock.busy_us(gap_us)
        uart.write(packet(1, 1))
        advance(5)
        uart.any()
        assert servo.ignored == ignored and servo.answers == 2 - ignored


def test_base_node_says_nothing():
    line = UartLine()
    node = line.attach(Node())
    uart = UART(line)
    uart.write(b"abc")
    advance(10)
    assert uart.any() == 0 and node.answers == 0
    try:
        node.complain("no")
    except ProtocolError as error:
        assert str(error) == "Node: no"
    forget()
