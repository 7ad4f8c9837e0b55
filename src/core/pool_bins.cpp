// Free pieces of device memory by size: segregated lists with a bitmap of the filled ones.
#include "core/pool_bins.h"

#include <bit>

namespace trilane::core {

size_t Bins::bin_of(size_t nbytes) {
    const size_t units = nbytes / kUnit;
    if (units <= kExact) return units - 1;
    const size_t log = static_cast<size_t>(std::bit_width(units)) - 1;  // >= 7
    return kExact + (log - 7) * 8 + ((units >> (log - 3)) & 7);
}

void Bins::insert(Chunk* chunk) {
    const size_t bin = bin_of(chunk->nbytes);
    Chunk* head = heads_[bin];
    chunk->bin_before = nullptr;
    chunk->bin_after = head;
    if (head != nullptr) head->bin_before = chunk;
    heads_[bin] = chunk;
    filled_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void Bins::remove(Chunk* chunk) {
    const size_t bin = bin_of(chunk->nbytes);
    if (chunk->bin_after != nullptr) chunk->bin_after->bin_before = chunk->bin_before;
    if (chunk->bin_before != nullptr) {
        chunk->bin_before->bin_after = chunk->bin_after;
    } else {
        heads_[bin] = chunk->bin_after;
        if (heads_[bin] == nullptr) filled_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    }
    chunk->bin_before = chunk->bin_after = nullptr;
}

Chunk* Bins::find(size_t nbytes, size_t largest) const {
    size_t bin = bin_of(nbytes);
    while (bin < kBins) {
        const uint64_t word = filled_[bin / 64] >> (bin % 64);
        if (word == 0) {
            bin = (bin / 64 + 1) * 64;
            continue;
        }
        bin += static_cast<size_t>(std::countr_zero(word));
        Chunk* best = nullptr;
        int looked = 0;
        for (Chunk* c = heads_[bin]; c != nullptr && looked < kLookAt; c = c->bin_after, ++looked) {
            if (c->nbytes < nbytes || c->nbytes > largest) continue;
            if (best == nullptr || c->nbytes < best->nbytes) best = c;
            if (best->nbytes == nbytes) return best;
        }
        if (best != nullptr) return best;
        ++bin;
    }
    return nullptr;
}

Chunk* Bins::any() const {
    for (size_t word = 0; word < filled_.size(); ++word)
        if (filled_[word] != 0)
            return heads_[word * 64 + static_cast<size_t>(std::countr_zero(filled_[word]))];
    return nullptr;
}

Chunk* ChunkStore::take() {
    if (free_.empty()) {
        if (free_.capacity() <= chunks_.size())  // so that give_back() never allocates
            free_.reserve(2 * chunks_.size() + 64);
        chunks_.emplace_back();
        return &chunks_.back();
    }
    Chunk* chunk = free_.back();
    free_.pop_back();
    *chunk = Chunk{};
    return chunk;
}

}  // namespace trilane::core
