# SPDX-License-Identifier: BSD-3-Clause
# Shared libraries over libopenmrc.so: there is one device and one runtime in a process, whichever of
# them it was asked through.

# openmrc_shared_library(<target> NAME <file name> VERSION <so version> [EXPORTS <version script>]
#                        [FOLDER <below the library folder>] SOURCES <files>...)
function(openmrc_shared_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;VERSION;EXPORTS;FOLDER" "SOURCES")
  add_library(${target} SHARED ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${arg_NAME}
    SOVERSION ${arg_VERSION}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/${arg_FOLDER}"
    BUILD_RPATH_USE_ORIGIN ON
    CXX_VISIBILITY_PRESET default)
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")  # where the loader looks anyway
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN:$ORIGIN/..")
  endif()
  set_property(GLOBAL APPEND PROPERTY OPENMRC_SHARED_LIBRARIES ${target})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target} PRIVATE openmrc_flags)
  # Applications unload plugins while threads of the runtime still run.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  if(NOT OPENMRC_SANITIZE)  # whose runtime comes with the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  if(arg_EXPORTS)
    set(script "${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXPORTS}")
    target_link_options(${target} PRIVATE "-Wl,--version-script=${script}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${arg_FOLDER}")
endfunction()

# openmrc_front(<target>): it sees the headers of libopenmrc.so and links that library, not the
# archives in it: those would bring a second device.
function(openmrc_front target)
  target_include_directories(${target} PRIVATE
    $<TARGET_PROPERTY:openmrc_libmrc,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE openmrc_shared)
endfunction()
