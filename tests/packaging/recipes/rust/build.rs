// SPDX-License-Identifier: MIT
fn main() {
    println!("cargo:rerun-if-changed=cushim");
    cc::Build::new()
        .file("cushim/cushim.c")
        .include("cushim")
        .define("CUSHIM_OWN_TYPES", "1")
        .compile("cushim");
}
