"""machine.UART and busio.UART of the simulator, and the line: times, DE, echo, and the mistakes it reports."""

from buslock_sim import (
    UART,
    BusioUART,
    DigitalInOut,
    Node,
    Pin,
    ProtocolError,
    UartLine,
    UartPort,
    check,
    clock,
    forget,
)
from support.clock import advance
from support.turns import raises as raised

CLOCK = "virtual"
MACHINE_PORTS = ("rp2", "rp2_1_23", "esp32", "stm32", "esp8266", "nrf")
BUSIO_PORTS = ("circuitpython", "blinka")


class Listener(Node):
    """Remembers what it heard, and when; answers a newline with `reply`."""

    def __init__(self, reply=None, delay_ms=1, baudrate=None):
        super().__init__()
        self.heard = bytearray()
        self.ends = []
        self.reply = reply
        self.delay_ms = delay_ms
        self.baudrate = baudrate

    def hear(self, byte, start_us, end_us):
        self.heard.append(byte)
        self.ends.append(end_us)
        if byte == 10 and self.reply is not None:
            self.answer(self.reply, end_us)


def line_with(port="rp2", reply=None, how=None, **settings):
    """A line with a Listener and a UART of 10000 baud: a character takes a millisecond."""
    line = UartLine(**(how or {}))
    node = line.attach(Listener(reply))
    settings.setdefault("baudrate", 10000)
    return line, node, UART(line, port, **settings)


def mistake_made(line):
    """The text of the only violation of the line, which is then forgotten."""
    assert len(line.violations) == 1
    forget()
    return str(line.violations.pop())


def test_characters_take_the_time_of_their_bits():
    for settings, us in (
        ({"baudrate": 9600}, 1042),
        ({"baudrate": 115200}, 87),
        ({"baudrate": 10000, "bits": 7}, 900),
        ({"baudrate": 10000, "parity": 0}, 1100),
        ({"baudrate": 10000, "parity": 1, "stop": 2}, 1200),
    ):
        line, node, uart = line_with(**settings)
        start = clock.now_us()
        assert uart.write(b"ab") == 2
        assert clock.now_us() == start
        uart.flush()
        assert node.ends == [start + us, start + 2 * us]


def test_reply_comes_after_the_request_and_the_delay():
    for port in MACHINE_PORTS:
        line, node, uart = line_with(port, reply=b"xyz")
        uart.write(b"ab\n")
        end = line.last_bit_us()
        advance(1)
        while clock.now_us() < end + 1000 + 1000:
            assert uart.any() == 0
            clock.busy_us(100)
        assert uart.any() == 1
        advance(1)
        assert uart.any() == 2
        advance(5)
        assert uart.read() == b"xyz"
        assert uart.read() is None
        assert node.heard == b"ab\n"
        line.check()


def test_on_the_instant_clock_characters_take_no_time_and_delays_do():
    before = clock.use("instant")
    try:
        line, node, uart = line_with(reply=b"xyz", timeout=100)
        node.delay_ms = 20
        start = clock.now_us()
        uart.write(b"ab\n")
        uart.flush()
        assert node.ends == [node.ends[0]] * 3
        assert uart.read(3) == b"xyz"
        assert clock.now_us() - start >= 20000
    finally:
        clock.use(before)


def test_read_waits_as_long_as_its_timeouts():
    line, _, uart = line_with(reply=b"xyz", timeout=10)
    uart.write(b"\n")
    start = clock.now_us()
    assert uart.read(3) == b"xyz"
    assert clock.now_us() - start == 5000
    start = clock.now_us()
    assert uart.read(1) is None
    assert clock.now_us() - start == 10000
    uart.write(b"\n")
    start = clock.now_us()
    assert uart.read(4) == b"xyz"  # and then not a character within timeout_char
    assert clock.now_us() - start == 5000 + 2000
    uart.write(b"\n")
    start = clock.now_us()
    assert uart.read() == b"xyz"
    assert clock.now_us() - start == 5000 + 2000 + 10000
    uart.init(timeout=0)
    assert uart.read(3) is None
    assert line.idle()


