# SPDX-License-Identifier: BSD-3-Clause
# What can be chosen at configure time, and the flags that every target of the project is built with.

option(OPENMRC_WERROR "Treat warnings as errors" OFF)
option(OPENMRC_DEBUG_CHECKS "Keep the checks that cost instructions on every packet" OFF)
option(OPENMRC_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(OPENMRC_BENCH "Build the benchmarks" OFF)
option(OPENMRC_LTO "Optimise what handles every packet at link time (needs g++)" OFF)
set(OPENMRC_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them")

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The target all_verify_interface_header_sets compiles headers alone; scripts/lint builds it.
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

# Linking some forty programs and libraries is most of what a small change costs.
find_program(OPENMRC_MOLD mold)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
elseif(OPENMRC_MOLD AND NOT OPENMRC_LTO)
  add_link_options(-fuse-ld=mold)
endif()
if(OPENMRC_LTO)
  # In one part: g++ 12 fails to divide a library some of whose objects have only code.
  add_link_options(-flto=auto -flto-partition=none)
endif()

# Linked privately by every target of ours; never reaches a user of the installed libraries.
add_library(openmrc_flags INTERFACE)
target_compile_features(openmrc_flags INTERFACE cxx_std_23)
target_compile_options(openmrc_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
  -Wcast-align -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wundef -Wimplicit-fallthrough
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  # Takes a source that is compiled with others for a header.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # std::stable_sort of libstdc++ 12 uses what libstdc++ 12 calls deprecated; ibv_reg_mr of rdma-core joins
  # two enumerations; braces may be left out where g++ sees no doubt.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-enum-enum-conversion>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>
  $<$<BOOL:${OPENMRC_WERROR}>:-Werror>
  # Paths in messages start at the project, and builds in two places give the same bytes.
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(OPENMRC_DEBUG_CHECKS)
  target_compile_definitions(openmrc_flags INTERFACE OPENMRC_DEBUG_CHECKS)
endif()

if(OPENMRC_SANITIZE)
  add_compile_options(-fsanitize=${OPENMRC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${OPENMRC_SANITIZE})
  # Compilers differ in how a source can ask which.
  foreach(sanitizer address thread)
    if(OPENMRC_SANITIZE MATCHES ${sanitizer})
      string(TOUPPER ${sanitizer} name)
      add_compile_definitions(OPENMRC_SANITIZE_${name})
    endif()
  endforeach()
  # Its runtime is C++, and programs in C use our libraries.
  add_compile_options(-fno-sanitize=vptr)
  # With sanitizers g++ 12 warns of its own <regex> (GCC bug 105562).
  target_compile_options(openmrc_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

