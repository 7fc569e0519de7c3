fn main() { eprintln!("usage: cargo xtask <demo|test|bench|vm>"); }
