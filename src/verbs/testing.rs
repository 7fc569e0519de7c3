//! A provider for unit tests: a context without a kernel device, whose operations record what
//! reaches them and return what the test wants.

use crate::sync::atomic::AtomicI32;
use core::cell::{Cell, RefCell};
use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::*;
use crate::provider_api::context::{init, uninit};
use crate::provider_api::private_abi::testing::Guarded;
use crate::provider_api::private_abi::{Layout, NEWEST};
use crate::provider_api::{extended, ops, set_ops};
use crate::sys::errno::Errno;
use crate::verbs::context_slots;

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static STATUS: Cell<c_int> = const { Cell::new(0) };
    static OBJECT: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
}

/// An operation that was called, with its arguments as 64-bit words (pointers by address, signed
/// numbers sign extended).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call(pub(crate) &'static str, pub(crate) Vec<u64>);

/// A context of the test provider; a test has one at a time.
pub(crate) struct Fake {
    _provider: Box<verbs_device_ops>,
    device: Box<verbs_device>,
    context: Guarded,
    layout: &'static Layout,
}

impl Fake {
    /// A context all of whose operations record and, until told otherwise, return 0 or NULL.
    pub(crate) fn new() -> Fake {
        Fake::with_ops(&RECORDING_OPS)
    }

    /// A context with these operations only; the rest are the library's defaults.
    pub(crate) fn with_ops(ops: &verbs_context_ops) -> Fake {
        Fake::of_layout(NEWEST, ops)
    }

    /// A context of a provider of an older release.
    pub(crate) fn of_layout(layout: &'static Layout, ops: &verbs_context_ops) -> Fake {
        CALLS.take();
        STATUS.set(0);
        OBJECT.set(ptr::null_mut());
        let provider =
            Box::new(verbs_device_ops { name: c"fake".as_ptr(), ..verbs_device_ops::zeroed() });
        let mut device = Box::new(verbs_device {
            device: ibv_device::zeroed(),
            ops: &*provider,
            refcount: AtomicI32::new(1),
            entry: list_node { next: ptr::null_mut(), prev: ptr::null_mut() },
            sysfs: ptr::null_mut(),
            core_support: 0,
        });
        let context = Guarded::context(layout);
        let public = context.public(layout);
        // SAFETY: a zeroed context and a live device, used by this test alone.
        unsafe {
            init(public, layout, (&raw mut *device).cast(), -1, 0);
            set_ops(public, ops);
            context_slots::install(public);
        }
        Fake { _provider: provider, device, context, layout }
    }

    /// The public context.
    pub(crate) fn context(&self) -> *mut ibv_context {
        self.context.public(self.layout)
    }

    /// The extended context, which is whole with the newest layout only.
    pub(crate) fn extended(&self) -> *mut verbs_context {
        extended(self.context())
    }

    /// The device, which has no record of sysfs.
    pub(crate) fn device(&self) -> *mut verbs_device {
        (&raw const *self.device).cast_mut()
    }

    /// Replaces operations.
    pub(crate) fn set_ops(&self, change: impl FnOnce(&mut verbs_context_ops)) {
        // SAFETY: the context is alive and used by this test alone.
        unsafe {
            let mut table = *ops(self.context());
            change(&mut table);
            set_ops(self.context(), &table);
            context_slots::install(self.context());
        }
    }

    /// What operations that return an int return from now on; those that return a pointer return
    /// NULL with this in `errno`.
    pub(crate) fn answer(&self, status: c_int) {
        STATUS.set(status);
        OBJECT.set(ptr::null_mut());
    }

    /// What operations that return a pointer return from now on.
    pub(crate) fn answer_object<T>(&self, object: *mut T) {
        OBJECT.set(object.cast());
    }

    /// The calls since the last look.
    pub(crate) fn calls(&self) -> Vec<Call> {
        CALLS.take()
    }

    /// The names of the calls since the last look.
    pub(crate) fn called(&self) -> Vec<&'static str> {
        CALLS.take().into_iter().map(|call| call.0).collect()
    }

    /// A PD of this context.
    pub(crate) fn pd(&self) -> ibv_pd {
        ibv_pd { context: self.context(), handle: 1 }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        // SAFETY: the context is not used after this; the device still has a reference.
        unsafe { uninit(self.context()) };
    }
}

/// What an operation that the test wrote itself returns, by the rule of [`Fake::answer_object`].
pub(crate) fn object<T>() -> *mut T {
    let object = OBJECT.get();
    if object.is_null() {
        Errno(STATUS.get()).store();
    }
    object.cast()
}

