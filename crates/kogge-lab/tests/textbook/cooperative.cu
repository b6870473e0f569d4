#include <cooperative_groups.h>
using namespace cooperative_groups;
namespace cg = cooperative_groups;

// Hillis and Steele over the whole grid, with grid.sync() between the steps;
// tiles of a warp for the sums of the blocks.
__global__ void grid_scan(double *a, double *b, int n) {
    grid_group grid = this_grid();
    double *src = a, *dst = b;
    for (int d = 1; d < n; d *= 2) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            dst[i] = i >= d ? src[i - d] + src[i] : src[i];
        double *tmp = src; src = dst; dst = tmp;
        cg::sync(grid);
    }
    if (src != a) for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) a[i] = src[i];
}

__global__ void tile_scan(int *x) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int v = x[block.thread_rank()];
    for (int d = 1; d < tile.size(); d *= 2) {
        int left = tile.shfl_up(v, d);
        if (tile.thread_rank() >= d) v += left;
    }
    x[block.thread_rank()] = v + 1000 * tile.meta_group_rank();
    tile.sync();
    block.sync();
}
