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
        #[cfg(not(any(test, fuzzing)))]
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
        #[cfg(any(test, fuzzing))]
        const _: () = {
            let _ = $function;
        };
    };
}
pub(crate) use export;

/// Exports what plugins call in the version node of each private ABI, the newest as default.
///
/// * `export_private!(ibv_cmd_alloc_pd)`: one function for all;
/// * `export_private!(ibv_cmd_alloc_dmah since 59)`: from a private ABI on. Before it either the
///   name did not exist, or it had another prototype and the file of the older private ABI exports
///   an entry of its own;
/// * `export_private!(fn f::<ABI>(x: X) -> Y)`: a function whose parameter is the private ABI's
///   number, for arguments that are laid out differently in each; `since 59` may go before `fn`;
/// * `export_private!(data x as X, 1)`: a static.
macro_rules! export_private {
    ($name:ident) => {
        $crate::abi::export::export_private!(@node 34 $name);
    };
    ($name:ident since $first:tt) => {
        $crate::abi::export::export_private!(@node $first $name);
    };
    (fn $name:ident::<ABI> $($signature:tt)*) => {
        $crate::abi::export::export_private!(since 34 fn $name::<ABI> $($signature)*);
    };
    // An instance of a generic function can be in another object file than this, which an alias
    // cannot; so each node has a function of its own.
    (since $first:tt fn $name:ident::<ABI> $($signature:tt)*) => {
        mod $name {
            use super::*;
            $crate::abi::export::export_private!(@node $first fn $name $($signature)*);
        }
    };
    (data $name:ident as $object:path, $size:literal) => {
        $crate::abi::export::export_private!(@node 34 $name ($object, $size));
    };
    // The nodes: each exports, and goes on to the next.
    (@node 34 $($what:tt)*) => {
        $crate::abi::export::export_private!(@in "@" "IBVERBS_PRIVATE_34" 34 v34 $($what)*);
        $crate::abi::export::export_private!(@node 57 $($what)*);
    };
    (@node 57 $($what:tt)*) => {
        $crate::abi::export::export_private!(@in "@" "IBVERBS_PRIVATE_57" 57 v57 $($what)*);
        $crate::abi::export::export_private!(@node 59 $($what)*);
    };
    (@node 59 $($what:tt)*) => {
        $crate::abi::export::export_private!(@in "@" "IBVERBS_PRIVATE_59" 59 v59 $($what)*);
        $crate::abi::export::export_private!(@node 64 $($what)*);
    };
    (@node 64 $($what:tt)*) => {
        $crate::abi::export::export_private!(@in "@" "IBVERBS_PRIVATE_64" 64 v64 $($what)*);
        $crate::abi::export::export_private!(@node 65 $($what)*);
    };
    (@node 65 $($what:tt)*) => {
        $crate::abi::export::export_private!(@in "@@" "IBVERBS_PRIVATE_65" 65 v65 $($what)*);
    };
    (@in $at:literal $version:literal $abi:literal $entry:ident $name:ident) => {
        $crate::abi::export::export!(@emit $name, $at, $version, $name);
    };
    (
        @in $at:literal $version:literal $abi:literal $entry:ident
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?
    ) => {
        unsafe extern "C" fn $entry($($arg: $type),*) $(-> $ret)? {
            // SAFETY: the plugin passes what its private ABI says.
            unsafe { $name::<$abi>($($arg),*) }
        }
        $crate::abi::export::export!(@emit $name, $at, $version, $entry);
    };
    (@in $at:literal $version:literal $abi:literal $entry:ident $name:ident ($object:path, $size:literal)) => {
        $crate::abi::export::export_data!($name, $at, $version, $object, $size);
    };
}
pub(crate) use export_private;

/// Gives a static a versioned name as a data object of `size` bytes.
macro_rules! export_data {
    ($name:ident, $at:literal, $version:literal, $object:path, $size:literal) => {
        #[cfg(not(any(test, fuzzing)))]
        core::arch::global_asm!(
            concat!(".globl __export_", stringify!($name), "_", $version),
            concat!(".type __export_", stringify!($name), "_", $version, ", @object"),
            concat!(".size __export_", stringify!($name), "_", $version, ", ", $size),
            concat!(".set __export_", stringify!($name), "_", $version, ", {object}"),
            concat!(
                ".symver __export_", stringify!($name), "_", $version, ", ",
                stringify!($name), $at, $version, ", remove"
            ),
            object = sym $object,
        );
    };
}
pub(crate) use export_data;
