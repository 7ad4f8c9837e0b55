"""Captures of streams and graphs, through CuPy's face and with kernels of all three."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import trilane.cupy as cp
import trilane.pycuda.driver as drv
from trilane import _core
from trilane.cupy.cuda import runtime
from trilane.cupy.cuda.runtime import CUDARuntimeError
from trilane.testing.child import child_environment

SCALE = """
extern "C" __global__ void scale(float* x, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
"""


@pytest.fixture
def stream():
    made = cp.cuda.Stream(non_blocking=True)
    yield made
    assert not made.is_capturing()
    made.synchronize()


def raises(name: str, cls: type[Exception] = CUDARuntimeError):
    return pytest.raises(cls, match=name)


def used_bytes() -> int:
    gc.collect()
    return cp.get_default_memory_pool().used_bytes()


# --- what CuPy's users write


def test_an_expression_with_temporaries_is_computed_again_from_its_inputs(stream):
    a, b = cp.arange(1000.0), cp.ones(1000)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        out = cp.sqrt(a * a + b) / (1 + cp.abs(a)) - a.sum() * 1e-6
        out[::2] = 0
        graph = stream.end_capture()
    for step in range(5):
        x = np.arange(1000.0) * step - 3
        a.set(x)
        noise = cp.random.random(1000)  # takes what memory is free
        graph.launch(stream)
        stream.synchronize()
        expected = np.sqrt(x * x + 1) / (1 + np.abs(x)) - x.sum() * 1e-6
        expected[::2] = 0
        np.testing.assert_allclose(out.get(), expected, rtol=1e-12)
        assert noise.shape == (1000,)


@pytest.mark.parametrize("upload", [False, True])
def test_a_graph_runs_on_other_streams_and_on_the_current_one(stream, upload):
    x = cp.zeros(10, dtype=np.int64)
    with stream:
        stream.begin_capture()
        x += 1
        graph = stream.end_capture()
    assert x.get().sum() == 0
    other = cp.cuda.Stream()
    if upload:
        graph.upload(other)
    graph.launch(other)
    other.synchronize()
    graph.launch()  # the null stream
    with other:
        if upload:
            graph.upload()
        graph.launch()
    other.synchronize()
    cp.cuda.Stream.null.synchronize()
    assert (x.get() == 3).all()


def test_a_loop_in_place(stream):
    x, y = cp.zeros(64), cp.full(64, 2.0)
    with stream:
        stream.begin_capture()
        x += y
        y *= 0.5
        graph = stream.end_capture()
        for _ in range(20):
            graph.launch()
    stream.synchronize()
    np.testing.assert_allclose(x.get(), 4 - 2.0**-18)


def test_streams_take_part_by_events(stream):
    other = cp.cuda.Stream(non_blocking=True)
    fork, join = cp.cuda.Event(disable_timing=True), cp.cuda.Event(disable_timing=True)
    a = cp.arange(100.0)
    with stream:
        stream.begin_capture()
        left = a * 2
        fork.record()
        other.wait_event(fork)
        assert other.is_capturing()
        with other:
            right = left + 1
            join.record()
        middle = left * 10
        stream.wait_event(join)
        out = right + middle
        graph = stream.end_capture()
    assert not other.is_capturing()
    for factor in (1.0, -3.0):
        a.set(np.arange(100.0) * factor)
        graph.launch(other)
        other.synchronize()
        np.testing.assert_array_equal(out.get(), 22 * np.arange(100.0) * factor + 1)


def test_host_functions_are_called_at_each_launch(stream):
    calls = []
    x = cp.zeros(1)
    with stream:
        stream.begin_capture()
        x += 1
        stream.launch_host_func(calls.append, "a")
        runtime.launchHostFunc(stream.ptr, calls.append, "b")
        with raises("cudaErrorStreamCaptureUnsupported.*launch_host_func"):
            stream.add_callback(lambda *a: None, 0)
        graph = stream.end_capture()
    assert calls == []
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    assert calls == ["a", "b"] * 3


def test_copies_and_fills(stream):
    a, b = cp.arange(6, dtype=np.int32), cp.zeros(6, dtype=np.int32)
    host = drv.pagelocked_empty(6, np.int32)
    with stream:
        stream.begin_capture()
        b.data.copy_from_device_async(a.data, 24, stream)
        runtime.memsetAsync(b.data.ptr, 0, 8, stream.ptr)
        runtime.memcpyAsync(host.ctypes.data, b.data.ptr, 24, 2, stream.ptr)
        graph = stream.end_capture()
    a += 10
    graph.launch(stream)
    stream.synchronize()
    assert host.tolist() == [0, 0, 12, 13, 14, 15]


def test_arrays_made_of_host_data_in_a_capture_hold_it_at_each_launch(stream):
    x = cp.zeros(3)
    values = [1.0, 2.0, 3.0]
    with stream:
        stream.begin_capture()
        part = cp.asarray(values)
        x += part
        part *= 100
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    assert x.get().tolist() == [3.0, 6.0, 9.0]


def test_graphs_are_part_of_captures(stream):
    x = cp.ones(4)
    with stream:
        stream.begin_capture()
        x *= 2
        inner = stream.end_capture()
        stream.begin_capture()
        inner.launch()
        x += 1
        inner.launch(stream)
        outer = stream.end_capture()
    del inner
    gc.collect()
    outer.launch(stream)
    stream.synchronize()
    assert x.get().tolist() == [6.0] * 4


# --- memory


def test_memory_of_a_graph_is_its_own_until_it_is_gone(stream):
    cp.get_default_memory_pool().free_all_blocks()
    a = cp.arange(5000.0)
    before = used_bytes()
    with stream:
        stream.begin_capture()
        out = (a + 1) * (a + 2)
        graph = stream.end_capture()
    del a
    others = [cp.full(5000, np.nan) for _ in range(20)]
    graph.launch(stream)
    stream.synchronize()
    expected = (np.arange(5000.0) + 1) * (np.arange(5000.0) + 2)
    np.testing.assert_array_equal(out.get(), expected)
    assert all(np.isnan(o.get()).all() for o in others)
    del others
    assert used_bytes() > before
    del graph
    np.testing.assert_array_equal(out.get(), expected)
    del out
    assert used_bytes() == before - 79 * 512  # `a` alone


def test_a_graph_that_is_dropped_at_once_after_its_launch(stream):
    for step in range(10):
        x = cp.full(100_000, float(step))
        with stream:
            stream.begin_capture()
            y = x * 2 + 1
            graph = stream.end_capture()
            graph.launch()
        del graph, x
        cp.full(100_000, np.nan)
        stream.synchronize()
        assert (y.get() == 2 * step + 1).all()


def test_a_stream_that_is_dropped_ends_its_capture():
    before = used_bytes()
    stream = cp.cuda.Stream(non_blocking=True)
    x = cp.ones(100)
    with stream:
        stream.begin_capture()
        y = x + 1
    del stream, x, y
    gc.collect()
    assert used_bytes() == before
    cp.cuda.Device().synchronize()


@pytest.mark.cpu_only(reason="the checks of the cpu device")
def test_checked_runs_know_the_memory_of_graphs():
    program = """
import numpy as np
import trilane.cupy as cp
a, stream = cp.arange(1000.0), cp.cuda.Stream(non_blocking=True)
with stream:
    stream.begin_capture()
    out = (a * 2 + 1).sum() + cp.sqrt(a).max()
    graph = stream.end_capture()
a += 1
for _ in range(2):
    graph.launch(stream)
stream.synchronize()
print(float(out))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=child_environment(TRILANE_CHECK="1"),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    x = np.arange(1, 1001.0)
    assert float(done.stdout) == pytest.approx((x * 2 + 1).sum() + np.sqrt(1000))
    assert "freed" not in done.stderr and "out-of-bounds" not in done.stderr


# --- what is refused


def test_the_default_stream_cannot_be_captured():
    for default in (cp.cuda.Stream.null, cp.cuda.Stream(null=True)):
        with pytest.raises(RuntimeError, match="default"):
            default.begin_capture()
    with raises("cudaErrorStreamCaptureUnsupported"):
        runtime.streamBeginCapture(0, runtime.streamCaptureModeRelaxed)
    assert not cp.cuda.Stream.null.is_capturing()


def test_the_null_stream_beside_a_stream_that_it_waits_for():
    stream, x = cp.cuda.Stream(), cp.ones(4)
    with stream:
        stream.begin_capture()
        y = x + 1
        with raises("cudaErrorStreamCaptureImplicit"):
            cp.cuda.Stream.null.is_capturing()
        graph = stream.end_capture()
    graph.launch()
    assert (y.get() == 2).all()
    stream.begin_capture()
    with raises("cudaErrorStreamCaptureImplicit"):
        x + 1
    with raises("cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()
    assert (x + 1).sum() == 8


@pytest.mark.parametrize(
    "wait",
    [
        lambda s, x: s.synchronize(),
        lambda s, x: runtime.streamSynchronize(s.ptr),
        lambda s, x: cp.cuda.Device().synchronize(),
        lambda s, x: runtime.deviceSynchronize(),
        lambda s, x: drv.Context.synchronize(),
    ],
)
def test_waits_lose_the_capture_and_the_stream_goes_on(stream, wait):
    x = cp.arange(3)
    with stream:
        stream.begin_capture()
        y = x + 1
        with pytest.raises((CUDARuntimeError, drv.LogicError), match="capturing"):
            wait(stream, x)
        with raises("cudaErrorStreamCaptureInvalidated"):
            x + 2
        with raises("cudaErrorStreamCaptureInvalidated") as failure:
            stream.end_capture()
        assert failure.value.status == 901
        del y
        assert not stream.is_capturing()
        assert (x + 1).get().tolist() == [1, 2, 3]
        stream.begin_capture()
        z = x * 3
        graph = stream.end_capture()
        graph.launch()
    assert z.get().tolist() == [0, 3, 6]


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.get(),
        lambda x: cp.asnumpy(x),
        lambda x: float(x[0]),
        lambda x: bool((x > 0).all()),
        lambda x: cp.where(x > 0),
        lambda x: x.set(np.ones(5)),
        lambda x: x[x > 0],
    ],
)
def test_reads_by_the_host_are_refused_and_the_capture_goes_on(stream, read):
    x = cp.arange(5.0)
    with stream:
        stream.begin_capture()
        x += 1
        with raises("cudaErrorStreamCaptureUnsupported.* is capturing"):
            read(x)
        graph = stream.end_capture()
        graph.launch()
    stream.synchronize()
    assert x.get().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_random_numbers_are_refused_as_each_launch_would_give_the_same(stream):
    generator = cp.random.default_rng(3)
    with stream:
        stream.begin_capture()
        for draw in (
            lambda: cp.random.random(100),
            lambda: generator.standard_normal(10),
            lambda: cp.random.randint(0, 5, 10),
        ):
            with pytest.raises(NotImplementedError, match="cuRAND"):
                draw()
        stream.end_capture()
        assert cp.random.random(10).shape == (10,)


