# SPDX-License-Identifier: BSD-3-Clause
# One folder under src/ is one library. A library sees the headers of what it links and of nothing
# else: each has an include root of its own, made at configure time, so that an include which the
# design does not allow is a file that does not exist.

# openmrc_library(NAME <folder> [PURE] [LINK <libraries>...] [LINK_PRIVATE <libraries>...]
#                 HEADERS <files>... [TABLES <files>...] [SOURCES <files>...] [TESTS <files>...])
#   PURE  the library performs no I/O and throws nothing: built without exceptions, and held to the
#         list of forbidden headers by scripts/check-purity.
#   TABLES  files that headers include but that do not compile alone.
function(openmrc_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE" "NAME" "LINK;LINK_PRIVATE;HEADERS;TABLES;SOURCES;TESTS")
  set(target openmrc_${arg_NAME})
  set(root "${PROJECT_BINARY_DIR}/include-roots/${arg_NAME}")
  file(MAKE_DIRECTORY "${root}/openmrc")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/openmrc/${arg_NAME}" SYMBOLIC)
  list(TRANSFORM arg_HEADERS PREPEND "${root}/openmrc/${arg_NAME}/" OUTPUT_VARIABLE headers)
  list(TRANSFORM arg_TABLES PREPEND "${root}/openmrc/${arg_NAME}/" OUTPUT_VARIABLE tables)

  add_library(${target} STATIC ${arg_SOURCES})
  add_library(OpenMRC::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${arg_NAME}
    POSITION_INDEPENDENT_CODE ON
    INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${root}" FILES ${headers}
    FILE_SET tables TYPE HEADERS BASE_DIRS "${root}" FILES ${tables})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target}
    PUBLIC ${arg_LINK}
    PRIVATE ${arg_LINK_PRIVATE} $<BUILD_INTERFACE:openmrc_flags>)
  # What no header declares is nobody else's.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wmissing-declarations>)
  if(arg_PURE)
    target_compile_options(${target} PRIVATE -fno-exceptions)
    set_property(GLOBAL APPEND PROPERTY OPENMRC_PURE_FOLDERS "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  set_property(GLOBAL APPEND PROPERTY OPENMRC_LIBRARIES ${target})

  if(BUILD_TESTING AND arg_TESTS)
    openmrc_test(NAME ${arg_NAME}_test SOURCES ${arg_TESTS} LINK OpenMRC::${arg_NAME})
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
  # Each test has its own kHeader and the like; only libraries and programs are compiled by dozens.
  set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LINK} openmrc_flags GTest::gtest_main)
  gtest_discover_tests(${arg_NAME}
    TEST_PREFIX "${arg_NAME}."
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
