// SPDX-License-Identifier: BSD-3-Clause
// openmrc.sim._sim: the simulator for Python. What a run gives crosses the border as text, the same
// that `mrc sim run` writes; python/openmrc/sim makes objects of it.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/pysim/prepare.h"
#include "openmrc/sim/result/measures.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/sim/series/series_csv.h"
#include "openmrc/sim/simulation.h"

namespace {

namespace py = pybind11;
using namespace std::chrono_literals;
using openmrc::pysim::RunArguments;
namespace sim = openmrc::sim;

// Between two questions whether to go on: Ctrl-C is felt at once, and nothing is slower for it.
constexpr auto kBetweenQuestions = 50ms;

// Asks Python now and then whether to go on: the signals that have come, and whoever started the
// run.
class Watch {
 public:
  explicit Watch(const std::function<bool()>& goes_on) : goes_on_(goes_on) {}

  static bool on_progress(void* context, const sim::Progress& /*progress*/) {
    return static_cast<Watch*>(context)->ask();
  }

  // What Python raised; to be called when the run is over, with the interpreter's lock.
  void raise() {
    if (error_) throw py::error_already_set(std::move(*error_));
  }

 private:
  bool ask() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kBetweenQuestions) return true;
    asked_ = now;
    const py::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return !goes_on_ || goes_on_();
    } catch (py::error_already_set& error) {
      error_.emplace(std::move(error));
      return false;
    }
  }

  const std::function<bool()>& goes_on_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::optional<py::error_already_set> error_{};
};

py::dict figures_of(const sim::RunResult& result) {
  py::dict figures;
  const sim::Measured measured = sim::measure(result);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    figures[py::str(std::string(sim::measures()[i].key))] = measured[i];
  }
  return figures;
}

// The result as JSON, its figures, and the series as CSV if there is one.
py::tuple run(const RunArguments& arguments, const std::function<bool()>& goes_on) {
  const auto prepared = openmrc::pysim::prepare(arguments);
  if (!prepared) throw py::value_error(prepared.error());
  Watch watch(goes_on);
  const sim::RunOptions options{
      .threads = prepared->threads, .on_progress = Watch::on_progress, .progress_context = &watch};
  sim::SampledRun sampled;
  {
    const py::gil_scoped_release unlocked;
    if (prepared->series) {
      sampled = sim::run_sampled(prepared->scenario, options, *prepared->series);
    } else {
      sampled.result = sim::run(prepared->scenario, options);
    }
  }
  watch.raise();
  const sim::Origin origin{.program = "openmrc.sim " OPENMRC_VERSION, .inputs = prepared->inputs};
  py::object series = py::none();
  if (prepared->series) series = py::str(sim::write_series_csv(sampled.series));
  return py::make_tuple(sim::write_result_json(sampled.result, &origin), figures_of(sampled.result),
                        series);
}

}  // namespace

PYBIND11_MODULE(_sim, module) {
  py::class_<sim::SeriesRequest>(module, "SeriesRequest")
      .def(py::init<>())
      .def_readwrite("every", &sim::SeriesRequest::every)
      .def_readwrite("hosts", &sim::SeriesRequest::hosts)
      .def_readwrite("links", &sim::SeriesRequest::links);
  py::class_<RunArguments>(module, "RunArguments")
      .def(py::init<>())
      .def_readwrite("name", &RunArguments::name)
      .def_readwrite("text", &RunArguments::text)
      .def_readwrite("read_file", &RunArguments::read_file)
      .def_readwrite("settings", &RunArguments::settings)
      .def_readwrite("seed", &RunArguments::seed)
      .def_readwrite("threads", &RunArguments::threads)
      .def_readwrite("series", &RunArguments::series);
  module.def("run", &run, py::arg("arguments"), py::arg("goes_on") = std::function<bool()>());
}
