//! Asynchronous events of a context: of its QPs, CQs, SRQs, WQs and ports.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

use libc::{pthread_cond_t, pthread_mutex_t};

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};
use crate::uapi::*;
use crate::urxe;

/// Waits for the next asynchronous event and stores it in `event`. Each event must be acknowledged.
/// Returns 0, or -1 with `errno`: EAGAIN without an event on a descriptor that does not block,
/// EINTR after a signal. `ibv_get_async_event(3)`
pub(crate) unsafe extern "C" fn ibv_get_async_event(
    context: *mut ibv_context,
    event: *mut ibv_async_event,
) -> c_int {
    // SAFETY: the caller passes a context and room for an event.
    unsafe { get(context, event) }.or_minus_one()
}
export!(ibv_get_async_event @@ "IBVERBS_1.1");

unsafe fn get(context: *mut ibv_context, event: *mut ibv_async_event) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let new: ib_uverbs_async_event_desc = match urxe::device::events::next(context) {
            Some(event) => event?,
            None => read_event((*context).async_fd)?,
        };
        (*event).element = element(&new);
        (*event).event_type = new.event_type;
        call_op!(context, async_event(context, event));
    }
    Ok(())
}

/// What an event is about. The kernel names an object by the address that it was given when the
/// object was created, a port by its number.
fn element(event: &ib_uverbs_async_event_desc) -> ibv_async_event_element {
    let address = event.element as usize;
    match event.event_type {
        IBV_EVENT_CQ_ERR => {
            ibv_async_event_element { cq: ptr::with_exposed_provenance_mut(address) }
        }
        IBV_EVENT_QP_FATAL
        | IBV_EVENT_QP_REQ_ERR
        | IBV_EVENT_QP_ACCESS_ERR
        | IBV_EVENT_COMM_EST
        | IBV_EVENT_SQ_DRAINED
        | IBV_EVENT_PATH_MIG
        | IBV_EVENT_PATH_MIG_ERR
        | IBV_EVENT_QP_LAST_WQE_REACHED => {
            ibv_async_event_element { qp: ptr::with_exposed_provenance_mut(address) }
        }
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => {
            ibv_async_event_element { srq: ptr::with_exposed_provenance_mut(address) }
        }
        IBV_EVENT_WQ_FATAL => {
            ibv_async_event_element { wq: ptr::with_exposed_provenance_mut(address) }
        }
        _ => {
            // Every byte of the union gets a value.
            let mut port = ibv_async_event_element { cq: ptr::null_mut() };
            port.port_num = event.element as c_int;
            port
        }
    }
}

/// Acknowledges an asynchronous event. `ibv_ack_async_event(3)`
pub(crate) unsafe extern "C" fn ibv_ack_async_event(event: *mut ibv_async_event) {
    // SAFETY: the caller passes an event that it got; its object is there until then.
    unsafe {
        let element = (*event).element;
        match (*event).event_type {
            IBV_EVENT_CQ_ERR => {
                let cq = element.cq;
                acknowledge(
                    &raw mut (*cq).mutex,
                    &raw mut (*cq).cond,
                    &raw mut (*cq).async_events_completed,
                    1,
                );
            }
            IBV_EVENT_QP_FATAL
            | IBV_EVENT_QP_REQ_ERR
            | IBV_EVENT_QP_ACCESS_ERR
            | IBV_EVENT_COMM_EST
            | IBV_EVENT_SQ_DRAINED
            | IBV_EVENT_PATH_MIG
            | IBV_EVENT_PATH_MIG_ERR
            | IBV_EVENT_QP_LAST_WQE_REACHED => {
                let qp = element.qp;
                acknowledge(
                    &raw mut (*qp).mutex,
                    &raw mut (*qp).cond,
                    &raw mut (*qp).events_completed,
                    1,
                );
            }
            IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => {
                let srq = element.srq;
                acknowledge(
                    &raw mut (*srq).mutex,
                    &raw mut (*srq).cond,
                    &raw mut (*srq).events_completed,
                    1,
                );
            }
            IBV_EVENT_WQ_FATAL => {
                let wq = element.wq;
                acknowledge(
                    &raw mut (*wq).mutex,
                    &raw mut (*wq).cond,
                    &raw mut (*wq).events_completed,
                    1,
                );
            }
            _ => {}
        }
    }
}
export!(ibv_ack_async_event @@ "IBVERBS_1.1");

/// Reads one event of a kind from its descriptor.
///
/// # Errors
///
/// What read(2) says; EIO for half an event or none, after which there will be no more.
pub(crate) fn read_event<Event: Plain>(fd: c_int) -> Result<Event> {
    let mut event = MaybeUninit::<Event>::uninit();
    // SAFETY: there is room for so many bytes.
    let got = unsafe { libc::read(fd, event.as_mut_ptr().cast(), size_of::<Event>()) };
    match usize::try_from(got) {
        Err(_) => Err(Errno::last()),
        // SAFETY: all bytes were read, and any bytes make a value of a kernel struct.
        Ok(got) if got == size_of::<Event>() => Ok(unsafe { event.assume_init() }),
        Ok(_) => Err(Errno::EIO),
    }
}

