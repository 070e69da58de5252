//! Gives the small module half the stack that the linker gives by default: it holds its vectors on the heap, and a page
//! pays for the rest in memory. tract keeps the default.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_wasm = std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    if is_wasm && std::env::var_os("CARGO_FEATURE_TRACT").is_none() {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=524288");
    }
}
