# SPDX-License-Identifier: MIT
# Gives the targets cushim::cushim and cushim::cuda, found through pkg-config's files so that the properties of
# the libraries stand once.
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
set(_cushim_path "$ENV{PKG_CONFIG_PATH}")
set(ENV{PKG_CONFIG_PATH} "${CMAKE_CURRENT_LIST_DIR}/../../pkgconfig:$ENV{PKG_CONFIG_PATH}")
pkg_check_modules(cushim REQUIRED QUIET IMPORTED_TARGET GLOBAL cushim)
pkg_check_modules(cushim_cuda REQUIRED QUIET IMPORTED_TARGET GLOBAL cushim-cuda)
set(ENV{PKG_CONFIG_PATH} "${_cushim_path}")
unset(_cushim_path)
if(NOT TARGET cushim::cushim)
  add_library(cushim::cushim ALIAS PkgConfig::cushim)
  add_library(cushim::cuda ALIAS PkgConfig::cushim_cuda)
endif()
