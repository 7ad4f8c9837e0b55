// Arguments: one table of what may be given for which parameter, and what arrives.
#include "core/pack.h"

#include <cmath>
#include <limits>

#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

Argument number(ArgumentKind kind, int64_t value, uint8_t size = 0) {
    Argument a;
    a.kind = kind;
    a.integer = value;
    a.size = size;
    return a;
}
Argument Int(int64_t value, uint8_t size = 0) { return number(ArgumentKind::Int, value, size); }
Argument UInt(uint64_t value, uint8_t size = 0) {
    return number(ArgumentKind::UInt, static_cast<int64_t>(value), size);
}
Argument Bool(bool value, uint8_t size = 0) { return number(ArgumentKind::Bool, value, size); }
Argument Pointer(uint64_t address) {
    return number(ArgumentKind::Pointer, static_cast<int64_t>(address));
}
Argument Float(double value, uint8_t size = 0) {
    Argument a;
    a.kind = ArgumentKind::Float;
    a.number = value;
    a.size = size;
    return a;
}
Argument Bytes(const void* bytes, uint32_t nbytes) {
    Argument a;
    a.kind = ArgumentKind::Bytes;
    a.bytes = bytes;
    a.nbytes = nbytes;
    return a;
}

FunctionInfo one(const char* c_type, ParameterKind kind, uint32_t size) {
    FunctionInfo info;
    info.name = "f";
    info.parameters_known = true;
    info.parameters = {testing::parameter("x", c_type, kind, size)};
    return info;
}

// The bytes that arrive, as a number; the error's text if it is refused.
template <typename T>
std::string arrives(const FunctionInfo& info, const Argument& given) {
    PackedValue place;
    std::memset(place.bytes, 0xcd, sizeof place.bytes);
    try {
        T value;
        std::memcpy(&value, pack_argument(info, 0, given, place), sizeof value);
        return fmt::format("{}", value);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::TypeMismatch);
        EXPECT_NE(
            error.message().find(fmt::format("argument 1 'x' ({})", info.parameters[0].c_type)),
            std::string::npos)
            << error.message();
        const size_t start = error.message().find(": ") + 2;
        return error.message().substr(start, error.message().find(" of argument") - start);
    }
}

const FunctionInfo kChar = one("signed char", ParameterKind::Int, 1);
const FunctionInfo kInt = one("int", ParameterKind::Int, 4);
const FunctionInfo kUnsigned = one("unsigned int", ParameterKind::UInt, 4);
const FunctionInfo kLong = one("long long", ParameterKind::Int, 8);
const FunctionInfo kSize = one("size_t", ParameterKind::UInt, 8);
const FunctionInfo kFloat = one("float", ParameterKind::Float, 4);
const FunctionInfo kDouble = one("double", ParameterKind::Float, 8);
const FunctionInfo kHalf = one("__half", ParameterKind::Struct, 2);
const FunctionInfo kBool = one("bool", ParameterKind::Bool, 1);
const FunctionInfo kPointer = one("float *", ParameterKind::Pointer, 8);
const FunctionInfo kStruct = one("float3", ParameterKind::Struct, 12);

constexpr const char* kType = "wrong type";
constexpr const char* kWrongSize = "wrong size";
constexpr const char* kRange = "value out of range";
constexpr const char* kExact = "value not exact in the type";

