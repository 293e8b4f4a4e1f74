// SPDX-License-Identifier: BSD-3-Clause
// openmrc.torch._gloo: gives PyTorch a device. Its type in Python is the one that torch registered:
// both use the same pybind11 and the same libgloo, or the import says that they do not.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "openmrc/gloo/device.h"

namespace {

namespace py = pybind11;
using openmrc::gloo::Device;

std::shared_ptr<::gloo::transport::Device> open_device(const std::optional<std::string>& file) {
  return Device::open(file);
}

void close_device(const std::shared_ptr<::gloo::transport::Device>& device) {
  if (const auto ours = std::dynamic_pointer_cast<Device>(device)) ours->close();
}

}  // namespace

PYBIND11_MODULE(_gloo, module) {
  py::module_::import("torch.distributed");  // it registers the type
  if (py::detail::get_type_info(typeid(::gloo::transport::Device)) == nullptr) {
    throw py::import_error(
        "this PyTorch was built with another libgloo or pybind11 than OpenMRC: build OpenMRC "
        "against the headers that belong to it");
  }
  module.def("open_device", &open_device, py::arg("file") = py::none(),
             py::call_guard<py::gil_scoped_release>());
  module.def("close_device", &close_device, py::call_guard<py::gil_scoped_release>());
}
