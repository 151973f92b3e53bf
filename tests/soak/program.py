"""The soak as a program: program.py SECONDS SEED ROUNDS. It ends after so much real time, or so many rounds (0: any).

Prints a line now and then, and the figures at the end. The first seed that fails ends it with a traceback, status 1.
"""

import sys
import time

EVERY_S = 20  # a line is printed
ROUNDS_IN_A_WINDOW = 10


def seconds():
    return time.ticks_ms() / 1000 if hasattr(time, "ticks_ms") else time.monotonic()


def main(limit_s, seed, rounds):
    import runner

    runner.choose_tasks("virtual")
    from support import clock

    clock.install()
    import buslock_sim.clock
    import buslock_sim.errors
    from support import loop

    from soak import memory, round

    buslock_sim.clock.use(clock)
    level = memory.Level(ROUNDS_IN_A_WINDOW)
    outcomes = {}
    start = told = seconds()
    done = virtual_ms = 0
    while seconds() - start < limit_s and (not rounds or done < rounds):
        clock.restart()
        began = clock.now()
        complaints = loop.run(lambda: round.run(seed, outcomes))
        virtual_ms += clock.now() - began
        complaints += [str(mistake) for mistake in buslock_sim.errors.forget()]
        if complaints:
            raise AssertionError("seed %d left something behind: %s" % (seed, "; ".join(complaints)))
        try:
            level.look()
        except AssertionError as error:
            raise AssertionError("after seed %d: %s" % (seed, error))
        seed += 1
        done += 1
        if seconds() - told > EVERY_S:
            told = seconds()
            print("  %4.0f s, %d rounds, next seed %d, %d %s" % (told - start, done, seed, level.latest, memory.UNIT))
    total = sum(outcomes.values())
    print(
        "%d rounds, %d operations, %d s of virtual time; memory: %s %s after the first %d rounds, %s after the last"
        % (done, total, virtual_ms // 1000, level.first, memory.UNIT, 3 * ROUNDS_IN_A_WINDOW, level.latest)
    )
    by_kind = {}
    for name, n in outcomes.items():
        kind = name.split(".")[1]
        by_kind[kind] = by_kind.get(kind, 0) + n
    print("  " + ", ".join(["%s %d" % (name, by_kind[name]) for name in sorted(by_kind)]))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
