# SPDX-License-Identifier: MIT
"""What the tables mean: which driver branch has a CUDA version, and which code runs on which GPU.

A driver is given by the CUDA version that it reports, because all demands are about that version.
"""
from .fatbin import PTX, SASS
from .tables import BRANCHES, GPUS, LATER_ON_LINUX, PTX_VERSIONS, SYMBOLS, WINDOWS_ONLY

# From this major version on, a runtime runs on every driver of its major version (NVIDIA: minor version compatibility).
FIRST_COMPATIBLE_MAJOR = 11
# Nothing demands a driver that is older than the oldest in the table.
OLDEST = min(BRANCHES)


def version_text(version):
    """12030 as "12.3"."""
    return f'{version // 1000}.{version % 1000 // 10}'


def arch_text(arch):
    """89 as "8.9", 120 as "12.0"."""
    return f'{arch // 10}.{arch % 10}'


def branch_of(version):
    """The first driver branch for a CUDA version, or None if it is not known yet."""
    return next((branch for known, branch in BRANCHES.items() if known >= version), None)


def version_of(branch):
    """The CUDA version of a driver branch: that of the newest known branch that is not newer; None below the oldest."""
    return max((version for version, known in BRANCHES.items() if known <= branch), default=None)


def driver_text(version):
    """A driver, for a sentence."""
    branch = branch_of(version)
    if branch is not None:
        return f'driver {branch}'
    return f'a driver for CUDA {version_text(version)}, whose branch is not known'


def symbol_version(name, is_windows):
    """The first driver that exports a name, or None for a name that is not in the list."""
    if name in WINDOWS_ONLY and not is_windows:
        return None
    return SYMBOLS.get(name) if is_windows else LATER_ON_LINUX.get(name, SYMBOLS.get(name))


def runtime_floor(version):
    """The first driver for a release of the CUDA runtime."""
    return version // 1000 * 1000 if version // 1000 >= FIRST_COMPATIBLE_MAJOR else version


def ptx_floor(version):
    """The first driver that compiles a version of PTX, or None if it is newer than the table."""
    if version in PTX_VERSIONS:
        return PTX_VERSIONS[version]
    return OLDEST if version < min(PTX_VERSIONS) else None


def newest_ptx(version):
    """The newest PTX that a driver compiles, as text."""
    return '{}.{}'.format(*max(ptx for ptx, known in PTX_VERSIONS.items() if known <= version))


def is_tegra(arch):
    return arch in GPUS and GPUS[arch][4] == 'tegra'


def judged_gpus(machines):
    """The known GPUs that computers with these processors have: the ones of Jetson only beside arm64."""
    return [arch for arch in GPUS if GPUS[arch][4] != 'unknown' and (not is_tegra(arch) or 'arm64' in machines)]


def gpu_first(arch):
    return max(GPUS[arch][1], OLDEST)


def gpu_last(arch):
    """The last driver branch that supports a GPU, or None."""
    return GPUS[arch][3]


def compilable_until(arch):
    """The last CUDA version that compiles for a GPU, if a newer one does not; otherwise None."""
    return GPUS[arch][2]


def is_compilable(arch, version):
    """Whether a CUDA version compiles for an architecture; True for one that is not in the table."""
    return arch not in GPUS or GPUS[arch][1] <= version <= (compilable_until(arch) or version)


def is_after_last(version, arch):
    """Whether a driver is newer than the last branch that supports a GPU."""
    last, branch = gpu_last(arch), branch_of(version)
    return last is not None and (branch is None or branch > last)


def is_same_family(code_arch, arch):
    return code_arch // 10 == arch // 10 and code_arch <= arch and is_tegra(code_arch) == is_tegra(arch)


def runs_native(code, arch):
    """Whether a GPU executes SASS: within one major version, from its minor version on; on Tegra only its own."""
    if code.kind != SASS:
        return False
    if code.suffix == 'a' or is_tegra(arch):
        return code.arch == arch
    return is_same_family(code.arch, arch)


def runs_compiled(code, arch):
    """Whether a driver can compile PTX for a GPU: for its own architecture and later ones."""
    if code.kind != PTX:
        return False
    if code.suffix == 'a':
        return code.arch == arch
    if code.suffix == 'f':
        return is_same_family(code.arch, arch)
    return code.arch <= arch