def test_timeout_char_is_at_least_a_character_where_the_port_sees_to_it():
    for port, ms in (("rp2", 2), ("stm32", 3), ("esp32", 0), ("esp8266", 2), ("nrf", 0)):
        _, _, uart = line_with(port)
        assert uart.timeout_char == ms
        uart.init(timeout_char=20)
        assert uart.timeout_char == 20
    line, _, uart = line_with("esp32", timeout=10)
    line.noise(b"xy")
    assert uart.read(2) == b"x"


def test_reads():
    line, _, uart = line_with()
    line.noise(b"one\ntwo\nthree")
    advance(13)
    assert uart.any() == 13
    assert uart.readline() == b"one\n"
    assert uart.readline(2) == b"tw"
    assert uart.read(0) == b""
    buf = bytearray(4)
    assert uart.readinto(buf, 2) == 2
    assert buf == b"o\n\x00\x00"
    assert uart.readinto(memoryview(buf)[1:]) == 3
    assert buf == b"othr"
    assert uart.readline() == b"ee"
    assert uart.readline() is None
    assert uart.readinto(buf) is None
    raised(TypeError, uart.readinto, b"ab")
    raised(TypeError, uart.read, "1")
    raised(MemoryError, uart.read, -2)


def test_writes():
    line, node, uart = line_with()
    assert uart.write(b"") == 0
    assert uart.write("a") == 1
    assert uart.write(bytearray(b"b")) == 1
    raised(TypeError, uart.write, 5)
    uart.flush()
    assert node.heard == b"ab"
    assert line.transcript.steps() == [("write", None, b"a"), ("write", None, b"b")]


def test_flush_and_txdone_are_a_character_early_on_some_ports():
    for port in MACHINE_PORTS:
        line, _, uart = line_with(port)
        start = clock.now_us()
        uart.write(b"abc")
        uart.flush()
        early = port in ("rp2_1_23", "esp8266", "nrf")
        assert clock.now_us() - start == (2000 if early else 3000)
        assert uart.txdone()
        assert line.waiting() == (1 if early else 0)
        advance(5)
        uart.write(b"ab")
        waits = port in ("stm32", "nrf")
        assert uart.txdone() == waits
        clock.busy_us(1000)
        assert uart.txdone() == (early or waits)
        clock.busy_us(1000)
        assert uart.txdone()


def test_stm32_writes_until_the_last_bit_is_out():
    line, node, uart = line_with("stm32")
    start = clock.now_us()
    assert uart.write(b"abc") == 3
    assert clock.now_us() - start == 3000
    assert node.heard == b"abc" and line.waiting() == 0


def test_a_write_that_does_not_fit():
    line, _, uart = line_with("rp2", txbuf=32)
    start = clock.now_us()
    assert uart.write(bytes(100)) == 100  # each character that leaves in time makes room for one more
    assert clock.now_us() - start == 36000 and line.waiting() == 64
    line, _, uart = line_with("rp2", txbuf=32, baudrate=500)
    start = clock.now_us()
    assert uart.write(bytes(100)) == 64
    assert uart.write(bytes(100)) is None
    assert clock.now_us() - start == 2000
    uart.init(timeout=20)
    assert uart.write(bytes(100)) == 100
    # timeout is for the first character that has to wait, timeout_char for the others.
    line, _, uart = line_with("rp2", txbuf=32, baudrate=5000)
    uart.write(bytes(64))
    clock.busy_us(1500)
    assert uart.write(bytes(10)) == 10
    # The others wait as long as it takes.
    line, node, uart = line_with("esp32", txbuf=0)
    start = clock.now_us()
    assert uart.write(bytes(200)) == 200
    assert clock.now_us() - start == 72000
    assert line.waiting() == 128


def test_the_receive_buffer_overruns():
    line, _, uart = line_with("rp2", rxbuf=32)
    line.noise(bytes(range(40)))
    advance(100)
    assert uart.any() == 32
    assert line.overruns == 8
    assert uart.read() == bytes(range(32))
    line.noise(b"x")
    advance(2)
    assert uart.read() == b"x"


