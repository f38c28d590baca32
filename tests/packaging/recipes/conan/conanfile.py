# SPDX-License-Identifier: MIT
from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import get


class Cushim(ConanFile):
    name = 'cushim'
    description = 'Loads the CUDA driver at run time: one binary for any driver, or none'
    license = 'MIT'
    package_type = 'library'
    languages = 'C'
    settings = 'os', 'arch', 'compiler', 'build_type'
    options = {'shared': [True, False]}
    default_options = {'shared': False}
    generators = 'CMakeToolchain'

    def layout(self):
        cmake_layout(self, src_folder='src')

    def source(self):
        get(self, **self.conan_data['sources'][self.version], strip_root=True)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        for name, library in ('cushim', 'cushim'), ('cuda', 'cushim_cuda'):
            self.cpp_info.components[name].libs = [library]
            if self.settings.os != 'Windows':
                self.cpp_info.components[name].system_libs = ['pthread', 'dl']
