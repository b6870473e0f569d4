// The contenders in C++: the standard library's scans, GCC's parallel mode, oneTBB, and two passes.
//
// They are numbered, for each type. All work out of place and in place (input == output), and are
// repeated on this side, so that the cost of crossing over doesn't count.
//
//   g++ -std=c++20 -O3 -march=native -fwrapv -shared -fPIC peers.cpp -o libpeers.so -ltbb

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <execution>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/version.h>

namespace tbb = oneapi::tbb;

namespace {

template <class T> void std_inclusive_scan(const T* x, T* y, std::size_t n) {
    std::inclusive_scan(x, x + n, y);
}

template <class T> void std_partial_sum(const T* x, T* y, std::size_t n) {
    std::partial_sum(x, x + n, y);
}

template <class T> void gcc_par_unseq(const T* x, T* y, std::size_t n) {
    std::inclusive_scan(std::execution::par_unseq, x, x + n, y);
}

template <class T> T scan_range(const T* x, T* y, std::size_t begin, std::size_t end, T sum) {
    for (std::size_t i = begin; i < end; ++i) {
        sum += x[i];
        y[i] = sum;
    }
    return sum;
}

// oneTBB's functional form, with the automatic partitioner and pieces of at least `grain`.
template <class T> void tbb_scan(const T* x, T* y, std::size_t n, std::size_t grain) {
    tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, n, grain), T{},
        [=](const tbb::blocked_range<std::size_t>& range, T sum, bool is_final) {
            if (is_final) {
                return scan_range(x, y, range.begin(), range.end(), sum);
            }
            return std::accumulate(x + range.begin(), x + range.end(), sum);
        },
        std::plus<T>());
}

template <class T> void tbb_parallel_scan(const T* x, T* y, std::size_t n) {
    tbb_scan(x, y, n, 1);
}

template <class T> void tbb_parallel_scan_64ki(const T* x, T* y, std::size_t n) {
    tbb_scan(x, y, n, std::size_t{64} << 10);
}

// The way of ParlayLib: the sum of each block, a scan of the sums, a scan of each block. Blocks of
// 2,000 or so elements there; sequential where there is only one.
template <class T> void two_passes(const T* x, T* y, std::size_t n) {
    constexpr std::size_t block = 2048;
    const std::size_t blocks = (n + block - 1) / block;
    if (blocks <= 1) {
        scan_range(x, y, 0, n, T{});
        return;
    }
    // An array that nobody zeroes first.
    const auto sums = std::make_unique_for_overwrite<T[]>(blocks);
    const auto end = [=](std::size_t b) { return std::min(n, (b + 1) * block); };
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
        sums[b] = std::accumulate(x + b * block, x + end(b), T{});
    });
    std::exclusive_scan(sums.get(), sums.get() + blocks, sums.get(), T{});
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
        scan_range(x, y, b * block, end(b), sums[b]);
    });
}

struct Contender {
    const char* name;
    bool parallel;
    void (*call[6])(const void*, void*, std::size_t);
};

// A contender of one type as one of raw memory.
template <class T, void (*scan)(const T*, T*, std::size_t)>
void erased(const void* x, void* y, std::size_t n) {
    scan(static_cast<const T*>(x), static_cast<T*>(y), n);
}

#define EVERY_TYPE(scan)                                                                          \
    {                                                                                              \
        erased<std::int8_t, scan<std::int8_t>>, erased<std::int16_t, scan<std::int16_t>>,          \
            erased<std::int32_t, scan<std::int32_t>>, erased<std::int64_t, scan<std::int64_t>>,    \
            erased<float, scan<float>>, erased<double, scan<double>>                               \
    }

const Contender contenders[] = {
    {"std::inclusive_scan", false, EVERY_TYPE(std_inclusive_scan)},
    {"std::partial_sum", false, EVERY_TYPE(std_partial_sum)},
    {"GCC inclusive_scan, par_unseq", true, EVERY_TYPE(gcc_par_unseq)},
    {"oneTBB parallel_scan", true, EVERY_TYPE(tbb_parallel_scan)},
    {"oneTBB parallel_scan, 64 Ki", true, EVERY_TYPE(tbb_parallel_scan_64ki)},
    {"C++ in two passes, as ParlayLib", true, EVERY_TYPE(two_passes)},
};

std::unique_ptr<tbb::global_control> limit;

} // namespace

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

extern "C" {

// Sets the threads of oneTBB, and with it of GCC's parallel mode.
void peers_set_threads(std::size_t threads) {
    limit = std::make_unique<tbb::global_control>(
        tbb::global_control::max_allowed_parallelism, threads);
}

std::size_t peers_count() { return std::size(contenders); }

const char* peers_name(std::size_t index) { return contenders[index].name; }

bool peers_parallel(std::size_t index) { return contenders[index].parallel; }

// Types in the order i8, i16, i32, i64, f32, f64.
void peers_call(std::size_t type, std::size_t index, const void* x, void* y, std::size_t n,
                std::size_t calls) {
    const auto call = contenders[index].call[type];
    for (std::size_t i = 0; i < calls; ++i) {
        call(x, y, n);
    }
}

const char* peers_versions() {
    return "g++ " __VERSION__ ", oneTBB " TEXT(TBB_VERSION_MAJOR) "." TEXT(TBB_VERSION_MINOR);
}
}