def test_init_keeps_what_it_is_not_given():
    line, node, uart = line_with(parity=1, timeout=7)
    uart.init(20000)
    assert (uart.baudrate, uart.parity, uart.timeout) == (20000, 1, 7)
    assert line.char_us == 550
    uart.init(parity=None, stop=2)
    assert line.char_us == 550
    raised(ValueError, uart.init, 0)
    raised(TypeError, uart.init, 20000, flux=1)
    uart.init(tx=4, rx=5)
    for port, kept in (("rp2", b"x"), ("esp32", None)):
        line, _, uart = line_with(port)
        line.noise(b"x")
        advance(2)
        uart.init(timeout=5)
        assert uart.read(1) == kept


def test_deinit():
    for port in MACHINE_PORTS:
        _, node, uart = line_with(port)
        uart.deinit()
        if port == "esp8266":
            assert uart.read() is None
        else:
            for call in (uart.read, uart.any, uart.flush, uart.txdone, lambda: uart.write(b"a")):
                raised(OSError, call)
        uart.init(10000)
        uart.write(b"b")
        uart.flush()
        advance(2)
        assert uart.any() == 0
        assert node.heard == b"b"


def test_baud_rate_of_a_node():
    line, node, uart = line_with()
    node.baudrate = 9600
    uart.write(b"abc")
    advance(10)
    uart.any()
    assert len(node.heard) == 3 and node.heard != b"abc"
    node.say(b"xyz")
    advance(10)
    assert uart.any() == 3 and uart.read() != b"xyz"
    node.baudrate = 10000
    uart.write(b"abc")
    node.say(b"xyz")
    advance(10)
    assert uart.read() == b"xyz"
    assert node.heard[3:] == b"abc"


def test_calls_that_raise():
    line, node, uart = line_with()
    for call in ("write", "any", "read", "flush", "txdone", "init", "deinit"):
        line.fail_call(what=call)
    raised(OSError, uart.write, b"a")
    for call in (uart.any, uart.read, uart.flush, uart.txdone, uart.init, uart.deinit):
        raised(OSError, call)
        call()
    assert node.heard == b""


def test_a_port_of_your_own():
    _, _, uart = line_with(UartPort("odd", early=True, fifo=1))
    assert uart.port.name == "odd"
    raised(TypeError, UartPort, "odd", late=True)
    assert "known are" in str(raised(ValueError, UART, UartLine(), "pico"))
    assert "BusioUART" in str(raised(ValueError, UART, UartLine(), "circuitpython"))
    raised(TypeError, UartLine().attach, object())


# RS-485


def rs485(reply=None, active=1, echo=False):
    line, node, uart = line_with(reply=reply, how={"de": True, "de_active": active, "echo": echo})
    return line, node, uart, Pin(line.de, Pin.OUT, value=1 - active)


def test_de_lets_bytes_out_and_keeps_the_reply_out():
    for active in (1, 0):
        line, node, uart, de = rs485(b"xy", active)
        de(active)
        uart.write(b"a\n")
        uart.flush()
        de(1 - active)
        advance(5)
        assert uart.read() == b"xy"
        assert node.heard == b"a\n"
        line.check()
        assert [step[0] for step in line.transcript.steps()] == ["DE on", "write", "DE off", "reply"]


def test_bytes_without_de_reach_nobody():
    line, node, uart, de = rs485(b"xy")
    uart.write(b"a\n")
    advance(10)
    assert uart.any() == 0
    assert node.heard == b"" and line.lost == 2
    line.check()


def test_bytes_that_arrive_while_de_is_active_are_lost():
    line, _, uart, de = rs485(b"xyz")
    de(1)
    uart.write(b"\n")
    uart.flush()
    clock.busy_us(1000 + 1000 + 500)  # the delay, a character and a half
    de(0)
    advance(5)
    assert uart.read() == b"yz"
    assert line.deaf == 1


def test_de_dropped_before_the_last_bit():
    line, node, uart, de = rs485()
    de(1)
    uart.write(b"abc")
    clock.busy_us(1500)
    raised(ProtocolError, de, 0)
    assert "1500 us before the last bit: 2 bytes are lost" in mistake_made(line)
    advance(5)
    uart.any()
    assert node.heard == b"a" and line.lost == 2
    assert line.de.level() == 0


