"""Scans of Python's libraries for a parent that says, line by line, what to do next.

Questions come on standard input and answers leave on standard output, one JSON object a line. The
parent makes the elements, checks every result and decides whose turn it is.
"""

import importlib
import json
import os
import platform
import sys
import time

# Libraries may print; the parent reads answers alone.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

NAMES = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "f32": "float32", "f64": "float64"}
FLUSHED = 256 << 20


class OnCpu:
    """A call on the shared buffers, or one that allocates its output."""

    def __init__(self, name, threads, call, result=None):
        self.name, self.threads, self.call, self.fetch = name, threads, call, result

    def result(self, output):
        if self.fetch is None:
            self.call()
        else:
            output[:] = self.fetch()

    def time(self, calls):
        call = self.call
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        return time.perf_counter_ns() - start


class OnTorch:
    """PyTorch on a GPU, timed by events, nothing of the buffers left in L2."""

    def __init__(self, name, torch, call, target):
        self.name, self.threads, self.torch, self.call, self.target = name, 1, torch, call, target
        self.flushed = torch.empty(FLUSHED, dtype=torch.uint8, device=target.device)
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def result(self, output):
        self.target.zero_()
        self.call()
        output[:] = self.target.cpu().numpy()

    def time(self, calls):
        total = 0.0
        for i in range(calls):
            self.flushed.fill_(i % 251)
            self.events[0].record()
            self.call()
            self.events[1].record()
            self.events[1].synchronize()
            total += self.events[0].elapsed_time(self.events[1])
        return total * 1e6


class OnCupy:
    """CuPy on a GPU, likewise."""

    def __init__(self, name, cupy, call, target):
        self.name, self.threads, self.cupy, self.call, self.target = name, 1, cupy, call, target
        self.flushed = cupy.empty(FLUSHED, dtype=cupy.uint8)
        self.events = [cupy.cuda.Event() for _ in range(2)]

    def result(self, output):
        self.target.fill(0)
        self.call()
        output[:] = self.target.get()

    def time(self, calls):
        total = 0.0
        for i in range(calls):
            self.flushed.fill(i % 251)
            self.events[0].record()
            self.call()
            self.events[1].record()
            self.events[1].synchronize()
            total += self.cupy.cuda.get_elapsed_time(*self.events)
        return total * 1e6


class Peers:
    def __init__(self):
        self.modules, self.open_now = {}, []
        self.device, self.threads, self.output = None, 1, None

    def hello(self, device, threads):
        self.device, self.threads = device, threads
        wanted = ["numpy", "torch", "polars", "pyarrow.compute"] if device is None else ["numpy", "torch", "cupy"]
        absent = []
        for name in wanted:
            try:
                module = importlib.import_module(name)
                self.prepare(name, module)
                self.modules[name] = module
            except Exception as error:  # a library that is there may still fail to load
                absent.append([name.split(".")[0], str(error) or type(error).__name__])
        if "numpy" not in self.modules:
            absent += [[name, "it needs numpy here"] for name in self.modules]
            self.modules = {}
        versions = [f"Python {platform.python_version()}"]
        for name in self.modules:
            top = sys.modules[name.split(".")[0]]
            versions.append(f"{top.__name__} {top.__version__}")
        return {"versions": versions, "absent": absent}

    def prepare(self, name, module):
        if name == "torch" and self.device is None:
            module.set_num_threads(self.threads)
        elif name == "torch" and not module.cuda.is_available():
            raise RuntimeError("it sees no GPU")
        elif name == "pyarrow.compute":
            import pyarrow

            pyarrow.set_cpu_count(self.threads)
        elif name == "cupy":
            module.cuda.Device(self.device).use()

    def open(self, dtype, shape, axis, run, input, output):
        """The peers that scan this shape: an axis of an array, runs of equal keys, or neither."""
        numpy = self.modules.get("numpy")
        if numpy is None:
            return {"peers": []}
        kind = numpy.dtype(NAMES[dtype])
        x = numpy.memmap(input, kind, "r+", shape=tuple(shape))
        y = self.output = numpy.memmap(output, kind, "r+", shape=tuple(shape))
        x, y = x.view(numpy.ndarray), y.view(numpy.ndarray)
        if self.device is not None:
            found = self.on_gpu(x, axis) if axis is not None else []
        elif run is not None:
            found = self.by_key(x, run)
        elif axis is not None:
            found = self.on_cpu(dtype, x, y, axis)
        else:
            found = []
        self.open_now = list(found)
        return {"peers": [{"name": one.name, "threads": one.threads} for one in self.open_now]}

    def on_cpu(self, dtype, x, y, axis):
        numpy, threads = self.modules["numpy"], self.threads
        yield OnCpu("numpy cumsum", 1, lambda: numpy.cumsum(x, axis=axis, dtype=x.dtype, out=y))
        if torch := self.modules.get("torch"):
            source, target = torch.from_numpy(x), torch.from_numpy(y)
            call = lambda: torch.cumsum(source, axis, dtype=source.dtype, out=target)
            yield OnCpu("PyTorch cumsum", threads, call)
        if dtype == "f16" or x.ndim > 1:
            return
        if polars := self.modules.get("polars"):
            series = polars.Series(x)
            fetch = lambda: series.cum_sum().to_numpy().astype(x.dtype, copy=False)
            yield OnCpu("Polars cum_sum, allocated", threads, lambda: series.cum_sum(), fetch)
        if compute := self.modules.get("pyarrow.compute"):
            import pyarrow

            array = pyarrow.array(x)
            fetch = lambda: compute.cumulative_sum(array).to_numpy()
            yield OnCpu("PyArrow cumulative_sum, allocated", 1, lambda: compute.cumulative_sum(array), fetch)

    def by_key(self, x, run):
        numpy = self.modules["numpy"]
        if polars := self.modules.get("polars"):
            keys = numpy.arange(x.size, dtype=numpy.int64) // run
            frame = polars.DataFrame({"key": keys.astype(numpy.uint32), "value": x})
            over = polars.col("value").cum_sum().over("key")
            fetch = lambda: frame.select(over)["value"].to_numpy().astype(x.dtype, copy=False)
            yield OnCpu("Polars cum_sum over a key, allocated", self.threads, lambda: frame.select(over), fetch)

    def on_gpu(self, x, axis):
        if torch := self.modules.get("torch"):
            device = f"cuda:{self.device}"
            source = torch.from_numpy(x).to(device)
            target = torch.empty_like(source)
            call = lambda: torch.cumsum(source, axis, dtype=source.dtype, out=target)
            yield OnTorch("PyTorch cumsum", torch, call, target)
        if cupy := self.modules.get("cupy"):
            array = cupy.asarray(x)
            output = cupy.empty_like(array)
            call = lambda: cupy.cumsum(array, axis=axis, dtype=array.dtype, out=output)
            yield OnCupy("CuPy cumsum", cupy, call, output)

    def result(self, peer):
        self.output[:] = 0
        self.open_now[peer].result(self.output)
        return {}

    def time(self, peer, calls):
        return {"ns": self.open_now[peer].time(calls)}

    def close(self):
        self.open_now, self.output = [], None
        if self.device is not None:
            if torch := self.modules.get("torch"):
                torch.cuda.empty_cache()
            if cupy := self.modules.get("cupy"):
                cupy.get_default_memory_pool().free_all_blocks()
        return {}


def main():
    peers = Peers()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(peers, question.pop("do"))(**question)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