/// What an operation that the test wrote itself returns if that is an int.
pub(crate) fn status() -> c_int {
    STATUS.get()
}

/// Notes a call from an operation that the test wrote itself.
pub(crate) fn record(name: &'static str, arguments: Vec<u64>) {
    CALLS.with_borrow_mut(|calls| calls.push(Call(name, arguments)));
}

/// `words![a, b]`: arguments in the form in which [`Call`] has them.
macro_rules! words {
    ($($argument:expr),* $(,)?) => {
        vec![$($crate::verbs::testing::Word::word($argument)),*]
    };
}
pub(crate) use words;

/// Keeps an argument, of the type that the function wants, for comparison.
pub(crate) fn note<T: Word>(arguments: &mut Vec<u64>, argument: T) -> T {
    arguments.push(argument.word());
    argument
}

/// An argument as a 64-bit word.
pub(crate) trait Word: Copy {
    /// Its 64 bits.
    fn word(self) -> u64;
}

macro_rules! word {
    ($($integer:ty),*) => {
        $(impl Word for $integer {
            fn word(self) -> u64 {
                self as u64
            }
        })*
    };
}
word!(i32, i64, isize, u8, u16, u32, u64, usize);

impl<T> Word for *const T {
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

impl<T> Word for *mut T {
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

/// A function type of which [`Recorded::RECORD`] notes the call as that of operation number `OP`.
trait Recorded<const OP: usize> {
    const RECORD: Self;
}

macro_rules! recorded {
    ($($arg:ident)*) => {
        impl<const OP: usize, $($arg: Word),*> Recorded<OP>
            for unsafe extern "C" fn($($arg),*) -> c_int
        {
            const RECORD: Self = {
                #[allow(non_snake_case)]
                unsafe extern "C" fn recorded<const OP: usize, $($arg: Word),*>(
                    $($arg: $arg),*
                ) -> c_int {
                    record(name(OP), vec![$($arg.word()),*]);
                    STATUS.get()
                }
                recorded::<OP, $($arg),*>
            };
        }
        impl<const OP: usize, $($arg: Word,)* Object> Recorded<OP>
            for unsafe extern "C" fn($($arg),*) -> *mut Object
        {
            const RECORD: Self = {
                #[allow(non_snake_case)]
                unsafe extern "C" fn recorded<const OP: usize, $($arg: Word,)* Object>(
                    $($arg: $arg),*
                ) -> *mut Object {
                    record(name(OP), vec![$($arg.word()),*]);
                    object()
                }
                recorded::<OP, $($arg,)* Object>
            };
        }
        impl<const OP: usize, $($arg: Word),*> Recorded<OP> for unsafe extern "C" fn($($arg),*) {
            const RECORD: Self = {
                #[allow(non_snake_case)]
                unsafe extern "C" fn recorded<const OP: usize, $($arg: Word),*>($($arg: $arg),*) {
                    record(name(OP), vec![$($arg.word()),*]);
                }
                recorded::<OP, $($arg),*>
            };
        }
    };
}
/// The same for functions that return a value of another integer type: the status.
macro_rules! recorded_value {
    ($($value:ty)*) => {
        $(impl<const OP: usize, A: Word> Recorded<OP> for unsafe extern "C" fn(A) -> $value {
            const RECORD: Self = {
                unsafe extern "C" fn recorded<const OP: usize, A: Word>(argument: A) -> $value {
                    record(name(OP), vec![argument.word()]);
                    STATUS.get() as $value
                }
                recorded::<OP, A>
            };
        })*
    };
}
recorded_value!(u8 u16 u32 u64);
recorded!(A);
recorded!(A B);
recorded!(A B C);
recorded!(A B C D);
recorded!(A B C D E);
recorded!(A B C D E F);

/// Members of this object have operation numbers from here on.
const QP_MEMBERS: usize = 1000;
const CQ_MEMBERS: usize = 2000;

fn name(op: usize) -> &'static str {
    let member = |of: &[(usize, &'static str)], offset| {
        of.iter().find(|member| member.0 == offset).map_or("?", |member| member.1)
    };
    match op {
        CQ_MEMBERS.. => member(CQ_NAMES, op - CQ_MEMBERS),
        QP_MEMBERS.. => member(QP_NAMES, op - QP_MEMBERS),
        _ => NAMES[op],
    }
}

/// Defines an object whose functions record, and their names by offset.
macro_rules! recording_members {
    ($(#[$doc:meta])* fn $new:ident, $names:ident, $object:ident from $base:ident:
        $($member:ident)*) => {
        const $names: &[(usize, &str)] =
            &[$((core::mem::offset_of!($object, $member), stringify!($member))),*];

        $(#[$doc])*
        pub(crate) fn $new() -> $object {
            let mut object = $object::zeroed();
            $(object.$member = Some(Recorded::<
                { $base + core::mem::offset_of!($object, $member) },
            >::RECORD);)*
            object
        }
    };
}
recording_members! {
    /// An extended QP whose functions record.
    fn recording_qp_ex, QP_NAMES, ibv_qp_ex from QP_MEMBERS:
    wr_atomic_cmp_swp wr_atomic_fetch_add wr_bind_mw wr_local_inv wr_rdma_read wr_rdma_write
    wr_rdma_write_imm wr_send wr_send_imm wr_send_inv wr_send_tso wr_set_ud_addr wr_set_xrc_srqn
    wr_set_inline_data wr_set_inline_data_list wr_set_sge wr_set_sge_list wr_start wr_complete
    wr_abort wr_atomic_write wr_flush
}
recording_members! {
    /// An extended CQ whose functions record.
    fn recording_cq_ex, CQ_NAMES, ibv_cq_ex from CQ_MEMBERS:
    start_poll next_poll end_poll read_opcode read_vendor_err read_byte_len read_imm_data
    read_qp_num read_src_qp read_wc_flags read_slid read_sl read_dlid_path_bits read_completion_ts
    read_cvlan read_flow_tag read_tm_info read_completion_wallclock_ns
}

macro_rules! recording_ops {
    ($($op:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($op)),*];

        /// A table of operations that record.
        pub(crate) const RECORDING_OPS: verbs_context_ops = verbs_context_ops {
            $($op: Some(Recorded::<
                { core::mem::offset_of!(verbs_context_ops, $op) / size_of::<usize>() },
            >::RECORD),)*
        };
    };
}
recording_ops! {
    advise_mr alloc_buf alloc_dm alloc_dmah alloc_mw alloc_null_mr alloc_parent_domain alloc_pd
    alloc_td async_event attach_counters_point_flow attach_mcast bind_mw close_xrcd cq_event
    create_ah create_comp_cntr create_counters create_cq create_cq_ex create_flow
    create_flow_action_esp create_qp create_qp_ex create_rwq_ind_table create_srq create_srq_ex
    create_wq dealloc_dmah dealloc_mw dealloc_pd dealloc_td dereg_mr destroy_ah destroy_comp_cntr
    destroy_counters destroy_cq destroy_flow destroy_flow_action destroy_qp destroy_rwq_ind_table
    destroy_srq destroy_wq detach_mcast dm_export_dmabuf_fd free_buf free_context free_dm
    get_srq_num import_dm import_mr import_pd inc_comp_cntr inc_err_comp_cntr modify_cq
    modify_flow_action_esp modify_qp modify_qp_rate_limit modify_srq modify_wq open_qp open_xrcd
    poll_cq post_recv post_send post_srq_ops post_srq_recv qp_attach_comp_cntr
    query_comp_cntr_caps query_device_ex query_ece query_port query_port_speed query_qp
    query_qp_data_in_order query_rt_values query_srq read_comp_cntr read_counters
    read_err_comp_cntr reg_dm_mr reg_dmabuf_mr reg_mr reg_mr_ex req_notify_cq rereg_mr resize_cq
    set_comp_cntr set_ece set_err_comp_cntr unimport_dm unimport_mr unimport_pd
}

/// Objects as they are after creation, at an address that does not change.
macro_rules! new_object {
    ($($(#[$doc:meta])* $name:ident -> $object:ident;)*) => {
        $($(#[$doc])*
        pub(crate) fn $name(fake: &Fake) -> Box<$object> {
            let mut object = Box::new($object::zeroed());
            object.context = fake.context();
            // SAFETY: both are new.
            unsafe {
                libc::pthread_mutex_init(&mut object.mutex, ptr::null());
                libc::pthread_cond_init(&mut object.cond, ptr::null());
            }
            object
        })*
    };
}
new_object! {
    new_cq -> ibv_cq;
    new_qp -> ibv_qp;
    new_srq -> ibv_srq;
    new_wq -> ibv_wq;
}
