//! Asynchronous events.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs;

/// Waits for the next asynchronous event. Returns 0, or -1 with `errno`. `ibv_get_async_event(3)`
unsafe extern "C" fn get_async_event(
    context: *mut ibv_context_1_0,
    event: *mut ibv_async_event,
) -> c_int {
    // SAFETY: the caller passes a context and room for an event. The user context of a real object
    // is its wrapper.
    unsafe {
        let status = verbs::event::ibv_get_async_event((*context).real_context, event);
        if status == 0 {
            let element = &raw mut (*event).element;
            match object((*event).event_type) {
                Some(Object::Cq) => (*element).cq = (*(*element).cq).cq_context.cast(),
                Some(Object::Qp) => (*element).qp = (*(*element).qp).qp_context.cast(),
                Some(Object::Srq) => (*element).srq = (*(*element).srq).srq_context.cast(),
                None => {}
            }
        }
        status
    }
}
export!(ibv_get_async_event @ "IBVERBS_1.0" as get_async_event);

/// Acknowledges an asynchronous event. `ibv_ack_async_event(3)`
unsafe extern "C" fn ack_async_event(event: *mut ibv_async_event) {
    // SAFETY: the caller passes an event that it got from [`get_async_event`]; its object is there
    // until then.
    unsafe {
        let mut real = *event;
        let element = real.element;
        match object(real.event_type) {
            Some(Object::Cq) => real.element.cq = (*element.cq.cast::<ibv_cq_1_0>()).real_cq,
            Some(Object::Qp) => real.element.qp = (*element.qp.cast::<ibv_qp_1_0>()).real_qp,
            Some(Object::Srq) => real.element.srq = (*element.srq.cast::<ibv_srq_1_0>()).real_srq,
            None => {}
        }
        verbs::event::ibv_ack_async_event(&raw mut real);
    }
}
export!(ibv_ack_async_event @ "IBVERBS_1.0" as ack_async_event);

/// What has a wrapper.
enum Object {
    Cq,
    Qp,
    Srq,
}

/// What an event is about, if that has a wrapper. Ports have none, and nothing of this interface
/// creates a WQ.
fn object(event_type: ibv_event_type) -> Option<Object> {
    match event_type {
        IBV_EVENT_CQ_ERR => Some(Object::Cq),
        IBV_EVENT_QP_FATAL
        | IBV_EVENT_QP_REQ_ERR
        | IBV_EVENT_QP_ACCESS_ERR
        | IBV_EVENT_COMM_EST
        | IBV_EVENT_SQ_DRAINED
        | IBV_EVENT_PATH_MIG
        | IBV_EVENT_PATH_MIG_ERR
        | IBV_EVENT_QP_LAST_WQE_REACHED => Some(Object::Qp),
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => Some(Object::Srq),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Fake, new_cq, new_qp, new_srq};

    /// What [`get_async_event`] makes of an event that the kernel wrote.
    fn receive(fake: &Fake, old: &Old, event_type: u32, element: u64) -> ibv_async_event {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&element.to_ne_bytes()).unwrap();
        writer.write_all(&event_type.to_ne_bytes()).unwrap();
        writer.write_all(&[0; 4]).unwrap();
        let mut event = ibv_async_event::zeroed();
        // SAFETY: a live context; the descriptor is not closed with it.
        unsafe {
            (*fake.context()).async_fd = reader.as_raw_fd();
            assert_eq!(get_async_event(old.context(), &mut event), 0);
            (*fake.context()).async_fd = -1;
        }
        assert_eq!(event.event_type, event_type);
        event
    }

    #[test]
    fn events_name_wrappers_and_are_acknowledged_at_the_real_object() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let (mut real_cq, mut real_qp, mut real_srq) =
            (new_cq(&fake), new_qp(&fake), new_srq(&fake));
        let mut cq = old.cq(&mut real_cq);
        let mut qp = old.qp(&mut real_qp);
        let mut srq = old.srq(&mut real_srq);
        real_cq.cq_context = (&raw mut cq).cast();
        real_qp.qp_context = (&raw mut qp).cast();
        real_srq.srq_context = (&raw mut srq).cast();
        let reals = [
            (&raw mut *real_cq).expose_provenance() as u64,
            (&raw mut *real_qp).expose_provenance() as u64,
            (&raw mut *real_srq).expose_provenance() as u64,
        ];
        let wrappers = [(&raw mut cq).addr(), (&raw mut qp).addr(), (&raw mut srq).addr()];
        let mut counts = [0; 3];
        for event_type in 0..20 {
            let object = match event_type {
                0 => 0,
                1..=7 | 16 => 1,
                14 | 15 => 2,
                _ => continue,
            };
            let mut event = receive(&fake, &old, event_type, reals[object]);
            // SAFETY: every member of the union is as long as the address.
            assert_eq!(unsafe { event.element.cq }.addr(), wrappers[object], "{event_type}");
            // SAFETY: an event of a live object.
            unsafe { ack_async_event(&mut event) };
            counts[object] += 1;
            let completed = [
                real_cq.async_events_completed,
                real_qp.events_completed,
                real_srq.events_completed,
            ];
            assert_eq!(completed, counts, "{event_type}");
            // The program's event is as it was.
            // SAFETY: as above.
            assert_eq!(unsafe { event.element.cq }.addr(), wrappers[object]);
        }
        assert_eq!(counts, [1, 8, 2]);
    }

    #[test]
    fn other_events_are_passed_on() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        for event_type in [8, 9, 10, 11, 12, 13, 17, 18, 20, 99] {
            let mut event = receive(&fake, &old, event_type, 2);
            // SAFETY: the port number was written, and there is no object to touch.
            unsafe {
                assert_eq!(event.element.port_num, 2);
                ack_async_event(&mut event);
            }
        }
    }

    #[test]
    fn an_error_leaves_the_event_alone() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut event = ibv_async_event::zeroed();
        event.event_type = 77;
        // SAFETY: an open context, whose real one has no descriptor.
        let status = unsafe { get_async_event(old.context(), &mut event) };
        assert_eq!((status, Errno::last()), (-1, Errno(libc::EBADF)));
        assert_eq!(event.event_type, 77);
    }
}
