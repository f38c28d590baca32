// SPDX-License-Identifier: MIT
//! Builds cushim, or links to it: CUSHIM_LIB_DIR is its directory, and CUSHIM_LINK=dylib chooses the shared library.

#[cfg(feature = "bundled")]
fn main() {
    println!("cargo:rerun-if-changed=cushim");
    cc::Build::new()
        .file("cushim/cushim.c")
        .include("cushim")
        .define("CUSHIM_OWN_TYPES", "1")
        .define("CUSHIM_STATIC", None)
        .compile("cushim");
    link_system_libraries();
}

#[cfg(not(feature = "bundled"))]
fn main() {
    println!("cargo:rerun-if-env-changed=CUSHIM_LIB_DIR");
    println!("cargo:rerun-if-env-changed=CUSHIM_LINK");
    if let Ok(directory) = std::env::var("CUSHIM_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", directory);
    }
    let kind = std::env::var("CUSHIM_LINK").unwrap_or_else(|_| "static".to_string());
    println!("cargo:rustc-link-lib={}=cushim", kind);
    link_system_libraries();
}

/// Before glibc 2.34, these are files of their own.
fn link_system_libraries() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-lib=dylib=dl");
        println!("cargo:rustc-link-lib=dylib=pthread");
    }
}
