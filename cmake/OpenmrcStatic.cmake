# SPDX-License-Identifier: BSD-3-Clause
# mrc-static: one file that runs on any Linux of this architecture. It is linked from the objects of
# mrc and the archives below it, so it costs a link and no compilation.
set(OPENMRC_STATIC_LIBRARIES "" CACHE PATH
  "Folder with libfmt.a and libisal.a, made by scripts/static-libraries: adds the target mrc-static")
# In every build, so that it is seen by what looks at all sources.
add_library(mrc_static_lookup OBJECT EXCLUDE_FROM_ALL mrc-static/lookup.cc)
target_link_libraries(mrc_static_lookup PRIVATE openmrc_flags)
if(NOT OPENMRC_STATIC_LIBRARIES)
  return()
endif()

set(archives "")
foreach(library lab agent sim)
  openmrc_layers_below(${library} below)
  list(APPEND archives ${below})
endforeach()
list(REMOVE_DUPLICATES archives)
list(TRANSFORM archives PREPEND openmrc_)

# Not linked as targets: those bring the shared libraries that they were built with.
add_executable(mrc-static EXCLUDE_FROM_ALL
  $<TARGET_OBJECTS:mrc> $<TARGET_OBJECTS:mrc_static_lookup>)
target_link_libraries(mrc-static PRIVATE openmrc_flags)
add_dependencies(mrc-static ${archives})
list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>")
target_link_directories(mrc-static PRIVATE "${OPENMRC_STATIC_LIBRARIES}")
set_target_properties(mrc-static PROPERTIES SKIP_BUILD_RPATH ON)
target_link_libraries(mrc-static PRIVATE
  -Wl,--start-group ${archives} -Wl,--end-group -lfmt -lisal -lcrypto
  $<$<BOOL:${OPENMRC_XDP}>:-lxdp;-lbpf;-lelf;-lz> -pthread)
# The linker warns of getaddrinfo(), whose need for shared libraries lookup.cc takes away.
target_link_options(mrc-static PRIVATE -static-pie -fuse-ld=bfd LINKER:--no-warnings
  $<$<CONFIG:Release>:-s>)
