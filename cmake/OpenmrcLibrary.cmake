# SPDX-License-Identifier: BSD-3-Clause
# One folder of openmrc/ is one library: every *.h is its header, every *.cc its source, every
# *_test.cc a part of its test program. Headers named test_*.h are the tests' own. The path in an
# include is the path in the repository and in the installed tree.

# openmrc/layers.txt: its folders are OPENMRC_LIBRARY_FOLDERS, what each may include is
# OPENMRC_LAYER_<folder>.
set(layers_file "${PROJECT_SOURCE_DIR}/openmrc/layers.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${layers_file}")
file(STRINGS "${layers_file}" layers REGEX "^[a-z]")
foreach(line IN LISTS layers)
  string(REGEX MATCH "^([a-z/]+): *(.*)$" _ "${line}")
  list(APPEND OPENMRC_LIBRARY_FOLDERS ${CMAKE_MATCH_1})
  string(REPLACE " " ";" OPENMRC_LAYER_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# openmrc_library(NAME <folder> [PURE] [LINK_PRIVATE <libraries>...] [EXCEPT <files>...]
#                 [TEST_LINK <libraries>...])
#   PURE    the library performs no I/O and throws nothing: built without exceptions, and held to the
#           list of forbidden headers by scripts/check-purity.
#   EXCEPT  sources and tests that another target of the folder is made of.
# What it may include of the project it links; layers.txt says what that is.
function(openmrc_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE" "NAME" "LINK_PRIVATE;EXCEPT;TEST_LINK")
  set(target openmrc_${arg_NAME})
  set(here "${CMAKE_CURRENT_SOURCE_DIR}")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${here}/*.h")
  file(GLOB_RECURSE tables CONFIGURE_DEPENDS "${here}/*.def")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${here}/*.cc")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${here}/*_test.cc")
  list(FILTER headers EXCLUDE REGEX "/test_[^/]*$")
  list(TRANSFORM arg_EXCEPT PREPEND "${here}/")
  list(REMOVE_ITEM sources ${tests} ${arg_EXCEPT})
  list(REMOVE_ITEM tests ${arg_EXCEPT})
  set(layers ${OPENMRC_LAYER_${arg_NAME}})
  list(TRANSFORM layers PREPEND "OpenMRC::")

  add_library(${target} STATIC ${sources})
  add_library(OpenMRC::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${arg_NAME}
    POSITION_INDEPENDENT_CODE ON
    INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers}
    FILE_SET tables TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${tables})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target}
    PUBLIC ${layers}
    PRIVATE ${arg_LINK_PRIVATE} $<BUILD_INTERFACE:openmrc_flags>)
  # What no header declares is nobody else's.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wmissing-declarations>)
  if(arg_PURE)
    target_compile_options(${target} PRIVATE -fno-exceptions)
    set_property(GLOBAL APPEND PROPERTY OPENMRC_PURE_FOLDERS "${here}")
  endif()
  set_property(GLOBAL APPEND PROPERTY OPENMRC_LIBRARIES ${target})

  if(BUILD_TESTING AND tests)
    openmrc_test(NAME ${arg_NAME}_test SOURCES ${tests} LINK OpenMRC::${arg_NAME} ${arg_TEST_LINK})
  endif()
endfunction()

# openmrc_test(NAME <name> SOURCES <files>... LINK <libraries>... [LABEL <label>] [TIMEOUT <seconds>]
#              [ENVIRONMENT <name=value>])
# A GoogleTest program, each of its cases a test of CTest. Labels: unit (the default), property,
# conformance.
function(openmrc_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LABEL;TIMEOUT;ENVIRONMENT" "SOURCES;LINK")
  include(GoogleTest)
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  # Each test has its own kHeader and the like.
  set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LINK} openmrc_flags GTest::gtest_main)
  if(arg_LABEL STREQUAL "unit")
    openmrc_compile_fast(${arg_NAME})
    target_precompile_headers(${arg_NAME} REUSE_FROM openmrc_test_headers)
  endif()
  gtest_discover_tests(${arg_NAME}
    TEST_PREFIX "${arg_NAME}."
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# Unit tests are compiled more often than they run, and what they test is in the libraries.
function(openmrc_compile_fast target)
  target_compile_options(${target} PRIVATE -O0 -g1)
endfunction()

# The headers that nearly every test includes, compiled once for all test programs.
if(BUILD_TESTING)
  add_library(openmrc_test_headers OBJECT "${PROJECT_SOURCE_DIR}/tests/support/precompiled.cc")
  target_link_libraries(openmrc_test_headers PRIVATE openmrc_flags GTest::gtest)
  openmrc_compile_fast(openmrc_test_headers)
  target_precompile_headers(openmrc_test_headers PRIVATE
    <gtest/gtest.h> <algorithm> <array> <functional> <map> <memory> <optional> <string> <string_view>
    <variant> <vector>)
endif()
