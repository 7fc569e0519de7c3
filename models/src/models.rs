//! All models. Each lies beside the files that it is about, as it uses what is private to them.

use crate::runner::Model;
use crate::urxe::completion::model as completions;
use crate::urxe::host::mailbox_model as mailbox;
use crate::urxe::lock_model as lock;
use crate::urxe::marks_model as marks;
use crate::urxe::queue::model as receives;
use crate::urxe::region::model as keys;

pub(crate) static ALL: &[&Model] = &[
    &lock::EXCLUSION,
    &lock::TAKE_OVER,
    &lock::PASSING,
    &keys::READERS,
    &keys::WITHDRAWAL,
    &keys::LOCAL_USE,
    &marks::KEYS,
    &marks::STAMPS,
    &completions::COMPLETIONS,
    &completions::ROOM,
    &completions::EVENTS,
    &completions::DEATH,
    &mailbox::JOBS,
    &mailbox::DEATH,
    &receives::POSTING,
    &receives::POSTING_SHARED,
    &receives::WAITING,
    &receives::SLOTS,
    &receives::GROWING,
    &receives::DEATH,
];
