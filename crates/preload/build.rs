//! Gives the shared object its name, so that a program that is linked with it and a rank into which
//! it is preloaded have one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libelanite-fi.so");
}
