"""Conan 2 recipe of heed; docs/releasing.md says how it is built and tested."""
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get, rm, rmdir
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain

required_conan_version = ">=2.1"


class HeedConan(ConanFile):
    name = "heed"
    description = "A minimal autograd tensor library in C11, with attention layers"
    license = "MIT"
    topics = ("tensor", "autograd", "deep-learning", "attention")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_viz": [True, False],     # libheed-viz: pictures as SVG
        "with_hf": [True, False],      # libheed-hf: model folders of Hugging Face
        "with_config": [True, False],  # libheed-config: typed JSON settings, by cJSON
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "with_viz": True,
        "with_hf": True,
        "with_config": False,
    }

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def layout(self):
        basic_layout(self, src_folder="src")

    def requirements(self):
        if self.options.with_config:
            self.requires("cjson/[>=1.7.13 <2]")

    def validate(self):
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("heed is for POSIX systems")

    def build_requirements(self):
        self.tool_requires("meson/[>=1.0 <2]")
        if not self.conf.get("tools.gnu:pkg_config", check_type=str):
            self.tool_requires("pkgconf/[>=2.1 <3]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        def feature(wanted):
            return "enabled" if wanted else "disabled"

        toolchain = MesonToolchain(self)
        toolchain.project_options["tests"] = "disabled"
        toolchain.project_options["examples"] = "disabled"
        toolchain.project_options["viz"] = feature(self.options.with_viz)
        toolchain.project_options["hf"] = feature(self.options.with_hf)
        toolchain.project_options["config"] = feature(self.options.with_config)
        toolchain.project_options["mpi"] = "disabled"  # that of a cluster is its own
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        Meson(self).install()
        # Conan makes these files for each consumer.
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "share"))
        rm(self, "*.pdb", self.package_folder, recursive=True)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "heed")

        core = self.cpp_info.components["heed"]
        core.libs = ["heed"]
        core.set_property("cmake_target_name", "heed::heed")
        core.set_property("pkg_config_name", "heed")
        if self.settings.os in ("Linux", "FreeBSD"):
            core.system_libs = ["m", "pthread"]

        for name, wanted, needs in (
            ("viz", self.options.with_viz, []),
            ("hf", self.options.with_hf, []),
            ("config", self.options.with_config, ["cjson::cjson"]),
        ):
            if not wanted:
                continue
            beside = self.cpp_info.components[name]
            beside.libs = ["heed-" + name]
            beside.requires = ["heed"] + needs
            beside.set_property("cmake_target_name", "heed::" + name)
            beside.set_property("pkg_config_name", "heed-" + name)