TEST(Pack, IntegersIntoIntegers) {
    EXPECT_EQ(arrives<int>(kInt, Int(-7)), "-7");
    EXPECT_EQ(arrives<int>(kInt, Int(-7, 4)), "-7");
    EXPECT_EQ(arrives<int>(kInt, Int(2147483647)), "2147483647");
    EXPECT_EQ(arrives<int>(kInt, Int(-2147483648LL)), "-2147483648");
    EXPECT_EQ(arrives<int>(kInt, Int(2147483648LL)), kRange);
    EXPECT_EQ(arrives<int>(kInt, Int(-2147483649LL)), kRange);
    EXPECT_EQ(arrives<int>(kInt, Int(7, 8)), kWrongSize);
    EXPECT_EQ(arrives<int>(kInt, Int(7, 2)), kWrongSize);
    EXPECT_EQ(arrives<int>(kInt, UInt(7, 4)), "7");
    EXPECT_EQ(arrives<int8_t>(kChar, Int(-128)), "-128");
    EXPECT_EQ(arrives<int8_t>(kChar, Int(128)), kRange);
    EXPECT_EQ(arrives<unsigned>(kUnsigned, Int(4294967295LL)), "4294967295");
    EXPECT_EQ(arrives<unsigned>(kUnsigned, Int(4294967296LL)), kRange);
    EXPECT_EQ(arrives<unsigned>(kUnsigned, Int(-1)), kRange);
    EXPECT_EQ(arrives<unsigned>(kUnsigned, Int(5, 4)), "5");
    EXPECT_EQ(arrives<int64_t>(kLong, Int(INT64_MIN)), "-9223372036854775808");
    EXPECT_EQ(arrives<int64_t>(kLong, UInt(1ull << 63)), kRange);
    EXPECT_EQ(arrives<uint64_t>(kSize, UInt(UINT64_MAX)), "18446744073709551615");
    EXPECT_EQ(arrives<uint64_t>(kSize, Int(-1)), kRange);
    EXPECT_EQ(arrives<int>(kInt, Bool(true)), "1");
    EXPECT_EQ(arrives<int>(kInt, Bool(true, 1)), kWrongSize);
    EXPECT_EQ(arrives<int8_t>(kChar, Bool(true, 1)), "1");
}

TEST(Pack, FloatsIntoIntegersOnlyWhole) {
    EXPECT_EQ(arrives<int>(kInt, Float(200.0)), "200");
    EXPECT_EQ(arrives<int>(kInt, Float(0.5)), kType);
    EXPECT_EQ(arrives<int>(kInt, Float(1e10)), kRange);
    EXPECT_EQ(arrives<int>(kInt, Float(200.0, 4)), kType);
    EXPECT_EQ(arrives<int>(kInt, Float(NAN)), kType);
    EXPECT_EQ(arrives<int>(kInt, Float(INFINITY)), kType);
    EXPECT_EQ(arrives<unsigned>(kUnsigned, Float(-1.0)), kRange);
    EXPECT_EQ(arrives<int64_t>(kLong, Float(9223372036854775808.0)), kType);
}

TEST(Pack, FloatsIntoFloats) {
    EXPECT_EQ(arrives<float>(kFloat, Float(0.1)), "0.1");  // a Python float always goes
    EXPECT_EQ(arrives<float>(kFloat, Float(0.5, 4)), "0.5");
    EXPECT_EQ(arrives<float>(kFloat, Float(0.5, 8)), kWrongSize);
    EXPECT_EQ(arrives<float>(kFloat, Float(1e300)), "inf");
    EXPECT_EQ(arrives<double>(kDouble, Float(0.1)), "0.1");
    EXPECT_EQ(arrives<double>(kDouble, Float(0.5, 4)), kWrongSize);
    EXPECT_EQ(arrives<uint16_t>(kHalf, Float(1.0)), "15360");
    EXPECT_EQ(arrives<uint16_t>(kHalf, Float(-2.0, 2)), "49152");
    EXPECT_EQ(arrives<uint16_t>(kHalf, Float(1.0, 4)), kWrongSize);
}

TEST(Pack, IntegersIntoFloatsOnlyExact) {
    EXPECT_EQ(arrives<float>(kFloat, Int(-3)), "-3");
    EXPECT_EQ(arrives<float>(kFloat, Int(16777216)), "16777216");
    EXPECT_EQ(arrives<float>(kFloat, Int(16777217)), kExact);
    EXPECT_EQ(arrives<float>(kFloat, Int(1ll << 62)), "4.611686e+18");
    EXPECT_EQ(arrives<float>(kFloat, Int(INT64_MIN)), "-9.223372e+18");
    EXPECT_EQ(arrives<double>(kDouble, Int((1ll << 53) + 1)), kExact);
    EXPECT_EQ(arrives<float>(kFloat, Int(3, 4)), kType);
    EXPECT_EQ(arrives<float>(kFloat, Bool(true)), "1");
    EXPECT_EQ(arrives<uint16_t>(kHalf, Int(2048)), "26624");
    EXPECT_EQ(arrives<uint16_t>(kHalf, Int(2049)), kExact);
    EXPECT_EQ(arrives<uint16_t>(kHalf, Int(65536)), kExact);
}

