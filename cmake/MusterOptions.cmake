# Build types and tools: ccache, mold and precompiled headers where they are there.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(MUSTER_FUZZ "build the libFuzzer targets (clang)" OFF)
option(MUSTER_PCH "precompile the standard headers that every file uses" ON)
set(MUSTER_SANITIZE "" CACHE STRING "address,undefined or thread")

set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")
set(CMAKE_C_FLAGS_DEV "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")

# Everything is linked into executables: -fPIE for all, so that all share one precompiled header. A library that is
# loaded at run time by others compiles its own sources with -fPIC.
add_compile_options(-fPIE -Wall -Wextra -Wno-missing-field-initializers $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)

# Each function and table in a section of its own: the linker leaves out what a command does not reach (below), and with it relocations and
# libraries, which each start of a command would pay for.
add_compile_options($<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)

# With optimisation GCC 12 warns of std::string's own copies; the development build shows what is ours.
foreach(false_alarm array-bounds maybe-uninitialized stringop-overflow stringop-overread restrict)
  add_compile_options($<$<CONFIG:Release>:-Wno-${false_alarm}>)
endforeach()

# Objects are the same in every checkout of the same sources, so that a second one builds in seconds.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

# mold links fastest, so it is the linker of development builds. It names libraries that only left out functions need, libm first, and each
# start of a command would load them: releases are linked by lld, which does not.
find_program(MOLD_PROGRAM mold)
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_link_options(-fuse-ld=lld)
elseif(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
elseif(NOT MUSTER_FUZZ)
  # A command is a process per use: no dynamic libstdc++ to load and relocate, and nothing that no code reaches.
  add_link_options(-static-libstdc++ -static-libgcc LINKER:--gc-sections LINKER:--as-needed)
endif()

# Coverage feedback for the fuzzers comes from the libraries under test; clang 19 takes libstdc++ 12's <expected> as is.
if(MUSTER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