def test_one_character_more_where_flush_is_early():
    line = UartLine(de=True)
    node = line.attach(Listener())
    uart = UART(line, "esp8266", 10000)
    de = Pin(line.de, Pin.OUT, value=1)
    uart.write(b"ab")
    uart.flush()
    raised(ProtocolError, de, 0)
    assert "1 bytes are lost" in mistake_made(line)
    advance(5)
    de(1)
    uart.write(b"cd")
    uart.flush()
    advance(1)
    de(0)
    assert node.heard == b"acd"
    line.check()


def test_de_raised_in_the_middle_spoils_a_character():
    line, node, uart, de = rs485()
    uart.write(b"abc")
    clock.busy_us(500)
    de(1)
    advance(5)
    de(0)
    assert node.heard == b"bc" and line.lost == 1


def test_de_left_active():
    line, _, _, de = rs485()
    line.check()
    de(1)
    assert "DE was left active" in str(raised(ProtocolError, line.check))
    assert not line.idle() and line.violations == []
    de(0)
    line.check()
    assert line.idle()


def test_de_by_digitalio_and_one_that_raises():
    line, node, uart, _ = rs485()
    de = DigitalInOut(line.de)
    de.switch_to_output(False)
    de.value = True
    uart.write(b"a")
    uart.flush()
    line.fail_call(what="de")
    try:
        de.value = False
        raise AssertionError("it did not raise")
    except OSError:
        pass
    assert line.de.level() == 1
    de.value = False
    line.check()


def test_a_request_on_top_of_a_reply():
    for how in ({"de": True}, {"echo": True}, {}):
        line, node, uart = line_with(reply=b"xyz", how=how)
        if line.de:
            Pin(line.de, Pin.OUT, value=1)
        uart.write(b"\n")
        advance(3)
        raised(ProtocolError, uart.write, b"b")
        said = mistake_made(line)
        assert "on top of the reply of Listener" in said and "to go" in said
        advance(5)
        uart.write(b"b")
        uart.flush()
        assert node.heard == b"\nb"
        assert "on top" not in str(line.violations)


def test_two_at_once_spoil_each_other():
    line, node, uart = line_with(how={"echo": True})
    uart.write(b"abc")
    advance(1)
    node.say(b"xyz", clock.now_us())  # it did not look, as a late reply does not
    advance(10)
    assert uart.any() == 6
    received = uart.read()
    assert received[:1] == b"a" and received[-1:] == b"z"
    assert not [letter for letter in b"bcxy" if letter in received]
    assert node.heard[:1] == b"a" and node.heard != b"abc"
    assert line.collisions > 0
    line, node, uart = line_with()
    uart.write(b"abc")
    node.say(b"xyz")
    advance(10)
    assert uart.read() == b"xyz" and node.heard == b"abc" and line.collisions == 0


# Echo


def test_echo_comes_before_the_reply():
    line, node, uart = line_with(reply=b"xy", how={"echo": True})
    uart.write(b"ab\n")
    advance(2)
    assert uart.any() == 2 and uart.read(2) == b"ab"
    advance(5)
    assert uart.read(3) == b"\nxy"
    line.check()


def test_echo_on_rs485_hears_what_reaches_the_bus():
    line, _, uart, de = rs485(echo=True)
    uart.write(b"a")
    uart.flush()
    de(1)
    uart.write(b"b")
    uart.flush()
    de(0)
    assert uart.read() == b"b"


def test_several_nodes_hear_each_other_on_a_bus():
    line, node, uart = line_with(reply=b"x", how={"echo": True})
    other = line.attach(Listener())
    uart.write(b"\n")
    advance(5)
    uart.any()
    assert other.heard == b"\nx" and node.heard == b"\n"
    line.detach(other)
    uart.write(b"b")
    advance(5)
    uart.any()
    assert other.heard == b"\nx" and node.heard == b"\nb"


