# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: the libraries with a CMake package and pkg-config files, the
# programs, the dissector. Everything may be moved together afterwards; no file knows its prefix.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/OpenMRC")
get_property(libraries GLOBAL PROPERTY OPENMRC_LIBRARIES)
install(TARGETS ${libraries}
  EXPORT OpenMRCTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET tables DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET api DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT OpenMRCTargets NAMESPACE OpenMRC:: DESTINATION "${package_dir}")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/OpenMRCConfig.cmake.in" "${PROJECT_BINARY_DIR}/OpenMRCConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/OpenMRCConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/OpenMRCConfig.cmake"
  "${PROJECT_BINARY_DIR}/OpenMRCConfigVersion.cmake"
  DESTINATION "${package_dir}")

# openmrc_pkgconfig(NAME <library> DESCRIPTION <text> [REQUIRES <packages>...]
#                   [REQUIRES_PRIVATE <packages>...])
#   REQUIRES          what the headers include
#   REQUIRES_PRIVATE  what only the archive needs; pkg-config --static adds it
function(openmrc_pkgconfig)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;DESCRIPTION" "REQUIRES;REQUIRES_PRIVATE")
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE to_prefix)
  list(JOIN arg_REQUIRES ", " requires)
  list(JOIN arg_REQUIRES_PRIVATE ", " requires_private)
  set(file "${PROJECT_BINARY_DIR}/openmrc-${arg_NAME}.pc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/openmrc.pc.in" "${file}" @ONLY)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

openmrc_pkgconfig(NAME base DESCRIPTION "OpenMRC: strong types, time, checks")
openmrc_pkgconfig(NAME wire DESCRIPTION "OpenMRC: the packets of MRC, bytes to records and back"
  REQUIRES "openmrc-base = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE libisal fmt)

openmrc_pkgconfig(NAME fabric DESCRIPTION "OpenMRC: planes, switches, links and paths"
  REQUIRES "openmrc-wire = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE fmt)

openmrc_pkgconfig(NAME softswitch DESCRIPTION "OpenMRC: a switch, without I/O"
  REQUIRES "openmrc-wire = ${PROJECT_VERSION}")

openmrc_pkgconfig(NAME core DESCRIPTION "OpenMRC: the protocol, without I/O"
  REQUIRES "openmrc-wire = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE fmt)

openmrc_pkgconfig(NAME sim DESCRIPTION "OpenMRC: a simulator of whole fabrics"
  REQUIRES "openmrc-core = ${PROJECT_VERSION}" "openmrc-fabric = ${PROJECT_VERSION}"
           "openmrc-softswitch = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE fmt)

openmrc_pkgconfig(NAME datapath DESCRIPTION "OpenMRC: packets in and out of Linux"
  REQUIRES "openmrc-wire = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE fmt)

openmrc_pkgconfig(NAME host DESCRIPTION "OpenMRC: the runtime of a host"
  REQUIRES "openmrc-core = ${PROJECT_VERSION}" "openmrc-datapath = ${PROJECT_VERSION}"
           "openmrc-fabric = ${PROJECT_VERSION}"
  REQUIRES_PRIVATE fmt)

if(TARGET mrc)
  install(TARGETS mrc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# openmrc_install_files(<destination> <files>...): those of them that there are.
function(openmrc_install_files destination)
  foreach(file IN LISTS ARGN)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${destination}")
    endif()
  endforeach()
endfunction()

openmrc_install_files("${CMAKE_INSTALL_DATADIR}/openmrc/wireshark" tools/wireshark/mrc.lua)
# Where `mrc sim list` looks.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/scenarios"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/openmrc")
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man1"
  docs/man/mrc.1 docs/man/mrc-ctl.1 docs/man/mrc-decode.1 docs/man/mrc-doctor.1 docs/man/mrc-fabric.1
  docs/man/mrc-lab.1 docs/man/mrc-perf.1 docs/man/mrc-ping.1 docs/man/mrc-sim.1)
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man5" docs/man/openmrc.toml.5)
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man8" docs/man/mrcd.8)
openmrc_install_files("${CMAKE_INSTALL_DOCDIR}" LICENSE README.md)
