// SPDX-License-Identifier: MIT
//! CUSHIM_DRIVER names a driver of CUDA 10.1 or later that has devices, or is "none". Without it, these try what the
//! machine has.
use cushim_sys::*;

#[allow(dead_code)]
#[path = "../examples/graph.rs"]
mod graph;

fn has_driver() -> bool {
    match std::env::var("CUSHIM_DRIVER").as_deref() {
        Ok(driver) => driver != "none",
        Err(_) => (unsafe { cushim_init() }) == CUresult::CUDA_SUCCESS,
    }
}

#[test]
fn test_start_when_there_is_a_driver_or_none_says_so() {
    let code = unsafe { cushim_init() };
    let diagnosis = unsafe { &*cushim_diagnosis_get() };
    let mut count = 0;
    let counted = unsafe { (table().DeviceGetCount_v1)(&mut count) };
    if has_driver() {
        assert_eq!((code, diagnosis.reason), (CUresult::CUDA_SUCCESS, cushim_reason::CUSHIM_REASON_NONE));
        assert_eq!(counted, CUresult::CUDA_SUCCESS);
        assert!(count > 0);
    } else {
        assert_eq!(code, diagnosis.code);
        if std::env::var_os("CUSHIM_DRIVER").is_some() {
            assert_eq!(diagnosis.reason, cushim_reason::CUSHIM_REASON_NOT_WANTED);
            assert_eq!(counted, CUresult::CUDA_SUCCESS);
        }
        assert!(unsafe { text(diagnosis.message) }.ends_with('.'));
        assert_eq!(count, 0);
    }
}

#[test]
fn test_slot_when_called_in_any_table_never_is_null() {
    for table in [table(), table_per_thread()] {
        let slots = table as *const cushim_dispatch_table as *const usize;
        for index in 0..std::mem::size_of::<cushim_dispatch_table>() / std::mem::size_of::<usize>() {
            assert_ne!(unsafe { *slots.add(index) }, 0, "slot {}", index);
        }
    }
}

#[test]
fn test_graph_when_captured_sets_the_memory() {
    unsafe { cushim_init() };
    assert_eq!(graph::work().is_ok(), has_driver());
}

#[test]
fn test_panic_when_a_body_is_captured_is_an_error() {
    unsafe { cushim_init() };
    if let Ok(context) = graph::Context::new(0) {
        let stream = graph::Stream::new(&context).unwrap();
        assert!(stream.capture(|_| panic!("in a callback")).is_err());
        let graph = stream.capture(|_| CUresult::CUDA_SUCCESS).unwrap();
        assert_eq!(graph.launch(&stream).and(stream.synchronize()), Ok(()));
    } else {
        assert!(!has_driver());
    }
}

#[test]
fn test_code_when_explained_has_its_name_and_sentence() {
    assert_eq!(CUresult::CUDA_ERROR_NO_DEVICE.explain().unwrap().0, "CUDA_ERROR_NO_DEVICE");
    assert_eq!((CUresult(12345).explain(), CUresult(12345).to_string()), (None, "CUresult 12345".to_string()));
    assert_eq!(CUresult::CUDA_ERROR_NO_DEVICE.ok(), Err(CUresult::CUDA_ERROR_NO_DEVICE));
    assert_eq!(CUSHIM_FOREVER, u64::MAX);
}

#[test]
fn test_version_when_the_library_is_of_this_release_is_equal() {
    assert_eq!(unsafe { cushim_version() } as u32, CUSHIM_VERSION);
}
