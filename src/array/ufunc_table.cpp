// Expands the rows of the ufunc table into loops and searches them as NumPy does.
#include "array/ufunc_table.h"

#include <algorithm>
#include <unordered_map>

#include "array/ufunc_rows.h"
#include "core/error.h"

namespace trilane::array {

using core::DType;
using core::ErrorKind;
using core::throw_error;

namespace {

const char* group_members(char letter) {
    switch (letter) {
        case 'J':
            return "bBhHiIqQ";
        case 'R':
            return "eEfd";
        case 'C':
            return "FD";
        default:
            return nullptr;
    }
}

char substitute(char letter, char group, char member) {
    if (letter == group) return member;
    if (letter == 'S') return member == 'F' ? 'f' : 'd';
    return letter;
}

// Bool is written z in the rows: "??" starts a trigraph.
DType type_of_letter(char letter) { return dtype_from_code(letter == 'z' ? '?' : letter); }

// What a row that names a group stands for, one member at a time.
void expand(const LoopRow& row, Ufunc& ufunc, uint32_t& next_id) {
    std::string_view pattern = row.pattern;
    char group = 0;
    for (char letter : pattern)
        if (group_members(letter)) group = letter;
    std::string members = group ? group_members(group) : "-";
    for (char member : members) {
        UfuncLoop loop;
        loop.body = row.body;
        loop.id = next_id++;
        int k = 0;
        ufunc.nin = static_cast<int>(pattern.find('>'));
        for (char letter : pattern)
            if (letter != '>') loop.types[k++] = type_of_letter(substitute(letter, group, member));
        ufunc.nout = k - ufunc.nin;
        ufunc.loops.push_back(loop);
    }
}

struct Table {
    std::vector<Ufunc> ufuncs;
    std::unordered_map<std::string_view, int> by_name;
    std::vector<std::pair<int, int>> by_id;  // loop id -> ufunc, loop
};

Table make_table() {
    Table table;
    uint32_t next_id = 1;
    table.by_id.push_back({-1, -1});
    for (const UfuncRow& row : kUfuncRows) {
        Ufunc ufunc;
        ufunc.name = row.name;
        ufunc.index = static_cast<int>(table.ufuncs.size());
        ufunc.comparison = ufunc.index >= static_cast<int>(Op::Equal) &&
                           ufunc.index <= static_cast<int>(Op::GreaterEqual);
        for (const char* name : kNoBoolLoops) ufunc.refuses_bool |= ufunc.name == name;
        for (const LoopRow& loop : row.loops) expand(loop, ufunc, next_id);
        // Mixed loops of ldexp come out as all of one, then all of the other: order by first type.
        if (ufunc.name == "ldexp")
            std::stable_sort(
                ufunc.loops.begin(), ufunc.loops.end(),
                [](const UfuncLoop& a, const UfuncLoop& b) { return a.types[0] < b.types[0]; });
        for (size_t k = 0; k < ufunc.loops.size(); ++k) {
            if (table.by_id.size() <= ufunc.loops[k].id) table.by_id.resize(ufunc.loops[k].id + 1);
            table.by_id[ufunc.loops[k].id] = {ufunc.index, static_cast<int>(k)};
        }
        ufunc.prepare_search();
        table.ufuncs.push_back(std::move(ufunc));
    }
    for (const Ufunc& ufunc : table.ufuncs) table.by_name[ufunc.name] = ufunc.index;
    return table;
}

const Table& table() {
    static const Table kTable = make_table();
    return kTable;
}

}  // namespace

void Ufunc::prepare_search() {
    size_t slots = 1;
    for (int k = 0; k < nin; ++k) slots *= core::kDTypeCount;
    memo_ = std::make_unique<std::atomic<int16_t>[]>(slots);
    for (size_t i = 0; i < slots; ++i) memo_[i].store(-2, std::memory_order_relaxed);
}

const UfuncLoop* Ufunc::find_loop(const DType* inputs) const {
    size_t slot = 0;
    for (int k = 0; k < nin; ++k) slot = slot * core::kDTypeCount + static_cast<size_t>(inputs[k]);
    int found = memo_[slot].load(std::memory_order_relaxed);
    if (found == -2) [[unlikely]] {
        found = -1;
        bool only_bools = refuses_bool;
        for (int k = 0; k < nin; ++k) only_bools &= inputs[k] == DType::Bool;
        for (size_t i = 0; i < loops.size() && found < 0 && !only_bools; ++i) {
            bool fits = true;
            for (int k = 0; k < nin && fits; ++k) fits = can_cast(inputs[k], loops[i].types[k]);
            if (fits) found = static_cast<int>(i);
        }
        memo_[slot].store(static_cast<int16_t>(found), std::memory_order_relaxed);
    }
    return found < 0 ? nullptr : &loops[found];
}

const UfuncLoop* Ufunc::find_loop_for_output(DType dtype) const {
    // "bb->d" of division comes first in the table, but dtype= means the computation's type.
    for (const UfuncLoop& loop : loops) {
        bool alike = loop.types[nin] == dtype;
        for (int k = 0; k < nin; ++k) alike = alike && loop.types[k] == dtype;
        if (alike) return &loop;
    }
    for (const UfuncLoop& loop : loops)
        if (loop.types[nin] == dtype) return &loop;
    return nullptr;
}

std::string Ufunc::signature(const UfuncLoop& loop) const {
    std::string text;
    for (int k = 0; k < nin + nout; ++k) {
        if (k == nin) text += "->";
        char code = type_code(loop.types[k]);
        text += code == 'q' ? 'l' : code == 'Q' ? 'L' : code;
    }
    return text;
}

std::span<const Ufunc> ufunc_table() { return table().ufuncs; }

const Ufunc* find_ufunc_or_null(std::string_view name) {
    auto found = table().by_name.find(name);
    return found == table().by_name.end() ? nullptr : &table().ufuncs[found->second];
}

const Ufunc& find_ufunc(std::string_view name) {
    const Ufunc* ufunc = find_ufunc_or_null(name);
    if (!ufunc) throw_error(ErrorKind::NotFound, "ufunc: no function has the name '{}'", name);
    return *ufunc;
}

const UfuncLoop& ufunc_loop_by_id(uint32_t id, const Ufunc** owner) {
    TRILANE_CHECK(id > 0 && id < table().by_id.size(), "ufunc loop id {}", id);
    auto [ufunc, loop] = table().by_id[id];
    if (owner) *owner = &table().ufuncs[ufunc];
    return table().ufuncs[ufunc].loops[loop];
}

const Ufunc& ufunc_of(Op op) { return table().ufuncs[static_cast<int>(op)]; }

}  // namespace trilane::array
