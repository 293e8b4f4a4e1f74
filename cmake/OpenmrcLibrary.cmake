# SPDX-License-Identifier: BSD-3-Clause
# One folder of openmrc/ is one library: every *.h is its header, every *.cc its source, every
# *_test.cc a part of its test program. Headers named test_*.h are the tests' own. The path in an
# include is the path in the repository and in the installed tree.

# openmrc/layers.txt: the folders from the ground up as OPENMRC_LAYERS, and what each may include as
# OPENMRC_LAYER_<folder>.
set(layers_file "${PROJECT_SOURCE_DIR}/openmrc/layers.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${layers_file}")
file(STRINGS "${layers_file}" layers REGEX "^[a-z]")
set(OPENMRC_LAYERS "")
foreach(line IN LISTS layers)
  string(REGEX MATCH "^([a-z/]+): *(.*)$" _ "${line}")
  list(APPEND OPENMRC_LAYERS ${CMAKE_MATCH_1})
  string(REPLACE " " ";" OPENMRC_LAYER_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# openmrc_layers_below(<folder> <variable>): it and all that it links, directly or not.
function(openmrc_layers_below folder variable)
  set(found ${folder})
  foreach(other IN LISTS OPENMRC_LAYER_${folder})
    openmrc_layers_below(${other} below)
    list(APPEND found ${below})
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# openmrc_library(NAME <folder> [PURE] [HOT] [COMPUTES] [DESCRIPTION <text>] [LINK_PRIVATE <libraries>...]
#                 [EXCEPT <files>...] [TEST_LINK <libraries>...])
#   PURE         it performs no I/O and throws nothing itself: held to the list of forbidden headers
#                and words by scripts/check-purity. Not built with -fno-exceptions: a container that
#                gets no memory throws, and link-time optimisation would take what calls this library
#                for code that cannot see that, and drop its handlers.
#   HOT          it handles every packet, real or simulated: with OPENMRC_LTO it is optimised together
#                with what links it, which for all libraries would double the time of a build.
#   COMPUTES     its tests compute for long.
#                With sanitizers only libraries that are one of the two are optimised.
#   DESCRIPTION  what pkg-config says of it.
#   EXCEPT       sources and tests that another target of the folder is made of.
# What it may include of the project it links; layers.txt says what that is.
function(openmrc_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE;HOT;COMPUTES" "NAME;DESCRIPTION" "LINK_PRIVATE;EXCEPT;TEST_LINK")
  set(target openmrc_${arg_NAME})
  set(here "${CMAKE_CURRENT_SOURCE_DIR}")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${here}/*.h")
  file(GLOB_RECURSE tables CONFIGURE_DEPENDS "${here}/*.def")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${here}/*.cc")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${here}/*_test.cc")
  list(FILTER headers EXCLUDE REGEX "/test_[^/]*$")
  # A source includes its own header first, so compiling it shows that the header stands alone. Only
  # headers without a source need a file that does so.
  set(lone_headers ${headers})
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "\\.cc$" ".h" header "${source}")
    list(REMOVE_ITEM lone_headers "${header}")
  endforeach()
  list(REMOVE_ITEM headers ${lone_headers})
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
    INTERFACE_HEADER_SETS_TO_VERIFY lone_headers)
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers}
    FILE_SET lone_headers TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${lone_headers}
    FILE_SET tables TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${tables})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target}
    PUBLIC ${layers}
    PRIVATE ${arg_LINK_PRIVATE} $<BUILD_INTERFACE:openmrc_flags>)
  if(OPENMRC_LTO AND arg_HOT)
    # Code as well: for tests, and for whoever links an installed archive with another compiler.
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
  elseif(OPENMRC_SANITIZE AND NOT arg_HOT AND NOT arg_COMPUTES)
    # Optimising what sanitizers add takes longer than its tests do.
    target_compile_options(${target} PRIVATE -O0)
  endif()
  # What no header declares is nobody else's.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wmissing-declarations>)
  if(arg_PURE)
    set_property(GLOBAL APPEND PROPERTY OPENMRC_PURE_FOLDERS "${here}")
  endif()
  set_property(GLOBAL APPEND PROPERTY OPENMRC_LIBRARIES ${arg_NAME})
  set_property(GLOBAL PROPERTY OPENMRC_DESCRIPTION_${arg_NAME} "${arg_DESCRIPTION}")
  set_property(GLOBAL PROPERTY OPENMRC_PRIVATE_${arg_NAME} ${arg_LINK_PRIVATE})

  if(BUILD_TESTING AND tests)
    openmrc_test(NAME ${arg_NAME}_test SOURCES ${tests} LINK OpenMRC::${arg_NAME} ${arg_TEST_LINK}
      PRECOMPILE ${headers} ${lone_headers})
  endif()
endfunction()

# openmrc_test(NAME <name> SOURCES <files>... LINK <libraries>... [LABEL <label>] [TIMEOUT <seconds>]
#              [ENVIRONMENT <name=value>] [PRECOMPILE <headers>...])
# A GoogleTest program, each of its cases a test of CTest. Labels: see CONTRIBUTING.md; the default is
# unit, and the target unit_tests builds all programs with that label.
function(openmrc_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LABEL;TIMEOUT;ENVIRONMENT"
    "SOURCES;LINK;PRECOMPILE")
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
  openmrc_link_fast(${arg_NAME})
  openmrc_not_fuzzed(${arg_NAME})
  if(arg_LABEL STREQUAL "unit")
    openmrc_compile_fast(${arg_NAME})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # Those of the library as well: clang then compiles a test in a third of the time. g++ does not.
      if(arg_PRECOMPILE)
        target_precompile_headers(${arg_NAME} PRIVATE ${OPENMRC_TEST_HEADERS} ${arg_PRECOMPILE})
      endif()
    else()
      target_precompile_headers(${arg_NAME} REUSE_FROM openmrc_test_headers)
    endif()
    add_dependencies(unit_tests ${arg_NAME})
  endif()
  gtest_discover_tests(${arg_NAME}
    TEST_PREFIX "${arg_NAME}."
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# Unit tests are compiled more often than they run, and what they test is in the libraries.
function(openmrc_compile_fast target)
  target_compile_options(${target} PRIVATE -O0 -g1)
endfunction()

# What a fuzzer asks is which code of the libraries it reached; the rest need not keep count of it.
function(openmrc_not_fuzzed target)
  if(OPENMRC_SANITIZE MATCHES fuzzer-no-link)
    target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)
  endif()
endfunction()

# Programs with CLI11: most of their code is that of its templates, which runs once. What is fast is in the
# libraries.
function(openmrc_command_line target)
  # With less optimisation g++ 12 warns of its own <expected>.
  target_compile_options(${target} PRIVATE
    $<IF:$<CONFIG:Release>,-Os,-O0> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  openmrc_not_fuzzed(${target})
endfunction()

# What only tests use: linked without optimising all code once more. The archives have code as well.
function(openmrc_link_fast target)
  if(OPENMRC_LTO)
    target_link_options(${target} PRIVATE -fno-lto)
  endif()
endfunction()

# The headers that nearly every test includes, compiled once for all test programs.
set(OPENMRC_TEST_HEADERS <gtest/gtest.h> <algorithm> <array> <functional> <map> <memory> <optional>
  <string> <string_view> <variant> <vector>)
if(BUILD_TESTING)
  add_custom_target(unit_tests)
  add_library(openmrc_test_headers OBJECT "${PROJECT_SOURCE_DIR}/tests/support/precompiled.cc")
  target_link_libraries(openmrc_test_headers PRIVATE openmrc_flags GTest::gtest)
  openmrc_compile_fast(openmrc_test_headers)
  openmrc_not_fuzzed(openmrc_test_headers)
  target_precompile_headers(openmrc_test_headers PRIVATE ${OPENMRC_TEST_HEADERS})
endif()
