// Modules: names of functions and symbols, lifetimes, attributes.
#include "core/module.h"

#include "core/testing/expect_error.h"
#include "core/testing/fake_device.h"

namespace trilane::core {
namespace {

using testing::fake_program;
using testing::FakeMachine;

class ModuleTest : public ::testing::Test {
  protected:
    ModuleTest() {
        machine->kernels["add"] = {};
        machine->kernels["mul"] = {};
        machine->kernels["lowered_k<float>"] = {};
        machine->kernels["absent"] = {};
        machine->globals["table"] = "12345678";
    }
    std::shared_ptr<FakeMachine> machine = std::make_shared<FakeMachine>();
    ContextPtr context = testing::make_fake_context(machine);
};

TEST_F(ModuleTest, FindsFunctions) {
    const ModulePtr module = Module::compile(context, fake_program("add mul"));
    EXPECT_EQ(module->function("add")->name(), "add");
    EXPECT_EQ(module->function_names(), (std::vector<std::string>{"add", "mul"}));
    EXPECT_EQ(module->image().bytes, "add mul");
    EXPECT_EQ(module->context(), context);
}

TEST_F(ModuleTest, FindsNameExpressions) {
    Program program = fake_program("lowered_k<float>");
    program.name_expressions = {"k<float>"};
    const ModulePtr module = Module::compile(context, program);
    EXPECT_EQ(module->function("k<float>")->name(), "lowered_k<float>");
    EXPECT_EQ(module->function("lowered_k<float>"), module->function("k<float>"));
}

TEST_F(ModuleTest, AnUnknownFunctionListsWhatThereIs) {
    const ModulePtr module = Module::compile(context, fake_program("add mul"));
    EXPECT_ERROR(module->function("absent"), NotFound, "got 'absent'", "add, mul", "extern \"C\"");
    const ModulePtr empty = Module::compile(context, fake_program(""));
    EXPECT_ERROR(empty->function("add"), NotFound, "the module has nothing");
}

TEST_F(ModuleTest, OneObjectPerFunctionWhileItIsHeld) {
    const ModulePtr module = Module::compile(context, fake_program("add"));
    FunctionPtr first = module->function("add");
    first->set_attribute(8, 65536);
    EXPECT_EQ(module->function("add"), first);
    EXPECT_EQ(module->function("add")->info().attributes.max_dynamic_shared_bytes, 65536u);
    EXPECT_EQ(first->occupancy(256, 0), 8);
    first.reset();
    EXPECT_NE(module->function("add"), nullptr);
}

TEST_F(ModuleTest, FindsGlobals) {
    const ModulePtr module = Module::compile(context, fake_program("add"));
    EXPECT_EQ(module->global("table").nbytes, 8u);
    EXPECT_ERROR(module->global("nothing"), NotFound, "got 'nothing'", "__constant__");
}

TEST_F(ModuleTest, AFunctionKeepsItsModule) {
    FunctionPtr function = Module::compile(context, fake_program("add"))->function("add");
    EXPECT_EQ(machine->modules.size(), 1u);
    context.reset();
    function.reset();
    EXPECT_TRUE(machine->nothing_alive());
}

TEST_F(ModuleTest, AnImageOfAnotherKindIsRefused) {
    auto image = std::make_shared<Image>();
    image->format = "cubin";
    EXPECT_ERROR(Module::load(context, image), InvalidArgument, "cubin");
    EXPECT_TRUE(machine->modules.empty());
}

TEST_F(ModuleTest, OtherFailuresPassThrough) {
    const ModulePtr module = Module::compile(context, fake_program("add"));
    machine->fail("function", 1);
    EXPECT_ERROR(module->function("add"), DeviceError, "failed as told");
    EXPECT_NE(module->function("add"), nullptr);
    machine->fail("global", 1);
    EXPECT_ERROR(module->global("table"), DeviceError, "failed as told");
}

}  // namespace
}  // namespace trilane::core