/// Adds to an object's number of acknowledged events and wakes the thread that waits for it in
/// order to destroy the object.
///
/// # Safety
///
/// The pointers must be those of one live object.
pub(super) unsafe fn acknowledge(
    mutex: *mut pthread_mutex_t,
    cond: *mut pthread_cond_t,
    completed: *mut u32,
    count: u32,
) {
    // SAFETY: the caller's promise. The signal is sent with the mutex held, because whoever waits
    // frees the object.
    unsafe {
        libc::pthread_mutex_lock(mutex);
        *completed = (*completed).wrapping_add(count);
        libc::pthread_cond_signal(cond);
        libc::pthread_mutex_unlock(mutex);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::verbs::testing::{Call, Fake, new_cq, new_qp, new_srq, new_wq, words};

    /// What `ibv_get_async_event` makes of an event that the kernel wrote.
    fn receive(fake: &Fake, event_type: u32, element: u64) -> ibv_async_event {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&element.to_ne_bytes()).unwrap();
        writer.write_all(&event_type.to_ne_bytes()).unwrap();
        writer.write_all(&[0xff; 4]).unwrap();
        let mut event = ibv_async_event::zeroed();
        // SAFETY: a live context; the descriptor is not closed with it.
        unsafe {
            (*fake.context()).async_fd = reader.as_raw_fd();
            assert_eq!(ibv_get_async_event(fake.context(), &mut event), 0);
            (*fake.context()).async_fd = -1;
        }
        assert_eq!(event.event_type, event_type);
        assert_eq!(fake.calls(), [Call("async_event", words![fake.context(), &raw const event])]);
        event
    }

    #[test]
    fn events_name_objects_by_address_and_count_acknowledgements() {
        let fake = Fake::new();
        let (mut cq, mut qp, mut srq, mut wq) =
            (new_cq(&fake), new_qp(&fake), new_srq(&fake), new_wq(&fake));
        let addresses = [
            (&raw mut *cq).expose_provenance(),
            (&raw mut *qp).expose_provenance(),
            (&raw mut *srq).expose_provenance(),
            (&raw mut *wq).expose_provenance(),
        ];
        let of = |event_type| match event_type {
            0 => Some(0),
            1..=7 | 16 => Some(1),
            14 | 15 => Some(2),
            19 => Some(3),
            _ => None,
        };
        let mut counts = [0; 4];
        for event_type in (0..25).chain([u32::MAX]) {
            let Some(object) = of(event_type) else { continue };
            let mut event = receive(&fake, event_type, addresses[object] as u64);
            // SAFETY: every member of the union is as long as the address.
            assert_eq!(unsafe { event.element.cq }.addr(), addresses[object]);
            // SAFETY: an event of a live object.
            unsafe { ibv_ack_async_event(&mut event) };
            counts[object] += 1;
            assert_eq!(
                [
                    cq.async_events_completed,
                    qp.events_completed,
                    srq.events_completed,
                    wq.events_completed
                ],
                counts,
                "{event_type}"
            );
        }
        assert_eq!(counts, [1, 8, 2, 1]);
        assert_eq!(cq.comp_events_completed, 0);
    }

    #[test]
    fn other_events_name_a_port() {
        let fake = Fake::new();
        for event_type in [8, 9, 10, 11, 12, 13, 17, 18, 20, 21, u32::MAX] {
            let mut event = receive(&fake, event_type, 255);
            // SAFETY: the port number was written.
            assert_eq!(unsafe { event.element.port_num }, 255);
            // SAFETY: there is no object to touch.
            unsafe { ibv_ack_async_event(&mut event) };
        }
    }

    #[test]
    fn an_error_leaves_the_event_alone() {
        let fake = Fake::new();
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut event = ibv_async_event::zeroed();
        event.event_type = 77;
        writer.write_all(&[0; 15]).unwrap();
        drop(writer);
        // SAFETY: a live context; the descriptor is not closed with it.
        unsafe {
            assert_eq!(ibv_get_async_event(fake.context(), &mut event), -1);
            assert_eq!(Errno::last(), Errno(libc::EBADF));
            (*fake.context()).async_fd = reader.as_raw_fd();
            assert_eq!(ibv_get_async_event(fake.context(), &mut event), -1);
            assert_eq!(Errno::last(), Errno::EIO);
            (*fake.context()).async_fd = -1;
        }
        assert_eq!(event.event_type, 77);
        assert!(fake.calls().is_empty());
    }

    #[test]
    fn a_descriptor_that_does_not_block_says_so() {
        let fake = Fake::new();
        let (reader, _writer) = std::io::pipe().unwrap();
        let mut event = ibv_async_event::zeroed();
        // SAFETY: a live context; the descriptor is not closed with it.
        unsafe {
            libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK);
            (*fake.context()).async_fd = reader.as_raw_fd();
            assert_eq!(ibv_get_async_event(fake.context(), &mut event), -1);
            assert_eq!(Errno::last(), Errno(libc::EAGAIN));
            (*fake.context()).async_fd = -1;
        }
    }
}
