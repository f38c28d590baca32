# SPDX-License-Identifier: MIT
# CMake's toolchain file for 64-bit Windows, with the compiler of mingw64.ini.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-win32)
