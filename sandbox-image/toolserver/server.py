"""Takes requests from the host, gives each to what can do it, and sends one result for each."""

from __future__ import annotations

import errno
import importlib
import signal
import sys
from typing import TYPE_CHECKING, Any

import cgroup
import operations
import tree
from command import Command, Order
from frames import BOX_NUMBERS, CANCEL, CREDIT, OPEN, REQUEST, RESULT, STOP, U32
from messages import answer_bytes, parse_request
from privilege import as_command
from running import NO_PROCESS
from spare import MAX_COMMAND, Spare
from watch import Watch
from witness import Witness
from worker import Worker

if TYPE_CHECKING:
    from config import Config
    from frames import Frame
    from link import Link
    from loop import Loop
    from processes import Processes
    from running import Running
    from streams import Streams
    from way_out import WayOut

MOST_COMMANDS = 64
"""At a time; fewer where the box may have few processes, since each needs some."""
WRITING = frozenset({"write", "edit", "process_start"})
"""Requests that are refused where the session may only remove."""
LETTING_OUT = frozenset({"let_out", "expect_link", "take_link"})
FORK_RETRY = 0.05
"""Seconds."""
FORK_TRIES = 100


class Server:
    """One session's server."""

    def __init__(self, loop: Loop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._commands: dict[int, Command] = {}
        self._waiting: dict[int, Command] = {}
        self._workers: dict[int, Worker] = {}
        self._spare: Spare | None = None
        self._witness = Witness(loop, config, wanted=config.exec_record)
        self._latest = 0
        self._most = min(MOST_COMMANDS, (cgroup.pids_limit() or MOST_COMMANDS * 4) // 4)
        self._processes: Processes | None = None
        """Loaded when first used: most sessions have none."""
        self._watch = Watch(loop, config, self._running)
        self._refill_planned = False
        self._streams: Streams | None = None
        self._way_out: WayOut | None = None

    def serve(self, link: Link) -> None:
        """Answer what comes on this link."""
        self._link = link
        self._witness.report_over(link, self._witness_lost)
        self._refill()
        self._loop.after(operations.SOON, operations.load)

    def take(self, frame: Frame) -> None:
        """Act on one message of the host."""
        if frame.kind == STOP:
            self._stop(frame.call)
        elif self._is_streams(frame):
            self._take_for_stream(frame)
        elif frame.kind == REQUEST:
            self._latest = max(self._latest, frame.call)
            request = parse_request(frame.payload)
            if request.get("kind") == "exec":
                self._execute(frame.call, request)
            else:
                self._operate(frame.call, request)
        elif frame.kind == CREDIT and frame.call in self._commands:
            self._commands[frame.call].credit(U32.unpack(frame.payload)[0])
        elif frame.kind == CANCEL and frame.call in self._commands:
            self._commands[frame.call].end("cancelled")
        elif frame.kind == CANCEL and frame.call in self._waiting:
            del self._waiting[frame.call]
            self._answer(frame.call, {"error": "cancelled before it began", "code": "cancelled"})
        elif frame.kind == CANCEL and frame.call in self._workers:
            self._workers[frame.call].end("cancelled")
        elif self._processes is not None and self._processes.holds(frame.call):
            if frame.kind == CREDIT:
                self._processes.credit(frame.call, U32.unpack(frame.payload)[0])
            elif frame.kind == CANCEL:
                self._processes.cancel(frame.call)

    def _is_streams(self, frame: Frame) -> bool:
        if frame.kind == OPEN or frame.call >= BOX_NUMBERS:
            return True
        return self._streams is not None and frame.call in self._streams

    def _take_for_stream(self, frame: Frame) -> None:
        if frame.call < BOX_NUMBERS or frame.kind == OPEN:
            self._latest = max(self._latest, frame.call)
            self._stream_table().take(frame, self._lowest)
        elif self._way_out is not None:
            self._way_out.take(frame)

    def _stop(self, call: int) -> None:
        """End everything that a call started, what outlived it too."""
        for running in self._running():
            if running.number == call:
                running.end("policy", at_once=True)
                return
        among = tree.processes()
        left = tree.members(NO_PROCESS, tree.FIRST_MARK - call, lowest=self._lowest(), among=among)
        tree.send(left, signal.SIGKILL)

    def _running(self) -> list[Running]:
        """Return what has processes, for the watchdog."""
        started = self._processes.running() if self._processes is not None else ()
        opened = self._streams.programs() if self._streams is not None else ()
        return [*self._commands.values(), *started, *opened]

    def _stream_table(self) -> Streams:
        if self._streams is None:
            from streams import Streams  # noqa: PLC0415 - most sessions have none

            self._streams = Streams(
                self._loop, self._config, self._link, watch=self._watch, witness=self._witness
            )
        return self._streams

    def _answer(self, call: int, result: dict[str, Any]) -> None:
        self._witness.settle(call)
        self._link.send(call, RESULT, answer_bytes(result))

    def _execute(self, call: int, request: dict[str, Any]) -> None:
        try:
            order = Order(request, int(request.get("credit", 0)))
        except (KeyError, TypeError, ValueError) as err:
            self._answer(call, {"error": f"exec: {err}", "code": "invalid"})
            return
        problem = _impossible(order)
        if problem:
            self._answer(call, {"error": problem, "code": "invalid"})
            return
        if len(self._commands) + len(self._waiting) >= self._most:
            problem = f"{self._most} commands run already; wait for one to end"
            self._answer(call, {"error": problem, "code": "unavailable"})
            return
        self._waiting[call] = Command(self._loop, self._config, order=order, number=call)
        self._watch.when_counted(lambda: self._begin(call, FORK_TRIES))

    def _begin(self, call: int, tries: int) -> None:
        if call not in self._waiting:
            return
        budget = self._watch.budget
        if budget.closed:
            del self._waiting[call]
            self._answer(call, {"error": budget.refusal, "code": "no_space"})
            return
        try:
            spare = self._take_spare()
            command = self._waiting[call]
            command.full = budget.refusal if budget.full else None
            command.start(spare, self._link, lowest=self._lowest, on_end=self._ended)
        except BrokenPipeError:
            # Whatever ended it while it waited, a sweep or want of memory, was not about this call.
            self._begin_later(call, tries, BlockingIOError(errno.EAGAIN, "the spare had died"))
        except OSError as err:
            self._begin_later(call, tries, err)
        else:
            self._commands[call] = self._waiting.pop(call)
            self._watch.wake()
            self._refill()

    def _take_spare(self) -> Spare:
        if self._watch.budget.full:
            # The one that waits may write.
            return Spare(self._config, witness=self._witness, may_write=False)
        spare, self._spare = self._spare, None
        return spare or Spare(self._config, witness=self._witness)

    def _begin_later(self, call: int, tries: int, err: OSError) -> None:
        if isinstance(err, BlockingIOError) and tries:
            if cgroup.is_crowded():
                self._watch.make_room()
            self._loop.after(FORK_RETRY, lambda: self._begin(call, tries - 1))
            return
        del self._waiting[call]
        reason = f"no process for the command: {(err.strerror or '').lower()}"
        self._answer(call, {"error": reason, "code": "failed"})

    def _ended(self, command: Command, result: dict[str, Any]) -> None:
        del self._commands[command.number]
        self._answer(command.number, result if "error" in result else {"data": result})

    def _lowest(self) -> int:
        return tree.FIRST_MARK - self._latest

    def _refill(self) -> None:
        if self._spare is not None or self._refill_planned:
            return
        try:
            spare = self._spare = Spare(self._config, witness=self._witness)
        except OSError:
            # The box is full; whoever needs the next process makes room.
            return
        self._loop.on_exit(spare.pid, lambda _status: self._spare_died(spare))

    def _spare_died(self, spare: Spare) -> None:
        """Replace it, not at once: what killed it may go on for a while."""
        if self._spare is not spare:
            return
        spare.discard()
        self._spare = None
        if not self._refill_planned:
            self._refill_planned = True
            self._loop.after(FORK_RETRY, self._refill_now)

    def _witness_lost(self) -> None:
        """Let go of the spare: what it starts would be shown to nobody, and so could not start."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.discard()
            self._refill_planned = True
            self._loop.after(FORK_RETRY, self._refill_now)

    def _refill_now(self) -> None:
        self._refill_planned = False
        self._refill()

    def _operate(self, call: int, request: dict[str, Any]) -> None:
        if request.get("kind") in WRITING:
            self._watch.when_counted(lambda: self._operate_within(call, request), writes=True)
        else:
            self._do(call, request)

    def _operate_within(self, call: int, request: dict[str, Any]) -> None:
        budget = self._watch.budget
        if budget.full:
            self._answer(call, {"error": budget.refusal, "code": "no_space"})
        else:
            self._do(call, request)

    def _do(self, call: int, request: dict[str, Any]) -> None:
        try:
            if request.get("kind") == "probe":
                request["exec_record"] = self._witness.problem
            if request.get("kind") == "resolve":
                with as_command(self._config):
                    path = operations.resolve(request["request"], self._config)
                self._answer(call, {"data": {"path": path}})
            elif request.get("kind") in LETTING_OUT:
                self._let_out(call, request)
            elif str(request.get("kind")).startswith("process_"):
                self._use_process(call, request)
            else:
                with as_command(self._config):
                    result = operations.attempt(request, self._config)
                if result is None:
                    self._fork(call, request)
                else:
                    self._answer(call, result)
        # One request must not end the session's server, whatever it trips over.
        except Exception as err:  # noqa: BLE001
            # The traceback module takes longer to load than most of the server.
            sys.__excepthook__(*sys.exc_info())
            self._answer(call, {"error": f"{type(err).__name__}: {err}", "code": "failed"})

    def _let_out(self, call: int, request: dict[str, Any]) -> None:
        if self._way_out is None:
            self._way_out = importlib.import_module("way_out").WayOut(
                self._loop, self._config, on_variables=self._renew_spare
            )
        way_out: WayOut = self._way_out
        self._answer(call, way_out.handle(request, self._link))

    def _renew_spare(self) -> None:
        """Let the one that waits go: it has the variables of before."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.discard()
        self._refill()

    def _use_process(self, call: int, request: dict[str, Any]) -> None:
        if self._processes is None:
            kind = importlib.import_module("processes").Processes
            self._processes = kind(
                self._loop,
                self._config,
                answer=self._answer,
                lowest=self._lowest,
                witness=self._witness,
            )
        processes: Processes = self._processes
        try:
            processes.take(call, request, self._link)
        except BlockingIOError:
            self._watch.make_room()
            processes.take(call, request, self._link)
        self._watch.wake()

    def _fork(self, call: int, request: dict[str, Any]) -> None:
        worker = Worker(self._loop, self._config, call)

        def ended(result: dict[str, Any]) -> None:
            self._workers.pop(call, None)
            self._answer(call, result)

        def work() -> dict[str, Any]:
            return operations.handle(request, self._config)

        try:
            worker.start(work, ended)
        except BlockingIOError:
            self._watch.make_room()
            worker.start(work, ended)
        self._workers[call] = worker


def _impossible(order: Order) -> str | None:
    size = len(order.command)
    if size > MAX_COMMAND:
        return f"command of {size} bytes: the kernel takes {MAX_COMMAND}; write it to a file first"
    return None
