// Rows of floats in ascending order, by digits of 8 bits from the lowest on, values alone.
//
// Every row is dealt out by one digit after the other, in tiles.  A tile needs to know where its values of each digit go,
// that is how many the tiles before it hold: it looks back over what these have published, as in "Onesweep"
// (Adinets and Merrill, 2022), so that every pass reads and writes each value once.
//
// Defined from outside: KEY, the bits of a value, unsigned; THREADS of a block, at least 256; ITEMS of a thread;
// BLOCKS that a multiprocessor shall hold.

typedef unsigned int u32;

#define DIGITS 256
#define PASSES ((int)sizeof(KEY))
#define TILE (THREADS * ITEMS)
#define WARPS (THREADS / 32)
#define COPIES 4  // of counters, so that lanes with equal digits seldom wait for each other
#define EVERY 0xffffffffu
#define OWN 0x40000000u    // flags in what tiles publish: the number of values of this tile,
#define SO_FAR 0x80000000u // or of this and all tiles before
#define NUMBER 0x3fffffffu

// Bits whose order as whole numbers is that of the floats, and back.
__device__ __forceinline__ KEY ordered(KEY bits) {
    const KEY top = (KEY)1 << (8 * sizeof(KEY) - 1);
    return bits & top ? ~bits : bits | top;
}

__device__ __forceinline__ KEY as_float(KEY key) {
    const KEY top = (KEY)1 << (8 * sizeof(KEY) - 1);
    return key & top ? key ^ top : ~key;
}

__device__ __forceinline__ u32 digit_of(KEY key, u32 pass) { return (u32)(key >> (8 * pass)) & (DIGITS - 1); }

// Lanes whose number has the same bit here; in assembly, since the compiler takes twice as many instructions.
__device__ __forceinline__ u32 same_bit(u32 number, u32 bit) {
    u32 lanes;
    asm volatile("{ .reg .pred set; and.b32 %0, %1, %2; setp.ne.u32 set, %0, 0;"
        "vote.ballot.sync.b32 %0, set, 0xffffffff; @!set not.b32 %0, %0; }"
        : "=r"(lanes) : "r"(number), "r"(bit));
    return lanes;
}

// The compiler computes this number now and does not know it any more: otherwise it keeps what it is made of,
// or what is made of it, in registers, of which there are too few.
__device__ __forceinline__ void forget(u32 &number) { asm volatile("" : "+r"(number)); }

// How often each digit occurs in a row, of every pass: counts[row][pass][digit].
extern "C" __global__ __launch_bounds__(512) void count_digits(const KEY *rows, int n, int per_block, u32 *counts) {
    __shared__ u32 found[PASSES * DIGITS * COPIES];
    for (int at = threadIdx.x; at < PASSES * DIGITS * COPIES; at += blockDim.x) found[at] = 0;
    __syncthreads();
    const KEY *row = rows + (size_t)blockIdx.y * n;
    const int copy = threadIdx.x % COPIES;
    const int first = blockIdx.x * per_block, stop = min(n, first + per_block);
#pragma unroll 4
    for (int at = first + threadIdx.x; at < stop; at += blockDim.x) {
        const KEY key = ordered(row[at]);
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            atomicAdd(&found[(pass * DIGITS + digit_of(key, pass)) * COPIES + copy], 1);
    }
    __syncthreads();
    for (int at = threadIdx.x; at < PASSES * DIGITS; at += blockDim.x) {
        u32 sum = 0;
#pragma unroll
        for (int c = 0; c < COPIES; c++) sum += found[at * COPIES + c];
        if (sum) atomicAdd(&counts[(size_t)blockIdx.y * PASSES * DIGITS + at], sum);
    }
}

