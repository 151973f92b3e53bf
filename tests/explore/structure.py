"""What must be true of the library's own objects after every step, and when all tasks have ended."""


def check_step(world):
    library = world.library
    for task, waiter in library.waitqueue._waiting.items():
        if task.done():
            world.complain("structure: task %d has ended and is still known as waiting", task.number)
        if waiter.task is not task:
            world.complain("structure: task %d waits with the waiter of another", task.number)
    for x in world.watched:
        if isinstance(x, library.Lock):
            _check_line(world, x)
            if x._line and x._holder is None:
                world.complain("structure: a free lock has a line")
        elif isinstance(x, library.LockTable):
            _check_table(world, x)


def _check_line(world, queue):
    library = world.library
    if queue._limit is not None and len(queue._line) > queue._limit:
        world.complain("structure: more wait than max_waiters")
    for waiter in queue._line:
        if waiter.queue is not queue:
            world.complain("structure: a waiter stands in a line and believes to stand in another")
        if waiter.task is None:
            world.complain("structure: a waiter that was granted is still in line")
        if library.waitqueue.waiter_of(waiter.task) is not waiter and (waiter.task.done() or not library.rt.on_its_way(waiter)):
            world.complain("structure: somebody stands in line who does not wait")


def _check_table(world, table):
    library = world.library
    for key, entry in table._entries.items():
        if isinstance(entry, library.table.Entry):
            _check_line(world, entry)
            if entry.key != key:
                world.complain("structure: the line of %r stands at %r", entry.key, key)
            if not entry.holds:
                world.complain("structure: nobody holds %r and it is in the table", key)
            if len(entry.holds) > 1 and not all(hold.shared for hold in entry.holds):
                world.complain("structure: %r has more than one holder", key)
            if entry in table._pool:
                world.complain("structure: the line of %r is in use and in the pool", key)
        elif entry._task is None:
            world.complain("structure: the hold of %r is over and it is in the table", key)
    if table._all is not None and table._entries:
        world.complain("structure: somebody has all of it, and somebody a key")
    for entry in table._pool:
        if entry._line or entry.holds:
            world.complain("structure: a line in the pool is in use")
    gate = table._gate
    if gate is not None:
        _check_line(world, gate)
        if table._shut != (table._all is not None or len(gate._line) > 0):
            world.complain("structure: the gate is %s", "shut for nobody" if table._shut else "open")


def check_rest(world):
    library = world.library
    if library.waitqueue._waiting:
        world.complain("at rest: tasks are still known as waiting")
    for x in world.watched:
        if isinstance(x, library.Lock) and (x.locked() or x.waiters):
            world.complain("at rest: the lock is held")
        if isinstance(x, library.LockTable) and (len(x) or x._shut):
            world.complain("at rest: the table is not empty")
