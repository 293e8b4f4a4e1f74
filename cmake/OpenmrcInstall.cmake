# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: the libraries with a CMake package and pkg-config files, the
# programs, the dissector. Everything may be moved together afterwards; no file knows its prefix.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/OpenMRC")
set(c_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/libmrc")
get_property(libraries GLOBAL PROPERTY OPENMRC_LIBRARIES)
list(TRANSFORM libraries PREPEND openmrc_ OUTPUT_VARIABLE library_targets)
install(TARGETS ${library_targets} openmrc
  EXPORT OpenMRCTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET lone_headers DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET tables DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILE_SET api DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# Installed archives hold machine code alone: g++ would compile all of it again in every link.
if(OPENMRC_LTO)
  foreach(library IN LISTS library_targets)
    install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"${CMAKE_OBJCOPY}\"
      -R .gnu.lto_* -R .gnu.debuglto_*
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${library}.a\")")
  endforeach()
endif()
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

# The C interface has a package of its own: its users need none of the archives.
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/libmrc-config.cmake.in" "${PROJECT_BINARY_DIR}/libmrc-config.cmake"
  INSTALL_DESTINATION "${c_package_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/libmrc-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/libmrc-config.cmake"
  "${PROJECT_BINARY_DIR}/libmrc-config-version.cmake"
  DESTINATION "${c_package_dir}")

# openmrc_pkgconfig(<name> DESCRIPTION <text> [LIBS <flags>...] [REQUIRES <packages>...])
# Archives: their users link whatever they use, so nothing is private.
function(openmrc_pkgconfig name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION" "LIBS;REQUIRES")
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE to_prefix)
  list(JOIN arg_REQUIRES ", " requires)
  list(JOIN arg_LIBS " " libs)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/openmrc.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

# What CMake calls a library, as pkg-config calls it.
set(package_fmt::fmt fmt)
set(package_PkgConfig::ISAL libisal)
set(package_PkgConfig::LIBXDP libxdp)
set(package_PkgConfig::LIBBPF libbpf)
set(package_OpenSSL::Crypto libcrypto)
set(package_tomlplusplus::tomlplusplus tomlplusplus)
set(flags_Threads::Threads -pthread)
foreach(library IN LISTS libraries)
  get_property(description GLOBAL PROPERTY OPENMRC_DESCRIPTION_${library})
  get_property(private GLOBAL PROPERTY OPENMRC_PRIVATE_${library})
  set(requires ${OPENMRC_LAYER_${library}})
  list(TRANSFORM requires REPLACE "(.+)" "openmrc-\\1 = ${PROJECT_VERSION}")
  set(flags "")
  foreach(dependency IN LISTS private)
    list(APPEND requires ${package_${dependency}})
    list(APPEND flags ${flags_${dependency}})
  endforeach()
  openmrc_pkgconfig(openmrc-${library}
    DESCRIPTION "OpenMRC: ${description}"
    LIBS -lopenmrc_${library} ${flags}
    REQUIRES ${requires})
endforeach()
openmrc_pkgconfig(openmrc
  DESCRIPTION "${PROJECT_DESCRIPTION}: the C++ interface"
  REQUIRES "openmrc-host = ${PROJECT_VERSION}")

openmrc_pkgconfig(libmrc
  DESCRIPTION "MRC queue pairs: mrc.h"
  LIBS -lmrc
  REQUIRES libibverbs)
openmrc_pkgconfig(libmrc-ctl
  DESCRIPTION "Control of MRC ports and profiles: mrc_ctl.h"
  LIBS -lmrc-ctl
  REQUIRES libmrc)

# All that is installed, and nothing else.
get_property(shared_libraries GLOBAL PROPERTY OPENMRC_SHARED_LIBRARIES)
add_custom_target(installed)
add_dependencies(installed ${library_targets} ${shared_libraries} mrc mrcd)
foreach(module openmrc_torch openmrc_pysim)
  if(TARGET ${module})
    add_dependencies(installed ${module})
  endif()
endforeach()

install(TARGETS mrc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

# openmrc_install_files(<destination> <files>...): those of them that there are.
function(openmrc_install_files destination)
  foreach(file IN LISTS ARGN)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${destination}")
    endif()
  endforeach()
endfunction()

openmrc_install_files("${CMAKE_INSTALL_DATADIR}/openmrc/wireshark" tools/wireshark/mrc.lua)
openmrc_install_files("${CMAKE_INSTALL_DATADIR}/openmrc/firewall" examples/firewall/openmrc.nft)
openmrc_install_files("${CMAKE_INSTALL_DATADIR}/openmrc/fabrics"
  examples/fabrics/parts.toml examples/fabrics/published.toml examples/fabrics/site.toml
  examples/fabrics/small.toml)
# Where `mrc sim list` looks.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/scenarios" "${PROJECT_SOURCE_DIR}/examples/sweeps"
                  "${PROJECT_SOURCE_DIR}/examples/searches" "${PROJECT_SOURCE_DIR}/examples/availability"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/openmrc")
# Where bash-completion, zsh and fish look.
install(FILES "${PROJECT_SOURCE_DIR}/completions/mrc.bash" RENAME mrc
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
openmrc_install_files("${CMAKE_INSTALL_DATADIR}/zsh/site-functions" completions/_mrc)
openmrc_install_files("${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" completions/mrc.fish)
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man1"
  docs/man/mrc.1 docs/man/mrc-config.1 docs/man/mrc-ctl.1 docs/man/mrc-decode.1 docs/man/mrc-doctor.1 docs/man/mrc-fabric.1
  docs/man/mrc-lab.1 docs/man/mrc-map.1 docs/man/mrc-perf.1 docs/man/mrc-ping.1 docs/man/mrc-run.1
  docs/man/mrc-sim.1 docs/man/mrc-top.1)
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man5" docs/man/openmrc.toml.5)
openmrc_install_files("${CMAKE_INSTALL_MANDIR}/man8" docs/man/mrcd.8)
openmrc_install_files("${CMAKE_INSTALL_DOCDIR}" LICENSE README.md)