// One pass: values of all rows, tile by tile, to where they belong by one digit, in the order in which they came.
// `ends` adds up the counts of the digits; `published` has a number for every row, tile and digit, 0 at first.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void deal_out(
    const KEY *from, KEY *to, int n, int n_rows, int tiles, u32 pass, const int *counts, const int *ends,
    volatile u32 *published, u32 *tickets
) {
    __shared__ union {
        u32 counts[WARPS][DIGITS];
        KEY keys[TILE];
    } shared;
    __shared__ int start[DIGITS];
    __shared__ u32 sums[DIGITS / 32];
    __shared__ u32 ticket;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

    // Tiles in the order in which blocks begin, so that all that a tile waits for are at work; rows in turn, so
    // that they are far ahead.
    if (thread == 0) ticket = atomicAdd(&tickets[pass], 1);
    for (int at = thread; at < WARPS * DIGITS; at += THREADS) (&shared.counts[0][0])[at] = 0;
    __syncthreads();
    const int row = ticket % n_rows, tile = ticket / n_rows;
    const int begin = tile * TILE, number = min(TILE, n - begin);
    from += (size_t)row * n + begin;
    to += (size_t)row * n;

    // Values past the end are the greatest and the last, and nobody looks at them.
    KEY key[ITEMS];
    const int first = warp * 32 * ITEMS + lane;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int at = first + 32 * i;
        key[i] = at < number ? from[at] : 0;
    }
    if (pass == 0) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) key[i] = ordered(key[i]);
    }
    if (number < TILE) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            if (first + 32 * i >= number) key[i] = ~(KEY)0;
    }

    // Rank among the values of this warp with the same digit.
    u32 rank[ITEMS];
    u32 *mine = shared.counts[warp];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const u32 digit = digit_of(key[i], pass);
        u32 peers = EVERY;
#pragma unroll
        for (int bit = 0; bit < 8; bit++) peers &= same_bit(digit, 1u << bit);
        const u32 before = __popc(peers & ((1u << lane) - 1));
        const u32 known = mine[digit];
        __syncwarp();
        if (before == 0) mine[digit] = known + __popc(peers);
        __syncwarp();
        rank[i] = known + before;
        forget(rank[i]);
    }
    forget(pass);
    __syncthreads();

    // A thread for each digit: how many values of it this tile holds, and where they begin in the tile.
    u32 own = 0, local = 0;
    volatile u32 *shown = published + ((size_t)row * tiles + tile) * DIGITS + thread;
    if (thread < DIGITS) {
#pragma unroll
        for (int w = 0; w < WARPS; w++) own += shared.counts[w][thread];
        *shown = own | (tile ? OWN : SO_FAR);
        u32 sum = own;
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            const u32 other = __shfl_up_sync(EVERY, sum, by);
            if (lane >= by) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        local = sum - own;
    }
    __syncthreads();
    if (thread < DIGITS) {
        for (int w = 0; w < warp; w++) local += sums[w];
        u32 sum = local;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const u32 count = shared.counts[w][thread];
            shared.counts[w][thread] = sum;
            sum += count;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) rank[i] += mine[digit_of(key[i], pass)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) shared.keys[rank[i]] = key[i];

    // How many values of this digit all tiles before hold.
    if (thread < DIGITS) {
        u32 earlier = 0;
        if (tile) {
            volatile u32 *other = shown - DIGITS;
            u32 seen;
            do {
                do seen = *other; while (seen == 0);
                earlier += seen & NUMBER;
                other -= DIGITS;
            } while (!(seen & SO_FAR));
            *shown = (earlier + own) | SO_FAR;
        }
        const size_t at = ((size_t)row * PASSES + pass) * DIGITS + thread;
        start[thread] = ends[at] - counts[at] + (int)earlier - (int)local;
    }
    __syncthreads();
    const bool last = pass == PASSES - 1;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const int at = thread + THREADS * i;
        if (at < number) {
            const KEY found = shared.keys[at];
            to[start[digit_of(found, pass)] + at] = last ? as_float(found) : found;
        }
    }
}
