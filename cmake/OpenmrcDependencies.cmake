# SPDX-License-Identifier: BSD-3-Clause
# Everything that comes from the distribution, found once. scripts/install-deps installs it.
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(tomlplusplus REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)

# What mrcd serves over HTTP. Of prometheus-cpp its text format only, without its own server.
pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd)
if(NOT MICROHTTPD_FOUND)
  message(STATUS "No libmicrohttpd: mrcd is built without HTTP (libmicrohttpd-dev)")
endif()
pkg_check_modules(PROMETHEUS IMPORTED_TARGET prometheus-cpp-core)
if(NOT PROMETHEUS_FOUND)
  message(STATUS "No prometheus-cpp: mrcd is built without metrics over HTTP (prometheus-cpp-dev)")
endif()
if(MICROHTTPD_FOUND AND PROMETHEUS_FOUND)
  set(OPENMRC_METRICS ON)
endif()

# Mode "xdp": AF_XDP sockets, and a program for the kernel that clang compiles.
pkg_check_modules(LIBXDP IMPORTED_TARGET libxdp)
pkg_check_modules(LIBBPF IMPORTED_TARGET libbpf)
find_program(OPENMRC_BPFTOOL NAMES bpftool HINTS /usr/sbin)
find_program(OPENMRC_BPF_CLANG NAMES clang clang-19 clang-16 clang-14)
if(LIBXDP_FOUND AND LIBBPF_FOUND AND OPENMRC_BPFTOOL AND OPENMRC_BPF_CLANG)
  set(OPENMRC_XDP ON)
else()
  set(OPENMRC_XDP OFF)
  message(STATUS "No libxdp, libbpf, bpftool or clang: built without mode \"xdp\" "
    "(libxdp-dev, libbpf-dev, bpftool, clang)")
endif()

if(BUILD_TESTING)
  # Debian's interpreter, because Debian's Scapy is installed for that one.
  find_program(OPENMRC_PYTHON NAMES python3 HINTS /usr/bin NO_CMAKE_ENVIRONMENT_PATH REQUIRED)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_program(OPENMRC_TSHARK tshark REQUIRED)
endif()
if(OPENMRC_BENCH)
  find_package(benchmark REQUIRED)
  find_program(OPENMRC_VALGRIND valgrind REQUIRED)
endif()
