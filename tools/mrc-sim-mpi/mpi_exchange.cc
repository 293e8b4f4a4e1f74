// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc-sim-mpi/mpi_exchange.h"

#include <mpi.h>

#include <limits>
#include <numeric>
#include <stdexcept>

namespace openmrc::tools {
namespace {

// Packets are counted in bytes, and MPI counts with int.
int byte_count(std::size_t packets) {
  const std::size_t bytes = packets * sizeof(sim::RemotePacket);
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::runtime_error(
        "more than 2 GiB of packets between two processes in one window: use more processes");
  }
  return static_cast<int>(bytes);
}

void set_offsets(const std::vector<int>& counts, std::vector<int>& offsets) {
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
}

}  // namespace

// By default MPI ends all processes, with a message, when one of its functions fails.
MpiExchange::MpiExchange(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  int size = 1;
  int own = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  ranks_ = static_cast<std::size_t>(size);
  rank_ = static_cast<std::size_t>(own);
  for (auto* list : {&send_counts_, &send_offsets_, &receive_counts_, &receive_offsets_}) {
    list->resize(ranks_);
  }
}

MpiExchange::~MpiExchange() { MPI_Finalize(); }

void MpiExchange::trade(const std::vector<std::vector<sim::RemotePacket>>& outgoing,
                        std::vector<sim::RemotePacket>& incoming) {
  send_.clear();
  for (std::size_t i = 0; i < ranks_; ++i) {
    send_counts_[i] = byte_count(outgoing[i].size());
    send_.insert(send_.end(), outgoing[i].begin(), outgoing[i].end());
  }
  set_offsets(send_counts_, send_offsets_);
  MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  set_offsets(receive_counts_, receive_offsets_);
  const int bytes = receive_offsets_.back() + receive_counts_.back();
  incoming.resize(static_cast<std::size_t>(bytes) / sizeof(sim::RemotePacket));
  MPI_Alltoallv(send_.data(), send_counts_.data(), send_offsets_.data(), MPI_BYTE, incoming.data(),
                receive_counts_.data(), receive_offsets_.data(), MPI_BYTE, MPI_COMM_WORLD);
}

std::int64_t MpiExchange::least(std::int64_t value) {
  std::int64_t result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return result;
}

std::uint64_t MpiExchange::sum(std::uint64_t value) {
  std::uint64_t result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return result;
}

std::vector<std::string> MpiExchange::gather(const std::string& text) {
  const int own = static_cast<int>(text.size());
  MPI_Gather(&own, 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  set_offsets(receive_counts_, receive_offsets_);
  const bool is_first = rank_ == 0;
  const int all = is_first ? receive_offsets_.back() + receive_counts_.back() : 0;
  std::string joined(static_cast<std::size_t>(all), '\0');
  MPI_Gatherv(text.data(), own, MPI_CHAR, joined.data(), receive_counts_.data(),
              receive_offsets_.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t i = 0; is_first && i < ranks_; ++i) {
    texts.push_back(joined.substr(static_cast<std::size_t>(receive_offsets_[i]),
                                  static_cast<std::size_t>(receive_counts_[i])));
  }
  return texts;
}

}  // namespace openmrc::tools