def test_a_question_whether_it_is_done_loses_the_capture(stream):
    for ask in (lambda: stream.done, lambda: runtime.streamQuery(stream.ptr) == 0):
        stream.begin_capture()
        assert not ask()
        with raises("cudaErrorStreamCaptureInvalidated"):
            stream.end_capture()


def test_wrong_beginnings_and_ends(stream):
    other, event = cp.cuda.Stream(non_blocking=True), cp.cuda.Event()
    with raises("cudaErrorIllegalState"):
        stream.end_capture()
    stream.begin_capture()
    with raises("cudaErrorIllegalState"):
        stream.begin_capture()
    with raises("cudaErrorIllegalState"):
        other.end_capture()
    event.record(stream)
    other.wait_event(event)
    with raises("cudaErrorStreamCaptureUnmatched"):
        other.end_capture()
    with raises("cudaErrorStreamCaptureInvalidated"):
        stream.end_capture()
    assert not other.is_capturing()
    with pytest.raises(_core.InvalidArgumentError, match="mode"):
        stream.begin_capture(7)
    with pytest.raises(NotImplementedError):
        cp.cuda.Graph()


def test_streams_that_are_not_waited_for(stream):
    other, event, x = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.ones(4)
    stream.begin_capture()
    event.record(stream)
    other.wait_event(event)
    with other:
        y = x + 1
    with raises("cudaErrorStreamCaptureUnjoined"):
        stream.end_capture()
    assert not other.is_capturing()
    with other:
        y = x + 2
    assert (y.get() == 3).all()


