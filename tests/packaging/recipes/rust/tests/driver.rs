// SPDX-License-Identifier: MIT
//! Run it with CUSHIM_DRIVER: a driver of CUDA 6.5 or later that has devices, or "none".
use std::env;

#[test]
fn test_device_count_when_a_driver_is_loaded_or_none_then_is_its_number_of_devices() {
    if env::var("CUSHIM_DRIVER").as_deref() == Ok("none") {
        let diagnosis = cushim_sys::load().unwrap_err();
        assert_eq!(
            (diagnosis.reason, cushim_sys::init().unwrap_err().code),
            ("not-wanted", diagnosis.code)
        );
        assert_eq!(cushim_sys::device_count(), Ok(0));
    } else {
        assert!(cushim_sys::load().unwrap().cuda_version >= 6050);
        assert_eq!(cushim_sys::device_count(), Err(3)); // CUDA_ERROR_NOT_INITIALIZED
        assert_eq!(cushim_sys::init().unwrap().message, "");
        assert!(cushim_sys::device_count().unwrap() > 0);
    }
    assert!(cushim_sys::slot("DeviceGetCount_v99").is_none());
}
