// Bins: insertion, removal and best fit, against a plain search.
#include "core/pool_bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trilane::core {
namespace {

TEST(PoolBins, FindsTheExactSizeAmongSmallOnes) {
    Bins bins;
    std::vector<Chunk> chunks(128);
    for (size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].nbytes = (i + 1) * Bins::kUnit;
        bins.insert(&chunks[i]);
    }
    for (size_t i = 0; i < chunks.size(); ++i)
        EXPECT_EQ(bins.find((i + 1) * Bins::kUnit, SIZE_MAX), &chunks[i]);
    bins.remove(&chunks[4]);
    EXPECT_EQ(bins.find(5 * Bins::kUnit, SIZE_MAX), &chunks[5]);
}

TEST(PoolBins, RespectsTheLargestSize) {
    Bins bins;
    Chunk large;
    large.nbytes = 1 << 20;
    bins.insert(&large);
    EXPECT_EQ(bins.find(512, 1 << 19), nullptr);
    EXPECT_EQ(bins.find(512, 1 << 20), &large);
    EXPECT_EQ(bins.find((1 << 20) + 512, SIZE_MAX), nullptr);
}

TEST(PoolBins, RandomUseKeepsWhatIsThere) {
    std::mt19937_64 random(3);
    Bins bins;
    ChunkStore store;
    std::vector<Chunk*> inside;
    for (int round = 0; round < 20000; ++round) {
        if (inside.empty() || random() % 2 == 0) {
            Chunk* chunk = store.take();
            const int shift = static_cast<int>(random() % 40);
            chunk->nbytes = (1 + random() % (uint64_t{1} << shift)) * Bins::kUnit;
            bins.insert(chunk);
            inside.push_back(chunk);
        } else if (random() % 2 == 0) {
            const size_t i = random() % inside.size();
            bins.remove(inside[i]);
            store.give_back(inside[i]);
            inside[i] = inside.back();
            inside.pop_back();
        } else {
            const size_t wanted = (1 + random() % 1000000) * Bins::kUnit;
            const Chunk* found = bins.find(wanted, SIZE_MAX);
            bool possible = false;
            size_t best = SIZE_MAX;
            for (const Chunk* c : inside)
                if (c->nbytes >= wanted) {
                    possible = true;
                    best = std::min(best, c->nbytes);
                }
            // Within one of the eight steps of a power of two of the best, or a look beyond.
            if (found == nullptr) {
                EXPECT_TRUE(!possible || best < wanted + wanted / 8);
            } else {
                EXPECT_GE(found->nbytes, wanted);
            }
        }
    }
    EXPECT_EQ(bins.empty(), inside.empty());
    for (Chunk* c : inside) bins.remove(c);
    EXPECT_TRUE(bins.empty());
    EXPECT_EQ(bins.any(), nullptr);
}

}  // namespace
}  // namespace trilane::core