def test_events_within_and_outside_of_captures(stream):
    inside, outside = cp.cuda.Event(), cp.cuda.Event()
    outside.record(cp.cuda.Stream(non_blocking=True))
    for name, call in (
        ("Isolation", lambda: stream.wait_event(outside)),
        ("CapturedEvent", lambda: inside.done),
        ("CapturedEvent", inside.synchronize),
        ("CapturedEvent", lambda: cp.cuda.get_elapsed_time(outside, inside)),
    ):
        stream.begin_capture()
        inside.record(stream)
        with raises(name):
            call()
        with raises("cudaErrorStreamCaptureInvalidated"):
            stream.end_capture()
    inside.record(stream)
    inside.synchronize()
    assert inside.done


def test_modes_and_threads(stream):
    x = cp.ones(3)
    failures = []

    def end():
        try:
            stream.end_capture()
        except CUDARuntimeError as error:
            failures.append(str(error))

    for mode in (runtime.streamCaptureModeGlobal, runtime.streamCaptureModeThreadLocal):
        with stream:
            stream.begin_capture(mode)
            y = x * 2  # memory may be taken in every mode
            thread = threading.Thread(target=end)
            thread.start()
            thread.join()
            graph = stream.end_capture()
        graph.launch(stream)
        stream.synchronize()
        assert (y.get() == 2).all()
    assert len(failures) == 2
    assert all("cudaErrorStreamCaptureWrongThread" in text for text in failures)
    stream.begin_capture(runtime.streamCaptureModeRelaxed)
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert len(failures) == 2


