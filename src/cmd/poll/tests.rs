use core::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

/// A kernel whose CQ has so many completions, with `wr_id` from 0 on; after as many as `broken_at`
/// it fails. Returns what it was asked for.
fn kernel_with(completions: u64, broken_at: Option<u64>) -> Rc<RefCell<Vec<u32>>> {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let record = asked.clone();
    let mut given = 0;
    fake::answer(move |call| {
        let request = match call {
            Call::Write(write) => write.body().to_vec(),
            Call::Ioctl(ioctl) => ioctl.input(UVERBS_ATTR_CORE_IN).unwrap(),
        };
        assert_eq!(request[8..12], 7_u32.to_ne_bytes());
        let ask = u32::from_ne_bytes(request[12..16].try_into().unwrap());
        record.borrow_mut().push(ask);
        if broken_at.is_some_and(|at| given >= at) {
            return Reply::Fail(libc::ENODEV);
        }
        let count = u64::from(ask).min(completions - given);
        let mut response = vec![0; response_words(count as usize)];
        response[0] = count;
        for index in 0..count {
            let place = response_words(index as usize);
            response[place] = given + index;
        }
        given += count;
        match call {
            Call::Write(write) => {
                for (index, word) in response.iter().enumerate() {
                    write.respond_at(8 * index, word);
                }
            }
            Call::Ioctl(ioctl) => {
                let start = ioctl.data(UVERBS_ATTR_CORE_OUT).unwrap() as usize;
                let start = core::ptr::with_exposed_provenance_mut::<u64>(start);
                // SAFETY: the attribute points to a response for so many completions.
                unsafe { start.copy_from_nonoverlapping(response.as_ptr(), response.len()) };
            }
        }
        Reply::Done
    });
    asked
}

/// The result, and the `wr_id`s of the completions.
fn poll_up_to(form: Form, ne: c_int) -> (c_int, Vec<u64>) {
    let context = TestContext::new(form);
    let mut cq = ibv_cq::zeroed();
    (cq.context, cq.handle) = (context.get(), 7);
    let mut garbage = ibv_wc::zeroed();
    garbage.wr_id = u64::MAX;
    let mut wcs = vec![garbage; ne.max(0) as usize];
    // SAFETY: all is as a provider passes it.
    let taken = unsafe { ibv_cmd_poll_cq(&mut cq, ne, wcs.as_mut_ptr()) };
    let untouched = wcs.iter().skip(taken.max(0) as usize);
    assert!(untouched.clone().all(|wc| wc.wr_id == u64::MAX), "more than the result says");
    (taken, wcs.iter().take(taken.max(0) as usize).map(|wc| wc.wr_id).collect())
}

#[test]
fn a_few_completions_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=24 cmd=15 in=6 out=38"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 15 0(len16) 1(len152)"),
    ] {
        for (completions, wanted) in [(0, vec![]), (2, vec![0, 1]), (5, vec![0, 1, 2])] {
            let asked = kernel_with(completions, None);
            assert_eq!(poll_up_to(form, 3), (wanted.len() as c_int, wanted));
            assert_eq!(fake::calls(), [line]);
            assert_eq!(*asked.borrow(), [3]);
        }
    }
}

#[test]
fn as_many_as_there_are_however_many_that_is() {
    for form in [Form::Write, Form::InvokeWrite] {
        // One command is enough for what one can hold.
        let asked = kernel_with(5000, None);
        assert_eq!(poll_up_to(form, 1365).0, 1365);
        assert_eq!(*asked.borrow(), [1365]);
        for (completions, calls) in [
            (0, &[1365][..]),
            (1364, &[1365]),
            (1365, &[1365, 1365]),
            (2000, &[1365, 1365]),
            (5000, &[1365, 1365, 270]),
        ] {
            let asked = kernel_with(completions, None);
            let (taken, ids) = poll_up_to(form, 3000);
            assert_eq!(u64::from(taken.cast_unsigned()), completions.min(3000));
            assert!((0..).zip(ids).all(|(wanted, id)| wanted == id));
            assert_eq!(*asked.borrow(), calls);
        }
    }
}

#[test]
fn completions_that_were_taken_are_not_lost() {
    let asked = kernel_with(5000, Some(1365));
    assert_eq!(poll_up_to(Form::Write, 3000).0, 1365);
    assert_eq!(*asked.borrow(), [1365, 1365]);
}

#[test]
fn errors_are_minus_one() {
    kernel_with(10, Some(0));
    assert_eq!(poll_up_to(Form::Write, 3).0, -1);
    assert_eq!(Errno::last(), Errno::ENODEV);
    for ne in [-1, c_int::MIN] {
        fake::answer(|_| panic!("the kernel must not be asked"));
        assert_eq!(poll_up_to(Form::Write, ne).0, -1);
        assert_eq!(Errno::last(), Errno::EINVAL);
    }
    // Asking for nothing is a question all the same.
    let asked = kernel_with(10, None);
    assert_eq!(poll_up_to(Form::Write, 0), (0, vec![]));
    assert_eq!(*asked.borrow(), [0]);
}

#[test]
fn a_count_beyond_the_question_is_not_believed() {
    fake::answer(|call| {
        if let Call::Write(write) = call {
            write.respond_at(0, &u32::MAX);
        }
        Reply::Done
    });
    assert_eq!(poll_up_to(Form::Write, 2), (2, vec![0, 0]));
}