def test_mistakes_are_remembered_for_all():
    line, _, uart, de = rs485()
    de(1)
    uart.write(b"a")
    try:
        de(0)
    except ProtocolError:
        pass  # swallowed, as a driver might
    assert "DE dropped" in str(raised(ProtocolError, check))
    check()
    assert "DE dropped" in str(raised(ProtocolError, line.check))


def test_a_chip_of_your_own_that_complains():
    class Prim(Node):
        def hear(self, byte, start_us, end_us):
            if byte > 127:
                self.complain("byte 0x%02x" % byte)

    line = UartLine()
    line.attach(Prim())
    uart = UART(line, baudrate=10000)
    uart.write(b"a\x80")
    advance(3)
    raised(ProtocolError, uart.any)
    assert "Prim: byte 0x80" in mistake_made(line)


# busio


def busio_with(port="circuitpython", reply=None, **settings):
    line = UartLine()
    node = line.attach(Listener(reply))
    settings.setdefault("baudrate", 10000)
    return line, node, BusioUART(line, port=port, **settings)


def test_busio_reads():
    for port in BUSIO_PORTS:
        line, node, uart = busio_with(port, reply=b"one\ntwo", timeout=0.01)
        assert uart.write(b"a\n") == 2
        start = clock.now_us()
        assert uart.readline() == b"one\n"
        assert clock.now_us() - start == 2000 + 1000 + 4000
        buf = bytearray(5)
        assert uart.readinto(buf) == 3
        assert buf == b"two\x00\x00"
        assert uart.readinto(buf) is None
        start = clock.now_us()
        assert uart.read(1) is None
        assert clock.now_us() - start == 10000
        assert node.heard == b"a\n"
        line.check()


def test_busio_read_without_a_number():
    line, _, uart = busio_with(timeout=0.01)
    line.noise(b"abc")
    start = clock.now_us()
    assert uart.read() == b"abc"
    assert clock.now_us() - start == 3000 + 20000
    line, _, uart = busio_with("blinka", timeout=0.01)
    line.noise(b"abc")
    assert uart.read() == b"a"
    advance(5)
    assert uart.read() == b"bc"
    assert uart.read() is None


def test_busio_properties():
    line, _, uart = busio_with(timeout=0)
    line.noise(b"abc")
    assert uart.in_waiting == 0
    advance(3)
    assert uart.in_waiting == 3
    uart.reset_input_buffer()
    assert uart.in_waiting == 0 and uart.read(3) is None
    uart.baudrate = 20000
    assert uart.baudrate == 20000 and line.char_us == 500
    uart.timeout = 0.5
    assert uart.timeout == 0.5
    for name, value, error in (("timeout", 101, ValueError), ("timeout", -1, ValueError), ("baudrate", 0, ValueError)):
        raised(error, setattr, uart, name, value)
    raised(TypeError, uart.write, "str")
    raised(TypeError, uart.readinto, bytearray(3), 2)


def test_busio_write_returns_before_the_last_bit_is_out():
    line, _, uart = busio_with()
    start = clock.now_us()
    assert uart.write(bytes(10)) == 10
    assert clock.now_us() == start and line.waiting() == 10
    uart.write(bytes(40))
    assert clock.now_us() - start == 18000 and line.waiting() == 32
    assert not hasattr(uart, "flush") and not hasattr(uart, "txdone")


def test_busio_buffer_and_pins():
    line, _, uart = busio_with(receiver_buffer_size=4)
    line.noise(b"abcdef")
    advance(10)
    assert uart.in_waiting == 4 and line.overruns == 2
    assert "in use" in str(raised(ValueError, BusioUART, line))
    uart.deinit()
    uart.deinit()
    for call in (uart.read, uart.reset_input_buffer, lambda: uart.write(b"a"), lambda: uart.in_waiting):
        raised(ValueError, call)
    with BusioUART(line, baudrate=10000) as again:
        again.write(b"a")
    raised(ValueError, again.read)
    raised(ValueError, BusioUART, line, receiver_buffer_size=0)
    raised(ValueError, BusioUART, line, baudrate=0)
    raised(ValueError, BusioUART, UartLine(), port="rp2")
    _, _, blinka = busio_with("blinka")
    blinka.deinit()
    raised(AttributeError, blinka.read)