def test_other_threads_go_on_beside_a_capture(stream):
    results = []

    def work():
        s = cp.cuda.Stream(non_blocking=True)
        with s:
            results.extend(float((cp.arange(1000.0) + i).sum()) for i in range(20))

    x = cp.arange(1000.0)
    thread = threading.Thread(target=work)
    with stream:
        stream.begin_capture()
        thread.start()
        for _ in range(20):
            x = x * 2 - x
        thread.join()
        graph = stream.end_capture()
        graph.launch()
    np.testing.assert_array_equal(x.get(), np.arange(1000.0))
    assert results == [499500.0 + 1000 * i for i in range(20)]


# --- runtime


def test_the_calls_of_the_runtime(stream):
    x = cp.zeros(4)
    assert (runtime.streamCaptureModeGlobal, runtime.streamCaptureModeThreadLocal) == (0, 1)
    assert runtime.streamCaptureModeRelaxed == 2
    with stream:
        runtime.streamBeginCapture(stream.ptr, runtime.streamCaptureModeRelaxed)
        assert runtime.streamIsCapturing(stream.ptr)
        x += 1
        graph = runtime.streamEndCapture(stream.ptr)
    executable = runtime.graphInstantiate(graph)
    runtime.graphDestroy(graph)
    runtime.graphUpload(executable, stream.ptr)
    for _ in range(2):
        runtime.graphLaunch(executable, stream.ptr)
    runtime.graphExecDestroy(executable)
    stream.synchronize()
    assert (x.get() == 2).all()
    for call in (runtime.graphDestroy, runtime.graphExecDestroy, runtime.graphInstantiate):
        with raises("cudaErrorInvalidResourceHandle"):
            call(executable)
    with raises("cudaErrorInvalidResourceHandle"):
        runtime.graphLaunch(executable, stream.ptr)
    with stream:
        stream.begin_capture()
        x += 1
        made = stream.end_capture()
    runtime.graphLaunch(made.graphExec, 0)
    cp.cuda.Stream.null.synchronize()
    assert (x.get() == 3).all()
