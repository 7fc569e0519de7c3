//! Exported symbols with versions.

/// Gives a function a versioned name in the dynamic symbol table.
///
/// `export!(ibv_query_qp @@ "IBVERBS_1.1")` next to `unsafe extern "C" fn ibv_query_qp(..)` makes
/// it the default version; `@` makes it an older one, and `as` names a function that is called
/// otherwise in Rust: `export!(ibv_query_qp @ "IBVERBS_1.0" as query_qp_1_0)`.
///
/// The function has no `no_mangle`, so its plain name never leaks; the assembler's `.symver` puts
/// the versioned name on a local alias. The names are in `libibverbs.map` too, from which the
/// linker takes the version nodes.
macro_rules! export {
    ($name:ident @@ $version:literal) => {
        $crate::abi::export::export!(@emit $name, "@@", $version, $name);
    };
    ($name:ident @ $version:literal) => {
        $crate::abi::export::export!(@emit $name, "@", $version, $name);
    };
    ($name:ident @@ $version:literal as $function:path) => {
        $crate::abi::export::export!(@emit $name, "@@", $version, $function);
    };
    ($name:ident @ $version:literal as $function:path) => {
        $crate::abi::export::export!(@emit $name, "@", $version, $function);
    };
    (@emit $name:ident, $at:literal, $version:literal, $function:path) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            concat!(".globl __export_", stringify!($name), "_", $version),
            concat!(".type __export_", stringify!($name), "_", $version, ", @function"),
            concat!(".set __export_", stringify!($name), "_", $version, ", {function}"),
            concat!(
                ".symver __export_", stringify!($name), "_", $version, ", ",
                stringify!($name), $at, $version, ", remove"
            ),
            function = sym $function,
        );
        // A test executable has no version map; the reference keeps the function in use.
        #[cfg(test)]
        const _: () = {
            let _ = $function;
        };
    };
}
pub(crate) use export;

/// Gives a static a versioned name as a data object of `size` bytes.
macro_rules! export_data {
    ($name:ident @@ $version:literal as $object:path, $size:literal) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            concat!(".globl __export_", stringify!($name), "_", $version),
            concat!(".type __export_", stringify!($name), "_", $version, ", @object"),
            concat!(".size __export_", stringify!($name), "_", $version, ", ", $size),
            concat!(".set __export_", stringify!($name), "_", $version, ", {object}"),
            concat!(
                ".symver __export_", stringify!($name), "_", $version, ", ",
                stringify!($name), "@@", $version, ", remove"
            ),
            object = sym $object,
        );
    };
}
pub(crate) use export_data;