TEST(Pack, Bools) {
    EXPECT_EQ(arrives<uint8_t>(kBool, Bool(true)), "1");
    EXPECT_EQ(arrives<uint8_t>(kBool, Bool(false, 1)), "0");
    EXPECT_EQ(arrives<uint8_t>(kBool, Int(1)), "1");
    EXPECT_EQ(arrives<uint8_t>(kBool, Int(2)), kType);
    EXPECT_EQ(arrives<uint8_t>(kBool, Int(-1)), kType);
    EXPECT_EQ(arrives<uint8_t>(kBool, Int(1, 4)), kType);
    EXPECT_EQ(arrives<uint8_t>(kBool, Float(1.0)), kType);
}

TEST(Pack, Pointers) {
    EXPECT_EQ(arrives<uint64_t>(kPointer, Pointer(4096)), "4096");
    EXPECT_EQ(arrives<uint64_t>(kPointer, Int(4096)), "4096");
    EXPECT_EQ(arrives<uint64_t>(kPointer, UInt(1ull << 63)), "9223372036854775808");
    EXPECT_EQ(arrives<uint64_t>(kPointer, Int(-1)), kRange);
    EXPECT_EQ(arrives<uint64_t>(kPointer, Int(4096, 4)), kWrongSize);
    EXPECT_EQ(arrives<uint64_t>(kPointer, Float(4096.0)), kType);
    EXPECT_EQ(arrives<uint64_t>(kPointer, Bool(true)), kType);
    EXPECT_EQ(arrives<uint64_t>(kSize, Pointer(4096)), "4096");
    EXPECT_EQ(arrives<int>(kInt, Pointer(4096)), kType);
    EXPECT_EQ(arrives<double>(kDouble, Pointer(4096)), kType);
}

TEST(Pack, Structs) {
    const float bytes[3] = {1, 2, 3};
    PackedValue place;
    EXPECT_EQ(pack_argument(kStruct, 0, Bytes(bytes, 12), place), bytes);  // not copied
    EXPECT_EQ(arrives<float>(kStruct, Bytes(bytes, 8)), kWrongSize);
    EXPECT_EQ(arrives<float>(kFloat, Bytes(bytes, 4)), kType);
    EXPECT_EQ(arrives<float>(kStruct, Int(1)), kType);
    EXPECT_EQ(arrives<float>(kStruct, Float(1)), kType);
    EXPECT_EQ(arrives<float>(kStruct, Pointer(1)), kType);
}

TEST(Pack, WideIntegersAreExtended) {
    const FunctionInfo wide = one("__int128", ParameterKind::Int, 16);
    PackedValue place;
    __int128 value = 0;
    std::memcpy(&value, pack_argument(wide, 0, Int(-5), place), 16);
    EXPECT_TRUE(value == -5);
    std::memcpy(&value, pack_argument(wide, 0, Int(5), place), 16);
    EXPECT_TRUE(value == 5);
}

TEST(Pack, TheMessageSaysEverything) {
    FunctionInfo info = one("float *", ParameterKind::Pointer, 8);
    info.parameters.push_back(testing::parameter("n", "int", ParameterKind::Int, 4));
    Argument given = Float(1.5, 8);
    given.given = "numpy.float64";
    PackedValue place;
    EXPECT_ERROR(pack_argument(info, 1, given, place), TypeMismatch,
                 "launch of f: wrong type of argument 2 'n' (int): got numpy.float64 1.5, expected "
                 "numpy.int32 or a Python int that fits: f(float *x, int n)");
}

}  // namespace
}  // namespace trilane::core
