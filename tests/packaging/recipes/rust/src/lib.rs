// SPDX-License-Identifier: MIT
//! NVIDIA's CUDA driver, which is opened when the program runs. Without a driver, the program starts as well.

use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};

/// `CUresult`; 0 is success.
pub type Code = c_int;

/// The record of a load, and of the `cuInit` that followed it.
#[derive(Clone, Copy, Debug)]
pub struct Diagnosis {
    pub code: Code,
    /// A stable word, such as "not-found".
    pub reason: &'static str,
    /// What is wrong; empty after success.
    pub message: &'static str,
    /// What a person can do, or empty.
    pub advice: &'static str,
    /// The CUDA version of the driver, such as 12040; 0 without a driver.
    pub cuda_version: i32,
}

impl std::fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} {}", self.message, self.advice)
    }
}

impl std::error::Error for Diagnosis {}

/// The first members of `struct cushim_diagnosis`.
#[repr(C)]
struct RawDiagnosis {
    reason: c_int,
    code: Code,
    reason_name: *const c_char,
    message: *const c_char,
    advice: *const c_char,
    path: *const c_char,
    cuda_version: c_int,
}

extern "C" {
    fn cushim_load(options: *const c_void) -> Code;
    fn cushim_init() -> Code;
    fn cushim_diagnosis_get() -> *const RawDiagnosis;
    fn cushim_slot_find(name: *const c_char, out_slot: *mut c_int) -> Code;
    fn cushim_table_get(kind: c_int) -> *const *const c_void;
}

/// Finds and opens the driver, and does not start it.
pub fn load() -> Result<Diagnosis, Diagnosis> {
    result(unsafe { cushim_load(std::ptr::null()) })
}

/// Loads the driver and calls `cuInit`.
pub fn init() -> Result<Diagnosis, Diagnosis> {
    result(unsafe { cushim_init() })
}

fn result(code: Code) -> Result<Diagnosis, Diagnosis> {
    if code == 0 {
        Ok(diagnosis())
    } else {
        Err(diagnosis())
    }
}

/// Returns the record of the last load.
pub fn diagnosis() -> Diagnosis {
    // A diagnosis is never NULL, changed or freed.
    unsafe {
        let raw = &*cushim_diagnosis_get();
        let text = |text| CStr::from_ptr(text).to_str().unwrap_or("");
        Diagnosis {
            code: raw.code,
            reason: text(raw.reason_name),
            message: text(raw.message),
            advice: text(raw.advice),
            cuda_version: raw.cuda_version,
        }
    }
}

/// Returns a slot of the current table, such as "DeviceGetCount_v1", or None if no slot has that name. A call through
/// it loads the driver. Keep the result only after a successful load.
pub fn slot(name: &str) -> Option<*const c_void> {
    let name = CString::new(name).ok()?;
    let mut index = 0;
    unsafe {
        let found = cushim_slot_find(name.as_ptr(), &mut index) == 0;
        found.then(|| *cushim_table_get(0).offset(index as isize))
    }
}

/// Returns the number of devices: 0 without a driver. A function of the driver is made safe like this.
pub fn device_count() -> Result<i32, Code> {
    let mut count = 0;
    let function = slot("DeviceGetCount_v1").expect("a slot of every release");
    let function: extern "system" fn(*mut c_int) -> Code = unsafe { std::mem::transmute(function) };
    match function(&mut count) {
        0 => Ok(count),
        code => Err(code),
    }
}
