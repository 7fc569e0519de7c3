//! Memory from a dma-buf heap, for providers that allocate their queues and buffers in memory
//! which a device may reach in a confidential guest (`dmabuf_heap.h`, `linux/dma-heap.h`).

use core::ffi::{CStr, c_int, c_void};
use core::ptr;

use crate::abi::export::export_private;
use crate::sys::errno::{Errno, Result, ReturnPointer, from_minus_one, keep_errno};

/// The heap of memory that is shared with the host of a confidential guest.
const CC_SHARED: &CStr = c"/dev/dma_heap/system_cc_shared";

/// An open heap. `dmabuf_heap.h: struct ibv_dmabuf_heap`, opaque to providers.
#[repr(C)]
struct ibv_dmabuf_heap {
    fd: c_int,
}

/// `struct dma_heap_allocation_data` (`linux/dma-heap.h`).
#[repr(C)]
struct dma_heap_allocation_data {
    len: u64,
    fd: u32,
    fd_flags: u32,
    heap_flags: u64,
}

/// `DMA_HEAP_IOCTL_ALLOC` (`linux/dma-heap.h`).
const DMA_HEAP_IOCTL_ALLOC: libc::c_ulong = 0xc018_4800;

/// Opens the heap of shared memory. NULL with `errno`: ENOENT when the machine has none, ENOMEM.
/// `dmabuf_heap.h: ibv_dmabuf_heap_cc_shared_init`
unsafe extern "C" fn ibv_dmabuf_heap_cc_shared_init() -> *mut ibv_dmabuf_heap {
    open(CC_SHARED).or_null()
}
export_private!(ibv_dmabuf_heap_cc_shared_init since 64);

fn open(path: &CStr) -> Result<*mut ibv_dmabuf_heap> {
    // SAFETY: the path is a C string.
    let fd = from_minus_one(unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })?;
    // SAFETY: malloc has no preconditions; the memory is written before anybody reads it.
    unsafe {
        let heap = libc::malloc(size_of::<ibv_dmabuf_heap>()).cast::<ibv_dmabuf_heap>();
        if heap.is_null() {
            libc::close(fd);
            return Err(Errno::ENOMEM);
        }
        heap.write(ibv_dmabuf_heap { fd });
        Ok(heap)
    }
}

/// Closes a heap; what was allocated from it stays. `dmabuf_heap.h: ibv_dmabuf_heap_destroy`
unsafe extern "C" fn ibv_dmabuf_heap_destroy(heap: *mut ibv_dmabuf_heap) {
    if !heap.is_null() {
        // SAFETY: the provider passes a heap that it opened, for the last time.
        keep_errno(|| unsafe {
            libc::close((*heap).fd);
            libc::free(heap.cast());
        });
    }
}
export_private!(ibv_dmabuf_heap_destroy since 64);

/// Allocates `size` bytes. Returns their address and stores the dma-buf's file descriptor, or NULL
/// with `errno`. `dmabuf_heap.h: ibv_dmabuf_heap_alloc`
unsafe extern "C" fn ibv_dmabuf_heap_alloc(
    heap: *mut ibv_dmabuf_heap,
    size: usize,
    dmabuf_fd: *mut c_int,
) -> *mut c_void {
    // SAFETY: the provider passes a heap that it opened and a place for the descriptor.
    unsafe {
        allocate((*heap).fd, size).map(|(address, fd)| {
            *dmabuf_fd = fd;
            address
        })
    }
    .or_null()
}
export_private!(ibv_dmabuf_heap_alloc since 64);

fn allocate(heap_fd: c_int, size: usize) -> Result<(*mut c_void, c_int)> {
    let mut data = dma_heap_allocation_data {
        len: size as u64,
        fd: 0,
        fd_flags: (libc::O_RDWR | libc::O_CLOEXEC) as u32,
        heap_flags: 0,
    };
    // SAFETY: the ioctl reads and writes the struct.
    from_minus_one(unsafe { libc::ioctl(heap_fd, DMA_HEAP_IOCTL_ALLOC as _, &raw mut data) })?;
    let fd = data.fd as c_int;
    map(fd, size).inspect_err(|_| {
        // SAFETY: the descriptor is new and ours.
        keep_errno(|| unsafe { libc::close(fd) });
    })
}

fn map(fd: c_int, size: usize) -> Result<(*mut c_void, c_int)> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing of ours.
    let address = unsafe { libc::mmap(ptr::null_mut(), size, access, libc::MAP_SHARED, fd, 0) };
    if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok((address, fd)) }
}

/// Frees what [`ibv_dmabuf_heap_alloc`] allocated. `dmabuf_heap.h: ibv_dmabuf_heap_free`
unsafe extern "C" fn ibv_dmabuf_heap_free(buf: *mut c_void, size: usize, dmabuf_fd: c_int) {
    // SAFETY: the provider passes an allocation of this size, for the last time.
    keep_errno(|| unsafe {
        libc::munmap(buf, size);
        libc::close(dmabuf_fd);
    });
}
export_private!(ibv_dmabuf_heap_free since 64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves a descriptor to a number that no other test gets by chance.
    fn out_of_the_way(fd: c_int) -> c_int {
        // SAFETY: the descriptor is the test's own.
        unsafe {
            let moved = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 700);
            libc::close(fd);
            moved
        }
    }

    #[test]
    fn a_machine_without_the_heap_says_enoent() {
        assert_eq!(open(c"/dev/dma_heap/no such heap"), Err(Errno::ENOENT));
    }

    #[test]
    fn a_file_that_is_no_heap_gives_no_memory() {
        let heap = open(c"/dev/null").unwrap();
        let mut fd = -7;
        // SAFETY: the heap is open.
        unsafe {
            assert!(ibv_dmabuf_heap_alloc(heap, 4096, &mut fd).is_null());
            assert_eq!(Errno::last(), Errno::ENOTTY);
            assert_eq!(fd, -7);
            (*heap).fd = out_of_the_way((*heap).fd);
            let open_fd = (*heap).fd;
            ibv_dmabuf_heap_destroy(heap);
            assert_eq!(libc::fcntl(open_fd, libc::F_GETFD), -1);
            ibv_dmabuf_heap_destroy(ptr::null_mut());
        }
    }

    #[test]
    fn memory_is_shared_with_its_descriptor_and_freed_with_it() {
        // SAFETY: a memory file stands for a dma-buf; it is mapped, written and freed.
        unsafe {
            let fd = out_of_the_way(libc::memfd_create(c"buffer".as_ptr(), libc::MFD_CLOEXEC));
            assert_eq!(libc::ftruncate(fd, 4096), 0);
            let (address, _) = map(fd, 4096).unwrap();
            address.cast::<u8>().write(42);
            let mut byte = 0_u8;
            assert_eq!(libc::pread(fd, (&raw mut byte).cast(), 1, 0), 1);
            assert_eq!(byte, 42);
            Errno(libc::ENOSPC).store();
            ibv_dmabuf_heap_free(address, 4096, fd);
            assert_eq!(Errno::last(), Errno(libc::ENOSPC));
            assert_eq!(libc::fcntl(fd, libc::F_GETFD), -1);
        }
        assert_eq!(map(-1, 4096), Err(Errno(libc::EBADF)));
    }
}
